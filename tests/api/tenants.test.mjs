// SPDX-License-Identifier: Apache-2.0
// Tenants: made, renamed and deleted by operators; each sees its own things alone.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  DEFAULT_TENANT,
  expectFault,
  expectProblem,
  expectStatus,
  startServer,
  twoTenants,
  uuid,
} from './lib/server.mjs';

test('a new tenant comes with its first key, whose secret is shown once', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const headers = { 'Idempotency-Key': 'carol' };
  const made = expectStatus(
    await operator.post('/v1/tenants', { name: 'carol' }, { headers }),
    201,
  );
  assert.equal(made.tenant.name, 'carol');
  assert.deepEqual(made.key.scopes, ['admin']);
  const carol = server.client(made.key.secret);
  assert.equal(expectStatus(await carol.get('/v1/whoami'), 200).tenant_id, made.tenant.id);
  const again = expectStatus(
    await operator.post('/v1/tenants', { name: 'carol' }, { headers }),
    201,
  );
  assert.deepEqual(again, { ...made, key: { ...made.key, secret: null } });
});

test('tenants are listed newest first, in pages, the default one among them', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const page = expectStatus(await operator.get('/v1/tenants?limit=2'), 200);
  assert.deepEqual(
    page.data.map((x) => x.name),
    ['bob', 'alice'],
  );
  const rest = expectStatus(await operator.get(`/v1/tenants?cursor=${page.next_cursor}`), 200);
  assert.deepEqual(
    rest.data.map((x) => [x.id, x.name]),
    [[DEFAULT_TENANT, 'default']],
  );
});

test('a tenant is renamed under its ETag, by either kind of patch', async (t) => {
  const server = await startServer(t);
  const { operator, alice } = await twoTenants(server);
  const before = await operator.get(`/v1/tenants/${alice.tenantId}`);
  const stale = { headers: { 'If-Match': before.headers.get('ETag') } };
  const renamed = await operator.patch(`/v1/tenants/${alice.tenantId}`, { name: 'alicia' }, stale);
  assert.equal(expectStatus(renamed, 200).name, 'alicia');
  assert.notEqual(renamed.headers.get('ETag'), before.headers.get('ETag'));
  expectProblem(
    await operator.patch(`/v1/tenants/${alice.tenantId}`, { name: 'x' }, stale),
    412,
    'stale_etag',
  );
  const patch = [
    { op: 'test', path: '/name', value: 'nobody' },
    { op: 'remove', path: '/name' },
  ];
  expectProblem(
    await operator.patch(`/v1/tenants/${alice.tenantId}`, patch, {
      ...stale,
      type: 'application/json-patch+json',
    }),
    412,
    'stale_etag',
  );
  const now = await operator.get(`/v1/tenants/${alice.tenantId}`);
  assert.deepEqual(expectStatus(now, 200), renamed.body);
  patch[0].value = 'alicia';
  patch[1] = { op: 'replace', path: '/name', value: 'ann' };
  const patched = await operator.patch(`/v1/tenants/${alice.tenantId}`, patch, {
    type: 'application/json-patch+json',
  });
  assert.equal(expectStatus(patched, 200).name, 'ann');
});

test('a name belongs to one tenant', async (t) => {
  const server = await startServer(t);
  const { operator, alice } = await twoTenants(server);
  const before = expectStatus(await operator.get('/v1/tenants'), 200);
  expectProblem(await operator.post('/v1/tenants', { name: 'bob' }), 409, 'conflict');
  expectProblem(
    await operator.patch(`/v1/tenants/${alice.tenantId}`, { name: 'bob' }),
    409,
    'conflict',
  );
  assert.deepEqual(expectStatus(await operator.get('/v1/tenants'), 200), before);
  expectStatus(await operator.patch(`/v1/tenants/${alice.tenantId}`, { name: 'alice' }), 200);
});

