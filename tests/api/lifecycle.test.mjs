// SPDX-License-Identifier: Apache-2.0
// The steps that Cairn writes itself: one when a run starts to run, one when it ends, however that
// happens, in the transaction of the change.
import assert from 'node:assert/strict';
import test from 'node:test';
import { claim, eventually, expectFault, expectStatus, readAll, startServer, token, twoTenants }
  from './lib/server.mjs';

const get = async (client, path) => expectStatus(await client.get(path), 200);
const newThread = async (client) => expectStatus(await client.post('/v1/threads', {}), 201).id;
const start = async (client, body = {}, thread = undefined) => expectStatus(
  await client.post(`/v1/threads/${thread ?? await newThread(client)}/runs`,
    { dispatch: 'direct', ...body }), 201);
const patch = async (client, run, body, options) =>
  expectStatus(await client.patch(`/v1/runs/${run.id}`, body, options), 200);
const append = async (client, run, body, options) =>
  expectStatus(await client.post(`/v1/runs/${run.id}/steps`, body, options), 201);
const steps = async (client, run) => (await get(client, `/v1/runs/${run.id}/steps`)).data;
const own = async (client, run) => (await steps(client, run)).filter((s) => s.lifecycle);
/** Type, and what an end says about itself. */
const told = async (client, run) => (await own(client, run)).map((s) =>
  s.action_type === 'run_started' ? 'run_started'
    : [s.action_type, s.action_data.status, s.action_data.reason ?? null]);
const inMs = (ms) => new Date(Date.now() + ms).toISOString();

test('a run logs its start and its end', async (t) => {
  const { open } = await startServer(t);
  const run = await start(open, { model: 'm', user_input: 'go' });
  assert.equal(run.step_count, 1);
  await append(open, run, { steps: [{ action_type: 'tool_execution', step_number: 1 },
    { action_type: 'api_response_received', step_number: 2,
      usage: { input_tokens: 7, output_tokens: 3 } }] });
  const done = await patch(open, run, { status: 'completed', stop_reason: 'end_turn',
    content: 'gone', generated_files: [{ file_id: 'f', filename: 'a.png' }] });
  assert.equal(done.step_count, 4);
  const [first, , , last, ...others] = await steps(open, run);
  assert.deepEqual(others, []);
  assert.deepEqual([first.number, first.action_type, first.step_number, first.outcome,
    first.lifecycle, first.timestamp], [1, 'run_started', 0, null, true, done.started_at]);
  assert.deepEqual(first.action_data, { dispatch: 'direct', model: 'm', user_message: 'go' });
  assert.deepEqual([last.number, last.action_type, last.step_number, last.outcome, last.lifecycle],
    [4, 'run_completed', 2, 'success', true]);
  assert.deepEqual(last.action_data, { status: 'completed', stop_reason: 'end_turn',
    total_steps: 2, total_input_tokens: 7, total_output_tokens: 3, final_response: 'gone',
    files_generated: 1 });
  assert.ok(last.timestamp >= done.finished_at);
  const ms = Date.parse(done.finished_at) - Date.parse(done.started_at);
  assert.ok(Math.abs(last.duration_ms - ms) <= 1, `${last.duration_ms} of ${ms} ms`);
});

test('messages are in the log of a run, unless they are long', async (t) => {
  const { open } = await startServer(t);
  const long = 'x'.repeat(16 * 1024);
  for (const [text, shown] of [[long, long], [`${long}x`, undefined], ['', undefined]])
    for (const dispatch of ['direct', 'queue']) {
      const run = await start(open, { user_input: text, dispatch });
      const options = dispatch === 'queue'
        ? token(await claim(open, { thread_id: run.thread_id })) : undefined;
      await patch(open, run, { status: 'completed', final_output: { text } }, options);
      const [first, last] = await own(open, run);
      assert.deepEqual([first.action_data.user_message, last.action_data.final_response],
        [shown, shown]);
      assert.equal(last.action_data.files_generated, 0);
    }
});

