// SPDX-License-Identifier: Apache-2.0
// Several nodes on one PostgreSQL: what is written on one is heard on all, and what two nodes want
// at the same moment only one of them gets.
import assert from 'node:assert/strict';
import test from 'node:test';
import { DEFAULT_TENANT, eventually, expectProblem, expectStatus, onPostgres, pause, readAll, uuid,
  withKey } from './lib/server.mjs';
import { expectSeqs, followSse, followWs, readSse, untilSubscribers } from './lib/followers.mjs';
import { startNodes } from './lib/middlemen.mjs';
import { openSession } from './lib/postgres.mjs';

const NODES = onPostgres('SQLite has one node');

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);

const append = async (client, id, text, opts) => expectStatus(
  await client.post(`/v1/threads/${id}/events`, { kind: 'progress', text }, opts), 201);

/** Follows by long polls until it is stopped. */
function followPolls(client, path) {
  const follower = { heard: [], stopped: false };
  const loop = async () => {
    for (let cursor = 0; !follower.stopped;) {
      const page = expectStatus(await client.get(`${path}?after=${cursor}&wait=2&limit=1000`), 200);
      follower.heard.push(...page.data);
      cursor = page.next_cursor;
    }
  };
  follower.done = loop();
  follower.stop = () => { follower.stopped = true; return follower.done; };
  return follower;
}

test('writers on three nodes: gapless, heard everywhere once and in order', NODES, async (t) => {
  const nodes = await startNodes(t, 3);
  const clients = nodes.map((node) => node.open);
  const threads = [await newThread(clients[0]), await newThread(clients[1])];
  const streams = clients.flatMap((client) => threads.flatMap(({ id }) => [
    [id, followSse(client, `/v1/threads/${id}/events/stream`)],
    [id, followWs(client, `/v1/threads/${id}/events/ws`)],
    [id, followPolls(client, `/v1/threads/${id}/events`)],
  ]));
  const tenants = clients.flatMap((client) => [followSse(client, '/v1/events/stream'),
    followWs(client, '/v1/events/ws'), followPolls(client, '/v1/events')]);
  const each = 20;
  await Promise.all(clients.flatMap((client, n) => threads.flatMap(({ id }) =>
    [0, 1].map(async (writer) => {
      for (let i = 0; i < each; i++)
        await append(client, id, `node ${n}, writer ${writer}, ${i}`);
    }))));
  const total = 1 + 3 * 2 * each;
  const all = await readAll(clients[0], '/v1/events');
  assert.equal(all.length, 2 * total);
  for (const { id } of threads) {
    const log = await readAll(clients[2], `/v1/threads/${id}/events`);
    expectSeqs(log, 1, total);
    for (const [of, stream] of streams.filter(([of]) => of === id)) {
      await eventually(() => stream.heard.length >= total, `${of}: ${stream.heard.length} heard`);
      await stream.stop?.();
      assert.deepEqual(stream.heard, log);
    }
  }
  for (const stream of tenants) {
    await eventually(() => stream.heard.length >= all.length, `${stream.heard.length} heard`);
    await stream.stop?.();
    assert.deepEqual(stream.heard, all);
  }
});

test('the tenant-wide stream does not skip who commits late', NODES, async (t) => {
  const [server, other] = await startNodes(t, 2);
  const slow = await newThread(server.open);
  const quick = await newThread(server.open);
  const streams = [followWs(server.open, '/v1/events/ws'), readSse(other.open, '/v1/events/stream'),
    followPolls(other.open, '/v1/events')];
  for (const stream of streams)
    await eventually(() => stream.heard.length === 2);

  // A transaction takes an id and lets the other nodes wait for its commit.
  const late = openSession(t, server.db);
  await late.sql(`BEGIN; SET LOCAL search_path = ${server.schema}; SET LOCAL cairn.tenant = '*';
    SELECT event_register();
    UPDATE threads SET last_seq = last_seq + 1 WHERE id = '${slow.id}';
    INSERT INTO events (id, tenant_id, thread_id, seq, kind, text, created_at)
      VALUES (nextval('event_ids'), '${DEFAULT_TENANT}', '${slow.id}', 2, 'progress', 'late', 1)`);
  const early = await append(other.open, quick.id, 'early');
  await append(server.open, quick.id, 'early too');
  expectSeqs(await readAll(other.open, `/v1/threads/${quick.id}/events`), 1, 3);
  await pause(1500);
  // No reader is past the uncommitted event, neither by stream nor by page.
  for (const stream of streams)
    assert.equal(stream.heard.some((e) => e.id >= early.id), false);
  const page = expectStatus(await server.open.get('/v1/events'), 200);
  assert.deepEqual([page.data.length, page.has_more], [2, false]);
  await late.sql('COMMIT');
  const texts = ['late', 'early', 'early too'];
  for (const stream of streams) {
    await eventually(() => stream.heard.length >= 5, `${stream.heard.length} heard`);
    assert.deepEqual(stream.heard.slice(2).map((e) => e.text), texts);
    await stream.stop?.();
  }
  const rest = expectStatus(await other.open.get(`/v1/events?after=${page.next_cursor}`), 200);
  assert.deepEqual(rest.data.map((e) => e.text), texts);
});

