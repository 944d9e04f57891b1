// SPDX-License-Identifier: Apache-2.0
// Behind PgBouncer in transaction mode: sessions and prepared statements do not persist, and LISTEN
// does not work. All features of Cairn must work regardless.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, expectProblem, expectStatus, onPostgres, startServer, token, twoTenants, uuid }
  from './lib/server.mjs';
import { expectSeqs, followOn, followSse, followWs } from './lib/followers.mjs';
import { startPgbouncer } from './lib/middlemen.mjs';
import { startCluster } from './lib/postgres.mjs';

const HERE = onPostgres('PgBouncer');

async function pooledNodes(t) {
  const cluster = await startCluster(t);
  const db = await startPgbouncer(t, cluster);
  const server = await startServer(t, { db });
  return { cluster, server, other: await server.join() };
}

test('the story of a run behind a pooler, with its streams on two nodes', HERE, async (t) => {
  const { server, other } = await pooledNodes(t);
  const { alice, bob } = await twoTenants(server);
  const there = other.client(alice.secret);
  const thread = expectStatus(await alice.post('/v1/threads', { title: 'pooled' }), 201);
  const streams = [followWs(alice, `/v1/threads/${thread.id}/events/ws`),
    followWs(there, `/v1/threads/${thread.id}/events/ws`), followSse(there, '/v1/events/stream')];
  for (const stream of streams)
    await stream.hears(1);
  const run = expectStatus(await alice.post(`/v1/threads/${thread.id}/runs`, {}), 201);
  const claimed = expectStatus(
    await there.post('/v1/runs/claim?wait=20', { worker: 'w', lease_ms: 30_000 }), 200);
  assert.equal(claimed.id, run.id);
  const opts = token(claimed);
  await Promise.all(Array.from({ length: 40 }, async (_, i) => {
    expectStatus(await (i % 2 ? alice : there).post(`/v1/threads/${thread.id}/events`,
      { kind: 'progress', text: `${i}`, run_id: run.id }, opts), 201);
  }));
  const again = { headers: { ...opts.headers, 'Idempotency-Key': uuid() } };
  const once = [alice, there, alice].map((client) => client.post(
    `/v1/threads/${thread.id}/events`, { kind: 'progress', text: 'once' }, again));
  for (const answer of await Promise.all(once))
    expectStatus(answer, 201);
  expectStatus(await alice.patch(`/v1/runs/${run.id}`, { status: 'completed' }, opts), 200);
  const { last_seq: last } = expectStatus(await there.get(`/v1/threads/${thread.id}`), 200);
  for (const stream of streams) {
    await stream.hears(last);
    expectSeqs(stream.heard, 1, last);
  }
  assert.equal(streams[0].heard.filter((e) => e.text === 'once').length, 1);
  // Settings of a transaction do not leak into another client's next one.
  expectProblem(await bob.get(`/v1/threads/${thread.id}`), 404, 'not_found');
  assert.deepEqual(expectStatus(await bob.get('/v1/threads'), 200).data, []);
  assert.deepEqual(expectStatus(await bob.get('/v1/events'), 200).data, []);
});

test('a revoked key ends its streams also where nobody can listen', HERE, async (t) => {
  const { server, other } = await pooledNodes(t);
  const { operator, alice } = await twoTenants(server);
  const thread = expectStatus(await alice.post('/v1/threads', {}), 201);
  const stream = followWs(other.client(alice.secret), `/v1/threads/${thread.id}/events/ws`);
  await stream.hears(1);
  expectStatus(await operator.del(`/v1/tenants/${alice.tenantId}`), 204);
  assert.equal((await stream.ended).code, 1008);
});

test('the database behind the pooler is restarted, and service resumes', HERE, async (t) => {
  const { cluster, server } = await pooledNodes(t);
  const client = server.open;
  const thread = expectStatus(await client.post('/v1/threads', {}), 201);
  const stream = followOn(client, `/v1/threads/${thread.id}/events/ws`);
  await stream.hears(1);
  await cluster.restart('immediate');
  const last = await eventually(async () => {
    const answer = await client.post(`/v1/threads/${thread.id}/events`, { kind: 'progress' });
    return answer.status === 201 && answer.body;
  });
  await stream.until((heard) => heard.at(-1)?.seq === last.seq);
  expectSeqs(stream.heard, 1, last.seq);
});
