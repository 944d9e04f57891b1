// SPDX-License-Identifier: Apache-2.0
// State documents of agents, threads and agents within threads; configuration of agents. Versions,
// conditions, conflicts with both sides, history, events.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectFault, expectProblem, expectStatus, readAll, startServer, uuid, withKey } from
  './lib/server.mjs';

const NEW = { headers: { 'If-None-Match': '*' } };
const ANY = { headers: { 'If-Match': '*' } };
const at = (version) => ({ headers: { 'If-Match': `"${version}"` } });

const makeAgent = async (client) =>
  expectStatus(await client.post('/v1/agents', { name: `agent ${uuid()}` }), 201);
const makeThread = async (client) => expectStatus(await client.post('/v1/threads', {}), 201);

/** The base paths of the three owners. */
async function owners(client) {
  const [agent, thread] = [await makeAgent(client), await makeThread(client)];
  return { agent, thread, bases: [
    `/v1/agents/${agent.id}`,
    `/v1/threads/${thread.id}`,
    `/v1/threads/${thread.id}/agents/${agent.id}`,
  ] };
}

const eventsOf = async (client, thread) =>
  (await readAll(client, `/v1/threads/${thread.id}/events`))
    .filter((e) => e.kind.startsWith('assistant.state.'))
    .map((e) => [e.kind.split('.').at(-1), e.payload]);

test('a document is written, read, patched, listed and deleted, for each owner', async (t) => {
  const { open } = await startServer(t);
  const { agent, thread, bases } = await owners(open);
  for (const [i, base] of bases.entries())
    await t.test(base.replaceAll(/[0-9a-f-]{36}/g, '…'), async () => {
      const path = `${base}/states/notes`;
      expectProblem(await open.get(path), 404, 'not_found');
      const body = { data: { goal: 'ship', n: [1, 2] }, description: 'what we do',
        ui_schema: { goal: { 'ui:widget': 'textarea' } } };
      const made = await open.put(path, body, NEW);
      const { created_at: created, updated_at: updated, ...rest } = expectStatus(made, 201);
      assert.deepEqual(rest, { name: 'notes', agent_id: i === 1 ? null : agent.id,
        thread_id: i === 0 ? null : thread.id, ...body, updated_by: null, version: 1 });
      assert.equal(updated, created);
      assert.equal(made.headers.get('ETag'), '"1"');
      assert.deepEqual(expectStatus(await open.get(path), 200), made.body);
      assert.equal((await open.get(path, { headers: { 'If-None-Match': '"1"' } })).status, 304);

      const change = { data: { goal: null, m: 1 } };
      const merged = expectStatus(await open.patch(path, change, at(1)), 200);
      assert.deepEqual([merged.data, merged.description, merged.version],
        [{ n: [1, 2], m: 1 }, 'what we do', 2]);
      const patch = [{ op: 'add', path: '/data/n/-', value: 3 }];
      const patched = expectStatus(await open.patch(path, patch,
        { headers: { 'If-Match': '"2"' }, type: 'application/json-patch+json' }), 200);
      assert.deepEqual([patched.data.n, patched.version], [[1, 2, 3], 3]);
      const whole = expectStatus(await open.put(path, { data: [] }, ANY), 200);
      assert.deepEqual([whole.data, whole.description, whole.ui_schema, whole.version],
        [[], 'what we do', body.ui_schema, 4], 'what was left out stays');

      expectStatus(await open.put(`${base}/states/Ä%2F%20b`, { data: {} }, ANY), 201);
      const list = expectStatus(await open.get(`${base}/states`), 200).data;
      assert.deepEqual(list.map((s) => [s.name, s.version, 'data' in s]),
        [['notes', 4, false], ['Ä/ b', 1, false]]);
      const first = expectStatus(await open.get(`${base}/states?limit=1&include=documents`), 200);
      assert.deepEqual([first.data[0].data, first.has_more], [[], true]);
      const next = expectStatus(
        await open.get(`${base}/states?limit=1&cursor=${first.next_cursor}`), 200);
      assert.deepEqual([next.data[0].name, next.has_more], ['Ä/ b', false]);

      const versions = expectStatus(await open.get(`${path}/versions?limit=3`), 200);
      assert.deepEqual(versions.data.map((v) => [v.version, 'data' in v]),
        [[4, false], [3, false], [2, false]]);
      const rest2 = expectStatus(await open.get(
        `${path}/versions?include=documents&cursor=${versions.next_cursor}`), 200);
      assert.deepEqual(rest2.data.map((v) => [v.version, v.data]), [[1, body.data]]);
      const second = expectStatus(await open.get(`${path}/versions/2`), 200);
      assert.deepEqual([second.data, second.ui_schema], [{ n: [1, 2], m: 1 }, body.ui_schema]);
      expectProblem(await open.get(`${path}/versions/5`), 404, 'not_found');
      expectFault(await open.get(`${path}/versions/0`), 422, 'invalid_input', 'version');
      expectProblem(await open.get(`${path}/versions?cursor=eA`), 400, 'invalid_cursor');

      expectStatus(await open.post(`${path}/focus`), 204);
      const unseen = expectProblem(await open.del(path), 428, 'precondition_required');
      assert.doesNotMatch(unseen.detail, /If-None-Match/);
      expectProblem(await open.del(path, at(3)), 412, 'stale_etag');
      expectStatus(await open.del(path, at(4)), 204);
      expectProblem(await open.get(path), 404, 'not_found');
      expectProblem(await open.get(`${path}/versions/1`), 404, 'not_found');
      expectProblem(await open.post(`${path}/focus`), 404, 'not_found');
      // Its number continues: a client that still holds "4" cannot overwrite later changes.
      assert.equal(expectStatus(await open.put(path, { data: {} }, NEW), 201).version, 5);
      expectProblem(await open.put(path, { data: {} }, at(4)), 412, 'stale_etag');
    });
});

