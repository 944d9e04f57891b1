// SPDX-License-Identifier: Apache-2.0
// A replica for reads that may lag: only for who asked, and never for a lease or a cursor.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, expectFault, expectStatus, onPostgres, pause, startServer, token }
  from './lib/server.mjs';
import { followWs } from './lib/followers.mjs';
import { startCluster } from './lib/postgres.mjs';

const HERE = onPostgres('a streaming replica');
const EVENTUAL = { headers: { 'Cairn-Consistency': 'eventual' } };
const STRONG = { headers: { 'Cairn-Consistency': 'strong' } };

async function replicated(t) {
  const cluster = await startCluster(t);
  const standby = await cluster.standby(t);
  const server = await startServer(t,
    { db: cluster.url(), args: ['--db-replica', standby.url()] });
  // Without a key nothing is read from a replica: it would not know of the first one in time.
  const { secret } = expectStatus(
    await server.open.post('/v1/keys', { name: 'k', scopes: ['operator'] }), 201);
  return { cluster, standby, server, client: server.client(secret) };
}

/** Waits until the standby has everything that the primary has. */
const caughtUp = async (cluster, standby) => {
  const [[position]] = await cluster.sql('SELECT pg_current_wal_lsn()');
  await eventually(async () => (await standby.sql(
    `SELECT pg_last_wal_replay_lsn() >= '${position}'`))[0][0] === 't', 'it never caught up');
};

/** From here on the standby receives everything and shows none of it. */
const pauseReplay = async (standby) => {
  await standby.sql('SELECT pg_wal_replay_pause()');
  await eventually(async () =>
    (await standby.sql('SELECT pg_get_wal_replay_pause_state()'))[0][0] === 'paused');
};

test('a read that may lag comes from the replica, and others never do', HERE, async (t) => {
  const { cluster, standby, client } = await replicated(t);
  const thread = expectStatus(await client.post('/v1/threads', { title: 'old' }), 201);
  const run = expectStatus(await client.post(`/v1/threads/${thread.id}/runs`, {}), 201);
  await caughtUp(cluster, standby);
  const title = async (opts) =>
    expectStatus(await client.get(`/v1/threads/${thread.id}`, opts), 200).title;
  assert.equal(await title(EVENTUAL), 'old');

  await pauseReplay(standby);
  expectStatus(await client.patch(`/v1/threads/${thread.id}`, { title: 'new' }), 200);
  // The primary may answer too, while a connection to the replica is still being made.
  await eventually(async () => await title(EVENTUAL) === 'old', 'the replica is never asked');
  assert.equal(await title(STRONG), 'new');
  assert.equal(await title(), 'new');

  // Cursors and leases: no request waits for a replica that lags, or trusts its old data.
  const { seq } = expectStatus(
    await client.post(`/v1/threads/${thread.id}/events`, { kind: 'progress' }), 201);
  for (const path of [`/v1/threads/${thread.id}/events`, '/v1/events']) {
    const { data } = expectStatus(await client.get(path, EVENTUAL), 200);
    assert.equal(data.at(-1).seq, seq, path);
  }
  const stream = followWs(client, `/v1/threads/${thread.id}/events/ws?after=${seq - 1}`, EVENTUAL);
  await stream.hears(1);
  const claimed = expectStatus(await client.post('/v1/runs/claim', { worker: 'w' }, EVENTUAL), 200);
  assert.equal(claimed.id, run.id);
  expectStatus(await client.post(`/v1/runs/${run.id}/heartbeat`, undefined,
    { headers: { ...EVENTUAL.headers, ...token(claimed).headers } }), 200);

  await standby.sql('SELECT pg_wal_replay_resume()');
  await eventually(async () => await title(EVENTUAL) === 'new', 'the replica never caught up');
  expectFault(await client.get(`/v1/threads/${thread.id}`,
    { headers: { 'Cairn-Consistency': 'sometimes' } }), 422, 'invalid_input', 'Cairn-Consistency');
});

test('a replica that is gone is not missed', HERE, async (t) => {
  const { cluster, standby, server, client } = await replicated(t);
  const thread = expectStatus(await client.post('/v1/threads', { title: 'kept' }), 201);
  await caughtUp(cluster, standby);
  const read = () => client.get(`/v1/threads/${thread.id}`, EVENTUAL);
  for (const mode of ['immediate', 'fast']) {
    await standby.stop(mode);
    for (let i = 0; i < 5; i++)
      assert.equal(expectStatus(await read(), 200).title, 'kept');
    expectStatus(await client.get('/readyz'), 200);
    await standby.start();
  }
  await eventually(async () => (await read()).status === 200);
  await server.restart();
  expectStatus(await read(), 200);
});

test('a replica that is far behind is not asked until it has caught up', HERE, async (t) => {
  const { cluster, standby, client } = await replicated(t);
  const thread = expectStatus(await client.post('/v1/threads', { title: 'old' }), 201);
  const rename = async (title) =>
    expectStatus(await client.patch(`/v1/threads/${thread.id}`, { title }), 200);
  const titleThere = async () =>
    expectStatus(await client.get(`/v1/threads/${thread.id}`, EVENTUAL), 200).title;
  await caughtUp(cluster, standby);
  await pauseReplay(standby);
  const began = Date.now();
  await rename('new');
  await eventually(async () => await titleThere() === 'old', 'the replica is never asked');

  // Something is written all the time: a replica of a quiet primary is never behind. On a busy
  // machine the primary may step in for a single read; given up is what is not asked any more.
  let streak = 0;
  const firstNew = await eventually(async () => {
    expectStatus(await client.post(`/v1/threads/${thread.id}/events`, { kind: 'progress' }), 201);
    await pause(200);
    streak = await titleThere() === 'new' ? streak + 1 : 0;
    return streak === 5 && Date.now();
  }, 'a replica that is far behind is still asked');
  assert.ok(firstNew - began > 5000, `given up after ${firstNew - began} ms`);
  for (let i = 0; i < 20; i++)
    assert.equal(await titleThere(), 'new');
  assert.deepEqual(await standby.sql('SELECT pg_is_wal_replay_paused()'), [['t']]);

  await standby.sql('SELECT pg_wal_replay_resume()');
  await caughtUp(cluster, standby);
  await pauseReplay(standby);
  await rename('newest');
  await eventually(async () => await titleThere() === 'new', 'the replica is never asked again');
});
