// SPDX-License-Identifier: Apache-2.0
// A full disk under SQLite: reads and streams continue, most writes are rejected as retryable,
// operations that free space use a reserve, and no restart is needed.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { claim, eventually, expectProblem, expectStatus, onSqlite, readAll, startServer, token,
  twoTenants, uuid, withKey } from './lib/server.mjs';
import { expectSeqs, followSse, followWs, readSse } from './lib/followers.mjs';
import { smallDisk } from './lib/small-disk.mjs';

const HERE = onSqlite('PostgreSQL has a disk of its own');
const NO_MOUNT = 'no right to mount a small file system';
const RESERVE_BYTES = 16 * 1024 * 1024;

const newThread = async (client) => expectStatus(await client.post('/v1/threads', {}), 201);
const start = async (client, threadId) => expectStatus(
  await client.post(`/v1/threads/${threadId}/runs`, { policy: 'enqueue' }), 201);
const cancel = (client, runId, opts) => client.post(`/v1/runs/${runId}/cancel`, undefined, opts);
const append = (client, threadId, bytes = 20_000) => client.post(`/v1/threads/${threadId}/events`,
  { kind: 'progress', text: uuid(), payload: 'x'.repeat(bytes) });

/** The metrics about space. */
async function space(client) {
  const { text } = await client.get('/metrics');
  const value = (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)[1]);
  return { full: value('cairn_store_full'), reserve: value('cairn_store_reserve') };
}

const lines = (server, words) => server.stderr.split('\n').filter((line) => line.includes(words));
const reserveBytes = (server) => statSync(join(server.dataDir, 'cairn.reserve'),
  { throwIfNoEntry: false })?.size ?? 0;

/** A rejection that names the operations that still work, and is retryable. */
function expectFull(answer) {
  const problem = expectProblem(answer, 507, 'storage_full');
  assert.equal(problem.retryable, true);
  assert.match(answer.headers.get('Retry-After') ?? '', /^\d+$/);
  assert.match(problem.detail, /streams continue.*cancelling, deleting, pruning and revoking/);
}

/** Many at once append until each is refused: what was acknowledged, by its text. */
async function fillUp(client, threadId, { writers = 8, bytes } = {}) {
  const acknowledged = new Map();
  await Promise.all(Array.from({ length: writers }, async () => {
    for (;;) {
      const answer = await append(client, threadId, bytes);
      if (answer.status !== 201)
        return expectFull(answer);
      acknowledged.set(answer.body.text, answer.body);
    }
  }));
  return acknowledged;
}

async function expectKept(client, threadId, acknowledged) {
  const log = await readAll(client, `/v1/threads/${threadId}/events`);
  expectSeqs(log, log[0].seq, log.at(-1).seq);
  const byText = new Map(log.map((event) => [event.text, event]));
  for (const [text, event] of acknowledged)
    assert.deepEqual(byText.get(text), event);
}

const untilWritten = (client, threadId) => eventually(
  async () => (await append(client, threadId, 100)).status === 201, 'writes did not come back');

