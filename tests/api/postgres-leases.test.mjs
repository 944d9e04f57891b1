// SPDX-License-Identifier: Apache-2.0
// Leases over several nodes: a worker's lease is valid on all nodes, and a node that dies or hangs
// delays only its own requests.
import assert from 'node:assert/strict';
import test from 'node:test';
import { claim, eventually, expectProblem, expectStatus, onPostgres, pause, sweepPasses, token,
  uuid } from './lib/server.mjs';
import { startNodes } from './lib/middlemen.mjs';
import { openSession } from './lib/postgres.mjs';

const NODES = onPostgres('SQLite has one node');
const LEASE_MS = 1500;

const enqueue = async (client, body = {}) => {
  const thread = expectStatus(await client.post('/v1/threads', {}), 201);
  return expectStatus(await client.post(`/v1/threads/${thread.id}/runs`, body), 201);
};

const complete = async (client, run) => expectStatus(
  await client.patch(`/v1/runs/${run.id}`, { status: 'completed' }, token(run)), 200);

const reasons = async (client, run) => expectStatus(
  await client.get(`/v1/threads/${run.thread_id}/events?run_id=${run.id}`), 200)
  .data.map((e) => e.payload.reason);

test('runs claimed from three nodes at once are each claimed once', NODES, async (t) => {
  const nodes = await startNodes(t, 3);
  const runs = new Set();
  for (let i = 0; i < 24; i++)
    runs.add((await enqueue(nodes[i % 3].open)).id);
  const claimed = [];
  await Promise.all([...nodes, ...nodes, ...nodes].map(async (node) => {
    while (claimed.length < runs.size) {
      const answer = await node.open.post('/v1/runs/claim', { worker: 'w', lease_ms: 60_000 });
      if (answer.status === 204) // others hold what is left, for this moment or for good
        await pause(20);
      else
        claimed.push(expectStatus(answer, 200).id);
    }
  }));
  assert.equal(claimed.length, runs.size);
  assert.deepEqual(new Set(claimed), runs);
  for (const node of nodes)
    expectStatus(await node.open.post('/v1/runs/claim', { worker: 'w' }), 204);
});

test('a claim that waits on one node gets the run that another node queues', NODES, async (t) => {
  const [a, b] = await startNodes(t, 2);
  const began = Date.now();
  const waiting = claim(b.open, { worker: 'patient' }, '?wait=60');
  await pause(200);
  const run = await enqueue(a.open);
  assert.equal((await waiting).id, run.id);
  assert.ok(Date.now() - began < 55_000, 'the claim was not woken');
});

test('a lease taken on one node is good on the others', NODES, async (t) => {
  const [a, b, c] = await startNodes(t, 3);
  const run = await enqueue(a.open);
  const held = await claim(a.open, { lease_ms: 20_000 });
  assert.equal(held.id, run.id);
  const kept = expectStatus(
    await b.open.post(`/v1/runs/${run.id}/heartbeat`, { lease_ms: 30_000 }, token(held)), 200);
  assert.equal(kept.fence, held.fence);
  expectProblem(await b.open.patch(`/v1/runs/${run.id}`, { state: {} }), 409, 'lease_required');
  await complete(c.open, held);
  expectProblem(await a.open.patch(`/v1/runs/${run.id}`, { state: {} }, token(held)),
    409, 'lease_lost');
});

test('a node is killed: its runs go on elsewhere within the lease', NODES, async (t) => {
  const [a, b, c] = await startNodes(t, 3);
  const run = await enqueue(a.open);
  const lost = await claim(a.open, { lease_ms: LEASE_MS });
  const began = Date.now();
  await a.kill();
  const again = await claim(b.open, { worker: 'next', lease_ms: 60_000 }, '?wait=60');
  const took = Date.now() - began;
  assert.deepEqual([again.id, again.worker], [run.id, 'next']);
  assert.ok(again.fence > lost.fence);
  assert.ok(took < 55_000, `it took ${took} ms`);
  for (const late of [
    await b.open.patch(`/v1/runs/${run.id}`, { status: 'completed' }, token(lost)),
    await c.open.post(`/v1/runs/${run.id}/heartbeat`, undefined, token(lost)),
    await c.open.post(`/v1/threads/${run.thread_id}/events`, { kind: 'progress' }, token(lost)),
  ])
    expectProblem(late, 409, 'lease_lost');
  await complete(c.open, again);
  assert.deepEqual((await reasons(c.open, run)).slice(0, 4),
    ['started', 'claimed', 'lease_expired', 'claimed']);
});

