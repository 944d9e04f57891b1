// SPDX-License-Identifier: Apache-2.0
// Runs of agents: what the record of a run holds, and the paths under an agent.
import assert from 'node:assert/strict';
import test from 'node:test';
import { claim, expectFault, expectProblem, expectStatus, startServer, token, uuid }
  from './lib/server.mjs';

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
    for (const member of ['total_usage', 'phase', 'turn_count', 'request', 'agent_id'])
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
    const tag = read.headers.get('etag').replace('-gzip', ''); // of a compressed answer
    assert.equal(tag, `"${run.version}"`);
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

  await t.test('begins of an agent with a message, on a new thread or a known one', async () => {
    const body = {
      input: { message: 'hello', attachments: [{ url: 'https://example.com/a.pdf' }] },
      config: { model_override: 'gpt-4o', stream: true },
      metadata: { from: 'test' }, dispatch: 'direct',
    };
    const run = expectStatus(await client.post(`/v1/agents/${agent.id}/runs`, body), 201);
    assert.deepEqual(
      [run.run_id, run.status, run.user_input, run.request, run.model, run.agent, run.agent_id],
      [run.id, 'running', 'hello', body.input, 'gpt-4o', 'researcher', agent.id],
    );
    const thread = expectStatus(await client.get(`/v1/threads/${run.thread_id}`), 200);
    assert.deepEqual([thread.agent, thread.most_recent_run_id], ['researcher', run.id]);
    const again = { ...body, thread_id: thread.id };
    expectProblem(await client.post(`/v1/agents/${agent.id}/runs`, again), 409, 'run_active');
    const next = await client.post(
      `/v1/agents/${agent.id}/runs`, { ...again, policy: 'interrupt' });
    assert.equal(expectStatus(next, 201).thread_id, thread.id);
    for (const [bad, pointer] of [
      [{}, '/input'], [{ input: {} }, '/input/message'],
      [{ ...body, config: { speed: 1 } }, '/config/speed'],
      [{ ...body, agent_version: '9.9.9' }, '/agent_version'],
    ])
      expectFault(await client.post(`/v1/agents/${agent.id}/runs`, bad), 422, 'invalid_input',
        pointer);
    expectProblem(await client.post(`/v1/agents/${uuid()}/runs`, body), 404, 'not_found');
    expectProblem(await client.post(`/v1/agents/${agent.id}/runs`, { ...body, thread_id: uuid() }),
      404, 'not_found');
  });

  await t.test('is made of a version of the agent, which says the model', async () => {
    const made = expectStatus(await client.post('/v1/agents', {
      name: 'versioned', system_prompt: { role: 'helper' },
      llm_config: { default_model: 'gpt-4o-mini' },
    }), 201);
    const run = expectStatus(
      await client.post(`/v1/agents/${made.id}/runs`, { input: { message: 'hi' } }), 201);
    assert.deepEqual([run.agent_version, run.model], ['1.0.0', 'gpt-4o-mini']);
    const thread = await newThread(client);
    const named = await start(client, thread, { agent_id: made.id, agent_version: '1.0.0' });
    assert.equal(named.agent_version, '1.0.0');
    expectFault(await client.post(`/v1/threads/${thread.id}/runs`, { agent_version: '1.0.0' }),
      422, 'invalid_input', '/agent_version');
  });

  await t.test('cannot be of an agent that is not there', async () => {
    const thread = await newThread(client);
    const refused = await client.post(`/v1/threads/${thread.id}/runs`, { agent_id: uuid() });
    expectFault(refused, 422, 'invalid_input', '/agent_id');
    assert.deepEqual(
      expectStatus(await client.get(`/v1/threads/${thread.id}/runs`), 200).data, []);
  });
});

// --- Phases ----------------------------------------------------------------------------------

const move = (client, run, to, more = {}) =>
  client.post(`/v1/runs/${run.id}/phase`, { to, ...more });
