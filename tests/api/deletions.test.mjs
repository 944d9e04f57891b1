// SPDX-License-Identifier: Apache-2.0
// A large thread or tenant is deleted in slices that commit separately: other tenants write between
// them, and a deletion that has begun is completed even if the server is killed.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, expectProblem, expectSound, expectStatus, startServer, twoTenants }
  from './lib/server.mjs';

const COUNT = 12_000;
const BATCH = Array.from({ length: 100 }, (_, i) => ({ content: `message ${i} of many` }));

async function makeLarge(client) {
  const thread = expectStatus(await client.post('/v1/threads', {}), 201);
  for (let n = 0; n < COUNT; n += BATCH.length)
    expectStatus(await client.post(`/v1/threads/${thread.id}/messages`, { messages: BATCH }), 201);
  return thread;
}

/** Waits until a part of the thread is deleted. */
const partlyDeleted = (client, thread, firstSeq) => eventually(async () => {
  const page = await client.get(`/v1/threads/${thread.id}/messages?after=0&limit=1`);
  return expectStatus(page, 200).data[0]?.seq !== firstSeq;
}, 'the deletion is not seen');

async function firstSeqOf(client, thread) {
  const page = await client.get(`/v1/threads/${thread.id}/messages?after=0&limit=1`);
  return expectStatus(page, 200).data[0].seq;
}

test('another tenant writes while a large thread is being deleted', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const thread = await makeLarge(alice);
  const other = expectStatus(await bob.post('/v1/threads', {}), 201);
  const first = await firstSeqOf(alice, thread);

  let ended = false;
  const deletion = alice.del(`/v1/threads/${thread.id}`).then((answer) => {
    ended = true;
    return answer;
  });
  await partlyDeleted(alice, thread, first);
  let between = 0;
  while (!ended) {
    expectStatus(await bob.post(`/v1/threads/${other.id}/events`, { kind: 'progress' }), 201);
    if (!ended) between++;
  }
  expectStatus(await deletion, 204);
  assert.ok(between > 0, 'no write was answered before the end of the deletion');
  expectProblem(await alice.get(`/v1/threads/${thread.id}`), 404, 'not_found');
  const audit = expectStatus(await alice.get('/v1/audit?action=thread.deleted'), 200).data;
  assert.deepEqual(audit.map(({ object_id }) => object_id), [thread.id]);
});

test('a deletion that a kill interrupted is completed after the restart', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const thread = await makeLarge(alice);
  const first = await firstSeqOf(alice, thread);
  const deletion = alice.del(`/v1/threads/${thread.id}`).catch(() => null);
  await partlyDeleted(alice, thread, first);
  await server.kill();
  assert.equal(await deletion, null);
  await server.start();
  await eventually(async () => (await alice.get(`/v1/threads/${thread.id}`)).status === 404,
    'the deletion is not completed');
  await server.stop();
  await expectSound(server);
});

test('a tenant that is being deleted admits nobody, and is completed by the sweep', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  await makeLarge(alice);
  const deletion = operator.del(`/v1/tenants/${alice.tenantId}`).catch(() => null);
  await eventually(async () => (await alice.get('/v1/whoami')).status === 401, 'it still enters');
  const more = await operator.post(`/v1/tenants/${alice.tenantId}/keys`,
    { name: 'again', scopes: ['admin'] });
  assert.ok([404, 409].includes(more.status), `a key was created: ${more.status}`);
  await server.kill();
  await deletion;
  await server.start();
  await eventually(async () =>
    (await operator.get(`/v1/tenants/${alice.tenantId}`)).status === 404, 'the tenant remains');
  expectStatus(await bob.get('/v1/whoami'), 200);
  await server.stop();
  await expectSound(server);
});
