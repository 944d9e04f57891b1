// SPDX-License-Identifier: Apache-2.0
// A large import commits in slices: others write between them, and what does not reach its end is
// undone.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  ENGINE,
  claim,
  eventually,
  expectProblem,
  expectSound,
  expectStatus,
  startServer,
  twoTenants,
  uuid,
} from './lib/server.mjs';
import { packed, unpack } from './lib/archive.mjs';

// Hundreds of slices, so that each test meets an import in its middle.
const EVENTS = ENGINE === 'postgres' ? 15_000 : 60_000;

const bytesOf = async (client) => {
  const answer = await client.get('/v1/export');
  assert.equal(answer.status, 200, answer.text);
  return answer.bytes;
};
const send = (client, archive, query = '', headers = {}) =>
  client.post(`/v1/imports${query}`, undefined, {
    raw: archive,
    type: 'application/x-tar',
    headers,
  });

/** The archive of a tenant with something of each kind, whose only thread has many events. */
async function large(client, n = EVENTS) {
  const agent = expectStatus(await client.post('/v1/agents', { name: 'helper' }), 201);
  const thread = expectStatus(await client.post('/v1/threads', { title: 'long' }), 201).id;
  expectStatus(
    await client.post(`/v1/threads/${thread}/participants`, { principal: `agent:${agent.id}` }),
    201,
  );
  expectStatus(await client.post(`/v1/threads/${thread}/runs`, { user_input: 'hello' }), 201);
  expectStatus(
    await client.put(`/v1/threads/${thread}/files/a.txt`, undefined,
      { raw: 'a', type: 'text/plain' }),
    201,
  );
  expectStatus(
    await client.put('/v1/store/items', { namespace: ['a'], key: 'k', value: { n: 1 } }),
    201,
  );
  const members = unpack(await bytesOf(client));
  const rows = (name) => members.get(name).toString().trimEnd().split('\n');
  const events = rows('events.jsonl');
  const last = JSON.parse(events.at(-1));
  for (let seq = last.seq + 1; seq <= n; seq++)
    events.push(JSON.stringify({
      thread_id: thread, seq, kind: 'progress', text: `${seq}`, created_at: last.created_at,
    }));
  const row = { ...JSON.parse(rows('threads.jsonl')[0]), last_seq: n };
  members.set('threads.jsonl', Buffer.from(`${JSON.stringify(row)}\n`));
  members.set('events.jsonl', Buffer.from(`${events.join('\n')}\n`));
  return { archive: packed(members), thread, agent: agent.id };
}

/** The archive of a tenant that has nothing. */
const unfilled = (archive) =>
  packed(new Map([...unpack(archive)]
    .filter(([name]) => !name.startsWith('blobs/'))
    .map(([name, bytes]) => [name, name === 'cairn.json' ? bytes : Buffer.alloc(0)])));

/** Begins an import and waits until some of it is committed. `answer` resolves at its end. */
async function begin(client, { archive, thread }) {
  const begun = { isOver: false };
  begun.answer = send(client, archive)
    .finally(() => { begun.isOver = true; });
  begun.answer.catch(() => {}); // the server may be killed
  await eventually(async () => {
    assert.ok(!begun.isOver, 'the import is still in progress');
    return (await client.get(`/v1/threads/${thread}`)).status === 200;
  });
  return begun;
}

const expectNothing = async (client, { thread, agent }) => {
  for (const path of [`/v1/threads/${thread}`, `/v1/agents/${agent}`])
    expectProblem(await client.get(path), 404, 'not_found');
  for (const path of ['/v1/threads', '/v1/agents', '/v1/runs'])
    assert.deepEqual(expectStatus(await client.get(path), 200).data, [], path);
};