const readRun = async (client, run) => expectStatus(await client.get(`/v1/runs/${run.id}`), 200);
const direct = async (client, body = {}) =>
  start(client, await newThread(client), { dispatch: 'direct', ...body });

test('a run of an agent on the thread with a key', async (t) => {
  const { open: client } = await startServer(t);
  const agent = await newAgent(client, 'researcher');
  const other = await newAgent(client, 'writer');

  await t.test('creates that thread once', async () => {
    const path = `/v1/agents/${agent.id}/runs`;
    const body = { thread_key: 'ticket 7', input: { message: 'hello' }, policy: 'enqueue' };
    const runs = await Promise.all(Array.from({ length: 5 }, () => client.post(path, body)));
    const threads = new Set(runs.map((run) => expectStatus(run, 201).thread_id));
    assert.equal(threads.size, 1);
    const thread = expectStatus(await client.get('/v1/threads/by-key/ticket%207'), 200);
    assert.deepEqual([thread.id, thread.agent], [runs[0].body.thread_id, 'researcher']);
    const second = expectStatus(await client.post(`/v1/agents/${other.id}/runs`, body), 201);
    assert.deepEqual([second.thread_id, second.agent], [thread.id, 'writer']);
    expectFault(await client.post(path, { ...body, thread_id: thread.id }), 422, 'invalid_input',
      '/thread_key', /must not be given together with thread_id/);
    expectFault(await client.post(path, { ...body, thread_key: '' }), 422, 'invalid_input',
      '/thread_key');
    // A run that is rejected creates no thread.
    const rejected = { ...body, thread_key: 'rejected', agent_version: '9.9.9' };
    expectFault(await client.post(path, rejected), 422, 'invalid_input', '/agent_version');
    expectProblem(await client.post(`/v1/agents/${uuid()}/runs`, rejected), 404, 'not_found');
    expectProblem(await client.get('/v1/threads/by-key/rejected'), 404, 'not_found');
  });

  await t.test('needs permission to write to that thread', async () => {
    const as = (principal) => ({ headers: { 'Cairn-Principal': principal } });
    const path = `/v1/agents/${agent.id}/runs`;
    expectStatus(await client.patch(`/v1/agents/${agent.id}`, { granted_to: ['user:*'] }), 200);
    const run = (key, principal) =>
      client.post(path, { thread_key: key, input: { message: 'm' }, policy: 'enqueue' },
        as(principal));
    const own = expectStatus(await run('own', 'user:ann'), 201);
    assert.equal(expectStatus(await run('own', 'user:ann'), 201).thread_id, own.thread_id);
    // Keys of a principal are its own: another one gets another thread.
    assert.notEqual(expectStatus(await run('own', 'user:bob'), 201).thread_id, own.thread_id);
    const shared = await newThread(client, { key: 'shared' });
    expectStatus(await client.post(`/v1/threads/${shared.id}/participants`,
      { principal: 'user:ann', permission: 'read' }), 201);
    expectProblem(await run('shared', 'user:ann'), 403, 'forbidden');
    const elsewhere = expectStatus(await run('shared', 'user:bob'), 201);
    assert.notEqual(elsewhere.thread_id, shared.id);
    expectProblem(await client.post(`/v1/agents/${other.id}/runs`,
      { thread_key: 'none', input: { message: 'm' } }, as('user:ann')), 404, 'not_found');
  });
});

