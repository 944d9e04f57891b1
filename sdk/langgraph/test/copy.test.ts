// SPDX-License-Identifier: Apache-2.0
// Moving from another saver.
import { HumanMessage } from "@langchain/core/messages";
import {
  Annotation, Command, END, interrupt, MessagesAnnotation, START, StateGraph,
} from "@langchain/langgraph";
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import { CairnSaver } from "cairn-langgraph";
import { Server } from "./lib/server.js";

let server: Server;
beforeAll(async () => {
  server = await Server.start();
});
afterAll(() => server.close());

const State = Annotation.Root({ ...MessagesAnnotation.spec, log: Annotation<string> });
const inner = new StateGraph(State)
  .addNode("ask", () => ({ log: `answer: ${interrupt("go on?")}` }))
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile();
const build = (checkpointer: BaseCheckpointSaver) =>
  new StateGraph(State)
    .addNode("greet", () => ({ messages: [new HumanMessage("hi")], log: "greeted" }))
    .addNode("inner", inner)
    .addEdge(START, "greet")
    .addEdge("greet", "inner")
    .addEdge("inner", END)
    .compile({ checkpointer });

const inThread = (thread_id: string) => ({ configurable: { thread_id } });

async function everything(saver: BaseCheckpointSaver) {
  const found = [];
  for await (const { pendingWrites, ...tuple } of saver.list({ configurable: {} }))
    found.push({ ...tuple, writes: pendingWrites?.map((write) => JSON.stringify(write)).sort() });
  return found.sort((a, b) => (a.checkpoint.id < b.checkpoint.id ? -1 : 1));
}

describe("copyFrom", () => {
  it("takes all threads with their history, and graphs go on where they were", async () => {
    const old = new MemorySaver();
    for (const thread of ["one", "two", "three"]) await build(old).invoke({}, inThread(thread));
    await build(old).invoke(new Command({ resume: "yes" }), inThread("three"));

    const saver = new CairnSaver({ client: await server.newClient() });
    const told: [string, number][] = [];
    const count = await saver.copyFrom(old, { onThread: (...args) => told.push(args) });
    expect(await everything(saver)).toEqual(await everything(old));
    expect(told.map(([thread]) => thread).sort()).toEqual(["one", "three", "two"]);
    expect(told.reduce((sum, [, n]) => sum + n, 0)).toBe(count);

    expect(await saver.copyFrom(old)).toBe(count); // repeating it is harmless
    expect(await everything(saver)).toEqual(await everything(old));

    for (const checkpointer of [old, saver]) {
      const graph = build(checkpointer);
      const state = await graph.invoke(new Command({ resume: "sure" }), inThread("two"));
      expect(state.log).toBe("answer: sure");
      expect((await build(checkpointer).getState(inThread("two"))).next).toEqual([]);
    }
  });

  it("takes only the threads that are named", async () => {
    const old = new MemorySaver();
    for (const thread of ["one", "two"]) await build(old).invoke({}, inThread(thread));
    const saver = new CairnSaver({ client: await server.newClient() });
    await saver.copyFrom(old, { threadIds: ["two", "none"] });
    expect(await saver.getTuple(inThread("one"))).toBeUndefined();
    expect((await saver.getTuple(inThread("two")))?.checkpoint).toEqual(
      (await old.getTuple(inThread("two")))?.checkpoint,
    );
  });
});