test('who takes an id and gives up holds nobody up for long', NODES, async (t) => {
  const [server] = await startNodes(t, 1);
  const thread = await newThread(server.open);
  const stream = followWs(server.open, '/v1/events/ws');
  await stream.hears(1);
  const late = openSession(t, server.db);
  await late.sql(`BEGIN; SET LOCAL search_path = ${server.schema}; SET LOCAL cairn.tenant = '*';
    SELECT event_register(); SELECT nextval('event_ids')`);
  await append(server.open, thread.id, 'after');
  await late.sql('ROLLBACK');
  await stream.hearsText('after');
  expectSeqs(stream.heard, 1, 2);
});

test('a key revoked on one node ends its streams on another', NODES, async (t) => {
  const [a, b] = await startNodes(t, 2);
  const admin = await withKey(a.open, ['operator']);
  const thread = await newThread(admin);
  const key = await withKey(admin, ['events:read']);
  const there = b.client(key.secret);
  const ws = followWs(there, `/v1/threads/${thread.id}/events/ws`);
  const sse = readSse(there, '/v1/events/stream');
  const poll = there.get(`/v1/threads/${thread.id}/events?after=1&wait=60`);
  const kept = followWs(b.client(admin.secret), `/v1/threads/${thread.id}/events/ws`);
  await Promise.all([ws.hears(1), sse.hears(1), kept.hears(1)]);
  await untilSubscribers(b.client(admin.secret), 4);
  expectStatus(await admin.del(`/v1/keys/${key.keyId}`), 200);
  expectProblem(await there.get('/v1/events'), 401, 'unauthenticated');
  assert.deepEqual(await ws.ended, { code: 1008, reason: 'access_ended cursor=1' });
  assert.equal((await sse.ended).reason, 'access_ended');
  expectProblem(await poll, 401, 'unauthenticated');
  await append(admin, thread.id, 'for the others');
  await kept.hearsText('for the others');
});

test('the first key, made on one node, closes the others', NODES, async (t) => {
  const [a, b] = await startNodes(t, 2);
  const thread = await newThread(b.open);
  const ws = followWs(b.open, `/v1/threads/${thread.id}/events/ws`);
  await ws.hears(1);
  await withKey(a.open, ['operator']);
  expectProblem(await b.open.get('/v1/threads'), 401, 'unauthenticated');
  expectProblem(await b.open.post('/v1/threads', {}), 401, 'unauthenticated');
  assert.deepEqual(await ws.ended, { code: 1008, reason: 'access_ended cursor=1' });
});

test('a tenant deleted on one node is gone from the others, with its streams', NODES, async (t) => {
  const [a, b] = await startNodes(t, 2);
  const operator = await withKey(a.open, ['operator']);
  const made = expectStatus(await operator.post('/v1/tenants', { name: 'short' }), 201);
  const there = b.client(made.key.secret);
  const thread = await newThread(there);
  const ws = followWs(there, `/v1/threads/${thread.id}/events/ws`);
  await ws.hears(1);
  expectStatus(await operator.del(`/v1/tenants/${made.tenant.id}`), 204);
  expectProblem(await there.get('/v1/threads'), 401, 'unauthenticated');
  assert.equal((await ws.ended).code, 1008);
});

// --- Races -------------------------------------------------------------------------------------

/** Sends the same to every node, twice, at the same moment. */
const race = (nodes, send) =>
  Promise.all([...nodes, ...nodes].map((node, i) => send(node.open, i)));

const statuses = (answers) => answers.map((a) => a.status).sort();

test('If-Match raced over three nodes: one wins, the others are told', NODES, async (t) => {
  const nodes = await startNodes(t, 3);
  const thread = await newThread(nodes[0].open);
  for (let version = 1; version <= 8; version++) {
    const answers = await race(nodes, (client, i) => client.patch(`/v1/threads/${thread.id}`,
      { title: `${version} by ${i}` }, { headers: { 'If-Match': `"${version}"` } }));
    assert.deepEqual(statuses(answers), [200, 412, 412, 412, 412, 412]);
    const winner = answers.find((a) => a.status === 200);
    for (const node of nodes)
      assert.deepEqual((await node.open.get(`/v1/threads/${thread.id}`)).body, winner.body);
  }
});

