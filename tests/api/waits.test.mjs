// SPDX-License-Identifier: Apache-2.0
// Runs that wait for tools: for those of a turn or of a list, until their results or a deadline.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  claim, eventually, expectFault, expectProblem, expectSound, expectStatus, readAll, startServer,
  token, twoTenants,
} from './lib/server.mjs';

const begin = async (client, body = { dispatch: 'direct' }) => {
  const thread = expectStatus(await client.post('/v1/threads', {}), 201);
  return expectStatus(await client.post(`/v1/threads/${thread.id}/runs`, body), 201);
};
const readRun = async (client, run) => expectStatus(await client.get(`/v1/runs/${run.id}`), 200);
const toolsOf = async (client, run) =>
  expectStatus(await client.get(`/v1/runs/${run.id}/tools`), 200).data;
const phasesOf = async (client, run) =>
  expectStatus(await client.get(`/v1/runs/${run.id}/phases`), 200)
    .data.map((p) => `${p.from} ${p.to} ${p.trigger}`);
const turnsOf = async (client, run) =>
  expectStatus(await client.get(`/v1/runs/${run.id}/turns`), 200).data.map((x) => x.status);
const eventsOf = (client, run) => readAll(client, `/v1/threads/${run.thread_id}/events`);
const give = async (client, run, ...results) =>
  expectStatus(await client.post(`/v1/runs/${run.id}/tool-results`, { results }), 200);
const move = async (client, run, ...phases) => {
  for (const to of phases)
    expectStatus(await client.post(`/v1/runs/${run.id}/phase`, { to }), 200);
};
const post = (client, run, body, more) =>
  client.post(`/v1/runs/${run.id}/turns`, { input: { message: 'go' }, ...body }, more);
const inMs = (ms) => new Date(Date.now() + ms).toISOString();
const call = (id, more = {}) => ({ id, name: 'search', input: { q: id }, ...more });
const result = (id) => ({ tool_use_id: id, content: `of ${id}` });
const waitsFor = (...calls) =>
  ({ output: { message: 'Let me look.', tool_calls: calls, status: 'awaiting_tool' } });

test('a turn that ends awaiting tools makes the run wait, and results end the wait', async (t) => {
  const { open: client } = await startServer(t);
  const run = await begin(client);
  const turn = expectStatus(await post(client, run, {}), 201);
  const path = `/v1/runs/${run.id}/turns/${turn.turn_id}`;
  const ended = expectStatus(await client.patch(path, waitsFor(
    call('t1', { side: 'frontend' }),
    { id: 't2', type: 'function', function: { name: 'fetch', arguments: '{"n":7}' } })), 200);
  assert.deepEqual([ended.status, ended.finished_at], ['awaiting_tool', null]);
  const waiting = await readRun(client, run);
  assert.deepEqual([waiting.status, waiting.phase, waiting.tool_deadline],
    ['waiting_for_input', 'awaiting_tool', null]);
  assert.deepEqual((await toolsOf(client, run)).map((x) =>
    [x.tool_use_id, x.name, x.input, x.side, x.pause, x.turn_id, x.deadline]), [
    ['t1', 'search', { q: 't1' }, 'frontend', 1, turn.turn_id, null],
    ['t2', 'fetch', { n: 7 }, 'backend', 1, turn.turn_id, null]]);
  assert.deepEqual([(await give(client, run, result('t2'))).remaining, await turnsOf(client, run)],
    [1, ['awaiting_tool']]);
  const done = await give(client, run, result('t1'));
  assert.deepEqual([done.resumed, done.status, done.phase], [true, 'running', 'executing']);
  assert.deepEqual(await turnsOf(client, run), ['complete']);
  assert.deepEqual(await phasesOf(client, run),
    ['created awaiting_tool tool_call', 'awaiting_tool executing tool_result']);
  const told = await eventsOf(client, run);
  assert.deepEqual(told.filter((e) => /^(turn|tool|run)\./.test(e.kind)).map((e) => e.kind), [
    'turn.created', 'turn.updated', 'tool.awaited', 'run.phase', 'tool.result', 'tool.result',
    'turn.updated', 'run.phase']);
  expectStatus(await client.patch(`/v1/runs/${run.id}`, { status: 'completed' }), 200);
});

