// SPDX-License-Identifier: Apache-2.0
// Principals: the access of keys and requests that act for a principal, and streams whose access
// ends while they are connected. routes.test.mjs covers the rights of principals on each route.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectFault, expectProblem, expectStatus, onPostgres, startServer, uuid, withKey }
  from './lib/server.mjs';
import { followWs, readSse, untilSubscribers } from './lib/followers.mjs';

const SCOPES = ['threads:read', 'threads:write', 'runs:read', 'runs:write', 'events:read',
  'events:write', 'participants:read', 'participants:write'];

const newThread = async (client, body = {}, opts = {}) =>
  expectStatus(await client.post('/v1/threads', body, opts), 201);

const append = async (client, id, text) => expectStatus(
  await client.post(`/v1/threads/${id}/events`, { kind: 'progress', text }), 201);

const invite = async (client, thread, principal, permission = 'read') => expectStatus(
  await client.post(`/v1/threads/${thread}/participants`, { principal, permission }), 201);

const as = (principal) => ({ headers: { 'Cairn-Principal': principal } });

async function closed(t) {
  const server = await startServer(t);
  const admin = await withKey(server.open, ['operator']);
  return { server, admin };
}

test('a key acts for its principal, and a header narrows a key that has none', async (t) => {
  const { admin } = await closed(t);
  const alice = await withKey(admin, SCOPES, { principal: 'user:alice' });
  assert.equal(expectStatus(await admin.get(`/v1/keys/${alice.keyId}`), 200).principal,
    'user:alice');
  const who = async (client, opts) =>
    expectStatus(await client.get('/v1/whoami', opts), 200).principal;
  assert.equal(await who(admin), null);
  assert.equal(await who(alice), 'user:alice');
  assert.equal(await who(admin, as('user:bob')), 'user:bob');
  assert.equal(await who(alice, as('user:alice')), 'user:alice');
  assert.match(
    expectProblem(await alice.get('/v1/whoami', as('user:bob')), 403, 'forbidden').detail,
    /acts for user:alice/);
  expectFault(await admin.get('/v1/whoami', as('bob')), 422, 'invalid_input', 'Cairn-Principal');
  for (const scope of ['admin', 'operator'])
    expectFault(await admin.post('/v1/keys', { name: 'k', scopes: ['runs:read', scope],
      principal: 'user:alice' }), 422, 'invalid_input', '/scopes/1', /a key with a principal/);
  expectProblem(await admin.get('/v1/keys', as('user:bob')), 403, 'forbidden');

  const thread = await newThread(alice);
  expectStatus(await alice.del(`/v1/threads/${thread.id}`), 204);
  const [record] = expectStatus(await admin.get('/v1/audit?action=thread.deleted'), 200).data;
  assert.equal(record.actor, `key:${alice.keyId} for user:alice`);
});

test('a principal lists its own threads, and reads and hears their events alone', async (t) => {
  const { admin } = await closed(t);
  const alice = await withKey(admin, SCOPES, { principal: 'user:alice' });
  const theirs = await newThread(admin, { title: 'x', metadata: { k: 'v' } });
  const mine = [];
  for (let i = 0; i < 3; i++)
    mine.unshift((await newThread(alice, { title: `mine ${i}`, metadata: { k: 'v' } })).id);
  const ids = async (client, query, opts) =>
    expectStatus(await client.get(`/v1/threads${query}`, opts), 200).data.map((x) => x.id);
  assert.deepEqual(await ids(alice, ''), mine);
  assert.deepEqual(await ids(alice, '?metadata.k=v&title=mine&include=documents'), mine);
  assert.deepEqual(await ids(alice, '?metadata.k=w'), []);
  assert.deepEqual(await ids(admin, '', as('user:bob')), []);
  assert.equal((await ids(admin, '')).length, 4);
  const page = expectStatus(await alice.get('/v1/threads?limit=2'), 200);
  assert.deepEqual(await ids(alice, `?cursor=${page.next_cursor}`), mine.slice(2));

  const live = readSse(alice, '/v1/events/stream');
  await live.hears(6);
  await append(admin, theirs.id, 'not for alice');
  const poll = alice.get(`/v1/events?wait=30&after=${(await append(alice, mine[0], 'a')).id}`);
  await append(admin, theirs.id, 'nor this');
  await append(admin, mine[1], 'b');
  await live.hearsText('b');
  assert.ok(live.heard.every((e) => mine.includes(e.thread_id)));
  assert.deepEqual(expectStatus(await poll, 200).data.map((e) => e.text), ['b']);
  const log = expectStatus(await alice.get('/v1/events?limit=1000'), 200).data;
  assert.deepEqual(log.map((e) => e.id), live.heard.map((e) => e.id));
  // A participant that joins later receives events from then on, and can read earlier ones.
  await invite(admin, theirs.id, 'user:alice');
  const joined = await live.until((heard) => heard.find((e) => e.thread_id === theirs.id));
  assert.equal(joined.kind, 'participant.created');
  const before = expectStatus(await alice.get(`/v1/threads/${theirs.id}/events`), 200).data;
  assert.equal(before[1].text, 'not for alice');
  live.close();
});

