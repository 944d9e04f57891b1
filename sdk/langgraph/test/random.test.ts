// SPDX-License-Identifier: Apache-2.0
// Random histories with lists that grow, shrink and change, and with forks, put by several savers:
// each checkpoint is returned as by MemorySaver.
import {
  type ChannelVersions, type Checkpoint, MemorySaver,
} from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { Cairn } from "cairn-client";
import { CairnSaver } from "cairn-langgraph";
import { checkpointOf, inThread, META } from "./lib/checkpoints.js";
import { Server } from "./lib/server.js";

const PUTS = 60;
const CHANNELS = ["messages", "notes", "flag"];

let server: Server;
let client: Cairn;
beforeAll(async () => {
  server = await Server.start();
  client = await server.newClient();
});
afterAll(() => server.close());

/** Returns seeded random numbers from 0 to 1 (mulberry32). */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Node {
  config: RunnableConfig;
  checkpoint: Checkpoint;
}

class Story {
  readonly #random: () => number;
  readonly memory = new MemorySaver();
  readonly nodes: Node[] = [];
  #savers = [new CairnSaver({ client }), new CairnSaver({ client })];

  constructor(seed: number) {
    this.#random = chance(seed);
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }

  #item(): unknown {
    const text = "word ".repeat(1 + Math.floor(this.#random() * 40));
    return this.#pick([
      { id: this.#random(), text }, text, [text, [text]], null, { $serde: "json" }, "]", "a\u0000b",
    ]);
  }

  #change(value: unknown): unknown {
    const list = Array.isArray(value) ? value : [];
    const more = () => [...list, this.#item(), this.#item()];
    const change = this.#pick([
      more, more, more, more, more,
      () => list.slice(0, -1),
      () => list.with(0, this.#item()),
      () => [this.#item(), ...list],
      () => this.#item(),
      () => [],
    ]);
    return list.length === 0 ? more() : change();
  }

  /** Derives the next checkpoint: some channels change or disappear, the others stay. */
  #after(parent: Checkpoint | undefined): [Checkpoint, ChannelVersions] {
    const values = { ...parent?.channel_values };
    const versions = { ...parent?.channel_versions };
    const changed: ChannelVersions = {};
    for (const channel of CHANNELS.filter(() => this.#random() < 0.6)) {
      versions[channel] = changed[channel] = Number(versions[channel] ?? 0) + 1;
      if (this.#random() < 0.1) delete values[channel];
      else values[channel] = this.#change(values[channel]);
    }
    return [checkpointOf(values, versions), changed];
  }

  async put(thread: string): Promise<void> {
    const forks = this.#random() < 0.15;
    const parent = forks ? this.#pick([undefined, ...this.nodes]) : this.nodes.at(-1);
    if (this.#random() < 0.1)
      this.#savers = [new CairnSaver({ client }), ...this.#savers.slice(0, 1)];
    const saver = this.#random() < 0.8 ? this.#savers[0]! : this.#savers[1]!;
    if (parent && this.#random() < 0.3) await saver.getTuple(parent.config);
    const [checkpoint, changed] = this.#after(parent?.checkpoint);
    const upon = parent?.config ?? inThread(thread);
    const config = await saver.put(upon, checkpoint, META, changed);
    expect(await this.memory.put(upon, checkpoint, META)).toEqual(config);
    this.nodes.push({ config, checkpoint });
  }
}

describe("histories that chance makes", () => {
  it.each([1, 2])("come back as from MemorySaver (seed %i)", async (seed) => {
    const story = new Story(seed);
    for (let i = 0; i < PUTS; i++) await story.put(`story ${seed}`);
    const reader = new CairnSaver({ client });
    for (const { config, checkpoint } of story.nodes) {
      const tuple = await reader.getTuple(config);
      expect(tuple).toEqual(await story.memory.getTuple(config));
      expect(tuple?.checkpoint).toEqual(checkpoint);
    }
  });
});