test('a deleted tenant takes all that it owns with it, and nothing of others', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  const mine = expectStatus(await alice.post('/v1/threads', { title: 'mine' }), 201);
  const theirs = expectStatus(await bob.post('/v1/threads', { title: 'theirs' }), 201);
  expectStatus(await alice.post(`/v1/threads/${mine.id}/runs`, { user_input: 'hello' }), 201);
  const stale = { headers: { 'If-Match': '"99"' } };
  expectProblem(await operator.del(`/v1/tenants/${alice.tenantId}`, stale), 412, 'stale_etag');
  expectStatus(await alice.get(`/v1/threads/${mine.id}`), 200);
  expectStatus(await operator.del(`/v1/tenants/${alice.tenantId}`), 204);
  expectProblem(await alice.get(`/v1/threads/${mine.id}`), 401, 'unauthenticated');
  expectProblem(await operator.get(`/v1/tenants/${alice.tenantId}`), 404, 'not_found');
  expectStatus(await bob.get(`/v1/threads/${theirs.id}`), 200);
  assert.equal(expectStatus(await bob.get('/v1/events'), 200).data.length, 1);
  await server.restart();
  expectProblem(await alice.get('/v1/whoami'), 401, 'unauthenticated');
  expectStatus(await bob.post(`/v1/threads/${theirs.id}/events`, { kind: 'progress' }), 201);
});

test('the default tenant cannot be deleted', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  expectProblem(await operator.del(`/v1/tenants/${DEFAULT_TENANT}`), 409, 'conflict');
  expectStatus(await operator.get(`/v1/tenants/${DEFAULT_TENANT}`), 200);
});

test('bad input to the tenants names the field and the rule, and changes nothing', async (t) => {
  const server = await startServer(t);
  const { operator, alice } = await twoTenants(server);
  const before = expectStatus(await operator.get('/v1/tenants'), 200);
  const bad = [
    [{}, '/name', /given/],
    [{ name: '' }, '/name', /at least 1/],
    [{ name: 'n'.repeat(201) }, '/name', /at most/],
    [{ name: ['a'] }, '/name', /string/],
    [{ name: 'a', plan: 'gold' }, '/plan', /not a member/],
    [{ name: 'a', id: uuid() }, '/id', /./],
  ];
  for (const [body, pointer, rule] of bad)
    expectFault(await operator.post('/v1/tenants', body), 422, 'invalid_input', pointer, rule);
  expectFault(
    await operator.patch(`/v1/tenants/${alice.tenantId}`, { name: null }),
    422,
    'invalid_input',
    '/name',
  );
  expectProblem(await operator.patch(`/v1/tenants/${uuid()}`, { name: 'x' }), 404, 'not_found');
  expectProblem(await operator.del(`/v1/tenants/${uuid()}`), 404, 'not_found');
  expectFault(
    await operator.get('/v1/tenants/not-a-uuid'),
    422,
    'invalid_input',
    'tenant_id',
    /UUID/,
  );
  assert.deepEqual(expectStatus(await operator.get('/v1/tenants'), 200), before);
});

test('tenants see their own threads, runs, events, keys and audit records alone', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const thread = expectStatus(await bob.post('/v1/threads', { title: 'secret plans' }), 201);
  expectStatus(await bob.post(`/v1/threads/${thread.id}/runs`, {}), 201);
  for (const list of ['/v1/threads', '/v1/runs', '/v1/events'])
    assert.deepEqual(expectStatus(await alice.get(list), 200).data, [], list);
  for (const list of ['/v1/keys', '/v1/audit']) {
    const answer = await alice.get(list);
    assert.equal(expectStatus(answer, 200).data.length, 1, list);
    assert.ok(!answer.text.includes(bob.keyId), list);
  }
});

test('an operator makes a key for a tenant that has lost its own', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  const wanted = { name: 'recovery', scopes: ['admin'] };
  const made = expectStatus(
    await operator.post(`/v1/tenants/${alice.tenantId}/keys`, wanted),
    201,
  );
  const found = expectStatus(await server.client(made.secret).get('/v1/whoami'), 200);
  assert.equal(found.tenant_id, alice.tenantId);
  const records = expectStatus(await alice.get('/v1/audit?action=key.created'), 200).data;
  assert.equal(records[0].object_id, made.id);
  expectProblem(
    await operator.post(`/v1/tenants/${alice.tenantId}/keys`, { name: 'x', scopes: ['operator'] }),
    422,
    'invalid_input',
  );
  expectProblem(
    await bob.post(`/v1/tenants/${alice.tenantId}/keys`, wanted),
    403,
    'forbidden',
  );
});