test('the next turn brings the results', async (t) => {
  const { open: client } = await startServer(t);
  const run = await begin(client);
  expectStatus(await post(client, run, waitsFor(call('a'), call('b'))), 201);
  const bring = (...ids) => ({ tool_results: ids.map(result) });
  const some = await post(client, run, { input: bring('a', 'elsewhere'), output: {} });
  assert.equal(expectStatus(some, 201).status, 'complete');
  assert.equal((await readRun(client, run)).status, 'waiting_for_input');
  const rest = await post(client, run, { input: bring('b', 'a'), ...waitsFor(call('c')) });
  assert.equal(expectStatus(rest, 201).number, 3);
  assert.deepEqual(await turnsOf(client, run), ['complete', 'complete', 'awaiting_tool']);
  const waiting = await readRun(client, run);
  assert.deepEqual([waiting.status, waiting.phase], ['waiting_for_input', 'awaiting_tool']);
  assert.deepEqual(waiting.input.tool_results.map((r) => [r.tool_use_id, r.content]),
    [['a', 'of a'], ['b', 'of b']]);
  expectStatus(await post(client, run,
    { input: { tool_results: [{ tool_use_id: 'c', is_error: true }] }, output: {} }), 201);
  assert.deepEqual((await toolsOf(client, run)).map((x) => [x.tool_use_id, x.pause, x.content,
    x.is_error]), [['a', 1, 'of a', false], ['b', 1, 'of b', false], ['c', 2, null, true]]);
  assert.deepEqual([(await readRun(client, run)).status, await turnsOf(client, run)],
    ['running', ['complete', 'complete', 'complete', 'complete']]);
});

test('the phase of the run decides whether a turn may wait', async (t) => {
  const { open: client } = await startServer(t);
  const run = await begin(client);
  await move(client, run, 'initializing', 'planning');
  const before = await eventsOf(client, run);
  const refused = expectProblem(
    await post(client, run, waitsFor(call('a'))), 409, 'transition_refused');
  assert.deepEqual(refused.allowed, ['executing', 'awaiting_human', 'failed']);
  assert.deepEqual([await eventsOf(client, run), await toolsOf(client, run)], [before, []]);
  await move(client, run, 'executing');
  expectStatus(await post(client, run, waitsFor(call('a'))), 201);
  await give(client, run, result('a'));
  assert.deepEqual((await phasesOf(client, run)).slice(-2),
    ['executing awaiting_tool tool_call', 'awaiting_tool executing tool_result']);
});

test('phase, tools and turn may name the same wait in any order', async (t) => {
  const { open: client } = await startServer(t);
  const run = await begin(client);
  await move(client, run, 'initializing', 'planning', 'executing', 'awaiting_tool');
  expectStatus(await post(client, run, waitsFor(call('a'))), 201);
  expectProblem(await post(client, run, waitsFor(call('b'))), 409, 'conflict');
  await give(client, run, result('a'));
  const turn = expectStatus(await post(client, run, {}), 201);
  const named = { tool_use_id: 'c', name: 'search', side: 'frontend' };
  expectStatus(await client.post(`/v1/runs/${run.id}/tools`, { tools: [named] }), 200);
  expectStatus(await client.patch(`/v1/runs/${run.id}/turns/${turn.turn_id}`,
    waitsFor(call('c'))), 200);
  assert.deepEqual((await toolsOf(client, run)).map((x) => [x.tool_use_id, x.side, x.pause]),
    [['a', 'backend', 1], ['c', 'frontend', 2]]);
  await give(client, run, result('c'));
  assert.deepEqual([await turnsOf(client, run), (await readRun(client, run)).status],
    [['complete', 'complete'], 'running']);
});

test('a worker ends its turn and its lease, and another worker goes on', async (t) => {
  const { open: client } = await startServer(t);
  const { thread_id: thread } = await begin(client, {});
  const run = await claim(client, { thread_id: thread });
  expectProblem(await post(client, run, waitsFor(call('a'))), 409, 'lease_required');
  expectStatus(await post(client, run, waitsFor(call('a')), token(run)), 201);
  assert.equal((await readRun(client, run)).worker, null);
  assert.equal((await give(client, run, result('a'))).status, 'queued');
  const next = await claim(client, { thread_id: thread });
  const input = { tool_results: next.input.tool_results };
  const turn = await post(client, next, { input, output: { message: 'Done' } }, token(next));
  assert.equal(expectStatus(turn, 201).status, 'complete');
});

