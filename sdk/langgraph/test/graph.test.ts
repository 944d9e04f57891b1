// SPDX-License-Identifier: Apache-2.0
// Real graphs of LangGraph on Cairn.
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation, Command, DeltaChannel, END, interrupt, MemorySaver, MessagesAnnotation, Send, START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { Cairn } from "cairn-client";
import { CairnSaver } from "cairn-langgraph";
import { Server } from "./lib/server.js";

let server: Server;
let client: Cairn;
beforeAll(async () => {
  server = await Server.start();
  client = await server.newClient();
});
afterAll(() => server.close());

const inThread = (thread_id: string) => ({ configurable: { thread_id } });
const newSaver = () => new CairnSaver({ client });
const texts = (messages: BaseMessage[]) => messages.map(({ content }) => content);

const Counted = Annotation.Root({
  ...MessagesAnnotation.spec,
  count: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
});

/** Responds to each message with its number. */
const chat = (checkpointer: BaseCheckpointSaver) =>
  new StateGraph(Counted)
    .addNode("answer", ({ count, messages }) => ({
      messages: [new AIMessage(`${count + 1}: ${messages.at(-1)?.content}`)],
      count: 1,
    }))
    .addNode("sign", () => ({ messages: [new AIMessage("signed")] }))
    .addEdge(START, "answer")
    .addEdge("answer", "sign")
    .addEdge("sign", END)
    .compile({ checkpointer });

const say = (text: string) => ({ messages: [new HumanMessage(text)] });

describe("a conversation", () => {
  it("goes on where another process has left it", async () => {
    await chat(newSaver()).invoke(say("hello"), inThread("chat"));
    const state = await chat(newSaver()).invoke(say("again"), inThread("chat"));
    expect(texts(state.messages)).toEqual([
      "hello", "1: hello", "signed", "again", "2: again", "signed",
    ]);
    expect(state.messages[1]).toBeInstanceOf(AIMessage);
  });

  it("has the same history as in MemorySaver", async () => {
    const histories = [];
    for (const saver of [new MemorySaver(), newSaver()]) {
      const graph = chat(saver);
      await graph.invoke(say("one"), inThread("history"));
      await graph.invoke(say("two"), inThread("history"));
      const states = [];
      const history = graph.getStateHistory(inThread("history"));
      for await (const { values, next, metadata, tasks } of history)
        states.push({
          texts: texts(values["messages"] ?? []), count: values["count"], next, metadata,
          tasks: tasks.map(({ name }) => name),
        });
      histories.push(states);
    }
    expect(histories[0]).toHaveLength(8);
    expect(histories[1]).toEqual(histories[0]);
  });
});

describe.each(["sync", "async", "exit"] as const)("durability %s", (durability) => {
  it("keeps a run, its interrupt and what comes after", async () => {
    const saver = newSaver();
    const graph = new StateGraph(Counted)
      .addNode("first", () => ({ count: 1, messages: [new AIMessage("first")] }))
      .addNode("ask", () => ({ messages: [new AIMessage(`asked: ${interrupt("sure?")}`)] }))
      .addEdge(START, "first")
      .addEdge("first", "ask")
      .addEdge("ask", END)
      .compile({ checkpointer: saver });
    const config = { ...inThread(`durable ${durability}`), durability };
    await graph.invoke(say("go"), config);
    const asked = await graph.getState(config);
    expect(asked.next).toEqual(["ask"]);
    expect(asked.tasks[0]?.interrupts[0]?.value).toBe("sure?");
    await graph.invoke(null, config); // does not continue without an answer
    expect((await graph.getState(config)).next).toEqual(["ask"]);
    const state = await graph.invoke(new Command({ resume: "yes" }), config);
    expect(texts(state.messages)).toEqual(["go", "first", "asked: yes"]);
    const again = await graph.invoke(say("more"), config).then(() => graph.getState(config));
    expect(again.values.count).toBe(2);
    expect(again.next).toEqual(["ask"]);
  });
});

describe("time travel", () => {
  it("forks from an old state, with another value, and leaves the old line", async () => {
    const graph = chat(newSaver());
    const config = inThread("travel");
    await graph.invoke(say("one"), config);
    await graph.invoke(say("two"), config);
    const states = [];
    for await (const state of graph.getStateHistory(config)) states.push(state);
    const before = states.find(({ next, values }) => next[0] === "answer" && values.count === 1)!;

    const replayed = await graph.invoke(null, before.config);
    expect(texts(replayed.messages).at(-2)).toBe("2: two");

    const forked = await graph.updateState(before.config, { ...say("instead"), count: 10 });
    const state = await graph.invoke(null, forked);
    expect(texts(state.messages)).toEqual([
      "one", "1: one", "signed", "two", "instead", "12: instead", "signed",
    ]);
    expect(state.count).toBe(12);
    const old = await graph.getState(states[0]!.config);
    expect(texts(old.values.messages).at(-2)).toBe("2: two");
    expect(old.values.count).toBe(2);
  });

  it("copies a checkpoint", async () => {
    const graph = chat(newSaver());
    const config = inThread("copied");
    await graph.invoke(say("one"), config);
    const before = await graph.getState(config);
    const copied = await graph.updateState(before.config, null, "__copy__");
    const after = await graph.getState(copied);
    expect(texts(after.values.messages)).toEqual(["one", "1: one", "signed"]);
    expect(after.parentConfig).toEqual(before.parentConfig);
    expect(after.metadata?.source).toBe("fork");
  });
});

