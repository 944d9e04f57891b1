// SPDX-License-Identifier: Apache-2.0
// The plan, the settings and the quotas of a tenant: the operator sets them, the tenant sees them.
import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import {
  claim,
  eventually,
  expectFault,
  expectProblem,
  expectStatus,
  startServer,
  token,
  twoTenants,
  withKey,
} from './lib/server.mjs';

const QUOTAS = ['bytes', 'threads', 'events_per_day', 'streams', 'connections',
  'requests_per_second', 'concurrent_runs'];

const own = async (client) => expectStatus(await client.get('/v1/tenant'), 200);
const give = async (operator, client, quotas) =>
  expectStatus(await operator.patch(`/v1/tenants/${client.tenantId}`, { quotas }), 200);

test('a tenant reads its plan, its settings and its quotas with any key', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  const first = await own(alice);
  assert.equal(first.id, alice.tenantId);
  assert.equal(first.name, 'alice');
  assert.equal(first.plan_tier, null);
  assert.deepEqual(first.settings, {});
  assert.deepEqual(Object.keys(first.quotas), QUOTAS);
  for (const name of QUOTAS)
    assert.equal(first.quotas[name].limit, null, name);
  const path = `/v1/tenants/${alice.tenantId}`;
  const limits = Object.fromEntries(QUOTAS.map((name, i) => [name, 1000 + i]));
  const changed = expectStatus(
    await operator.patch(path, { plan_tier: 'pro', quotas: limits }), 200);
  assert.equal(changed.plan_tier, 'pro');
  assert.deepEqual(changed.quotas, limits);
  const reader = await withKey(alice, ['files:read']);
  const seen = await own(reader);
  assert.equal(seen.plan_tier, 'pro');
  for (const name of QUOTAS)
    assert.equal(seen.quotas[name].limit, limits[name], name);
  // A patch of one quota keeps the others, and null removes the limit.
  assert.deepEqual((await give(operator, alice, { threads: null, streams: 0 })).quotas,
    { ...limits, threads: null, streams: 0 });
  expectStatus(await operator.patch(path, { plan_tier: null }), 200);
  assert.equal((await own(alice)).plan_tier, null);
  const untouched = await own(bob);
  for (const name of QUOTAS)
    assert.equal(untouched.quotas[name].limit, null, name);
  const principal = await withKey(alice, ['threads:read'], { principal: 'user:eve' });
  expectProblem(await principal.get('/v1/tenant'), 403, 'forbidden');
});

test('only operators set plans and quotas, within limits', async (t) => {
  const server = await startServer(t);
  const { operator, alice } = await twoTenants(server);
  const path = `/v1/tenants/${alice.tenantId}`;
  expectProblem(await alice.patch(path, { quotas: { threads: 1 } }), 403, 'forbidden');
  for (const member of ['plan_tier', 'quotas', 'name'])
    expectFault(await alice.patch('/v1/tenant', { [member]: 'x' }), 422, 'invalid_input',
      `/${member}`);
  for (const name of QUOTAS)
    for (const value of [-1, 2 ** 53 + 2, 1.5, '1'])
      expectFault(await operator.patch(path, { quotas: { [name]: value } }), 422, 'invalid_input',
        `/quotas/${name}`);
  expectFault(await operator.patch(path, { quotas: { wheels: 1 } }), 422, 'invalid_input',
    '/quotas/wheels');
  expectFault(await operator.patch(path, { settings: { a: 1 } }), 422, 'invalid_input',
    '/settings');
  expectFault(await operator.patch(path, { plan_tier: '' }), 422, 'invalid_input', '/plan_tier');
  expectFault(await operator.patch(path, { plan_tier: 'x'.repeat(65) }), 422, 'invalid_input',
    '/plan_tier');
  expectStatus(await operator.patch(path, { plan_tier: 'x'.repeat(64) }), 200);
  assert.equal((await give(operator, alice, { bytes: 2 ** 53 })).quotas.bytes, 2 ** 53);
  const log = expectStatus(await operator.get('/v1/audit?action=tenant.updated'), 200).data;
  assert.deepEqual(log.map(({ object_id: id, detail }) => [id, detail]), [
    [alice.tenantId, { plan_tier: 'x'.repeat(64), quotas: { bytes: 2 ** 53 } }],
    [alice.tenantId, { plan_tier: 'x'.repeat(64), quotas: {} }],
  ]);
});

