// SPDX-License-Identifier: Apache-2.0
// A worker, or the server itself, that is stopped past a lease: when it continues, another worker
// has the run, and its late writes change nothing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { atEnd } from './lib/ending.mjs';
import { claim, eventually, expectProblem, expectStatus, pause, readAll, startServer, token }
  from './lib/server.mjs';
import { expectSeqs } from './lib/followers.mjs';

const LEASE_MS = 3_600_000;
const WORKER = fileURLToPath(new URL('lib/stopped-worker.mjs', import.meta.url));

async function enqueue(client) {
  const thread = expectStatus(await client.post('/v1/threads', {}), 201);
  return expectStatus(await client.post(`/v1/threads/${thread.id}/runs`, {}), 201);
}

/** A worker in a process of its own, and what it says, round by round. */
function startWorker(t, server, threadId) {
  const child = spawn(process.execPath, [WORKER, server.url, threadId, String(LEASE_MS)],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  const rounds = [];
  createInterface({ input: child.stdout }).on('line', (line) => rounds.push(JSON.parse(line)));
  const ended = new Promise((done) => child.on('close', done));
  atEnd(t, async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, rounds };
}

/** All that a write could have changed. */
async function picture(client, run) {
  return {
    run: expectStatus(await client.get(`/v1/runs/${run.id}`), 200),
    thread: expectStatus(await client.get(`/v1/threads/${run.thread_id}`), 200),
    log: await readAll(client, `/v1/threads/${run.thread_id}/events`),
  };
}

const endsOf = ({ log }) => log.filter((event) =>
  event.kind !== 'run.phase' && event.payload?.to === 'completed');

test('a worker stopped past its lease can write nothing when it wakes', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  const run = await enqueue(client);
  const { child, rounds } = startWorker(t, server, run.thread_id);
  await eventually(() => rounds.length >= 2, 'it does not work');
  assert.deepEqual(new Set(rounds.flatMap(({ statuses }) => statuses)), new Set([200, 201]));

  child.kill('SIGSTOP');
  // One heartbeat of the worker may still be under way when its lease is made short.
  const next = await eventually(async () => {
    await client.post(`/v1/runs/${run.id}/heartbeat`, { lease_ms: 1000 }, token(rounds[0]));
    const answer = await client.post('/v1/runs/claim?wait=5',
      { worker: 'next', lease_ms: 600_000 });
    return answer.status === 200 && answer.body;
  }, 'its lease never ends');
  assert.equal(next.id, run.id);
  assert.ok(next.fence > rounds[0].fence);
  const before = await picture(client, run);
  const heard = rounds.length;
  child.kill('SIGCONT');
  // One round may have started before the stop; two complete rounds follow.
  await eventually(() => rounds.length >= heard + 3, 'it did not wake');
  child.kill('SIGKILL');
  for (const { statuses, codes } of rounds.slice(heard + 1)) {
    assert.deepEqual(new Set(statuses), new Set([409]));
    assert.deepEqual(new Set(codes), new Set(['lease_lost']));
  }
  assert.ok(rounds.at(-1).statuses.length === 7, 'it tried to complete the run');
  assert.deepEqual(await picture(client, run), before);

  expectStatus(await client.patch(`/v1/runs/${run.id}`, { status: 'completed' }, token(next)), 200);
  const after = await picture(client, run);
  assert.equal(endsOf(after).length, 1);
  expectSeqs(after.log, 1, after.thread.last_seq);
});

test('a server stopped past a lease gives the run to one worker, who completes it once',
  async (t) => {
    const server = await startServer(t);
    const client = server.open;
    for (let i = 0; i < 3; i++) {
      const run = await enqueue(client);
      const held = await claim(client, { thread_id: run.thread_id, lease_ms: 1000 });
      server.freeze();
      // All of these wait for an answer when it wakes; the holder's lease is over by then.
      const late = [
        client.patch(`/v1/runs/${run.id}`, { status: 'completed' }, token(held)),
        client.post(`/v1/runs/${run.id}/heartbeat`, undefined, token(held)),
        client.post(`/v1/threads/${run.thread_id}/events`, { kind: 'progress' }, token(held)),
      ];
      const others = ['a', 'b'].map((worker) => client.post('/v1/runs/claim?wait=60',
        { worker, thread_id: run.thread_id, lease_ms: 60_000 }));
      await pause(1500);
      server.thaw();
      for (const answer of late)
        expectProblem(await answer, 409, 'lease_lost');
      const winner = expectStatus(await Promise.race(others), 200);
      assert.deepEqual([winner.id, winner.fence > held.fence], [run.id, true]);
      expectStatus(await client.patch(`/v1/runs/${run.id}`, { status: 'completed' },
        token(winner)), 200);
      // The other one waits for a run that there is not; a new one is its.
      const second = expectStatus(
        await client.post(`/v1/threads/${run.thread_id}/runs`, {}), 201);
      const answers = await Promise.all(others);
      assert.deepEqual(new Set(answers.map(({ body }) => body.id)), new Set([run.id, second.id]));
      const after = await picture(client, run);
      assert.equal(endsOf(after).length, 1);
      expectSeqs(after.log, 1, after.thread.last_seq);
    }
  });
