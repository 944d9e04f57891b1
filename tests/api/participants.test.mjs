// SPDX-License-Identifier: Apache-2.0
// Participants: who takes part in a thread, with which permission, and who is online.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  eventually,
  expectFault,
  expectProblem,
  expectStatus,
  startServer,
  uuid,
  withKey,
} from './lib/server.mjs';
import { followWs, readSse } from './lib/followers.mjs';

const SCOPES = ['threads:read', 'threads:write', 'events:read', 'events:write',
  'participants:read', 'participants:write'];

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);

/** A server, its operator, and keys that act for alice and bob. */
async function household(t) {
  const server = await startServer(t);
  const admin = await withKey(server.open, ['operator']);
  const alice = await withKey(admin, SCOPES, { principal: 'user:alice' });
  const bob = await withKey(admin, SCOPES, { principal: 'user:bob' });
  return { server, admin, alice, bob };
}

const join = async (client, thread, body) => expectStatus(
  await client.post(`/v1/threads/${thread}/participants`, body), 201);

/** The newest events of these kinds, without what differs from run to run. */
async function told(client, thread, kind) {
  const page = expectStatus(await client.get(`/v1/threads/${thread}/events?kind=${kind}`), 200);
  return page.data.map((e) => e.payload);
}

test('a participant is added, read, listed, changed, leaves and comes back', async (t) => {
  const { admin } = await household(t);
  const { id: thread } = await newThread(admin);
  const made = await join(admin, thread, { principal: 'user:alice' });
  const { id, created_at: createdAt, ...rest } = made;
  assert.deepEqual(rest, {
    thread_id: thread, principal: 'user:alice', role: 'user', name: 'alice', image: null,
    status: null, permission: 'read_write', metadata: {}, active: true, barred: false,
    online: false, updated_at: createdAt, version: 1,
  });
  assert.deepEqual(
    expectStatus(await admin.get(`/v1/threads/${thread}/participants/${id}`), 200), made);
  expectProblem(await admin.post(`/v1/threads/${thread}/participants`,
    { principal: 'user:alice' }), 409, 'conflict');

  const changed = expectStatus(await admin.patch(`/v1/threads/${thread}/participants/${id}`,
    { name: 'Alice', permission: 'read', metadata: { team: 1 } },
    { headers: { 'If-Match': '"1"' } }), 200);
  assert.deepEqual([changed.name, changed.permission, changed.version], ['Alice', 'read', 2]);
  expectProblem(await admin.patch(`/v1/threads/${thread}/participants/${id}`, { name: 'x' },
    { headers: { 'If-Match': '"1"' } }), 412, 'stale_etag');
  expectFault(await admin.patch(`/v1/threads/${thread}/participants/${id}`, { name: null }),
    422, 'invalid_input', '/name');
  expectFault(
    await admin.patch(`/v1/threads/${thread}/participants/${id}`, { principal: 'user:eve' }),
    422, 'invalid_input', '/principal');

  const left = expectStatus(await admin.del(`/v1/threads/${thread}/participants/${id}`), 200);
  assert.deepEqual([left.active, left.version], [false, 3]);
  assert.deepEqual(
    expectStatus(await admin.del(`/v1/threads/${thread}/participants/${id}`), 200), left);
  const back = await join(admin, thread, { principal: 'user:alice', permission: 'read_write' });
  assert.deepEqual([back.id, back.active, back.name, back.permission, back.metadata],
    [id, true, 'Alice', 'read_write', { team: 1 }]);

  const bob = await join(admin, thread, { principal: 'user:bob', role: 'assistant', name: 'B' });
  expectStatus(await admin.patch(`/v1/threads/${thread}/participants/${bob.id}`,
    { active: false }), 200);
  const names = async (query) => expectStatus(
    await admin.get(`/v1/threads/${thread}/participants${query}`), 200).data.map((p) => p.name);
  assert.deepEqual(await names(''), ['B', 'Alice']);
  assert.deepEqual(await names('?active=true'), ['Alice']);
  assert.deepEqual(await names('?active=false'), ['B']);
  assert.deepEqual(await names('?role=assistant'), ['B']);
  assert.deepEqual(await names('?principal=user:alice'), ['Alice']);
  const first = expectStatus(await admin.get(`/v1/threads/${thread}/participants?limit=1`), 200);
  assert.equal(first.has_more, true);
  assert.deepEqual(await names(`?cursor=${first.next_cursor}`), ['Alice']);

  assert.deepEqual((await told(admin, thread, 'participant.created')).map((p) => p.principal),
    ['user:alice', 'user:bob']);
  assert.deepEqual(
    (await told(admin, thread, 'participant.updated')).map((p) => [p.name, p.changed]),
    [['Alice', ['name', 'permission', 'barred', 'metadata']], ['Alice', ['active']],
      ['Alice', ['active', 'barred']], ['B', ['active', 'barred']]]);
  const audit = expectStatus(await admin.get('/v1/audit?action=participant.permission'), 200).data;
  assert.deepEqual(audit.reverse().map((r) => [r.detail.principal, r.detail.from, r.detail.to]), [
    ['user:alice', null, 'read_write'],
    ['user:alice', 'read_write', 'read'],
    ['user:alice', 'read', null],
    ['user:alice', null, 'read_write'],
    ['user:bob', null, 'read_write'],
    ['user:bob', 'read_write', null],
  ]);
});