test('an admin of the tenant changes its settings under an ETag', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  const before = await alice.get('/v1/tenant');
  const old = { headers: { 'If-Match': before.headers.get('ETag') } };
  const changed = await alice.patch('/v1/tenant', { settings: { a: 1, b: { c: 2 } } }, old);
  assert.deepEqual(expectStatus(changed, 200).settings, { a: 1, b: { c: 2 } });
  expectProblem(await alice.patch('/v1/tenant', { settings: { a: 2 } }, old), 412, 'stale_etag');
  expectStatus(await alice.patch('/v1/tenant', { settings: { a: null, b: { d: 3 } } }), 200);
  assert.deepEqual((await own(alice)).settings, { b: { c: 2, d: 3 } });
  assert.deepEqual((await own(bob)).settings, {});
  const path = `/v1/tenants/${alice.tenantId}`;
  assert.deepEqual(expectStatus(await operator.get(path), 200).settings, { b: { c: 2, d: 3 } });
  // The operator's change keeps the settings.
  expectStatus(await operator.patch(path, { plan_tier: 'pro' }), 200);
  assert.deepEqual((await own(alice)).settings, { b: { c: 2, d: 3 } });
  const patch = [{ op: 'replace', path: '/settings', value: { x: 'y'.repeat(65_528) } }];
  const json = { headers: { 'Content-Type': 'application/json-patch+json' } };
  expectStatus(await alice.patch('/v1/tenant', patch, json), 200);
  patch[0].value.x += 'y';
  expectFault(await alice.patch('/v1/tenant', patch, json), 422, 'invalid_input', '/settings');
  expectFault(await alice.patch('/v1/tenant', { settings: [] }), 422, 'invalid_input', '/settings');
  const writer = await withKey(alice, ['threads:write', 'files:write']);
  expectProblem(await writer.patch('/v1/tenant', { settings: {} }), 403, 'forbidden');
  const log = expectStatus(await alice.get('/v1/audit?action=tenant.updated'), 200).data;
  assert.deepEqual(log.map(({ object_id: id, detail }) => [id, detail]),
    Array(3).fill([alice.tenantId, { changed: ['settings'] }]));
});

/** Asserts a refusal that names the quota, its limit and its usage. */
function expectQuota(answer, quota, limit, used) {
  const isStored = ['bytes', 'threads'].includes(quota);
  const problem = expectProblem(answer, isStored ? 507 : 429,
    isStored ? 'quota_full' : 'quota_exceeded');
  assert.deepEqual([problem.quota, problem.limit, problem.used], [quota, limit, used]);
  assert.equal(problem.retryable, !isStored);
  assert.equal(/^[1-9]\d*$/.test(answer.headers.get('Retry-After') ?? ''), !isStored);
  assert.match(problem.detail, new RegExp(`"${quota}"`));
}
const used = async (client, quota) => (await own(client)).quotas[quota].used;
const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);

test('a tenant has at most its quota of threads, however they are created', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  await newThread(alice, { key: 'one' });
  await give(operator, alice, { threads: 2 });
  const second = await newThread(alice);
  assert.equal(await used(alice, 'threads'), 2);
  expectQuota(await alice.post('/v1/threads', {}), 'threads', 2, 2);
  expectQuota(await alice.put('/v1/threads/by-key/two', {}), 'threads', 2, 2);
  expectStatus(await alice.put('/v1/threads/by-key/one', {}), 200);
  assert.equal(await used(alice, 'threads'), 2);
  for (let i = 0; i < 3; i++) await newThread(bob);
  expectStatus(await alice.del(`/v1/threads/${second.id}`), 204);
  await newThread(alice);
  expectQuota(await alice.post('/v1/threads', {}), 'threads', 2, 2);
  await give(operator, alice, { threads: 0 });
  expectQuota(await alice.post('/v1/threads', {}), 'threads', 0, 2);
  await give(operator, alice, { threads: null });
  await newThread(alice);
  assert.equal(await used(bob, 'threads'), 3);
});

