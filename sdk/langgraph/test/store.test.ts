// SPDX-License-Identifier: Apache-2.0
// The store compared with LangGraph's InMemoryStore: the same calls have the same results.
import {
  type BaseStore, InMemoryStore, InvalidNamespaceError, type Operation, type SearchItem,
} from "@langchain/langgraph-checkpoint";
import { Embeddings } from "@langchain/core/embeddings";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { type Cairn, InvalidInput } from "cairn-client";
import { CairnStore } from "cairn-langgraph";
import { clientOf, Server, type Tenant } from "./lib/server.js";
import { recorder } from "./lib/wire.js";

let server: Server;
let tenant: Tenant;
let client: Cairn;
beforeAll(async () => {
  server = await Server.start();
});
beforeEach(async () => {
  tenant = await server.newTenant();
  client = clientOf(tenant);
});
afterAll(() => server.close());

/** Removes permitted differences: times, and the order of unranked results. */
function comparable(answer: unknown): unknown {
  if (Array.isArray(answer))
    return answer.map(comparable).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof answer !== "object" || answer === null) return answer;
  const { createdAt, updatedAt, score, namespace, key, value } = answer as SearchItem;
  expect(createdAt).toBeInstanceOf(Date);
  expect(updatedAt).toBeInstanceOf(Date);
  expect(updatedAt.getTime()).toBeGreaterThanOrEqual(createdAt.getTime());
  expect(score).toBeUndefined();
  return { namespace, key, value };
}

/** Makes the same calls to both stores in order, and compares each result. */
async function both(...calls: ((store: BaseStore) => Promise<unknown>)[]): Promise<void> {
  const memory = new InMemoryStore();
  const cairn = new CairnStore({ client });
  for (const [i, call] of calls.entries()) {
    const [expected, actual] = [await call(memory), await call(cairn)].map(comparable);
    expect(actual, `call ${i}: ${call}`).toEqual(expected);
  }
}

const VALUES: Record<string, Record<string, unknown>> = {
  a: { kind: "note", n: 1, done: true, tags: ["x"], deep: { a: 1 } },
  b: { kind: "note", n: 2, done: false, text: "Grüße 👋" },
  c: { kind: "task", n: 10, done: null },
  d: { n: "2" },
  e: {},
};
const fill = (namespace: string[]) => async (store: BaseStore) => {
  for (const [key, value] of Object.entries(VALUES)) await store.put(namespace, key, value);
};