test('the phase of a run', async (t) => {
  const { open: client } = await startServer(t);
  const agent = await newAgent(client, 'planner');

  await t.test('goes through the life of an instance, and the status follows', async () => {
    const run = await direct(client, { agent_id: agent.id });
    const seen = [];
    for (const to of ['initializing', 'planning', 'awaiting_human', 'planning', 'executing',
      'awaiting_tool', 'executing', 'reflecting', 'completed']) {
      const moved = expectStatus(await move(client, run, to), 200);
      seen.push([moved.phase, moved.status]);
    }
    assert.deepEqual(seen, [
      ['initializing', 'running'], ['planning', 'running'],
      ['awaiting_human', 'waiting_for_input'], ['planning', 'running'], ['executing', 'running'],
      ['awaiting_tool', 'waiting_for_input'], ['executing', 'running'], ['reflecting', 'running'],
      ['completed', 'completed'],
    ]);
    const log = expectStatus(await client.get(`/v1/runs/${run.id}/phases?limit=4`), 200);
    assert.deepEqual(
      log.data.map((p) => `${p.number} ${p.from} ${p.to} ${p.trigger}`),
      ['1 created initializing start', '2 initializing planning init_complete',
        '3 planning awaiting_human need_approval', '4 awaiting_human planning human_input'],
    );
    const rest = await client.get(`/v1/runs/${run.id}/phases?cursor=${log.next_cursor}`);
    assert.deepEqual(expectStatus(rest, 200).data.at(-1).trigger, 'task_done');
    const under = await client.get(`/v1/agents/${agent.id}/runs/${run.id}/phases`);
    assert.equal(expectStatus(under, 200).data.length, 9);
    const events = await client.get(`/v1/threads/${run.thread_id}/events?kind=run.phase`);
    const told = expectStatus(events, 200).data;
    assert.equal(told.length, 9);
    assert.deepEqual(told[0].payload, { from: 'created', to: 'initializing', trigger: 'start' });
  });

  await t.test('is refused where the table has no way, and says which there are', async () => {
    const run = await direct(client);
    const refused = expectProblem(await move(client, run, 'executing'), 409, 'transition_refused');
    assert.deepEqual([refused.from, refused.allowed], ['created', ['initializing', 'failed']]);
    expectFault(await move(client, run, 'dreaming'), 422, 'invalid_input', '/to');
    expectFault(
      await move(client, run, 'initializing', { trigger: 'whim' }), 422, 'invalid_input',
      '/trigger', /must be start/);
    const after = await readRun(client, run);
    assert.deepEqual([after.phase, after.version], ['created', run.version]);
  });

  await t.test('holds a change of status to the table, but people may cancel', async () => {
    const run = await direct(client);
    expectStatus(await move(client, run, 'initializing', { detail: { build: 7 } }), 200);
    const patched = await client.patch(`/v1/runs/${run.id}`, { status: 'completed' });
    assert.deepEqual(
      expectProblem(patched, 409, 'transition_refused').allowed, ['planning', 'failed']);
    expectStatus(await client.post(`/v1/runs/${run.id}/cancel`), 200);
    const log = expectStatus(await client.get(`/v1/runs/${run.id}/phases`), 200).data;
    assert.deepEqual(log.map((p) => [p.to, p.trigger, p.detail]),
      [['initializing', 'start', { build: 7 }], ['cancelled', 'cancel', null]]);
  });

  await t.test('is a filter of runs, of one agent, thread and tenant', async () => {
    const own = await newAgent(client, 'filtered'), thread = await newThread(client);
    const parent = await start(client, thread, { dispatch: 'direct', agent_id: own.id });
    const runs = [];
    for (let i = 0; i < 6; i++) {
      const run = await start(client, thread,
        { dispatch: 'direct', parent_run_id: parent.id, agent_id: i < 5 ? own.id : undefined });
      expectStatus(await move(client, run, 'initializing'), 200);
      runs.unshift(run.id);
    }
    expectStatus(await move(client, { id: runs[5] }, 'failed'), 200);
    const list = async (query, base = '/v1/runs') =>
      expectStatus(await client.get(`${base}?${query}`), 200);
    const idsOf = ({ data }) => data.map((r) => r.id);
    const here = `thread_id=${thread.id}`;
    assert.deepEqual(idsOf(await list(`phase=initializing&${here}`)), runs.slice(0, 5));
    const page = await list(`phase=initializing&${here}&limit=2`);
    const next = await list(`phase=initializing&${here}&limit=2&cursor=${page.next_cursor}`);
    assert.deepEqual([idsOf(page), idsOf(next)], [runs.slice(0, 2), runs.slice(2, 4)]);
    assert.deepEqual(
      idsOf(await list('phase=initializing', `/v1/agents/${own.id}/runs`)), runs.slice(1, 5));
    assert.deepEqual(
      idsOf(await list('phase=initializing&include=documents', `/v1/threads/${thread.id}/runs`)),
      runs.slice(0, 5));
    assert.deepEqual(idsOf(await list(`phase=created&${here}`)), [parent.id]);
    assert.deepEqual(
      idsOf(await list(`phase=failed&parent_run_id=${parent.id}`)), runs.slice(5));
    assert.deepEqual(idsOf(await list(`phase=failed&status=failed&${here}`)), runs.slice(5));
    assert.deepEqual(idsOf(await list(`phase=failed&status=running&${here}`)), []);
    assert.deepEqual(idsOf(await list(`phase=initializing&status=queued&${here}`)), []);
    expectFault(await client.get('/v1/runs?phase=asleep'), 422, 'invalid_input', 'phase');
  });

  await t.test('gives the run its error with the detail of a failure', async () => {
    const run = await direct(client);
    const detail = { code: 'no_plan', message: 'The model refused.' };
    const failed = expectStatus(await move(client, run, 'failed', { detail }), 200);
    assert.deepEqual([failed.status, failed.error], ['failed', detail]);
    assert.deepEqual((await readRun(client, run)).error, detail);
    const [told] = expectStatus(
      await client.get(`/v1/threads/${run.thread_id}/events?kind=error`), 200).data;
    assert.deepEqual(told.payload.error, detail);
  });

  await t.test('is written by who holds the lease, and by nobody with an old version', async () => {
    const thread = await newThread(client);
    await start(client, thread);
    const run = await claim(client, { thread_id: thread.id });
    expectProblem(await move(client, run, 'initializing'), 409, 'lease_required');
    const path = `/v1/runs/${run.id}/phase`;
    const fence = token(run).headers;
    const stale = await client.post(
      path, { to: 'initializing' }, { headers: { ...fence, 'If-Match': '"1"' } });
    expectProblem(stale, 412, 'stale_etag');
    expectStatus(await client.post(path, { to: 'initializing' }, { headers: fence }), 200);
  });

  await t.test('can be moved under the agent too, with the fencing token', async () => {
    const thread = await newThread(client);
    await start(client, thread, { agent_id: agent.id });
    const run = await claim(client, { thread_id: thread.id });
    const path = `/v1/agents/${agent.id}/runs/${run.id}/phase`;
    const moved = await client.post(
      `/v1/agents/${agent.id}/runs/${run.id}/phase`, { to: 'initializing' }, token(run));
    assert.equal(expectStatus(moved, 200).phase, 'initializing');
    expectProblem(await client.post(path, { to: 'planning' },
      { headers: { 'Cairn-Fencing-Token': String(run.fence + 1) } }), 409, 'lease_lost');
  });
});

