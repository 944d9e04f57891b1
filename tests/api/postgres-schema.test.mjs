// SPDX-License-Identifier: Apache-2.0
// The schema in PostgreSQL: row-level security as a second fence, and the tenant in every key, so
// that the tables can be spread over machines by tenant.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectStatus, onPostgres, startServer, twoTenants } from './lib/server.mjs';
import { psql } from './lib/postgres.mjs';

const HERE = onPostgres('its catalogue');
// Tables without a tenant: the record of migrations.
const WITHOUT_TENANT = ['schema_versions', 'event_floor'];

/** Two tenants with a row in as many tables as the API fills. */
async function inhabited(t) {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  for (const client of [alice, bob]) {
    const thread = expectStatus(await client.post('/v1/threads', { metadata: { k: 'v' } },
      { headers: { 'Idempotency-Key': 'the-same' } }), 201);
    expectStatus(await client.post(`/v1/threads/${thread.id}/runs`, { dispatch: 'direct' }), 201);
    expectStatus(await client.patch(`/v1/threads/${thread.id}`, { context: { a: 1 } }), 200);
    expectStatus(await client.post(`/v1/threads/${thread.id}/events`, { kind: 'progress' }), 201);
  }
  return { server, alice, bob };
}

const tables = (server) => server.sql(`SELECT c.relname, EXISTS (SELECT 1 FROM pg_attribute AS a
    WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped)
  FROM pg_class AS c WHERE c.relnamespace = ?::regnamespace AND c.relkind IN ('r', 'p')
  ORDER BY 1`, server.schema);

test('who names no tenant sees nothing, who names one sees its rows alone', HERE, async (t) => {
  const { server, alice } = await inhabited(t);
  const counted = async (session, from) => Number(
    (await psql(server.db, `SET search_path = ${server.schema}; ${session};
      SELECT count(*) FROM ${from};`)).at(-1)[0]);
  const mine = `SET cairn.tenant = '${alice.tenantId}'`;
  let seen = 0;
  for (const [table, hasTenant] of tables(server)) {
    if (WITHOUT_TENANT.includes(table))
      continue;
    const column = hasTenant ? 'tenant_id' : 'id';
    assert.ok(hasTenant || table === 'tenants', `${table} has no tenant`);
    assert.equal(await counted('SELECT', table), 0, `${table} without a tenant`);
    assert.equal(await counted("SET cairn.tenant = ''", table), 0, `${table}, empty`);
    assert.equal(await counted("SET cairn.tenant = 'nonsense'", table), 0, `${table}, nonsense`);
    const whole = await counted("SET cairn.tenant = '*'", table);
    const own = await counted("SET cairn.tenant = '*'",
      `${table} WHERE ${column} = '${alice.tenantId}'`);
    assert.equal(await counted(mine, table), own, table);
    seen += own;
    assert.ok(own < whole || whole === 0, `${table}: ${own} of ${whole}`);
  }
  assert.ok(seen > 8, `only ${seen} rows`);
  for (const view of ['workflows', 'workflow_runs', 'workflow_events']) {
    await assert.rejects(counted('SELECT', view), /no tenant is set/, view);
    const all = await counted("SET cairn.tenant = '*'", view);
    assert.equal(await counted(mine, view) * 2, all, view);
  }
});

test('nobody writes into the rows of another tenant', HERE, async (t) => {
  const { server, alice, bob } = await inhabited(t);
  const as = (tenant, text) => psql(server.db,
    `SET search_path = ${server.schema}; SET cairn.tenant = '${tenant.tenantId}'; ${text}`);
  await as(alice, `UPDATE threads SET title = 'mine' WHERE tenant_id = '${bob.tenantId}';
    DELETE FROM events WHERE tenant_id = '${bob.tenantId}'; DELETE FROM runs;`);
  await assert.rejects(as(alice, `UPDATE threads SET tenant_id = '${bob.tenantId}'`),
    /row-level security/);
  await assert.rejects(as(alice, `INSERT INTO event_garbage (tenant_id, thread_id, through_seq)
    SELECT '${bob.tenantId}', id, 1 FROM threads`), /row-level security/);
  const [thread] = expectStatus(await bob.get('/v1/threads'), 200).data;
  assert.equal(thread.title, null);
  assert.equal(expectStatus(await bob.get('/v1/runs'), 200).data.length, 1);
  assert.equal(expectStatus(await alice.get('/v1/runs'), 200).data.length, 0);
  assert.ok(expectStatus(await bob.get('/v1/events'), 200).data.length > 2);
});

test('row-level security is on and forced for every table with a tenant', HERE, async (t) => {
  const server = await startServer(t);
  const open = server.sql(`SELECT relname FROM pg_class WHERE relnamespace = ?::regnamespace
    AND relkind IN ('r', 'p') AND NOT (relrowsecurity AND relforcerowsecurity)`, server.schema);
  for (const [table] of open)
    assert.ok(WITHOUT_TENANT.includes(table), `${table} is open`);
});

test('the tenant is in every primary key, unique index and foreign key', HERE, async (t) => {
  const server = await startServer(t);
  const names = `(SELECT array_agg(a.attname::text) FROM unnest(KEYS) AS x (n)
    JOIN pg_attribute AS a ON a.attrelid = RELATION AND a.attnum = x.n)`;
  const named = (keys, relation) => names.replace('KEYS', keys).replace('RELATION', relation);
  const unique = server.rows(`SELECT c.relname AS t, i.indexrelid::regclass AS name,
      ${named('i.indkey::int2[]', 'i.indrelid')} AS columns
    FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
    WHERE c.relnamespace = ?::regnamespace AND i.indisunique`, server.schema);
  assert.ok(unique.length > 8);
  for (const { t: table, name, columns } of unique)
    if (table !== 'tenants' && !WITHOUT_TENANT.includes(table))
      assert.ok(columns.includes('tenant_id'), `${name} on (${columns})`);
  const foreign = server.rows(`SELECT k.conname AS name, k.confrelid::regclass::text AS target,
      ${named('k.conkey', 'k.conrelid')} AS columns, ${named('k.confkey', 'k.confrelid')} AS theirs
    FROM pg_constraint AS k WHERE k.connamespace = ?::regnamespace AND k.contype = 'f'`,
  server.schema);
  assert.ok(foreign.length > 4);
  for (const { name, target, columns, theirs } of foreign) {
    assert.ok(columns.includes('tenant_id'), `${name} from (${columns})`);
    assert.ok(theirs.includes(/tenants$/.test(target) ? 'id' : 'tenant_id'), `${name} (${theirs})`);
  }
  for (const [table, hasTenant] of tables(server))
    assert.ok(hasTenant || table === 'tenants' || WITHOUT_TENANT.includes(table), table);
});