test('a write says what it has seen, and a conflict answers with both sides', async (t) => {
  const { open } = await startServer(t);
  const { bases: [base] } = await owners(open);
  const path = `${base}/states/plan`;
  const put = (data, opts) => open.put(path, { data }, opts);
  expectProblem(await put({}), 428, 'precondition_required');
  const early = expectProblem(await put({ mine: 1 }, at(1)), 412, 'stale_etag');
  assert.deepEqual([early.current_version, early.current, early.yours],
    [null, null, { data: { mine: 1 } }]);
  const stored = expectStatus(await put({ n: 1 }, NEW), 201);
  const needed = expectProblem(await put({ n: 2 }), 428, 'precondition_required');
  assert.match(needed.detail, /If-Match: "1"/);
  for (const opts of [NEW, at(2), { headers: { 'If-Match': '"x"' } }]) {
    const conflict = expectProblem(await put({ n: 2 }, opts), 412, 'stale_etag');
    assert.deepEqual([conflict.current_version, conflict.current, conflict.yours],
      [1, stored, { data: { n: 2 } }]);
  }
  const patch = expectProblem(await open.patch(path, { data: { n: 3 } }, at(7)), 412, 'stale_etag');
  assert.deepEqual([patch.current, patch.yours], [stored, { data: { n: 3 } }]);
  expectProblem(await open.patch(path, { data: { n: 3 } }), 428, 'precondition_required');
  const none = `${base}/states/none`;
  expectProblem(await open.patch(none, { data: {} }, ANY), 404, 'not_found');
  expectProblem(await open.del(none, ANY), 404, 'not_found');
  for (const headers of [{ 'If-None-Match': '"1"' }, { 'If-None-Match': '*', 'If-Match': '*' }])
    expectFault(await put({}, { headers }), 422, 'invalid_input', 'If-None-Match');
  assert.deepEqual(expectStatus(await open.get(path), 200), stored, 'nothing was changed');
});

test('the largest sides of a conflict come whole', async (t) => {
  const { open } = await startServer(t);
  const { bases: [base] } = await owners(open);
  const large = (c) => ({ data: { text: c.repeat(1024 * 1024 - 11) } });
  const made = expectStatus(await open.put(`${base}/states/large`, large('a'), NEW), 201);
  const conflict = expectProblem(
    await open.put(`${base}/states/large`, large('b'), NEW), 412, 'stale_etag');
  assert.deepEqual(conflict.current, made);
  assert.deepEqual(conflict.yours, large('b'));
  expectFault(await open.put(`${base}/states/x`, { data: { text: 'a'.repeat(1024 * 1024 - 10) } },
    NEW), 422, 'invalid_input', '/data', /1048576/);
});

