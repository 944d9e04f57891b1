// SPDX-License-Identifier: Apache-2.0
/** The filter of a list: one part is applied by the server, the rest here. */
import { isScalar, type Scalar } from "./records.js";
import { readStorable } from "./values.js";

/** The server compares at most this number of metadata members, of at most this many bytes. */
const SERVER_FILTERS = 4;
const SERVER_BYTES = 256;

export type Filter = Record<string, unknown>;

const canBeAsked = (text: string): boolean =>
  text !== "" &&
  new TextEncoder().encode(text).length <= SERVER_BYTES &&
  readStorable(JSON.stringify(text)) !== undefined;

/** Returns the query parameters. The server compares texts, so its results are compared again. */
export function metadataQuery(filter: Filter | undefined): Record<string, Scalar> {
  return Object.fromEntries(
    Object.entries(filter ?? {})
      .filter((entry): entry is [string, Scalar] => isScalar(entry[1]))
      .filter(([name, value]) => canBeAsked(name) && canBeAsked(String(value)))
      .slice(0, SERVER_FILTERS),
  );
}

/** Returns true if the server applies the whole filter. */
export const isAskedWhole = (filter: Filter | undefined): boolean =>
  Object.keys(metadataQuery(filter)).length === Object.keys(filter ?? {}).length;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Returns true if the value equals the wanted one, or is an object or list that contains it. */
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