test('with a full disk reads go on, cancel and delete work, and all resumes with space', HERE,
  async (t) => {
    const disk = smallDisk(t, 64);
    if (disk === null)
      return t.skip(NO_MOUNT);
    const server = await startServer(t, { dataDir: disk.data });
    const { operator, alice, bob } = await twoTenants(server);
    const key = await withKey(alice, ['runs:read']);
    const [thread, doomed, busy] = [await newThread(alice), await newThread(alice),
      await newThread(alice)];
    const runs = [await start(alice, busy.id), await start(alice, busy.id)];
    const held = await claim(alice, { worker: 'w', thread_id: busy.id });
    const stream = `/v1/threads/${thread.id}/events/stream`;
    const { ticket } = expectStatus(
      await alice.post('/v1/tickets', { path: stream, ttl_s: 300 }), 201);
    const party = await newThread(alice);
    const share = expectStatus(
      await alice.post(`/v1/threads/${party.id}/shares`, { kind: 'participate' }), 201);
    const guest = expectStatus(await alice.post(
      `/v1/threads/${party.id}/participants`, { principal: 'user:guest' }), 201);
    const files = `/v1/threads/${party.id}/files`;
    for (const [name, status] of [['a', 201], ['a', 200], ['b', 201]])
      expectStatus(await alice.put(`${files}/${name}`, { name }), status);
    const upload = expectStatus(await alice.post(
      `/v1/threads/${party.id}/uploads`, { name: 'c', size_bytes: 9 }), 201);
    const stored = { namespace: ['full'], key: 'k', value: {} };
    expectStatus(await alice.put('/v1/store/items', stored), 201);
    const [ws, sse] = [followWs(alice, `/v1/threads/${thread.id}/events/ws`),
      followSse(alice, '/v1/events/stream')];
    await Promise.all([ws.opened, sse.opened]);
    assert.deepEqual(await space(alice), { full: 0, reserve: 1 });
    assert.equal(reserveBytes(server), RESERVE_BYTES);

    disk.fill(3);
    const acknowledged = await fillUp(alice, thread.id);
    assert.ok(acknowledged.size > 10, `${acknowledged.size}`);
    assert.deepEqual(await space(alice), { full: 1, reserve: 0 });
    assert.equal(reserveBytes(server), 0);
    assert.equal(expectStatus(await alice.get('/readyz'), 200).status, 'full');

    // Reads, pages, and streams, open or new.
    const { last_seq: last } = expectStatus(await alice.get(`/v1/threads/${thread.id}`), 200);
    await expectKept(alice, thread.id, acknowledged);
    await ws.hears(last);
    await followWs(alice, `/v1/threads/${thread.id}/events/ws`).hears(last);

    for (const refused of await Promise.all([append(alice, thread.id, 10),
      alice.post('/v1/threads', {}),
      alice.post('/v1/runs/claim', { worker: 'w' }),
      alice.patch(`/v1/threads/${thread.id}`, { title: 'x' }),
      alice.post('/v1/keys', { name: 'k', scopes: ['runs:read'] })]))
      expectFull(refused);

    // Out of it: what is not wanted any more can go, and what is done is not lost.
    const once = { headers: { 'Idempotency-Key': uuid() } };
    const [first, again] = [await cancel(alice, runs[1].id, once),
      await cancel(alice, runs[1].id, once)];
    assert.equal(expectStatus(first, 200).status, 'cancelled');
    assert.deepEqual([again.text, again.headers.get('Idempotency-Replayed')],
      [first.text, 'true']);
    await sse.until((heard) => heard.some((e) => e.run_id === runs[1].id && e.status !== 'queued'));
    expectStatus(await alice.post(`/v1/runs/${held.id}/heartbeat`, {}, token(held)), 200);
    expectStatus(await alice.post(`/v1/runs/${held.id}/release`, undefined, token(held)), 200);
    expectStatus(await alice.post(`/v1/threads/${busy.id}/cancel`), 200);
    expectStatus(await alice.del(`/v1/threads/${doomed.id}`), 204);
    expectProblem(await alice.get(`/v1/threads/${doomed.id}`), 404, 'not_found');
    expectStatus(await alice.del(`/v1/keys/${key.keyId}`), 200);
    expectStatus(await alice.del(`/v1/threads/${party.id}/shares/${share.id}`), 200);
    expectStatus(await alice.del(`/v1/threads/${party.id}/participants/${guest.id}`), 200);
    expectFull(await alice.post(`/v1/threads/${party.id}/shares`, { kind: 'copy' }));
    expectFull(await alice.put(`${files}/d`, {}));
    expectFull(await alice.put('/v1/store/items', stored));
    expectStatus(await alice.del('/v1/store/items?namespace=full&key=k'), 204);
    expectStatus(await alice.del(`${files}/a/versions/1`), 204);
    expectStatus(await alice.del(`${files}/b`), 204);
    expectStatus(await alice.del(`/v1/threads/${party.id}/uploads/${upload.id}`), 204);
    expectProblem(await key.get('/v1/whoami'), 401, 'unauthenticated');
    expectStatus(await operator.del(`/v1/tenants/${bob.tenantId}`), 204);
    expectStatus(
      await alice.post(`/v1/threads/${busy.id}/events/prune`, { through_seq: 1 }), 200);
    assert.equal(expectStatus(await alice.get('/v1/audit/verify'), 200).intact, true);
    expectFull(await alice.post('/v1/tickets', { path: stream }));
    const opened = readSse(server.open, `${stream}?after=0&ticket=${ticket}`);
    await opened.hears(1);
    opened.close();
    expectProblem(await server.open.get(`${stream}?ticket=${ticket}`), 401, 'unauthenticated');
    expectFull(await append(alice, thread.id, 10));
    assert.equal(lines(server, 'the disk is full').length, 1, server.stderr);
    assert.equal(lines(server, '"message":"request"').length, 0, server.stderr);

    disk.empty();
    await untilWritten(alice, thread.id);
    assert.deepEqual(await space(alice), { full: 0, reserve: 1 });
    assert.equal(reserveBytes(server), RESERVE_BYTES);
    assert.equal(expectStatus(await alice.get('/readyz'), 200).status, 'ready');
    assert.equal(lines(server, 'space is available again').length, 1, server.stderr);
    await expectKept(alice, thread.id, acknowledged);
    await server.stop();
    assert.deepEqual(server.sql('PRAGMA integrity_check'), [['ok']]);
  });