test('bad input is refused with the field and the rule', async (t) => {
  const { open } = await startServer(t);
  const { bases: [base] } = await owners(open);
  const path = `${base}/states/x`;
  for (const [body, pointer] of [
    [{}, '/data'],
    [{ data: null }, '/data'],
    [{ data: 'text' }, '/data'],
    [{ data: {}, json_schema: [] }, '/json_schema'],
    [{ data: {}, ui_schema: 'x' }, '/ui_schema'],
    [{ data: {}, version: 2 }, '/version'],
    [{ data: {}, description: 'x'.repeat(16 * 1024 + 1) }, '/description'],
    [{ data: {}, ui_schema: { x: 'x'.repeat(256 * 1024) } }, '/ui_schema'],
  ])
    expectFault(await open.put(path, body, NEW), 422, 'invalid_input', pointer);
  expectFault(await open.put(`${base}/states/${'x'.repeat(201)}`, { data: {} }, NEW), 422,
    'invalid_input', 'name', /1 to 200 bytes/);
  expectProblem(await open.get(path), 404, 'not_found');
  expectProblem(await open.get(`/v1/agents/${uuid()}/states/x`), 404, 'not_found');
  expectProblem(await open.get(`/v1/threads/${uuid()}/states`), 404, 'not_found');
});

test('a document is not written for an agent or a thread that does not exist', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const { id: thread } = expectStatus(await open.post('/v1/threads', {}), 201);
  const { id: agent } = expectStatus(await open.post('/v1/agents', { name: 'a' }), 201);
  for (const path of [`/v1/agents/${uuid()}/config`, `/v1/agents/${uuid()}/states/x`,
    `/v1/threads/${uuid()}/states/x`, `/v1/threads/${thread}/agents/${uuid()}/states/x`,
    `/v1/threads/${uuid()}/agents/${agent}/states/x`])
    for (const opts of [ANY, NEW])
      expectProblem(await open.put(path, { data: {} }, opts), 404, 'not_found');
  assert.deepEqual(server.sql('SELECT id FROM state_documents'), []);
  const name = 'x'.repeat(200);
  expectStatus(await open.put(`/v1/agents/${agent}/states/${name}`, { data: {} }, NEW), 201);
});

test('every write satisfies the schema, and a schema is one', async (t) => {
  const { open } = await startServer(t);
  const { bases: [base] } = await owners(open);
  const path = `${base}/states/typed`;
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object',
    required: ['n'], properties: { n: { type: 'integer', minimum: 0 }, s: { type: 'string' } },
    additionalProperties: false };
  const put = (data, json_schema, opts = ANY) => open.put(path, { data, json_schema }, opts);
  expectFault(await put({ n: -1 }, schema), 422, 'invalid_input', '/data/n', /0/);
  expectFault(await put({}, schema), 422, 'invalid_input', '/data', /n/);
  for (const [bad, pointer] of [
    [{ type: 'thing' }, '/json_schema/type'],
    [{ minimun: 1 }, '/json_schema/minimun'],
    [{ properties: { a: { pattern: '(' } } }, '/json_schema/properties/a/pattern'],
  ])
    expectFault(await put({ n: 1 }, bad), 422, 'invalid_input', pointer);
  expectProblem(await open.get(path), 404, 'not_found');
  expectStatus(await put({ n: 1 }, schema, NEW), 201);
  // A patch is validated by its result; so is a schema that changes without the data.
  const both = await open.patch(path, { data: { n: 1.5, s: 1 } }, at(1));
  expectFault(both, 422, 'invalid_input', '/data/n');
  expectFault(both, 422, 'invalid_input', '/data/s');
  expectFault(await open.patch(path, { json_schema: { properties: { n: { const: 2 } } } }, at(1)),
    422, 'invalid_input', '/data/n');
  const now = expectStatus(await open.get(path), 200);
  assert.deepEqual([now.data, now.json_schema, now.version], [{ n: 1 }, schema, 1]);
  expectStatus(await open.patch(path, { json_schema: null, data: { n: 'x' } }, at(1)), 200);
});

