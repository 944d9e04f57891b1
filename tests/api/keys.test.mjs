// SPDX-License-Identifier: Apache-2.0
// API keys: secrets, scopes, expiry, revocation, and the end of open mode.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import {
  DEFAULT_TENANT,
  ENGINE,
  eventually,
  expectFault,
  expectProblem,
  expectStatus,
  startServer,
  twoTenants,
  uuid,
  withKey,
} from './lib/server.mjs';

const SCOPES = [
  'threads:read',
  'threads:write',
  'runs:read',
  'runs:write',
  'events:read',
  'events:write',
  'messages:read',
  'messages:write',
  'files:read',
  'files:write',
  'participants:read',
  'participants:write',
  'agents:read',
  'agents:write',
  'states:read',
  'states:write',
  'storage:read',
  'storage:write',
  'checkpoints:read',
  'checkpoints:write',
  'store:read',
  'store:write',
  'notebooks:read',
  'notebooks:write',
  'usage:read',
  'usage:write',
  'evals:read',
  'evals:write',
];

async function firstKey(server, scopes = ['operator']) {
  const key = expectStatus(await server.open.post('/v1/keys', { name: 'first', scopes }), 201);
  return server.client(key.secret);
}

test('a server without keys is open to its machine as the default tenant', async (t) => {
  const server = await startServer(t);
  const who = expectStatus(await server.open.get('/v1/whoami'), 200);
  assert.equal(who.tenant_id, DEFAULT_TENANT);
  assert.equal(who.actor, 'open');
  assert.equal(who.key_id, null);
  assert.deepEqual(who.scopes, [...SCOPES, 'admin', 'operator']);
  assert.match(server.stderr, /no API key exists/);
});

test('open mode ends when the first key is made, and stays ended', async (t) => {
  const server = await startServer(t);
  const client = await firstKey(server);
  expectProblem(await server.open.get('/v1/threads'), 401, 'unauthenticated');
  expectStatus(await client.get('/v1/threads'), 200);
  await server.restart();
  expectProblem(await server.open.get('/v1/threads'), 401, 'unauthenticated');
  expectStatus(await client.get('/v1/threads'), 200);
});

test('the first key must be able to make others, so nobody locks themselves out', async (t) => {
  const server = await startServer(t);
  expectFault(
    await server.open.post('/v1/keys', { name: 'weak', scopes: ['threads:read'] }),
    422,
    'invalid_input',
    '/scopes',
    /operator.*first key/,
  );
  expectFault(
    await server.open.post('/v1/keys', {
      name: 'short',
      scopes: ['operator'],
      expires_at: '2099-01-01T00:00:00Z',
    }),
    422,
    'invalid_input',
    '/expires_at',
    /first key/,
  );
  expectProblem(await server.open.post('/v1/tenants', { name: 'other' }), 409, 'conflict');
  expectStatus(await server.open.get('/v1/threads'), 200);
  assert.deepEqual(expectStatus(await server.open.get('/v1/keys'), 200).data, []);
});

test('a secret is shown once, when the key is made', async (t) => {
  const server = await startServer(t);
  const admin = await firstKey(server);
  const made = expectStatus(
    await admin.post('/v1/keys', {
      name: 'worker',
      scopes: ['runs:write', 'runs:read'],
      rate_limit_per_minute: 1000,
      expires_at: '2099-12-31T23:59:59Z',
    }),
    201,
  );
  assert.match(made.secret, /^cairn_[A-Za-z0-9_-]{86}$/);
  const { secret, ...rest } = made;
  assert.deepEqual(expectStatus(await admin.get(`/v1/keys/${made.id}`), 200), rest);
  assert.equal(rest.expires_at, '2099-12-31T23:59:59.000000Z');
  assert.equal(rest.revoked_at, null);
  const list = await admin.get('/v1/keys');
  assert.deepEqual(expectStatus(list, 200).data[0], rest);
  assert.ok(!list.text.includes('secret') && !list.text.includes(secret.slice(-20)));
});

