// SPDX-License-Identifier: Apache-2.0
/** Vectors of items and queries, computed with the caller's embeddings. */
import type {
  IndexConfig,
  Operation,
  PutOperation,
  SearchOperation,
} from "@langchain/langgraph-checkpoint";

const WHOLE = "$";
/** `a.b[0].c`, `a[*]`, `a.*`, `{a,b.c}`. */
const STEP = /\{[^}]*\}|\[[^\]]*\]|[^.[\]{}]+/g;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

function step(value: unknown, token: string): unknown[] {
  if (!isObject(value)) return [];
  if (token === "*") return Object.values(value);
  if (token.startsWith("{"))
    return token.slice(1, -1).split(",").flatMap((path) => valuesAt(value, path.trim()));
  if (!token.startsWith("[")) return Object.hasOwn(value, token) ? [value[token]] : [];
  if (!Array.isArray(value)) return [];
  const index = token.slice(1, -1);
  if (index === "*") return value;
  const item: unknown = value.at(Number(index));
  return item === undefined ? [] : [item];
}

function valuesAt(value: unknown, path: string): unknown[] {
  let found = [value];
  for (const token of path === WHOLE ? [] : (path.match(STEP) ?? []))
    found = found.flatMap((one) => step(one, token));
  return found.filter((one) => one !== null && one !== undefined);
}

/** Returns the texts at a path of a value; objects and lists as JSON. */
export const textsAt = (value: unknown, path: string): string[] =>
  valuesAt(value, path).map((one) => (isObject(one) ? JSON.stringify(one, null, 2) : String(one)));

/** The vectors of an operation. */
export interface Vectors {
  vectors?: { path: string; values: number[] }[];
  vector?: number[];
}

interface Text {
  path: string;
  text: string;
}

export class Embedding {
  readonly #index: IndexConfig;

  constructor(index: IndexConfig) {
    this.#index = index;
  }

  /** Computes the vectors of puts and searches, all texts in one call. */
  async of(operations: Operation[]): Promise<Map<Operation, Vectors>> {
    const puts = operations.filter((one): one is PutOperation => "value" in one);
    const searches = operations.filter((one): one is SearchOperation => "namespacePrefix" in one);
    const texts = new Map(puts.map((put) => [put, this.#textsOf(put)]));
    const [documents, queries] = await Promise.all([
      this.#embedDocuments([...texts.values()].flat().map(({ text }) => text)),
      this.#embedQueries(searches.flatMap(({ query }) => query || [])),
    ]);
    const found = new Map<Operation, Vectors>();
    for (const [put, its] of texts) {
      const vectors = its.map(({ path, text }) => ({ path, values: of(documents, text) }));
      found.set(put, { vectors });
    }
    for (const search of searches)
      if (search.query) found.set(search, { vector: of(queries, search.query) });
    return found;
  }

  async #embedDocuments(texts: string[]): Promise<Map<string, number[]>> {
    const all = [...new Set(texts)];
    const vectors = all.length === 0 ? [] : await this.#index.embeddings.embedDocuments(all);
    return new Map(all.map((text, i) => [text, this.#checked(vectors[i])]));
  }

  async #embedQueries(queries: string[]): Promise<Map<string, number[]>> {
    const embed = async (query: string): Promise<[string, number[]]> => [
      query,
      this.#checked(await this.#index.embeddings.embedQuery(query)),
    ];
    return new Map(await Promise.all([...new Set(queries)].map(embed)));
  }

  /** If a path matches several texts, each gets its own name. */
  #textsOf({ value, index }: PutOperation): Text[] {
    if (value === null || index === false) return [];
    return (index ?? this.#index.fields ?? [WHOLE]).flatMap((path) => {
      const texts = textsAt(value, path);
      return texts.map((text, i) => ({ path: texts.length > 1 ? `${path}.${i}` : path, text }));
    });
  }

  #checked(vector: number[] | undefined): number[] {
    const { dims } = this.#index;
    if (vector?.length === dims) return vector;
    const given = vector?.length ?? 0;
    throw new Error(`The embeddings returned ${given} numbers, but index.dims is ${dims}.`);
  }
}

const of = (vectors: Map<string, number[]>, text: string): number[] => vectors.get(text) ?? [];
