// SPDX-License-Identifier: Apache-2.0
/**
 * A worker: claims runs and works on them. A lease is kept by heartbeats while the handler works;
 * every write of `context.client` carries its token, so once another worker has the run, nothing
 * that this one still does counts. What the handler leaves running is completed with what it
 * returned.
 */
import type { Cairn } from "./client.js";
import {
  ApiError,
  ConnectionFailed,
  InvalidInput,
  LeaseLost,
  OutcomeUnknown,
  TimedOut,
  TooLarge,
  TransitionRefused,
} from "./errors.js";
import { canHeal } from "./failure.js";
import type { Run, RunBody } from "./generated/types.js";
import { backoffMs, Limit, pause } from "./timing.js";

export interface WorkOptions {
  /** Ends the work: no more runs are claimed, and those under way are asked to stop. */
  signal?: AbortSignal;
  /** Only runs of this agent, or of this thread. */
  agent?: string;
  thread_id?: string;
  /** A name for people to read; made unless told. */
  worker?: string;
  /** How long a run is kept without a sign of life; 30,000 unless told. */
  lease_ms?: number;
  /** How many runs at once; 1 unless told. */
  concurrency?: number;
  /** Is told of what went wrong and will be tried again, and of runs that were lost. */
  onError?: (error: unknown, run?: Run) => void;
}

export interface WorkContext {
  /** Its writes carry the token of the run's lease. Use it for the run and its thread. */
  client: Cairn;
  /** Aborts when the lease is lost or the worker ends: stop working. */
  signal: AbortSignal;
}

/** Returns what becomes the run's `final_output`, or moves the run itself. */
export type Handler = (run: Run, context: WorkContext) => Promise<unknown> | unknown;

const LEASE_MS = 30_000;
const WAIT_S = 20;

export async function workOnRuns(
  client: Cairn,
  options: WorkOptions,
  handler: Handler,
): Promise<void> {
  const { concurrency = 1 } = options;
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new TypeError("concurrency must be a number from 1 on");
  const worker = options.worker ?? `worker-${Math.random().toString(36).slice(2, 10)}`;
  // What one of them cannot go on after ends all.
  const life = new Limit(options.signal);
  const told = { ...options, worker, signal: life.signal };
  const loops = Array.from({ length: concurrency }, () =>
    loop(client, told, handler).catch((error) => {
      life.abort();
      throw error;
    }),
  );
  const ends = await Promise.allSettled(loops);
  life.release();
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

type Told = WorkOptions & { worker: string; signal: AbortSignal };

/** Whoever cannot claim even once is told so; who could goes on whatever happens in between. */
async function loop(client: Cairn, options: Told, handler: Handler): Promise<void> {
  let wasConnected = false;
  for (let failures = 0; !options.signal.aborted;) {
    try {
      const run = await claim(client, options, wasConnected ? WAIT_S : 0);
      wasConnected = true;
      failures = 0;
      if (run !== null) await workOn(client, run, options, handler);
    } catch (error) {
      if (options.signal.aborted) return;
      if (!wasConnected || !canHeal(error, wasConnected)) throw error;
      options.onError?.(error);
      await pause(backoffMs(failures++), options.signal, "the worker").catch(() => {});
    }
  }
}

function claim(client: Cairn, options: Told, wait: number): Promise<Run | null> {
  const { worker, lease_ms, agent, thread_id, signal } = options;
  return client.runs.claim({ worker, lease_ms, agent, thread_id }, { wait }, { signal });
}

async function workOn(client: Cairn, run: Run, options: Told, handler: Handler): Promise<void> {
  const lease = new Limit(options.signal);
  // A restart of the server takes a while, and gives every lease its whole time again.
  const patience = { timeoutMs: options.lease_ms ?? LEASE_MS, maxRetries: 100 };
  const fenced = client.withOptions({ fencingToken: run.fence });
  const beats = keepLease(fenced, run, options, lease);
  try {
    const end = await endOf(run, handler, { client: fenced, signal: lease.signal }, options);
    const patient = fenced.withOptions(patience);
    if (end === "given back") await patient.runs.release(run.id);
    else if (end !== "lost") await settleOrFail(patient, run, end, options);
  } catch (error) {
    // Its lease ends by itself, and the run goes to another worker.
    options.onError?.(error, run);
  } finally {
    lease.abort();
    await beats;
  }
}

/** What the run becomes, unless the handler was stopped before it came to its end. */
async function endOf(
  run: Run,
  handler: Handler,
  context: WorkContext,
  options: Told,
): Promise<RunBody | "given back" | "lost"> {
  try {
    const final_output = await handler(run, context);
    JSON.stringify(final_output); // of what is no JSON: a fault of the handler
    return { status: "completed", final_output };
  } catch (error) {
    if (options.signal.aborted) return "given back";
    options.onError?.(error, run);
    if (error instanceof LeaseLost || context.signal.aborted) return "lost";
    return isOfTheServer(error) ? "given back" : { status: "failed", error: describe(error) };
  }
}

/** That the server was not there for a while is no fault of the run: another try may finish it. */
const isOfTheServer = (error: unknown): boolean =>
  error instanceof ConnectionFailed ||
  error instanceof TimedOut ||
  error instanceof OutcomeUnknown ||
  (error instanceof ApiError && error.retryable);

/** Until `lease` ends; ends it when the run was lost. */
async function keepLease(client: Cairn, run: Run, options: Told, lease: Limit): Promise<void> {
  const lease_ms = options.lease_ms ?? LEASE_MS;
  const { signal } = lease;
  try {
    for (;;) {
      await pause(lease_ms / 3, signal, "the heartbeat");
      const patience = { timeoutMs: (lease_ms * 2) / 3, maxRetries: 100 };
      await client.runs.heartbeat(run.id, { lease_ms }, { signal, ...patience });
    }
  } catch (error) {
    if (signal.aborted) return;
    // Whatever the reason is: from now on another worker may have it.
    options.onError?.(error, run);
    lease.abort();
  }
}

/**
 * What the handler returned may be over a limit. That is so the next time, too: the run fails,
 * instead of being worked on again and again.
 */
async function settleOrFail(client: Cairn, run: Run, end: RunBody, options: Told): Promise<void> {
  try {
    await settle(client, run, end);
  } catch (error) {
    if (!cannotBeStored(error)) throw error;
    options.onError?.(error, run);
    const { type, message } = describe(error);
    const why = `what the handler returned cannot be stored: ${message}`;
    await settle(client, run, { status: "failed", error: { type, message: why } });
  }
}

const cannotBeStored = (error: unknown): boolean =>
  error instanceof InvalidInput || error instanceof TooLarge;

/** Unless the handler moved the run itself, or somebody cancelled it. */
async function settle(client: Cairn, run: Run, body: RunBody): Promise<void> {
  for (;;) {
    const now = await client.runs.get(run.id);
    if (now.status !== "running" || now.fence !== run.fence) return;
    try {
      await client.runs.update(run.id, body);
      return;
    } catch (error) {
      if (error instanceof TransitionRefused) return;
      if (!(error instanceof OutcomeUnknown)) throw error;
    }
  }
}

function describe(error: unknown): { type: string; message: string } {
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  return { type: storable(name), message: storable(message) };
}

/** Cairn takes neither U+0000 nor half of a surrogate pair, which a cut may leave. */
function storable(text: string): string {
  const bytes = new TextEncoder().encode(text.slice(0, 2000));
  return new TextDecoder().decode(bytes).replaceAll("\0", "\ufffd");
}
