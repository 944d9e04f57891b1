// SPDX-License-Identifier: Apache-2.0
// Values of any kind are returned exactly as LangGraph's MemorySaver returns them.
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { Document } from "@langchain/core/documents";
import {
  DeltaSnapshot, MemorySaver, type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { Send } from "@langchain/langgraph";
import { CairnSaver } from "cairn-langgraph";
import type { Cairn } from "cairn-client";
import { checkpointOf, inThread, META } from "./lib/checkpoints.js";
import { Server } from "./lib/server.js";

class Point {
  constructor(readonly x = 1, readonly y = 2) {}
}

function nested(levels: number): unknown {
  let value: unknown = "core";
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { in: value };
  return value;
}

const circular: Record<string, unknown> = { name: "loop" };
circular["self"] = circular;

const VALUES: Record<string, unknown> = {
  "a text": "Grüße, 世界 👋",
  "an empty text": "",
  "a number": -1.5e-7,
  "a whole number beyond 2^53": 2 ** 60,
  "true": true,
  "null": null,
  "undefined": undefined,
  "an empty list": [],
  "an empty object": {},
  "a list with undefined and null": [1, undefined, null, "x"],
  "an object with undefined": { a: undefined, b: 1 },
  "a date": new Date("2026-01-02T03:04:05.678Z"),
  "an invalid date": new Date(Number.NaN),
  "not a number, and infinity": [Number.NaN, Number.POSITIVE_INFINITY, -0],
  "bytes inside of an object": { data: new Uint8Array([1, 2, 3]) },
  "a map": new Map<unknown, unknown>([["a", 1], [{ k: 1 }, new Set([1])]]),
  "a set": new Set(["a", new Map([["b", 2]])]),
  "a regular expression": /a"\/\u0000/giu,
  "an error": new Error("went wrong"),
  "an instance of a class": new Point(),
  "a document": new Document({ pageContent: "text", metadata: { page: 1 } }),
  "a send": new Send("node", { messages: [new HumanMessage("hi")] }),
  "a delta snapshot": new DeltaSnapshot([new HumanMessage("hi"), "x"]),
  "a circular object": circular,
  "U+0000 in a text": "a\u0000b",
  "U+0000 in a list": ["fine", "a\u0000b"],
  "U+0000 in the name of a member": { "a\u0000": 1 },
  "the text of an escape": "not an escape: \\u0000 \\ud800",
  "a lone surrogate": ["\ud800", "a\udc00"],
  "a pair of surrogates": "😀",
  "controls": "\u0001\u001f\u007f\u2028\ufeff",
  "119 levels": nested(119),
  "120 levels": nested(120),
  "121 levels": nested(121),
  "129 levels": nested(129),
  "500 levels": nested(500),
  "what looks like an envelope": { $serde: "bytes", base64: "AAEC" },
  "what looks like an escaped envelope": { $serde: "json", value: { $serde: "bytes" } },
  "what looks like an undefined": { lc: 2, type: "undefined" },
  "members in their order": { z: 1, a: 2, "10": 3, "9": 4, __proto: 5 },
  "a member named __proto__": JSON.parse('{"__proto__": {"x": 1}, "a": 2}'),
  "a long text": "x".repeat(100_000),
};

let server: Server;
let client: Cairn;
beforeAll(async () => {
  server = await Server.start();
  client = await server.newClient();
});
afterAll(() => server.close());

/** Returns the results of both savers for the same value. */
async function bothGive(values: Record<string, unknown>, metadata: object = {}) {
  const checkpoint = checkpointOf(values);
  const given = [];
  for (const saver of [new MemorySaver(), new CairnSaver({ client })]) {
    const config = inThread(`fidelity ${checkpoint.id}`);
    const meta = { ...META, ...metadata };
    const put = await saver.put(config, checkpoint, meta, checkpoint.channel_versions);
    await saver.putWrites(put, Object.entries(values), "task");
    const tuple = await saver.getTuple(put);
    const writes = tuple?.pendingWrites?.map(([task, channel, value]) => [channel, value, task]);
    given.push({ ...tuple, pendingWrites: writes?.sort() });
  }
  return given;
}

describe("a value comes back as from MemorySaver", () => {
  it.each(Object.keys(VALUES))("%s", async (name) => {
    const [expected, actual] = await bothGive({ [name]: VALUES[name] });
    expect(actual).toStrictEqual(expected);
    expect(Object.keys(actual?.checkpoint?.channel_values ?? {})).toEqual([name]);
  });

  it("all of them at once, in the values and in the metadata", async () => {
    const { "a circular object": _, ...values } = VALUES;
    const [expected, actual] = await bothGive(values, { ...values, $langgraph: { mine: true } });
    expect(actual).toStrictEqual(expected);
  });
});

describe("what MemorySaver cannot keep", () => {
  const BYTES = [0, 1, 127, 128, 255];

  it("bytes come back as bytes, of values and of writes", async () => {
    const saver = new CairnSaver({ client });
    const values = { some: new Uint8Array(BYTES), none: new Uint8Array(), a: Buffer.from(BYTES) };
    const checkpoint = checkpointOf(values);
    const versions = checkpoint.channel_versions;
    const config = await saver.put(inThread("bytes"), checkpoint, META, versions);
    await saver.putWrites(config, Object.entries(values), "task");
    const tuple = await saver.getTuple(config);
    const back = { some: new Uint8Array(BYTES), none: new Uint8Array(), a: new Uint8Array(BYTES) };
    expect(tuple?.checkpoint.channel_values).toStrictEqual(back);
    expect(tuple?.pendingWrites?.map(([, ...write]) => write)).toStrictEqual(Object.entries(back));
  });

  it("names of channels that mean something to JavaScript", async () => {
    const names = ["0", "", "constructor", "toString", "__proto__", "a.b/c~d", "branch:to:agent"];
    const values = Object.fromEntries(names.map((name) => [name, [name]]));
    const saver = new CairnSaver({ client });
    const checkpoint = checkpointOf(values);
    const versions = checkpoint.channel_versions;
    const config = await saver.put(inThread("names"), checkpoint, META, versions);
    await saver.putWrites(config, Object.entries(values), "task");
    const tuple = await saver.getTuple(config);
    const back = tuple?.checkpoint.channel_values ?? {};
    expect(Object.entries(back).sort()).toEqual(Object.entries(values).sort());
    expect(Object.keys(tuple?.checkpoint.channel_versions ?? {}).sort()).toEqual(names.sort());
    expect(tuple?.pendingWrites?.map(([, ...write]) => write)).toEqual(Object.entries(values));
  });

  it("a big integer, which LangGraph's JSON does not know, spoils no other channel", async () => {
    const saver = new CairnSaver({ client });
    const values = { big: 12345678901234567890n, other: [1] };
    const versions = { big: 1, other: 1 };
    const config = await saver.put(inThread("big"), checkpointOf(values), META, versions);
    const back = (await saver.getTuple(config))?.checkpoint.channel_values;
    expect(back).toEqual({ big: expect.stringMatching(/unable to serialize/), other: [1] });
  });
});

describe("messages", () => {
  const messages = [
    new SystemMessage("Be brief."),
    new HumanMessage({ content: [{ type: "text", text: "What is this?" }], id: "m-1" }),
    new AIMessage({
      content: "",
      tool_calls: [{ id: "c-1", name: "look", args: { at: "it" } }],
      response_metadata: { usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 } },
    }),
    new ToolMessage({ content: "a stone", tool_call_id: "c-1", artifact: { raw: [1, 2] } }),
  ];

  it("come back as instances of their classes, with all they had", async () => {
    const [expected, actual] = await bothGive({ messages });
    expect(actual).toStrictEqual(expected);
    const got = actual?.checkpoint?.channel_values["messages"] as unknown[];
    expect(got.map((message) => message?.constructor.name)).toEqual([
      "SystemMessage", "HumanMessage", "AIMessage", "ToolMessage",
    ]);
    expect((got[2] as AIMessage).tool_calls?.[0]?.args).toEqual({ at: "it" });
  });

  it("stand in Cairn as JSON that people can read", async () => {
    const saver = new CairnSaver({ client });
    const checkpoint = checkpointOf({ messages, bytes: new Uint8Array([1]) });
    await saver.put(inThread("readable"), checkpoint, META, checkpoint.channel_versions);
    const { id } = await client.threads.byKey.get("readable");
    const stored = await client.threads.checkpoints.latest(id);
    expect(stored.channel_values?.["messages"][0].kwargs.content).toBe("Be brief.");
    expect(stored.channel_values?.["bytes"]).toEqual({ $serde: "bytes", base64: "AQ==" });
    expect(stored.metadata).toMatchObject({ ...META, $langgraph: { checkpoint: { v: 4 } } });
  });
});

describe("another serializer", () => {
  const odd: SerializerProtocol = {
    async dumpsTyped(value) {
      const text = value === "big" ? '{"n": 12345678901234567890, "n": 1}' : `"<${value}>"`;
      return [value === "raw" ? "custom" : "json", new TextEncoder().encode(text)];
    },
    async loadsTyped(type, data) {
      return [type, typeof data === "string" ? data : new TextDecoder().decode(data)];
    },
  };

  it("gets back byte for byte what it gave, under the type that it named", async () => {
    const saver = new CairnSaver({ client, serde: odd });
    const config = { configurable: { thread_id: "odd", checkpoint_id: checkpointOf({}).id } };
    await saver.putWrites(config, [["a", "big"], ["b", "raw"], ["c", "plain"]], "task");
    const { id } = await client.threads.byKey.get("odd");
    await client.threads.checkpoints.put(id, {
      id: config.configurable.checkpoint_id, channel_values: {}, metadata: {},
    });
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([
      ["task", "a", ["json", '{"n": 12345678901234567890, "n": 1}']],
      ["task", "b", ["custom", '"<raw>"']],
      ["task", "c", ["json", '"<plain>"']],
    ]);
  });
});