test('an engine that logs the start and the end itself', async (t) => {
  const { open } = await startServer(t);
  const without = { lifecycle_steps: false };
  const run = await start(open, { ...without, user_input: 'go' });
  assert.equal(run.step_count, 0);
  await append(open, run, { steps: [{ action_type: 'run_started', step_number: 0 },
    { action_type: 'run_completed', step_number: 1 }] });
  const path = `/v1/runs/${run.id}`;
  expectFault(await open.patch(path, without), 422, 'invalid_input', '/lifecycle_steps',
    /only in the call that ends/);
  await patch(open, run, { status: 'completed', ...without });
  assert.deepEqual((await steps(open, run)).map((s) => [s.number, s.action_type, s.lifecycle]),
    [[1, 'run_started', false], [2, 'run_completed', false]]);
  assert.equal((await get(open, `/v1/threads/${run.thread_id}/history/1`)).total_steps, 1);
  const recorded = await start(open, { ...without, status: 'failed' });
  assert.deepEqual(await steps(open, recorded), []);
  const half = await start(open, without);
  await patch(open, half, { status: 'failed', lifecycle_steps: true });
  assert.deepEqual(await told(open, half), [['error', 'failed', null]]);
  // A start in another call would be logged.
  const busy = await start(open);
  for (const body of [{ dispatch: 'queue' }, { dispatch: 'direct', policy: 'enqueue' }])
    expectFault(await open.post(`/v1/threads/${busy.thread_id}/runs`,
      { policy: 'interrupt', ...without, ...body }), 422, 'invalid_input', '/lifecycle_steps',
    /dispatch direct/);
  assert.equal((await get(open, `/v1/runs/${busy.id}`)).status, 'running');
});

