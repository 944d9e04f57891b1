// SPDX-License-Identifier: Apache-2.0
// A disk that fails under a real server, as seen from outside: an fsync that fails, a write that
// finds no space or fails, a read that fails. Acknowledged writes are always present afterwards.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, expectProblem, expectSound, expectStatus, onSqlite, readAll }
  from './lib/server.mjs';
import { expectSeqs, readSse } from './lib/followers.mjs';
import { Scene } from './lib/crash/scene.mjs';
import { startMeddled } from './lib/meddle.mjs';

const FILES = onSqlite('the disk of PostgreSQL is its own');
const FATAL = 70;
const ROUNDS = Number(process.env.CAIRN_FAULT_ROUNDS || 3);
// The calls at a start that fail; the long form covers every call.
const STRIDE = process.env.CAIRN_FAULT_ROUNDS ? { sync: 1, write: 1, read: 1 }
  : { sync: 1, write: 3, read: 9 };
const MOST_CALLS = 1000;

const append = (client, thread, text) =>
  client.post(`/v1/threads/${thread.id}/events`, { kind: 'progress', text });

test('an fsync fails: the server stops at once and acknowledges nothing more', FILES, async (t) => {
  const { server, meddle } = await startMeddled(t);
  const client = server.open;
  const thread = expectStatus(await client.post('/v1/threads', {}), 201);
  for (let after = 0; after < 4; after++) {
    // One after the other: each that is acknowledged had an fsync of its own. The first after a
    // start is followed by one of the directory, whose failure SQLite ignores; Cairn has done that.
    expectStatus(await append(client, thread, 'first'), 201);
    const before = expectStatus(await client.get(`/v1/threads/${thread.id}`), 200).last_seq;
    meddle.fail('sync', { after });
    const ending = server.ending();
    let acknowledged = 0;
    for (let broken = false; !broken && acknowledged <= after;)
      await append(client, thread, `${after}`).then(
        (answer) => {
          expectStatus(answer, 201);
          acknowledged++;
        },
        () => { broken = true; });
    assert.ok(acknowledged <= after, `${acknowledged} acknowledged with ${after} syncs`);
    assert.equal((await ending).code, FATAL, server.stderr);
    assert.match(server.stderr, /fsync of the database failed/);
    assert.equal(meddle.struck('sync'), 1, 'it went on after the failure');
    meddle.mend();
    await server.start();
    // The one whose fsync failed was never acknowledged: it may be there or not.
    const { last_seq: last } = expectStatus(await client.get(`/v1/threads/${thread.id}`), 200);
    assert.ok([0, 1].includes(last - before - acknowledged), `${before} ${acknowledged} ${last}`);
    expectSeqs(await readAll(client, `/v1/threads/${thread.id}/events`), 1, last);
  }
});

for (const kind of ['sync', 'write', 'read'])
  test(`any ${kind} fails at the start: it does not start, and starts once that is over`, FILES,
    async (t) => {
      const { server, meddle } = await startMeddled(t);
      await server.stop();
      let failed = 0;
      for (let after = 0; after < MOST_CALLS; after += STRIDE[kind]) {
        meddle.fail(kind, { after });
        const started = await server.start().then(() => true, (error) => {
          assert.match(error.message, /cairn ended with (1|70)\b/);
          return false;
        });
        await server.stop();
        const struck = meddle.struck(kind);
        meddle.mend();
        if (struck === 0)
          break;
        failed += started ? 0 : 1;
        await server.start();
        expectStatus(await server.open.post('/v1/threads', {}), 201);
        await server.kill(); // so that the next one begins with a WAL
        assert.ok(after + STRIDE[kind] < MOST_CALLS, 'it never starts clean');
      }
      assert.ok(failed > 0, 'no call was ever made to fail');
      await expectSound(server);
    });

