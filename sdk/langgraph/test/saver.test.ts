// SPDX-License-Identifier: Apache-2.0
// The saver beyond LangGraph's own suite: keys, retries, growing lists, concurrent changes.
import {
  type ChannelVersions, type CheckpointTuple, INTERRUPT, uuid6,
} from "@langchain/langgraph-checkpoint";
import {
  Authentication, type Cairn, ConnectionFailed, InvalidInput, TooLarge,
} from "cairn-client";
import { CairnSaver } from "cairn-langgraph";
import { checkpointOf, inThread, META } from "./lib/checkpoints.js";
import { clientOf, Server, type Tenant } from "./lib/server.js";
import { recorder } from "./lib/wire.js";

let server: Server;
let tenant: Tenant;
let client: Cairn;
let saver: CairnSaver;
beforeAll(async () => {
  server = await Server.start();
  tenant = await server.newTenant();
  client = clientOf(tenant);
  saver = new CairnSaver({ client });
});
afterAll(() => server.close());

async function all(tuples: AsyncGenerator<CheckpointTuple>): Promise<CheckpointTuple[]> {
  const found = [];
  for await (const tuple of tuples) found.push(tuple);
  return found;
}

/** Puts a checkpoint on the one of a config; returns the config of the new one. */
const put = (config: object, values: Record<string, unknown>, versions?: ChannelVersions) => {
  const checkpoint = checkpointOf(values, versions);
  return saver.put(config, checkpoint, META, checkpoint.channel_versions);
};

const valuesOf = async (config: object, from = saver) =>
  (await from.getTuple(config))?.checkpoint.channel_values;

const message = (i: number) => ({ role: "user", content: `message ${i} `.repeat(20) });
const messages = (n: number) => Array.from({ length: n }, (_, i) => message(i));

describe("threads", () => {
  it.each([
    "user/42", "..", ".", "%2F", "a b?c=d&e#f", "日本 👋", '"quoted"', "x".repeat(500), "1",
    "00000000-0000-0000-0000-000000000000",
  ])("%j is a thread", async (thread_id) => {
    const config = await put(inThread(thread_id), { a: thread_id });
    expect(config.configurable).toMatchObject({ thread_id, checkpoint_ns: "" });
    const fresh = new CairnSaver({ client });
    expect(await valuesOf(inThread(thread_id), fresh)).toEqual({ a: thread_id });
    const [only, ...others] = await all(fresh.list(inThread(thread_id)));
    expect(others).toEqual([]);
    expect(only?.config).toEqual(config);
  });

  it("are told apart by case and by space", async () => {
    await put(inThread("Case"), { a: 1 });
    expect(await saver.getTuple(inThread("case"))).toBeUndefined();
    expect(await saver.getTuple(inThread("Case "))).toBeUndefined();
  });

  it("that were deleted elsewhere are made anew", async () => {
    const first = await put(inThread("gone"), { a: [1] });
    await saver.getTuple(first);
    await client.threads.delete((await client.threads.byKey.get("gone")).id);
    expect(await saver.getTuple(first)).toBeUndefined();
    expect(await all(saver.list(inThread("gone")))).toEqual([]);

    await put(inThread("gone"), { a: [1] });
    await client.threads.delete((await client.threads.byKey.get("gone")).id);
    const second = await put(first, { a: [1, 2] }, { a: 2 });
    expect(await valuesOf(second)).toEqual({ a: [1, 2] });

    await client.threads.delete((await client.threads.byKey.get("gone")).id);
    await saver.putWrites(second, [["a", [3]]], "task");
    const again = { ...checkpointOf({}), id: second.configurable?.["checkpoint_id"] };
    await saver.put(first, again, META, {});
    expect((await saver.getTuple(second))?.pendingWrites).toEqual([["task", "a", [3]]]);
  });

  it("need an id, and an error says so", async () => {
    await expect(put({ configurable: {} }, {})).rejects.toThrow(/thread_id/);
    await expect(put({ configurable: { thread_id: "" } }, {})).rejects.toThrow(/thread_id/);
    const writing = saver.putWrites(inThread("t"), [["a", 1]], "task");
    await expect(writing).rejects.toThrow(/checkpoint_id/);
  });
});

