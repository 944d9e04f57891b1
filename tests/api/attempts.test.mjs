// SPDX-License-Identifier: Apache-2.0
// How often and when workers work on a run: attempts, backoff, deadlines, priorities, retries.
import assert from 'node:assert/strict';
import test from 'node:test';
import { claim, ENGINE, eventually, expectFault, expectProblem, expectStatus, startServer, token,
  twoTenants } from './lib/server.mjs';

const start = async (client, body = {}, thread = undefined) => {
  const { id } = thread ?? expectStatus(await client.post('/v1/threads'), 201);
  return expectStatus(await client.post(`/v1/threads/${id}/runs`, body), 201);
};
const read = async (client, id) => expectStatus(await client.get(`/v1/runs/${id}`), 200);
const attempts = async (client, id) =>
  expectStatus(await client.get(`/v1/runs/${id}/attempts`), 200).data;
const nothing = async (client, body = {}) =>
  expectStatus(await client.post('/v1/runs/claim', { worker: 'w', ...body }), 204);
const release = async (client, run, error) => expectStatus(
  await client.post(`/v1/runs/${run.id}/release`, error && { error }, token(run)), 200);
const inMs = (ms) => new Date(Date.now() + ms).toISOString();
const outcomes = async (client, id) => (await attempts(client, id)).map((a) => a.outcome);

test('a new run has no attempt, no backoff and priority 0', async (t) => {
  const { open: client } = await startServer(t);
  const run = await start(client);
  assert.deepEqual(
    [run.priority, run.max_attempts, run.backoff, run.deadline, run.not_before, run.attempt_count,
      run.failed_attempts, run.retry_of_run_id], [0, null, null, null, null, 0, 0, null]);
  assert.deepEqual(await attempts(client, run.id), []);
});

test('each claim is an attempt with its worker, its times and its outcome', async (t) => {
  const { open: client } = await startServer(t);
  const { id } = await start(client);
  const first = await claim(client, { worker: 'ant' });
  assert.deepEqual([first.attempt_count, first.failed_attempts], [1, 0]);
  const [open] = await attempts(client, id);
  assert.deepEqual([open.number, open.worker, open.fence, open.ended_at, open.outcome, open.error],
    [1, 'ant', first.fence, null, null, null]);
  await release(client, first);
  const second = await claim(client, { worker: 'bee' });
  await release(client, second, { code: 'overloaded' });
  const third = await claim(client);
  expectStatus(await client.patch(`/v1/runs/${id}`, { status: 'waiting_for_input' }, token(third)),
    200);
  expectStatus(await client.post(`/v1/runs/${id}/input`, { input: 'yes' }), 200);
  await claim(client);
  expectStatus(await client.post(`/v1/runs/${id}/pause`), 200);
  expectStatus(await client.post(`/v1/runs/${id}/resume`), 200);
  const last = await claim(client);
  expectStatus(await client.patch(`/v1/runs/${id}`, { status: 'completed' }, token(last)), 200);
  const all = await attempts(client, id);
  assert.deepEqual(all.map((a) => [a.number, a.worker, a.outcome, a.error]), [
    [1, 'ant', 'released', null], [2, 'bee', 'failed', { code: 'overloaded' }],
    [3, 'worker', 'waiting_for_input', null], [4, 'worker', 'paused', null],
    [5, 'worker', 'completed', null]].map(([n, w, ...rest]) =>
      [n, w === 'worker' ? all[n - 1].worker : w, ...rest]));
  for (const a of all) assert.ok(a.ended_at >= a.started_at);
  const done = await read(client, id);
  assert.deepEqual([done.attempt_count, done.failed_attempts], [5, 1]);
  const page = expectStatus(await client.get(`/v1/runs/${id}/attempts?limit=2`), 200);
  assert.equal(page.has_more, true);
  assert.deepEqual(expectStatus(await client.get(
    `/v1/runs/${id}/attempts?limit=2&cursor=${page.next_cursor}`), 200).data, all.slice(2, 4));
});