test('a secret is not shown again by a replay of the request that made it', async (t) => {
  const server = await startServer(t);
  const admin = await firstKey(server);
  const headers = { 'Idempotency-Key': 'make-one' };
  const body = { name: 'worker', scopes: ['runs:write'] };
  const first = expectStatus(await admin.post('/v1/keys', body, { headers }), 201);
  const again = await admin.post('/v1/keys', body, { headers });
  assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
  assert.deepEqual(expectStatus(again, 201), { ...first, secret: null });
  assert.equal(expectStatus(await admin.get('/v1/keys'), 200).data.length, 2);
});

/** Every row of every table, as text. */
function wholeSchema(server) {
  const tables = server.sql(
    'SELECT table_name FROM information_schema.tables WHERE table_schema = ?',
    server.schema,
  );
  return tables.map(([table]) => JSON.stringify(server.rows(`SELECT * FROM ${table}`))).join('\n');
}

test('a secret is in no log and not in the database', async (t) => {
  const server = await startServer(t, { args: ['--log-level', 'debug'] });
  const admin = await firstKey(server);
  expectStatus(await admin.get('/v1/threads'), 200);
  await server.stop();
  const stored =
    ENGINE === 'postgres'
      ? wholeSchema(server)
      : readFileSync(server.database).toString('latin1');
  assert.ok(server.stderr.includes('/v1/threads'), 'requests are logged at this level');
  assert.ok(!server.stderr.includes(admin.secret));
  assert.ok(stored.includes('first'), 'the name of the key is there');
  assert.ok(!stored.includes(admin.secret));
});

test('keys are listed newest first, in pages', async (t) => {
  const server = await startServer(t);
  const admin = await firstKey(server);
  for (const name of ['a', 'b', 'c'])
    expectStatus(await admin.post('/v1/keys', { name, scopes: ['runs:read'] }), 201);
  const page = expectStatus(await admin.get('/v1/keys?limit=3'), 200);
  assert.deepEqual(
    page.data.map((k) => k.name),
    ['c', 'b', 'a'],
  );
  assert.equal(page.has_more, true);
  const rest = expectStatus(await admin.get(`/v1/keys?cursor=${page.next_cursor}`), 200);
  assert.deepEqual(
    rest.data.map((k) => k.name),
    ['first'],
  );
  assert.deepEqual([rest.has_more, rest.next_cursor], [false, null]);
});

test('a revoked key opens nothing, and stays in the list with the time of it', async (t) => {
  const server = await startServer(t);
  const admin = await firstKey(server);
  const reader = await withKey(admin, ['threads:read']);
  expectStatus(await reader.get('/v1/threads'), 200);
  const revoked = expectStatus(await admin.del(`/v1/keys/${reader.keyId}`), 200);
  assert.ok(revoked.revoked_at >= revoked.created_at);
  const refusal = expectProblem(await reader.get('/v1/threads'), 401, 'unauthenticated');
  assert.match(refusal.detail, /revoked/);
  const again = expectStatus(await admin.del(`/v1/keys/${reader.keyId}`), 200);
  assert.equal(again.revoked_at, revoked.revoked_at, 'revoking twice changes nothing');
  assert.deepEqual(expectStatus(await admin.get(`/v1/keys/${reader.keyId}`), 200), revoked);
  await server.restart();
  expectProblem(await reader.get('/v1/threads'), 401, 'unauthenticated');
});

test('the last key that can make another cannot be revoked', async (t) => {
  const server = await startServer(t);
  const operator = await firstKey(server);
  const self = expectStatus(await operator.get('/v1/whoami'), 200).key_id;
  await withKey(operator, ['threads:read']);
  assert.match(
    expectProblem(await operator.del(`/v1/keys/${self}`), 409, 'conflict').detail,
    /last key.*operator/,
  );
  const admin = await withKey(operator, ['admin']);
  expectProblem(await operator.del(`/v1/keys/${self}`), 409, 'conflict');
  expectStatus(await operator.del(`/v1/keys/${admin.keyId}`), 200);
  const next = await withKey(operator, ['operator']);
  expectStatus(await operator.del(`/v1/keys/${self}`), 200);
  expectProblem(await next.del(`/v1/keys/${next.keyId}`), 409, 'conflict');
});

