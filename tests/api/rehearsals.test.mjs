// SPDX-License-Identifier: Apache-2.0
// Large writes: their expensive part runs before the job that writes, and changes no result.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  eventually, expectProblem, expectSound, expectStatus, startServer, twoTenants, uuid,
} from './lib/server.mjs';

const JSON_PATCH = 'application/json-patch+json';
const newThread = async (client) => expectStatus(await client.post('/v1/threads', {}), 201).id;
const texts = (n, salt) =>
  Array.from({ length: n }, (_, i) => `${salt} ${i} ${'a text of some length '.repeat(5)}`);
const data = async (client, path) => expectStatus(await client.get(path), 200).data;
const patch = (client, path, operations, match = '*') =>
  client.patch(path, operations, { type: JSON_PATCH, headers: { 'If-Match': match } });

/** A state of several hundred KiB, so that its patches and its validation are rehearsed. */
async function largeState(client) {
  const path = `/v1/threads/${await newThread(client)}/states/list`;
  const body = { data: { list: texts(3000, 'first') }, json_schema: { type: 'object' } };
  expectStatus(await client.put(path, body, { headers: { 'If-None-Match': '*' } }), 201);
  return path;
}

test('each of several patches of one large document applies to the result of the others',
  async (t) => {
    const { open } = await startServer(t);
    const path = await largeState(open);
    const names = Array.from({ length: 8 }, (_, i) => `patch ${i}`);
    const answers = await Promise.all(names.map((value) =>
      patch(open, path, [{ op: 'add', path: '/data/list/-', value }])));
    for (const answer of answers) expectStatus(answer, 200);
    const { list } = await data(open, path);
    assert.equal(list.length, 3008);
    assert.deepEqual(list.slice(3000).sort(), names);
  });

test('one of several patches of the same version wins', async (t) => {
  const { open } = await startServer(t);
  const path = await largeState(open);
  const etag = (await open.get(path)).headers.get('etag');
  const answers = await Promise.all(Array.from({ length: 6 }, (_, value) =>
    patch(open, path, [{ op: 'replace', path: '/data/list/0', value }], etag)));
  const won = answers.flatMap((answer, i) => (answer.status === 200 ? [i] : []));
  assert.equal(won.length, 1);
  answers.forEach((answer, i) => {
    if (i !== won[0]) expectProblem(answer, 412, 'stale_etag');
  });
  assert.equal((await data(open, path)).list[0], won[0]);
});

test('a large write that is refused changes nothing', async (t) => {
  const { open } = await startServer(t);
  const path = await largeState(open);
  const before = (await open.get(path)).text;
  expectProblem(await patch(open, path, [
    { op: 'remove', path: '/data/list/0' }, { op: 'test', path: '/data/list/0', value: 'other' },
  ]), 422, 'patch_failed');
  expectProblem(await patch(open, path, [{ op: 'replace', path: '/data', value: 5 }]),
    422, 'invalid_input');
  assert.equal((await open.get(path)).text, before);
});

test('a large request and its repetition at the same time are carried out once', async (t) => {
  const { open } = await startServer(t);
  const thread = await newThread(open);
  const body = { channel_values: { messages: texts(2000, 'said') } };
  const headers = { 'Idempotency-Key': uuid() };
  const answers = await Promise.all(Array.from({ length: 4 }, () =>
    open.post(`/v1/threads/${thread}/checkpoints`, body, { headers })));
  const made = new Set(answers.map((answer) => expectStatus(answer, 201).id));
  assert.equal(made.size, 1);
  assert.equal((await data(open, `/v1/threads/${thread}/checkpoints`)).length, 1);
});

test('large checkpoints of few items, and copies of many, are stored once', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const [from, to] = [await newThread(open), await newThread(open)];
  const put = async (namespace, list) => expectStatus(await open.post(
    `/v1/threads/${from}/checkpoints`, { namespace, channel_values: { list } }), 201);
  const lists = {
    small: ['hello'],
    few: Array.from({ length: 5 }, (_, i) => `${i}`.padEnd(20_000, 'x')),
    many: texts(600, 'many'),
  };
  for (const [namespace, list] of Object.entries(lists)) {
    const { id } = await put(namespace, list);
    const got = expectStatus(await open.get(`/v1/threads/${from}/checkpoints/${id}`), 200);
    assert.deepEqual(got.channel_values, { list });
  }
  const copied = await open.post(`/v1/threads/${from}/checkpoints/copy`, { to_thread_id: to });
  assert.equal(expectStatus(copied, 200).copied, 3);
  for (const [namespace, list] of Object.entries(lists)) {
    const page = await data(
      open, `/v1/threads/${to}/checkpoints?namespace=${namespace}&include=values`);
    assert.deepEqual(page.map((row) => row.channel_values), [{ list }]);
  }
  await expectSound(server);
});

test('others write while a large checkpoint is stored, and it is read back whole', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const [mine, other] = [await newThread(alice), await newThread(bob)];
  const channel_values = { messages: texts(19_000, 'said'), text: 'x'.repeat(2_000_000) };
  let isOver = false;
  const stored = alice.post(`/v1/threads/${mine}/checkpoints`, { channel_values })
    .finally(() => { isOver = true; });
  while (!isOver)
    expectStatus(await bob.post(`/v1/threads/${other}/events`, { kind: 'progress' }), 201);
  const { id } = expectStatus(await stored, 201);
  const read = expectStatus(await alice.get(`/v1/threads/${mine}/checkpoints/${id}`), 200);
  assert.deepEqual(read.channel_values, channel_values);
  await expectSound(server);
});

test('a server that is killed while it stores large checkpoints keeps those it acknowledged',
  async (t) => {
    const server = await startServer(t);
    const { open } = server;
    const threads = await Promise.all(Array.from({ length: 4 }, () => newThread(open)));
    const known = new Map();
    const work = threads.map(async (thread, n) => {
      for (let i = 0; ; i++) {
        const channel_values = { messages: texts(4000, `${n}-${i}`) };
        const { id } = expectStatus(
          await open.post(`/v1/threads/${thread}/checkpoints`, { channel_values }), 201);
        known.set(id, { thread, channel_values });
      }
    });
    const ended = Promise.allSettled(work);
    await eventually(() => known.size >= 3);
    await server.kill();
    await ended;
    await expectSound(server);
    await server.start();
    for (const [id, { thread, channel_values }] of known)
      assert.deepEqual(
        expectStatus(await open.get(`/v1/threads/${thread}/checkpoints/${id}`), 200).channel_values,
        channel_values);
  });
