// SPDX-License-Identifier: Apache-2.0
// Steps: what an engine logs of a run: appended one by one and in batches, read by run, by type, by
// time and across runs; calls of models and tools; the chart run line by line.
import assert from 'node:assert/strict';
import test from 'node:test';
import { newCli } from './lib/cli.mjs';
import {
  expectFault, expectProblem, expectSound, expectStatus, startServer, twoTenants, uuid,
} from './lib/server.mjs';

// Until a run starts, its log has no steps of Cairn (lifecycle.test.mjs).
const newRun = async (client, body = {}) => {
  const thread = expectStatus(await client.post('/v1/threads', {}), 201).id;
  return expectStatus(await client.post(`/v1/threads/${thread}/runs`, body), 201);
};
const append = async (client, run, body) =>
  expectStatus(await client.post(`/v1/runs/${run}/steps`, body), 201);
const refuse = async (client, run, body, pointer, rule) =>
  expectFault(
    await client.post(`/v1/runs/${run}/steps`, body), 422, 'invalid_input', pointer, rule);
const list = async (client, run, query = '') =>
  expectStatus(await client.get(`/v1/runs/${run}/steps?${query}`), 200);
const read = async (client, run, number) =>
  expectStatus(await client.get(`/v1/runs/${run}/steps/${number}`), 200);
const across = async (client, query) => expectStatus(await client.get(`/v1/steps?${query}`), 200);
const numbers = (page) => page.data.map((s) => s.number);
const moment = (text) => new Date(text).getTime();

/** Every page of a list, until the last; how many there were. */
async function pages(client, path) {
  const data = [];
  let more = '';
  let count = 0;
  do {
    const page = expectStatus(await client.get(`${path}${more}`), 200);
    data.push(...page.data);
    assert.equal(page.has_more, page.next_cursor !== null);
    more = page.has_more ? `&cursor=${page.next_cursor}` : '';
    count++;
  } while (more);
  return { data, count };
}

const TYPES = [
  'run_started', 'run_completed', 'run_failed', 'run_cancelled', 'max_steps_reached',
  'memory_retrieval', 'memory_update', 'memory_before_compact', 'memory_after_compact',
  'compaction',
  'context_transformation', 'api_call_started', 'api_response_received', 'api_retry', 'api_error',
  'tool_execution', 'tool_error', 'final_answer_validation', 'final_answer_validation_failed',
  'file_generated', 'file_downloaded', 'file_stored', 'file_error', 'final_summary_generation',
  'streaming_chunk', 'error',
];

