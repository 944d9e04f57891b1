// SPDX-License-Identifier: Apache-2.0
// Runs: the transition table, what a second start does, families of runs, and the events of it all.
import assert from 'node:assert/strict';
import test from 'node:test';
import { claim, expectFault, expectProblem, expectStatus, startServer, token, uuid }
  from './lib/server.mjs';

const TABLE = {
  queued: ['running', 'paused', 'failed', 'cancelled'],
  running: ['queued', 'waiting_for_input', 'paused', 'completed', 'failed', 'cancelled'],
  waiting_for_input: ['queued', 'running', 'paused', 'failed', 'cancelled'],
  paused: ['queued', 'running', 'waiting_for_input', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};
const STATUSES = Object.keys(TABLE);

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);

const start = async (client, threadId, body = {}) =>
  expectStatus(await client.post(`/v1/threads/${threadId}/runs`, body), 201);

const readRun = async (client, id) => expectStatus(await client.get(`/v1/runs/${id}`), 200);

const readThread = async (client, id) => expectStatus(await client.get(`/v1/threads/${id}`), 200);

const setStatus = (client, id, status, more = {}) =>
  client.patch(`/v1/runs/${id}`, { status, ...more });

/** The thread's events after a cursor; events about runs as "run status (reason)". */
async function changes(client, threadId, after = 0) {
  const page = expectStatus(
    await client.get(`/v1/threads/${threadId}/events?after=${after}&limit=1000`), 200);
  const told = page.data.filter((e) => !['history.created', 'run.phase'].includes(e.kind));
  return told.map(({ run_id: run, payload }) =>
    ({ run, change: payload.change, from: payload.from, to: payload.to, reason: payload.reason }));
}

const claimOf = (client, run) => claim(client, { thread_id: run.thread_id });

/** The headers that the worker of a run sends with a write. */
const asOwner = (run) => (run.worker === null ? {} : token(run));

/** A run in this status, on a thread of its own. */
async function runIn(client, status, dispatch = status === 'queued' ? 'queue' : 'direct') {
  const thread = await newThread(client);
  let run = await start(client, thread.id, { dispatch });
  if (run.status !== status && dispatch === 'queue')
    run = await claimOf(client, run);
  if (run.status !== status)
    expectStatus(await client.patch(`/v1/runs/${run.id}`, { status }, asOwner(run)), 200);
  return readRun(client, run.id);
}

test('every change of status that the table allows succeeds and tells of itself', async (t) => {
  const { open: client } = await startServer(t);
  for (const from of STATUSES)
    for (const to of TABLE[from]) {
      const queue = from === 'queued' || to === 'queued';
      const run = await runIn(client, from, queue ? 'queue' : 'direct');
      const { last_seq: before } = await readThread(client, run.thread_id);
      const changed = from === 'queued' && to === 'running'
        ? await claimOf(client, run)
        : expectStatus(
          await client.patch(`/v1/runs/${run.id}`, { status: to }, asOwner(run)), 200);
      assert.equal(changed.status, to, `${from} → ${to}`);
      assert.equal(changed.finished_at !== null, TABLE[to].length === 0, `${from} → ${to}`);
      const [told, ...more] = await changes(client, run.thread_id, before);
      assert.deepEqual([told.run, told.from, told.to], [run.id, from, to]);
      assert.deepEqual(more, []);
    }
});

test('every other change is refused, names the allowed ones and changes nothing', async (t) => {
  const { open: client } = await startServer(t);
  for (const from of STATUSES)
    for (const to of STATUSES.filter((s) => s !== from && !TABLE[from].includes(s))) {
      const run = await runIn(client, from);
      const thread = await readThread(client, run.thread_id);
      const refused = expectProblem(
        await setStatus(client, run.id, to, { metadata: { mark: 1 } }), 409, 'transition_refused');
      assert.equal(refused.from, from);
      assert.deepEqual(refused.allowed, TABLE[from], `${from} → ${to}`);
      assert.ok(refused.detail.includes(from) && refused.detail.includes(to), refused.detail);
      for (const allowed of TABLE[from])
        assert.ok(refused.detail.includes(allowed), refused.detail);
      if (TABLE[from].length === 0)
        assert.match(refused.detail, /is final/);
      assert.deepEqual(await readRun(client, run.id), run);
      assert.deepEqual(await readThread(client, run.thread_id), thread);
    }
  expectFault(await setStatus(client, (await runIn(client, 'queued')).id, 'asleep'),
    422, 'invalid_input', '/status');
});

