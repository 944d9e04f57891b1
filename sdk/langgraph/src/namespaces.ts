// SPDX-License-Identifier: Apache-2.0
/** Namespaces of the store: lists of labels. */
import { InvalidNamespaceError, type MatchCondition } from "@langchain/langgraph-checkpoint";

const isLabel = (label: unknown): boolean =>
  typeof label === "string" && label !== "" && !label.includes(".");

/** Returns true if the namespace can contain items; otherwise no request is needed. */
export const canExist = (labels: unknown[]): boolean => labels.every(isLabel);

/** Rejects what LangGraph rejects, before anything is sent. */
export function checkNamespace(labels: unknown[]): void {
  if (labels.length === 0) throw new InvalidNamespaceError("A namespace needs at least one label.");
  const bad = labels.find((label) => !isLabel(label));
  if (bad !== undefined)
    throw new InvalidNamespaceError(
      `The label ${JSON.stringify(bad)} of the namespace ${JSON.stringify(labels)} must be text` +
        ' that is not empty and contains no ".".',
    );
  if (labels[0] === "langgraph")
    throw new InvalidNamespaceError('The first label of a namespace cannot be "langgraph".');
}

/** Combines two prefixes, where "*" is any label; returns undefined if they contradict. */
function meetOf(a: string[], b: string[]): string[] | undefined {
  const [long, short] = a.length >= b.length ? [a, b] : [b, a];
  const labels = long.map((label, i) => (label === "*" ? (short[i] ?? label) : label));
  const fits = short.every((label, i) => label === "*" || label === labels[i]);
  return fits ? labels : undefined;
}

export interface Match {
  prefix: string[];
  suffix: string[];
}

/** Reduces the conditions to one prefix and one suffix; undefined: they contradict. */
export function meet(conditions: MatchCondition[] = []): Match | undefined {
  let prefix: string[] | undefined = [];
  let suffix: string[] | undefined = []; // the last label first
  for (const { matchType, path } of conditions) {
    if (matchType === "prefix") prefix = prefix && meetOf(prefix, path);
    else if (matchType === "suffix") suffix = suffix && meetOf(suffix, path.toReversed());
    else throw new TypeError(`The match type must be "prefix" or "suffix", not "${matchType}".`);
  }
  return prefix && suffix && { prefix, suffix: suffix.toReversed() };
}
