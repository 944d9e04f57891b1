// SPDX-License-Identifier: Apache-2.0
// Conversation history: one entry for each finished run; and the context that is taken from it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectFault, expectProblem, expectStatus, readAll, startServer, uuid } from
  './lib/server.mjs';

const NEW = { headers: { 'If-None-Match': '*' } };
const newThread = async (client) => expectStatus(await client.post('/v1/threads', {}), 201).id;
const start = async (client, thread, body = {}) => expectStatus(
  await client.post(`/v1/threads/${thread}/runs`, { dispatch: 'direct', ...body }), 201);
const finish = async (client, run, body = { status: 'completed' }) =>
  expectStatus(await client.patch(`/v1/runs/${run.id}`, body), 200);
const entry = async (client, thread, number) =>
  expectStatus(await client.get(`/v1/threads/${thread}/history/${number}`), 200);
const list = async (client, thread, query = '') =>
  expectStatus(await client.get(`/v1/threads/${thread}/history?${query}`), 200);
const contextOf = async (client, thread, query = '') =>
  expectStatus(await client.get(`/v1/threads/${thread}/context?${query}`), 200);

/** A whole run: what was asked, what was answered, and what its model said. */
async function talk(client, thread, question, answer, messages = undefined) {
  const run = await start(client, thread, { user_input: question });
  await finish(client, run, { status: 'completed', final_output: answer });
  const { data: [made] } = await list(client, thread, 'limit=1');
  assert.equal(made.run_id, run.id);
  if (messages !== undefined)
    expectStatus(await client.patch(`/v1/threads/${thread}/history/${made.sequence_number}`,
      { messages }), 200);
  return made;
}

// The seed's example of a request for a chart.
const CHART = [
  { role: 'user', content: 'Create a chart showing sales data' },
  { role: 'assistant', content: [{ type: 'text', text: 'I\'ll create that chart for you...' }] },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_123', name: 'bash_code_execution',
    input: { command: 'plot' } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_123',
    content: [{ type: 'text', text: 'done' }] }] },
  { role: 'assistant', content: [{ type: 'text', text: 'I\'ve created a chart...' }] },
];

/** The estimate, as documented. */
const tokens = (messages) => messages.reduce(
  (sum, m) => sum + Math.ceil(Buffer.byteLength(JSON.stringify(m)) / 4) + 4, 0);