test('the verbs obey the same table', async (t) => {
  const { open: client } = await startServer(t);
  const verbs = {
    input: (id) => client.post(`/v1/runs/${id}/input`, { input: { answer: 42 } }),
    pause: (id) => client.post(`/v1/runs/${id}/pause`),
    resume: (id) => client.post(`/v1/runs/${id}/resume`),
    cancel: (id) => client.post(`/v1/runs/${id}/cancel`, { reason: 'changed my mind' }),
  };
  const outcome = {
    input: { waiting_for_input: 'running' },
    pause: { queued: 'paused', running: 'paused', waiting_for_input: 'paused' },
    resume: { paused: 'running' },
    cancel: { queued: 'cancelled', running: 'cancelled', waiting_for_input: 'cancelled',
      paused: 'cancelled' },
  };
  for (const [verb, call] of Object.entries(verbs))
    for (const from of STATUSES) {
      const run = await runIn(client, from);
      const answer = await call(run.id);
      const to = outcome[verb][from];
      if (to !== undefined) {
        assert.equal(expectStatus(answer, 200).status, to, `${verb} a ${from} run`);
        continue;
      }
      const refused = expectProblem(answer, 409, 'transition_refused');
      assert.deepEqual(refused.allowed, TABLE[from], `${verb} a ${from} run`);
      assert.deepEqual(await readRun(client, run.id), run);
    }
});

test('a paused run comes back to where it was', async (t) => {
  const { open: client } = await startServer(t);
  for (const [from, dispatch, back] of [
    ['queued', 'queue', 'queued'],
    ['running', 'direct', 'running'],
    ['waiting_for_input', 'direct', 'waiting_for_input'],
    ['running', 'queue', 'queued'],
    ['waiting_for_input', 'queue', 'waiting_for_input'],
  ]) {
    const run = await runIn(client, from, dispatch);
    expectStatus(await client.post(`/v1/runs/${run.id}/pause`), 200);
    const resumed = expectStatus(await client.post(`/v1/runs/${run.id}/resume`), 200);
    assert.equal(resumed.status, back, `${from}, ${dispatch}`);
  }
});

test('a finished run can change its metadata and nothing else', async (t) => {
  const { open: client } = await startServer(t);
  for (const status of ['completed', 'failed', 'cancelled']) {
    const run = await runIn(client, status);
    for (const change of [{ state: { a: 1 } }, { final_output: 'late' }, { error: { e: 1 } }]) {
      const refused = expectProblem(
        await client.patch(`/v1/runs/${run.id}`, change), 409, 'conflict');
      assert.match(refused.detail, /only its metadata/);
    }
    assert.deepEqual(await readRun(client, run.id), run);
    const marked = expectStatus(
      await client.patch(`/v1/runs/${run.id}`, { metadata: { rated: 5 } }), 200);
    assert.deepEqual(marked.metadata, { rated: 5 });
    assert.equal(marked.finished_at, run.finished_at);
  }
});

test('a direct run starts at once, a queued one waits for a worker', async (t) => {
  const { open: client } = await startServer(t);
  const direct = await start(client, (await newThread(client)).id, { dispatch: 'direct' });
  assert.equal(direct.status, 'running');
  assert.notEqual(direct.started_at, null);
  const queued = await start(client, (await newThread(client)).id, {});
  assert.deepEqual([queued.dispatch, queued.status, queued.started_at], ['queue', 'queued', null]);
  // After the input, each run is queued or running again, depending on its dispatch.
  for (const [run, ready] of [[direct, 'running'], [await claimOf(client, queued), 'queued']]) {
    const state = { keep: 1, pending_input: 'sure?' };
    expectStatus(await client.patch(
      `/v1/runs/${run.id}`, { status: 'waiting_for_input', state }, asOwner(run)), 200);
    const answered = expectStatus(
      await client.post(`/v1/runs/${run.id}/input`, { input: { sure: true } }), 200);
    assert.equal(answered.status, ready);
    assert.deepEqual([answered.input, answered.state], [{ sure: true }, { keep: 1 }]);
  }
});