test('an import that exceeds the quota of threads changes nothing', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  const thread = await newThread(bob);
  const archive = await bob.get(`/v1/threads/${thread.id}/export`);
  expectStatus(archive, 200);
  const take = () => alice.request('POST', '/v1/imports?ids=remap',
    { raw: archive.bytes, type: 'application/x-tar' });
  await give(operator, alice, { threads: 1 });
  expectStatus(await take(), 201);
  expectProblem(await take(), 507, 'quota_full');
  assert.equal(await used(alice, 'threads'), 1);
});

test('a tenant stores at most its quota of bytes, and the same content once', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  const put = async (client, thread, name, text) => client.request('PUT',
    `/v1/threads/${thread.id}/files/${name}`, { raw: text, type: 'text/plain' });
  await give(operator, alice, { bytes: 10 });
  const mine = await newThread(alice), theirs = await newThread(bob);
  expectStatus(await put(alice, mine, 'a', '123456'), 201);
  expectStatus(await put(alice, mine, 'b', '123456'), 201);
  assert.equal(await used(alice, 'bytes'), 6);
  expectQuota(await put(alice, mine, 'c', '12345'), 'bytes', 10, 6);
  expectStatus(await put(alice, mine, 'c', '1234'), 201);
  assert.equal(await used(alice, 'bytes'), 10);
  expectQuota(await put(alice, mine, 'd', '1'), 'bytes', 10, 10);
  expectStatus(await put(bob, theirs, 'a', '12345678901'), 201);
  assert.equal(await used(bob, 'bytes'), 11);
});

test('a tenant appends at most its quota of events in a day; work can still end', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  const mine = await newThread(alice), theirs = await newThread(bob);
  const append = (client, thread, n) => client.post(`/v1/threads/${thread.id}/events`,
    { events: Array.from({ length: n }, () => ({ kind: 'progress', text: 'x' })) });
  assert.equal(await used(alice, 'events_per_day'), null);
  await give(operator, alice, { events_per_day: 5 });
  assert.equal(await used(alice, 'events_per_day'), 0);
  expectQuota(await append(alice, mine, 6), 'events_per_day', 5, 0);
  expectStatus(await append(alice, mine, 3), 201);
  expectQuota(await append(alice, mine, 3), 'events_per_day', 5, 3);
  expectStatus(await append(alice, mine, 2), 201);
  const full = await append(alice, mine, 1);
  expectQuota(full, 'events_per_day', 5, 5);
  const left = (86_400_000 - (Date.now() % 86_400_000)) / 1000;
  assert.ok(Math.abs(Number(full.headers.get('Retry-After')) - left) < 600, `${left}`);
  const { resets_at: resets } = (await own(alice)).quotas.events_per_day;
  assert.match(resets, /T00:00:00(\.0+)?Z$/);
  // Creating a thread appends an event, and so is rejected; a cancellation is counted.
  expectQuota(await alice.post('/v1/threads', {}), 'events_per_day', 5, 5);
  assert.equal(await used(alice, 'threads'), 1);
  expectStatus(await alice.post(`/v1/threads/${mine.id}/cancel`), 200);
  assert.ok(await used(alice, 'events_per_day') > 5);
  expectStatus(await append(bob, theirs, 20), 201);
});

test('a tenant runs at most its quota of runs: claims find none, starts fail', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  const start = async (client, dispatch) => client.post(
    `/v1/threads/${(await newThread(client)).id}/runs`, { dispatch });
  await give(operator, alice, { concurrent_runs: 2 });
  for (let i = 0; i < 2; i++) expectStatus(await start(alice, 'queue'), 201);
  expectStatus(await start(alice, 'direct'), 201);
  const run = await claim(alice);
  assert.equal(await used(alice, 'concurrent_runs'), 2);
  expectStatus(await alice.post('/v1/runs/claim', { worker: 'w' }), 204);
  expectQuota(await start(alice, 'direct'), 'concurrent_runs', 2, 2);
  for (let i = 0; i < 3; i++) expectStatus(await start(bob, 'direct'), 201);
  expectStatus(await alice.post(`/v1/runs/${run.id}/release`, undefined, token(run)), 200);
  await claim(alice);
  assert.equal(await used(alice, 'concurrent_runs'), 2);
});