test('what a whole write leaves out stays, and null removes it', async (t) => {
  const { open } = await startServer(t);
  const { agent, thread } = await owners(open);
  for (const path of [`/v1/threads/${thread.id}/states/form`, `/v1/agents/${agent.id}/config`]) {
    const schema = { properties: { n: { type: 'integer' } } };
    const rest = { description: 'd', json_schema: schema, ui_schema: { n: {} } };
    expectStatus(await open.put(path, { data: { n: 1 }, ...rest }, NEW), 201);
    expectFault(await open.put(path, { data: { n: 'x' } }, at(1)), 422, 'invalid_input', '/data/n');
    const kept = expectStatus(await open.put(path, { data: { n: 2 } }, at(1)), 200);
    assert.deepEqual([kept.data, kept.description, kept.json_schema, kept.ui_schema],
      [{ n: 2 }, 'd', schema, { n: {} }]);
    expectFault(await open.put(path, { json_schema: null }, at(2)), 422, 'invalid_input', '/data');
    const none = { description: null, json_schema: null, ui_schema: null };
    const bare = expectStatus(await open.put(path, { data: { n: 'x' }, ...none }, at(2)), 200);
    assert.deepEqual([bare.data, bare.description, 'json_schema' in bare, 'ui_schema' in bare],
      [{ n: 'x' }, null, false, false]);
  }
  const path = `/v1/threads/${thread.id}/states/form`;
  expectStatus(await open.put(path, { data: {}, json_schema: { maxProperties: 1 } }, ANY), 200);
  expectStatus(await open.del(path, ANY), 204);
  const again = expectStatus(await open.put(path, { data: { a: 1, b: 2 } }, NEW), 201);
  assert.ok(!('json_schema' in again), 'of a document that was deleted nothing stays');
});

test('a principal sees what its thread or its own being lets it see', async (t) => {
  const server = await startServer(t);
  const admin = await withKey(server.open, ['operator']);
  const { agent, thread, bases: [own, inThread, both] } = await owners(admin);
  const other = await makeAgent(admin);
  const scopes = ['states:read', 'states:write', 'agents:read', 'agents:write', 'events:read'];
  const as = (principal) => withKey(admin, scopes, { principal });
  const [ann, bob, self, stranger] = await Promise.all(['user:ann', 'user:bob', `agent:${agent.id}`,
    `agent:${other.id}`].map(as));
  for (const [principal, permission] of [['user:ann', 'read_write'], ['user:bob', 'read'],
    [`agent:${agent.id}`, 'read_write']])
    expectStatus(await admin.post(`/v1/threads/${thread.id}/participants`,
      { principal, permission }), 201);
  const write = (client, base, name = 'x') =>
    client.put(`${base}/states/${name}`, { data: {} }, ANY);
  for (const base of [inThread, both]) {
    assert.equal(expectStatus(await write(ann, base), 201).updated_by, 'user:ann');
    expectStatus(await write(self, base), 200);
    expectStatus(await bob.get(`${base}/states/x`), 200);
    expectStatus(await bob.get(`${base}/states`), 200);
    expectProblem(await write(bob, base), 403, 'forbidden');
    expectProblem(await bob.post(`${base}/states/x/focus`), 403, 'forbidden');
    expectProblem(await stranger.get(`${base}/states/x`), 404, 'not_found');
    expectProblem(await write(stranger, base), 404, 'not_found');
    const versions = expectStatus(await ann.get(`${base}/states/x/versions`), 200);
    assert.deepEqual(versions.data.map((v) => v.created_by), [`agent:${agent.id}`, 'user:ann']);
  }
  expectStatus(await write(self, own), 201);
  expectStatus(await self.get(`${own}/states`), 200);
  for (const client of [ann, bob, stranger]) {
    expectProblem(await client.get(`${own}/states/x`), 404, 'not_found');
    expectProblem(await write(client, own), 404, 'not_found');
    expectProblem(await client.get(`${own}/config`), 404, 'not_found');
  }
  // Only the tenant configures the agent.
  const config = `${own}/config`;
  expectStatus(await admin.put(config, { data: { model: 'a' } }, NEW), 201);
  expectStatus(await self.get(config), 200);
  expectProblem(await self.put(config, { data: {} }, ANY), 403, 'forbidden');
  expectProblem(await self.patch(own, { name: 'x' }), 403, 'forbidden');
  expectProblem(await self.del(own), 403, 'forbidden');
  // Changes of the agent's own document are events of the thread that it takes part in.
  const told = expectStatus(await bob.get(`/v1/threads/${thread.id}/events`), 200).data;
  assert.ok(told.some((e) => e.kind === 'assistant.state.created' && e.payload.thread_id === null));
  expectProblem(await admin.del(own), 409, 'conflict');
});