/** A run that makes a chart, as its log has it. */
const chart = (run) => [
  {
    log_id: 1, timestamp: '2025-11-25T10:00:00.000Z', step_number: 0, action_type: 'run_started',
    action_data: {
      user_message: 'Create a chart showing sales data', queue_present: true, formatter: 'xml',
    },
  },
  {
    log_id: 2, timestamp: '2025-11-25T10:00:00.125Z', step_number: 0,
    action_type: 'memory_retrieval',
    action_data: { memories_found: 3, memories_injected: 2, memory_store_type: 'placeholder' },
    messages_count: 3, estimated_tokens: 450, duration_ms: 125,
  },
  {
    log_id: 3, timestamp: '2025-11-25T10:00:00.250Z', step_number: 1, action_type: 'compaction',
    action_data: {
      compaction_applied: false, reason: 'below_threshold', current_tokens: 450, threshold: 100000,
    },
    messages_count: 3, estimated_tokens: 450, duration_ms: 5,
  },
  {
    log_id: 4, timestamp: '2025-11-25T10:00:00.300Z', step_number: 1,
    action_type: 'api_call_started',
    action_data: {
      model: 'claude-sonnet-4-5', max_tokens: 2048, thinking_tokens: 0, tools_count: 5,
      messages_sent: [{ role: 'user', content: 'Create a chart showing sales data' }],
    },
    messages_snapshot: [
      { role: 'user', content: 'Who are you?' },
      { role: 'assistant', content: 'I draw charts.' },
      { role: 'user', content: 'Create a chart showing sales data' },
    ],
    messages_count: 3, estimated_tokens: 450,
  },
  {
    log_id: 5, timestamp: '2025-11-25T10:00:02.145Z', step_number: 1,
    action_type: 'api_response_received',
    action_data: {
      stop_reason: 'tool_use', usage: { input_tokens: 450, output_tokens: 120 },
      content: [
        { type: 'text', text: "I'll create that chart..." },
        {
          type: 'tool_use', id: 'toolu_123', name: 'bash_code_execution',
          input: { command: 'python chart.py' },
        },
      ],
    },
    duration_ms: 1845,
  },
  {
    log_id: 6, timestamp: '2025-11-25T10:00:02.200Z', step_number: 1,
    action_type: 'tool_execution',
    action_data: {
      tool_name: 'bash_code_execution', tool_use_id: 'toolu_123',
      input: { command: 'python chart.py' },
      result: {
        stdout: 'saved', stderr: '', return_code: 0,
        files: [{ file_id: 'file_abc123', filename: 'chart.png' }],
      },
      execution_time_ms: 850,
    },
    duration_ms: 850,
  },
  {
    log_id: 7, timestamp: '2025-11-25T10:00:02.205Z', step_number: 1,
    action_type: 'context_transformation',
    action_data: {
      transformation_type: 'tool_result_added', messages_before_count: 4, messages_after_count: 5,
      tokens_before: 570, tokens_after: 620,
    },
    messages_count: 5, estimated_tokens: 620,
  },
  {
    log_id: 25, timestamp: '2025-11-25T10:02:30.500Z', step_number: 3,
    action_type: 'run_completed',
    action_data: {
      stop_reason: 'end_turn', total_steps: 3,
      final_response: "I've created a chart showing your sales data...",
      total_input_tokens: 1500, total_output_tokens: 800, files_generated: 1,
    },
    duration_ms: 150500,
  },
].map((line) => ({ agent_uuid: run.thread_id, run_id: run.id, ...line }));

