// SPDX-License-Identifier: Apache-2.0
// Checkpoints as a graph would put them.
import {
  type ChannelVersions, type Checkpoint, type CheckpointMetadata, uuid6,
} from "@langchain/langgraph-checkpoint";

export const META: CheckpointMetadata = { source: "loop", step: 0, parents: {} };

export function checkpointOf(
  values: Record<string, unknown>,
  versions: ChannelVersions = Object.fromEntries(Object.keys(values).map((name) => [name, 1])),
): Checkpoint {
  return {
    v: 4,
    id: uuid6(0),
    ts: new Date().toISOString(),
    channel_values: values,
    channel_versions: versions,
    versions_seen: { agent: { messages: 1 } },
  };
}

export const inThread = (thread_id: string, checkpoint_ns = "") => ({
  configurable: { thread_id, checkpoint_ns },
});