test('a run fails with its last failed attempt, and says why', async (t) => {
  const { open: client } = await startServer(t);
  const { id, thread_id } = await start(client, { max_attempts: 2 });
  assert.equal((await release(client, await claim(client), { code: 'first' })).status, 'queued');
  // An attempt that is only given back does not count.
  assert.equal((await release(client, await claim(client))).status, 'queued');
  const failed = await release(client, await claim(client), { code: 'second' });
  assert.deepEqual([failed.status, failed.attempt_count, failed.failed_attempts], ['failed', 3, 2]);
  assert.equal(failed.error.code, 'attempts_exhausted');
  assert.match(failed.error.message, /^2 of 2 attempts failed/);
  assert.deepEqual(failed.error.last_error, { code: 'second' });
  assert.deepEqual(await outcomes(client, id), ['failed', 'released', 'failed']);
  const { data } = expectStatus(await client.get(`/v1/threads/${thread_id}/events`), 200);
  assert.deepEqual(data.filter((e) => e.run_id === id && e.payload.change === 'run.status')
    .map((e) => e.payload.reason), ['started', 'claimed', 'attempt_failed', 'claimed', 'released',
    'claimed', 'attempts_exhausted']);
  await nothing(client);
});

test('attempts of one run do not touch those of another', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const runs = [await start(alice, { max_attempts: 3 }), await start(alice, { max_attempts: 3 }),
    await start(bob)];
  const of = [alice, alice, bob];
  const held = [];
  for (const [i, run] of runs.entries())
    held.push(await claim(of[i], { worker: `w${i}`, thread_id: run.thread_id }));
  await release(alice, held[0], { code: 'a' });
  const again = await claim(alice, { worker: 'again', thread_id: runs[0].thread_id });
  await release(alice, again, { code: 'b' });
  assert.deepEqual(await Promise.all(runs.map((run, i) => outcomes(of[i], run.id))),
    [['failed', 'failed'], [null], [null]]);
  const listed = await attempts(alice, runs[0].id);
  assert.deepEqual(listed.map((a) => [a.worker, a.error.code]), [['w0', 'a'], ['again', 'b']]);
  assert.deepEqual(await Promise.all(runs.map(async (run, i) => {
    const now = await read(of[i], run.id);
    return [now.status, now.attempt_count, now.failed_attempts, now.error];
  })), [['queued', 2, 2, null], ['running', 1, 0, null], ['running', 1, 0, null]]);
  await release(alice, await claim(alice, { thread_id: runs[0].thread_id }), { code: 'c' });
  assert.equal((await read(alice, runs[0].id)).error.code, 'attempts_exhausted');
  assert.deepEqual([(await read(alice, runs[1].id)).error, (await read(bob, runs[2].id)).error],
    [null, null]);
  expectProblem(await bob.get(`/v1/runs/${runs[0].id}/attempts`), 404, 'not_found');
});

test('a lost lease is a failed attempt', async (t) => {
  const { open: client } = await startServer(t);
  const { id } = await start(client, { max_attempts: 2 });
  await claim(client, { lease_ms: 1000 });
  await eventually(async () => (await read(client, id)).status === 'queued');
  assert.equal((await read(client, id)).failed_attempts, 1);
  const last = await claim(client, { lease_ms: 1000 });
  await eventually(async () => (await read(client, id)).status === 'failed');
  const { error } = await read(client, id);
  assert.deepEqual([error.code, error.message, 'last_error' in error],
    ['attempts_exhausted', '2 of 2 attempts failed; the last one lost its lease', false]);
  assert.deepEqual(await outcomes(client, id), ['lease_expired', 'lease_expired']);
  expectProblem(await client.patch(`/v1/runs/${id}`, { state: {} }, token(last)), 409,
    'lease_lost');
});