test('the last admin key of a tenant cannot be revoked either', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  assert.match(
    expectProblem(await alice.del(`/v1/keys/${alice.keyId}`), 409, 'conflict').detail,
    /last key.*admin/,
  );
  const next = await withKey(alice, ['admin']);
  expectStatus(await alice.del(`/v1/keys/${alice.keyId}`), 200);
  expectStatus(await next.get('/v1/keys'), 200);
});

test('an expired key answers 401 key_expired', async (t) => {
  const server = await startServer(t);
  const admin = await firstKey(server);
  const soon = new Date(Date.now() + 1000).toISOString();
  const brief = await withKey(admin, ['threads:read'], { expires_at: soon });
  const refusal = await eventually(async () => {
    const answer = await brief.get('/v1/threads');
    return answer.status === 401 && answer;
  }, 'the key did not expire');
  expectProblem(refusal, 401, 'key_expired');
  assert.match(refusal.headers.get('WWW-Authenticate'), /^Bearer/);
});

test('a key cannot be made to expire in the past', async (t) => {
  const server = await startServer(t);
  const admin = await firstKey(server);
  const before = expectStatus(await admin.get('/v1/keys'), 200);
  expectFault(
    await admin.post('/v1/keys', {
      name: 'old',
      scopes: ['runs:read'],
      expires_at: '2020-01-01T00:00:00Z',
    }),
    422,
    'invalid_input',
    '/expires_at',
    /future/,
  );
  assert.deepEqual(expectStatus(await admin.get('/v1/keys'), 200), before);
});

test('a wrong or garbled key is refused, also while the server is open', async (t) => {
  const server = await startServer(t);
  const garbled = [
    'x',
    'cairn_',
    `cairn_${'A'.repeat(86)}`,
    `cairn_${'A'.repeat(85)}`,
    'cairn_é',
    `cairn_${'!'.repeat(86)}`,
    `cairn_${'A'.repeat(4000)}`,
  ];
  const refuse = async (authorization) => {
    const answer = await server.open.get('/v1/threads', {
      headers: { Authorization: authorization },
    });
    expectProblem(answer, 401, 'unauthenticated');
    assert.match(answer.headers.get('WWW-Authenticate'), /^Bearer/);
  };
  for (const secret of garbled) await refuse(`Bearer ${encodeURI(secret)}`);
  await refuse('Basic YTpi');
  await refuse('Bearer');
  const admin = await firstKey(server);
  for (const secret of garbled) await refuse(`Bearer ${encodeURI(secret)}`);
  const last = admin.secret.at(-3) === 'A' ? 'B' : 'A';
  await refuse(`Bearer ${admin.secret.slice(0, -3)}${last}${admin.secret.slice(-2)}`);
  await refuse(`Bearer ${admin.secret}A`);
  await refuse(admin.secret);
  expectStatus(
    await server.open.get('/v1/threads', { headers: { Authorization: `bearer  ${admin.secret}` } }),
    200,
  );
});

test('a key does what its scopes say and nothing else', async (t) => {
  const server = await startServer(t);
  const admin = await firstKey(server);
  const reader = await withKey(admin, ['threads:read']);
  const thread = expectStatus(await admin.post('/v1/threads', { title: 'kept' }), 201);
  expectStatus(await reader.get(`/v1/threads/${thread.id}`), 200);
  const refused = [
    [await reader.post('/v1/threads', {}), 'threads:write'],
    [await reader.patch(`/v1/threads/${thread.id}`, { title: 'x' }), 'threads:write'],
    [await reader.del(`/v1/threads/${thread.id}`), 'threads:write'],
    [await reader.get('/v1/runs'), 'runs:read'],
    [await reader.get('/v1/events'), 'events:read'],
    [await reader.get('/v1/keys'), 'admin'],
    [await reader.get('/v1/audit'), 'admin'],
    [await reader.get('/v1/tenants'), 'operator'],
  ];
  for (const [answer, scope] of refused)
    assert.match(expectProblem(answer, 403, 'forbidden').detail, new RegExp(`scope ${scope}$`));
  assert.deepEqual(expectStatus(await admin.get(`/v1/threads/${thread.id}`), 200), thread);
  assert.deepEqual(expectStatus(await reader.get('/v1/whoami'), 200).scopes, ['threads:read']);
});