test('bad calls are refused with their place, and the turn does not end', async (t) => {
  const { open: client } = await startServer(t);
  const run = await begin(client);
  const turn = expectStatus(await post(client, run, {}), 201);
  const path = `/v1/runs/${run.id}/turns/${turn.turn_id}`;
  const at = '/output/tool_calls';
  const large = 'x'.repeat(256 * 1024);
  for (const [calls, pointer, rule] of [
    ['a', at, /array of at most 256/],
    [Array.from({ length: 257 }, (_, i) => call(`${i}`)), at, /256/],
    [['a'], `${at}/0`, /object/],
    [[{ name: 'a' }], `${at}/0/id`, /given/],
    [[call('a'), call('b c')], `${at}/1/id`, /visible/],
    [[call('a'), call('a')], `${at}/1/id`, /tool_calls\/0/],
    [[{ id: 'a' }], `${at}/0/name`, /given/],
    [[{ id: 'a', function: { name: 7 } }], `${at}/0/function/name`, /string/],
    [[call('a', { name: 'x'.repeat(129) })], `${at}/0/name`, /128/],
    [[call('a', { input: 7 })], `${at}/0/input`, /object/],
    [[{ id: 'a', name: 'b', arguments: '[1]' }], `${at}/0/arguments`, /object/],
    [[call('a', { input: { large } })], `${at}/0/input`, /262144/],
    [[call('a', { side: 'above' })], `${at}/0/side`, /frontend or backend/],
    [[call('a', { deadline: 'soon' })], `${at}/0/deadline`, /RFC 3339/],
    [[call('a', { deadline: inMs(-60_000) })], `${at}/0/deadline`, /future/],
  ])
    expectFault(
      await client.patch(path, { output: { status: 'awaiting_tool', tool_calls: calls } }), 422,
      'invalid_input', pointer, rule);
  assert.deepEqual([(await readRun(client, run)).status, await toolsOf(client, run)],
    ['running', []]);
  assert.deepEqual(await turnsOf(client, run), ['running']);
  const most = Array.from({ length: 256 }, (_, i) => call(`${i}`));
  expectStatus(await client.patch(path, waitsFor(...most)), 200);
  assert.equal((await readRun(client, run)).status, 'waiting_for_input');
  expectStatus(await client.patch(`/v1/runs/${run.id}`, { status: 'running' }), 200);
  expectFault(await post(client, run, waitsFor(call('0'))), 422, 'invalid_input', `${at}/0/id`,
    /before/);
});

test('a run fails when a tool has no result at its deadline', async (t) => {
  const { open: client } = await startServer(t);
  const run = await begin(client);
  await move(client, run, 'initializing', 'planning', 'executing');
  const soon = inMs(1500);
  expectStatus(await post(client, run, waitsFor(
    call('late', { deadline: soon }), call('later', { deadline: inMs(3_600_000) }), call('free'),
  )), 201);
  assert.equal(Date.parse((await readRun(client, run)).tool_deadline), Date.parse(soon));
  await give(client, run, result('free'));
  await eventually(async () => (await readRun(client, run)).status === 'failed');
  const failed = await readRun(client, run);
  const error = { code: 'tool_timeout', message: 'awaited tools had no result at their deadline',
    tool_use_ids: ['late'] };
  assert.deepEqual([failed.phase, failed.error, failed.tool_deadline], ['failed', error, null]);
  const log = expectStatus(await client.get(`/v1/runs/${run.id}/phases`), 200).data.at(-1);
  assert.deepEqual([log.from, log.trigger, log.detail], ['awaiting_tool', 'tool_timeout', error]);
  assert.deepEqual(await turnsOf(client, run), ['failed']);
  const told = (await eventsOf(client, run)).find((e) => e.kind === 'error');
  assert.deepEqual([told.payload.reason, told.payload.error], ['tool_timeout', error]);
  const late = { results: [result('late')] };
  expectProblem(
    await client.post(`/v1/runs/${run.id}/tool-results`, late), 409, 'conflict');
});

test('only a tool that the run still waits for has a deadline', async (t) => {
  const { open: client } = await startServer(t);
  const near = inMs(3_600_000), far = inMs(7_200_000);
  const deadline = async (run) => (await readRun(client, run)).tool_deadline;
  const named = (id, deadline) => ({ tool_use_id: id, name: 'ask', side: 'frontend', deadline });
  const wait = async (run, ...tools) =>
    expectStatus(await client.post(`/v1/runs/${run.id}/tools`, { tools }), 200);
  const same = async (run, time) => assert.equal(Date.parse(await deadline(run)), Date.parse(time));

  const run = await begin(client);
  await wait(run, named('far', far), named('near', near), named('none', null));
  await same(run, near);
  await give(client, run, result('near'));
  await same(run, far);
  expectStatus(await client.post(`/v1/runs/${run.id}/pause`), 200);
  await same(run, far);
  await give(client, run, result('far'));
  assert.equal(await deadline(run), null);
  await give(client, run, result('none'));
  expectStatus(await client.post(`/v1/runs/${run.id}/resume`), 200);

  // The engine continues without the result.
  await wait(run, named('left', inMs(1200)));
  expectStatus(await client.patch(`/v1/runs/${run.id}`, { status: 'running' }), 200);
  assert.equal(await deadline(run), null);
  const other = await begin(client);
  await wait(other, named('late', inMs(1200)));
  await eventually(async () => (await readRun(client, other)).status === 'failed');
  assert.equal((await readRun(client, run)).status, 'running');
  assert.deepEqual(await phasesOf(client, other),
    ['created awaiting_tool tool_call', 'awaiting_tool failed tool_timeout']);
  expectFault(await client.post(`/v1/runs/${run.id}/tools`,
    { tools: [named('past', inMs(-60_000))] }), 422, 'invalid_input', '/tools/0/deadline',
  /future/);
});