describe("a channel that is kept as what was written to it", () => {
  it.each(["sync", "exit"] as const)("is rebuilt as from MemorySaver (%s)", async (durability) => {
    const add = (list: string[], added: string[][]) => [...list, ...added.flat()];
    const options = { snapshotFrequency: 4, initialValueFactory: () => [] };
    const State = Annotation.Root({
      list: () => new DeltaChannel<string[], string[]>(add, options),
      other: Annotation<number>,
    });
    const build = (checkpointer: BaseCheckpointSaver) =>
      new StateGraph(State)
        .addNode("left", ({ list }) => ({ list: [`left ${list.length}`] }))
        .addNode("right", ({ list }) => ({ list: [`right ${list.length}`] }))
        .addNode("quiet", () => ({ other: 1 }))
        .addEdge(START, "left")
        .addEdge(START, "right")
        .addEdge("left", "quiet")
        .addEdge("right", "quiet")
        .addEdge("quiet", END)
        .compile({ checkpointer });
    const histories = [];
    for (const fresh of [((saver) => () => saver)(new MemorySaver()), newSaver]) {
      const config = { ...inThread(`deltas ${durability}`), durability };
      for (const turn of [1, 2, 3, 4])
        await build(fresh()).invoke({ list: [`turn ${turn}`] }, config);
      const states = [];
      for await (const { values } of build(fresh()).getStateHistory(config))
        states.push({ ...values, list: values["list"].toSorted() }); // otherwise by task ids
      histories.push(states);
    }
    expect(histories[1]).toEqual(histories[0]);
    expect(histories[1]?.[0]?.list).toHaveLength(12);
  });
});

describe("a step with many tasks", () => {
  it("keeps what is done when one fails, and does it once", async () => {
    const runs: string[] = [];
    let fails = true;
    const Items = Annotation.Root({
      done: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const sends = ["a", "b", "c"].map((item) => new Send("work", { item }));
    const graph = new StateGraph(Items)
      .addNode("work", async ({ item }: { item: string }) => {
        runs.push(item);
        if (item === "c" && fails) {
          await new Promise((soon) => setTimeout(soon, 50)); // the others have finished by then
          throw new Error("c fails");
        }
        return { done: [item] };
      })
      .addConditionalEdges(START, () => sends, ["work"])
      .compile({ checkpointer: newSaver() });
    await expect(graph.invoke({}, inThread("sends"))).rejects.toThrow("c fails");
    fails = false;
    const state = await graph.invoke(null, inThread("sends"));
    expect(state.done).toEqual(["a", "b", "c"]);
    expect(runs).toEqual(["a", "b", "c", "c"]);
  });
});

describe("a state that is changed while a step waits", () => {
  it("has what the finished tasks of the step wrote, as with MemorySaver", async () => {
    const State = Annotation.Root({
      count: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
      notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const builder = new StateGraph(State)
      .addNode("begin", () => ({ count: 1 }))
      .addNode("ask", () => ({ notes: [interrupt("Shall we?")] }))
      .addNode("work", () => ({ count: 10, notes: ["worked"] }))
      .addEdge(START, "begin")
      .addEdge("begin", "ask")
      .addEdge("begin", "work");
    for (const checkpointer of [new MemorySaver(), newSaver()]) {
      const graph = builder.compile({ checkpointer });
      await graph.invoke({ notes: ["go"] }, inThread("changed"));
      await graph.updateState(inThread("changed"), { notes: ["changed"] }, "begin");
      const { values } = await graph.getState(inThread("changed"));
      expect(values).toEqual({ count: 11, notes: ["go", "worked", "changed"] });
    }
  });
});

describe("a graph in a graph", () => {
  it("is interrupted inside, is seen from outside, and goes on", async () => {
    const inner = new StateGraph(Counted)
      .addNode("prepare", () => ({ messages: [new AIMessage("prepared")] }))
      .addNode("ask", () => ({ messages: [new AIMessage(`told ${interrupt("what?")}`)], count: 5 }))
      .addEdge(START, "prepare")
      .addEdge("prepare", "ask")
      .addEdge("ask", END)
      .compile();
    const build = () =>
      new StateGraph(Counted)
        .addNode("inner", inner)
        .addNode("last", ({ count }) => ({ messages: [new AIMessage(`count ${count}`)] }))
        .addEdge(START, "inner")
        .addEdge("inner", "last")
        .addEdge("last", END)
        .compile({ checkpointer: newSaver() });
    await build().invoke(say("go"), inThread("nested"));
    const state = await build().getState(inThread("nested"), { subgraphs: true });
    const inside = state.tasks[0]?.state as { next: string[]; values: { messages: BaseMessage[] } };
    expect(inside.next).toEqual(["ask"]);
    expect(texts(inside.values.messages)).toEqual(["go", "prepared"]);
    const end = await build().invoke(new Command({ resume: "this" }), inThread("nested"));
    expect(texts(end.messages).slice(-2)).toEqual(["told this", "count 5"]);
  });
});

describe("two workers on one thread", () => {
  it("lose nothing that either has put, and leave a state that goes on", async () => {
    const graphs = [chat(newSaver()), chat(newSaver())];
    await graphs[0]!.invoke(say("begin"), inThread("shared"));
    await Promise.all(
      graphs.map((graph, i) => graph.invoke(say(`worker ${i}`), inThread("shared"))),
    );
    const states = [];
    for await (const state of graphs[0]!.getStateHistory(inThread("shared"))) states.push(state);
    expect(states).toHaveLength(4 + 2 * 4);
    for (const i of [0, 1]) {
      const ends = states.filter(
        ({ values, next }) =>
          next.length === 0 && texts(values.messages).includes(`worker ${i}`),
      );
      expect(texts(ends[0]!.values.messages)).toContain("signed");
    }
    const after = await graphs[1]!.invoke(say("after"), inThread("shared"));
    expect(texts(after.messages).at(-2)).toMatch(/: after$/);
    expect(texts(after.messages).slice(0, 3)).toEqual(["begin", "1: begin", "signed"]);
  });
});
