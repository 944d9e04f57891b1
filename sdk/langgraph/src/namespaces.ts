// SPDX-License-Identifier: Apache-2.0
/** Namespaces of the store: lists of labels. */
import { InvalidNamespaceError, type MatchCondition } from "@langchain/langgraph-checkpoint";

const isLabel = (label: unknown): boolean =>
  typeof label === "string" && label !== "" && !label.includes(".");

/** Whether anything can stand there; what cannot is not asked for. */
export const canExist = (labels: unknown[]): boolean => labels.every(isLabel);

/** What LangGraph refuses is refused before anything is sent. */
export function checkNamespace(labels: unknown[]): void {
  if (labels.length === 0) throw new InvalidNamespaceError("A namespace needs at least one label.");
  const bad = labels.find((label) => !isLabel(label));
  if (bad !== undefined)
    throw new InvalidNamespaceError(
      `The label ${JSON.stringify(bad)} of the namespace ${JSON.stringify(labels)} must be a text` +
        ' that is not empty and has no "." in it.',
    );
  if (labels[0] === "langgraph")
    throw new InvalidNamespaceError('The first label of a namespace cannot be "langgraph".');
}

/** What both of two prefixes ask for, where "*" is any label; undefined: nothing has both. */
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

/** The server takes one prefix and one suffix; undefined: no namespace can meet them all. */
export function meet(conditions: MatchCondition[] = []): Match | undefined {
  let prefix: string[] | undefined = [];
  let suffix: string[] | undefined = []; // the last label first
  for (const { matchType, path } of conditions) {
    if (matchType === "prefix") prefix = prefix && meetOf(prefix, path);
    else if (matchType === "suffix") suffix = suffix && meetOf(suffix, path.toReversed());
    else throw new TypeError(`A namespace is matched by "prefix" or "suffix", not "${matchType}".`);
  }
  return prefix && suffix && { prefix, suffix: suffix.toReversed() };
}