test('runs that wait for tools are listed by their phase, for their tenant', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const waiting = [];
  for (const client of [alice, bob, alice, alice]) {
    const run = await begin(client);
    expectStatus(await post(client, run, waitsFor(call('a'))), 201);
    waiting.unshift([client, run.id]);
    await begin(client);
  }
  for (const client of [alice, bob])
    for (const query of ['', '&include=documents']) {
      const { data } = expectStatus(
        await client.get(`/v1/runs?phase=awaiting_tool${query}`), 200);
      assert.deepEqual(data.map((r) => r.id),
        waiting.filter(([owner]) => owner === client).map(([, id]) => id));
    }
});

test('awaited tools are among the tool calls of the run, in order and by turn', async (t) => {
  const { open: client } = await startServer(t);
  const run = await begin(client), other = await begin(client);
  const log = async (...steps) =>
    expectStatus(await client.post(`/v1/runs/${run.id}/steps`, { steps }), 201);
  const step = (id, turn, more = {}) => ({ action_type: 'tool_execution', tool_use_id: id,
    tool_name: 'run', turn_id: turn.turn_id, action_data: { input: {}, result: id }, ...more });
  const calls = async (query = '') =>
    expectStatus(await client.get(`/v1/runs/${run.id}/tool-calls?${query}`), 200);
  const idsOf = ({ data }) => data.map((x) => x.tool_use_id);

  const first = expectStatus(await post(client, run, {}), 201);
  await log(step('s1', first), step('s2', first));
  const path = `/v1/runs/${run.id}/turns/${first.turn_id}`;
  expectStatus(await client.patch(path, waitsFor(call('a'), call('b'))), 200);
  expectStatus(await post(client, other, waitsFor(call('a'), call('x'))), 201);
  const [pending] = (await calls()).data.slice(2);
  assert.deepEqual([pending.id, pending.number, pending.tool_use_id, pending.tool_name,
    pending.status, pending.input, pending.output, pending.awaited, pending.side,
    pending.turn_id, pending.latency_ms],
  [null, null, 'a', 'search', 'pending', { q: 'a' }, null, true, 'backend', first.turn_id, null]);
  await give(client, run, result('a'), { ...result('b'), is_error: true });
  const second = expectStatus(await post(client, run, {}), 201);
  // The engine logs a call that it waited for, too: it is one call.
  await log(step('a', second), step('s3', second));
  expectStatus(await client.patch(`/v1/runs/${run.id}/turns/${second.turn_id}`,
    waitsFor(call('c', { deadline: inMs(3_600_000), side: 'frontend' }))), 200);
  await log(step('s4', second));

  const all = await calls();
  assert.deepEqual(idsOf(all), ['s1', 's2', 'a', 'b', 's3', 'c', 's4']);
  assert.deepEqual(all.data.map((x) => [x.awaited, x.status, x.output, x.side]), [
    [false, 'success', 's1', null], [false, 'success', 's2', null],
    [true, 'success', 'of a', 'backend'], [true, 'error', 'of b', 'backend'],
    [false, 'success', 's3', null], [true, 'pending', null, 'frontend'],
    [false, 'success', 's4', null]]);
  assert.deepEqual(all.data.map((x) => x.deadline !== null),
    [false, false, false, false, false, true, false]);
  assert.ok(all.data[2].latency_ms >= 0);
  for (const limit of [1, 2, 3]) {
    const paged = [];
    for (let cursor = ''; cursor !== null;) {
      const page = await calls(`limit=${limit}${cursor && `&cursor=${cursor}`}`);
      assert.ok(page.data.length <= limit);
      paged.push(...idsOf(page));
      cursor = page.next_cursor;
    }
    assert.deepEqual(paged, idsOf(all), `pages of ${limit}`);
  }
  assert.deepEqual(idsOf(await calls(`turn_id=${first.turn_id}`)), ['s1', 's2', 'a', 'b']);
  assert.deepEqual(idsOf(await calls(`turn_id=${second.turn_id}`)), ['s3', 'c', 's4']);
  const [strange] = expectStatus(await client.get(`/v1/runs/${other.id}/turns`), 200).data;
  assert.deepEqual(idsOf(await calls(`turn_id=${strange.turn_id}`)), []);
  expectProblem(await client.get(`/v1/runs/${run.id}/tool-calls?cursor=eA`), 400, 'invalid_cursor');

  // Calls of models are filtered in the same way.
  await log(...[first, second].map((turn, i) => ({ action_type: 'api_response_received',
    turn_id: turn.turn_id, step_number: i, action_data: { stop_reason: `${i}` } })));
  const models = expectStatus(
    await client.get(`/v1/runs/${run.id}/llm-calls?turn_id=${second.turn_id}`), 200).data;
  assert.deepEqual(models.map((x) => x.stop_reason), ['1']);
});