test('the events of a run come in the order of its changes, with what it said', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const run = await start(client, thread.id, { dispatch: 'direct' });
  await setStatus(client, run.id, 'waiting_for_input', { state: { pending_input: 'which?' } });
  await client.post(`/v1/runs/${run.id}/input`, { input: 'this' });
  await client.post(`/v1/runs/${run.id}/pause`);
  await client.post(`/v1/runs/${run.id}/resume`);
  expectStatus(await setStatus(client, run.id, 'completed', { final_output: { ok: true } }), 200);
  const { data } = (await client.get(`/v1/threads/${thread.id}/events?run_id=${run.id}`)).body;
  assert.deepEqual(data.map((e) => [e.kind, e.payload.from ?? null, e.payload.to]), [
    ['status', 'queued', 'running'],
    ['status', 'running', 'waiting_for_input'],
    ['status', 'waiting_for_input', 'running'],
    ['status', 'running', 'paused'],
    ['status', 'paused', 'running'],
    ['run.phase', 'created', 'completed'],
    ['history.created', null, undefined],
    ['final', 'running', 'completed'],
  ]);
  assert.deepEqual(data.map((e) => e.seq), [2, 3, 4, 5, 6, 7, 8, 9]);
  assert.equal(data[1].payload.state.pending_input, 'which?');
  assert.equal(data[2].payload.input, 'this');
  assert.deepEqual(data[7].payload.final_output, { ok: true });
  const failed = await runIn(client, 'running');
  await setStatus(client, failed.id, 'failed', { error: { code: 'boom' } });
  const last = (await client.get(`/v1/threads/${failed.thread_id}/events?kind=error`)).body.data;
  assert.deepEqual(last.map((e) => e.payload.error), [{ code: 'boom' }]);
});

test('a document too large for an event is named in it and read from the run', async (t) => {
  const { open: client } = await startServer(t);
  const run = await runIn(client, 'running');
  const large = 'x'.repeat(100_000);
  expectStatus(await setStatus(client, run.id, 'completed', { final_output: large }), 200);
  const [event] = (await client.get(`/v1/threads/${run.thread_id}/events?kind=final`)).body.data;
  assert.equal(event.payload.omitted, 'final_output');
  assert.equal((await readRun(client, run.id)).final_output, large);
});

// --- A second start ----------------------------------------------------------------------------

test('policy reject: a second start is refused and leaves no trace', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const first = await start(client, thread.id, { dispatch: 'direct' });
  for (const status of ['running', 'waiting_for_input', 'paused']) {
    if (status !== 'running')
      expectStatus(await setStatus(client, first.id, status), 200);
    const before = await readThread(client, thread.id);
    const refused = expectProblem(
      await client.post(`/v1/threads/${thread.id}/runs`, {}), 409, 'run_active');
    assert.ok(refused.detail.includes(first.id) && refused.detail.includes(status));
    assert.deepEqual(await readThread(client, thread.id), before);
  }
  expectStatus(await setStatus(client, first.id, 'cancelled'), 200);
  await start(client, thread.id);
});

test('policy enqueue: direct runs start one after the other as each ends', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client, { run_policy: 'enqueue' });
  const runs = [];
  for (let i = 0; i < 4; i++)
    runs.push(await start(client, thread.id, { dispatch: 'direct' }));
  assert.deepEqual(runs.map((r) => r.status), ['running', 'queued', 'queued', 'queued']);
  const ends = ['completed', 'failed', 'cancelled'];
  for (const [i, end] of ends.entries()) {
    expectStatus(await setStatus(client, runs[i].id, end), 200);
    assert.equal((await readRun(client, runs[i + 1].id)).status, 'running', `after ${end}`);
  }
  // Cancelling the one that works starts the next; one that waits is just dropped.
  const more = [await start(client, thread.id, { dispatch: 'direct' }),
    await start(client, thread.id, { dispatch: 'direct' })];
  expectStatus(await client.post(`/v1/runs/${more[0].id}/cancel`), 200);
  assert.equal((await readRun(client, more[1].id)).status, 'queued');
  expectStatus(await client.post(`/v1/runs/${runs[3].id}/cancel`), 200);
  assert.equal((await readRun(client, more[1].id)).status, 'running');
});