test('the history of a thread', async (t) => {
  const { open } = await startServer(t);

  await t.test('a finished run is an entry with every member', async () => {
    const thread = await newThread(open);
    const run = await start(open, thread, { user_input: 'Create a chart showing sales data' });
    assert.deepEqual((await list(open, thread)).data, [], 'nothing before the end');
    const done = await finish(open, run, { status: 'completed', final_output: 'Here it is.' });
    const answer = await open.get(`/v1/threads/${thread}/history/1`);
    const { conversation_id: id, cost, created_at: created, updated_at: updated, ...rest } =
      expectStatus(answer, 200);
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.equal(typeof cost, 'object');
    assert.equal(created, updated);
    assert.deepEqual(rest, {
      messages: [], final_response: 'Here it is.', stop_reason: null, generated_files: [],
      extras: {}, thread_id: thread, agent_uuid: thread, sequence_number: 1, run_id: run.id,
      status: 'completed', agent_id: null, started_at: done.started_at,
      completed_at: done.finished_at, user_message: 'Create a chart showing sales data',
      total_steps: 0, usage: { input_tokens: 0, output_tokens: 0,
        cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }, version: 1,
    });
    assert.equal(answer.headers.get('ETag'), '"1"');
    const { data: [listed] } = await list(open, thread);
    assert.equal(listed.messages, undefined, 'a list carries no messages');
    assert.equal(listed.conversation_id, id);
    const told = (await readAll(open, `/v1/threads/${thread}/events`))
      .filter((e) => e.kind === 'history.created');
    assert.deepEqual(told.map((e) => [e.run_id, e.payload]), [[run.id, { sequence_number: 1 }]]);
  });

  await t.test('failed and cancelled runs are entries, children are none', async () => {
    const thread = await newThread(open);
    const parent = await start(open, thread, { user_input: 'lead' });
    const child = await start(open, thread, { user_input: 'help', parent_run_id: parent.id });
    await finish(open, child);
    await finish(open, parent, { status: 'failed', error: { message: 'no' } });
    const second = await start(open, thread, { user_input: 'again' });
    expectStatus(await open.post(`/v1/runs/${second.id}/cancel`, {}), 200);
    const third = expectStatus(await open.post(`/v1/threads/${thread}/runs`, {}), 201);
    expectStatus(await open.post(`/v1/runs/${third.id}/cancel`, {}), 200);
    const { data } = await list(open, thread);
    assert.deepEqual(data.map((h) => [h.sequence_number, h.run_id, h.status, h.stop_reason]), [
      [3, third.id, 'cancelled', 'cancelled'], [2, second.id, 'cancelled', 'cancelled'],
      [1, parent.id, 'failed', 'failed'],
    ]);
    assert.equal(data[0].user_message, '', 'nothing was asked');
  });

  await t.test('pages go from the newest to the oldest', async () => {
    const thread = await newThread(open);
    for (let i = 1; i <= 5; i++) await talk(open, thread, `question ${i}`, `answer ${i}`, CHART);
    const first = await list(open, thread, 'limit=2&include=messages');
    assert.deepEqual(first.data.map((h) => h.sequence_number), [5, 4]);
    assert.deepEqual(first.data[0].messages, CHART);
    const rest = await list(open, thread, `limit=3&cursor=${first.next_cursor}`);
    assert.deepEqual([...first.data, ...rest.data].map((h) => h.user_message),
      ['question 5', 'question 4', 'question 3', 'question 2', 'question 1']);
    assert.equal(rest.has_more, false);
    expectProblem(await open.get(`/v1/threads/${thread}/history?cursor=x`), 400, 'invalid_cursor');
    expectProblem(await open.get(`/v1/threads/${thread}/history/6`), 404, 'not_found');
    expectProblem(await open.get(`/v1/threads/${uuid()}/history`), 404, 'not_found');
  });

  await t.test('runs that end at once are numbered without gaps', async () => {
    const thread = await newThread(open);
    const runs = await Promise.all(Array.from({ length: 20 }, (_, i) =>
      open.post(`/v1/threads/${thread}/runs`, { user_input: `${i}`, policy: 'enqueue' })));
    await Promise.all(runs.map(({ body: run }) => open.post(`/v1/runs/${run.id}/cancel`, {})));
    const { data } = await list(open, thread);
    assert.deepEqual(data.map((h) => h.sequence_number),
      Array.from({ length: 20 }, (_, i) => 20 - i));
    assert.equal(new Set(data.map((h) => h.run_id)).size, 20);
  });

  await t.test('an engine adds messages, files and extras', async () => {
    const thread = await newThread(open);
    await talk(open, thread, 'Create a chart showing sales data', { text: 'It is done' });
    const path = `/v1/threads/${thread}/history/1`;
    assert.equal((await entry(open, thread, 1)).final_response, 'It is done');
    const files = [{ file_id: 'file_abc123', filename: 'sales_chart.png', step: 2 }];
    const patched = expectStatus(await open.patch(path, { messages: CHART,
      generated_files: files, extras: { credits_used: 42 }, stop_reason: 'end_turn',
      final_response: 'I\'ve created a chart...' }, { headers: { 'If-Match': '"1"' } }), 200);
    assert.deepEqual([patched.messages, patched.generated_files, patched.extras,
      patched.stop_reason, patched.final_response, patched.version],
    [CHART, files, { credits_used: 42 }, 'end_turn', 'I\'ve created a chart...', 2]);
    expectProblem(await open.patch(path, { extras: {} }, { headers: { 'If-Match': '"1"' } }),
      412, 'stale_etag');
    const kept = expectStatus(await open.patch(path, { extras: { more: 1 } }), 200);
    assert.deepEqual([kept.messages, kept.extras], [CHART, { credits_used: 42, more: 1 }]);
    const json = { type: 'application/json-patch+json' };
    const last = expectStatus(await open.patch(path,
      [{ op: 'remove', path: '/messages/0' }], json), 200);
    assert.deepEqual(last.messages, CHART.slice(1));
    expectStatus(await open.patch(path, { messages: null }), 200);
    assert.deepEqual((await entry(open, thread, 1)).messages, []);
    const told = (await readAll(open, `/v1/threads/${thread}/events`))
      .filter((e) => e.kind === 'history.updated');
    assert.equal(told.length, 4);
  });

  await t.test('what breaks a rule is refused with its place, and changes nothing', async () => {
    const thread = await newThread(open);
    await talk(open, thread, 'q', 'a');
    const path = `/v1/threads/${thread}/history/1`;
    const before = await entry(open, thread, 1);
    const refuse = async (body, pointer, rule) =>
      expectFault(await open.patch(path, body), 422, 'invalid_input', pointer, rule);
    await refuse({ messages: {} }, '/messages', /array/);
    await refuse({ messages: [{ role: 'user' }, 5] }, '/messages/1', /role/);
    await refuse({ messages: [{ content: 'x' }] }, '/messages/0', /role/);
    await refuse({ generated_files: [{ filename: 'x' }] }, '/generated_files/0', /file_id/);
    await refuse({ user_message: 'other' }, '/user_message', /./);
    await refuse({ extras: [] }, '/extras', /object/);
    await refuse({ stop_reason: '' }, '/stop_reason', /at least 1/);
    assert.deepEqual(await entry(open, thread, 1), before);
  });

  await t.test('the history that an engine kept goes to the entry of its run', async () => {
    const thread = await newThread(open);
    const path = `/v1/threads/${thread}/resumption`;
    expectStatus(await open.put(path, { system_prompt: 'You help.', model: 'm',
      messages: CHART.slice(-1), conversation_history: CHART.slice(0, 2) }, NEW), 201);
    const run = await start(open, thread, { user_input: 'Create a chart showing sales data' });
    const waiting = expectStatus(await open.post(`/v1/threads/${thread}/runs`,
      { policy: 'enqueue' }), 201);
    expectStatus(await open.post(`/v1/runs/${waiting.id}/cancel`, {}), 200);
    expectStatus(await open.post(`${path}/messages`, { append_history: CHART.slice(2) }), 200);
    await finish(open, run);
    assert.deepEqual((await entry(open, thread, 1)).messages, [], 'it never began');
    const made = await entry(open, thread, 2);
    assert.deepEqual(made.messages, CHART);
    assert.equal(made.final_response, 'I\'ve created a chart...', 'the last that was said');
    const after = expectStatus(await open.get(path), 200);
    assert.deepEqual([after.conversation_history, after.messages, after.version],
      [[], CHART.slice(-1), 3]);
  });
});