test('other tenants write while a large archive is imported', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const source = await large(alice);
  const other = expectStatus(await alice.post('/v1/threads', {}), 201).id;
  const begun = await begin(bob, source);
  let written = 0;
  for (; !begun.isOver; written++)
    expectStatus(await alice.post(`/v1/threads/${other}/events`, { kind: 'progress' }), 201);
  const made = expectStatus(await begun.answer, 201);
  assert.ok(written > 10, `${written} writes between the slices`);
  assert.equal(made.counts.events, EVENTS);
  assert.ok((await bytesOf(bob)).equals(source.archive), 'the same bytes');
  await expectSound(server);
});

test('a second import of the tenant waits, and so do the runs of the first', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const source = await large(alice);
  const begun = await begin(bob, source);
  const second = await send(bob, unfilled(source.archive), '?ids=remap');
  const claimed = await bob.post('/v1/runs/claim', { worker: 'w' });
  assert.ok(!begun.isOver, 'the import is still in progress');
  const problem = expectProblem(second, 503, 'unavailable');
  assert.match(problem.detail, /another import of this tenant is in progress/);
  assert.ok(Number(second.headers.get('retry-after')) > 0);
  expectStatus(claimed, 204);
  expectStatus(await begun.answer, 201);
  assert.equal((await claim(bob)).thread_id, source.thread);
  expectStatus(await send(bob, unfilled(source.archive), '?ids=remap'), 201);
});

test('a conflict that appears during an import undoes it', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const source = await large(alice);
  const begun = await begin(bob, source);
  const own = { namespace: ['a'], key: 'k', value: { mine: true } };
  expectStatus(await bob.put('/v1/store/items', own), 201);
  const problem = expectProblem(await begun.answer, 409, 'conflict');
  assert.match(problem.detail, /the store already has the key "k"/);
  await expectNothing(bob, source);
  const item = expectStatus(await bob.get('/v1/store/items?namespace=a&key=k'), 200);
  assert.deepEqual(item.value, { mine: true });
  expectStatus(await bob.del('/v1/store/items?namespace=a&key=k'), 204);
  expectStatus(await send(bob, source.archive), 201);
  assert.ok((await bytesOf(bob)).equals(source.archive), 'the same bytes');
  await expectSound(server);
});

test('an import whose key is revoked is undone', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const source = await large(alice);
  const key = expectStatus(await bob.post('/v1/keys', { name: 'brief', scopes: ['admin'] }), 201);
  const begun = await begin(server.client(key.secret), source);
  expectStatus(await bob.del(`/v1/keys/${key.id}`), 200);
  expectProblem(await begun.answer, 401, 'unauthenticated');
  await expectNothing(bob, source);
  expectStatus(await send(bob, source.archive), 201);
  await expectSound(server);
});

test('a server that is killed during an import has nothing of it afterwards', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const source = await large(alice);
  const begun = await begin(bob, source);
  await server.kill();
  await begun.answer.then(() => assert.fail('it was answered'), () => {});
  assert.equal(server.sql('SELECT count(*) FROM imports').flat().map(Number)[0], 1);
  // Other nodes could continue the import of PostgreSQL: its lease must end.
  if (ENGINE === 'postgres') server.sql('UPDATE imports SET lease_expires_at = 1');
  await server.start();
  await eventually(async () => (await send(bob, source.archive, '?dry_run=true')).status === 200);
  await eventually(() => server.sql('SELECT count(*) FROM imports').flat().map(Number)[0] === 0);
  await expectNothing(bob, source);
  expectStatus(await send(bob, source.archive), 201);
  assert.ok((await bytesOf(bob)).equals(source.archive), 'the same bytes');
  await expectSound(server);
});

test('an answer that is kept for the key of an import precedes conflicts', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const { archive } = await large(alice, 3_000);
  const key = { 'Idempotency-Key': uuid() };
  const first = await send(bob, archive, '', key);
  const made = expectStatus(first, 201);
  const again = await send(bob, archive, '', key);
  assert.deepEqual(expectStatus(again, 201), made);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  expectProblem(await send(bob, archive), 409, 'conflict');
  expectProblem(await send(bob, archive, '?dry_run=true'), 409, 'conflict');
});
