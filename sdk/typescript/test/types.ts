// SPDX-License-Identifier: Apache-2.0
// Read by the type checker alone (package.test.mjs): what must not compile says so, and a line that
// says so and does compile is an error too.
import {
  Cairn,
  type Event,
  type EventsAppended,
  EventsPruned,
  type FileDiff,
  NotFound,
  type Page,
  type Run,
  type Thread,
} from "cairn-client";

const client = new Cairn({ baseUrl: "http://127.0.0.1:7420", apiKey: async () => "cairn_x" });

export async function threads(): Promise<Thread> {
  const thread = await client.threads.create({
    title: "x",
    metadata: { any: [1, { thing: true }] },
  });
  const title: string | null = thread.title;
  // @ts-expect-error: it may be null
  const certain: string = thread.title;
  // @ts-expect-error: not a member
  await client.threads.create({ titel: "x" });
  // @ts-expect-error: not one of the statuses
  await client.threads.create({ status: "done" });
  // @ts-expect-error: the id is missing
  await client.threads.get();
  // @ts-expect-error: not an option
  await client.threads.get(thread.id, { ifmatch: 1 });
  // @ts-expect-error: a patch has operations
  await client.threads.update(thread.id, [{ op: "append", path: "/x" }]);
  await client.threads.update(thread.id, [{ op: "add", path: "/context/x", value: 1 }], {
    ifMatch: thread.version,
  });
  console.log(title, certain);
  return thread;
}

export async function lists(): Promise<void> {
  const page: Page<Thread> = await client.threads.list({ limit: 3, metadata: { n: 1 } });
  for await (const thread of client.threads.list()) console.log(thread.id, page.next_cursor);
  const older: string | undefined = (await client.threads.messages.list("t")).before_cursor;
  const started: number = (await client.usage.get()).totals.runs_started;
  // @ts-expect-error: of messages alone
  console.log(older, started, page.before_cursor);
  // @ts-expect-error: not a parameter
  client.threads.list({ limits: 3 });
  // @ts-expect-error: a number
  client.threads.list({ limit: "3" });
}

export async function oneOrMany(id: string): Promise<void> {
  const one: Event = await client.threads.events.append(id, { kind: "progress" });
  const many: EventsAppended = await client.threads.events.append(id, {
    events: [{ kind: "progress" }],
  });
  // @ts-expect-error: many events are counted
  const wrong: Event = await client.threads.events.append(id, { events: [{ kind: "progress" }] });
  const text: string = await client.threads.files.diff(id, "a", { format: "text" });
  const diff: FileDiff = await client.threads.files.diff(id, "a");
  console.log(one, many, wrong, text, diff);
}

export async function streams(id: string): Promise<void> {
  for await (const event of client.threads.events.follow(id, {
    after: 3,
    transport: "websocket",
  })) {
    const seq: number = event.seq;
    // @ts-expect-error: the type of the payload is unknown
    console.log(seq, event.payload.x);
  }
  // @ts-expect-error: not a way that events arrive
  client.events.follow({ transport: "udp" });
  // @ts-expect-error: not something to upload
  await client.threads.files.upload(id, "a", 17);
  const body: ReadableStream<Uint8Array> = (await client.threads.files.download(id, "a")).body;
  await client.threads.files.upload(id, "b", body);
}

export async function runs(): Promise<void> {
  const run: Run | null = await client.runs.claim({ worker: "w" }, { wait: 5 });
  // @ts-expect-error: there may have been none
  console.log(run.id);
  await client.runs.work({ agent: "a" }, async (claimed, { client: fenced, signal }) => {
    await fenced.runs.get(claimed.id, undefined, { signal });
  });
}

export function errors(error: unknown): string {
  if (error instanceof EventsPruned) return error.resumeCursor;
  if (error instanceof NotFound) return error.code;
  // @ts-expect-error: anything can be thrown
  return error.message;
}