test('the context of a thread', async (t) => {
  const { open } = await startServer(t);
  const pair = (i) => [
    { role: 'user', content: `question ${i}` }, { role: 'assistant', content: `answer ${i}` }];

  await t.test('holds the last runs, oldest first', async () => {
    const thread = await newThread(open);
    await talk(open, await newThread(open), 'of another thread', 'not shown');
    assert.deepEqual(await contextOf(open, thread), { messages: [], runs_used: 0,
      runs_available: 0, estimated_tokens: 0, truncated: false });
    for (let i = 1; i <= 3; i++) await talk(open, thread, `question ${i}`, `answer ${i}`);
    const failed = await start(open, thread, { user_input: 'bad' });
    await finish(open, failed, { status: 'failed' });
    await talk(open, thread, 'ignored', 'ignored',
      [{ role: 'system', content: 'secret' }, ...CHART]);
    const expected = [...pair(2), ...pair(3), ...CHART];
    assert.deepEqual(await contextOf(open, thread, 'history_runs=3'), { messages: expected,
      runs_used: 3, runs_available: 4, estimated_tokens: tokens(expected), truncated: false });
    const all = await contextOf(open, thread);
    assert.deepEqual(all.messages, [...pair(1), ...expected]);
    assert.equal(all.runs_used, 4);
  });

  await t.test('stays within the budget: whole runs go first, the oldest of them', async () => {
    const thread = await newThread(open);
    for (let i = 1; i <= 3; i++) await talk(open, thread, `question ${i}`, `answer ${i}`);
    const budget = tokens([...pair(2), ...pair(3)]);
    const two = await contextOf(open, thread, `max_tokens=${budget}`);
    assert.deepEqual([two.messages, two.runs_used, two.estimated_tokens, two.truncated],
      [[...pair(2), ...pair(3)], 2, budget, true]);
    const one = await contextOf(open, thread, `max_tokens=${budget - 1}`);
    assert.deepEqual([one.messages, one.runs_used, one.truncated], [pair(3), 1, true]);
    const all = await contextOf(open, thread, `max_tokens=${tokens([1, 2, 3].flatMap(pair))}`);
    assert.deepEqual([all.runs_used, all.truncated], [3, false]);
  });

  await t.test('cuts a run that is too large, and never a tool from its result', async () => {
    const thread = await newThread(open);
    await talk(open, thread, 'q', 'a', CHART);
    const cutAt = async (messages, ...budgets) => {
      for (const budget of budgets) {
        const { messages: given, estimated_tokens: used, truncated } =
          await contextOf(open, thread, `max_tokens=${budget}`);
        assert.deepEqual(given, messages, `${budget}`);
        assert.equal(used, tokens(messages));
        assert.equal(truncated, true);
      }
    };
    await cutAt([], 1, tokens(CHART.slice(4)) - 1);
    await cutAt(CHART.slice(4), tokens(CHART.slice(4)), tokens(CHART.slice(3)),
      tokens(CHART.slice(2)) - 1);
    await cutAt(CHART.slice(2), tokens(CHART.slice(2)));
    await cutAt(CHART.slice(1), tokens(CHART) - 1);
    const calls = [
      { role: 'assistant', tool_calls: [{ id: 'a', type: 'function' }, { id: 'b' }] },
      { role: 'tool', tool_call_id: 'b', content: '1' },
      { role: 'tool', tool_call_id: 'a', content: '2' },
      { role: 'assistant', content: 'Both are there.' },
    ];
    await talk(open, thread, 'q', 'a', [{ role: 'user', content: 'x'.repeat(400) }, ...calls]);
    await cutAt(calls, tokens(calls), tokens(calls) + 10);
    await cutAt(calls.slice(3), tokens(calls) - 1, tokens(calls.slice(3)));
  });

  await t.test('begins with what the system says, when asked to', async () => {
    const thread = await newThread(open);
    await talk(open, thread, 'question 1', 'answer 1');
    assert.deepEqual((await contextOf(open, thread, 'include_system=true')).messages, pair(1));
    expectStatus(await open.put(`/v1/threads/${thread}/resumption`,
      { system_prompt: 'You help.', model: 'm' }, NEW), 201);
    const system = { role: 'system', content: 'You help.' };
    const whole = await contextOf(open, thread, 'include_system=true');
    assert.deepEqual(whole.messages, [system, ...pair(1)]);
    assert.equal(whole.estimated_tokens, tokens([system, ...pair(1)]));
    const tight = await contextOf(open, thread,
      `include_system=true&max_tokens=${tokens([system, pair(1)[1]])}`);
    assert.deepEqual([tight.messages, tight.truncated], [[system, pair(1)[1]], true]);
  });

  await t.test('refuses what makes no sense', async () => {
    const thread = await newThread(open);
    const path = `/v1/threads/${thread}/context`;
    for (const [query, place] of [['history_runs=0', 'history_runs'],
      ['history_runs=101', 'history_runs'], ['max_tokens=0', 'max_tokens'],
      ['max_tokens=1000001', 'max_tokens'], ['include_system=maybe', 'include_system']])
      expectFault(await open.get(`${path}?${query}`), 422, 'invalid_input', place, /./);
    expectProblem(await open.get(`/v1/threads/${uuid()}/context`), 404, 'not_found');
  });
});