describe("a put", () => {
  it("that comes twice is harmless", async () => {
    const checkpoint = checkpointOf({ a: messages(3) });
    const first = await saver.put(inThread("twice"), checkpoint, META, { a: 1 });
    await saver.put(inThread("twice"), checkpoint, META, { a: 1 });
    const next = checkpointOf({ a: messages(5) }, { a: 2 });
    await saver.put(first, next, META, { a: 2 });
    await new CairnSaver({ client }).put(first, next, META, { a: 2 });
    expect((await all(saver.list(inThread("twice")))).map((t) => t.checkpoint)).toEqual([
      next, checkpoint,
    ]);
  });

  it("that differs under the same id replaces what was there", async () => {
    const checkpoint = checkpointOf({ a: 1 });
    const config = await saver.put(inThread("other"), checkpoint, META, { a: 1 });
    const changed = { ...checkpoint, channel_values: { a: 2 }, ts: "2020-01-01T00:00:00.000Z" };
    await saver.put(inThread("other"), changed, { ...META, step: 7 }, { a: 1 });
    const tuple = await saver.getTuple(config);
    expect(tuple?.checkpoint).toEqual(changed);
    expect(tuple?.metadata).toEqual({ ...META, step: 7 });
  });

  it("upon itself stays upon its parent", async () => {
    const parent = await put(inThread("self"), { a: 1, b: 1 });
    const config = await put(parent, { a: 2, b: 1 }, { a: 2, b: 1 });
    const checkpoint = (await saver.getTuple(config))!.checkpoint;
    await saver.put(config, checkpoint, { ...META, step: 1 }, {});
    const tuple = await saver.getTuple(config);
    expect(tuple?.checkpoint).toEqual(checkpoint);
    expect(tuple?.metadata?.step).toBe(1);
    expect(tuple?.parentConfig).toEqual(parent);
  });

  it("upon a parent that nobody has keeps its name and all values", async () => {
    const nobody = inThread("orphan");
    Object.assign(nobody.configurable, { checkpoint_id: uuid6(0) });
    const checkpoint = checkpointOf({ a: 1, b: 2 });
    const config = await saver.put(nobody, checkpoint, META, { a: 1 });
    const tuple = await saver.getTuple(config);
    expect(tuple?.checkpoint).toEqual(checkpoint);
    expect(tuple?.metadata).toEqual(META);
    expect(tuple?.parentConfig).toEqual(nobody);
  });

  it("of before version 4 can be read when its parent is gone", async () => {
    for (const checkpoint_id of [uuid6(0), "not of Cairn"]) {
      const old = { ...checkpointOf({ a: 1 }), v: 3 };
      const upon = { configurable: { thread_id: "v3", checkpoint_ns: "", checkpoint_id } };
      const config = await saver.put(upon, old, META, { a: 1 });
      const read = await saver.getTuple(config);
      expect(read?.checkpoint.channel_values).toEqual({ a: 1, __pregel_tasks: [] });
      expect(read?.parentConfig).toEqual(upon);
    }
  });

  it("without metadata has none", async () => {
    for (const metadata of [null, undefined]) {
      const checkpoint = checkpointOf({ a: 1 });
      const config = await saver.put(inThread("bare"), checkpoint, metadata as never, { a: 1 });
      expect((await saver.getTuple(config))?.metadata).toEqual({});
    }
  });

  it("takes over what has kept its version, and nothing else", async () => {
    const parent = await put(inThread("over"), { kept: [1], gone: 1, changed: 1 });
    const versions = { kept: 1, gone: 2, changed: 2 };
    const config = await saver.put(
      parent, checkpointOf({ kept: [1], changed: 2 }, versions), META, { gone: 2, changed: 2 },
    );
    expect(await valuesOf(config)).toEqual({ kept: [1], changed: 2 });
  });

  it("of a fork has the values of what was copied, not of its parent", async () => {
    const root = await put(inThread("fork"), { a: 1 });
    await put(root, { a: 2 }, { a: 2 });
    const copy = checkpointOf({ a: 2 }, { a: 2 });
    const config = await saver.put(root, copy, { ...META, source: "fork" }, {});
    expect(await valuesOf(config)).toEqual({ a: 2 });
  });

  it("goes through a restart of the server, once", async () => {
    const config = await put(inThread("restart"), { a: messages(2) });
    await server.kill();
    const putting = put(config, { a: messages(3) }, { a: 2 });
    await server.start();
    expect(await valuesOf(await putting)).toEqual({ a: messages(3) });
    expect(await all(saver.list(inThread("restart")))).toHaveLength(2);
  });
});

