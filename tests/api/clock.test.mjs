// SPDX-License-Identifier: Apache-2.0
// A wall clock that jumps by a day, forward and back, while a server runs and across a restart.
// Leases and waits use a steady clock, so a jump neither ends nor prolongs them; ids continue to
// increase; data with a retention time is not dropped early.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { claim, eventually, expectProblem, expectStatus, onPostgres, pause, readAll, startServer,
  sweepPasses, token, uuid, withKey } from './lib/server.mjs';
import { expectSeqs, readSse } from './lib/followers.mjs';
import { HOUR_MS, startMeddled } from './lib/meddle.mjs';

const DAY_MS = 24 * HOUR_MS;
const JUMPS = { 'a day ahead': DAY_MS, 'a day behind': -DAY_MS };
const NODES = onPostgres('SQLite has one node');

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);

const enqueue = async (client, threadId) =>
  expectStatus(await client.post(`/v1/threads/${threadId}/runs`, { policy: 'enqueue' }), 201);

async function claimNew(client, lease_ms) {
  const thread = await newThread(client);
  await enqueue(client, thread.id);
  return claim(client, { thread_id: thread.id, lease_ms });
}

const heartbeat = (client, run, body) =>
  client.post(`/v1/runs/${run.id}/heartbeat`, body, token(run));

const statusOf = async (client, run) =>
  expectStatus(await client.get(`/v1/runs/${run.id}`), 200).status;

/** How far the server's clock is from ours. */
async function wallOf(client) {
  const { created_at: at } = await newThread(client);
  return Date.parse(at) - Date.now();
}

const isNear = (ms, wanted) => assert.ok(Math.abs(ms - wanted) < 60_000, `${ms}, not ${wanted}`);

