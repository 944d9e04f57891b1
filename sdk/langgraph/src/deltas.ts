// SPDX-License-Identifier: Apache-2.0
/** The history of channels that LangGraph stores as writes since a snapshot. */
import type { CheckpointPendingWrite, DeltaChannelHistory } from "@langchain/langgraph-checkpoint";
import type { Cairn } from "cairn-client";
import type { Values } from "./values.js";

/** The maximum per request. */
const CHANNELS_MAX = 100;

interface Found {
  writes: { task_id: string; channel: string; value: unknown }[];
  seed?: unknown;
}

export interface Line {
  threadId: string;
  namespace: string;
  checkpointId: string;
}

export type Histories = Record<string, DeltaChannelHistory>;

export async function readDeltas(
  client: Cairn,
  values: Values,
  line: Line,
  channels: string[],
): Promise<Histories> {
  const read: [string, DeltaChannelHistory][] = [];
  for (let at = 0; at < channels.length; at += CHANNELS_MAX) {
    const found = await walk(client, line, channels.slice(at, at + CHANNELS_MAX));
    for (const [channel, pages] of found)
      read.push([channel, await historyOf(values, channel, pages)]);
  }
  return Object.fromEntries(read);
}

/** A long history arrives in parts, newest first for each channel. */
async function walk(client: Cairn, line: Line, channels: string[]): Promise<Map<string, Found[]>> {
  const { threadId, namespace } = line;
  const found = new Map<string, Found[]>(channels.map((channel) => [channel, []]));
  let open = channels;
  for (let at: string | null = line.checkpointId; at !== null && open.length > 0; ) {
    const body = { namespace, channels: open };
    const part = await client.threads.checkpoints.deltas(threadId, at, body);
    for (const channel of open) found.get(channel)?.push(part.channels[channel]);
    open = open.filter((channel) => !("seed" in part.channels[channel]));
    at = part.next_checkpoint_id;
  }
  return found;
}

async function historyOf(
  values: Values,
  channel: string,
  parts: Found[],
): Promise<DeltaChannelHistory> {
  const writes = parts.toReversed().flatMap((part) => part.writes);
  const history = {
    writes: await Promise.all(
      writes.map(
        async ({ task_id, value }): Promise<CheckpointPendingWrite> => [
          task_id,
          channel,
          await values.decode(value),
        ],
      ),
    ),
  };
  const oldest = parts.at(-1);
  if (oldest === undefined || !("seed" in oldest)) return history;
  return { ...history, seed: await values.decode(oldest.seed) };
}