describe("as InMemoryStore", () => {
  it("puts, gets, replaces and deletes", async () => {
    await both(
      (s) => s.get(["users"], "none"),
      (s) => s.put(["users", "42"], "likes", { food: "rice", list: [1, null, { a: "b" }] }),
      (s) => s.get(["users", "42"], "likes"),
      (s) => s.get(["users"], "likes"),
      (s) => s.get(["users", "42"], "Likes"),
      (s) => s.put(["users", "42"], "likes", { food: "bread" }),
      (s) => s.get(["users", "42"], "likes"),
      (s) => s.delete(["users", "42"], "likes"),
      (s) => s.delete(["users", "42"], "likes"),
      (s) => s.get(["users", "42"], "likes"),
      (s) => s.put(["a b", "ü/%", '"'], "k?&=/..", { odd: true }),
      (s) => s.get(["a b", "ü/%", '"'], "k?&=/.."),
      (s) => s.get([], "k"),
      (s) => s.get(["a.b"], "k"),
      (s) => s.delete(["", "x"], "k"),
    );
  });

  it("searches under a prefix, with filters", async () => {
    const find = (filter: object) => (s: BaseStore) => s.search(["f"], { filter });
    await both(
      fill(["f", "one"]),
      (s) => s.put(["g"], "else", { kind: "note", n: 1 }),
      (s) => s.search([]),
      (s) => s.search(["f"]),
      (s) => s.search(["f", "one"]),
      (s) => s.search(["f", "two"]),
      (s) => s.search(["a.b"]),
      find({}),
      find({ kind: "note" }),
      find({ kind: "note", done: true }),
      find({ kind: { $eq: "task" } }),
      find({ kind: { $ne: "note" } }),
      find({ n: { $gt: 1 } }),
      find({ n: { $gte: 2, $lt: 10 } }),
      find({ n: { $lte: 2 } }),
      find({ n: { $in: [1, "2"] } }),
      find({ n: { $nin: [1, 2] } }),
      find({ done: null }),
      find({ n: 2 }),
      find({ n: "2" }),
      find({ absent: "x" }),
      (s) => s.search(["f"], { limit: 0 }),
      (s) => s.search(["f"], { offset: 5 }),
      (s) => s.search(["f"], { offset: 100 }),
    );
  });

  it("lists namespaces by prefix, suffix and depth", async () => {
    const list = (options: object) => (s: BaseStore) => s.listNamespaces(options);
    const match = (...matchConditions: object[]) => (s: BaseStore) =>
      s.batch([{ matchConditions, limit: 100, offset: 0 } as Operation]).then(([found]) => found);
    await both(
      async (s) => {
        for (const path of ["a b c", "a b d", "a x c", "b b c", "a", "a b"])
          await s.put(path.split(" "), "k", { path });
      },
      list({}),
      list({ prefix: ["a"] }),
      list({ prefix: ["a", "*", "c"] }),
      list({ suffix: ["c"] }),
      list({ suffix: ["*", "c"] }),
      list({ prefix: ["a"], suffix: ["b", "c"] }),
      list({ prefix: ["none"] }),
      list({ maxDepth: 1 }),
      list({ maxDepth: 2, prefix: ["a"] }),
      list({ limit: 2 }),
      list({ limit: 2, offset: 1 }),
      match({ matchType: "prefix", path: ["a"] }, { matchType: "prefix", path: ["*", "b"] }),
      match({ matchType: "prefix", path: ["a"] }, { matchType: "prefix", path: ["b"] }),
      match({ matchType: "suffix", path: ["c"] }, { matchType: "suffix", path: ["b", "*"] }),
    );
  });

  it("does a batch at once: reads see what was before, the last put of a key counts", async () => {
    await both(
      (s) => s.put(["n"], "a", { v: 0 }),
      (s) => s.batch([
        { namespace: ["n"], key: "new", value: { v: 1 } },
        { namespace: ["n"], key: "new" },
        { namespace: ["n"], key: "a" },
        { namespacePrefix: ["n"] },
        { namespace: ["n"], key: "b", value: { v: 1 } },
        { namespace: ["n"], key: "b", value: { v: 2 } },
        { namespace: ["n"], key: "b" },
        { matchConditions: undefined, limit: 10, offset: 0 },
        { namespace: ["n"], key: "c", value: { v: 3 } },
        { namespace: ["n"], key: "c", value: null },
      ] as Operation[]),
      (s) => s.search(["n"]),
      (s) => s.batch([]),
    );
  });

  it("refuses what is no namespace, with LangGraph's own error, and writes nothing", async () => {
    const cairn = new CairnStore({ client });
    for (const store of [new InMemoryStore(), cairn])
      for (const namespace of [[], ["a.b"], ["a", ""], ["langgraph", "x"], [1 as never]])
        await expect(store.put(namespace, "k", {})).rejects.toBeInstanceOf(InvalidNamespaceError);
    const operations = [
      { namespace: ["fine"], key: "k", value: {} },
      { namespace: ["not.fine"], key: "k", value: {} },
    ];
    await expect(cairn.batch(operations)).rejects.toBeInstanceOf(InvalidNamespaceError);
    expect(await cairn.get(["fine"], "k")).toBeNull();
  });
});

/** Counts the letters of a text, so that texts with the same letters are similar. */
class Letters extends Embeddings {
  readonly calls: string[] = [];

  constructor() {
    super({});
  }

  async embedQuery(text: string): Promise<number[]> {
    this.calls.push(text);
    const counts = new Array<number>(26).fill(0);
    for (const letter of text.toLowerCase().match(/[a-z]/g) ?? [])
      counts[letter.charCodeAt(0) - 97]! += 1;
    return counts;
  }

  embedDocuments(texts: string[]): Promise<number[][]> {
    return Promise.all(texts.map((text) => this.embedQuery(text)));
  }
}

