// SPDX-License-Identifier: Apache-2.0
// One iteration over events that survives its connections.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, pause, startServer } from '../../../tests/api/lib/server.mjs';
import { Aborted, Cairn, EventsPruned, NotFound } from 'cairn-client';
import { createRequire } from 'node:module';
import { startProxy } from './lib/network.mjs';

const { WebSocket } = createRequire(new URL('../../../tests/api/', import.meta.url))('ws');

// The transports of events; the package ws serves as the platform's WebSocket.
const WAYS = [
  ['sse', { transport: 'sse' }, {}],
  ['websocket', { transport: 'websocket' }, {}],
  ["the platform's websocket", { transport: 'websocket' }, { webSocket: WebSocket }],
];

const seqs = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Reads until an event has this text; returns the events. */
async function readTo(stream, text, each = () => {}) {
  const seen = [];
  for await (const event of stream) {
    seen.push(event);
    await each(event);
    if (event.text === text) break;
  }
  return seen;
}

const many = (n, text = 'x') => ({
  events: Array.from({ length: n }, () => ({ kind: 'progress', text })),
});
const end = { kind: 'progress', text: 'end' };

test('what a filter has left out is no gap after a restart', async (t) => {
  const server = await startServer(t);
  const client = new Cairn({ baseUrl: server.url, maxRetries: 50 });
  const { id } = await client.threads.create({});
  const streams = WAYS.flatMap(([, follow, options]) => {
    const own = new Cairn({ baseUrl: server.url, ...options });
    const more = { ...follow, kind: 'acme.rare', after: 0 };
    return [own.threads.events.follow(id, more), own.events.follow(more)];
  });
  const reading = streams.map((stream) => stream.next());
  await client.threads.events.append(id, many(9));
  await pause(300); // until the followers have read it
  await server.stop();
  await server.start();
  await eventually(() => streams.every((stream) => stream.cursor === '10'));
  await client.threads.events.prune(id, { through_seq: 10 });
  const { seq } = await client.threads.events.append(id, { kind: 'acme.rare' });
  for (const read of reading) assert.equal((await read).value.seq, seq);
  for (const stream of streams) await stream.close();
});

test('a server that is killed and restarted while others append', async (t) => {
  const server = await startServer(t);
  const client = new Cairn({ baseUrl: server.url, maxRetries: 50 });
  const thread = await client.threads.create({});
  const readers = WAYS.flatMap(([name, follow, options]) => {
    const own = new Cairn({ baseUrl: server.url, ...options });
    const reconnects = [];
    const more = { ...follow, onReconnect: (reason) => reconnects.push(reason) };
    return [
      { name, reconnects, reading: readTo(own.threads.events.follow(thread.id, more), 'end') },
      { name: `${name}, all threads`, reconnects, reading: readTo(own.events.follow(more), 'end') },
    ];
  });
  let isDone = false;
  const appending = (async () => {
    for (let i = 0; !isDone; i++)
      await client.threads.events.append(thread.id, many(1 + (i % 3), `n${i}`));
  })();
  const goesOn = async () => {
    const { last_seq: before } = await client.threads.get(thread.id);
    await eventually(async () => (await client.threads.get(thread.id)).last_seq > before + 20);
  };
  for (const how of ['kill', 'stop', 'kill']) {
    await goesOn();
    await server[how]();
    await server.start();
  }
  await goesOn();
  isDone = true;
  await appending;
  const { seq: last } = await client.threads.events.append(thread.id, end);
  for (const { name, reading, reconnects } of readers) {
    const seen = await reading;
    assert.deepEqual(
      seen.map((event) => event.seq),
      seqs(1, last),
      name,
    );
    assert.ok(reconnects.length >= 3, `${name}: ${reconnects.length} reconnects`);
  }
});