test('the disk is full: writes get 507, reads and streams go on, and so do writes later', FILES,
  async (t) => {
    const { server, meddle } = await startMeddled(t);
    const client = server.open;
    const thread = expectStatus(await client.post('/v1/threads', {}), 201);
    const stream = readSse(client, `/v1/threads/${thread.id}/events/stream`);
    await stream.hears(1);
    for (const [error, status, code] of [['ENOSPC', 507, 'storage_full'],
      ['EIO', 503, 'unavailable']]) {
      const { last_seq: before } = expectStatus(await client.get(`/v1/threads/${thread.id}`), 200);
      meddle.fail('write', { times: 1e6, error });
      for (let i = 0; i < 3; i++) {
        const refused = expectProblem(await append(client, thread, 'refused'), status, code);
        assert.equal(refused.retryable, true);
        expectStatus(await client.get(`/v1/threads/${thread.id}`), 200);
        expectStatus(await client.get('/readyz'), 200);
      }
      assert.ok(meddle.struck('write') > 0);
      meddle.mend();
      // After a full disk it looks for space from time to time, not for every request.
      await eventually(async () => (await append(client, thread, error)).status === 201,
        'it never resumed', 60_000);
      await stream.hearsText(error);
      const log = await readAll(client, `/v1/threads/${thread.id}/events`);
      expectSeqs(log, 1, before + 1);
      assert.deepEqual(stream.heard, log);
    }
    await server.kill();
    await server.start();
    expectSeqs(await readAll(client, `/v1/threads/${thread.id}/events`), 1, 3);
    await server.stop();
    await expectSound(server);
  });

test('a read of the disk fails: nothing wrong is told, and nothing is lost', FILES, async (t) => {
  const { server, meddle } = await startMeddled(t);
  const client = server.open;
  const context = { note: 'x'.repeat(20_000) };
  const thread = expectStatus(await client.post('/v1/threads', { context }), 201);
  const path = `/v1/threads/${thread.id}`;
  let last = 1;
  let ended = 0;
  for (let after = 0; after < 12; after++) {
    await server.restart(); // nothing is in memory
    meddle.fail('read', { after });
    // SQLite takes what the disk cannot read for damage: then Cairn stops, as for any damage.
    const read = await client.get(path).catch(() => null);
    const wrote = await append(client, thread, 'more').catch(() => null);
    if (read !== null && read.status !== 503)
      assert.deepEqual(expectStatus(read, 200), { ...thread, last_seq: last });
    if (wrote !== null && wrote.status !== 503)
      last = expectStatus(wrote, 201).seq;
    if (wrote === null || read === null) {
      assert.equal((await server.ending()).code, FATAL, server.stderr);
      ended++;
    } else
      await server.stop();
    meddle.mend();
    await server.start();
    assert.deepEqual(expectStatus(await client.get(path), 200), { ...thread, last_seq: last });
    expectSeqs(await readAll(client, `${path}/events`), 1, last);
  }
  assert.ok(ended > 0, 'no read was ever made to fail');
});

const HARMS = [
  ['sync', { error: 'EIO' }],
  ['write', { error: 'ENOSPC', times: 1e6 }],
  ['write', { error: 'EIO' }],
];

test(`the disk fails ${ROUNDS} times under load, and nothing acknowledged is lost or doubled`,
  { ...FILES, timeout: (ROUNDS + 3) * 60_000 }, async (t) => {
    const { server, meddle } = await startMeddled(t);
    const scene = await Scene.begin(t, server);
    const struck = HARMS.map(() => 0);
    for (let round = 0; round < ROUNDS; round++) {
      const harm = round % HARMS.length;
      const [kind, how] = HARMS[harm];
      const after = Math.floor(Math.random() * 12);
      const end = await scene.harmed({
        harm: () => meddle.fail(kind, { ...how, after }),
        hasStruck: () => meddle.struck(kind) > 0,
        mend() {
          struck[harm] += meddle.struck(kind);
          meddle.mend();
        },
        ends: kind === 'sync',
      });
      if (kind === 'sync')
        assert.equal(end.code, FATAL, server.stderr);
    }
    assert.ok(struck.every((times) => times > 0), `calls that failed: ${struck.join(', ')}`);
    scene.end();
    await server.stop();
    await expectSound(server);
    t.diagnostic(`crash: ${ROUNDS} faults of the disk under load; ` +
      `calls that failed ${struck.join(', ')}; ` +
      `${scene.acknowledged} writes acknowledged; lost 0; doubled 0`);
  });