test('the answer to one principal is not replayed to another', async (t) => {
  const { admin } = await closed(t);
  const once = (principal) => ({
    headers: { 'Cairn-Principal': principal, 'Idempotency-Key': 'same' } });
  const first = await newThread(admin, {}, once('user:alice'));
  const again = await newThread(admin, {}, once('user:alice'));
  assert.equal(again.id, first.id);
  assert.notEqual((await newThread(admin, {}, once('user:bob'))).id, first.id);
  const known = await newThread(admin);
  expectProblem(await admin.post('/workflow/start',
    { user_input: 'hi', workflow_id: known.id }, as('user:bob')), 404, 'not_found');
  const started = expectStatus(await admin.post('/workflow/start',
    { user_input: 'hi' }, as('user:bob')), 201);
  expectStatus(await admin.get(`/v1/threads/${started.workflow_id}`, as('user:bob')), 200);
  expectProblem(await admin.get(`/v1/runs/${started.run_id}`, as('user:eve')), 404, 'not_found');
  expectProblem(await admin.get(`/v1/runs/${uuid()}`, as('user:eve')), 404, 'not_found');
});

/** Everything that listens for bob, on the server of `client`. */
function listeners(client, thread) {
  const opts = as('user:bob');
  return {
    ws: followWs(client, `/v1/threads/${thread}/events/ws`, opts),
    sse: readSse(client, `/v1/threads/${thread}/events/stream`, opts),
    filtered: readSse(client, `/v1/threads/${thread}/events/stream?kind=final`, opts),
    tenant: readSse(client, '/v1/events/stream', opts),
    memoria: followWs(client, `/workflow/ws/${thread}`, opts),
    poll: client.get(`/v1/threads/${thread}/events?kind=final&wait=60`, opts),
  };
}

async function expectAccessEnds(admin, there, end) {
  const { id: thread } = await newThread(admin);
  const other = await newThread(admin);
  const bob = await invite(admin, thread, 'user:bob');
  await invite(admin, other.id, 'user:bob');
  const eve = await invite(admin, thread, 'user:eve');
  const { ws, sse, filtered, tenant, memoria, poll } = listeners(there, thread);
  const others = followWs(there, `/v1/threads/${thread}/events/ws`);
  await append(admin, thread, 'seen');
  for (const stream of [ws, sse, memoria, tenant, others]) await stream.hearsText('seen');
  await filtered.opened;
  await untilSubscribers(there, 7);
  // A participant that leaves ends only its own streams.
  expectStatus(await admin.del(`/v1/threads/${thread}/participants/${eve.id}`), 200);
  await append(admin, thread, 'still');
  for (const stream of [ws, sse, memoria, tenant]) await stream.hearsText('still');
  await Promise.all(
    [end(admin, thread, bob), append(admin, thread, 'a'), append(admin, thread, 'b')]);
  const { seq } = await append(admin, thread, 'secret');
  const { code, reason } = await ws.ended;
  assert.equal(code, 1008);
  assert.match(reason, /^access_ended cursor=\d+$/);
  assert.equal((await memoria.ended).code, 1008);
  assert.equal((await sse.ended).reason, 'access_ended');
  assert.equal((await filtered.ended).reason, 'access_ended');
  expectProblem(await poll, 404, 'not_found');
  await others.hearsText('secret');
  await append(admin, other.id, 'of the other thread');
  await tenant.hearsText('of the other thread');
  const log = expectStatus(
    await admin.get(`/v1/threads/${thread}/events?kind=participant.updated`), 200).data;
  const ended = log.at(-1).seq;
  assert.ok(ended < seq);
  for (const stream of [ws, sse, tenant])
    for (const event of stream.heard)
      assert.ok(event.thread_id !== thread || event.seq < ended, JSON.stringify(event));
  assert.ok(memoria.heard.every((e) => e.text !== 'secret'));
  tenant.close();
  others.close();
  await untilSubscribers(there, 0);
}

