// SPDX-License-Identifier: Apache-2.0
// Leases: how external workers claim runs, keep them, lose them, and cannot write once they have.
import assert from 'node:assert/strict';
import test from 'node:test';
import { claim, eventually, expectFault, expectProblem, expectStatus, pause, startServer, token,
  uuid, withKey } from './lib/server.mjs';
import { subscribers, untilSubscribers } from './lib/followers.mjs';

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);

const enqueue = async (client, threadId, body = {}) => expectStatus(
  await client.post(`/v1/threads/${threadId}/runs`, { policy: 'enqueue', ...body }), 201);

const nothingToClaim = async (client, body = {}) =>
  expectStatus(await client.post('/v1/runs/claim', { worker: 'w', ...body }), 204);

const readRun = async (client, id) => expectStatus(await client.get(`/v1/runs/${id}`), 200);

/** Every write that a worker can make with a token. */
const WRITES = {
  'change the run': (client, run, opts) =>
    client.patch(`/v1/runs/${run.id}`, { state: { by: 'worker' } }, opts),
  'keep the lease': (client, run, opts) =>
    client.post(`/v1/runs/${run.id}/heartbeat`, undefined, opts),
  'give the run back': (client, run, opts) =>
    client.post(`/v1/runs/${run.id}/release`, undefined, opts),
  'append an event of the run': (client, run, opts) => client.post(
    `/v1/threads/${run.thread_id}/events`, { kind: 'progress', run_id: run.id }, opts),
  'append an event of the thread': (client, run, opts) => client.post(
    `/v1/threads/${run.thread_id}/events`, { kind: 'progress' }, opts),
  'change the thread': (client, run, opts) =>
    client.patch(`/v1/threads/${run.thread_id}`, { context: { by: 'worker' } }, opts),
};

/** Writes that need no lease; a fencing token that is sent with one must still be valid. */
const ANYBODYS_WRITES = {
  'start a child': (client, run, opts) => client.post(
    `/v1/threads/${run.thread_id}/runs`, { parent_run_id: run.id }, opts),
  'prune events': (client, run, opts) => client.post(
    `/v1/threads/${run.thread_id}/events/prune`, { through_seq: 1 }, opts),
  'pause the run': (client, run, opts) =>
    client.post(`/v1/runs/${run.id}/pause`, undefined, opts),
  'cancel the run': (client, run, opts) =>
    client.post(`/v1/runs/${run.id}/cancel`, undefined, opts),
  'cancel the thread': (client, run, opts) =>
    client.post(`/v1/threads/${run.thread_id}/cancel`, undefined, opts),
  'answer a question': (client, run, opts) =>
    client.post(`/workflow/input/${run.thread_id}`, { input: 1 }, opts),
};

/** Asserts that no write passes with this token, and that none changed anything. */
async function expectFenced(client, run, fence) {
  const before = await readRun(client, run.id);
  const thread = expectStatus(await client.get(`/v1/threads/${run.thread_id}`), 200);
  for (const [what, write] of Object.entries({ ...WRITES, ...ANYBODYS_WRITES })) {
    const refused = await write(client, run, token({ fence }));
    assert.equal(refused.status, 409, `${what}: ${refused.text}`);
    expectProblem(refused, 409, 'lease_lost');
  }
  assert.deepEqual(await readRun(client, run.id), before);
  assert.deepEqual((await client.get(`/v1/threads/${run.thread_id}`)).body, thread);
}

test('the oldest run is claimed first, and 204 says that there is none', async (t) => {
  const { open: client } = await startServer(t);
  await nothingToClaim(client);
  const runs = [];
  for (let i = 0; i < 3; i++)
    runs.push(await enqueue(client, (await newThread(client)).id));
  for (const run of runs) {
    const claimed = await claim(client, { worker: 'ant', lease_ms: 60_000 });
    assert.deepEqual([claimed.id, claimed.status, claimed.worker, claimed.lease_ms],
      [run.id, 'running', 'ant', 60_000]);
    assert.ok(claimed.fence > 0);
  }
  await nothingToClaim(client);
  // Direct runs are their starter's.
  await enqueue(client, (await newThread(client)).id, { dispatch: 'direct' });
  await nothingToClaim(client);
});