describe("a list that grows", () => {
  const MANY = 200;
  const lastPut = (sent: { method: string; bytes: number }[]) =>
    sent.filter(({ method }) => method === "POST").at(-1)?.bytes ?? 0;

  it("is sent as what was added, also by a process that has read it", async () => {
    const { sent, fetch } = recorder();
    const recorded = new CairnSaver({ client: clientOf(tenant, { fetch }) });
    const versions = (n: number) => ({ messages: n, quiet: 1 });
    let config: object = inThread("grows");
    for (const n of [1, 2, 3]) {
      const values = { messages: messages(MANY + n), quiet: messages(9) };
      const checkpoint = checkpointOf(values, versions(n));
      const changed = n === 1 ? versions(1) : { messages: n };
      config = await recorded.put(config, checkpoint, META, changed);
      if (n === 1) expect(lastPut(sent)).toBeGreaterThan(MANY * 200);
      else expect(lastPut(sent)).toBeLessThan(2000);
    }
    const fresh = recorder();
    const another = new CairnSaver({ client: clientOf(tenant, { fetch: fresh.fetch }) });
    const grown = { messages: messages(MANY + 3), quiet: messages(9) };
    expect(await valuesOf(config, another)).toEqual(grown);
    const both = { messages: messages(MANY + 5), quiet: messages(10) };
    const next = checkpointOf(both, { messages: 4, quiet: 2 });
    const put = await another.put(config, next, META, { messages: 4, quiet: 2 });
    expect(lastPut(fresh.sent)).toBeLessThan(3000);
    expect(await valuesOf(put)).toEqual(both);
  });

  it("is sent whole when anything else about it has changed", async () => {
    const begun = messages(10);
    const changes: [string, unknown][] = [
      ["an item", begun.with(4, message(99))],
      ["the first", begun.with(0, message(99)).concat(message(10))],
      ["fewer", begun.slice(0, 5)],
      ["none", []],
      ["no list any more", { 0: begun[0] }],
      ["U+0000 is new", [...begun, "\u0000"]],
      ["the same", begun],
      ["more", [...begun, 1, [2], "]"]],
    ];
    for (const [name, value] of changes) {
      const parent = await put(inThread(`changes ${name}`), { list: begun });
      const config = await put(parent, { list: value }, { list: 2 });
      expect(await valuesOf(config, new CairnSaver({ client })), name).toEqual({ list: value });
    }
  });

  it("can grow in two directions from the same checkpoint", async () => {
    const parent = await put(inThread("two"), { list: messages(5) });
    const left = await put(parent, { list: [...messages(5), "left"] }, { list: 2 });
    const right = await put(parent, { list: [...messages(5), "right"] }, { list: 2 });
    expect(await valuesOf(left)).toEqual({ list: [...messages(5), "left"] });
    expect(await valuesOf(right)).toEqual({ list: [...messages(5), "right"] });
  });

  it("is right when there is no memory for it, and when its checkpoint was replaced", async () => {
    const forgetful = new CairnSaver({ client, knownCharacters: 0 });
    const parent = await put(inThread("forget"), { list: messages(5) });
    await forgetful.getTuple(parent);
    const next = checkpointOf({ list: messages(6) }, { list: 2 });
    expect(await valuesOf(await forgetful.put(parent, next, META, { list: 2 }))).toEqual({
      list: messages(6),
    });
    const again = { ...checkpointOf({ list: "none" }), id: next.id };
    const replaced = await saver.put(parent, again, META, { list: 1 });
    const last = await put(replaced, { list: ["new"] }, { list: 3 });
    expect(await valuesOf(last)).toEqual({ list: ["new"] });
  });
});

describe("writes", () => {
  it("may come before their checkpoint; the first wins, special ones are replaced", async () => {
    const checkpoint = checkpointOf({});
    const ahead = { configurable: { thread_id: "writes", checkpoint_id: checkpoint.id } };
    await saver.putWrites(ahead, [["a", 1], ["b", 1], [INTERRUPT, "x"], [INTERRUPT, "y"]], "task");
    const more: [string, unknown][] = [["a", 2], ["b", 2], ["c", 2], ["d", 2], [INTERRUPT, "z"]];
    await saver.putWrites(ahead, more, "task");
    await saver.putWrites(ahead, [], "nothing");
    const config = await saver.put(inThread("writes"), checkpoint, META, {});
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([
      ["task", INTERRUPT, "z"],
      ["task", "a", 1], ["task", "b", 1], ["task", "c", 2], ["task", "d", 2],
    ]);
  });
});