test('a tenant has at most its quota of streams and waiting requests on a node', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  await give(operator, alice, { streams: 2 });
  const open = (client) => {
    const stop = new AbortController();
    const answer = fetch(`${server.url}/v1/events/stream`,
      { signal: stop.signal, headers: { Authorization: `Bearer ${client.secret}` } });
    return answer.then((opened) => ({ status: opened.status, close: () => stop.abort() }));
  };
  const first = await open(alice);
  assert.equal(first.status, 200);
  const waiting = alice.post('/v1/runs/claim?wait=60', { worker: 'w' });
  await eventually(async () => await used(alice, 'streams') === 2, 'the claim does not wait');
  expectQuota(await alice.get('/v1/events/stream'), 'streams', 2, 2);
  expectQuota(await alice.post('/v1/runs/claim?wait=60', { worker: 'w' }), 'streams', 2, 2);
  expectStatus(await alice.post('/v1/runs/claim', { worker: 'w' }), 204);
  const others = await Promise.all([open(bob), open(bob), open(bob)]);
  for (const { status } of others) assert.equal(status, 200);
  first.close();
  await eventually(async () => await used(alice, 'streams') === 1, 'the stream stays');
  const thread = await newThread(alice);
  expectStatus(await alice.post(`/v1/threads/${thread.id}/runs`, {}), 201);
  expectStatus(await waiting, 200);
  await eventually(async () => await used(alice, 'streams') === 0, 'the claim stays');
  assert.equal(await used(bob, 'streams'), 3);
  for (const { close } of others) close();
});

/** A client with one connection of its own, which stays open until close(). */
function dial(t, server) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ask = (client, method, path, body) => new Promise((done, failed) => {
    const headers = client === null ? {} : { Authorization: `Bearer ${client.secret}` };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const request = http.request({ agent, method, path, port: server.port, headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => { text += chunk; });
      answer.on('end', () => done({
        status: answer.statusCode, headers: new Headers(answer.headers), text,
        body: text === '' ? null : JSON.parse(text),
      }));
    });
    request.on('error', failed);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
  return { get: (client, path) => ask(client, 'GET', path),
    post: (client, path, body = {}) => ask(client, 'POST', path, body),
    close: () => agent.destroy() };
}
const countOn = async (line, client) =>
  expectStatus(await line.get(client, '/v1/tenant'), 200).quotas.connections.used;

test('a tenant has at most its quota of connections to a node', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  await give(operator, alice, { connections: 3 });
  const lines = Array.from({ length: 3 }, () => dial(t, server));
  for (const line of lines) expectStatus(await line.get(alice, '/v1/threads'), 200);
  assert.equal(await countOn(lines[0], alice), 3);
  const next = dial(t, server);
  const refused = await next.post(alice, '/v1/threads');
  expectQuota(refused, 'connections', 3, 3);
  assert.equal(refused.headers.get('Connection'), 'close');
  assert.deepEqual(expectStatus(await lines[0].get(alice, '/v1/threads'), 200).data, []);
  // Another tenant is not affected, and neither are routes without a key.
  const others = Array.from({ length: 5 }, () => dial(t, server));
  for (const line of others) expectStatus(await line.get(bob, '/v1/threads'), 200);
  assert.equal(await countOn(others[0], bob), 5);
  expectStatus(await dial(t, server).get(null, '/healthz'), 200);
  assert.equal(await countOn(lines[0], alice), 3);
  // A connection that closes makes room.
  lines[2].close();
  await eventually(async () => await countOn(lines[0], alice) === 2, 'the connection stays');
  const again = dial(t, server);
  expectStatus(await again.get(alice, '/v1/threads'), 200);
  expectQuota(await dial(t, server).get(alice, '/v1/threads'), 'connections', 3, 3);
  // A lowered quota closes nothing.
  await give(operator, alice, { connections: 1 });
  for (const line of [lines[0], lines[1], again])
    expectStatus(await line.get(alice, '/v1/threads'), 200);
  expectQuota(await dial(t, server).get(alice, '/v1/threads'), 'connections', 1, 3);
  await give(operator, alice, { connections: null });
  expectStatus(await dial(t, server).get(alice, '/v1/threads'), 200);
});