test('the pause after a failed attempt grows by its factor up to its maximum', async (t) => {
  const { open: client } = await startServer(t);
  // On PostgreSQL `not_before` is a time of the database and `ended_at` one of the node, which
  // differ by up to a round trip. There only the pauses of at least 5 s show initial_ms, factor
  // and max_ms, by more than the slack.
  const slack = ENGINE === 'postgres' ? 2000 : 0;
  const check = async (backoff, pauses) => {
    const run = await start(client, { backoff });
    assert.deepEqual(run.backoff, backoff);
    for (const pause of pauses) {
      const held = await claim(client, { thread_id: run.thread_id }, '?wait=60');
      const { not_before } = await release(client, held, {});
      const { ended_at } = (await attempts(client, run.id)).at(-1);
      const off = Date.parse(not_before) - Date.parse(ended_at) - pause;
      assert.ok(Math.abs(off) <= slack, `${pause} ms: ${off}`);
    }
    return run;
  };
  const most = 86_400_000;
  const [late] = await Promise.all([
    check({ initial_ms: most, factor: 1, max_ms: most }, [most]),
    check({ initial_ms: 1, factor: 10, max_ms: most }, [1, 10, 100, 1000, 10_000]),
    check({ initial_ms: 1, factor: 10, max_ms: 5000 }, [1, 10, 100, 1000, 5000]),
  ]);
  await nothing(client, { thread_id: late.thread_id });
});

test('backoff has defaults, and its members fit each other', async (t) => {
  const { open: client } = await startServer(t);
  assert.deepEqual((await start(client, { backoff: { initial_ms: 500 } })).backoff,
    { initial_ms: 500, factor: 2, max_ms: 3_600_000 });
  assert.deepEqual((await start(client, { backoff: { initial_ms: 7_200_000 } })).backoff,
    { initial_ms: 7_200_000, factor: 2, max_ms: 7_200_000 });
  const { id } = expectStatus(await client.post('/v1/threads'), 201);
  const fault = (answer, pointer) => expectFault(answer, 422, 'invalid_input', pointer);
  const refused = (body) => client.post(`/v1/threads/${id}/runs`, body);
  fault(await refused({ backoff: { initial_ms: 10, max_ms: 9 } }), '/backoff/max_ms');
  fault(await refused({ backoff: {} }), '/backoff/initial_ms');
  fault(await refused({ deadline: inMs(-1000) }), '/deadline');
  fault(await refused({ deadline: inMs(60_000), not_before: inMs(61_000) }), '/deadline');
  for (const [member, value] of Object.entries({ priority: 0, max_attempts: 1,
    backoff: { initial_ms: 1 }, not_before: inMs(0) }))
    fault(await refused({ dispatch: 'direct', [member]: value }), `/${member}`);
  assert.equal((await client.get(`/v1/threads/${id}/runs`)).body.data.length, 0);
});

test('a run is not claimed before its time, and a waiting claim wakes at it', async (t) => {
  const { open: client } = await startServer(t);
  const due = Date.now() + 1500;
  const { id, not_before } = await start(client, { not_before: new Date(due).toISOString() });
  assert.equal(Date.parse(not_before), due);
  await nothing(client);
  const waited = expectStatus(await client.post('/v1/runs/claim?wait=60', { worker: 'w' }), 200);
  assert.equal(waited.id, id);
  assert.ok(Date.now() >= due);
  assert.ok(Date.now() < due + 30_000, 'the claim waited for another reason');
});

test('a claim that already waits wakes for a run that is started with a later time', async (t) => {
  const { open: client } = await startServer(t);
  const waiting = client.post('/v1/runs/claim?wait=60', { worker: 'w' });
  const due = Date.now() + 1500;
  const { id } = await start(client, { not_before: new Date(due).toISOString() });
  assert.equal(expectStatus(await waiting, 200).id, id);
  assert.ok(Date.now() >= due && Date.now() < due + 30_000);
});

test('a run with an earlier time does not hold up runs of other threads', async (t) => {
  const { open: client } = await startServer(t);
  const later = await start(client, { not_before: inMs(600_000), priority: 100 });
  const now = await start(client);
  assert.equal((await claim(client)).id, now.id);
  // The runs of a thread keep their order.
  await start(client, { policy: 'enqueue' }, { id: later.thread_id });
  await nothing(client);
});

test('a point of priority counts as a minute of age', async (t) => {
  const { open: client } = await startServer(t);
  const runs = {};
  for (const priority of [-100, 0, 7, 100, 0])
    (runs[priority] ??= []).push((await start(client, { priority })).id);
  const order = [];
  for (let i = 0; i < 5; i++) order.push((await claim(client)).id);
  assert.deepEqual(order, [runs[100][0], runs[7][0], ...runs[0], runs[-100][0]]);
});

