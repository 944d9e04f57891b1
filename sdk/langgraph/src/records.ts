// SPDX-License-Identifier: Apache-2.0
/**
 * Maps LangGraph's checkpoints to those of Cairn. Id, parent, values and versions have their own
 * members. The rest (v, ts and others) is stored in the metadata under one name, next to the
 * members of LangGraph's metadata, so that lists can filter by those.
 */
import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { readStorable, type Values } from "./values.js";

const OWN = "$langgraph";

interface Own {
  /** Members of the checkpoint that have no counterpart in Cairn. */
  checkpoint?: unknown;
  /** Metadata that cannot be stored unchanged. */
  metadata?: unknown;
  /** A parent that is not in Cairn. */
  parent?: string;
}

export interface Read {
  /** Members of the checkpoint besides id, values and versions. */
  rest: Record<string, unknown>;
  metadata: CheckpointMetadata;
  parent?: string;
}

const isRecord = (json: unknown): json is Record<string, unknown> =>
  typeof json === "object" && json !== null && !Array.isArray(json);

export type Scalar = string | number | boolean;

export const isScalar = (value: unknown): value is Scalar =>
  ["string", "number", "boolean"].includes(typeof value);

const canStand = ([name, value]: [string, unknown]): boolean =>
  name !== OWN && isScalar(value) && readStorable(JSON.stringify([name, value])) !== undefined;

const scalarsOf = (metadata: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(metadata).filter(canStand));

function restOf(checkpoint: Checkpoint): Record<string, unknown> {
  const { id, channel_values, channel_versions, versions_seen, ...rest } = checkpoint;
  return rest;
}

export async function writeMetadata(
  values: Values,
  checkpoint: Checkpoint,
  metadata: CheckpointMetadata,
  unknownParent?: string,
): Promise<Record<string, unknown>> {
  const own: Own = { checkpoint: (await values.encode(restOf(checkpoint))).json };
  if (unknownParent !== undefined) own.parent = unknownParent;
  const { json } = await values.encode(metadata);
  if (isRecord(json) && !(OWN in json) && !("$serde" in json)) return { ...json, [OWN]: own };
  return { ...scalarsOf(metadata), [OWN]: { ...own, metadata: json } };
}

/** Also works for a checkpoint that LangGraph did not put. */
export async function readMetadata(
  values: Values,
  stored: Record<string, unknown>,
  createdAt: string,
): Promise<Read> {
  const { [OWN]: given, ...members } = stored;
  const own: Own = isRecord(given) ? given : {};
  const rest =
    own.checkpoint === undefined ? { v: 4, ts: createdAt } : await values.decode(own.checkpoint);
  const metadata = await values.decode(own.metadata === undefined ? members : own.metadata);
  const read = { rest: rest as Record<string, unknown>, metadata: metadata as CheckpointMetadata };
  return own.parent === undefined ? read : { ...read, parent: own.parent };
}