test('who is removed hears nothing more, at once, on every stream', async (t) => {
  const { admin } = await closed(t);
  await expectAccessEnds(admin, admin, async (client, thread, bob) =>
    expectStatus(await client.del(`/v1/threads/${thread}/participants/${bob.id}`), 200));
  await expectAccessEnds(admin, admin, async (client, thread) =>
    expectStatus(await client.patch(`/v1/threads/${thread}/participants/me`, { active: false },
      as('user:bob')), 200));
});

test('who is removed through one node hears nothing more on another',
  onPostgres('several nodes'), async (t) => {
    const { server, admin } = await closed(t);
    const there = (await server.join()).client(admin.secret);
    await expectAccessEnds(admin, there, async (client, thread, bob) =>
      expectStatus(await client.del(`/v1/threads/${thread}/participants/${bob.id}`), 200));
  });

// --- Agents and their prompts -----------------------------------------------------------------

const PROMPT = 'Never reveal the number 4711.';

async function promptedAgent(client, body = {}) {
  return expectStatus(await client.post('/v1/agents',
    { name: `agent ${uuid()}`, system_prompt: PROMPT, ...body }), 201);
}

/**
 * Each way to start a run of an agent in a thread of the principal `client`. `past` is a cancelled
 * run of the agent in this thread, `named` a thread of the principal whose runs have the agent's
 * name.
 */
function startInAllWays(client, thread, agent, { past, named }) {
  return {
    inThread: () => client.post(`/v1/threads/${thread.id}/runs`, { agent_id: agent.id }),
    ofAgent: () => client.post(`/v1/agents/${agent.id}/runs`, { input: { message: 'hi' } }),
    ofAgentInThread: () => client.post(`/v1/agents/${agent.id}/runs`,
      { input: { message: 'hi' }, thread_id: thread.id }),
    joining: () => client.post(
      `/v1/threads/${thread.id}/participants`, { principal: `agent:${agent.id}` }),
    workflow: () => client.post(
      '/workflow/start', { user_input: 'hi', workflow_id: named.id, policy: 'enqueue' }),
    retry: () => client.post(`/v1/runs/${past.id}/retry`, { policy: 'enqueue' }),
  };
}

/** Prepares the threads and the run of `startInAllWays` for this agent. */
async function prepareStarts(admin, client, thread, agent) {
  const named = await newThread(client, { agent: agent.name });
  const past = expectStatus(
    await admin.post(`/v1/threads/${thread.id}/runs`, { agent_id: agent.id }), 201);
  expectStatus(await admin.post(`/v1/runs/${past.id}/cancel`, {}), 200);
  return { named, past };
}

