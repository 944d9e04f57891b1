// Runs of agents: what the record of a run holds, and the paths under an agent.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectFault, expectProblem, expectStatus, startServer, uuid } from './lib/server.mjs';

const NOTHING_USED = {
  llm_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cost_usd: 0,
  unpriced_calls: 0,
};

const newAgent = async (client, name) =>
  expectStatus(await client.post('/v1/agents', { name }), 201);
const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);
const start = async (client, thread, body = {}) =>
  expectStatus(await client.post(`/v1/threads/${thread.id}/runs`, body), 201);

test('the record of a run', async (t) => {
  const { open: client } = await startServer(t);
  const agent = await newAgent(client, 'researcher');
  const other = await newAgent(client, 'writer');

  await t.test('holds what it was asked, what it answered, and by which model', async () => {
    const thread = await newThread(client);
    const request = { message: 'hello', attachments: [{ name: 'a.pdf' }] };
    const run = await start(client, thread,
      { dispatch: 'direct', model: 'gpt-4o-mini', provider: 'openai', request });
    assert.deepEqual(
      [run.model, run.provider, run.request, run.stop_reason, run.phase, run.turn_count],
      ['gpt-4o-mini', 'openai', request, null, 'created', 0],
    );
    assert.deepEqual([run.usage, run.total_usage], [NOTHING_USED, NOTHING_USED]);
    const told = {
      model: 'gpt-4o', stop_reason: 'end_turn', content: 'Hello!', content_type: 'text/markdown',
      citations: [{ url: 'https://example.com' }], metrics: { seconds: 1.5 },
    };
    const changed = expectStatus(await client.patch(`/v1/runs/${run.id}`, told), 200);
    for (const [name, value] of Object.entries(told)) assert.deepEqual(changed[name], value, name);
    assert.equal(changed.provider, 'openai');
    const listed = expectStatus(await client.get(`/v1/threads/${thread.id}/runs`), 200).data[0];
    assert.equal(listed.model, 'gpt-4o');
    for (const document of ['content', 'content_type', 'citations', 'metrics', 'request'])
      assert.equal(document in listed, false, `a list has no ${document}`);
    const whole = await client.get(`/v1/threads/${thread.id}/runs?include=documents`);
    assert.deepEqual(expectStatus(whole, 200).data[0].citations, told.citations);
  });

  await t.test('is read-only where Cairn writes it', async () => {
    const run = await start(client, await newThread(client), { dispatch: 'direct' });
    const refused = (answer, member) =>
      expectFault(answer, 422, 'invalid_input', `/${member}`);
    for (const member of ['usage', 'total_usage', 'phase', 'turn_count', 'request', 'agent_id'])
      refused(await client.patch(`/v1/runs/${run.id}`, { [member]: {} }), member);
    const long = { model: 'm'.repeat(201), provider: 'p'.repeat(101), stop_reason: '' };
    for (const [member, value] of Object.entries(long))
      refused(await client.patch(`/v1/runs/${run.id}`, { [member]: value }), member);
    assert.equal(expectStatus(await client.get(`/v1/runs/${run.id}`), 200).version, run.version);
  });

  await t.test('names its agent, and is found under it alone', async () => {
    const thread = await newThread(client, { agent: 'somebody' });
    const run = await start(client, thread, { agent_id: agent.id });
    assert.deepEqual([run.agent_id, run.agent], [agent.id, 'researcher']);
    const read = await client.get(`/v1/agents/${agent.id}/runs/${run.id}`);
    assert.deepEqual(expectStatus(read, 200), run);
    assert.equal(read.headers.get('etag'), `"${run.version}"`);
    expectProblem(await client.get(`/v1/agents/${other.id}/runs/${run.id}`), 404, 'not_found');
    const plain = await start(client, await newThread(client));
    expectProblem(await client.get(`/v1/agents/${agent.id}/runs/${plain.id}`), 404, 'not_found');
  });

  await t.test('is listed under its agent, newest first, page by page', async () => {
    const runs = [];
    for (let i = 0; i < 3; i++)
      runs.unshift((await start(client, await newThread(client), { agent_id: other.id })).id);
    const page = expectStatus(await client.get(`/v1/agents/${other.id}/runs?limit=2`), 200);
    assert.deepEqual([page.data.map((r) => r.id), page.has_more], [runs.slice(0, 2), true]);
    const rest = await client.get(`/v1/agents/${other.id}/runs?cursor=${page.next_cursor}`);
    assert.deepEqual(expectStatus(rest, 200).data.map((r) => r.id), runs.slice(2));
    const all = expectStatus(await client.get(`/v1/runs?agent_id=${other.id}`), 200);
    assert.deepEqual(all.data.map((r) => r.id), runs);
    expectProblem(await client.get(`/v1/agents/${uuid()}/runs`), 404, 'not_found');
  });

  await t.test('cannot be of an agent that is not there', async () => {
    const thread = await newThread(client);
    const refused = await client.post(`/v1/threads/${thread.id}/runs`, { agent_id: uuid() });
    expectFault(refused, 422, 'invalid_input', '/agent_id');
    assert.deepEqual(
      expectStatus(await client.get(`/v1/threads/${thread.id}/runs`), 200).data, []);
  });
});
