// SPDX-License-Identifier: Apache-2.0
// Private storage of agents: JSON and bytes by key, prefixes, conditions, and isolation from all
// other principals.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectFault, expectProblem, expectStatus, startServer, uuid, withKey } from
  './lib/server.mjs';

const makeAgent = async (client) =>
  expectStatus(await client.post('/v1/agents', { name: `agent ${uuid()}` }), 201);

const bytesOf = async (server, path, headers = {}) => {
  const answer = await fetch(`${server.url}${path}`, { headers });
  return { status: answer.status, headers: answer.headers,
    bytes: Buffer.from(await answer.arrayBuffer()) };
};

test('storage', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const agent = await makeAgent(open);
  const base = `/v1/agents/${agent.id}/storage`;

  await t.test('JSON is read back as JSON, with every digit', async () => {
    const raw = '{"n": 12345678901234567890.10, "list": [null, "ä"]}';
    const made = await open.put(`${base}/plan`, undefined, { raw, type: 'application/json' });
    const { created_at: created, updated_at: updated, ...rest } = expectStatus(made, 201);
    assert.deepEqual(rest, { key: 'plan', content_type: 'application/json',
      size_bytes: Buffer.byteLength('{"n":12345678901234567890.10,"list":[null,"ä"]}'),
      version: 1 });
    assert.equal(created, updated);
    const read = await open.get(`${base}/plan`);
    assert.equal(read.headers.get('Content-Type'), 'application/json');
    assert.equal(read.headers.get('ETag'), '"1"');
    assert.equal(read.text, '{"n":12345678901234567890.10,"list":[null,"ä"]}');
    for (const raw of ['null', '"text"', '7'])
      expectStatus(await open.put(`${base}/plan`, undefined, { raw, type: 'application/json' }),
        200);
    assert.equal((await open.get(`${base}/plan`)).text, '7');
    const same = await open.get(`${base}/plan`, { headers: { 'If-None-Match': '"4"' } });
    assert.deepEqual([same.status, same.text], [304, '']);
    const bad = await open.put(`${base}/plan`, undefined, { raw: '{', type: 'application/json' });
    expectProblem(bad, 400, 'invalid_json');
    assert.equal((await open.get(`${base}/plan`)).text, '7');
  });

  await t.test('anything else is bytes, read back with its type', async () => {
    const raw = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 256));
    expectStatus(await open.put(`${base}/blob`, undefined, { raw, type: 'image/png' }), 201);
    const read = await bytesOf(server, `${base}/blob`);
    assert.deepEqual([read.status, read.headers.get('Content-Type'),
      read.headers.get('X-Content-Type-Options')], [200, 'image/png', 'nosniff']);
    assert.ok(raw.equals(read.bytes));
    // A browser must not open an agent's bytes as a page of this origin.
    assert.deepEqual([read.headers.get('Content-Disposition'),
      read.headers.get('Content-Security-Policy')], ['attachment', 'sandbox']);
    const large = Buffer.alloc(4 * 1024 * 1024, 'x');
    expectStatus(await open.put(`${base}/blob`, undefined, { raw: large, type: 'text/plain' }),
      200);
    assert.ok(large.equals((await bytesOf(server, `${base}/blob`)).bytes));
    const over = Buffer.alloc(4 * 1024 * 1024 + 1, 'x');
    const refused = await open.put(`${base}/blob`, undefined, { raw: over, type: 'text/plain' });
    assert.equal(expectStatus(refused, 413).code, 'body_too_large');
    const type = 'nonsense';
    expectFault(await open.put(`${base}/blob`, undefined, { raw, type }), 422, 'invalid_input',
      'Content-Type', /type\/subtype/);
    assert.ok(large.equals((await bytesOf(server, `${base}/blob`)).bytes), 'nothing was changed');
  });

  await t.test('conditions are kept where they are given', async () => {
    const path = `${base}/guarded`;
    const put = (headers) => open.put(path, { x: 1 }, { headers });
    expectProblem(await put({ 'If-Match': '"1"' }), 412, 'stale_etag');
    expectStatus(await put({ 'If-None-Match': '*' }), 201);
    expectProblem(await put({ 'If-None-Match': '*' }), 412, 'stale_etag');
    expectStatus(await put({ 'If-Match': '"1"' }), 200);
    expectProblem(await put({ 'If-Match': '"1"' }), 412, 'stale_etag');
    expectStatus(await put({ 'If-Match': '*' }), 200);
    expectProblem(await open.del(path, { headers: { 'If-Match': '"1"' } }), 412, 'stale_etag');
    expectStatus(await open.del(path, { headers: { 'If-Match': '"3"' } }), 204);
    expectProblem(await open.del(path), 404, 'not_found');
    expectProblem(await open.get(path), 404, 'not_found');
  });

  await t.test('keys are any text, listed by prefix in pages, with values when asked', async () => {
    const keys = ['a/1', 'a/2', 'a/ä ?#%', 'b', 'z'.repeat(512)];
    for (const key of keys)
      expectStatus(await open.put(`${base}/${encodeURIComponent(key)}`, { key }), 201);
    const list = async (query) => expectStatus(await open.get(`${base}?${query}`), 200);
    const found = await list('prefix=a%2F');
    assert.deepEqual(found.data.map((i) => [i.key, 'value' in i]),
      keys.slice(0, 3).map((key) => [key, false]));
    const all = [];
    for (let cursor = '', more = true; more;) {
      const page = await list(`limit=2&include=values${cursor}`);
      all.push(...page.data);
      more = page.has_more;
      cursor = `&cursor=${page.next_cursor}`;
    }
    assert.deepEqual(all.map((i) => i.key), ['a/1', 'a/2', 'a/ä ?#%', 'b', 'blob', 'plan',
      'z'.repeat(512)]);
    assert.deepEqual(all[2].value, { key: 'a/ä ?#%' });
    const blob = all.find((i) => i.key === 'blob');
    assert.equal(Buffer.from(blob.base64, 'base64').length, 4 * 1024 * 1024);
    expectProblem(await open.get(`${base}?cursor=%2F`), 400, 'invalid_cursor');
    expectFault(await open.put(`${base}/${'x'.repeat(513)}`, {}), 422, 'invalid_input', 'key');
  });
});