test('policy interrupt: the active run is cancelled before the new one starts', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client, { run_policy: 'interrupt', context: { kept: 1 } });
  const first = await start(client, thread.id, { dispatch: 'direct' });
  await client.patch(`/v1/threads/${thread.id}`, { context: { kept: 2 } });
  const { last_seq: before } = await readThread(client, thread.id);
  const second = await start(client, thread.id, { dispatch: 'direct' });
  assert.equal((await readRun(client, first.id)).status, 'cancelled');
  const told = await changes(client, thread.id, before);
  assert.deepEqual(told.map((c) => [c.run, c.to, c.reason]),
    [[first.id, 'cancelled', 'interrupted'], [second.id, 'running', 'started']]);
  assert.deepEqual((await readThread(client, thread.id)).context, { kept: 2 });
});

test('policy rollback: the documents are as before the run changed them', async (t) => {
  const { open: client } = await startServer(t);
  const documents = { context: { n: 1 }, preferences: { p: 1 }, important_steps: ['s'],
    metadata: { colour: 'red' } };
  const thread = await newThread(client, { run_policy: 'rollback', title: 'old', ...documents });
  const first = await start(client, thread.id, { dispatch: 'direct' });
  for (const n of [2, 3])
    expectStatus(await client.patch(`/v1/threads/${thread.id}`, { context: { n },
      preferences: { p: n }, important_steps: ['s', n], metadata: { colour: 'blue' },
      title: 'new' }), 200);
  const second = await start(client, thread.id, { dispatch: 'direct' });
  const after = await readThread(client, thread.id);
  for (const [name, value] of Object.entries(documents))
    assert.deepEqual(after[name], value, name);
  assert.equal(after.title, 'new'); // not one of the run's documents
  assert.equal((await readRun(client, first.id)).status, 'cancelled');
  // The index of metadata for filters is rolled back too.
  const red = expectStatus(await client.get('/v1/threads?metadata.colour=red'), 200);
  assert.deepEqual(red.data.map((row) => row.id), [thread.id]);
  assert.deepEqual((await client.get('/v1/threads?metadata.colour=blue')).body.data, []);
  // A run that changed nothing has nothing to undo, and one that ended keeps what it did.
  expectStatus(await client.patch(`/v1/threads/${thread.id}`, { context: { n: 9 } }), 200);
  expectStatus(await setStatus(client, second.id, 'completed'), 200);
  await start(client, thread.id, { dispatch: 'direct' });
  await start(client, thread.id, { dispatch: 'direct' });
  assert.deepEqual((await readThread(client, thread.id)).context, { n: 9 });
});

test('the policy of a start goes before that of the thread', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client, { run_policy: 'interrupt' });
  const first = await start(client, thread.id, { dispatch: 'direct' });
  expectProblem(await client.post(`/v1/threads/${thread.id}/runs`, { policy: 'reject' }),
    409, 'run_active');
  const second = await start(client, thread.id, { policy: 'enqueue' });
  assert.deepEqual([(await readRun(client, first.id)).status, second.status],
    ['running', 'queued']);
  expectFault(await client.post(`/v1/threads/${thread.id}/runs`, { policy: 'fight' }),
    422, 'invalid_input', '/policy');
});

test('a thread that is not active starts no run', async (t) => {
  const { open: client } = await startServer(t);
  for (const verb of ['pause', 'cancel']) {
    const thread = await newThread(client);
    if (verb === 'pause')
      expectStatus(await client.post(`/v1/threads/${thread.id}/pause`), 200);
    else
      expectStatus(await client.post(`/v1/threads/${thread.id}/cancel`), 200);
    expectProblem(await client.post(`/v1/threads/${thread.id}/runs`, {}), 409, 'conflict');
    expectStatus(await client.post(`/v1/threads/${thread.id}/resume`), 200);
    await start(client, thread.id);
  }
  expectProblem(await client.post(`/v1/threads/${uuid()}/runs`, {}), 404, 'not_found');
});