test('what happens to documents is told in the log of their thread', async (t) => {
  const { open } = await startServer(t);
  const { agent, thread, bases: [, inThread, both] } = await owners(open);
  for (const base of [inThread, both]) {
    await open.put(`${base}/states/a`, { data: { kept: 'secret', old: 1 } }, NEW);
    const next = { data: { kept: 'secret', new: 1 }, description: 'x' };
    await open.put(`${base}/states/a`, next, at(1));
    expectStatus(await open.post(`${base}/states/a/focus`), 204);
    expectStatus(await open.del(`${base}/states/a`, at(2)), 204);
  }
  const events = await eventsOf(open, thread);
  const about = (owner, version) => ({ name: 'a', version, agent_id: owner, thread_id: thread.id });
  assert.deepEqual(events, [null, agent.id].flatMap((owner) => [
    ['created', { ...about(owner, 1), changed: ['data'] }],
    ['updated', { ...about(owner, 2), changed: ['description', 'data'],
      changed_members: ['new', 'old'] }],
    ['focus', about(owner, 2)],
    ['deleted', about(owner, 2)],
  ]));
  assert.ok(!JSON.stringify(events).includes('secret'));
});

test('two large documents are compared in no time, and few of their members told', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const thread = await makeThread(open);
  const path = `/v1/threads/${thread.id}/states/large`;
  const document = (letter) =>
    ({ data: Object.fromEntries(Array.from({ length: 60000 }, (_, i) => [letter + i, 1])) });
  expectStatus(await open.put(path, document('a'), NEW), 201);
  const before = server.cpuMs;
  expectStatus(await open.put(path, document('b'), at(1)), 200);
  assert.ok(server.cpuMs - before < 8000, `took ${server.cpuMs - before} ms of CPU`);
  const [, told] = (await eventsOf(open, thread)).at(-1);
  assert.deepEqual([told.changed_members.length, told.changed_members_untold], [64, 119936]);
});

test('the configuration of an agent has versions by the same rules, and no events', async (t) => {
  const { open } = await startServer(t);
  const agent = await makeAgent(open);
  const path = `/v1/agents/${agent.id}/config`;
  const none = expectProblem(await open.get(path), 404, 'not_found');
  assert.match(none.detail, /no configuration yet/);
  expectProblem(await open.put(path, { data: { model: 'a' } }), 428, 'precondition_required');
  expectStatus(await open.put(path, { data: { model: 'a' } }, NEW), 201);
  expectStatus(await open.patch(path, { data: { top_p: 0.5 } }, at(1)), 200);
  const conflict = expectProblem(await open.put(path, { data: {} }, at(1)), 412, 'stale_etag');
  assert.deepEqual(conflict.current.data, { model: 'a', top_p: 0.5 });
  const versions = expectStatus(await open.get(`${path}/versions`), 200);
  assert.deepEqual(versions.data.map((v) => v.version), [2, 1]);
  assert.deepEqual(expectStatus(await open.get(`${path}/versions/1`), 200).data, { model: 'a' });
  assert.deepEqual(expectStatus(await open.get(`/v1/agents/${agent.id}/states`), 200).data, []);
  const log = expectStatus(await open.get(`/v1/audit?object_id=${agent.id}`), 200);
  assert.deepEqual(log.data.map((r) => [r.action, r.detail.version]),
    [['agent.configured', 2], ['agent.configured', 1], ['agent.created', undefined]]);
});