test('a turn that ends awaiting a person makes the run wait for the answer', async (t) => {
  const { open: client } = await startServer(t);
  const asks = { output: { message: 'Which month?', status: 'awaiting_human' } };
  const stateOf = async (run) => {
    const { status, phase, input } = await readRun(client, run);
    return [status, phase, input ?? null, (await turnsOf(client, run)).join()];
  };

  // Without phases, and with an answer of people.
  const run = await begin(client);
  expectStatus(await client.patch(`/v1/runs/${run.id}`, { state: { step: 1 } }), 200);
  const turn = expectStatus(await post(client, run, {}), 201);
  expectStatus(await client.patch(`/v1/runs/${run.id}/turns/${turn.turn_id}`, asks), 200);
  assert.deepEqual(await stateOf(run), ['waiting_for_input', 'created', null, 'awaiting_human']);
  const told = (await eventsOf(client, run)).findLast((e) => e.kind === 'status');
  assert.deepEqual([told.payload.to, told.payload.reason, told.payload.state],
    ['waiting_for_input', 'human', { step: 1 }]);
  expectStatus(await client.post(`/v1/runs/${run.id}/input`, { input: 'March' }), 200);
  assert.deepEqual(await stateOf(run), ['running', 'created', 'March', 'complete']);

  // With phases, and with an answer in the next turn.
  const planned = await begin(client);
  await move(client, planned, 'initializing', 'planning');
  expectStatus(await post(client, planned, asks), 201);
  assert.deepEqual(await stateOf(planned),
    ['waiting_for_input', 'awaiting_human', null, 'awaiting_human']);
  expectStatus(await client.post(`/v1/runs/${planned.id}/turns`,
    { input: { message: 'In May' }, output: { message: 'So be it.' } }), 201);
  assert.deepEqual(await stateOf(planned), ['running', 'planning', 'In May', 'complete,complete']);
  assert.deepEqual((await phasesOf(client, planned)).slice(2),
    ['planning awaiting_human need_approval', 'awaiting_human planning human_input']);

  // The table has no such change after planning.
  await move(client, planned, 'executing');
  expectStatus(await post(client, planned, asks), 201);
  assert.deepEqual((await stateOf(planned)).slice(0, 2), ['running', 'executing']);
  await move(client, planned, 'reflecting', 'completed');

  // The status of a run that waits for tools, or is paused, stays as it is.
  for (const [verb, body, status] of [['pause', undefined, 'paused'],
    ['phase', { to: 'awaiting_tool' }, 'waiting_for_input']]) {
    const other = await begin(client);
    await move(client, other, 'initializing', 'planning', 'executing');
    expectStatus(await client.post(`/v1/runs/${other.id}/${verb}`, body), 200);
    expectStatus(await post(client, other, asks), 201);
    assert.equal((await readRun(client, other)).status, status);
    expectStatus(await post(client, other, {}), 201);
    assert.equal((await readRun(client, other)).status, status);
  }

  // One of a queue has no lease.
  const queued = await begin(client, {});
  const lease = token(await claim(client, { thread_id: queued.thread_id }));
  expectStatus(await post(client, queued, asks, lease), 201);
  assert.equal((await readRun(client, queued)).worker, null);
  expectStatus(await client.post(`/v1/runs/${queued.id}/input`, { input: 1 }), 200);
  assert.deepEqual(await stateOf(queued), ['queued', 'created', 1, 'complete']);
});