test('steps of runs', async (t) => {
  const server = await startServer(t);
  const { open } = server;

  await t.test('the chart run is appended line by line and read back equal', async () => {
    const run = await newRun(open);
    const lines = chart(run);
    for (const line of lines) await append(open, run.id, line);
    const { data } = await list(open, run.id, 'include=messages');
    assert.deepEqual(data.map((s) => s.number), [1, 2, 3, 4, 5, 6, 7, 8]);
    for (const [i, line] of lines.entries()) {
      const { log_id: unused, agent_uuid: agent, timestamp, ...said } = line;
      assert.equal(data[i].thread_id, agent);
      assert.equal(moment(data[i].timestamp), moment(timestamp));
      for (const [member, value] of Object.entries(said))
        assert.deepEqual(data[i][member], value, `${member} of line ${i + 1}`);
      for (const member of ['messages_count', 'estimated_tokens', 'duration_ms'])
        if (!(member in said)) assert.equal(data[i][member], null);
    }
    // Debugging one run: its log in the order of time, and one line of it whole.
    assert.deepEqual(data.map((s) => moment(s.timestamp)), lines.map((l) => moment(l.timestamp)));
    assert.deepEqual(await read(open, run.id, 4), data[3]);
    assert.deepEqual((await read(open, run.id, 4)).messages_snapshot, lines[3].messages_snapshot);
    // Fields that are taken from the lines.
    assert.equal(data[3].model, 'claude-sonnet-4-5');
    assert.equal(data[4].model, 'claude-sonnet-4-5', 'of the call that it answers');
    assert.deepEqual(data[4].usage, { input_tokens: 450, output_tokens: 120 });
    assert.equal(data[5].tool_name, 'bash_code_execution');
    assert.equal(data[5].tool_use_id, 'toolu_123');
    assert.deepEqual(data.map((s) => s.outcome),
      [null, null, null, null, 'success', 'success', null, 'success']);
    const after = expectStatus(await open.get(`/v1/runs/${run.id}`), 200);
    assert.equal(after.usage.input_tokens, 450);
    assert.equal(after.usage.output_tokens, 120);
  });

  await t.test('the calls of the chart run have the columns of calls', async () => {
    const run = await newRun(open);
    await append(open, run.id, { steps: chart(run) });
    const llm = expectStatus(await open.get(`/v1/runs/${run.id}/llm-calls?include=messages`), 200);
    assert.equal(llm.data.length, 1);
    const { id, response, created_at: at, ...call } = llm.data[0];
    assert.ok(id > 0);
    assert.deepEqual(response, chart(run)[4].action_data);
    assert.equal(moment(at), moment(chart(run)[4].timestamp));
    assert.deepEqual(call, {
      number: 5, turn_id: null, step_number: 1, status: 'success', latency_ms: 1845,
      model: 'claude-sonnet-4-5', provider: call.provider,
      messages: chart(run)[3].messages_snapshot,
      stop_reason: 'tool_use', tokens_in: 450, tokens_out: 120, cache_creation_input_tokens: null,
      cache_read_input_tokens: null, cost_usd: call.cost_usd, price_version: call.price_version,
    });
    const plain = expectStatus(await open.get(`/v1/runs/${run.id}/llm-calls`), 200);
    assert.ok(!('messages' in plain.data[0]), 'only when they are asked for');
    const tools = expectStatus(await open.get(`/v1/runs/${run.id}/tool-calls`), 200);
    assert.equal(tools.data.length, 1);
    const { id: unused, created_at: when, ...tool } = tools.data[0];
    assert.equal(moment(when), moment(chart(run)[5].timestamp));
    assert.deepEqual(tool, {
      number: 6, turn_id: null, step_number: 1, status: 'success', latency_ms: 850,
      tool_name: 'bash_code_execution', tool_use_id: 'toolu_123',
      input: { command: 'python chart.py' }, output: chart(run)[5].action_data.result,
      awaited: false, side: null, deadline: null,
    });
    // Each of two calls has its own messages; a call whose start was not logged has none.
    const sent = [{ role: 'user', content: 'Again' }];
    await append(open, run.id, { steps: [
      { action_type: 'api_call_started', action_data: { model: 'm', messages_sent: sent } },
      { action_type: 'api_error', action_data: { error: 'overloaded' } },
      { action_type: 'api_response_received', model: 'm2' },
    ] });
    const more = expectStatus(await open.get(`/v1/runs/${run.id}/llm-calls?include=messages`), 200);
    assert.deepEqual(more.data.map((c) => [c.status, c.model, c.messages?.length]),
      [['success', 'claude-sonnet-4-5', 3], ['error', 'm', 1], ['success', 'm2', undefined]]);
  });

  await t.test('every type of the taxonomy and those of applications are taken', async () => {
    const run = await newRun(open);
    const types = [...TYPES, 'acme.vote', 'acme.tools.warm-up_2'];
    const made = await append(open, run.id,
      { steps: types.map((type) => ({ action_type: type })) });
    assert.equal(made.count, types.length);
    assert.equal(made.first, 1);
    assert.equal(made.last, types.length);
    assert.deepEqual(made.steps.map((s) => s.number), types.map((_, i) => i + 1));
    const { data } = await list(open, run.id, 'limit=100');
    assert.deepEqual(data.map((s) => s.action_type), types);
    assert.deepEqual(data.map((s) => s.log_id), made.steps.map((s) => s.log_id));
    for (const step of data) assert.deepEqual(step.action_data, {});
    assert.deepEqual(
      data.filter((s) => s.outcome === 'error').map((s) => s.action_type),
      ['run_failed', 'api_error', 'tool_error', 'final_answer_validation_failed', 'file_error',
        'error']);
    for (const type of ['dance', 'Tool_execution', '', 'tool.x', 'cairn.x', 'a..b', 'progress',
      `acme.${'x'.repeat(64)}`])
      await refuse(open, run.id, { action_type: type }, '/action_type', /must/);
    assert.equal((await list(open, run.id, 'limit=100')).data.length, types.length);
  });

  await t.test('one bad step of a batch is named, and nothing is appended', async () => {
    const run = await newRun(open);
    const good = { action_type: 'run_started' };
    const bad = [
      [{}, '/action_type', /is required/],
      [{ ...good, colour: 'red' }, '/colour', /not a member/],
      [{ ...good, step_number: -1 }, '/step_number', /at least 0/],
      [{ ...good, timestamp: '2999-01-01T00:00:00Z' }, '/timestamp', /at most a day/],
      [{ ...good, timestamp: 'yesterday' }, '/timestamp', /must/],
      [{ ...good, action_data: [] }, '/action_data', /object/],
      [{ ...good, action_data: { x: 'x'.repeat(262144) } }, '/action_data', /262144 bytes/],
      [{ ...good, messages_snapshot: {} }, '/messages_snapshot', /array/],
      [{ ...good, messages_snapshot: [{}, 'Hello'] }, '/messages_snapshot/1', /object/],
      [{ ...good, messages_count: -1 }, '/messages_count', /at least 0/],
      [{ ...good, duration_ms: 1.5 }, '/duration_ms', /whole|integer/],
      [{ ...good, turn_id: uuid() }, '/turn_id', /a turn of this run/],
      [{ ...good, tool_name: '' }, '/tool_name', /at least 1/],
      [{ ...good, outcome: 'maybe' }, '/outcome', /success/],
      [{ ...good, usage: { input_tokens: -1 } }, '/usage/input_tokens', /at least 0/],
      [{ ...good, run_id: uuid() }, '/run_id', /the run in the path/],
      [{ ...good, agent_uuid: uuid() }, '/agent_uuid', /thread or the agent/],
      [{ action_type: 'api_response_received', action_data: { usage: { output_tokens: 'many' } } },
        '/action_data/usage/output_tokens', /an integer/],
    ];
    for (const [step, pointer, rule] of bad) {
      await refuse(open, run.id, step, pointer, rule);
      await refuse(open, run.id, { steps: [good, step] }, `/steps/1${pointer}`, rule);
    }
    await refuse(open, run.id, { steps: [] }, '/steps', /1|1000/);
    await refuse(open, run.id, { steps: Array(1001).fill(good) }, '/steps', /1|1000/);
    await refuse(open, run.id, { ...good, steps: [good] }, '/steps', /must be the only member/);
    assert.deepEqual((await list(open, run.id)).data, []);
    assert.equal((await append(open, run.id, good)).number, 1, 'no number was taken');
  });

  await t.test('data of any JSON come back as they were sent', async () => {
    const run = await newRun(open);
    const odd = {
      'a\tkey': 'a\u0001b', 'nothing': null, 'deep': [[{ 'x': [] }]], '': '\u{1f600}"\\',
      'numbers': [0, -1.5, 1e300, 12345678901234567890n.toString()],
    };
    const step = { action_type: 'tool_execution', action_data: odd, messages_snapshot: [odd] };
    await append(open, run.id, step);
    await append(open, run.id, { steps: [step, step] });
    for (const number of [1, 2, 3]) {
      const whole = await read(open, run.id, number);
      assert.deepEqual(whole.action_data, odd);
      assert.deepEqual(whole.messages_snapshot, [odd]);
    }
  });

  await t.test('numbers have no gaps when many append at once, and one event tells of each batch',
    async () => {
      const run = await newRun(open);
      const batches = await Promise.all(Array.from({ length: 12 }, (_, i) =>
        append(open, run.id, {
          steps: Array.from({ length: i % 3 + 1 }, () => ({ action_type: 'acme.tick' })),
        })));
      const all = batches.flatMap((b) => b.steps.map((s) => s.number)).sort((a, b) => a - b);
      assert.deepEqual(all, all.map((_, i) => i + 1));
      const { data } = expectStatus(
        await open.get(`/v1/threads/${run.thread_id}/events?kind=steps.appended`), 200);
      assert.deepEqual(
        data.map((e) => e.payload).sort((a, b) => a.first - b.first),
        batches.map((b) => ({ run_id: run.id, first: b.first, last: b.last }))
          .sort((a, b) => a.first - b.first));
      for (const event of data) assert.equal(event.run_id, run.id);
    });

  await t.test('a step sent twice under one key is appended once', async () => {
    const run = await newRun(open);
    const once = { headers: { 'Idempotency-Key': uuid() } };
    const body = { steps: [{ action_type: 'run_started' }, { action_type: 'compaction' }] };
    const first = expectStatus(await open.post(`/v1/runs/${run.id}/steps`, body, once), 201);
    const again = expectStatus(await open.post(`/v1/runs/${run.id}/steps`, body, once), 201);
    assert.deepEqual(again, first);
    assert.equal((await list(open, run.id)).data.length, 2);
  });

  await t.test('who lost the lease appends nothing; a finished run takes late steps', async () => {
    const run = await newRun(open, {});
    const claimed = expectStatus(
      await open.post('/v1/runs/claim', { worker: 'w', thread_id: run.thread_id }), 200);
    const fenced = (fence) => ({ headers: { 'Cairn-Fencing-Token': String(fence) } });
    const step = { action_type: 'run_started' };
    const stale = await open.post(`/v1/runs/${run.id}/steps`, step, fenced(claimed.fence + 1));
    assert.equal(stale.status, 409);
    expectStatus(await open.post(`/v1/runs/${run.id}/steps`, step, fenced(claimed.fence)), 201);
    expectStatus(await open.patch(`/v1/runs/${run.id}`, { status: 'completed' },
      { type: 'application/merge-patch+json', ...fenced(claimed.fence) }), 200);
    // Steps 1 and 3 are those of Cairn.
    assert.equal((await append(open, run.id, { action_type: 'run_completed' })).number, 4);
    expectProblem(await open.post(`/v1/runs/${uuid()}/steps`, step), 404, 'not_found');
  });

  await t.test('a run is read by type, by iteration and by time, page by page', async () => {
    const run = await newRun(open);
    const at = (i) => new Date(1764000000000 + i * 1000).toISOString();
    await append(open, run.id, {
      steps: Array.from({ length: 30 }, (_, i) => ({
        action_type: i % 3 === 0 ? 'tool_execution' : 'acme.think',
        step_number: Math.floor(i / 10), timestamp: at(i), action_data: { i },
      })),
    });
    const path = `/v1/runs/${run.id}/steps?limit=7`;
    const { data, count } = await pages(open, path);
    assert.deepEqual(data.map((s) => s.action_data.i), Array.from({ length: 30 }, (_, i) => i));
    assert.equal(count, 5);
    const tools = await pages(open, `${path}&action_type=tool_execution`);
    assert.deepEqual(tools.data.map((s) => s.number), [1, 4, 7, 10, 13, 16, 19, 22, 25, 28]);
    assert.deepEqual(numbers(await list(open, run.id, 'step_number=1')),
      [11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    assert.deepEqual(numbers(await list(open, run.id, `from=${at(3)}&to=${at(6)}`)), [4, 5, 6]);
    const from = `from=${at(3)}`;
    assert.deepEqual(numbers(await list(open, run.id, `action_type=acme.think&${from}&limit=2`)),
      [5, 6]);
    for (const [query, parameter] of [['action_type=dance', 'action_type'],
      ['step_number=-1', 'step_number'], ['from=now', 'from'], ['include=all', 'include']])
      expectFault(await open.get(`/v1/runs/${run.id}/steps?${query}`), 422, 'invalid_input',
        parameter, /must/);
    expectProblem(await open.get(`/v1/runs/${run.id}/steps?cursor=x`), 400, 'invalid_cursor');
    expectProblem(await open.get(`/v1/runs/${run.id}/steps/31`), 404, 'not_found');
    expectProblem(await open.get(`/v1/runs/${uuid()}/steps`), 404, 'not_found');
  });

  await t.test('steps are found across runs, newest first, by one filter or several', async () => {
    const [one, two] = [await newRun(open), await newRun(open)];
    const tag = uuid().slice(0, 8);
    const at = (i) => new Date(1600000000000 + i * 1000).toISOString();
    const [tool, model, type] = [`tool-${tag}`, `model-${tag}`, `t${tag}.seen`];
    await append(open, one.id, { steps: [
      { action_type: type, timestamp: at(1) },
      { action_type: type, timestamp: at(3), outcome: 'error' },
      { action_type: 'tool_execution', timestamp: at(4), tool_name: tool },
      { action_type: 'tool_execution', timestamp: at(5), tool_name: tool,
        action_data: { success: false } },
      { action_type: 'api_response_received', timestamp: at(6), model },
    ] });
    await append(open, two.id, { steps: [
      { action_type: type, timestamp: at(2) },
      { action_type: 'tool_error', timestamp: at(7), action_data: { tool_name: tool } },
      { action_type: 'error', timestamp: at(2), action_data: { message: 'lost' } },
    ] });
    const seen = async (query) => (await across(open, query)).data
      .map((s) => `${s.run_id === one.id ? 'one' : 'two'} ${s.number}`);
    assert.deepEqual(await seen(`action_type=${type}`), ['one 2', 'two 1', 'one 1']);
    assert.deepEqual(await seen(`tool_name=${tool}`), ['two 2', 'one 4', 'one 3']);
    assert.deepEqual(await seen(`tool_name=${tool}&outcome=error`), ['two 2', 'one 4']);
    assert.deepEqual(await seen(`tool_name=${tool}&outcome=success`), ['one 3']);
    assert.deepEqual(await seen(`model=${model}`), ['one 5']);
    assert.deepEqual(await seen(`thread_id=${two.thread_id}`), ['two 2', 'two 3', 'two 1']);
    assert.deepEqual(await seen(`thread_id=${two.thread_id}&action_type=error`), ['two 3']);
    assert.deepEqual(await seen(`agent_id=${uuid()}`), []);
    assert.deepEqual(await seen(`outcome=error&from=${at(0)}&to=${at(9)}`),
      ['two 2', 'one 4', 'one 2', 'two 3']);
    assert.deepEqual(await seen(`from=${at(5)}&to=${at(7)}`), ['one 5', 'one 4']);
    assert.deepEqual(await seen(`action_type=error&to=${at(3)}&limit=1`), ['two 3']);
    const paged = await pages(open, `/v1/steps?from=${at(0)}&to=${at(9)}&limit=3`);
    assert.equal(paged.count, 3);
    assert.deepEqual(paged.data.map((s) => moment(s.timestamp)),
      [7, 6, 5, 4, 3, 2, 2, 1].map((i) => moment(at(i))));
    const twins = paged.data.filter((s) => s.timestamp === paged.data[5].timestamp);
    assert.ok(twins[0].log_id > twins[1].log_id);
    for (const [query, parameter] of [['outcome=maybe', 'outcome'], ['agent_id=me', 'agent_id'],
      ['action_type=dance', 'action_type']])
      expectFault(await open.get(`/v1/steps?${query}`), 422, 'invalid_input', parameter, /must/);
    expectProblem(await open.get('/v1/steps?cursor=5'), 400, 'invalid_cursor');
  });

  await t.test('a step has the agent of its run, and is found by it', async () => {
    const agent = expectStatus(await open.post('/v1/agents', { name: `a ${uuid()}` }), 201).id;
    const run = await newRun(open, { agent_id: agent });
    await append(open, run.id, { action_type: 'run_started', agent_uuid: agent });
    await append(open, run.id, { action_type: 'error' });
    const page = await across(open, `agent_id=${agent}`);
    assert.deepEqual(page.data.map((s) => [s.agent_id, s.number]), [[agent, 2], [agent, 1]]);
    assert.deepEqual(numbers(await across(open, `agent_id=${agent}&outcome=error`)), [2]);
  });

  await t.test('a step of a turn counts for it', async () => {
    const [run, other] = [await newRun(open), await newRun(open)];
    const turn = expectStatus(await open.post(`/v1/runs/${run.id}/turns`,
      { input: { message: 'hello' } }), 201);
    await append(open, run.id, { action_type: 'api_response_received', turn_id: turn.turn_id,
      usage: { input_tokens: 10, output_tokens: 5 } });
    assert.equal((await read(open, run.id, 1)).turn_id, turn.turn_id);
    const calls = expectStatus(await open.get(`/v1/runs/${run.id}/llm-calls`), 200);
    assert.equal(calls.data[0].turn_id, turn.turn_id);
    const after = expectStatus(await open.get(`/v1/runs/${run.id}/turns/${turn.turn_id}`), 200);
    assert.deepEqual([after.usage.tokens_in, after.usage.tokens_out], [10, 5]);
    await refuse(open, other.id, { action_type: 'error', turn_id: turn.turn_id }, '/turn_id',
      /a turn of this run/);
  });

  await t.test('a growing list of messages is kept for what is new in it', async () => {
    const run = await newRun(open);
    const messages = [];
    for (let i = 0; i < 20; i++) {
      messages.push({ role: i % 2 ? 'assistant' : 'user', content: `${i} ${'x'.repeat(2000)}` });
      await append(open, run.id,
        { action_type: 'api_call_started', messages_snapshot: messages });
    }
    for (const number of [1, 7, 20]) {
      const step = await read(open, run.id, number);
      assert.deepEqual(step.messages_snapshot, messages.slice(0, number));
      assert.equal(step.messages_count, number);
    }
    const { data } = await list(open, run.id);
    assert.ok(data.every((s) => !('messages_snapshot' in s)), 'only when they are asked for');
    const [[bytes]] = await server.sql('SELECT sum(length(bytes)) FROM items');
    assert.ok(Number(bytes) < 80_000, `${bytes} bytes for 20 messages of 2,000`);
    // A list that was compacted is whole again.
    await append(open, run.id, { action_type: 'compaction', messages_snapshot: [] });
    assert.deepEqual((await read(open, run.id, 21)).messages_snapshot, []);
  });

  await t.test('a run and a thread are summed up by type', async () => {
    const run = await newRun(open);
    await append(open, run.id, { steps: [
      { action_type: 'tool_execution', duration_ms: 90_000 },
      { action_type: 'tool_execution', duration_ms: 30_000, outcome: 'error' },
      { action_type: 'run_completed' },
    ] });
    for (const query of [`run_id=${run.id}`, `thread_id=${run.thread_id}`]) {
      const sum = expectStatus(await open.get(`/v1/steps/summary?${query}`), 200);
      assert.equal(sum.count, 3);
      assert.equal(sum.errors, 1);
      assert.equal(sum.duration_ms, 120_000);
      assert.deepEqual(sum.types.map((s) => [s.action_type, s.count, s.errors, s.duration_ms]),
        [['run_completed', 1, 0, 0], ['tool_execution', 2, 1, 120_000]]);
    }
    expectFault(await open.get('/v1/steps/summary'), 422, 'invalid_input', 'run_id',
      /exactly one of/);
    expectProblem(await open.get(`/v1/steps/summary?run_id=${uuid()}`), 404, 'not_found');
  });

  await t.test('of too many types the first are listed, and all are counted', async () => {
    const run = await newRun(open);
    const steps = Array.from({ length: 1000 },
      (_, i) => ({ action_type: `my.type${i}`, duration_ms: 1000 }));
    const types = async () =>
      expectStatus(await open.get(`/v1/steps/summary?run_id=${run.id}`), 200);
    await append(open, run.id, { steps });
    assert.equal((await types()).more_types, false);
    await append(open, run.id, { action_type: 'run_failed', duration_ms: 5 });
    const sum = await types();
    assert.deepEqual([sum.types.length, sum.more_types], [1000, true]);
    assert.deepEqual([sum.count, sum.errors, sum.duration_ms], [1001, 1, 1_000_005]);
  });

  await t.test('steps go with their thread, and a log_id is never given twice', async () => {
    const run = await newRun(open);
    const { log_id: last } = await append(open, run.id, { action_type: 'run_started' });
    expectStatus(await open.del(`/v1/threads/${run.thread_id}`), 204);
    expectProblem(await open.get(`/v1/runs/${run.id}/steps`), 404, 'not_found');
    await server.restart();
    const next = await newRun(open);
    const { log_id: later } = await append(open, next.id, { action_type: 'run_started' });
    assert.ok(later > last, `${later} after ${last}`);
    assert.ok((await across(open, 'limit=200')).data.every((s) => s.run_id !== run.id));
  });

  await expectSound(server);
});

test('steps on the command line', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const run = await newRun(server.open);
  const one = await cli.json('step', 'append', run.id, '--type', 'tool_execution', '--data',
    '{"tool_name":"bash"}', '--step', '1', '--duration-ms', '5');
  assert.equal(one.number, 1);
  const lines = Array.from({ length: 1500 },
    (_, i) => JSON.stringify({ action_type: 'acme.tick', step_number: i }));
  const log = cli.with({ input: `${lines.join('\n')}\n\n` });
  assert.deepEqual(await log.json('step', 'append', run.id, '-'),
    { count: 1500, first: 2, last: 1501 });
  const broken = cli.with({ input: '{"action_type":"error"}\n[]\n' });
  await broken.refused(1, /line 2 must be a JSON object .* the 1 steps before it/,
    'step', 'append', run.id, '-');
  const wrong = cli.with({ input: '{"action_type":"error"}\n{"action_type":"dance"}\n' });
  await wrong.refused(1, /steps\/1\/action_type[^]*lines 1 to 2 were not appended/,
    'step', 'append', run.id, '-');
  await cli.refused(2, /--type and FILE exclude/, 'step', 'append', run.id, '-', '--type', 'error');
  await cli.refused(1, /cannot be read/, 'step', 'append', run.id, '/nowhere/log.jsonl');
  assert.equal((await cli.json('step', 'get', run.id, '1')).tool_name, 'bash');
  const errors = await cli.jsonl('step', 'list', '--type', 'error', '--jsonl');
  assert.deepEqual(errors.map((s) => s.number), [1502]);
  const rows = await cli.rows('step', 'list', run.id, '--type', 'tool_execution');
  assert.deepEqual(rows.map((cells) => cells[1]), ['1']);
});

test('steps of another tenant are not there', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const run = await newRun(alice);
  await append(alice, run.id, { action_type: 'error', action_data: { secret: 1 } });
  assert.deepEqual((await across(bob, 'action_type=error')).data, []);
  assert.equal((await across(alice, 'action_type=error')).data.length, 1);
  expectProblem(await bob.get(`/v1/runs/${run.id}/steps`), 404, 'not_found');
  expectProblem(await bob.get(`/v1/steps/summary?thread_id=${run.thread_id}`), 404, 'not_found');
});