test('an unfinished run fails at its deadline, whatever it does', async (t) => {
  const { open: client } = await startServer(t);
  const deadline = inMs(2000);
  const make = (body = {}) => start(client, { deadline, ...body });
  const queued = await make();
  const direct = await make({ dispatch: 'direct' });
  const held = await make();
  const worker = await claim(client, { thread_id: held.thread_id, lease_ms: 600_000 });
  const asks = await make({ dispatch: 'direct' });
  expectStatus(await client.patch(`/v1/runs/${asks.id}`, { status: 'waiting_for_input' }), 200);
  const paused = await make();
  expectStatus(await client.post(`/v1/runs/${paused.id}/pause`), 200);
  const done = await make({ dispatch: 'direct' });
  expectStatus(await client.patch(`/v1/runs/${done.id}`, { status: 'completed' }), 200);
  const was = { [queued.id]: 'queued', [direct.id]: 'running', [held.id]: 'running',
    [asks.id]: 'waiting_for_input', [paused.id]: 'paused' };
  for (const [id, status] of Object.entries(was)) {
    await eventually(async () => (await read(client, id)).status === 'failed');
    assert.deepEqual((await read(client, id)).error, { code: 'deadline_exceeded',
      message: `the run was ${status} at its deadline` });
  }
  assert.equal((await read(client, done.id)).status, 'completed');
  assert.deepEqual(await outcomes(client, held.id), ['failed']);
  expectProblem(await client.patch(`/v1/runs/${held.id}`, { state: {} }, token(worker)), 409,
    'lease_lost');
});

test('a failed run is retried as a new run with the same request and schedule', async (t) => {
  const { open: client } = await startServer(t);
  const old = await start(client, { user_input: 'hello', request: { message: 'hello' },
    agent: 'scribe', model: 'm-1', metadata: { a: 1 }, state: { half: true }, priority: 3,
    max_attempts: 1, backoff: { initial_ms: 5 }, deadline: inMs(600_000) });
  expectProblem(await client.post(`/v1/runs/${old.id}/retry`), 409, 'conflict');
  await release(client, await claim(client), { code: 'no' });
  const again = expectStatus(await client.post(`/v1/runs/${old.id}/retry`), 201);
  assert.notEqual(again.id, old.id);
  for (const member of ['thread_id', 'user_input', 'request', 'agent', 'model', 'metadata',
    'dispatch', 'priority', 'max_attempts', 'backoff'])
    assert.deepEqual(again[member], old[member], member);
  assert.deepEqual([again.retry_of_run_id, again.status, again.state, again.deadline,
    again.not_before, again.attempt_count, again.failed_attempts, again.error],
  [old.id, 'queued', {}, null, null, 0, 0, null]);
  assert.equal((await read(client, old.id)).status, 'failed');
  // The retry is a start: the policy of the thread applies.
  expectProblem(await client.post(`/v1/runs/${old.id}/retry`), 409, 'run_active');
  assert.equal((await claim(client)).id, again.id);
  const third = expectStatus(await client.post(`/v1/runs/${old.id}/retry`,
    { policy: 'interrupt', priority: -1, max_attempts: 9, state: { from: 'start' },
      backoff: { initial_ms: 1, factor: 1 }, not_before: inMs(0) }), 201);
  assert.deepEqual([third.priority, third.max_attempts, third.state, third.backoff],
    [-1, 9, { from: 'start' }, { initial_ms: 1, factor: 1, max_ms: 3_600_000 }]);
  // Members that are null are not those of the old run.
  const free = expectStatus(await client.post(`/v1/runs/${old.id}/retry`,
    { policy: 'interrupt', max_attempts: null, backoff: null }), 201);
  assert.deepEqual([free.max_attempts, free.backoff, free.priority], [null, null, 3]);
  // A cancelled run can be retried, too; a completed one cannot.
  assert.equal((await read(client, again.id)).status, 'cancelled');
  expectStatus(await client.post(`/v1/runs/${again.id}/retry`, { policy: 'enqueue' }), 201);
  const held = await claim(client);
  expectStatus(await client.patch(`/v1/runs/${held.id}`, { status: 'completed' }, token(held)),
    200);
  expectProblem(await client.post(`/v1/runs/${held.id}/retry`), 409, 'conflict');
});