// The sequence at the end of the Semantic Workbench's document: two conversations and a central
// state, which is the assistant's. Each line of it is a line here.
test('two conversations synchronise by a central state with version checks', async (t) => {
  const server = await startServer(t);
  const agent = await makeAgent(server.open);
  const [convA, convB] = [server.client(null), server.client(null)];
  const central = `/v1/agents/${agent.id}/states/central`;

  // ConvA->>Central: Read current state
  expectProblem(await convA.get(central), 404, 'not_found');
  // ConvA->>ConvA: Local modifications
  const first = { tasks: ['a1'], owner: 'A' };
  // ConvA->>Central: Write with version check; Central-->>ConvA: Update confirmed (v1)
  const v1 = await convA.put(central, { data: first }, NEW);
  assert.equal(expectStatus(v1, 201).version, 1);

  // ConvB->>Central: Read current state (v1)
  const seenByB = await convB.get(central);
  assert.equal(seenByB.headers.get('ETag'), '"1"');
  // ConvB->>ConvB: Local modifications
  const ofB = { ...expectStatus(seenByB, 200).data, reviewer: 'B' };

  // ConvA->>Central: Read current state (v1)
  const seenByA = await convA.get(central);
  assert.equal(seenByA.headers.get('ETag'), '"1"');
  // ConvA->>ConvA: More local modifications
  const ofA = { ...seenByA.body.data, tasks: ['a1', 'a2'] };
  // ConvA->>Central: Write with version check; Central-->>ConvA: Update confirmed (v2)
  const v2 = await convA.put(central, { data: ofA },
    { headers: { 'If-Match': seenByA.headers.get('ETag') } });
  assert.equal(expectStatus(v2, 200).version, 2);

  // ConvB->>Central: Write with version check (v1); Central--xConvB: Conflict (current v2)
  const conflict = expectProblem(await convB.put(central, { data: ofB },
    { headers: { 'If-Match': seenByB.headers.get('ETag') } }), 412, 'stale_etag');
  assert.equal(conflict.current_version, 2);
  assert.deepEqual(conflict.current.data, ofA);
  assert.deepEqual(conflict.yours.data, ofB);
  // ConvB->>Central: Read current state (v2)
  const again = await convB.get(central);
  assert.equal(again.headers.get('ETag'), '"2"');
  assert.deepEqual(again.body, conflict.current, 'the conflict has told it already');
  // ConvB->>ConvB: Merge changes
  const merged = { ...again.body.data, reviewer: ofB.reviewer };
  // ConvB->>Central: Write with version check (v2); Central-->>ConvB: Update confirmed (v3)
  const v3 = await convB.put(central, { data: merged },
    { headers: { 'If-Match': again.headers.get('ETag') } });
  assert.equal(expectStatus(v3, 200).version, 3);
  assert.deepEqual(expectStatus(await convA.get(central), 200).data,
    { tasks: ['a1', 'a2'], owner: 'A', reviewer: 'B' });
  const history = expectStatus(await convA.get(`${central}/versions?include=documents`), 200);
  assert.deepEqual(history.data.map((v) => [v.version, v.data]),
    [[3, merged], [2, ofA], [1, first]]);
});

test('of writers at the same time none is lost, whoever owns the document', async (t) => {
  const server = await startServer(t);
  const { bases } = await owners(server.open);
  const WRITERS = 2;
  const EACH = 15;
  for (const base of bases) {
    const path = `${base}/states/counter`;
    expectStatus(await server.open.put(path, { data: { all: [] } }, NEW), 201);
    let conflicts = 0;
    const write = async (writer) => {
      const client = server.client(null);
      let seen = expectStatus(await client.get(path), 200);
      for (let n = 0; n < EACH;) {
        const data = { all: [...seen.data.all, `${writer}.${n}`] };
        const answer = await client.put(path, { data }, at(seen.version));
        if (answer.status === 412) {
          seen = answer.body.current;
          conflicts++;
        } else {
          seen = expectStatus(answer, 200);
          n++;
        }
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, i) => write(i)));
    const end = expectStatus(await server.open.get(path), 200);
    assert.equal(end.version, 1 + WRITERS * EACH);
    assert.equal(new Set(end.data.all).size, WRITERS * EACH);
    assert.ok(conflicts > 0, 'they never met');
  }
});