test('a turn that answers a question and asks again leaves a queued run waiting', async (t) => {
  const { open: client } = await startServer(t);
  const asks = (message) => ({ input: { message },
    output: { message: `and ${message}?`, status: 'awaiting_human' } });
  const bring = (id) => ({ input: { tool_results: [result(id)] } });
  const finished = { output: { message: 'Done.' } };
  const stateOf = async (run) => {
    const { status, phase, input, worker } = await readRun(client, run);
    return [status, phase, input ?? null, worker, (await turnsOf(client, run)).join()];
  };
  const claimed = async (...phases) => {
    const { thread_id: thread } = await begin(client, {});
    const run = await claim(client, { thread_id: thread });
    for (const to of phases)
      expectStatus(await client.post(`/v1/runs/${run.id}/phase`, { to }, token(run)), 200);
    expectStatus(await post(client, run, asks('a'), token(run)), 201);
    return run;
  };
  const notClaimed = (run) => client.post('/v1/runs/claim', { worker: 'w',
    thread_id: run.thread_id }).then((answer) => expectStatus(answer, 204));

  for (const [phases, waiting, ready] of [[[], 'created', 'created'],
    [['initializing', 'planning'], 'awaiting_human', 'planning']]) {
    const run = await claimed(...phases);
    expectStatus(await post(client, run, asks('b')), 201);
    assert.deepEqual(await stateOf(run),
      ['waiting_for_input', waiting, 'b', null, 'complete,awaiting_human']);
    await notClaimed(run);
    const told = (await eventsOf(client, run)).findLast((e) => e.kind === 'status');
    assert.deepEqual([told.payload.to, told.payload.reason], ['waiting_for_input', 'human']);
    expectStatus(await post(client, run, { input: { message: 'c' }, ...finished }), 201);
    assert.deepEqual(await stateOf(run),
      ['queued', ready, 'c', null, 'complete,complete,complete']);
    assert.equal((await claim(client, { thread_id: run.thread_id })).id, run.id);
  }

  // A question, tools, other tools, and a question.
  const run = await claimed();
  expectStatus(await post(client, run, { input: { message: 'b' }, ...waitsFor(call('x')) }), 201);
  assert.deepEqual(await stateOf(run),
    ['waiting_for_input', 'awaiting_tool', 'b', null, 'complete,awaiting_tool']);
  expectStatus(await post(client, run, { ...bring('x'), ...waitsFor(call('y')) }), 201);
  assert.deepEqual((await stateOf(run)).slice(0, 2), ['waiting_for_input', 'awaiting_tool']);
  expectStatus(await post(client, run, { ...asks('d'), ...bring('y') }), 201);
  assert.deepEqual((await stateOf(run)).slice(0, 2), ['waiting_for_input', 'executing']);
  await notClaimed(run);
  expectStatus(await client.post(`/v1/runs/${run.id}/input`, { input: 'e' }), 200);
  assert.deepEqual(await stateOf(run), ['queued', 'executing', 'e', null,
    'complete,complete,complete,complete']);

  // These turns await something, but not so that the run waits.
  const alone = await claimed();
  expectStatus(await post(client, alone, waitsFor()), 201);
  assert.deepEqual((await stateOf(alone)).slice(0, 2), ['queued', 'created']);
  const acting = await claim(client, { thread_id: alone.thread_id });
  for (const to of ['initializing', 'planning', 'executing'])
    expectStatus(await client.post(`/v1/runs/${acting.id}/phase`, { to }, token(acting)), 200);
  expectStatus(await post(client, acting, waitsFor(call('z')), token(acting)), 201);
  expectStatus(await post(client, acting, { ...asks('f'), ...bring('z') }), 201);
  assert.deepEqual((await stateOf(acting)).slice(0, 2), ['queued', 'executing']);
});

test('a question that is asked during a pause is open after it', async (t) => {
  const { open: client } = await startServer(t);
  const asks = { output: { message: 'Which month?', status: 'awaiting_human' } };
  const answer = { input: { message: 'May' }, output: { message: 'So be it.' } };
  const verb = async (run, name, body) =>
    expectStatus(await client.post(`/v1/runs/${run.id}/${name}`, body), 200);
  const stateOf = async (run) => {
    const { status, phase, input } = await readRun(client, run);
    return [status, phase, input ?? null, (await turnsOf(client, run)).join()];
  };
  for (const [dispatch, ready] of [['direct', 'running'], ['queue', 'queued']])
    for (const [phases, waiting, works] of [[[], 'created', 'created'],
      [['initializing', 'planning'], 'awaiting_human', 'planning']]) {
      const paused = async () => {
        const run = await begin(client, { dispatch });
        const lease = dispatch === 'queue'
          ? token(await claim(client, { thread_id: run.thread_id })) : undefined;
        for (const to of phases)
          expectStatus(await client.post(`/v1/runs/${run.id}/phase`, { to }, lease), 200);
        await verb(run, 'pause');
        expectStatus(await post(client, run, asks), 201);
        assert.deepEqual(await stateOf(run), ['paused', waiting, null, 'awaiting_human']);
        return run;
      };
      const run = await paused();
      await verb(run, 'resume');
      assert.deepEqual(await stateOf(run), ['waiting_for_input', waiting, null, 'awaiting_human']);
      await verb(run, 'input', { input: 'May' });
      assert.deepEqual(await stateOf(run), [ready, works, 'May', 'complete']);

      // The answer may arrive during the pause, too, and with it another question.
      const answered = await paused();
      expectStatus(await post(client, answered, { ...asks, input: { message: 'Soon' } }), 201);
      assert.deepEqual(await stateOf(answered),
        ['paused', waiting, 'Soon', 'complete,awaiting_human']);
      expectStatus(await post(client, answered, answer), 201);
      assert.deepEqual(await stateOf(answered),
        ['paused', works, 'May', 'complete,complete,complete']);
      await verb(answered, 'resume');
      assert.equal((await readRun(client, answered)).status, ready);
    }

  // A run that has not begun keeps its place.
  const first = await begin(client);
  const next = expectStatus(await client.post(`/v1/threads/${first.thread_id}/runs`,
    { dispatch: 'direct', policy: 'enqueue' }), 201);
  await verb(next, 'pause');
  expectStatus(await post(client, next, asks), 201);
  await verb(next, 'resume');
  assert.equal((await readRun(client, next)).status, 'queued');
});

