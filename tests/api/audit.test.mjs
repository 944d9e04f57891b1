// SPDX-License-Identifier: Apache-2.0
// The audit log: who did what to which object, when; and that tampering with it shows.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
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

const actions = (page) => page.data.map((r) => r.action);

test('every administrative and destructive action leaves one record', async (t) => {
  const server = await startServer(t);
  const { operator, alice } = await twoTenants(server);
  const helper = await withKey(alice, ['runs:read']);
  expectStatus(await alice.del(`/v1/keys/${helper.keyId}`), 200);
  const thread = expectStatus(await alice.post('/v1/threads', { title: 'private' }), 201);
  expectStatus(await alice.post(`/v1/threads/${thread.id}/events/prune`, { through_seq: 1 }), 200);
  expectStatus(await alice.del(`/v1/threads/${thread.id}`), 204);
  const mine = expectStatus(await alice.get('/v1/audit'), 200);
  assert.deepEqual(
    mine.data.map((r) => [r.seq, r.action, r.object_type, r.object_id, r.detail]),
    [
      [5, 'thread.deleted', 'thread', thread.id, {}],
      [4, 'events.pruned', 'thread', thread.id, { pruned: 1 }],
      [3, 'key.revoked', 'key', helper.keyId, { name: 'test', scopes: ['runs:read'] }],
      [2, 'key.created', 'key', helper.keyId, { name: 'test', scopes: ['runs:read'] }],
      [1, 'key.created', 'key', alice.keyId, { name: 'first key', scopes: ['admin'] }],
    ],
  );
  expectStatus(await operator.patch(`/v1/tenants/${alice.tenantId}`, { name: 'alicia' }), 200);
  expectStatus(await operator.del(`/v1/tenants/${alice.tenantId}`), 204);
  const theirs = expectStatus(await operator.get('/v1/audit'), 200);
  assert.deepEqual(
    theirs.data.slice(0, 2).map((r) => [r.action, r.object_id, r.detail]),
    [
      ['tenant.deleted', alice.tenantId, { name: 'alicia' }],
      ['tenant.renamed', alice.tenantId, { name: 'alicia' }],
    ],
  );
  assert.deepEqual(actions(theirs).slice(2), ['tenant.created', 'tenant.created', 'key.created']);
});

/** Every action of the list in the model's header. */
function knownActions() {
  const header = new URL('../../src/model/tenancy/audit.h', import.meta.url);
  const [, list] = /#define AUDIT_ACTIONS\(X\)((?:.*\\\n)*.*\n)/
    .exec(readFileSync(header, 'utf8'));
  return [...list.matchAll(/X\("([a-z_.]+)"\)/g)].map(([, word]) => word).sort();
}

const UNSEEN = { headers: { 'If-Match': '*' } };
const ok = async (answer, status = 200) => expectStatus(await answer, status);