test('cancelling a thread ends all its runs and starts none of those that waited', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client, { run_policy: 'enqueue' });
  const runs = [];
  for (let i = 0; i < 3; i++)
    runs.push(await start(client, thread.id, { dispatch: 'direct' }));
  const { last_seq: before } = await readThread(client, thread.id);
  expectStatus(await client.post(`/v1/threads/${thread.id}/cancel`, { reason: 'enough' }), 200);
  for (const run of runs)
    assert.equal((await readRun(client, run.id)).status, 'cancelled');
  const told = await changes(client, thread.id, before);
  assert.deepEqual(told.map((c) => [c.change, c.to]), [['thread.status', 'cancelled'],
    ['run.status', 'cancelled'], ['run.status', 'cancelled'], ['run.status', 'cancelled']]);
  assert.ok(told.slice(1).every((c) => c.reason === 'enough'));
});

// --- Families ----------------------------------------------------------------------------------

test('children work inside their parent, and the policy does not see them', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client); // run_policy: reject
  const parent = await start(client, thread.id, { dispatch: 'direct' });
  const child = await start(client, thread.id, { dispatch: 'direct', parent_run_id: parent.id });
  const grandchild = await start(client, thread.id, { parent_run_id: child.id });
  assert.deepEqual([child.status, grandchild.status], ['running', 'queued']);
  assert.equal((await readThread(client, thread.id)).most_recent_run_id, parent.id);
  const children = (await client.get(`/v1/runs?parent_run_id=${parent.id}`)).body.data;
  assert.deepEqual(children.map((r) => r.id), [child.id]);
  // A child that ends leaves its parent and the policy as they were.
  expectStatus(await setStatus(client, grandchild.id, 'cancelled'), 200);
  expectStatus(await setStatus(client, child.id, 'completed'), 200);
  assert.equal((await readRun(client, parent.id)).status, 'running');
  expectProblem(await client.post(`/v1/threads/${thread.id}/runs`, {}), 409, 'run_active');
  expectFault(await client.post(`/v1/threads/${thread.id}/runs`, { parent_run_id: uuid() }),
    422, 'invalid_input', '/parent_run_id');
});

test('the end of a parent cancels every run below it', async (t) => {
  const { open: client } = await startServer(t);
  for (const end of ['completed', 'failed', 'cancelled']) {
    const thread = await newThread(client);
    const parent = await start(client, thread.id, { dispatch: 'direct' });
    const child = await start(client, thread.id, { dispatch: 'direct', parent_run_id: parent.id });
    const deep = await start(client, thread.id, { parent_run_id: child.id });
    const done = await start(client, thread.id, { dispatch: 'direct', parent_run_id: parent.id });
    expectStatus(await setStatus(client, done.id, 'completed'), 200);
    const { last_seq: before } = await readThread(client, thread.id);
    expectStatus(await setStatus(client, parent.id, end), 200);
    const told = await changes(client, thread.id, before);
    assert.deepEqual(told.map((c) => [c.run, c.to]),
      [[parent.id, end], [child.id, 'cancelled'], [deep.id, 'cancelled']]);
    assert.equal((await readRun(client, done.id)).status, 'completed');
    expectProblem(await client.post(`/v1/threads/${thread.id}/runs`, { parent_run_id: parent.id }),
      409, 'conflict');
  }
});

test('lists of runs: newest first, by thread, status and agent', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client, { run_policy: 'enqueue', agent: 'scribe' });
  const runs = [await start(client, thread.id), await start(client, thread.id, { agent: 'poet' }),
    await start(client, thread.id, { state: { big: 1 } })];
  await claimOf(client, runs[0]);
  const ids = async (path) => (await client.get(path)).body.data.map((r) => r.id);
  assert.deepEqual(await ids(`/v1/threads/${thread.id}/runs`), runs.map((r) => r.id).reverse());
  assert.deepEqual(await ids('/v1/runs?agent=poet'), [runs[1].id]);
  assert.deepEqual(await ids(`/v1/runs?thread_id=${thread.id}&status=running`), [runs[0].id]);
  const first = (await client.get(`/v1/threads/${thread.id}/runs?limit=2`)).body;
  assert.equal(first.has_more, true);
  assert.deepEqual(await ids(`/v1/threads/${thread.id}/runs?limit=2&cursor=${first.next_cursor}`),
    [runs[0].id]);
  assert.equal(first.data[0].state, undefined);
  const [whole] = (await client.get(`/v1/threads/${thread.id}/runs?include=documents`)).body.data;
  assert.deepEqual(whole.state, { big: 1 });
});