// They wait more than they work.
describe('a clock that jumps', { concurrency: 4 }, () => {
  for (const [where, jump] of Object.entries(JUMPS)) {
    test(`the clock is ${where}: a lease is held as long as it is kept, and no longer`,
      async (t) => {
        const { server, meddle } = await startMeddled(t);
        const client = server.open;
        const thread = await newThread(client);
        await enqueue(client, thread.id);
        const held = await claim(client, { lease_ms: HOUR_MS });
        meddle.wall(jump);
        isNear(await wallOf(client), jump);
        for (let i = 0; i < 3; i++) {
          await pause(1300);
          expectStatus(await heartbeat(client, held), 200);
          expectStatus(await client.post('/v1/runs/claim', { worker: 'other' }), 204);
        }
        expectStatus(await heartbeat(client, held, { lease_ms: 2000 }), 200);
        meddle.wall(0);
        const next = await claim(client, { worker: 'next' }, '?wait=60');
        assert.deepEqual([next.id, next.fence > held.fence], [held.id, true]);
        expectProblem(await client.patch(`/v1/runs/${held.id}`, { status: 'completed' },
          token(held)), 409, 'lease_lost');
      });

    test(`the clock is ${where} after a restart: leases end in their time`, async (t) => {
      const { server, meddle } = await startMeddled(t);
      const client = server.open;
      for (const how of ['restart', 'kill']) {
        const held = await claimNew(client, HOUR_MS);
        const ending = await claimNew(client, 2000);
        meddle.wall(how === 'kill' ? 0 : jump);
        if (how === 'kill') {
          await server.kill();
          await server.start();
        } else
          await server.restart();
        await eventually(async () => await statusOf(client, ending) === 'queued', 'it never ends');
        expectProblem(await heartbeat(client, ending), 409, 'lease_lost');
        expectStatus(await heartbeat(client, held, { lease_ms: 1000 }), 200);
        await eventually(async () => await statusOf(client, held) === 'queued', 'it never ends');
      }
    });
  }

  test('ids rise over every jump and every restart, and lists keep the order', async (t) => {
    const { server, meddle } = await startMeddled(t);
    const client = server.open;
    const thread = await newThread(client);
    const threads = [thread.id];
    const runs = [];
    const events = [];
    for (const jump of [0, DAY_MS, -DAY_MS, 0, -DAY_MS, DAY_MS, 0])
      for (const restarts of [false, true]) {
        meddle.wall(jump);
        if (restarts)
          await server.restart();
        isNear(await wallOf(client), jump);
        threads.push((await newThread(client)).id);
        runs.push((await enqueue(client, thread.id)).id);
        events.push(expectStatus(await client.post(`/v1/threads/${thread.id}/events`,
          { kind: 'progress' }), 201).id);
      }
    assert.deepEqual(threads, [...threads].sort());
    assert.deepEqual(runs, [...runs].sort());
    assert.deepEqual(events, [...events].sort((a, b) => a - b));
    const listed = expectStatus(await client.get(`/v1/threads/${thread.id}/runs?limit=200`), 200);
    assert.deepEqual(listed.data.map((run) => run.id), [...runs].reverse());
    // The first run queued is claimed first.
    for (const id of runs) {
      const run = await claim(client, { lease_ms: 60_000 });
      assert.equal(run.id, id);
      expectStatus(await client.patch(`/v1/runs/${id}`, { status: 'completed' }, token(run)), 200);
    }
  });

  test('a request sent again after a jump is answered from the first time', async (t) => {
    const { server, meddle } = await startMeddled(t);
    for (const jump of [DAY_MS, -DAY_MS]) {
      const headers = { 'Idempotency-Key': uuid() };
      const send = () => server.open.post('/v1/threads', { title: 'once' }, { headers });
      const first = expectStatus(await send(), 201);
      meddle.wall(jump);
      await sweepPasses(server.open);
      const again = await send();
      assert.deepEqual(expectStatus(again, 201), first);
      assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
      meddle.wall(0);
    }
  });

  test('a request sent after a jump and again after a crash is answered from the first time',
    async (t) => {
      const { server, meddle } = await startMeddled(t);
      const headers = { 'Idempotency-Key': uuid() };
      const send = () => server.open.post('/v1/threads', { title: 'once' }, { headers });
      meddle.wall(DAY_MS + HOUR_MS);
      const first = expectStatus(await send(), 201);
      await server.kill();
      await server.start();
      assert.deepEqual(expectStatus(await send(), 201), first);
    });

  test('events that are kept for an hour are not dropped because the clock jumped', async (t) => {
    const { server, meddle } = await startMeddled(t);
    const client = server.open;
    const thread = await newThread(client, { event_max_age_s: 3600 });
    for (const jump of [DAY_MS, -DAY_MS, 0]) {
      meddle.wall(jump);
      expectStatus(await client.post(`/v1/threads/${thread.id}/events`, { kind: 'progress' }), 201);
      await sweepPasses(client);
      const { pruned_seq: pruned, last_seq: last } = expectStatus(
        await client.get(`/v1/threads/${thread.id}`), 200);
      assert.equal(pruned, 0);
      expectSeqs(await readAll(client, `/v1/threads/${thread.id}/events`), 1, last);
    }
  });

  test('streams, long polls and their heartbeats do not notice a jump', async (t) => {
    const { server, meddle } = await startMeddled(t);
    const client = server.open;
    const thread = await newThread(client);
    const stream = readSse(client, `/v1/threads/${thread.id}/events/stream`);
    await stream.opened;
    for (const jump of [DAY_MS, -DAY_MS, 0]) {
      const { last_seq: last } = expectStatus(await client.get(`/v1/threads/${thread.id}`), 200);
      const began = Date.now();
      const waiting = client.get(`/v1/threads/${thread.id}/events?after=${last}&wait=1`);
      await pause(300);
      meddle.wall(jump);
      assert.deepEqual(expectStatus(await waiting, 200).data, []);
      const took = Date.now() - began;
      assert.ok(took > 900 && took < DAY_MS / 1000, `it took ${took} ms`);
      const text = uuid();
      expectStatus(await client.post(`/v1/threads/${thread.id}/events`, { kind: 'progress', text }),
        201);
      await stream.hearsText(text);
    }
    const comments = () => stream.text.match(/^:/gm)?.length ?? 0;
    const before = comments();
    await eventually(() => comments() > before, 'no heartbeat');
    expectSeqs(stream.heard, 1, 4);
  });

  test('a key expires by the wall clock; a rate limit is no stricter after a jump', async (t) => {
    const { server, meddle } = await startMeddled(t);
    const admin = server.client(expectStatus(await server.open.post('/v1/keys',
      { name: 'root', scopes: ['operator'] }), 201).secret);
    const expires_at = new Date(Date.now() + HOUR_MS).toISOString();
    const guest = await withKey(admin, ['threads:read'], { expires_at });
    const hasty = await withKey(admin, ['threads:read'], { rate_limit_per_minute: 60 });
    // Many at once: one after the other could be slower than the limit.
    const statuses = async () => (await Promise.all(
      Array.from({ length: 20 }, () => hasty.get('/v1/whoami')))).map(({ status }) => status);
    while (!(await statuses()).includes(429));
    meddle.wall(-DAY_MS);
    expectStatus(await guest.get('/v1/whoami'), 200);
    await eventually(async () => (await hasty.get('/v1/whoami')).status === 200, 'shut out');
    meddle.wall(DAY_MS);
    expectProblem(await guest.get('/v1/whoami'), 401, 'key_expired');
    expectStatus(await hasty.get('/v1/whoami'), 200);
    meddle.wall(0);
    expectStatus(await guest.get('/v1/whoami'), 200);
    assert.equal(expectStatus(await admin.get('/v1/audit/verify'), 200).intact, true);
  });

  test('a key revoked on a node whose clock is wrong ends its streams on the others', NODES,
    async (t) => {
      const { server: wrong, meddle } = await startMeddled(t);
      const admin = wrong.client(expectStatus(await wrong.open.post('/v1/keys',
        { name: 'root', scopes: ['operator'] }), 201).secret);
      const right = await startServer(t, { schema: wrong.schema, db: wrong.db });
      for (const jump of [-DAY_MS, DAY_MS]) {
        meddle.wall(jump);
        const guest = await withKey(admin, ['events:read']);
        const stream = readSse(right.client(guest.secret), '/v1/events/stream');
        await stream.opened;
        expectStatus(await admin.del(`/v1/keys/${guest.keyId}`), 200);
        assert.equal((await stream.ended).reason, 'access_ended');
      }
    });
});