for (const [name, follow, options] of WAYS)
  test(`following by ${name}`, async (t) => {
    const server = await startServer(t);
    const client = new Cairn({ baseUrl: server.url, ...options });

    const subscribers = async () =>
      Number(/^cairn_subscribers (\d+)$/m.exec(await client.metrics())[1]);

    await t.test('a cursor goes on where another iteration was', async () => {
      const { id } = await client.threads.create({});
      await client.threads.events.append(id, many(5));
      const first = client.threads.events.follow(id, follow);
      for await (const event of first) if (event.seq === 3) break;
      assert.equal(first.cursor, '3');
      const second = client.threads.events.follow(id, { ...follow, after: first.cursor });
      assert.equal((await second.next()).value.seq, 4);
      await second.close();
      assert.deepEqual(await second.next(), { done: true, value: undefined });
    });

    await t.test(
      'an iteration to which nothing ever came waits for a server that is away',
      async () => {
        const { id, last_seq } = await client.threads.create({});
        const reasons = [];
        const stream = client.threads.events.follow(id, {
          ...follow,
          after: last_seq,
          maxRetries: 0,
          onReconnect: (reason) => reasons.push(reason),
        });
        const next = stream.next();
        await eventually(async () => (await subscribers()) === 1);
        await server.kill();
        await eventually(() => reasons.length >= 2);
        await server.start();
        await client.threads.events.append(id, end);
        assert.equal((await next).value.seq, 2);
        await stream.close();
      },
    );

    await t.test('filters leave out the rest', async () => {
      const { id } = await client.threads.create({});
      await client.threads.events.append(id, {
        events: [{ kind: 'acme.a' }, { kind: 'acme.b' }, { kind: 'acme.a' }],
      });
      const stream = client.threads.events.follow(id, { ...follow, kind: 'acme.a' });
      assert.equal((await stream.next()).value.seq, 2);
      assert.equal((await stream.next()).value.seq, 4);
      await stream.close();
    });

    await t.test('close and a signal end an iteration that waits', async () => {
      const { id } = await client.threads.create({});
      const closed = client.threads.events.follow(id, { ...follow, after: 1 });
      const waiting = closed.next();
      await pause(30);
      await closed.close();
      assert.deepEqual(await waiting, { done: true, value: undefined });
      const stop = new AbortController();
      const stopped = client.threads.events
        .follow(id, { ...follow, after: 1, signal: stop.signal })
        .next();
      setTimeout(() => stop.abort(new Error('enough')), 30);
      await assert.rejects(stopped, (e) => e instanceof Aborted && e.cause.message === 'enough');
    });

    await t.test('a gap is an error that says where to go on, or is told and passed', async () => {
      const { id } = await client.threads.create({});
      await client.threads.events.append(id, many(9));
      await client.threads.events.prune(id, { through_seq: 6 });
      const error = await client.threads.events
        .follow(id, { ...follow, after: 2 })
        .next()
        .catch((e) => e);
      assert.ok(error instanceof EventsPruned, String(error));
      assert.equal(error.resumeCursor, '6');
      const gaps = [];
      const stream = client.threads.events.follow(id, {
        ...follow,
        after: 2,
        onGap: (gap) => void gaps.push(gap),
      });
      assert.equal((await stream.next()).value.seq, 7);
      await stream.close();
      assert.equal(gaps.length, 1);
      assert.equal(gaps[0].pruned_through, 6);

      // In the tenant-wide stream a gap is reported once, even after a reconnect inside it.
      const all = [];
      const told = [];
      for (let cursor = '0'; all.at(-1)?.text !== 'end';) {
        if (all.length === 0) await client.threads.events.append(id, end);
        const one = client.events.follow({
          ...follow,
          after: cursor,
          onGap: (gap) => void told.push(gap),
        });
        all.push((await one.next()).value);
        cursor = one.cursor;
        await one.close();
      }
      assert.equal(told.length, 1, JSON.stringify(told));
      assert.equal(new Set(all.map((event) => event.id)).size, all.length);
    });

    await t.test('who reads slowly gets all of it', async () => {
      const { id } = await client.threads.create({});
      const text = 'x'.repeat(16_000);
      let reconnects = 0;
      const stream = client.threads.events.follow(id, {
        ...follow,
        onReconnect: () => reconnects++,
      });
      await stream.next();
      for (let i = 0; i < 5; i++) await client.threads.events.append(id, many(40, text));
      await client.threads.events.append(id, end);
      const seen = await readTo(stream, 'end', (event) => pause(event.seq % 40 === 0 ? 20 : 0));
      assert.deepEqual(
        seen.map((event) => event.seq),
        seqs(2, 202),
      );
      // A WebSocket has no flow control: the buffer is bounded by reconnecting for the rest.
      if (follow.transport === 'websocket') assert.ok(reconnects > 0, 'all of it was held at once');
    });

    await t.test('a thread that is deleted is not found any more', async () => {
      const { id } = await client.threads.create({});
      const stream = client.threads.events.follow(id, follow);
      await stream.next();
      await client.threads.delete(id);
      await assert.rejects(
        (async () => {
          for await (const _ of stream);
        })(),
        NotFound,
      );
    });

    await t.test('a connection that is dead, cut or silent, is replaced', async () => {
      const proxy = await startProxy(t, server);
      const own = new Cairn({ baseUrl: proxy.url, ...options });
      const { id } = await client.threads.create({});
      const stream = own.threads.events.follow(id, { ...follow, silenceMs: 150 });
      assert.equal((await stream.next()).value.seq, 1);
      proxy.cut();
      await client.threads.events.append(id, end);
      assert.equal((await stream.next()).value.seq, 2);
      proxy.freeze();
      await client.threads.events.append(id, end);
      const before = proxy.connections;
      const next = stream.next();
      await eventually(() => proxy.connections > before, 'no other connection was made');
      proxy.thaw();
      assert.equal((await next).value.seq, 3);
      await stream.close();
    });
  });