describe("lists", () => {
  const LONG = "x".repeat(300);

  beforeAll(async () => {
    let config: object = inThread("listed");
    for (let step = 0; step < 45; step++) {
      const about = { even: step % 2 === 0, long: `${LONG}${step % 3}`, deep: { step } };
      const metadata = { ...META, step, ...about };
      const checkpoint = checkpointOf({ step }, { step });
      config = await saver.put(config, checkpoint, metadata, { step });
      await saver.put(inThread("listed", "inner"), checkpointOf({ step }), metadata, { step: 1 });
    }
  });

  const steps = async (config: object, options = {}) =>
    (await all(saver.list(config, options))).map((tuple) => tuple.metadata?.step);

  it("come page by page, newest first, and only as far as they are read", async () => {
    const { sent, fetch } = recorder();
    const recorded = new CairnSaver({ client: clientOf(tenant, { fetch }) });
    const seen = [];
    for await (const tuple of recorded.list(inThread("listed"))) {
      seen.push(tuple.metadata?.step);
      if (seen.length === 5) expect(sent).toHaveLength(2); // one for the thread, and one for a page
    }
    expect(seen).toEqual(Array.from({ length: 45 }, (_, i) => 44 - i));
    expect(sent).toHaveLength(4);
  });

  it("are of all namespaces, or of one", async () => {
    expect(await steps({ configurable: { thread_id: "listed" } })).toHaveLength(90);
    expect(await steps(inThread("listed", "inner"), { limit: 3 })).toEqual([44, 43, 42]);
    expect(await steps(inThread("listed", "none"))).toEqual([]);
  });

  it("can be filtered by scalars of any kind, by long ones, and by what is deeper", async () => {
    const of = (filter: object) => steps(inThread("listed"), { filter });
    expect(await of({ step: 7 })).toEqual([7]);
    expect(await of({ step: "7" })).toEqual([]);
    expect(await of({ even: true, source: "loop", step: 8 })).toEqual([8]);
    expect(await of({ even: "true" })).toEqual([]);
    expect(await of({ long: `${LONG}1`, even: true })).toEqual([40, 34, 28, 22, 16, 10, 4]);
    expect(await of({ deep: { step: 3 } })).toEqual([3]);
    expect(await of({ absent: null })).toEqual([]);
    expect(await steps(inThread("listed"), { filter: { even: true }, limit: 2 })).toEqual([44, 42]);
  });

  it("can be filtered by members and values that are odd", async () => {
    const odd = {
      "": 1, empty: "", nul: "a\u0000b", "k=&? ü": "v=&? 👋", lone: "\ud800", none: null, n: 0.1,
    };
    const checkpoint = checkpointOf({});
    await saver.put(inThread("odd filters"), checkpoint, { ...META, ...odd }, {});
    for (const [name, value] of Object.entries(odd)) {
      const found = await all(saver.list(inThread("odd filters"), { filter: { [name]: value } }));
      expect(found.map((tuple) => tuple.metadata), name).toEqual([{ ...META, ...odd }]);
      const other = { filter: { [name]: "another" } };
      expect(await all(saver.list(inThread("odd filters"), other)), name).toEqual([]);
    }
  });

  it("end before a checkpoint, or are of it alone", async () => {
    const tenth = (await all(saver.list(inThread("listed"), { filter: { step: 10 } })))[0]!;
    expect(await steps(inThread("listed"), { before: tenth.config, limit: 2 })).toEqual([9, 8]);
    expect(await steps(tenth.config)).toEqual([10]);
    expect(await steps(inThread("listed"), { limit: 0 })).toEqual([]);
  });

  it("of ids that are none of Cairn's end, and are not refused", async () => {
    expect(await steps({ configurable: { thread_id: "listed", checkpoint_id: "1" } })).toEqual([]);
    const before = (checkpoint_id: string) => ({ before: { configurable: { checkpoint_id } } });
    expect(await steps(inThread("listed"), before("0"))).toEqual([]);
    expect(await steps(inThread("listed"), { ...before("z"), limit: 1 })).toHaveLength(1);
  });

  it("are not looked through one by one for what only the saver can compare", async () => {
    const { fetch, sent } = recorder();
    const recorded = new CairnSaver({ client: clientOf(tenant, { fetch }) });
    const filter = { parents: { never: "there" } };
    expect(await all(recorded.list(inThread("listed"), { filter, limit: 1 }))).toEqual([]);
    expect(sent.length).toBeLessThan(10);
  });

  it("of all threads leave out what has no key", async () => {
    const other = await server.newClient();
    const theirs = new CairnSaver({ client: other });
    const { id } = await other.threads.create({});
    await other.threads.checkpoints.put(id, { channel_values: {} });
    for (const thread of ["one", "two"])
      await theirs.put(inThread(thread), checkpointOf({ thread }), META, { thread: 1 });
    const found = await all(theirs.list({ configurable: {} }));
    expect(found.map((t) => t.config.configurable?.["thread_id"])).toEqual(["two", "one"]);
  });
});

