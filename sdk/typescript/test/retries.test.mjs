// SPDX-License-Identifier: Apache-2.0
// A request whose response is lost is repeated, and takes effect once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, startServer } from '../../../tests/api/lib/server.mjs';
import { Cairn, ConnectionFailed, OutcomeUnknown, VERSION } from 'cairn-client';
import { foreign, startProxy } from './lib/network.mjs';

test('answers that are lost', async (t) => {
  const server = await startServer(t);
  const proxy = await startProxy(t, server);
  const direct = new Cairn({ baseUrl: server.url });
  const client = new Cairn({ baseUrl: proxy.url });
  const lossy = async (n, call) => {
    proxy.lost = 0;
    proxy.loseAnswers(n);
    try {
      return await call();
    } finally {
      assert.equal(proxy.lost, n, 'answers were lost');
      proxy.loseAnswers(0);
    }
  };

  await t.test('a POST is carried out once, however often its answer is lost', async () => {
    const made = await lossy(3, () => client.threads.create({ title: 'only one' }));
    const all = await direct.threads.list({ title: 'only one' }).toArray();
    assert.deepEqual(
      all.map((thread) => thread.id),
      [made.id],
    );
    const appended = await lossy(1, () =>
      client.threads.events.append(made.id, { kind: 'progress', text: 'x' }),
    );
    const events = await direct.threads.events.list(made.id, { kind: 'progress' }).toArray();
    assert.deepEqual(
      events.map((event) => event.seq),
      [appended.seq],
    );
  });

  await t.test(
    'the same key is sent with every try, and another one with the next request',
    async () => {
      const keys = [];
      const url = await foreign(t, (request, answer) => {
        keys.push(request.headers['idempotency-key']);
        const isLater = keys.length % 2 === 1;
        answer.writeHead(isLater ? 503 : 200, {
          'Cairn-Version': VERSION,
          'Retry-After': '0',
          'Content-Type': 'application/json',
        });
        answer.end(
          isLater
            ? '{"code": "unavailable", "detail": "later", "status": 503, "retryable": true}'
            : '{}',
        );
      });
      const other = new Cairn({ baseUrl: url });
      await other.threads.create({});
      await other.threads.create({});
      await other.threads.create({}, { idempotencyKey: 'mine' });
      assert.equal(keys[0], keys[1]);
      assert.equal(keys[2], keys[3]);
      assert.notEqual(keys[0], keys[2]);
      assert.match(keys[0], /^[0-9a-f]{32}$/);
      assert.deepEqual(keys.slice(4), ['mine', 'mine']);
    },
  );

  await t.test('a PUT and a DELETE without a condition may be sent again', async () => {
    const { id } = await direct.threads.create({});
    await direct.threads.states.put(id, 'plan', { data: { step: 1 } }, { ifNoneMatch: '*' });
    const state = await lossy(1, () =>
      client.threads.states.put(id, 'plan', { data: { step: 2 } }, { ifMatch: '*' }),
    );
    assert.deepEqual(state.data, { step: 2 });
    const file = await lossy(1, () => client.threads.files.upload(id, 'a.txt', 'x'));
    assert.equal(file.size_bytes, 1);
    await lossy(2, () => client.threads.delete(id));
    assert.equal(await direct.threads.get(id).catch((e) => e.name), 'NotFound');
  });

  await t.test('a PATCH and a conditional write end in OutcomeUnknown, and say so', async () => {
    const { id, version } = await direct.threads.create({});
    for (const send of [
      () => client.threads.update(id, { title: 'new' }),
      () => client.threads.delete(id, { ifMatch: version + 1 }),
      () => client.threads.files.upload(id, 'b.txt', 'x', { ifNoneMatch: '*' }),
    ]) {
      const error = await lossy(1, () => send().catch((e) => e));
      assert.ok(error instanceof OutcomeUnknown, error);
      assert.match(error.message, /Read the resource before you send the request again/);
      assert.ok(error.cause instanceof ConnectionFailed);
    }
    assert.equal((await direct.threads.get(id).catch(() => ({ title: 'new' }))).title, 'new');
  });

  await t.test('a stream that was read is not sent again', async () => {
    const { id } = await direct.threads.create({});
    const source = new Blob(['0123456789']).stream();
    const error = await lossy(1, () =>
      client.threads.files.upload(id, 'c.txt', source).catch((e) => e),
    );
    assert.ok(error instanceof OutcomeUnknown, error);
    assert.match(error.message, /its body is a stream/);
  });

  await t.test('nothing is tried again where that is not wanted', async () => {
    proxy.connections = 0;
    const error = await lossy(1, () => client.threads.list({}, { maxRetries: 0 }).catch((e) => e));
    assert.ok(error instanceof ConnectionFailed, error);
  });
});

test('a server that is killed and comes back is not noticed', async (t) => {
  const server = await startServer(t);
  const client = new Cairn({ baseUrl: server.url, maxRetries: 30 });
  const { id } = await client.threads.create({});
  let isDone = false;
  const writing = (async () => {
    const texts = [];
    for (let i = 0; !isDone; i++) {
      await client.threads.events.append(id, { kind: 'progress', text: String(i) });
      texts.push(String(i));
    }
    return texts;
  })();
  for (let i = 0; i < 3; i++) {
    const { last_seq: before } = await client.threads.get(id);
    await eventually(async () => (await client.threads.get(id)).last_seq > before + 3);
    await server.kill();
    await server.start();
  }
  isDone = true;
  const texts = await writing;
  const stored = await client.threads.events.list(id, { kind: 'progress' }).toArray();
  assert.deepEqual(
    stored.map((event) => event.text),
    texts,
  );
});