test('the runs of a thread are claimed one after the other', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const other = await newThread(client);
  const runs = [await enqueue(client, thread.id), await enqueue(client, thread.id)];
  const elsewhere = await enqueue(client, other.id);
  const first = await claim(client);
  assert.equal(first.id, runs[0].id);
  assert.equal((await claim(client)).id, elsewhere.id);
  await nothingToClaim(client);
  // Neither a question nor a pause of the first lets the second overtake it.
  expectStatus(await client.patch(`/v1/runs/${first.id}`,
    { status: 'waiting_for_input' }, token(first)), 200);
  await nothingToClaim(client);
  expectStatus(await client.post(`/v1/runs/${first.id}/pause`), 200);
  await nothingToClaim(client);
  expectStatus(await client.post(`/v1/runs/${first.id}/cancel`), 200);
  assert.equal((await claim(client)).id, runs[1].id);
});

test('a worker may ask for runs of one agent or of one thread', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client, { agent: 'scribe' });
  const other = await newThread(client, { agent: 'poet' });
  const scribes = await enqueue(client, thread.id);
  const poets = await enqueue(client, other.id);
  await nothingToClaim(client, { agent: 'painter' });
  await nothingToClaim(client, { thread_id: uuid() });
  assert.equal((await claim(client, { agent: 'poet' })).id, poets.id);
  assert.equal((await claim(client, { thread_id: thread.id })).id, scribes.id);
  expectFault(await client.post('/v1/runs/claim', {}), 422, 'invalid_input', '/worker');
  expectFault(await client.post('/v1/runs/claim', { worker: 'w', lease_ms: 5 }),
    422, 'invalid_input', '/lease_ms');
});

test('children are claimed beside their parent', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  await enqueue(client, thread.id);
  const parent = await claim(client);
  const asked = { parent_run_id: parent.id };
  expectProblem(
    await client.post(`/v1/threads/${thread.id}/runs`, asked), 409, 'lease_required');
  const child = expectStatus(
    await client.post(`/v1/threads/${thread.id}/runs`, asked, token(parent)), 201);
  const claimed = await claim(client);
  assert.equal(claimed.id, child.id);
  assert.notEqual(claimed.fence, parent.fence);
  // Both write to the thread they share, each with its own token.
  for (const run of [parent, claimed])
    expectStatus(await WRITES['append an event of the thread'](client, run, token(run)), 201);
});

test('a claim that waits gets a run that is queued later', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const waiting = client.post('/v1/runs/claim?wait=30', { worker: 'patient' });
  await untilSubscribers(client, 1);
  const run = await enqueue(client, thread.id);
  const claimed = expectStatus(await waiting, 200);
  assert.deepEqual([claimed.id, claimed.worker], [run.id, 'patient']);
  assert.equal(await subscribers(client), 0);
  expectStatus(await client.post('/v1/runs/claim?wait=1', { worker: 'w' }), 204);
  expectFault(await client.post('/v1/runs/claim?wait=1000', { worker: 'w' }),
    422, 'invalid_input', 'wait');
});

test('a claim that waits costs one request, and is the same when sent again', async (t) => {
  const { open } = await startServer(t);
  const admin = await withKey(open, ['operator']);
  const worker = await withKey(admin, ['runs:write'], { rate_limit_per_minute: 3 });
  const again = { headers: { 'Idempotency-Key': 'claim-1' } };
  const waiting = worker.post('/v1/runs/claim?wait=30', { worker: 'w', agent: 'poet' }, again);
  await untilSubscribers(admin, 1);
  for (let i = 0; i < 10; i++) // each wakes the claim, and none is for it
    await enqueue(admin, (await newThread(admin)).id, { agent: 'painter' });
  const run = await enqueue(admin, (await newThread(admin)).id, { agent: 'poet' });
  const claimed = expectStatus(await waiting, 200);
  assert.equal(claimed.id, run.id);
  const replayed = expectStatus(
    await worker.post('/v1/runs/claim?wait=30', { worker: 'w', agent: 'poet' }, again), 200);
  assert.deepEqual(replayed, claimed);
});

