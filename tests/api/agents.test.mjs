// Agents: create, read, list, patch, delete; names, versions, pages.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectFault, expectProblem, expectStatus, startServer, uuid } from
  './lib/server.mjs';

const make = async (client, body) => expectStatus(await client.post('/v1/agents', body), 201);

test('agents', async (t) => {
  const server = await startServer(t);
  const { open } = server;

  await t.test('an agent has every member from the start, and is read back the same', async () => {
    const answer = await open.post('/v1/agents', { name: 'planner' });
    const { id, created_at: created, updated_at: updated, ...rest } = expectStatus(answer, 201);
    assert.deepEqual(rest, { name: 'planner', kind: 'agent', version: '1.0.0', status: 'created',
      is_active: true, description: null, metadata: {}, revision: 1 });
    assert.equal(updated, created);
    assert.equal(answer.headers.get('ETag'), '"1"');
    assert.deepEqual(expectStatus(await open.get(`/v1/agents/${id}`), 200), answer.body);
    const same = await open.get(`/v1/agents/${id}`, { headers: { 'If-None-Match': '"1"' } });
    assert.equal(same.status, 304);
  });

  await t.test('a name is given once', async () => {
    const { id } = await make(open, { name: 'once' });
    const again = await open.post('/v1/agents', { name: 'once' });
    expectProblem(again, 409, 'conflict');
    assert.match(again.body.detail, /an agent with the name "once" exists/);
    const other = await make(open, { name: 'twice' });
    expectProblem(await open.patch(`/v1/agents/${other.id}`, { name: 'once' }), 409, 'conflict');
    expectStatus(await open.patch(`/v1/agents/${id}`, { name: 'first' }), 200);
    expectStatus(await open.patch(`/v1/agents/${other.id}`, { name: 'once' }), 200);
  });

  await t.test('a patch changes what it names, once for a version', async () => {
    const made = await make(open, { name: 'patched', metadata: { a: 1, b: 2 } });
    const match = { headers: { 'If-Match': '"1"' } };
    const body = { description: 'plans', metadata: { a: null } };
    const after = expectStatus(await open.patch(`/v1/agents/${made.id}`, body, match), 200);
    assert.deepEqual([after.description, after.metadata, after.revision], ['plans', { b: 2 }, 2]);
    const stale = await open.patch(`/v1/agents/${made.id}`, body, match);
    expectProblem(stale, 412, 'stale_etag');
  });

  await t.test('bad input is refused with the field and the rule', async () => {
    for (const [body, pointer, rule] of [
      [{}, '/name', /must be given|missing|required/],
      [{ name: '' }, '/name', /1/],
      [{ name: 'x'.repeat(201) }, '/name', /200/],
      [{ name: 'x', metadata: [] }, '/metadata', /object/],
      [{ name: 'x', version: 2 }, '/version', /./],
    ])
      expectFault(await open.post('/v1/agents', body), 422, 'invalid_input', pointer, rule);
    const { id } = await make(open, { name: 'kept' });
    const nameless = await open.patch(`/v1/agents/${id}`, { name: null });
    expectFault(nameless, 422, 'invalid_input', '/name');
    assert.equal(expectStatus(await open.get(`/v1/agents/${id}`), 200).name, 'kept');
  });

  await t.test('they are listed newest first, in pages, and found by name', async () => {
    const all = [];
    for (let query = '', more = true; more;) {
      const page = expectStatus(await open.get(`/v1/agents?limit=2${query}`), 200);
      all.push(...page.data);
      more = page.has_more;
      query = `&cursor=${page.next_cursor}`;
    }
    assert.ok(all.length >= 5);
    assert.deepEqual(all.map((a) => a.id), all.map((a) => a.id).sort().reverse());
    const found = expectStatus(await open.get('/v1/agents?name=planner'), 200);
    assert.deepEqual(found.data.map((a) => a.name), ['planner']);
    expectProblem(await open.get('/v1/agents?cursor=x'), 400, 'invalid_cursor');
  });

  await t.test('a deleted one is gone, its name is free, and the audit log tells', async () => {
    const { id } = await make(open, { name: 'short-lived' });
    expectProblem(await open.del(`/v1/agents/${id}`, { headers: { 'If-Match': '"7"' } }), 412,
      'stale_etag');
    expectStatus(await open.del(`/v1/agents/${id}`), 204);
    expectProblem(await open.get(`/v1/agents/${id}`), 404, 'not_found');
    expectProblem(await open.del(`/v1/agents/${id}`), 404, 'not_found');
    await make(open, { name: 'short-lived' });
    const log = expectStatus(await open.get(`/v1/audit?object_id=${id}`), 200);
    assert.deepEqual(log.data.map((r) => r.action), ['agent.deleted', 'agent.created']);
    expectProblem(await open.get(`/v1/agents/${uuid()}`), 404, 'not_found');
  });
});