// --- Turns -----------------------------------------------------------------------------------

test('turns', async (t) => {
  const { open: client } = await startServer(t);
  const agent = await newAgent(client, 'talker');
  const message = { input: { message: 'hello' } };

  await t.test('begin with a message and are completed by what they gave back', async () => {
    const run = await direct(client, { agent_id: agent.id });
    const path = `/v1/agents/${agent.id}/runs/${run.id}/turns`;
    const turn = expectStatus(
      await client.post(`/v1/agents/${agent.id}/runs/${run.id}/turns`, message), 201);
    assert.deepEqual(
      [turn.number, turn.status, turn.input, turn.run_id, turn.checkpoint_id, turn.usage],
      [1, 'running', { message: 'hello' }, run.id, null,
        { tokens_in: 0, tokens_out: 0, cost_usd: 0, llm_calls: 0, unpriced_calls: 0 }],
    );
    expectProblem(await client.post(path, message), 409, 'conflict');
    const path1 = `${path}/${turn.turn_id}`;
    const part = expectStatus(
      await client.patch(path1, { status: 'running', output: { message: 'H' } }), 200);
    assert.deepEqual([part.status, part.output], ['running', { message: 'H' }]);
    const done = { output: { message: 'Hi!' }, latency_ms: 840 };
    const completed = await client.patch(
      `/v1/agents/${agent.id}/runs/${run.id}/turns/${turn.turn_id}`, done);
    const after = expectStatus(completed, 200);
    assert.deepEqual(
      [after.status, after.output, after.latency_ms, after.version],
      ['complete', { message: 'Hi!' }, 840, 3]);
    assert.notEqual(after.finished_at, null);
    const read = await client.get(`/v1/agents/${agent.id}/runs/${run.id}/turns/${turn.turn_id}`);
    assert.deepEqual(expectStatus(read, 200), after);
    assert.deepEqual(
      expectStatus(await client.get(`/v1/runs/${run.id}/turns/${turn.turn_id}`), 200), after);
    assert.equal((await readRun(client, run)).turn_count, 1);
    const all = await client.get(`/v1/agents/${agent.id}/runs/${run.id}/turns`);
    assert.deepEqual(expectStatus(all, 200).data.map((x) => x.number), [1]);
  });

  await t.test('end by the status in their output, and go on with results of tools', async () => {
    const run = await direct(client);
    const output = {
      message: 'Let me look.', tool_calls: [{ id: 't1', name: 'search' }], status: 'awaiting_tool',
    };
    const first = expectStatus(
      await client.post(`/v1/runs/${run.id}/turns`, { ...message, output, latency_ms: 5 }), 201);
    assert.equal(first.status, 'awaiting_tool');
    const input = { message: '', tool_results: [{ tool_use_id: 't1', content: 'found' }] };
    const second = expectStatus(
      await client.post(`/v1/runs/${run.id}/turns`, { input, output: { message: 'Done' } }), 201);
    assert.deepEqual(
      [second.number, second.status, second.input], [2, 'complete', input]);
    const patched = await client.patch(
      `/v1/runs/${run.id}/turns/${first.turn_id}`, { latency_ms: 6 },
      { headers: { 'If-Match': '"2"' } });
    assert.equal(expectStatus(patched, 200).status, 'complete', 'the next turn has closed it');
    expectProblem(await client.patch(
      `/v1/runs/${run.id}/turns/${first.turn_id}`, { status: 'running' }), 409,
    'transition_refused');
    const page = expectStatus(await client.get(`/v1/runs/${run.id}/turns?limit=1`), 200);
    assert.deepEqual([page.data[0].turn_id, page.has_more, 'input' in page.data[0]],
      [first.turn_id, true, false]);
    const whole = await client.get(
      `/v1/runs/${run.id}/turns?include=documents&cursor=${page.next_cursor}`);
    assert.deepEqual(expectStatus(whole, 200).data.map((x) => x.input), [input]);
    const events = await client.get(`/v1/threads/${run.thread_id}/events?limit=100`);
    assert.deepEqual(
      expectStatus(events, 200).data.filter((e) => e.kind.startsWith('turn.'))
        .map((e) => [e.kind, e.payload.number, e.payload.status]),
      [['turn.created', 1, 'awaiting_tool'], ['turn.updated', 1, 'complete'],
        ['turn.created', 2, 'complete'], ['turn.updated', 1, 'complete']],
    );
  });

  await t.test('end with their run', async () => {
    for (const [status, end] of [
      ['running', 'failed'], ['awaiting_tool', 'completed'], ['awaiting_human', 'cancelled'],
    ]) {
      const run = await direct(client);
      const turn = expectStatus(
        await client.post(`/v1/runs/${run.id}/turns`, { ...message, status }), 201);
      expectStatus(await client.patch(`/v1/runs/${run.id}`, { status: end }), 200);
      const after = expectStatus(
        await client.get(`/v1/runs/${run.id}/turns/${turn.turn_id}`), 200);
      assert.equal(after.status, end === 'completed' ? 'complete' : end);
    }
  });

  await t.test('are refused with bad input, and nothing is begun', async () => {
    const run = await direct(client);
    const bad = [
      [{}, '/input'],
      [{ input: {} }, '/input'],
      [{ input: { attachments: [] } }, '/input'],
      [{ input: { tool_results: [{}] } }, '/input/tool_results/0/tool_use_id'],
      [{ input: { tool_results: [] } }, '/input/tool_results'],
      [{ input: { tool_results: Array(257).fill({ tool_use_id: 't' }) } }, '/input/tool_results'],
      [{ input: { message: 'a', mood: 'good' } }, '/input/mood'],
      [{ ...message, output: { status: 'asleep' } }, '/output/status'],
      [{ ...message, status: 'asleep' }, '/status'],
      [{ ...message, latency_ms: -1 }, '/latency_ms'],
      [{ ...message, checkpoint_id: uuid() }, '/checkpoint_id'],
    ];
    for (const [body, pointer] of bad)
      expectFault(
        await client.post(`/v1/runs/${run.id}/turns`, body), 422, 'invalid_input', pointer);
    expectProblem(await client.get(`/v1/runs/${run.id}/turns/${uuid()}`), 404, 'not_found');
    assert.equal((await readRun(client, run)).turn_count, 0);
    expectStatus(await client.post(`/v1/runs/${run.id}/cancel`), 200);
    expectProblem(await client.post(`/v1/runs/${run.id}/turns`, message), 409, 'conflict');
  });

  await t.test('of one run are not found under another', async () => {
    const run = await direct(client), other = await direct(client);
    const turn = expectStatus(await client.post(`/v1/runs/${run.id}/turns`, message), 201);
    const path = `/v1/runs/${other.id}/turns/${turn.turn_id}`;
    expectProblem(await client.get(path), 404, 'not_found');
    expectProblem(await client.patch(path, { status: 'failed' }), 404, 'not_found');
  });

  await t.test('are numbered without gaps however many begin at once', async () => {
    const run = await direct(client);
    const whole = { ...message, output: { message: 'hi' } };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => client.post(`/v1/runs/${run.id}/turns`, whole)));
    assert.deepEqual(
      answers.map((a) => expectStatus(a, 201).number).sort((a, b) => a - b),
      Array.from({ length: 12 }, (_, i) => i + 1));
  });
});

