// SPDX-License-Identifier: Apache-2.0
import type { Cairn } from "./client.js";
import type { Run } from "./generated/types.js";

export interface WaitOptions {
  signal?: AbortSignal;
  /** The statuses to wait for; default: those in which no worker works on the run. */
  until?: Array<Run["status"]>;
}

const SETTLED: Array<Run["status"]> = ["completed", "failed", "cancelled", "waiting_for_input"];

/** Starts following the thread before it reads the run, so that no change is missed. */
export async function waitForRun(
  client: Cairn,
  runId: string,
  options: WaitOptions = {},
): Promise<Run> {
  const { signal, until = SETTLED } = options;
  const isSettled = (run: Run) => until.includes(run.status);
  let run = await client.runs.get(runId, undefined, { signal });
  if (isSettled(run)) return run;
  const { last_seq: after } = await client.threads.get(run.thread_id, { signal });
  run = await client.runs.get(runId, undefined, { signal });
  if (isSettled(run)) return run;
  // A gap does not matter, because the run itself is read.
  const events = client.threads.events.follow(run.thread_id, {
    after,
    run_id: runId,
    signal,
    onGap: () => {},
  });
  for await (const _event of events) {
    run = await client.runs.get(runId, undefined, { signal });
    if (isSettled(run)) return run;
  }
  return run;
}