test('a principal that is none is refused, and nothing changes', async (t) => {
  const { admin } = await household(t);
  const { id: thread } = await newThread(admin);
  for (const principal of ['alice', 'user:', 'user: a', 'user:a\u0007', 'agent:x',
    `agent:${uuid().toUpperCase()}`, 'admin:x', `user:${'a'.repeat(252)}`]) {
    const answer = await admin.post(`/v1/threads/${thread}/participants`, { principal });
    expectFault(answer, 422, 'invalid_input', '/principal');
    expectFault(await admin.post('/v1/keys', { name: 'k', scopes: ['runs:read'], principal }),
      422, 'invalid_input', '/principal');
  }
  expectFault(
    await admin.post(`/v1/threads/${thread}/participants`, { principal: `agent:${uuid()}` }),
    422, 'invalid_input', '/principal', /existing agent/);
  assert.equal((await newThread(admin)).last_seq, 1);
  assert.equal(expectStatus(await admin.get(`/v1/threads/${thread}`), 200).last_seq, 1);
});

test('whoever may only read can look after itself, and touches nobody else', async (t) => {
  const { admin, alice, bob } = await household(t);
  const { id: thread } = await newThread(alice);
  const mine = expectStatus(await alice.get(`/v1/threads/${thread}/participants/me`), 200);
  assert.deepEqual([mine.principal, mine.permission], ['user:alice', 'read_write']);
  const his = await join(alice, thread, { principal: 'user:bob', permission: 'read' });
  const at = (id) => `/v1/threads/${thread}/participants/${id}`;
  expectStatus(await bob.patch(at('me'), { name: 'Bob', status: 'reading', image: 'x' }), 200);
  expectFault(await bob.patch(at('me'), { image: 'javascript:alert(1)' }), 422, 'invalid_input',
    '/image', /http or https/);
  expectFault(await alice.post(`/v1/threads/${thread}/participants`,
    { principal: 'user:carol', image: 'data:text/html,x' }), 422, 'invalid_input', '/image');
  for (const body of [{ permission: 'read_write' }, { role: 'assistant' }, { metadata: { a: 1 } }])
    assert.match(expectProblem(await bob.patch(at(his.id), body), 403, 'forbidden').detail,
      /permission read/);
  expectProblem(await bob.patch(at(mine.id), { name: 'x' }), 403, 'forbidden');
  expectProblem(await bob.del(at(mine.id)), 403, 'forbidden');
  expectProblem(await bob.post(at(mine.id) + '/heartbeat', {}), 403, 'forbidden');
  expectProblem(await bob.post(`/v1/threads/${thread}/participants`, { principal: 'user:eve' }),
    403, 'forbidden');
  assert.equal(expectStatus(await bob.get(at('me')), 200).status, 'reading');
  expectStatus(await bob.post(`/v1/threads/${thread}/participants/me/heartbeat`), 200);
  const left = expectStatus(await bob.del(`/v1/threads/${thread}/participants/me`), 200);
  assert.deepEqual([left.active, left.online], [false, false]);
  expectProblem(await bob.get(at('me')), 404, 'not_found');
  expectProblem(await bob.patch(at('me'), { active: true }), 404, 'not_found');
  // The last one who may write can leave too: a key of the whole tenant still gets in.
  expectStatus(await alice.patch(`/v1/threads/${thread}/participants/me`, { active: false }), 200);
  expectStatus(await admin.get(`/v1/threads/${thread}`), 200);
  expectProblem(await admin.get(at('me')), 409, 'conflict');
});

