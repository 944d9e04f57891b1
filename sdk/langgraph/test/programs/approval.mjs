// SPDX-License-Identifier: Apache-2.0
// A graph that asks a person before it acts, in its own process:
//   node approval.mjs URL KEY THREAD DIARY start|resume [ANSWER]
// Each node writes its name into DIARY when it has finished. `start` stays alive after the
// interrupt until it is killed; `resume` continues with the answer and prints the state.
import { appendFileSync } from "node:fs";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import {
  Annotation, Command, END, interrupt, MessagesAnnotation, START, StateGraph,
} from "@langchain/langgraph";
import { CairnSaver } from "cairn-langgraph";

const [url, key, thread, diary, verb, answer] = process.argv.slice(2);
const done = (name) => appendFileSync(diary, `${name}\n`);

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

const research = new StateGraph(State)
  .addNode("search", () => {
    done("search");
    return { notes: ["found three flights"] };
  })
  .addNode("confirm", () => {
    const chosen = interrupt("Which flight?");
    done("confirm");
    return { notes: [`chosen: ${chosen}`] };
  })
  .addEdge(START, "search")
  .addEdge("search", "confirm")
  .addEdge("confirm", END)
  .compile();

const graph = new StateGraph(State)
  .addNode("model", () => {
    done("model");
    const call = { id: "call-1", name: "book", args: { flight: "any" } };
    return { messages: [new AIMessage({ content: "", tool_calls: [call] })] };
  })
  .addNode("price", () => {
    done("price"); // parallel to the subgraph, in the same step
    return { notes: ["costs 300"] };
  })
  .addNode("research", research)
  .addNode("book", (state) => {
    done("book");
    const content = state.notes.join("; ");
    return { messages: [new ToolMessage({ content, tool_call_id: "call-1" })] };
  })
  .addEdge(START, "model")
  .addEdge("model", "price")
  .addEdge("model", "research")
  .addEdge(["price", "research"], "book")
  .addEdge("book", END)
  .compile({ checkpointer: new CairnSaver({ client: { baseUrl: url, apiKey: key } }) });

const config = { configurable: { thread_id: thread } };
if (verb === "start") {
  const state = await graph.invoke({ messages: [new HumanMessage("Book a flight")] }, config);
  console.log(JSON.stringify({ asks: state.__interrupt__.map(({ value }) => value) }));
  setInterval(() => {}, 1000); // until it is killed
} else {
  const state = await graph.invoke(new Command({ resume: answer }), config);
  const messages = state.messages.map((message) => [message.getType(), message.content]);
  const next = (await graph.getState(config)).next;
  console.log(JSON.stringify({ messages, notes: state.notes, next }));
}