describe("delete, prune, copy", () => {
  async function line(thread: string, length: number): Promise<object> {
    let config: object = inThread(thread);
    for (let n = 1; n <= length; n++) {
      config = await put(config, { n, list: messages(n) }, { n, list: n });
      await saver.putWrites(config, [["n", n]], "task");
    }
    return config;
  }

  it("a deleted thread has no checkpoint and no write, and can be used again", async () => {
    const last = await line("deleted", 3);
    await line("stays", 2);
    await saver.deleteThread("deleted");
    await saver.deleteThread("never was");
    expect(await saver.getTuple(last)).toBeUndefined();
    expect(await all(saver.list(inThread("deleted")))).toEqual([]);
    expect(await all(saver.list(inThread("stays")))).toHaveLength(2);
    const again = await line("deleted", 1);
    expect((await saver.getTuple(again))?.pendingWrites).toEqual([["task", "n", 1]]);
  });

  it("what is pruned are the oldest; the rest is whole", async () => {
    const last = await line("pruned", 6);
    expect(await saver.prune("pruned", { keepLatest: 2, olderThan: new Date(0) })).toBe(0);
    expect(await saver.prune("pruned", { keepLatest: 2 })).toBe(4);
    expect(await saver.prune("never was")).toBe(0);
    expect(await valuesOf(last)).toEqual({ n: 6, list: messages(6) });
    expect(await all(saver.list(inThread("pruned")))).toHaveLength(2);
    const next = await put(last, { n: 7, list: messages(7) }, { n: 7, list: 7 });
    expect(await valuesOf(next)).toEqual({ n: 7, list: messages(7) });
  });

  it("a copy has all checkpoints and writes, and goes its own way", async () => {
    await line("original", 4);
    expect(await saver.copyThread("original", "copy")).toBe(4);
    expect(await saver.copyThread("original", "copy")).toBe(0);
    expect(await saver.copyThread("never was", "copy")).toBe(0);
    const [ours, theirs] = await Promise.all(
      ["original", "copy"].map((thread) => all(saver.list(inThread(thread)))),
    );
    const content = ({ checkpoint, metadata, pendingWrites }: CheckpointTuple) =>
      ({ checkpoint, metadata, pendingWrites });
    expect(theirs?.map(content)).toEqual(ours?.map(content));
    await saver.deleteThread("original");
    expect(await valuesOf(inThread("copy"))).toEqual({ n: 4, list: messages(4) });
  });
});

describe("errors and strangers", () => {
  it("what Cairn refuses is the client's typed error", async () => {
    const wrong = new CairnSaver({ client: { baseUrl: server.url, apiKey: "wrong" } });
    await expect(wrong.getTuple(inThread("t"))).rejects.toBeInstanceOf(Authentication);
    const nowhere = new CairnSaver({ client: { baseUrl: "http://127.0.0.1:1", maxRetries: 0 } });
    await expect(nowhere.getTuple(inThread("t"))).rejects.toBeInstanceOf(ConnectionFailed);
    const bad = { ...checkpointOf({}), id: "no uuid" };
    await expect(saver.put(inThread("t"), bad, META, {})).rejects.toBeInstanceOf(InvalidInput);
    const none = { configurable: { thread_id: "t", checkpoint_id: "no uuid" } };
    expect(await saver.getTuple(none)).toBeUndefined();
    const huge = checkpointOf({ huge: "x".repeat(9 * 1024 * 1024) });
    const refused = await saver.put(inThread("t"), huge, META, { huge: 1 }).catch((error) => error);
    const kinds = [InvalidInput, TooLarge];
    expect(kinds.some((kind) => refused instanceof kind), `${refused}`).toBe(true);
  });

  it("a checkpoint that another engine has put can be read", async () => {
    const { id } = await client.threads.byKey.ensure("stranger");
    const put = await client.threads.checkpoints.put(id, {
      channel_values: { a: [1] }, channel_versions: { a: 1 }, metadata: { trigger: "turn" },
    });
    const tuple = await saver.getTuple(inThread("stranger"));
    expect(tuple?.checkpoint).toEqual({
      v: 4, id: put.id, ts: put.created_at, channel_values: { a: [1] }, channel_versions: { a: 1 },
      versions_seen: {},
    });
    expect(tuple?.metadata).toEqual({ trigger: "turn" });
  });

  it("a saver in a config is a word in its JSON, without a key", () => {
    expect(JSON.stringify({ saver })).toBe('{"saver":"[CairnSaver]"}');
  });
});