test('a run whose agent was deleted cannot be retried', async (t) => {
  const { open: client } = await startServer(t);
  const { id: agent } = expectStatus(await client.post('/v1/agents', { name: 'scribe' }), 201);
  const run = expectStatus(await client.post(`/v1/agents/${agent}/runs`,
    { input: { message: 'hi' } }), 201);
  expectStatus(await client.post(`/v1/runs/${run.id}/cancel`), 200);
  expectStatus(await client.del(`/v1/agents/${agent}`), 204);
  assert.match(expectProblem(await client.post(`/v1/runs/${run.id}/retry`), 409, 'conflict').detail,
    /the agent of the run was deleted/);
});

test('a direct run and a child can be retried', async (t) => {
  const { open: client } = await startServer(t);
  const direct = await start(client, { dispatch: 'direct' });
  const child = await start(client, { parent_run_id: direct.id }, { id: direct.thread_id });
  expectStatus(await client.post(`/v1/runs/${child.id}/cancel`), 200);
  const again = expectStatus(await client.post(`/v1/runs/${child.id}/retry`), 201);
  assert.deepEqual([again.parent_run_id, again.retry_of_run_id], [direct.id, child.id]);
  expectStatus(await client.patch(`/v1/runs/${direct.id}`, { status: 'failed' }), 200);
  expectProblem(await client.post(`/v1/runs/${again.id}/retry`), 409, 'conflict');
  const repeated = expectStatus(await client.post(`/v1/runs/${direct.id}/retry`), 201);
  assert.deepEqual([repeated.status, repeated.retry_of_run_id], ['running', direct.id]);
});

test('the attempts of a run are also listed under its agent', async (t) => {
  const { open: client } = await startServer(t);
  const { id: agent } = expectStatus(await client.post('/v1/agents', { name: 'scribe' }), 201);
  const run = expectStatus(await client.post(`/v1/agents/${agent}/runs`,
    { input: { message: 'hi' }, priority: 2, max_attempts: 1 }), 201);
  assert.deepEqual([run.priority, run.max_attempts], [2, 1]);
  await release(client, await claim(client), { code: 'no' });
  assert.deepEqual(expectStatus(
    await client.get(`/v1/agents/${agent}/runs/${run.id}/attempts`), 200).data,
  await attempts(client, run.id));
  expectProblem(await client.get(`/v1/agents/${run.id}/runs/${run.id}/attempts`), 404,
    'not_found');
});

test('an archive has the attempts, the schedule and the count of failed attempts', async (t) => {
  const { open: client } = await startServer(t);
  const run = await start(client, { priority: -4, max_attempts: 9, backoff: { initial_ms: 1 },
    deadline: inMs(3_600_000) });
  await release(client, await claim(client), { code: 'no' });
  await release(client, await claim(client, {}, '?wait=60'));
  await claim(client);
  const tar = await client.get(`/v1/threads/${run.thread_id}/export`);
  assert.equal(tar.status, 200, tar.text);
  const report = expectStatus(await client.post('/v1/imports?ids=remap', undefined,
    { raw: await tar.bytes, type: 'application/x-tar' }), 201);
  const to = report.objects.find((o) => o.type === 'thread').to;
  const [copy] = expectStatus(await client.get(`/v1/threads/${to}/runs`), 200).data;
  const was = await read(client, run.id);
  for (const member of ['priority', 'max_attempts', 'backoff', 'deadline', 'not_before',
    'failed_attempts'])
    assert.deepEqual(copy[member], was[member], member);
  // The lease is not exported, and neither is its attempt.
  assert.deepEqual([copy.status, copy.attempt_count, copy.failed_attempts], ['queued', 2, 1]);
  assert.deepEqual(await attempts(client, copy.id), (await attempts(client, run.id)).slice(0, 2));
  assert.equal((await claim(client)).attempt_count, 3);
});