test('admin holds every scope of its tenant, but not operator', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const who = expectStatus(await alice.get('/v1/whoami'), 200);
  assert.deepEqual(who, {
    tenant_id: alice.tenantId,
    actor: 'key',
    key_id: alice.keyId,
    principal: null,
    scopes: [...SCOPES, 'admin'],
  });
  expectStatus(await alice.get('/v1/runs'), 200);
  expectProblem(await alice.get('/v1/tenants'), 403, 'forbidden');
});

test('only an operator of the default tenant can make or revoke operators', async (t) => {
  const server = await startServer(t);
  const { operator, alice } = await twoTenants(server);
  const body = { name: 'climber', scopes: ['runs:read', 'operator'] };
  expectFault(
    await alice.post('/v1/keys', body),
    422,
    'invalid_input',
    '/scopes/1',
    /default tenant/,
  );
  const admin = await withKey(operator, ['admin']);
  assert.match(
    expectProblem(await admin.post('/v1/keys', body), 403, 'forbidden').detail,
    /operator/,
  );
  const other = await withKey(operator, ['operator']);
  expectProblem(await admin.del(`/v1/keys/${other.keyId}`), 403, 'forbidden');
  expectStatus(await other.get('/v1/tenants'), 200);
  expectStatus(await operator.del(`/v1/keys/${other.keyId}`), 200);
});

test('bad input to the keys names each field and its rule, and makes no key', async (t) => {
  const server = await startServer(t);
  const admin = await firstKey(server);
  const before = expectStatus(await admin.get('/v1/keys'), 200);
  const good = { name: 'n', scopes: ['runs:read'] };
  const bad = [
    [{ scopes: ['runs:read'] }, '/name', /given/],
    [{ ...good, name: '' }, '/name', /at least 1/],
    [{ ...good, name: 7 }, '/name', /string/],
    [{ name: 'n' }, '/scopes', /given/],
    [{ ...good, scopes: [] }, '/scopes', /at least 1/],
    [{ ...good, scopes: 'admin' }, '/scopes', /array/],
    [{ ...good, scopes: ['runs:read', 'root'] }, '/scopes/1', /one of.*threads:read/],
    [{ ...good, rate_limit_per_minute: 0 }, '/rate_limit_per_minute', /at least 1/],
    [{ ...good, rate_limit_per_minute: 1.5 }, '/rate_limit_per_minute', /integer/],
    [{ ...good, expires_at: 'tomorrow' }, '/expires_at', /RFC 3339/],
    [{ ...good, secret: 'mine' }, '/secret', /./],
    [{ ...good, tenant_id: uuid() }, '/tenant_id', /not a member/],
  ];
  for (const [body, pointer, rule] of bad)
    expectFault(await admin.post('/v1/keys', body), 422, 'invalid_input', pointer, rule);
  assert.deepEqual(expectStatus(await admin.get('/v1/keys'), 200), before);
  expectProblem(await admin.get(`/v1/keys/${uuid()}`), 404, 'not_found');
  expectProblem(await admin.del(`/v1/keys/${uuid()}`), 404, 'not_found');
});

test('without a key only local clients get in: no proxy, no page of another site', async (t) => {
  const { open } = await startServer(t);
  const forwarded = [{ 'X-Forwarded-For': '203.0.113.9' }, { Forwarded: 'for=203.0.113.9' },
    { Via: '1.1 proxy' }, { 'Sec-Fetch-Site': 'cross-site' }];
  for (const headers of forwarded) {
    expectProblem(await open.get('/v1/threads', { headers }), 401, 'unauthenticated');
    expectProblem(await open.post('/v1/keys', { name: 'k', scopes: ['operator'] }, { headers }),
      401, 'unauthenticated');
    expectStatus(await open.get('/healthz', { headers }), 200);
  }
  for (const site of ['same-origin', 'same-site', 'none'])
    expectStatus(await open.get('/v1/threads', { headers: { 'Sec-Fetch-Site': site } }), 200);
  // With a key a proxy is fine.
  const key = await withKey(open, ['operator']);
  for (const headers of forwarded.slice(0, 3))
    expectStatus(await key.get('/v1/threads', { headers }), 200);
});
