// SPDX-License-Identifier: Apache-2.0
/** Copies threads from another saver to Cairn, with their whole history. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import type { CairnSaver } from "./saver.js";

/** Any version of a checkpoint saver. */
export type AnySaver = Pick<BaseCheckpointSaver, "list" | "getTuple">;

export interface CopyOptions {
  /** The threads to copy; default: all that the other saver lists. */
  threadIds?: Iterable<string>;
  /** Called after each thread. */
  onThread?: (threadId: string, checkpoints: number) => void;
}

/**
 * Copies all checkpoints and writes of threads, in every namespace, oldest first, and returns the
 * number of checkpoints. Copying again overwrites checkpoints with the same content.
 */
export async function copyFrom(
  from: AnySaver,
  to: CairnSaver,
  options: CopyOptions = {},
): Promise<number> {
  let count = 0;
  for (const threadId of options.threadIds ?? (await threadIdsOf(from))) {
    const copied = await copyThread(from, to, threadId);
    options.onThread?.(threadId, copied);
    count += copied;
  }
  return count;
}

async function threadIdsOf(from: AnySaver): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { config } of from.list({ configurable: {} }))
    ids.add(config.configurable?.["thread_id"] as string);
  return ids;
}

async function copyThread(
  from: AnySaver,
  to: CairnSaver,
  threadId: string,
): Promise<number> {
  const configs: RunnableConfig[] = []; // only ids, because checkpoints may be large
  for await (const { config } of from.list({ configurable: { thread_id: threadId } }))
    configs.push(config);
  configs.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const known = new Map<string, ChannelVersions>();
  for (const config of configs) {
    const tuple = await from.getTuple(config);
    if (tuple !== undefined) await copyTuple(to, threadId, tuple, known);
  }
  return configs.length;
}

const idOf = (config: RunnableConfig): string => config.configurable?.["checkpoint_id"] as string;

/** `known`: the versions of the checkpoints copied before. */
async function copyTuple(
  to: CairnSaver,
  thread_id: string,
  tuple: CheckpointTuple,
  known: Map<string, ChannelVersions>,
): Promise<void> {
  const { checkpoint, parentConfig } = tuple;
  const checkpoint_ns = (tuple.config.configurable?.["checkpoint_ns"] as string) ?? "";
  const parentId = parentConfig === undefined ? undefined : idOf(parentConfig);
  const upon = parentId === undefined ? {} : { checkpoint_id: parentId };
  const before = known.get(JSON.stringify([checkpoint_ns, parentId])) ?? {};
  const put = await to.put(
    { configurable: { thread_id, checkpoint_ns, ...upon } },
    checkpoint,
    tuple.metadata as CheckpointMetadata,
    newVersions(tuple, before),
  );
  for (const [taskId, writes] of byTask(tuple)) await to.putWrites(put, writes, taskId);
  known.set(JSON.stringify([checkpoint_ns, checkpoint.id]), checkpoint.channel_versions);
}

function newVersions({ checkpoint }: CheckpointTuple, before: ChannelVersions): ChannelVersions {
  const { channel_values, channel_versions } = checkpoint;
  const names = Object.keys({ ...channel_values, ...channel_versions });
  const changed = names.filter(
    (name) => channel_versions[name] === undefined || channel_versions[name] !== before[name],
  );
  return Object.fromEntries(changed.map((name) => [name, channel_versions[name] ?? 0]));
}

function byTask({ pendingWrites = [] }: CheckpointTuple): Map<string, PendingWrite[]> {
  const tasks = new Map<string, PendingWrite[]>();
  for (const [taskId, ...write] of pendingWrites)
    tasks.set(taskId, [...(tasks.get(taskId) ?? []), write]);
  return tasks;
}