test('the start of a run raced over three nodes: exactly one is let in', NODES, async (t) => {
  const nodes = await startNodes(t, 3);
  for (let round = 0; round < 6; round++) {
    const thread = await newThread(nodes[round % 3].open);
    const answers = await race(nodes, (client) => client.post(`/v1/threads/${thread.id}/runs`,
      { dispatch: 'direct', policy: 'reject' }));
    assert.deepEqual(statuses(answers), [201, 409, 409, 409, 409, 409]);
    for (const refused of answers.filter((a) => a.status === 409))
      expectProblem(refused, 409, 'run_active');
    const { data } = expectStatus(await nodes[0].open.get(`/v1/threads/${thread.id}/runs`), 200);
    assert.equal(data.length, 1);
  }
});

test('an idempotency key raced over three nodes: one effect, one answer', NODES, async (t) => {
  const nodes = await startNodes(t, 3);
  const thread = await newThread(nodes[0].open);
  for (let round = 0; round < 6; round++) {
    const again = { headers: { 'Idempotency-Key': uuid() } };
    const answers = await race(nodes, (client) => client.post(`/v1/threads/${thread.id}/events`,
      { kind: 'progress', text: `round ${round}` }, again));
    const [first] = answers;
    for (const answer of answers)
      assert.deepEqual(expectStatus(answer, 201), first.body);
    const replayed = answers.filter((a) => a.headers.get('Idempotency-Replayed') === 'true');
    assert.equal(replayed.length, 5);
    const made = await race(nodes, (client) => client.post('/v1/threads', { title: 'one' }, again));
    assert.equal(new Set(made.map((a) => expectStatus(a, 201).id)).size, 1);
  }
  expectSeqs(await readAll(nodes[1].open, `/v1/threads/${thread.id}/events`), 1, 7);
  assert.equal(expectStatus(await nodes[2].open.get('/v1/threads?title=one'), 200).data.length, 6);
});

test('the key of a thread raced over three nodes: one thread for all', NODES, async (t) => {
  const nodes = await startNodes(t, 3);
  for (let round = 0; round < 6; round++) {
    const path = `/v1/threads/by-key/round-${round}`;
    const answers = await race(nodes, (client) => client.put(path, { title: 'raced' }));
    assert.deepEqual(answers.map((a) => a.status).sort(), [200, 200, 200, 200, 200, 201]);
    assert.equal(new Set(answers.map((a) => a.body.id)).size, 1);
    const posts = await race(nodes, (client) => client.post('/v1/threads', { key: `p${round}` }));
    const [made] = posts.filter((a) => a.status === 201);
    for (const answer of posts.filter((a) => a !== made))
      assert.equal(expectProblem(answer, 409, 'conflict').thread_id, made.body.id);
  }
  const { data } = expectStatus(await nodes[2].open.get('/v1/threads?title=raced'), 200);
  assert.equal(data.length, 6);
});

test('keys of one tenant made on three nodes leave one whole audit chain', NODES, async (t) => {
  const nodes = await startNodes(t, 3);
  const admin = await withKey(nodes[0].open, ['operator']);
  await Promise.all(nodes.flatMap((node) => [1, 2, 3, 4].map(async (i) => {
    expectStatus(await node.client(admin.secret).post('/v1/keys',
      { name: `k${i}`, scopes: ['runs:read'] }), 201);
  })));
  const verdict = expectStatus(await admin.get('/v1/audit/verify'), 200);
  assert.deepEqual([verdict.intact, verdict.records], [true, 13]);
});

test('a node of the same schema starts while others serve', NODES, async (t) => {
  const [first] = await startNodes(t, 1);
  const thread = await newThread(first.open);
  let stop = false;
  const writer = (async () => {
    for (; !stop;)
      await append(first.open, thread.id, 'meanwhile');
  })();
  const joined = await Promise.all([first.join(), first.join(), first.join()]);
  stop = true;
  await writer;
  for (const node of joined)
    expectStatus(await node.open.get(`/v1/threads/${thread.id}`), 200);
});

test('three nodes that make the schema at the same moment', NODES, async (t) => {
  const [first] = await startNodes(t, 1);
  await first.stop();
  first.sql(`DROP SCHEMA ${first.schema} CASCADE`);
  const [a, b] = await Promise.all([first.join(), first.join(), first.start()]);
  const thread = await newThread(a.open);
  expectStatus(await b.open.get(`/v1/threads/${thread.id}`), 200);
  expectStatus(await first.open.get(`/v1/threads/${thread.id}`), 200);
});