test('a server that was stopped or killed starts on a full disk, and can be led out of it', HERE,
  async (t) => {
    const disk = smallDisk(t, 64);
    if (disk === null)
      return t.skip(NO_MOUNT);
    const server = await startServer(t, { dataDir: disk.data });
    const client = server.open;
    const thread = await newThread(client);
    const busy = await newThread(client);
    const runs = [];
    for (let i = 0; i < 4; i++)
      runs.push(await start(client, busy.id));
    const acknowledged = new Map();
    const restartFull = async (end) => {
      await end();
      disk.fill(0);
      await server.start();
      expectFull(await append(client, thread.id, 10));
      await expectKept(client, thread.id, acknowledged);
    };
    const kept = expectStatus(await append(client, thread.id), 201);
    acknowledged.set(kept.text, kept);

    // With the reserve, from the last byte.
    await restartFull(() => server.stop());
    assert.equal(expectStatus(await cancel(client, runs[0].id), 200).status, 'cancelled');
    // Other files have used the space of the released reserve. Nothing can be written, everything
    // can be read.
    await restartFull(() => server.kill());
    disk.empty();
    disk.fill(8);
    assert.equal(expectStatus(await cancel(client, runs[1].id), 200).status, 'cancelled');
    expectFull(await append(client, thread.id, 10));
    await server.kill();
    await server.start();
    assert.equal(expectStatus(await client.get(`/v1/runs/${runs[1].id}`), 200).status, 'cancelled');
    assert.equal(expectStatus(await cancel(client, runs[2].id), 200).status, 'cancelled');

    disk.empty();
    await untilWritten(client, thread.id);
    assert.equal(reserveBytes(server), RESERVE_BYTES);
    await expectKept(client, thread.id, acknowledged);
  });

test('what is deleted makes room inside the database while the disk stays full', HERE,
  async (t) => {
    const disk = smallDisk(t, 128);
    if (disk === null)
      return t.skip(NO_MOUNT);
    const server = await startServer(t, { dataDir: disk.data });
    const client = server.open;
    const [large, thread] = [await newThread(client), await newThread(client)];
    const run = await start(client, thread.id);
    const many = Array.from({ length: 25 },
      () => ({ kind: 'progress', payload: 'x'.repeat(120_000) }));
    for (let i = 0; i < 12; i++)
      expectStatus(await client.post(`/v1/threads/${large.id}/events`, { events: many }), 201);
    disk.fill(3);
    await fillUp(client, thread.id);
    expectStatus(await client.del(`/v1/threads/${large.id}`), 204);
    await untilWritten(client, thread.id);
    assert.deepEqual(await space(client), { full: 0, reserve: 0 }, 'the disk is as full as before');

    // The pages that were freed are a reserve too.
    await fillUp(client, thread.id, { writers: 4, bytes: 120_000 });
    assert.equal((await space(client)).full, 1);
    assert.equal(expectStatus(await cancel(client, run.id), 200).status, 'cancelled');
    await server.stop();
    assert.deepEqual(server.sql('PRAGMA integrity_check'), [['ok']]);
  });
