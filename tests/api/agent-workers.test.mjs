// SPDX-License-Identifier: Apache-2.0
// An agent as a worker: with a key of its own it claims, lists, reads and works on its own runs.
import assert from 'node:assert/strict';
import test from 'node:test';
import { claim, expectProblem, expectStatus, startServer, token, uuid, withKey }
  from './lib/server.mjs';

const SCOPES = ['runs:read', 'runs:write', 'threads:read', 'threads:write', 'events:read'];

/** Two agents, with a client for each, and a client for the whole tenant. */
async function setUp(t) {
  const server = await startServer(t);
  const operator = await withKey(server.open, ['operator']);
  const agents = [];
  for (const name of ['scribe', 'poet']) {
    const { id } = expectStatus(await operator.post('/v1/agents', { name }), 201);
    agents.push({ id, client: await withKey(operator, SCOPES, { principal: `agent:${id}` }) });
  }
  const start = async (agent, body = {}) => {
    const thread = expectStatus(await operator.post('/v1/threads'), 201);
    return expectStatus(await operator.post(`/v1/threads/${thread.id}/runs`,
      { ...agent && { agent_id: agent.id }, ...body }), 201);
  };
  return { operator, scribe: agents[0], poet: agents[1], start };
}

const nothing = async (client, body = {}) =>
  expectStatus(await client.post('/v1/runs/claim', { worker: 'w', ...body }), 204);

test('an agent claims its own runs only, the first one first', async (t) => {
  const { scribe, poet, start } = await setUp(t);
  const [, ofPoet, first, second] = [await start(null, { agent: 'scribe' }), await start(poet),
    await start(scribe), await start(scribe)];
  assert.equal((await claim(scribe.client)).id, first.id);
  assert.equal((await claim(scribe.client)).id, second.id);
  await nothing(scribe.client);
  await nothing(scribe.client, { thread_id: ofPoet.thread_id });
  await nothing(scribe.client, { agent: 'poet' });
  assert.equal((await claim(poet.client)).id, ofPoet.id);
});

test('a claim of an agent waits for a run of this agent', async (t) => {
  const { scribe, poet, start } = await setUp(t);
  const waiting = scribe.client.post('/v1/runs/claim?wait=60', { worker: 'w' });
  await start(poet);
  const { id } = await start(scribe);
  assert.equal(expectStatus(await waiting, 200).id, id);
});

test('an agent lists its own runs only', async (t) => {
  const { operator, scribe, poet, start } = await setUp(t);
  const own = [await start(scribe), await start(scribe)].map((run) => run.id).reverse();
  await start(poet);
  await start(null, { agent: 'scribe' });
  const list = async (path) =>
    expectStatus(await scribe.client.get(path), 200).data.map((run) => run.id);
  assert.deepEqual(await list('/v1/runs'), own);
  assert.deepEqual(await list(`/v1/runs?agent_id=${scribe.id}&status=queued`), own);
  assert.deepEqual(await list(`/v1/agents/${scribe.id}/runs`), own);
  assert.deepEqual(await list(`/v1/runs?agent_id=${poet.id}`), []);
  assert.deepEqual(await list(`/v1/runs?agent_id=${uuid()}`), []);
  expectProblem(await scribe.client.get(`/v1/agents/${poet.id}/runs`), 404, 'not_found');
  assert.equal(expectStatus(await operator.get('/v1/runs'), 200).data.length, 4);
});

test('an agent works on its run without taking part in the thread, and on no other', async (t) => {
  const { operator, scribe, poet, start } = await setUp(t);
  await start(scribe);
  const run = await claim(scribe.client);
  const path = `/v1/runs/${run.id}`;
  const opts = token(run);
  const { client } = scribe;
  expectStatus(await client.post(`${path}/heartbeat`, {}, opts), 200);
  expectStatus(await client.post(`${path}/turns`, { input: { message: 'hi' } }, opts), 201);
  expectStatus(await client.post(`${path}/steps`, { action_type: 'run_started' }, opts), 201);
  expectStatus(await client.get(`${path}/steps`), 200);
  expectStatus(await client.get(`${path}/attempts`), 200);
  expectStatus(await client.get(`/v1/agents/${scribe.id}/runs/${run.id}`), 200);
  // The thread, and what people decide about the run, need participation.
  expectProblem(await client.get(`/v1/threads/${run.thread_id}`), 404, 'not_found');
  for (const verb of ['pause', 'cancel', 'retry'])
    expectProblem(await client.post(`${path}/${verb}`), 404, 'not_found');
  // The other agent does not find the run.
  expectProblem(await poet.client.get(path), 404, 'not_found');
  expectProblem(await poet.client.patch(path, { state: {} }, opts), 404, 'not_found');
  expectProblem(await poet.client.post(`${path}/release`, undefined, opts), 404, 'not_found');
  expectStatus(await client.patch(path, { status: 'completed', content: 'done' }, opts), 200);
  assert.equal(expectStatus(await operator.get(path), 200).content, 'done');
});

test('a user neither claims nor lists runs of the tenant', async (t) => {
  const { operator, scribe, start } = await setUp(t);
  await start(scribe);
  const user = await withKey(operator, SCOPES, { principal: 'user:bob' });
  expectProblem(await user.get('/v1/runs'), 403, 'forbidden');
  expectProblem(await user.get(`/v1/agents/${scribe.id}/runs`), 404, 'not_found');
  expectProblem(await user.post('/v1/runs/claim', { worker: 'w' }), 403, 'forbidden');
});