test('a connection counts for the tenant of its last authenticated request', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  await give(operator, alice, { connections: 1 });
  const line = dial(t, server), other = dial(t, server);
  expectStatus(await line.get(alice, '/v1/threads'), 200);
  expectStatus(await other.get(bob, '/v1/threads'), 200);
  expectStatus(await line.get(bob, '/v1/threads'), 200);
  assert.equal(await countOn(other, bob), 2);
  assert.equal(await countOn(other, alice), 1);
  expectQuota(await line.get(alice, '/v1/threads'), 'connections', 1, 1);
  // A key that is wrong, and a path that does not exist, change nothing.
  expectProblem(await other.get({ secret: 'cairn_x' }, '/v1/threads'), 401, 'unauthenticated');
  expectProblem(await other.get(alice, '/v1/nothing'), 404, 'no_route');
  assert.equal(await countOn(other, alice), 1);
});

test('requests that protect work may use connections above the quota', async (t) => {
  const server = await startServer(t);
  const { operator, alice } = await twoTenants(server);
  await give(operator, alice, { connections: 1 });
  const line = dial(t, server), above = dial(t, server);
  const thread = expectStatus(await line.post(alice, '/v1/threads'), 201);
  expectQuota(await dial(t, server).get(alice, '/v1/threads'), 'connections', 1, 1);
  expectStatus(await above.post(alice, `/v1/threads/${thread.id}/cancel`), 200);
  assert.equal(await countOn(line, alice), 2);
  expectQuota(await above.get(alice, '/v1/threads'), 'connections', 1, 2);
  await eventually(async () => await countOn(line, alice) === 1, 'the connection stays open');
});

test('a stream and a WebSocket count as one connection each, and leave with it', async (t) => {
  const server = await startServer(t);
  const { operator, alice } = await twoTenants(server);
  await give(operator, alice, { connections: 3 });
  const line = dial(t, server);
  const stop = new AbortController();
  const stream = await fetch(`${server.url}/v1/events/stream`, { signal: stop.signal,
    headers: { Authorization: `Bearer ${alice.secret}` } });
  assert.equal(stream.status, 200);
  const ws = alice.ws('/v1/events/ws');
  await new Promise((done, failed) => { ws.on('open', done); ws.on('error', failed); });
  assert.equal(await countOn(line, alice), 3);
  expectQuota(await dial(t, server).get(alice, '/v1/threads'), 'connections', 3, 3);
  ws.terminate();
  await eventually(async () => await countOn(line, alice) === 2, 'the WebSocket stays');
  stop.abort();
  await eventually(async () => await countOn(line, alice) === 1, 'the stream stays');
});

test('a tenant sends at most its quota of requests in a second, twice in a burst', async (t) => {
  const server = await startServer(t);
  const { operator, alice, bob } = await twoTenants(server);
  const other = await withKey(alice, ['threads:read']);
  await give(operator, alice, { requests_per_second: 1 });
  const answers = await Promise.all(Array.from({ length: 40 },
    (_, i) => (i % 2 ? alice : other).get('/v1/threads')));
  const refused = answers.filter(({ status }) => status !== 200);
  assert.ok(refused.length > 0 && answers.length - refused.length >= 2, `${refused.length}`);
  for (const answer of refused) expectQuota(answer, 'requests_per_second', 1, 1);
  for (let i = 0; i < 10; i++) expectStatus(await bob.get('/v1/threads'), 200);
  await give(operator, alice, { requests_per_second: 0 });
  expectQuota(await alice.get('/v1/threads'), 'requests_per_second', 0, 0);
  await give(operator, alice, { requests_per_second: null });
  expectStatus(await alice.get('/v1/threads'), 200);
});
