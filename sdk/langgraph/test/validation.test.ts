// SPDX-License-Identifier: Apache-2.0
// LangGraph's own complete suite for savers: 718 tests, and the 8 optional ones.
import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { CairnSaver } from "cairn-langgraph";
import { Server } from "./lib/server.js";

let server: Server;

const initializer = {
  checkpointerName: "CairnSaver",
  beforeAllTimeout: 60_000,
  async beforeAll() {
    server = await Server.start();
  },
  async afterAll() {
    await server.close();
  },
  /** Each test has its own tenant, because the suite lists all threads. */
  async createCheckpointer() {
    return new CairnSaver({ client: await server.newClient() });
  },
};

validate(initializer);
deltaChannelHistoryTests(initializer);