/** Each returns the records that it must have left: [action, type and id of the object]. */
const CAUSES = {
  async agents({ alice }) {
    const { id } = await ok(alice.post('/v1/agents', { name: 'first' }), 201);
    const change = (body) => ok(alice.patch(`/v1/agents/${id}`, body));
    await change({ name: 'second' });
    await change({ granted_to: ['user:*'] });
    await change({ is_active: false });
    await change({ is_active: true });
    const { version } = await ok(alice.post(`/v1/agents/${id}/versions`, { bump: 'patch' }), 201);
    await ok(alice.post(`/v1/agents/${id}/versions/${version}/activate`));
    await ok(alice.post(`/v1/agents/${id}/rollback`));
    await ok(alice.put(`/v1/agents/${id}/config`, { data: {} }, UNSEEN), 201);
    await ok(alice.del(`/v1/agents/${id}`), 204);
    return ['created', 'renamed', 'granted', 'disabled', 'enabled', 'activated', 'rolled_back',
      'configured', 'deleted'].map((what) => [`agent.${what}`, 'agent', id]);
  },

  async threads({ alice }) {
    const { id } = await ok(alice.post('/v1/threads', {}), 201);
    for (let i = 0; i < 2; i++)
      await ok(alice.post(`/v1/threads/${id}/checkpoints`, { channel_values: { i } }), 201);
    await ok(alice.post(`/v1/threads/${id}/checkpoints/prune`, { keep_latest: 1 }));
    await ok(alice.post(`/v1/threads/${id}/events/prune`, { through_seq: 1 }));
    const archive = (await alice.get(`/v1/threads/${id}/export`)).bytes;
    const copy = await ok(alice.post('/v1/imports?ids=remap', undefined,
      { raw: archive, type: 'application/x-tar' }), 201);
    await ok(alice.del(`/v1/threads/${id}`), 204);
    return [['checkpoints.pruned', 'thread', id], ['events.pruned', 'thread', id],
      ['archive.imported', 'thread', copy.objects[0].to], ['thread.deleted', 'thread', id]];
  },

  async participants({ alice }) {
    const { id: thread } = await ok(alice.post('/v1/threads', {}), 201);
    const { id, token } = await ok(
      alice.post(`/v1/threads/${thread}/shares`, { kind: 'participate' }), 201);
    await ok(alice.post('/v1/shares/redeem', { token },
      { headers: { 'Cairn-Principal': 'user:guest' } }));
    const [{ id: guest }] = (await ok(
      alice.get(`/v1/threads/${thread}/participants?principal=user:guest`))).data;
    await ok(alice.patch(`/v1/threads/${thread}/participants/${guest}`,
      { permission: 'read_write' }));
    await ok(alice.del(`/v1/threads/${thread}/shares/${id}`));
    const given = ['participant.permission', 'participant', guest];
    return [['share.created', 'share', id], ['share.redeemed', 'share', id], given, given,
      ['share.revoked', 'share', id]];
  },

  async money({ alice }) {
    const nil = '00000000-0000-0000-0000-000000000000';
    await ok(alice.put('/v1/prices/model', { input: 1, output: 1 }), 201);
    await ok(alice.del('/v1/prices/model'), 204);
    const judged = await ok(
      alice.post('/v1/evals', { name: 'e', eval_type: 'accuracy' }), 201);
    await ok(alice.del(`/v1/evals/${judged.id}`), 204);
    const notebook = await ok(alice.post('/v1/notebooks', { title: 'n' }), 201);
    await ok(alice.del(`/v1/notebooks/${notebook.id}`), 204);
    return [['price.set', 'price', nil], ['price.deleted', 'price', nil],
      ['eval.deleted', 'eval', judged.id], ['notebook.deleted', 'notebook', notebook.id]];
  },

  async keys({ alice }) {
    const scopes = ['threads:read'];
    const gone = await withKey(alice, scopes);
    await ok(alice.del(`/v1/keys/${gone.keyId}`));
    expectProblem(await gone.get('/v1/threads'), 401, 'unauthenticated');
    const narrow = await withKey(alice, scopes);
    expectProblem(await narrow.get('/v1/keys'), 403, 'forbidden');
    const other = await withKey(alice, scopes, { principal: 'user:ada' });
    expectProblem(await other.get('/v1/threads', { headers: { 'Cairn-Principal': 'user:bob' } }),
      403, 'forbidden');
    return [['key.created', 'key', gone.keyId], ['key.revoked', 'key', gone.keyId],
      ['key.refused', 'key', gone.keyId], ['scope.refused', 'key', narrow.keyId],
      ['principal.refused', 'key', other.keyId]];
  },

  async tenants({ operator }) {
    const { tenant: { id } } = await ok(operator.post('/v1/tenants', { name: 'short' }), 201);
    await ok(operator.patch(`/v1/tenants/${id}`, { name: 'shorter' }));
    await ok(operator.patch(`/v1/tenants/${id}`, { plan_tier: 'pro' }));
    await ok(operator.del(`/v1/tenants/${id}`), 204);
    return ['created', 'renamed', 'updated', 'deleted']
      .map((what) => [`tenant.${what}`, 'tenant', id]);
  },
};

test('every action that the log knows is caused here, and is recorded', async (t) => {
  const server = await startServer(t);
  const clients = await twoTenants(server);
  const caused = [];
  for (const cause of Object.values(CAUSES)) caused.push(...await cause(clients));
  assert.deepEqual([...new Set(caused.map(([action]) => action))].sort(), knownActions());
  for (const [action, type, id] of caused) {
    const client = type === 'tenant' ? clients.operator : clients.alice;
    const find = async () => expectStatus(
      await client.get(`/v1/audit?action=${action}&object_id=${id}&limit=200`), 200).data;
    // Refusals are recorded by a job of their own, after the answer.
    if (action.endsWith('.refused'))
      await eventually(async () => (await find()).length > 0, action);
    const records = await find();
    const count = caused.filter((other) => `${other}` === `${[action, type, id]}`).length;
    assert.equal(records.length, count, `${action}: ${JSON.stringify(records)}`);
    assert.deepEqual([records[0].action, records[0].object_type, records[0].object_id],
      [action, type, id]);
    assert.match(records[0].actor, /^key:/);
    const foreign = await clients.bob.get(`/v1/audit?action=${action}&object_id=${id}`);
    assert.deepEqual(expectStatus(foreign, 200).data, [], 'other tenants do not see it');
  }
  for (const client of Object.values(clients))
    assert.equal(expectStatus(await client.get('/v1/audit/verify'), 200).intact, true);
});

