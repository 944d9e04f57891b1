// SPDX-License-Identifier: Apache-2.0
/** A long-term memory for LangGraph's agents that stores its data in Cairn. */
import {
  BaseStore,
  type GetOperation,
  type IndexConfig,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import {
  type Cairn, type ClientOptions, NotFound, type StoreFoundItem, type StoreItem,
  type StoreOperation,
} from "cairn-client";
import { clientOf } from "./client.js";
import { Embedding, type Vectors } from "./embedding.js";
import { canExist, checkNamespace, meet } from "./namespaces.js";

/** The limits of one request. */
const OPERATIONS_MAX = 100;
const CHARACTERS_MAX = 5 * 1024 * 1024; // of at most 3 bytes each: 16 MiB
const FOUND_MAX = 200;
const NAMESPACES_MAX = 1000;

const FOUND = 10;
const NAMESPACES = 100;

export interface CairnStoreOptions {
  /** A client, or its options; default: CAIRN_URL and CAIRN_API_KEY. */
  client?: Cairn | ClientOptions;
  /**
   * Embeddings for search: the vectors of the texts at `fields` of an item (default: the whole
   * item) are stored with it, and a `query` finds the most similar items. Without an index, a
   * `query` finds items by words.
   */
  index?: IndexConfig;
  /** The lifetime of an item in seconds after a put; default: unlimited. */
  ttlSeconds?: number;
}

interface Page {
  data: unknown[];
  has_more: boolean;
  next_cursor: string | null;
}

/** A pending operation: its request, and the interpretation of its response. */
interface Ask {
  operation: StoreOperation;
  /** For a list: the wanted number of results, and the size of a page. */
  list?: { wanted: number; page: number };
  read: (answer: unknown) => unknown;
}

/** The result of an operation that needs no request. */
interface Known {
  known: unknown;
}

export class CairnStore extends BaseStore {
  readonly client: Cairn;
  readonly #ttl: { ttl_s?: number };
  readonly #embedding: Embedding | undefined;

  constructor(options: CairnStoreOptions = {}) {
    super();
    this.client = clientOf(options.client);
    this.#ttl = options.ttlSeconds === undefined ? {} : { ttl_s: options.ttlSeconds };
    this.#embedding = options.index === undefined ? undefined : new Embedding(options.index);
  }

  /**
   * Sends all reads in one request and then all changes in another, each in one transaction (in
   * several if there are more than 100 operations or 5 Mi characters of JSON). Of two puts with the
   * same key the last one counts.
   */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = operations.map(() => null);
    const reads: [number, Ask][] = [];
    const puts = new Map<string, [number, Ask]>();
    for (const operation of operations)
      if (isPut(operation) && operation.value !== null) checkNamespace(operation.namespace);
    const vectors = await this.#embedding?.of(operations);
    for (const [i, operation] of operations.entries()) {
      const ask = this.#askFor(operation, vectors?.get(operation) ?? {});
      if ("known" in ask) results[i] = ask.known;
      else if (isPut(operation)) {
        const place = JSON.stringify([operation.namespace, operation.key]);
        puts.delete(place);
        puts.set(place, [i, ask]);
      } else reads.push([i, ask]);
    }
    const asks = [...reads, ...puts.values()];
    // Searches do not go with changes: the server runs them apart from its writer.
    const answers = [
      ...(await this.#ask(reads.map(([, ask]) => ask))),
      ...(await this.#ask([...puts.values()].map(([, ask]) => ask))),
    ];
    for (const [at, [i, ask]] of asks.entries()) results[i] = ask.read(answers[at]);
    return results as OperationResults<Op>;
  }

  // --- Requests ------------------------------------------------------------------------------

  #askFor(operation: Operation, vectors: Vectors): Ask | Known {
    if (isPut(operation)) return this.#askPut(operation, vectors);
    if (isGet(operation)) return askGet(operation);
    return isSearch(operation) ? askSearch(operation, vectors) : askNamespaces(operation);
  }

  #askPut({ namespace, key, value }: PutOperation, vectors: Vectors): Ask | Known {
    if (value === null)
      return isPlace(namespace)
        ? { operation: { op: "delete", namespace, key }, read: () => null }
        : { known: null };
    const operation = { op: "put" as const, namespace, key, value, ...this.#ttl, ...vectors };
    return { operation, read: () => null };
  }

  // --- Sending -------------------------------------------------------------------------------

  async #ask(asks: Ask[]): Promise<unknown[]> {
    const [only] = asks;
    if (only !== undefined && asks.length === 1 && !isChange(only))
      return [await this.#readOne(only)];
    const answers: unknown[] = [];
    for (const operations of requestsOf(asks.map(({ operation }) => operation)))
      answers.push(...(await this.client.store.batch({ operations })).results);
    return Promise.all(
      asks.map(({ list, operation }, i) =>
        list === undefined ? answers[i] : this.#readOn(operation, list, answers[i] as Page),
      ),
    );
  }

  /** A single read needs no transaction and only the scope for reading. */
  async #readOne({ operation, list }: Ask): Promise<unknown> {
    if (list !== undefined) return this.#readOn(operation, list, await this.#page(operation));
    const query = { namespace: operation.namespace?.join(".") ?? "", key: operation.key ?? "" };
    try {
      return await this.client.store.get(query);
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  }

  #page({ op, ...body }: StoreOperation): Promise<Page> {
    return op === "search" ? this.client.store.search(body) : this.client.store.namespaces(body);
  }

  /** Reads further pages: a page may be short, and the wanted number may exceed a page. */
  async #readOn(
    { offset: _, ...operation }: StoreOperation,
    { wanted, page }: { wanted: number; page: number },
    first: Page,
  ): Promise<unknown[]> {
    const found = [...first.data];
    for (let last = first; last.has_more && found.length < wanted; ) {
      const limit = Math.min(wanted - found.length, page);
      last = await this.#page({ ...operation, limit, cursor: last.next_cursor });
      found.push(...last.data);
    }
    return found;
  }
}