test('a claim that waits gets the run that the end of another has freed', async (t) => {
  const { open: client } = await startServer(t);
  for (const end of ['completed', 'failed', 'cancelled']) {
    const thread = await newThread(client);
    const runs = [await enqueue(client, thread.id), await enqueue(client, thread.id)];
    const first = await claim(client);
    assert.equal(first.id, runs[0].id);
    const waiting = client.post('/v1/runs/claim?wait=60', { worker: 'patient' });
    await untilSubscribers(client, 1);
    const began = Date.now();
    expectStatus(
      await client.patch(`/v1/runs/${first.id}`, { status: end }, token(first)), 200);
    assert.equal(expectStatus(await waiting, 200).id, runs[1].id, end);
    assert.ok(Date.now() - began < 55_000, 'the end of the run did not wake the claim');
    expectStatus(await client.post(`/v1/runs/${runs[1].id}/cancel`), 200);
  }
});

test('a claim whose worker has left takes nothing', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const left = new AbortController();
  const { signal } = left;
  const waiting = client.post('/v1/runs/claim?wait=30', { worker: 'gone' }, { signal });
  await untilSubscribers(client, 1);
  left.abort();
  await assert.rejects(waiting);
  await untilSubscribers(client, 0);
  const run = await enqueue(client, thread.id);
  assert.equal((await readRun(client, run.id)).status, 'queued');
});

test('while a run is leased its worker alone may write', async (t) => {
  const { open: client } = await startServer(t);
  await enqueue(client, (await newThread(client)).id);
  const run = await claim(client, { worker: 'ant' });
  for (const what of ['change the run', 'append an event of the run']) {
    const refused = expectProblem(await WRITES[what](client, run), 409, 'lease_required');
    assert.match(refused.detail, /leased to ant/);
  }
  for (const what of ['keep the lease', 'give the run back'])
    expectFault(await WRITES[what](client, run), 422, 'invalid_input', 'Cairn-Fencing-Token');
  expectFault(await WRITES['change the run'](client, run, token({ fence: 'seven' })),
    422, 'invalid_input', 'Cairn-Fencing-Token');
  // People speak on the thread all the same.
  for (const [what, status] of [['append an event of the thread', 201], ['change the thread', 200]])
    expectStatus(await WRITES[what](client, run), status);
  // With the token every write succeeds; the release is the last one.
  const { 'give the run back': release, ...others } = WRITES;
  for (const [what, write] of Object.entries(others)) {
    const done = await write(client, run, token(run));
    assert.ok(done.status < 300, `${what}: ${done.text}`);
  }
  const released = expectStatus(await release(client, run, token(run)), 200);
  assert.deepEqual([released.status, released.worker, released.lease_ms], ['queued', null, null]);
});

test('a token that was released is refused on every write', async (t) => {
  const { open: client } = await startServer(t);
  await enqueue(client, (await newThread(client)).id);
  const first = await claim(client, { worker: 'first' });
  expectStatus(await WRITES['give the run back'](client, first, token(first)), 200);
  await expectFenced(client, first, first.fence); // no worker holds it
  const second = await claim(client, { worker: 'second' });
  assert.ok(second.fence > first.fence);
  await expectFenced(client, first, first.fence); // another does
  await expectFenced(client, first, second.fence + 1); // never given
  expectStatus(await WRITES['change the run'](client, second, token(second)), 200);
});

test('a token of a run that ended does not open the thread of the next run', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  await enqueue(client, thread.id);
  await enqueue(client, thread.id);
  const first = await claim(client);
  expectStatus(await client.post(`/v1/runs/${first.id}/cancel`), 200);
  const second = await claim(client);
  assert.notEqual(second.fence, first.fence);
  await expectFenced(client, first, first.fence);
  expectStatus(await WRITES['change the thread'](client, second, token(second)), 200);
});