test('a stale ETag changes nothing', async (t) => {
  const { open: client } = await startServer(t);
  const run = await runIn(client, 'running');
  const stale = { headers: { 'If-Match': `"${run.version - 1}"` } };
  const calls = [
    () => client.patch(`/v1/runs/${run.id}`, { metadata: { a: 1 } }, stale),
    () => client.post(`/v1/runs/${run.id}/pause`, undefined, stale),
    () => client.post(`/v1/runs/${run.id}/cancel`, undefined, stale),
  ];
  for (const call of calls)
    expectProblem(await call(), 412, 'stale_etag');
  assert.deepEqual(await readRun(client, run.id), run);
  expectStatus(await client.post(`/v1/runs/${run.id}/pause`, undefined,
    { headers: { 'If-Match': `"${run.version}"` } }), 200);
});

test('a run that was paused while it waited tells its question again', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const run = await start(client, thread.id, { dispatch: 'direct' });
  await setStatus(client, run.id, 'waiting_for_input', { state: { pending_input: 'which one?' } });
  expectStatus(await client.post(`/v1/threads/${thread.id}/pause`), 200);
  expectStatus(await client.post(`/v1/threads/${thread.id}/resume`), 200);
  const told = (await client.get(`/v1/threads/${thread.id}/events`)).body.data.at(-1);
  assert.equal(told.payload.to, 'waiting_for_input');
  assert.equal(told.payload.state.pending_input, 'which one?');
});

test('an engine that pauses a run by a patch pauses its children too', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const parent = await start(client, thread.id, { dispatch: 'direct' });
  const child = await start(client, thread.id, { dispatch: 'direct', parent_run_id: parent.id });
  await setStatus(client, parent.id, 'paused');
  assert.equal((await readRun(client, child.id)).status, 'paused');
  expectProblem(await client.post(`/v1/threads/${thread.id}/runs`,
    { dispatch: 'direct', parent_run_id: parent.id }), 409, 'conflict');
  expectProblem(await client.post(`/v1/runs/${child.id}/resume`), 409, 'conflict');
  await setStatus(client, parent.id, 'running');
  assert.equal((await readRun(client, child.id)).status, 'running');
});

test('a direct run that waits its turn cannot be patched past the one before it', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client, { run_policy: 'enqueue' });
  const first = await start(client, thread.id, { dispatch: 'direct' });
  const second = await start(client, thread.id, { dispatch: 'direct' });
  expectProblem(
    await client.patch(`/v1/runs/${second.id}`, { status: 'running' }), 409, 'run_active');
  await setStatus(client, first.id, 'completed');
  assert.equal((await readRun(client, second.id)).status, 'running');
});

test('a thread with many large runs can still be paused, resumed and cancelled', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client, { run_policy: 'enqueue' });
  const large = 'x'.repeat(100_000);
  const runs = 240;
  for (let i = 0; i < runs; i++)
    await start(client, thread.id, { user_input: large, state: { large } });
  for (const [verb, status] of
    [['pause', 'paused'], ['resume', 'queued'], ['cancel', 'cancelled']]) {
    expectStatus(await client.post(`/v1/threads/${thread.id}/${verb}`), 200);
    let count = 0;
    for (let page = '', more = true; more;) {
      const { data, has_more, next_cursor } = expectStatus(
        await client.get(`/v1/threads/${thread.id}/runs?status=${status}&limit=200${page}`), 200);
      count += data.length;
      more = has_more;
      page = `&cursor=${next_cursor}`;
    }
    assert.equal(count, runs, verb);
  }
});