test('a record tells who asked, under which request, and when', async (t) => {
  const server = await startServer(t);
  const before = new Date().toISOString();
  const first = expectStatus(
    await server.open.post(
      '/v1/keys',
      { name: 'k', scopes: ['operator'] },
      { headers: { 'X-Request-Id': 'the-first' } },
    ),
    201,
  );
  const operator = server.client(first.secret);
  expectStatus(
    await operator.post(
      '/v1/tenants',
      { name: 'x' },
      { headers: { 'X-Request-Id': 'the-second' } },
    ),
    201,
  );
  const [second, opened] = expectStatus(await operator.get('/v1/audit'), 200).data;
  assert.deepEqual([opened.actor, opened.request_id], ['open', 'the-first']);
  assert.deepEqual([second.actor, second.request_id], [`key:${first.id}`, 'the-second']);
  assert.ok(opened.at >= before && second.at >= opened.at);
  assert.ok(second.at <= new Date(Date.now() + 1000).toISOString());
});

test('refusals of keys and scopes are recorded, at most one a minute for each key', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const reader = await withKey(alice, ['threads:read']);
  const gone = await withKey(alice, ['threads:read']);
  expectStatus(await alice.del(`/v1/keys/${gone.keyId}`), 200);
  for (let i = 0; i < 5; i++) {
    expectProblem(await reader.get('/v1/keys'), 403, 'forbidden');
    expectProblem(await gone.get('/v1/threads'), 401, 'unauthenticated');
  }
  await eventually(async () =>
    actions(expectStatus(await alice.get('/v1/audit'), 200)).includes('key.refused'),
  );
  const refused = expectStatus(await alice.get('/v1/audit'), 200).data.filter((r) =>
    r.action.endsWith('.refused'),
  );
  assert.deepEqual(refused.map((r) => [r.action, r.object_id]).sort(), [
    ['key.refused', gone.keyId],
    ['scope.refused', reader.keyId],
  ]);
});

test('a failed action leaves no record', async (t) => {
  const server = await startServer(t);
  const { operator, alice } = await twoTenants(server);
  const before = expectStatus(await operator.get('/v1/audit'), 200);
  expectProblem(await operator.post('/v1/tenants', { name: 'alice' }), 409, 'conflict');
  expectProblem(await operator.del(`/v1/tenants/${uuid()}`), 404, 'not_found');
  expectProblem(
    await operator.patch(
      `/v1/tenants/${alice.tenantId}`,
      { name: 'x' },
      { headers: { 'If-Match': '"7"' } },
    ),
    412,
    'stale_etag',
  );
  assert.deepEqual(expectStatus(await operator.get('/v1/audit'), 200), before);
});

test('the log is read in pages and by action and object', async (t) => {
  const server = await startServer(t);
  const { operator, alice } = await twoTenants(server);
  const seen = [];
  let cursor = '';
  do {
    const page = expectStatus(await operator.get(`/v1/audit?limit=2${cursor}`), 200);
    seen.push(...page.data.map((r) => r.seq));
    cursor = page.has_more ? `&cursor=${page.next_cursor}` : null;
  } while (cursor !== null);
  assert.deepEqual(seen, [3, 2, 1]);
  const made = expectStatus(await operator.get('/v1/audit?action=tenant.created'), 200);
  assert.equal(made.data.length, 2);
  const one = expectStatus(await operator.get(`/v1/audit?object_id=${alice.tenantId}`), 200);
  assert.deepEqual(
    one.data.map((r) => r.object_id),
    [alice.tenantId],
  );
  for (const bad of ['x', '-1', '0', '1.5'])
    expectFault(await operator.get(`/v1/audit?cursor=${bad}`), 400, 'invalid_cursor', 'cursor');
  expectFault(
    await operator.get('/v1/audit?object_id=7'),
    422,
    'invalid_input',
    'object_id',
    /UUID/,
  );
});

test('the chain can be recomputed by anybody who reads the log', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const records = expectStatus(await operator.get('/v1/audit'), 200).data.reverse();
  const micros = (at) => Date.parse(`${at.slice(0, 19)}Z`) * 1000 + Number(at.slice(20, 26));
  const tenant = Buffer.from(DEFAULT_TENANT.replaceAll('-', ''), 'hex');
  let previous = Buffer.alloc(0);
  for (const r of records) {
    const text = JSON.stringify([
      r.seq,
      micros(r.at),
      r.actor,
      r.action,
      r.object_type,
      r.object_id,
      r.request_id,
      JSON.stringify(r.detail),
    ]);
    previous = createHash('sha256').update(tenant).update(previous).update(text).digest();
    assert.equal(r.hash, previous.toString('hex'));
  }
  const verdict = expectStatus(await operator.get('/v1/audit/verify'), 200);
  assert.deepEqual(verdict, {
    intact: true,
    records: records.length,
    first_broken: null,
    head: records.at(-1).hash,
  });
});