describe("with embeddings, as InMemoryStore", () => {
  const DOCUMENTS: Record<string, Record<string, unknown>> = {
    rome: { title: "early flight to rome", parts: [{ text: "window" }, { text: "coffee" }], n: 1 },
    oslo: { title: "night train to oslo", parts: [{ text: "bunk bed" }], n: 2 },
    cat: { title: "feed the cat", parts: [], about: { who: "cat", where: "home" }, n: 3 },
  };

  const rounded = (found: SearchItem[]) =>
    found.map(({ key, value, score }) => [key, value, score?.toFixed(5)]);

  /** Returns the results of a query in both stores, with order and scores. */
  async function bothFind(fields: string[] | undefined, query: string, options: object = {}) {
    const index = { dims: 26, embeddings: new Letters(), ...(fields && { fields }) };
    const found = [];
    const stores: BaseStore[] = [new InMemoryStore({ index }), new CairnStore({ client, index })];
    for (const store of stores) {
      await store.batch(
        Object.entries(DOCUMENTS).map(([key, value]) => ({ namespace: ["docs"], key, value })),
      );
      found.push(rounded(await store.search(["docs"], { query, ...options })));
    }
    expect(found[1]).toEqual(found[0]);
    return found[1]!.map(([key]) => key);
  }

  it.each<[string[] | undefined, string]>([
    [undefined, "a window seat"],
    [["title"], "train"],
    [["parts[*].text", "title"], "bed bunk"],
    [["parts[0].text", "title"], "coffee"],
    [["parts[-1].text", "title"], "coffee"],
    [["{title,about.who}"], "cat"],
    [["about.*", "title"], "home"],
  ])("by %j, %j finds the same, in the same order, with the same scores", async (fields, query) => {
    expect(await bothFind(fields, query)).toHaveLength(3);
  });

  it("together with filter, limit and offset", async () => {
    const filter = { n: { $gt: 1 } };
    expect(await bothFind(["title"], "cat", { filter })).toEqual(["cat", "oslo"]);
    expect(await bothFind(["title"], "cat", { limit: 1 })).toEqual(["cat"]);
    expect(await bothFind(["title"], "cat", { limit: 1, offset: 1 })).toHaveLength(1);
  });

  it("embeds what a put names, or nothing, and each text once", async () => {
    const embeddings = new Letters();
    const store = new CairnStore({ client, index: { dims: 26, embeddings, fields: ["text"] } });
    await store.put(["e"], "own", { text: "aaa", other: "bbb" }, ["other"]);
    await store.put(["e"], "none", { text: "bbb" }, false);
    await store.batch([
      { namespace: ["e"], key: "one", value: { text: "same" } },
      { namespace: ["e"], key: "two", value: { text: "same" } },
    ]);
    expect(embeddings.calls).toEqual(["bbb", "same"]);
    const [best, ...others] = await store.search(["e"], { query: "b" });
    expect([best?.key, best?.score]).toEqual(["own", 1]);
    expect(others.map(({ key }) => key)).not.toContain("none");
    expect(await store.search(["e"])).toHaveLength(4);
    const wrong = new CairnStore({ client, index: { dims: 3, embeddings } });
    await expect(wrong.put(["e"], "k", { text: "x" })).rejects.toThrow(/26 numbers.*dims is 3/);
    expect(await wrong.get(["e"], "k")).toBeNull();
  });
});