test('a worker writes also while another run is queued behind its own', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  await enqueue(client, thread.id);
  const run = await claim(client);
  await enqueue(client, thread.id);
  expectStatus(await WRITES['append an event of the thread'](client, run, token(run)), 201);
  expectStatus(await WRITES['change the thread'](client, run, token(run)), 200);
});

test('a lease that ends makes the run claimable again, and its token worthless', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  await enqueue(client, thread.id);
  const first = await claim(client, { worker: 'sleepy', lease_ms: 1000 });
  // The sweep gives it back by itself; the waiting claim gets it.
  const second = expectStatus(
    await client.post('/v1/runs/claim?wait=60', { worker: 'awake' }), 200);
  assert.deepEqual([second.id, second.worker], [first.id, 'awake']);
  assert.ok(second.fence > first.fence);
  await expectFenced(client, first, first.fence);
  const { data } = (await client.get(`/v1/threads/${thread.id}/events?run_id=${first.id}`)).body;
  assert.deepEqual(data.map((e) => e.payload.reason),
    ['started', 'claimed', 'lease_expired', 'claimed']);
});

test('heartbeats keep a lease far beyond its length', async (t) => {
  const { open: client } = await startServer(t);
  await enqueue(client, (await newThread(client)).id);
  const beat = (run) =>
    client.post(`/v1/runs/${run.id}/heartbeat`, { lease_ms: 60_000 }, token(run));
  // A machine that stands still for longer than the lease loses it: then the next is longer.
  let run, first;
  for (let lease_ms = 2000; first?.status !== 200; lease_ms *= 3) {
    const began = Date.now();
    run = await claim(client, { lease_ms }, '?wait=60');
    first = await beat(run);
    assert.ok(first.status === 200 || Date.now() - began >= lease_ms, first.text);
  }
  for (const until = Date.now() + 2 * run.lease_ms; Date.now() < until; await pause(250)) {
    const kept = expectStatus(await beat(run), 200);
    assert.deepEqual([kept.status, kept.fence, kept.lease_ms], ['running', run.fence, 60_000]);
  }
  await nothingToClaim(client);
  assert.equal((await readRun(client, run.id)).fence, run.fence);
});

test('what a person decides ends the lease', async (t) => {
  const { open: client } = await startServer(t);
  const verbs = {
    'pause the run': (run) => client.post(`/v1/runs/${run.id}/pause`),
    'cancel the run': (run) => client.post(`/v1/runs/${run.id}/cancel`),
    'pause the thread': (run) => client.post(`/v1/threads/${run.thread_id}/pause`),
    'cancel the thread': (run) => client.post(`/v1/threads/${run.thread_id}/cancel`),
  };
  for (const [what, verb] of Object.entries(verbs)) {
    await enqueue(client, (await newThread(client)).id);
    const run = await claim(client);
    expectStatus(await verb(run), 200);
    const after = await readRun(client, run.id);
    assert.deepEqual([after.worker, after.lease_ms], [null, null], what);
    await expectFenced(client, run, run.fence);
  }
  // A question ends it as well: the answer queues the run for any worker.
  await enqueue(client, (await newThread(client)).id);
  const asking = await claim(client);
  expectStatus(await client.patch(`/v1/runs/${asking.id}`,
    { status: 'waiting_for_input' }, token(asking)), 200);
  await expectFenced(client, asking, asking.fence);
  expectStatus(await client.post(`/v1/runs/${asking.id}/input`, { input: 'yes' }), 200);
  const again = await claim(client);
  assert.deepEqual([again.id, again.input], [asking.id, 'yes']);
});

