// SPDX-License-Identifier: Apache-2.0
/** The filter of a list: what the server can look for, and what is compared here. */
import { isScalar, type Scalar } from "./records.js";
import { readStorable } from "./values.js";

/** At most so many members of the metadata, of so many bytes, are compared by the server. */
const SERVER_FILTERS = 4;
const SERVER_BYTES = 256;

export type Filter = Record<string, unknown>;

const canBeAsked = (text: string): boolean =>
  text !== "" &&
  new TextEncoder().encode(text).length <= SERVER_BYTES &&
  readStorable(JSON.stringify(text)) !== undefined;

/** Parameters of the request. The server compares texts, so what it finds is compared once more. */
export function metadataQuery(filter: Filter | undefined): Record<string, Scalar> {
  return Object.fromEntries(
    Object.entries(filter ?? {})
      .filter((entry): entry is [string, Scalar] => isScalar(entry[1]))
      .filter(([name, value]) => canBeAsked(name) && canBeAsked(String(value)))
      .slice(0, SERVER_FILTERS),
  );
}

/** Whether the server compares all of it, so that what it finds is what is wanted. */
export const isAskedWhole = (filter: Filter | undefined): boolean =>
  Object.keys(metadataQuery(filter)).length === Object.keys(filter ?? {}).length;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** A value has what is wanted when it is equal, or an object or list that has all of it. */
function has(value: unknown, wanted: unknown): boolean {
  if (!isRecord(wanted) || !isRecord(value)) return value === wanted;
  if (Array.isArray(wanted) !== Array.isArray(value)) return false;
  if (Array.isArray(wanted))
    return wanted.every((one) => (value as unknown as unknown[]).some((item) => has(item, one)));
  return Object.entries(wanted).every(([name, one]) => has(value[name], one));
}

export function matches(filter: Filter | undefined, metadata: object): boolean {
  return filter === undefined || has(metadata, filter);
}