test('nobody but the agent and the keys of its tenant sees what it has stored', async (t) => {
  const server = await startServer(t, { args: ['--log-level', 'debug'] });
  const admin = await withKey(server.open, ['operator']);
  const [agent, other] = [await makeAgent(admin), await makeAgent(admin)];
  const thread = expectStatus(await admin.post('/v1/threads', {}), 201);
  const [secret, key] = [`secret-${uuid()}`, `key-${uuid()}`];
  const base = `/v1/agents/${agent.id}/storage`;
  const all = { permission: 'read_write' };
  for (const principal of ['user:ann', `agent:${agent.id}`, `agent:${other.id}`])
    expectStatus(await admin.post(`/v1/threads/${thread.id}/participants`, { principal, ...all }),
      201);
  const SCOPES = ['threads', 'runs', 'events', 'messages', 'files', 'participants', 'agents',
    'states', 'storage'].flatMap((s) => [`${s}:read`, `${s}:write`]);
  const as = (principal) => withKey(admin, SCOPES, { principal });
  const [self, ann, peer] = [await as(`agent:${agent.id}`), await as('user:ann'),
    await as(`agent:${other.id}`)];

  expectStatus(await self.put(`${base}/${key}`, { secret }), 201);
  assert.deepEqual(expectStatus(await self.get(`${base}/${key}`), 200), { secret });
  assert.deepEqual(expectStatus(await admin.get(`${base}/${key}`), 200), { secret });
  for (const client of [ann, peer]) {
    expectProblem(await client.get(base), 404, 'not_found');
    expectProblem(await client.get(`${base}/${key}`), 404, 'not_found');
    expectProblem(await client.put(`${base}/${key}`, {}), 404, 'not_found');
    expectProblem(await client.del(`${base}/${key}`), 404, 'not_found');
  }
  // Every route that a participant can read, on everything that there is.
  const document = expectStatus(await admin.get('/openapi.json'), 200);
  const things = { thread_id: thread.id, workflow_id: thread.id, agent_id: agent.id, name: 'x', key,
    version: 1, from: 1, to: 1 };
  let walked = 0;
  for (const [path, { get }] of Object.entries(document.paths)) {
    const isStream = get?.responses[101] ?? get?.responses[200]?.content?.['text/event-stream'];
    if (get === undefined || isStream) continue;
    const target = path.replace(/\{(\w+)\}/g, (_, name) => things[name] ?? uuid());
    const { text } = await ann.get(target);
    assert.ok(!text.includes(secret) && !text.includes(key), path);
    walked++;
  }
  assert.ok(walked > 20);
  // The storage appears in no event and in no log.
  for (const path of [`/v1/threads/${thread.id}/events`, '/v1/events', '/v1/audit']) {
    const { text } = await admin.get(`${path}?limit=200`);
    assert.ok(!text.includes(secret) && !text.includes(key), path);
  }
  assert.match(server.stderr, /\{key\}/);
  const storageLines = server.stderr.split('\n').filter((l) => l.includes('/storage'));
  assert.ok(storageLines.length >= 5);
  for (const line of storageLines) assert.ok(!line.includes(key) && !line.includes(secret), line);
});