test('sixteen workers never get the same run', async (t) => {
  const { open: client } = await startServer(t);
  const expected = new Set();
  for (let i = 0; i < 20; i++) {
    const thread = await newThread(client);
    for (let k = 0; k < 4; k++)
      expected.add((await enqueue(client, thread.id)).id);
  }
  const claimed = [];
  const atWork = new Map(); // thread → run: never two at a time
  const work = async (name) => {
    for (;;) {
      const answer = await client.post('/v1/runs/claim?wait=2', { worker: name, lease_ms: 60000 });
      if (answer.status === 204)
        return;
      const run = expectStatus(answer, 200);
      assert.equal(run.worker, name);
      assert.equal(atWork.get(run.thread_id), undefined, 'two runs of a thread at once');
      atWork.set(run.thread_id, run.id);
      claimed.push(run.id);
      expectStatus(await WRITES['append an event of the run'](client, run, token(run)), 201);
      atWork.delete(run.thread_id);
      expectStatus(await client.patch(
        `/v1/runs/${run.id}`, { status: 'completed' }, token(run)), 200);
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, i) => work(`worker-${i}`)));
  assert.equal(claimed.length, expected.size);
  assert.deepEqual(new Set(claimed), expected);
});

test('a lease survives a restart of the server, also an unkind one', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  await enqueue(client, (await newThread(client)).id);
  const run = await claim(client, { worker: 'steady', lease_ms: 30_000 });
  for (const end of ['stop', 'kill']) {
    await server[end]();
    await server.start();
    await nothingToClaim(client);
    const kept = expectStatus(await client.post(`/v1/runs/${run.id}/heartbeat`,
      { lease_ms: 30_000 }, token(run)), 200);
    assert.deepEqual([kept.worker, kept.fence], ['steady', run.fence]);
  }
  expectStatus(await client.patch(
    `/v1/runs/${run.id}`, { status: 'completed' }, token(run)), 200);
});

test('what was done under a lease is answered again after it, by its key', async (t) => {
  const { open: client } = await startServer(t);
  await enqueue(client, (await newThread(client)).id);
  const run = await claim(client);
  const opts = { headers: { ...token(run).headers, 'Idempotency-Key': 'release-1' } };
  const first = expectStatus(
    await client.post(`/v1/runs/${run.id}/release`, undefined, opts), 200);
  const again = await client.post(`/v1/runs/${run.id}/release`, undefined, opts);
  assert.deepEqual(expectStatus(again, 200), first);
  assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
  expectProblem(await client.post(`/v1/runs/${run.id}/release`, undefined, token(run)),
    409, 'lease_lost');
});

test('a token on a route about no thread or run, and an id that no run has, are refused',
  async (t) => {
    const { open: client } = await startServer(t);
    const thread = await newThread(client);
    expectFault(await client.post('/v1/threads', {}, token({ fence: 1 })),
      422, 'invalid_input', 'Cairn-Fencing-Token');
    const nil = '00000000-0000-0000-0000-000000000000';
    expectFault(await client.post(`/v1/threads/${thread.id}/events`,
      { kind: 'progress', run_id: nil }), 422, 'invalid_input', '/run_id');
  });

test('a heartbeat without a length keeps the one it had, and changes nothing else', async (t) => {
  const { open: client } = await startServer(t);
  await enqueue(client, (await newThread(client)).id);
  const run = await claim(client, { lease_ms: 600_000 });
  const kept = expectStatus(
    await client.post(`/v1/runs/${run.id}/heartbeat`, undefined, token(run)), 200);
  assert.deepEqual(kept, run);
});

test('a newer run that is paused does not stand in the way of an older one', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const first = await enqueue(client, thread.id);
  const held = await claim(client);
  const second = await enqueue(client, thread.id);
  expectStatus(await client.post(`/v1/runs/${second.id}/pause`), 200);
  expectStatus(
    await client.post(`/v1/runs/${first.id}/release`, undefined, token(held)), 200);
  assert.equal((await claim(client)).id, first.id);
});

test('a claim that waits gets the run of a thread that becomes active again', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const run = await enqueue(client, thread.id);
  expectStatus(await client.patch(`/v1/threads/${thread.id}`, { status: 'error' }), 200);
  const waiting = client.post('/v1/runs/claim?wait=30', { worker: 'patient' });
  await untilSubscribers(client, 1);
  expectStatus(await client.patch(`/v1/threads/${thread.id}`, { status: 'active' }), 200);
  assert.equal(expectStatus(await waiting, 200).id, run.id);
});