test('a principal runs an agent only if it participates or is granted', async (t) => {
  const { admin } = await closed(t);
  const alice = await withKey(admin, SCOPES, { principal: 'user:alice' });
  const agent = await promptedAgent(admin);
  const absent = { id: uuid(), name: `no agent ${uuid()}` };
  const thread = await newThread(alice, { run_policy: 'enqueue' });
  const hidden = (answer, { id, name }) => ({ status: answer.status, code: answer.body.code,
    text: JSON.stringify(answer.body.errors ?? answer.body.detail)
      .replaceAll(id, 'ID').replaceAll(name, 'NAME') });
  const missing = startInAllWays(alice, thread, absent,
    { named: await newThread(alice, { agent: absent.name }) });
  const ways = startInAllWays(
    alice, thread, agent, await prepareStarts(admin, alice, thread, agent));
  for (const [way, start] of Object.entries(ways)) {
    const answer = await start();
    assert.ok([403, 404, 422].includes(answer.status), `${way}: ${answer.text}`);
    if (way === 'retry') continue; // the old run shows the agent
    assert.deepEqual(hidden(answer, agent), hidden(await missing[way](), absent), way);
  }
  expectProblem(await ways.retry(), 403, 'forbidden');
  const granted = await promptedAgent(admin, { granted_to: ['user:alice'] });
  for (const start of Object.values(startInAllWays(
    alice, thread, granted, await prepareStarts(admin, alice, thread, granted))))
    expectStatus(await start(), 201);
  const bob = await withKey(admin, SCOPES, { principal: 'user:bob' });
  expectProblem(await bob.post(`/v1/agents/${granted.id}/runs`, { input: { message: 'x' } }),
    404, 'not_found');
  const open = await promptedAgent(admin, { granted_to: ['user:*'] });
  expectStatus(await bob.post(`/v1/agents/${open.id}/runs`, { input: { message: 'x' } }), 201);
  const self = await withKey(admin, SCOPES, { principal: `agent:${agent.id}` });
  expectProblem(await self.post(`/v1/agents/${open.id}/runs`, { input: { message: 'x' } }),
    404, 'not_found');
  expectStatus(await self.post(`/v1/agents/${agent.id}/runs`, { input: { message: 'x' } }), 201);
  // A worker claims by name: the name of an agent needs the same right as its id.
  // The answer does not tell whether the name is that of an agent.
  const free = `${agent.name} of no agent`;
  const refusal = (name, answer) =>
    expectProblem(answer, 403, 'forbidden').detail.replaceAll(name, 'NAME');
  for (const more of [{}, { agent_id: granted.id }, { dispatch: 'direct' }]) {
    const start = async (name) => refusal(name,
      await alice.post(`/v1/threads/${thread.id}/runs`, { agent: name, ...more }));
    assert.equal(await start(agent.name), await start(free));
  }
  const startNamed = async (name) => refusal(name, await alice.post(
    `/v1/threads/${(await newThread(alice, { agent: name })).id}/runs`, {}));
  assert.equal(await startNamed(agent.name), await startNamed(free));
  expectStatus(await alice.post(`/v1/threads/${thread.id}/runs`, { agent: granted.name }), 201);
  expectStatus(await alice.post(`/v1/threads/${thread.id}/runs`, {}), 201);
  expectStatus(await admin.post(`/v1/threads/${thread.id}/runs`, { agent: free }), 201);
  // An agent that was removed is not brought back by a patch either.
  const part = await invite(admin, thread.id, `agent:${agent.id}`);
  const place = `/v1/threads/${thread.id}/participants/${part.id}`;
  expectStatus(await admin.del(place), 200);
  expectFault(await alice.patch(place, { active: true }), 422, 'invalid_input', '/principal');
  // The tenant invites an agent to alice's thread: there she may run it, elsewhere not.
  const invited = await promptedAgent(admin);
  await invite(admin, thread.id, `agent:${invited.id}`);
  expectStatus(await alice.post(`/v1/threads/${thread.id}/runs`, { agent_id: invited.id }), 201);
  const other = await newThread(alice);
  const ran = expectStatus(
    await admin.post(`/v1/threads/${other.id}/runs`, { agent_id: invited.id }), 201);
  const checkpoint = expectStatus(await admin.post(`/v1/threads/${other.id}/checkpoints`,
    { channel_values: {}, run_id: ran.id }), 201);
  const keeper = await withKey(
    admin, [...SCOPES, 'checkpoints:write'], { principal: 'user:alice' });
  expectProblem(await keeper.post(`/v1/runs/${ran.id}/replay`, { checkpoint_id: checkpoint.id }),
    403, 'forbidden');
  expectFault(await alice.post(`/v1/threads/${other.id}/runs`, { agent_id: invited.id }),
    422, 'invalid_input', '/agent_id');
});