test('what a run is told to have used after its end is in its entry', async (t) => {
  const { open } = await startServer(t);
  const thread = await newThread(open);
  const run = await start(open, thread);
  await finish(open, run);
  expectStatus(await open.post(`/v1/runs/${run.id}/steps`,
    { action_type: 'api_response_received', step_number: 3, usage: { input_tokens: 7 } }), 201);
  const told = { input_tokens: 0, output_tokens: 2 };
  expectStatus(await open.post(`/v1/runs/${run.id}/usage`, told), 201);
  const { usage, total_steps: steps, version } = await entry(open, thread, 1);
  assert.deepEqual([usage.input_tokens, usage.output_tokens, steps, version], [7, 2, 3, 3]);
});

test('the settings of an agent or a team say how many runs are in a context', async (t) => {
  const { open: client } = await startServer(t);
  for (const kind of ['agent', 'team'])
    await t.test(kind, async () => {
      const config = { add_history_to_context: true, num_history_runs: 2 };
      const agent = expectStatus(await client.post('/v1/agents',
        { name: `remembers ${kind}`, kind, memory_config: config }), 201);
      const active = async () =>
        expectStatus(await client.get(`/v1/agents/${agent.id}/versions/active`), 200);
      const stored = (await active()).memory_config;
      assert.deepEqual([stored.add_history_to_context, stored.num_history_runs], [true, 2]);
      const thread = await newThread(client);
      const speak = async () => finish(client, await start(client, thread,
        { agent_id: agent.id, user_input: 'a' }), { status: 'completed', final_output: 'b' });
      for (let i = 0; i < 3; i++) await speak();
      const { runs_used: used, runs_available: available, truncated } =
        await contextOf(client, thread);
      assert.deepEqual([used, available, truncated], [2, 3, false]);
      assert.equal((await contextOf(client, thread, 'history_runs=3')).runs_used, 3);
      // The version of the newest run counts, not the active one.
      const change = async (memory) => expectStatus(await client.post(
        `/v1/agents/${agent.id}/versions`,
        { bump: 'patch', activate: true, memory_config: memory }), 201);
      await change({ add_history_to_context: false });
      assert.equal((await contextOf(client, thread)).runs_used, 2);
      await speak();
      const none = await contextOf(client, thread);
      assert.deepEqual([none.messages, none.runs_used, none.runs_available, none.truncated],
        [[], 0, 4, false]);
      assert.equal((await contextOf(client, thread, 'history_runs=1')).runs_used, 1);
      await change({ add_history_to_context: null, num_history_runs: null });
      assert.equal('num_history_runs' in (await active()).memory_config, false);
      for (let i = 0; i < 2; i++) await speak();
      assert.equal((await contextOf(client, thread)).runs_used, 5);
      for (const [memory, member] of [[{ num_history_runs: 0 }, 'num_history_runs'],
        [{ num_history_runs: 101 }, 'num_history_runs'],
        [{ add_history_to_context: 1 }, 'add_history_to_context']])
        expectFault(await client.post('/v1/agents', { name: 'x', memory_config: memory }), 422,
          'invalid_input', `/memory_config/${member}`);
    });
});