/** Splits the operations into requests within the limits. */
function* requestsOf(operations: StoreOperation[]): Generator<StoreOperation[]> {
  let part: StoreOperation[] = [];
  let size = 0;
  for (const operation of operations) {
    const own = JSON.stringify(operation).length;
    if (part.length === OPERATIONS_MAX || (part.length > 0 && size + own > CHARACTERS_MAX)) {
      yield part;
      [part, size] = [[], 0];
    }
    part.push(operation);
    size += own;
  }
  if (part.length > 0) yield part;
}

// --- Operations ------------------------------------------------------------------------------

const isPut = (operation: Operation): operation is PutOperation => "value" in operation;
const isGet = (operation: Operation): operation is GetOperation =>
  "key" in operation && !isPut(operation);
const isSearch = (operation: Operation): operation is SearchOperation =>
  "namespacePrefix" in operation;
const isChange = ({ operation: { op } }: Ask): boolean => op === "put" || op === "delete";
const isPlace = (namespace: string[]): boolean => namespace.length > 0 && canExist(namespace);

function askGet({ namespace, key }: GetOperation): Ask | Known {
  if (!isPlace(namespace)) return { known: null };
  const read = (item: unknown) => (item === null ? null : itemOf(item as StoreItem));
  return { operation: { op: "get", namespace, key }, read };
}

function askSearch(search: SearchOperation, { vector }: Vectors): Ask | Known {
  const { namespacePrefix, filter, query, limit = FOUND, offset = 0 } = search;
  checkFilter(filter);
  if (limit <= 0 || !canExist(namespacePrefix)) return { known: [] };
  return {
    operation: {
      op: "search",
      namespace_prefix: namespacePrefix,
      limit: Math.min(limit, FOUND_MAX),
      offset,
      ...(filter === undefined ? {} : { filter }),
      ...(vector !== undefined ? { vector } : query === undefined ? {} : { query }),
    },
    list: { wanted: limit, page: FOUND_MAX },
    read: (found) => (found as StoreFoundItem[]).map(foundOf),
  };
}

/** Rejects undefined, which JSON omits: the search would return more than requested. */
function checkFilter(filter: Record<string, unknown> = {}): void {
  const isGiven = (wanted: unknown): boolean =>
    wanted !== undefined && !Object.values(wanted ?? {}).includes(undefined);
  const [name] = Object.entries(filter).find(([, wanted]) => !isGiven(wanted)) ?? [];
  if (name !== undefined)
    throw new TypeError(`The filter of ${JSON.stringify(name)} is undefined: set a value.`);
}

function askNamespaces(operation: ListNamespacesOperation): Ask | Known {
  const { matchConditions, maxDepth, limit = NAMESPACES, offset = 0 } = operation;
  const match = meet(matchConditions);
  if (limit <= 0 || match === undefined) return { known: [] };
  return {
    operation: {
      op: "namespaces",
      ...match,
      limit: Math.min(limit, NAMESPACES_MAX),
      offset,
      ...(maxDepth === undefined ? {} : { max_depth: maxDepth }),
    },
    list: { wanted: limit, page: NAMESPACES_MAX },
    read: (found) => found,
  };
}

const itemOf = ({ namespace, key, value, created_at, updated_at }: StoreItem): Item => ({
  namespace,
  key,
  value,
  createdAt: new Date(created_at),
  updatedAt: new Date(updated_at),
});

const foundOf = ({ score, ...item }: StoreFoundItem): SearchItem =>
  score === null ? itemOf(item) : { ...itemOf(item), score };
