// SPDX-License-Identifier: Apache-2.0
// A graph is killed while it waits for a person, and so is its server; another process continues.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { CairnSaver } from "cairn-langgraph";
import { Server } from "./lib/server.js";

const PROGRAM = fileURLToPath(new URL("programs/approval.mjs", import.meta.url));

let server: Server;
let directory: string;
beforeAll(async () => {
  server = await Server.start();
  directory = mkdtempSync(join(tmpdir(), "cairn-diary-"));
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await server.close();
});

/** Starts the program; returns its first output and a function that ends it. */
async function run(args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const line = once(createInterface({ input: child.stdout }), "line");
  const [said] = await Promise.race([line, ended]);
  if (typeof said !== "string") throw new Error(`the program ended with ${said}`);
  return { said: JSON.parse(said), child, ended };
}

describe("a graph whose process and server are killed at an interrupt", () => {
  it("goes on in another process, and no node that has finished runs twice", async () => {
    const { url, key } = await server.newTenant();
    const diary = join(directory, "diary");
    const place = [url, key, "trip to Rome", diary];
    const first = await run([...place, "start"]);
    expect(first.said).toEqual({ asks: ["Which flight?"] });
    first.child.kill("SIGKILL");
    await first.ended;
    await server.kill();
    await server.start();

    const second = await run([...place, "resume", "the early one"]);
    expect((await second.ended)[0]).toBe(0);
    expect(second.said).toEqual({
      messages: [
        ["human", "Book a flight"],
        ["ai", ""],
        ["tool", second.said.notes.join("; ")],
      ],
      notes: second.said.notes,
      next: [],
    });
    expect(second.said.notes.sort()).toEqual([
      "chosen: the early one", "costs 300", "found three flights",
    ]);
    const done = readFileSync(diary, "utf8").trim().split("\n");
    expect(done.sort()).toEqual(["book", "confirm", "model", "price", "search"]);
  });
});

describe("a graph whose server is killed as it runs", () => {
  it.each(["sync", "async"] as const)("goes on, each step done once (%s)", async (durability) => {
    const runs: number[] = [];
    let restarted = Promise.resolve();
    const restart = () => server.kill().then(() => server.start());
    const State = Annotation.Root({
      done: Annotation<number[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const checkpointer = new CairnSaver({ client: await server.newClient() });
    const graph = new StateGraph(State)
      .addNode("step", ({ done }) => {
        const n = done.length;
        runs.push(n);
        if (n === 2 || n === 5) restarted = restarted.then(restart);
        return { done: [n] };
      })
      .addEdge(START, "step")
      .addConditionalEdges("step", ({ done }) => (done.length < 8 ? "step" : END))
      .compile({ checkpointer });
    const config = { configurable: { thread_id: "restarts" }, durability };
    const state = await graph.invoke({}, config);
    await restarted;
    expect(state.done).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(runs).toEqual(state.done);
    const kept = [];
    for await (const { values } of graph.getStateHistory(config)) kept.push(values["done"].length);
    expect(kept).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0, 0]);
  });
});