test('an untouched log is intact after a restart and after a kill', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const before = expectStatus(await operator.get('/v1/audit/verify'), 200);
  await server.restart();
  assert.deepEqual(expectStatus(await operator.get('/v1/audit/verify'), 200), before);
  await server.kill();
  await server.start();
  assert.deepEqual(expectStatus(await operator.get('/v1/audit/verify'), 200), before);
});

test('a changed, removed, inserted or moved record shows in the verdict', async (t) => {
  const where = (seq) => `WHERE tenant_id = TENANT AND seq = ${seq}`;
  const zeros = ENGINE === 'postgres' ? "decode(repeat('00', 32), 'hex')" : 'zeroblob(32)';
  const cases = {
    'who did it': [`UPDATE audit_log SET actor = 'open' ${where(2)}`, 2],
    'what was done': [`UPDATE audit_log SET action = 'tenant.renamed' ${where(3)}`, 3],
    'the object': [`UPDATE audit_log SET object_id = upper(object_id) ${where(2)}`, 2],
    'the time': [`UPDATE audit_log SET at = at + 1 ${where(1)}`, 1],
    'the detail': [`UPDATE audit_log SET detail = '{}' ${where(1)}`, 1],
    'the request': [`UPDATE audit_log SET request_id = '' ${where(3)}`, 3],
    'the hash': [`UPDATE audit_log SET hash = ${zeros} ${where(2)}`, 2],
    'a removed record': [`DELETE FROM audit_log ${where(2)}`, 2],
    'a removed beginning': [`DELETE FROM audit_log ${where(1)}`, 1],
    'a copied record': [
      `INSERT INTO audit_log SELECT tenant_id, 4, at, actor, action, object_type, object_id,
       request_id, detail, hash FROM audit_log ${where(3)}`,
      4,
    ],
  };
  for (const [name, [statement, broken]] of Object.entries(cases))
    await t.test(name, async (t) => {
      const server = await startServer(t);
      const { operator, alice } = await twoTenants(server);
      const whole = expectStatus(await operator.get('/v1/audit/verify'), 200);
      assert.deepEqual([whole.intact, whole.records], [true, 3]);
      await server.stop();
      server.sql(statement.replace('TENANT', server.idLiteral(DEFAULT_TENANT)));
      await server.start();
      const verdict = expectStatus(await operator.get('/v1/audit/verify'), 200);
      assert.deepEqual(
        [verdict.intact, verdict.first_broken, verdict.records],
        [false, broken, broken - 1],
      );
      assert.equal(
        expectStatus(await alice.get('/v1/audit/verify'), 200).intact,
        true,
        "another tenant's chain is its own",
      );
    });
});

test('a cut tail shows to whoever noted the head', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const noted = expectStatus(await operator.get('/v1/audit/verify'), 200).head;
  await server.stop();
  server.sql(`DELETE FROM audit_log WHERE seq = 3`);
  await server.start();
  const now = expectStatus(await operator.get('/v1/audit/verify'), 200);
  assert.equal(now.intact, true, 'what is left is a whole chain');
  assert.notEqual(now.head, noted);
});

const opaque = (text) => Buffer.from(text).toString('base64url');

test('a damaged record is never shown: the page is refused by name, and counted', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const [newest] = expectStatus(await operator.get('/v1/audit?limit=1'), 200).data;
  await server.stop();
  server.sql(`UPDATE audit_log SET action = 'tenant.creatfd'
    WHERE tenant_id = ${server.idLiteral(DEFAULT_TENANT)} AND seq = 2`);
  await server.start();
  const pages = ['', `?cursor=${opaque('3')}`, '?action=tenant.creatfd'];
  for (const path of pages.map((query) => `/v1/audit${query}`)) {
    const problem = expectProblem(await operator.get(path), 500, 'data_damaged');
    assert.match(problem.detail, /audit record [23]/);
    assert.equal(problem.retryable, false);
    assert.ok(!problem.detail.includes('creatfd'));
  }
  const { text } = await operator.get('/metrics');
  assert.match(text, /^cairn_store_damaged_total 3$/m);
  assert.equal(server.stderr.match(/"message":"request".*audit record/g)?.length, 3, server.stderr);
  const rest = await operator.get(`/v1/audit?cursor=${opaque('2')}`);
  assert.equal(expectStatus(rest, 200).data.length, 1);
  assert.equal(newest.seq, 3);
  assert.equal(expectStatus(await operator.get('/v1/audit/verify'), 200).first_broken, 2);
  // Later records continue from the last hash, and can be verified.
  expectStatus(await operator.post('/v1/tenants', { name: 'later' }), 201);
  assert.equal(expectStatus(await operator.get('/v1/audit?limit=1'), 200).data[0].seq, 4);
});