test('every way to start and to end leaves one step each', async (t) => {
  const { open } = await startServer(t);
  const failing = { code: 'boom', message: 'it broke' };

  await t.test('a patch that fails or cancels', async () => {
    const failed = await start(open);
    await patch(open, failed, { status: 'failed', error: failing });
    assert.deepEqual(await told(open, failed), ['run_started', ['error', 'failed', null]]);
    assert.deepEqual((await own(open, failed))[1].action_data.error, failing);
    assert.equal((await own(open, failed))[1].outcome, 'error');
    const cancelled = await start(open);
    await patch(open, cancelled, { status: 'cancelled', error: failing });
    assert.deepEqual(await told(open, cancelled),
      ['run_started', ['run_cancelled', 'cancelled', null]]);
    const end = (await own(open, cancelled))[1];
    assert.deepEqual([end.outcome, end.action_data.error], [null, undefined]);
  });

  await t.test('claim, release, and claim again: one start', async () => {
    const run = await start(open, { dispatch: 'queue', max_attempts: 2, agent: 'w1' });
    assert.deepEqual(await told(open, run), []);
    const worker = await claim(open, { worker: 'ant', agent: 'w1' });
    assert.deepEqual((await own(open, run)).map((s) => s.action_data),
      [{ dispatch: 'queue', agent: 'w1', worker: 'ant' }]);
    const release = (claimed, body) =>
      open.post(`/v1/runs/${run.id}/release`, body, token(claimed));
    expectStatus(await release(worker, { error: failing }), 200);
    assert.deepEqual(await told(open, run), ['run_started']);
    expectStatus(await release(await claim(open, { agent: 'w1' }), { error: failing }), 200);
    assert.deepEqual(await told(open, run),
      ['run_started', ['error', 'failed', 'attempts_exhausted']]);
    assert.deepEqual((await own(open, run))[1].action_data.error.last_error, failing);
  });

  await t.test('the sweep: a deadline, and a lease that was lost for the last time', async () => {
    const late = await start(open, { deadline: inMs(2000) });
    const unstarted = await start(open, { dispatch: 'queue', agent: 'none', deadline: inMs(2000) });
    const lost = await start(open, { dispatch: 'queue', agent: 'w2', max_attempts: 1 });
    await claim(open, { agent: 'w2', lease_ms: 1000 });
    await eventually(async () => {
      const all = await Promise.all([late, unstarted, lost]
        .map((run) => get(open, `/v1/runs/${run.id}`)));
      return all.every((run) => run.status === 'failed');
    });
    assert.deepEqual(await told(open, late),
      ['run_started', ['error', 'failed', 'deadline_exceeded']]);
    assert.deepEqual(await told(open, unstarted), [['error', 'failed', 'deadline_exceeded']]);
    assert.equal((await own(open, unstarted))[0].duration_ms, null);
    assert.deepEqual(await told(open, lost),
      ['run_started', ['error', 'failed', 'attempts_exhausted']]);
  });

  await t.test('a recorded run has both, with distinct times', async () => {
    const run = await start(open, { status: 'completed', content: 'done' });
    assert.deepEqual(await told(open, run), ['run_started', ['run_completed', 'completed', null]]);
    const [first, last] = await own(open, run);
    assert.ok(first.timestamp < last.timestamp);
    assert.deepEqual([run.step_count, last.action_data.total_steps], [2, 0]);
  });

  await t.test('a run that is reported later has its own times', async () => {
    const times = { started_at: '2025-11-25T10:00:00.000001Z',
      finished_at: '2025-11-25T10:02:30.500001Z' };
    const run = await start(open);
    await append(open, run, { action_type: 'acme.think', timestamp: '2025-11-25T10:01:00Z' });
    await patch(open, run, { status: 'completed', ...times });
    const recorded = await start(open, { status: 'failed', ...times });
    for (const { id } of [run, recorded]) {
      const [first, last] = await own(open, { id });
      assert.deepEqual([first.timestamp, last.timestamp, last.duration_ms],
        [times.started_at, times.finished_at, 150_500]);
    }
  });

  await t.test('the start has the reported time, also if the engine logs the end', async () => {
    const started_at = '2025-11-25T10:00:00.000001Z';
    const run = await start(open);
    await append(open, run, { action_type: 'run_completed', timestamp: '2025-11-25T10:01:00Z' });
    await patch(open, run, { status: 'completed', started_at, lifecycle_steps: false });
    assert.deepEqual((await steps(open, run)).map((s) => [s.action_type, s.timestamp, s.lifecycle]),
      [['run_started', started_at, true],
        ['run_completed', '2025-11-25T10:01:00.000000Z', false]]);
  });

  await t.test('cancel, a child with its parent, an interrupted run, a thread', async () => {
    const run = await start(open);
    const child = await start(open, { parent_run_id: run.id }, run.thread_id);
    const waiting = await start(open, { parent_run_id: run.id, dispatch: 'queue', agent: 'none' },
      run.thread_id);
    expectStatus(await open.post(`/v1/runs/${run.id}/cancel`, { reason: 'enough' }), 200);
    assert.deepEqual(await told(open, run),
      ['run_started', ['run_cancelled', 'cancelled', 'enough']]);
    assert.deepEqual(await told(open, child),
      ['run_started', ['run_cancelled', 'cancelled', 'parent_finished']]);
    assert.deepEqual(await told(open, waiting),
      [['run_cancelled', 'cancelled', 'parent_finished']]);
    const first = await start(open, {}, run.thread_id);
    const second = await start(open, { policy: 'interrupt' }, run.thread_id);
    assert.deepEqual((await told(open, first))[1], ['run_cancelled', 'cancelled', 'interrupted']);
    expectStatus(await open.post(`/v1/threads/${run.thread_id}/cancel`, {}), 200);
    assert.deepEqual((await told(open, second))[1][0], 'run_cancelled');
  });

  await t.test('input and resume start nothing; a queued direct run starts in turn', async () => {
    const run = await start(open);
    const next = await start(open, { policy: 'enqueue' }, run.thread_id);
    assert.deepEqual(await told(open, next), []);
    await patch(open, run, { status: 'waiting_for_input' });
    expectStatus(await open.post(`/v1/runs/${run.id}/input`, { input: 'yes' }), 200);
    expectStatus(await open.post(`/v1/runs/${run.id}/pause`), 200);
    expectStatus(await open.post(`/v1/runs/${run.id}/resume`), 200);
    await patch(open, run, { status: 'completed' });
    assert.deepEqual(await told(open, run), ['run_started', ['run_completed', 'completed', null]]);
    assert.deepEqual(await told(open, next), ['run_started']);
  });

  await t.test('a phase, and a retry', async () => {
    const run = await start(open);
    expectStatus(await open.post(`/v1/runs/${run.id}/phase`,
      { to: 'failed', detail: { code: 'no_model' } }), 200);
    assert.deepEqual(await told(open, run), ['run_started', ['error', 'failed', 'phase']]);
    assert.deepEqual((await own(open, run))[1].action_data.error, { code: 'no_model' });
    // Without a detail the trigger is the code, unless the engine has reported an error before.
    for (const [reported, trigger, error] of [[null, undefined, { code: 'error' }],
      [null, 'init_error', { code: 'init_error' }],
      [{ code: 'no_model' }, 'init_error', { code: 'no_model' }]]) {
      const other = await start(open);
      expectStatus(await open.post(`/v1/runs/${other.id}/phase`, { to: 'initializing' }), 200);
      await patch(open, other, { error: reported });
      const failed = expectStatus(
        await open.post(`/v1/runs/${other.id}/phase`, { to: 'failed', trigger }), 200);
      assert.deepEqual(failed.error, error);
      assert.deepEqual((await own(open, other))[1].action_data.error, error);
    }
    const again = expectStatus(await open.post(`/v1/runs/${run.id}/retry`, {}), 201);
    assert.deepEqual(await told(open, again), ['run_started']);
  });

  await t.test('the façade of workflows', async () => {
    const { workflow_id, run_id } = expectStatus(
      await open.post('/workflow/start', { user_input: 'hi' }), 201);
    assert.deepEqual(await told(open, { id: run_id }), ['run_started']);
    expectStatus(await open.post(`/v1/threads/${workflow_id}/cancel`, {}), 200);
    assert.equal((await told(open, { id: run_id })).length, 2);
  });
});