describe("on Cairn", () => {
  it("sends reads and changes of a batch in one request each, and needs no right to write for a read alone", async () => {
    const { sent, fetch } = recorder();
    const store = new CairnStore({ client: clientOf(tenant, { fetch }) });
    await store.batch([
      { namespace: ["n"], key: "a", value: { v: 1 } },
      { namespace: ["n"], key: "b", value: { v: 1 } },
      { namespace: ["n"], key: "a" },
      { namespacePrefix: ["n"] },
    ]);
    const batch = "POST /v1/store/batch";
    expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual([batch, batch]);

    const { secret } = await client.keys.create({ name: "reader", scopes: ["store:read"] });
    const reader = new CairnStore({ client: { baseUrl: server.url, apiKey: secret! } });
    expect((await reader.get(["n"], "a"))?.value).toEqual({ v: 1 });
    expect(await reader.get(["n"], "none")).toBeNull();
    expect(await reader.search(["n"])).toHaveLength(2);
    expect(await reader.listNamespaces()).toEqual([["n"]]);
    await expect(reader.put(["n"], "c", {})).rejects.toThrow(/store:write/);
  });

  it("keeps items for another process, with the times of their making and change", async () => {
    const before = Date.now();
    await new CairnStore({ client }).put(["kept"], "k", { n: 1 });
    const other = new CairnStore({ client: clientOf(tenant) });
    const first = (await other.get(["kept"], "k"))!;
    expect(first.createdAt.getTime()).toBeGreaterThanOrEqual(before - 5);
    await other.put(["kept"], "k", { n: 2 });
    const second = (await new CairnStore({ client }).get(["kept"], "k"))!;
    expect(second.value).toEqual({ n: 2 });
    expect(second.createdAt).toEqual(first.createdAt);
    expect(second.updatedAt.getTime()).toBeGreaterThanOrEqual(first.updatedAt.getTime());
  });

  it("finds by words, the best first, with a score", async () => {
    const store = new CairnStore({ client });
    await store.put(["docs"], "rome", { text: "A window seat on the early flight to Rome" });
    await store.put(["docs"], "oslo", { text: "The late train to Oslo" });
    await store.put(["docs"], "cat", { text: "Feed the cat" });
    const found = await store.search(["docs"], { query: "early flight, window seat" });
    expect(found[0]?.key).toBe("rome");
    expect(found[0]?.score).toBeGreaterThan(0);
    expect(found.map(({ key }) => key)).not.toContain("cat");
  });

  it("reads and writes more than one request takes", async () => {
    const store = new CairnStore({ client });
    const names = Array.from({ length: 250 }, (_, i) => `k${i}`);
    await store.batch(names.map((key, n) => ({ namespace: ["many", key], key, value: { n } })));
    const found = await store.search(["many"], { limit: 1000 });
    expect(found.map(({ key }) => key).sort()).toEqual([...names].sort());
    expect(await store.search(["many"], { limit: 201, offset: 10 })).toHaveLength(201);
    expect(await store.listNamespaces({ prefix: ["many"], limit: 300 })).toHaveLength(250);
    const got = await store.batch(names.map((key) => ({ namespace: ["many", key], key })));
    expect(got.map((item) => item?.value["n"])).toEqual(names.map((_, n) => n));
  });

  it("writes and reads large items, however many come at once", async () => {
    const store = new CairnStore({ client });
    const value = { text: "x".repeat(900_000) };
    const keys = Array.from({ length: 20 }, (_, i) => `k${i}`);
    await store.batch(keys.map((key) => ({ namespace: ["large"], key, value })));
    const read = await store.batch(keys.map((key) => ({ namespace: ["large"], key })));
    expect(read.filter((item) => item?.value["text"].length === 900_000)).toHaveLength(20);
  });

  it("lets items expire", async () => {
    await new CairnStore({ client, ttlSeconds: 3600 }).put(["t"], "k", {});
    const item = await client.store.get({ namespace: "t", key: "k" });
    const seconds = (Date.parse(item.expires_at!) - Date.parse(item.created_at)) / 1000;
    expect(seconds).toBe(3600);
  });

  it("says what is wrong with a value", async () => {
    const store = new CairnStore({ client });
    await expect(store.put(["n"], "k", "text" as never)).rejects.toBeInstanceOf(InvalidInput);
    await expect(store.put(["n"], "", {})).rejects.toThrow(/key/);
    await expect(store.search(["n"], { filter: { a: { $like: 1 } } })).rejects.toThrow(/\$like/);
  });

  it("finds nothing by a filter whose value is missing, and says so", async () => {
    const store = new CairnStore({ client });
    await store.put(["users"], "k", { user: "alice" });
    const find = (user: unknown) => store.search(["users"], { filter: { user } });
    for (const user of [undefined, { $eq: undefined }])
      await expect(find(user)).rejects.toThrow(/"user" is undefined/);
    expect(await find("alice")).toHaveLength(1);
  });

  it("is there for the nodes of a graph", async () => {
    const State = Annotation.Root({ name: Annotation<string>, seen: Annotation<number> });
    const graph = new StateGraph(State)
      .addNode("remember", async ({ name }, { store }) => {
        const before = await store?.get(["visits"], name);
        const seen = (before?.value["count"] ?? 0) + 1;
        await store?.put(["visits"], name, { count: seen });
        return { seen };
      })
      .addEdge(START, "remember")
      .addEdge("remember", END)
      .compile({ store: new CairnStore({ client }) });
    await graph.invoke({ name: "ann" });
    expect((await graph.invoke({ name: "ann" })).seen).toBe(2);
    expect((await graph.invoke({ name: "bob" })).seen).toBe(1);
  });
});