test('tools that a turn names during a pause are awaited after it', async (t) => {
  const server = await startServer(t);
  const { open: client } = server;
  const verb = async (run, name) =>
    expectStatus(await client.post(`/v1/runs/${run.id}/${name}`), 200);
  const stateOf = async (run) => {
    const { status, phase } = await readRun(client, run);
    return [status, phase, (await turnsOf(client, run)).join()];
  };
  const inPause = async (dispatch = 'direct') => {
    const run = await begin(client, { dispatch });
    if (dispatch === 'queue')
      await claim(client, { thread_id: run.thread_id });
    await verb(run, 'pause');
    return run;
  };
  const asking = async (dispatch, calls = [call('a'), call('b')]) => {
    const run = await inPause(dispatch);
    expectStatus(await post(client, run, waitsFor(...calls)), 201);
    assert.deepEqual(await stateOf(run), ['paused', 'awaiting_tool', 'awaiting_tool']);
    return run;
  };
  for (const [dispatch, ready] of [['direct', 'running'], ['queue', 'queued']]) {
    // The results arrive after the pause, ...
    const after = await asking(dispatch);
    await verb(after, 'resume');
    assert.equal((await readRun(client, after)).status, 'waiting_for_input');
    const done = await give(client, after, result('a'), result('b'));
    assert.deepEqual([done.resumed, ...await stateOf(after)],
      [true, ready, 'executing', 'complete']);

    // ... some of them during the pause, ...
    const partly = await asking(dispatch);
    assert.deepEqual([(await give(client, partly, result('b'))).remaining, await stateOf(partly)],
      [1, ['paused', 'awaiting_tool', 'awaiting_tool']]);
    await verb(partly, 'resume');
    assert.equal((await readRun(client, partly)).status, 'waiting_for_input');
    assert.equal((await give(client, partly, result('a'))).status, ready);

    // ... or all of them, here with a turn that awaits another one.
    const during = await asking(dispatch);
    const input = { tool_results: [result('a'), result('b')] };
    expectStatus(await post(client, during, { input, ...waitsFor(call('c')) }), 201);
    assert.deepEqual(await stateOf(during),
      ['paused', 'awaiting_tool', 'complete,awaiting_tool']);
    const last = await give(client, during, result('c'));
    assert.deepEqual([last.status, ...await stateOf(during)],
      ['paused', 'paused', 'executing', 'complete,complete']);
    await verb(during, 'resume');
    const resumed = await readRun(client, during);
    assert.deepEqual([resumed.status, resumed.input.tool_results.map((r) => r.tool_use_id)],
      [ready, ['c']]);
  }

  // The list of the run and the turn name the same wait; no other can begin during the pause.
  const named = await inPause();
  const tools = (id) => ({ tools: [{ tool_use_id: id, name: 'search', side: 'frontend' }] });
  const waiting = expectStatus(await client.post(`/v1/runs/${named.id}/tools`, tools('a')), 200);
  assert.deepEqual([waiting.status, waiting.phase], ['paused', 'awaiting_tool']);
  expectStatus(await post(client, named, waitsFor(call('a'))), 201);
  expectProblem(await client.post(`/v1/runs/${named.id}/tools`, tools('b')), 409, 'conflict');
  assert.deepEqual((await toolsOf(client, named)).map((x) => x.tool_use_id), ['a']);

  // A deadline holds during the pause, and a paused run can be cancelled.
  const late = await asking('direct', [call('late', { deadline: inMs(1500) }), call('free')]);
  await eventually(async () => (await readRun(client, late)).status === 'failed');
  assert.deepEqual((await readRun(client, late)).error.tool_use_ids, ['late']);
  assert.deepEqual(await stateOf(late), ['failed', 'failed', 'failed']);
  const cancelled = await asking();
  await verb(cancelled, 'cancel');
  assert.deepEqual(await stateOf(cancelled), ['cancelled', 'cancelled', 'cancelled']);
  expectProblem(await client.post(`/v1/runs/${cancelled.id}/tool-results`,
    { results: [result('a')] }), 409, 'conflict');

  // A run that has not begun has no tools to wait for.
  const first = await begin(client);
  const next = expectStatus(await client.post(`/v1/threads/${first.thread_id}/runs`,
    { dispatch: 'direct', policy: 'enqueue' }), 201);
  await verb(next, 'pause');
  expectProblem(await post(client, next, waitsFor(call('a'))), 409, 'transition_refused');
  assert.deepEqual(await stateOf(next), ['paused', 'created', '']);
  await expectSound(server);
});

