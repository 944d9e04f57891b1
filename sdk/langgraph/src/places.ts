// SPDX-License-Identifier: Apache-2.0
/** The location of a checkpoint: a thread, named by LangGraph, and a namespace in it. */
import type { RunnableConfig } from "@langchain/core/runnables";

export interface Place {
  thread: string;
  namespace: string;
}

export function placeOf(config: RunnableConfig, purpose: string): Place {
  const { thread_id, checkpoint_ns } = config.configurable ?? {};
  const thread = typeof thread_id === "number" ? String(thread_id) : thread_id;
  if (typeof thread !== "string" || thread === "")
    throw new Error(
      `To ${purpose}, the config needs a "thread_id" in "configurable" that is not ` +
        'empty: graph.invoke(input, { configurable: { thread_id: "conversation-1" } }).',
    );
  return { thread, namespace: (checkpoint_ns as string | undefined) ?? "" };
}

export const placeText = ({ thread, namespace }: Place, checkpointId: string): string =>
  JSON.stringify([thread, namespace, checkpointId]);