test('online begins with a heartbeat and ends by itself, and each is told once', async (t) => {
  const { admin, alice } = await household(t);
  const { id: thread } = await newThread(alice);
  const beat = async (body) => expectStatus(
    await alice.post(`/v1/threads/${thread}/participants/me/heartbeat`, body), 200);
  const { id } = expectStatus(await alice.get(`/v1/threads/${thread}/participants/me`), 200);
  assert.equal((await beat({})).online, true);
  for (let i = 0; i < 3; i++) await beat({ ttl_s: 30 });
  await beat({ ttl_s: 30, status: 'writing' });
  assert.equal((await beat({ ttl_s: 0 })).online, false);
  assert.equal((await beat({ ttl_s: 1, status: 'writing' })).online, true);
  await eventually(async () => (await told(alice, thread, 'participant.updated')).length === 5);
  assert.equal(
    expectStatus(await alice.get(`/v1/threads/${thread}/participants/me`), 200).online, false);
  assert.deepEqual(
    (await told(alice, thread, 'participant.updated')).map((p) => [p.online, p.changed]),
    [[true, ['online']], [true, ['status']], [false, ['online']], [true, ['online']],
      [false, ['online']]]);
  for (const body of [{ ttl_s: -1 }, { ttl_s: 3601 }, { status: 'x'.repeat(501) }, { what: 1 }])
    expectProblem(await alice.post(`/v1/threads/${thread}/participants/me/heartbeat`, body), 422,
      'invalid_input');
  // A service may say so for those who are connected to it.
  expectStatus(await admin.post(`/v1/threads/${thread}/participants/${id}/heartbeat`), 200);
  expectStatus(await admin.del(`/v1/threads/${thread}/participants/${id}`), 200);
  expectProblem(await admin.post(`/v1/threads/${thread}/participants/${id}/heartbeat`), 409,
    'conflict');
});

test('an open stream of the thread counts as online', async (t) => {
  const { server, admin, alice, bob } = await household(t);
  const there = server.db === null ? admin : (await server.join()).client(admin.secret);
  const thread = (await newThread(alice)).id;
  const elsewhere = (await newThread(alice)).id;
  await join(admin, thread, { principal: 'user:bob' });
  const agent = expectStatus(await admin.post('/v1/agents', { name: 'scribe' }), 201).id;
  const worker = await withKey(admin, SCOPES, { principal: `agent:${agent}` });
  await join(admin, thread, { principal: `agent:${agent}` });
  const online = async (id = thread) => expectStatus(
    await there.get(`/v1/threads/${id}/participants`), 200).data
    .filter((p) => p.online).map((p) => p.name).sort();
  const presence = async () => (await told(admin, thread, 'participant.updated'))
    .map((p) => [p.name, p.online, p.changed]);

  const sse = readSse(alice, `/v1/threads/${thread}/events/stream?kind=participant.updated`);
  await sse.hears(1);
  assert.deepEqual(await online(), ['alice']);
  const streams = [followWs(worker, `/v1/threads/${thread}/events/ws`),
    followWs(alice, `/workflow/ws/${thread}`)];
  // Neither the stream of all threads nor one of a key without a principal is anybody's presence.
  streams.push(followWs(bob, '/v1/events/ws'), followWs(admin, `/v1/threads/${thread}/events/ws`));
  for (const stream of streams) await stream.opened;
  await sse.hears(2);
  assert.deepEqual(await online(), ['alice', 'scribe']);
  assert.deepEqual(await online(elsewhere), []);
  const begun = [['alice', true, ['online']], ['scribe', true, ['online']]];
  assert.deepEqual(await presence(), begun);

  // A short heartbeat shortens nothing; an end by heartbeat lasts until the stream renews.
  const beat = async (ttl_s) => expectStatus(await alice.post(
    `/v1/threads/${thread}/participants/me/heartbeat`, { ttl_s }), 200).online;
  assert.equal(await beat(1), true);
  assert.equal(await beat(0), false);
  await eventually(async () => (await online()).includes('alice'));
  assert.deepEqual(await presence(), [...begun, ['alice', false, ['online']],
    ['alice', true, ['online']]]);

  // Without streams everybody is offline after a while; who is removed, at once.
  const left = expectStatus(
    await admin.get(`/v1/threads/${thread}/participants?principal=user:alice`), 200).data[0];
  assert.equal(expectStatus(
    await admin.del(`/v1/threads/${thread}/participants/${left.id}`), 200).online, false);
  await sse.ended;
  for (const stream of streams) stream.close();
  await eventually(async () => (await presence()).at(-1)[0] === 'scribe');
  assert.deepEqual((await presence()).at(-1), ['scribe', false, ['online']]);
  assert.deepEqual(await online(), []);
});