test('steps of Cairn', async (t) => {
  const { alice, bob } = await twoTenants(await startServer(t));

  await t.test('cannot be written by a client', async () => {
    const run = await start(alice);
    const forged = { action_type: 'run_completed', lifecycle: true };
    expectFault(await alice.post(`/v1/runs/${run.id}/steps`, forged), 422, 'invalid_input',
      '/lifecycle');
    await append(alice, run, { action_type: 'run_completed' });
    assert.deepEqual((await steps(alice, run)).map((s) => s.lifecycle), [true, false]);
  });

  await t.test('change no count of the engine, and no event', async () => {
    const run = await start(alice);
    await append(alice, run, { steps: [{ action_type: 'acme.think' },
      { action_type: 'acme.think' }] });
    const done = await patch(alice, run, { status: 'completed' });
    assert.deepEqual([done.usage.llm_calls, done.usage.input_tokens], [0, 0]);
    const [entry] = (await get(alice, `/v1/threads/${run.thread_id}/history`)).data;
    assert.equal(entry.total_steps, 2);
    // A late step counts; the end that Cairn has logged does not.
    await append(alice, run, { action_type: 'acme.think' });
    assert.equal((await get(alice, `/v1/threads/${run.thread_id}/history/1`)).total_steps, 3);
    for (const calls of ['llm-calls', 'tool-calls'])
      assert.deepEqual((await get(alice, `/v1/runs/${run.id}/${calls}`)).data, []);
    const appended = (await readAll(alice, `/v1/threads/${run.thread_id}/events`))
      .filter((e) => e.kind === 'steps.appended').map((e) => [e.payload.first, e.payload.last]);
    assert.deepEqual(appended, [[2, 3], [5, 5]]);
    const summary = await get(alice, `/v1/steps/summary?run_id=${run.id}`);
    assert.deepEqual(summary.types.map((s) => [s.action_type, s.count]),
      [['acme.think', 3], ['run_completed', 1], ['run_started', 1]]);
  });

  await t.test('are found by a search for errors, in the tenant of the run only', async () => {
    const failed = await start(alice);
    const other = await start(bob);
    for (const [client, run] of [[alice, failed], [bob, other]])
      await patch(client, run, { status: 'failed', error: { code: 'x' } });
    for (const [client, run] of [[alice, failed], [bob, other]])
      for (const query of ['action_type=error', 'outcome=error'])
        assert.deepEqual((await get(client, `/v1/steps?${query}`)).data.map((s) => s.run_id),
          [run.id]);
  });

  await t.test('an end that is refused leaves no step', async () => {
    const run = await start(alice);
    expectStatus(await alice.patch(`/v1/runs/${run.id}`, { status: 'completed', append: true }),
      422);
    assert.deepEqual(await told(alice, run), ['run_started']);
  });
});