test('grants are principals, and each change of them is audited', async (t) => {
  const { admin } = await closed(t);
  for (const bad of ['alice', 1, null, true, {}, ['user:x']])
    expectFault(await admin.post('/v1/agents', { name: 'a', granted_to: ['user:x', bad] }),
      422, 'invalid_input', '/granted_to/1');
  // 16 KiB as compact JSON, and one byte more.
  const names = Array.from({ length: 64 }, (_, i) => `user:${String(i).padStart(248, 'x')}`);
  const most = [...names.slice(1), `user:${'y'.repeat(247)}`];
  assert.equal(JSON.stringify(most).length, 16 * 1024);
  expectStatus(await admin.post('/v1/agents', { name: 'most', granted_to: most }), 201);
  expectFault(await admin.post('/v1/agents', { name: 'over', granted_to: [...names] }), 422,
    'invalid_input', '/granted_to');
  const agent = await promptedAgent(admin);
  assert.equal(agent.granted_to, null);
  const change = { granted_to: ['user:*'] };
  assert.deepEqual(
    expectStatus(await admin.patch(`/v1/agents/${agent.id}`, change), 200).granted_to, ['user:*']);
  const [record] = expectStatus(await admin.get('/v1/audit?action=agent.granted'), 200).data;
  assert.deepEqual([record.object_id, record.detail.granted_to], [agent.id, ['user:*']]);
  const key = await withKey(admin, [...SCOPES, 'agents:write'], { principal: `agent:${agent.id}` });
  expectProblem(await key.patch(`/v1/agents/${agent.id}`, { granted_to: ['user:eve'] }), 403,
    'forbidden');
});

test('only the tenant and the agent itself see a prompt', async (t) => {
  const { admin } = await closed(t);
  const alice = await withKey(admin, SCOPES, { principal: 'user:alice' });
  const agent = await promptedAgent(admin, { granted_to: ['user:alice'] });
  const self = await withKey(admin, SCOPES, { principal: `agent:${agent.id}` });
  const thread = await newThread(alice);
  expectStatus(await alice.post(`/v1/threads/${thread.id}/runs`, { agent_id: agent.id }), 201);
  await invite(admin, thread.id, `agent:${agent.id}`, 'read_write');
  const path = `/v1/threads/${thread.id}/resumption`;
  const unseen = { headers: { 'If-Match': '*' } };
  const put = await alice.put(path, { model: 'm' }, unseen);
  assert.equal(expectStatus(put, 201).system_prompt, null);
  const copy = [{ op: 'copy', from: '/system_prompt', path: '/title' }];
  const patched = await alice.patch(path, copy,
    { headers: { 'If-Match': '*', 'Content-Type': 'application/json-patch+json' } });
  for (const answer of [put, patched, await alice.get(path),
    await alice.patch(path, { max_steps: 7 }, unseen),
    await alice.get(`/v1/threads/${thread.id}`),
    await alice.get(`/v1/threads/${thread.id}/context?include_system=true`)])
    assert.ok(!answer.text.includes('4711'), answer.text);
  for (const client of [admin, self]) {
    assert.equal(expectStatus(await client.get(path), 200).system_prompt, PROMPT);
    const context = await client.get(`/v1/threads/${thread.id}/context?include_system=true`);
    assert.ok(context.text.includes('4711'), context.text);
  }
});

test('another agent of the thread does not take over a prompt by writing', async (t) => {
  const { admin } = await closed(t);
  const a = await promptedAgent(admin, { system_prompt: 'mine' });
  const b = await promptedAgent(admin);
  const thread = await newThread(admin, { run_policy: 'enqueue' });
  await invite(admin, thread.id, `agent:${a.id}`, 'read_write');
  expectStatus(await admin.post(`/v1/threads/${thread.id}/runs`, { agent_id: b.id }), 201);
  const path = `/v1/threads/${thread.id}/resumption`;
  const unseen = { headers: { 'If-Match': '*' } };
  expectStatus(await admin.put(path, { model: 'm' }, unseen), 201);
  const self = await withKey(admin, SCOPES, { principal: `agent:${a.id}` });
  expectStatus(await self.post(`/v1/threads/${thread.id}/runs`, { agent_id: a.id }), 201);
  for (const answer of [await self.patch(path, {}, unseen), await self.get(path),
    await self.get(`/v1/threads/${thread.id}/context?include_system=true`)]) {
    assert.equal(answer.status, 200, answer.text);
    assert.ok(!answer.text.includes('4711'), answer.text);
  }
  assert.equal(expectStatus(await admin.get(path), 200).system_prompt, PROMPT);
  // A document that was read without the prompt can be written back; the prompt stays.
  const put = await self.put(path, { model: 'm' }, unseen);
  assert.equal(expectStatus(put, 200).system_prompt, null);
  assert.equal(expectStatus(await admin.get(path), 200).system_prompt, PROMPT);
});