test('steps without a timestamp have distinct times in the order of their numbers', async (t) => {
  const { open } = await startServer(t);
  const run = await newRun(open);
  const batch = (n, more = {}) =>
    append(open, run.id, { steps: Array(n).fill({ action_type: 'tool_execution', ...more }) });
  await batch(1000);
  await batch(1000);
  await append(open, run.id, { action_type: 'error' });
  const { data } = await pages(open, `/v1/runs/${run.id}/steps?limit=200`);
  assert.equal(data.length, 2001);
  for (let i = 1; i < data.length; i++)
    assert.ok(data[i - 1].timestamp < data[i].timestamp, `${i}: ${data[i].timestamp}`);

  // A time that the engine reports stays as it is, even far ahead of the steps after it.
  const ahead = new Date(Date.now() + 3600 * 1000).toISOString();
  const past = '2025-11-25T10:00:00.000000Z';
  await append(open, run.id, { steps: [{ action_type: 'error', timestamp: past },
    { action_type: 'error', timestamp: ahead }, { action_type: 'error' }] });
  const last = (await pages(open, `/v1/runs/${run.id}/steps?limit=200`)).data.slice(2001);
  assert.equal(last[0].timestamp, past);
  assert.ok(moment(last[1].timestamp) > moment(last[2].timestamp));
});

test('steps of one batch that were sent with one time get distinct times', async (t) => {
  const { open } = await startServer(t);
  const run = await newRun(open);
  const at = (us) => `2025-11-25T10:00:00.${String(us).padStart(6, '0')}Z`;
  const log = async (...times) => {
    const { data: old } = await pages(open, `/v1/runs/${run.id}/steps?limit=200`);
    await append(open, run.id,
      { steps: times.map((us) => ({ action_type: 'error', timestamp: at(us) })) });
    const { data } = await pages(open, `/v1/runs/${run.id}/steps?limit=200`);
    return data.slice(old.length).map((s) => s.timestamp);
  };
  for (const [sent, stored] of [
    [[5, 5], [5, 6]],
    [[5, 5, 5, 5], [5, 6, 7, 8]],
    [[5, 5, 6, 6, 9], [5, 6, 7, 8, 9]], // a raised time takes the place of the next one
    [[5, 4, 5, 5], [5, 4, 5, 6]], // a step never moves to another place in time
    [[5, 5, 4, 4], [5, 6, 4, 5]],
    [[7, 9], [7, 9]],
  ])
    assert.deepEqual(await log(...sent), stored.map(at), sent.join());
  assert.deepEqual(await log(5), [at(5)], 'another batch');
});