test('a node stands still past the lease: what it is told comes too late', NODES, async (t) => {
  const [a, b] = await startNodes(t, 2);
  const run = await enqueue(a.open);
  const lost = await claim(a.open, { lease_ms: LEASE_MS });
  a.freeze();
  // The worker still sends requests; the server does not answer yet.
  const late = [
    a.open.patch(`/v1/runs/${run.id}`, { status: 'completed' }, token(lost)),
    a.open.post(`/v1/runs/${run.id}/heartbeat`, undefined, token(lost)),
    a.open.post(`/v1/threads/${run.thread_id}/events`, { kind: 'progress' }, token(lost)),
  ];
  const again = await claim(b.open, { worker: 'next', lease_ms: 60_000 }, '?wait=60');
  assert.equal(again.id, run.id);
  a.thaw();
  for (const answer of late)
    expectProblem(await answer, 409, 'lease_lost');
  await complete(a.open, again);
});

test('the sweeps of three nodes end an expired lease once', NODES, async (t) => {
  const nodes = await startNodes(t, 3);
  const runs = [];
  for (let i = 0; i < 10; i++) {
    const run = await enqueue(nodes[i % 3].open);
    runs.push(await claim(nodes[i % 3].open, { thread_id: run.thread_id, lease_ms: 1000 }));
  }
  for (const run of runs)
    await eventually(async () =>
      (await nodes[0].open.get(`/v1/runs/${run.id}`)).body.status === 'queued', 'never swept');
  await Promise.all(nodes.map((node) => sweepPasses(node.open)));
  for (const run of runs)
    assert.deepEqual(await reasons(nodes[1].open, run), ['started', 'claimed', 'lease_expired']);
});

test('a restart of all nodes leaves leases as they are', NODES, async (t) => {
  const [a, b] = await startNodes(t, 2);
  await enqueue(a.open);
  const held = await claim(a.open, { lease_ms: 600_000 });
  await Promise.all([a.restart(), b.restart()]);
  expectStatus(await b.open.post(`/v1/runs/${held.id}/heartbeat`, undefined, token(held)), 200);
  expectStatus(await a.open.post('/v1/runs/claim', { worker: 'w' }), 204);
  // A lease that ended while no node was there is noticed by the first that is.
  await enqueue(a.open);
  const short = await claim(a.open, { lease_ms: 1000 });
  await Promise.all([a.stop(), b.stop()]);
  await pause(1200);
  await b.start();
  const again = await claim(b.open, { worker: 'next' }, '?wait=60');
  assert.equal(again.id, short.id);
  await a.start();
});

/** A session outside of Cairn that locks the row of a thread until its COMMIT. */
async function lockThread(t, server, id) {
  const session = openSession(t, server.db);
  await session.sql(`BEGIN; SET LOCAL search_path = ${server.schema}; SET LOCAL cairn.tenant = '*';
    SELECT FROM threads WHERE id = '${id}' FOR UPDATE`);
  return session;
}

test('an expired lease on a thread that is locked does not hold up the others', NODES,
  async (t) => {
    const [a] = await startNodes(t, 1);
    const statusOf = async (run) =>
      expectStatus(await a.open.get(`/v1/runs/${run.id}`), 200).status;
    const claimNew = async (lease_ms) => {
      const run = await enqueue(a.open);
      return claim(a.open, { thread_id: run.thread_id, lease_ms });
    };
    // The lock must come before the lease ends: on a slow machine the lease is longer.
    let first, second, lock;
    for (let lease_ms = 2000; ; lease_ms *= 3) {
      first = await claimNew(lease_ms);
      lock = await lockThread(t, a, first.thread_id);
      second = await claimNew(lease_ms); // ends after the first
      if (await statusOf(first) === 'running')
        break;
      await lock.sql('COMMIT');
    }
    await eventually(async () => await statusOf(second) === 'queued', 'it is stranded');
    assert.equal(await statusOf(first), 'running');
    await lock.sql('COMMIT');
    await eventually(async () => await statusOf(first) === 'queued', 'it is stranded');
  });

test('the same request on two nodes at once is done once, and both are told so', NODES,
  async (t) => {
    const [a, b] = await startNodes(t, 2);
    const run = await enqueue(a.open);
    for (let i = 0; i < 5; i++)
      for (const verb of ['pause', 'resume']) {
        const lock = await lockThread(t, a, run.thread_id);
        const headers = { 'Idempotency-Key': uuid() };
        const answers = Promise.all([a, b].map(
          (node) => node.open.post(`/v1/runs/${run.id}/${verb}`, {}, { headers })));
        await pause(100); // both wait for the row of the thread
        await lock.sql('COMMIT');
        const [one, other] = await answers;
        assert.deepEqual(expectStatus(one, 200), expectStatus(other, 200));
        const replayed = [one, other].map((answer) => answer.headers.get('Idempotency-Replayed'));
        assert.deepEqual(replayed.sort(), ['true', null].sort());
      }
  });