// --- Families --------------------------------------------------------------------------------

// The session of three questions about books: seven runs of a team and its members.
test('seven runs of a team, told as a tree and as what its members answered', async (t) => {
  const { open: client } = await startServer(t);
  const agents = {};
  for (const name of ['NotebookLM', 'Researcher', 'Writer'])
    agents[name] = await newAgent(client, name);
  const thread = await newThread(client, { title: 'Books' });
  const run = (name, input, parent) =>
    start(client, thread, {
      agent_id: agents[name].id, dispatch: 'direct', user_input: input,
      request: { input_content: input }, ...(parent ? { parent_run_id: parent.id } : {}),
    });
  const finish = async ({ id }, content) =>
    expectStatus(await client.patch(`/v1/runs/${id}`,
      { status: 'completed', content, content_type: 'str' }), 200);

  const first = await run('NotebookLM', 'hello');
  await finish(first, 'Hello! Welcome to NotebookLM!');

  const second = await run('NotebookLM', 'recommend books for a 9yo girl');
  const third = await run('Researcher', 'search the web for recommendations', second);
  await finish(third, 'Matilda; The Wild Robot; Front Desk');
  const fourth = await run('NotebookLM', 'compile the final answer', second);
  await finish(fourth, 'Here are three books.');
  await finish(second, 'Here are three books.');

  const fifth = await run('NotebookLM', 'summarize each book');
  const sixth = await run('Researcher', 'search the web for book summaries', fifth);
  await finish(sixth, 'raw summaries');
  const seventh = await run('Writer', 'format into clean markdown summaries', fifth);
  await finish(seventh, '# Matilda\n…');
  await finish(fifth, '# Matilda\n…');

  const all = expectStatus(
    await client.get(`/v1/threads/${thread.id}/runs?include=documents`), 200).data.reverse();
  assert.deepEqual(
    all.map((r) => [r.agent, r.agent_id, r.status, r.parent_run_id]),
    [
      ['NotebookLM', agents.NotebookLM.id, 'completed', null],
      ['NotebookLM', agents.NotebookLM.id, 'completed', null],
      ['Researcher', agents.Researcher.id, 'completed', second.id],
      ['NotebookLM', agents.NotebookLM.id, 'completed', second.id],
      ['NotebookLM', agents.NotebookLM.id, 'completed', null],
      ['Researcher', agents.Researcher.id, 'completed', fifth.id],
      ['Writer', agents.Writer.id, 'completed', fifth.id],
    ],
  );
  assert.deepEqual(all[0].request, { input_content: 'hello' });
  assert.equal(all[0].content, 'Hello! Welcome to NotebookLM!');

  await t.test('what the members used counts for the team too', async () => {
    const last = await run('NotebookLM', 'and another one');
    const member = await run('Researcher', 'search once more', last);
    const use = (of, tokens_in, tokens_out) =>
      client.post(`/v1/runs/${of.id}/turns`, {
        input: { message: 'go' }, output: { message: 'done' },
        usage: { tokens_in, tokens_out, model: 'a model without a price' },
      });
    expectStatus(await use(last, 100, 10), 201);
    const turn = expectStatus(await use(member, 1000, 50), 201);
    assert.deepEqual(
      [turn.usage.tokens_in, turn.usage.tokens_out, turn.usage.cost_usd, turn.usage.llm_calls],
      [1000, 50, null, 1]);
    const sums = ({ usage, total_usage: total }) =>
      [usage, total].map((u) => [u.llm_calls, u.input_tokens, u.output_tokens, u.unpriced_calls]);
    assert.deepEqual(sums(await readRun(client, member)), [[1, 1000, 50, 1], [1, 1000, 50, 1]]);
    assert.deepEqual(sums(await readRun(client, last)), [[1, 100, 10, 1], [2, 1100, 60, 2]]);
    assert.equal((await readRun(client, last)).total_usage.cost_usd, null);
    const twice = await client.patch(
      `/v1/runs/${member.id}/turns/${turn.turn_id}`, { usage: { tokens_in: 1 } });
    expectProblem(twice, 409, 'conflict');
    expectStatus(await client.post(`/v1/runs/${last.id}/cancel`), 200);
  });

  await t.test('a run is read with what its members answered', async () => {
    const read = await client.get(`/v1/runs/${fifth.id}?include=member_responses`);
    const { member_responses: members, more_members: more } = expectStatus(read, 200);
    assert.equal(more, false);
    assert.deepEqual(
      members.map((m) => [m.run_id, m.agent_id, m.agent, m.status, m.content, m.content_type]),
      [
        [sixth.id, agents.Researcher.id, 'Researcher', 'completed', 'raw summaries', 'str'],
        [seventh.id, agents.Writer.id, 'Writer', 'completed', '# Matilda\n…', 'str'],
      ],
    );
    assert.equal('member_responses' in await readRun(client, fifth), false);
    const none = await client.get(`/v1/runs/${first.id}?include=member_responses`);
    assert.deepEqual(expectStatus(none, 200).member_responses, []);
  });

  await t.test('a run is read with its descendants, nested', async () => {
    const tree = expectStatus(await client.get(`/v1/runs/${second.id}/tree`), 200);
    assert.deepEqual([tree.run_count, tree.is_cut], [3, false]);
    assert.deepEqual(
      [tree.root.run_id, tree.root.children.map((n) => [n.run_id, n.agent, n.children])],
      [second.id, [[third.id, 'Researcher', []], [fourth.id, 'NotebookLM', []]]],
    );
    const under = await client.get(
      `/v1/agents/${agents.NotebookLM.id}/runs/${first.id}/tree`);
    assert.equal(expectStatus(under, 200).run_count, 1);
  });
});