test('a tool call without a result ends with its run, also in the SQL view', async (t) => {
  const server = await startServer(t);
  const { open: client } = server;
  const statuses = async (run) => {
    const calls = expectStatus(await client.get(`/v1/runs/${run.id}/tool-calls`), 200).data;
    const shown = server.rows(
      `SELECT tool_use_id, status FROM tool_call WHERE run_id = '${run.id}'`);
    const byId = new Map(shown.map((row) => [row.tool_use_id, row.status]));
    assert.deepEqual(calls.map((x) => byId.get(x.tool_use_id)), calls.map((x) => x.status));
    return calls.map((x) => x.status);
  };
  const waiting = async (...calls) => {
    const run = await begin(client);
    await move(client, run, 'initializing', 'planning', 'executing');
    expectStatus(await post(client, run, waitsFor(...calls)), 201);
    return run;
  };
  const late = await waiting(call('late', { deadline: inMs(1500) }), call('ok'),
    call('later', { deadline: inMs(3_600_000) }), call('free'));
  await give(client, late, result('ok'));
  assert.deepEqual(await statuses(late), ['pending', 'success', 'pending', 'pending']);

  const left = await waiting(call('a'));
  await move(client, left, 'executing');
  assert.deepEqual(await statuses(left), ['pending'], 'its result may still arrive');
  await move(client, left, 'reflecting', 'completed');
  assert.deepEqual(await statuses(left), ['cancelled']);
  const stopped = await waiting(call('a'), call('b'));
  await give(client, stopped, { ...result('b'), is_error: true });
  expectStatus(await client.post(`/v1/runs/${stopped.id}/cancel`), 200);
  assert.deepEqual(await statuses(stopped), ['cancelled', 'error']);
  for (const [body, status] of [[{ to: 'failed' }, 'error'],
    [{ to: 'failed', trigger: 'tool_timeout' }, 'timeout'],
    [{ to: 'failed', trigger: 'tool_timeout', detail: { code: 'lost' } }, 'error']]) {
    const run = await waiting(call('a'));
    expectStatus(await client.post(`/v1/runs/${run.id}/phase`, body), 200);
    assert.deepEqual(await statuses(run), [status], JSON.stringify(body));
  }
  for (const [error, status] of [[{ code: 'tool_timeout' }, 'timeout'],
    [{ code: 'tool_timeout', tool_use_ids: ['b'] }, 'error'], [{ code: 5 }, 'error'],
    [{ code: ['tool_timeout'] }, 'error'], [{}, 'error'], [null, 'error']]) {
    const run = await begin(client); // its tools have no turn
    expectStatus(await client.post(`/v1/runs/${run.id}/tools`,
      { tools: [{ tool_use_id: 'a', name: 'ask', side: 'frontend' }] }), 200);
    expectStatus(await client.patch(`/v1/runs/${run.id}`, { status: 'failed', error }), 200);
    assert.deepEqual(await statuses(run), [status], JSON.stringify(error));
  }
  await eventually(async () => (await readRun(client, late)).status === 'failed');
  assert.deepEqual(await statuses(late), ['timeout', 'success', 'error', 'error']);
});

test('an archive has the deadlines and the turn of awaited tools', async (t) => {
  const { open: client } = await startServer(t);
  const run = await begin(client);
  expectStatus(await post(client, run,
    waitsFor(call('a', { deadline: inMs(3_600_000) }), call('b'))), 201);
  const tar = await client.get(`/v1/threads/${run.thread_id}/export`);
  assert.equal(tar.status, 200, tar.text);
  const report = expectStatus(await client.post('/v1/imports?ids=remap', undefined,
    { raw: await tar.bytes, type: 'application/x-tar' }), 201);
  const to = report.objects.find((o) => o.type === 'thread').to;
  const [copy] = expectStatus(await client.get(`/v1/threads/${to}/runs`), 200).data;
  const was = await readRun(client, run);
  assert.deepEqual([copy.phase, copy.tool_deadline], ['awaiting_tool', was.tool_deadline]);
  const [turn] = expectStatus(await client.get(`/v1/runs/${copy.id}/turns`), 200).data;
  assert.notEqual(turn.run_id, run.id);
  assert.deepEqual(await toolsOf(client, copy),
    (await toolsOf(client, run)).map((x) => ({ ...x, turn_id: turn.turn_id })));
  await give(client, copy, result('a'), result('b'));
  assert.deepEqual([await turnsOf(client, copy), await turnsOf(client, run)],
    [['complete'], ['awaiting_tool']]);
});
