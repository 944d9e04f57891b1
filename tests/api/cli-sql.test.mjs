// SPDX-License-Identifier: Apache-2.0
// cairn sql: a SELECT on the views, as a tenant, while the server runs or not. What a statement
// must not do is tried: write, read tables, catalogues, files or the rows of another tenant, and
// use more than its share.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { atEnd } from './lib/ending.mjs';
import { psqlSync } from './lib/postgres.mjs';
import { seedQuery, seedQueryNames } from './lib/seed-queries.mjs';
import { ENGINE, expectStatus, onPostgres, onSqlite, runCairn, startServer, twoTenants }
  from './lib/server.mjs';

const ON_POSTGRES = ENGINE === 'postgres';
const FILES = onSqlite('a file');
const DATABASE = onPostgres('functions of PostgreSQL');
const MESSAGES = [{ role: 'user', content: 'Tell me about books. '.repeat(40) },
  { role: 'assistant', content: 'Matilda' }];

const place = (server) => (server.db === null
  ? ['--data', server.dataDir] : ['--db', server.db, '--db-schema', server.schema]);
const sql = (server, statement, ...more) =>
  runCairn(['sql', ...place(server), ...more, statement]);

/** The rows of a statement that succeeds. */
async function rows(server, statement, ...more) {
  const end = await sql(server, statement, '--json', ...more);
  assert.equal(end.code, 0, `${statement}: ${end.stderr}`);
  return JSON.parse(end.stdout).data;
}

async function refused(server, statement, reason, ...more) {
  const end = await sql(server, statement, '--json', ...more);
  assert.equal(end.code, 1, `${statement}: ${end.stdout}`);
  assert.equal(end.stdout, '', statement);
  assert.match(end.stderr, reason, statement);
}

/** A thread with a run whose messages are stored. */
async function aRun(client, title) {
  const thread = expectStatus(await client.post('/v1/threads', { title }), 201).id;
  const run = expectStatus(await client.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct', user_input: title }), 201).id;
  expectStatus(await client.patch(`/v1/runs/${run}`,
    { status: 'completed', content: 'Matilda', messages: MESSAGES }), 200);
  return { thread, run };
}

test('a SELECT reads the views, while the server runs and afterwards', async (t) => {
  const server = await startServer(t);
  const { thread, run } = await aRun(server.open, 'Books');
  const check = async () => {
    const [entry] = await rows(server, `SELECT agent_uuid, run_id, user_message, sequence_number,
        NULL AS nil, 1.5 AS half FROM conversation_history WHERE run_id = '${run}';`);
    assert.deepEqual(entry, { agent_uuid: thread, run_id: run, user_message: 'Books',
      sequence_number: 1, nil: null, half: 1.5 });
    const [session] = await rows(server,
      `SELECT r->>'status' AS status FROM agno_sessions, jsonb_array_elements(runs) AS r`);
    assert.deepEqual(session, { status: 'COMPLETED' });
    const [{ started_at: time }] =
      await rows(server, 'SELECT started_at FROM conversation_history');
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/);
  };
  await check();
  const table = await sql(server, `WITH a AS (SELECT title FROM agent_config
    UNION ALL SELECT 'x') SELECT title AS "a/b~c", count(*) AS n FROM a GROUP BY title`);
  assert.deepEqual([table.code, table.stdout], [0, 'x\t1\n']);
  await server.stop();
  await check();
});

test('the queries of the seeds run word for word', async (t) => {
  const server = await startServer(t);
  const { thread, run } = await aRun(server.open, 'Books');
  expectStatus(await server.open.put(`/v1/threads/${thread}/resumption`,
    { system_prompt: 'x', model: 'm' }, { headers: { 'If-None-Match': '*' } }), 201);
  expectStatus(await server.open.post(`/v1/runs/${run}/steps`, { action_type: 'error' }), 201);
  const notebook = expectStatus(await server.open.post('/v1/notebooks', { title: 'B' }), 201).id;
  expectStatus(await server.open.post(`/v1/notebooks/${notebook}/sessions`,
    { thread_id: thread }), 201);
  for (let n = 0; n < 13; n++)
    expectStatus(await server.open.post(`/v1/threads/${thread}/events`,
      { kind: 'progress' }), 201);
  const ids = { thread, run, session: thread, workflow: thread };
  for (const name of seedQueryNames)
    assert.ok((await rows(server, seedQuery(name, ids))).length > 0, name);
});

// Forms of PostgreSQL that are not in the seeds, with the same value on both engines.
test('casts, intervals and functions of PostgreSQL have the same values on both engines',
  async (t) => {
    const server = await startServer(t);
    const { run } = await aRun(server.open, 'Books');
    const [row] = await rows(server, `SELECT left(h.user_message, 2) AS a, right('héllo', -1) AS b,
        ' 12 '::int + 1 AS c, (h.total_steps)::text AS d, jsonb_array_length('[1, [2]]') AS e,
        '0.5'::float8 AS f, h.started_at > NOW() - INTERVAL '1 hour' AS g,
        h.started_at < NOW() - INTERVAL '1 month 2 days' + INTERVAL '1 min' AS h,
        count(*) OVER () AS i -- x::int
      FROM conversation_history h WHERE h.run_id = '${run.toUpperCase()}'::uuid`);
    assert.deepEqual({ ...row, g: Boolean(row.g), h: Boolean(row.h) },
      { a: 'Bo', b: 'éllo', c: 13, d: '0', e: 2, f: 0.5, g: true, h: false, i: 1 });
    await refused(server, `SELECT 'x'::int AS a`, /statement is not valid/);
    await refused(server, `SELECT '1.5'::bigint AS a`, /statement is not valid/);
    await refused(server, `SELECT jsonb_array_length('{}') AS a`, /array length/);
    await refused(server, 'SELECT 1::no_such_type AS a', /statement is not valid/);
  });

test('the elements of a list are found under any alias, and only those of a list', async (t) => {
  const server = await startServer(t);
  await aRun(server.open, 'Books');
  for (const statement of [
    'SELECT count(*) AS n FROM agno_sessions, jsonb_array_elements(runs) AS runs',
    'SELECT count(*) AS n FROM agno_sessions JOIN jsonb_array_elements(runs) runs ON true',
    'SELECT (SELECT count(*) FROM jsonb_array_elements(runs) AS runs) AS n FROM agno_sessions',
    `SELECT count(*) AS n FROM agno_sessions, jsonb_array_elements(runs) AS r
      WHERE r->>'status' = 'COMPLETED'`,
  ])
    assert.deepEqual(await rows(server, statement), [{ n: 1 }], statement);
  // PostgreSQL reads the column, of which an element has the name.
  const column = `SELECT runs->>'status' AS status FROM agno_sessions,
    jsonb_array_elements(runs) AS runs`;
  if (ON_POSTGRES)
    assert.deepEqual(await rows(server, column), [{ status: null }]);
  else
    await refused(server, column, /no such table: jsonb_array_elements|may not use/);
  await refused(server, `SELECT count(*) AS n FROM jsonb_array_elements('{"a":1}') AS r`,
    /cannot extract elements from an? (object|value that is no array)/);
});

test('a plan is printed instead of the rows', async (t) => {
  const server = await startServer(t);
  const plan = await rows(server, "SELECT * FROM agent_runs WHERE run_id = "
    + "'018f0000-0000-7000-8000-000000000001' ORDER BY timestamp", '--plan');
  const text = plan.map((line) => line.plan).join('\n');
  assert.match(text, ON_POSTGRES ? /Index Cond/ : /SEARCH .*runs_by_text/);
});

test('cairn_document returns the messages that a view refers to', async (t) => {
  const server = await startServer(t);
  const { thread, run } = await aRun(server.open, 'Books');
  const [{ list }] = await rows(server, `SELECT cairn_document(messages) AS list
    FROM conversation_history WHERE run_id = '${run}'`);
  assert.deepEqual(ON_POSTGRES ? list : JSON.parse(list), MESSAGES);
  if (ON_POSTGRES) { // the first message is compressed, so only a value of a column is resolved
    const [{ in_list: [inner] }] = await rows(server, `SELECT
      jsonb_build_array(cairn_document(messages)) AS in_list FROM conversation_history`);
    assert.deepEqual([inner.compressed_items, inner.read],
      [1, `/v1/threads/${thread}/history/1`]);
  }
  assert.deepEqual(await rows(server, ON_POSTGRES
    ? `SELECT cairn_document('[1]') AS list` : `SELECT cairn_document('[1]') AS list`),
  [{ list: ON_POSTGRES ? [1] : '[1]' }]);
});

test('a document of another tenant stays a reference', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const { run } = await aRun(alice, 'Books');
  const [{ messages }] = await rows(server,
    `SELECT messages FROM conversation_history WHERE run_id = '${run}'`,
    '--tenant', alice.tenantId);
  const reference = ON_POSTGRES ? JSON.stringify(messages) : messages;
  const ask = `SELECT cairn_document('${reference}') AS list`;
  const [own] = await rows(server, ask, '--tenant', alice.tenantId);
  assert.deepEqual(ON_POSTGRES ? own.list : JSON.parse(own.list), MESSAGES);
  const [foreign] = await rows(server, ask, '--tenant', bob.tenantId);
  assert.deepEqual(foreign.list, messages);
  if (ON_POSTGRES) { // also a reference that claims to be resolved by cairn_document
    const claims = { ...messages, compressed_items: 1 };
    const claim = `SELECT cairn_document('${JSON.stringify(claims)}') AS list`;
    assert.deepEqual(await rows(server, claim, '--tenant', bob.tenantId), [{ list: claims }]);
    assert.deepEqual(await rows(server, claim, '--tenant', alice.tenantId), [{ list: MESSAGES }]);
  }
});

test('a value that looks like a reference stays unless cairn_document is called', DATABASE,
  async (t) => {
    const server = await startServer(t);
    const { run } = await aRun(server.open, 'Books');
    const [{ messages }] = await rows(server,
      `SELECT messages FROM conversation_history WHERE run_id = '${run}'`);
    const list = { ...messages, compressed_items: 1 };
    const value = `'${JSON.stringify(list)}'::jsonb`;
    assert.deepEqual(await rows(server, `SELECT ${value} AS list`), [{ list }]);
    assert.deepEqual(await rows(server, `SELECT ${value} AS "cairn_document(jsonb)"`),
      [{ 'cairn_document(jsonb)': list }]);
    assert.deepEqual(await rows(server, `SELECT (SELECT cairn_document(${value})) AS list`),
      [{ list: MESSAGES }]);
    await refused(server, `SELECT cairn_document('[]') AS a, pg_backend_pid() AS b`,
      /may not use the function pg_backend_pid/);
  });

test('reading a document ends with the time of the statement', DATABASE, async (t) => {
  const server = await startServer(t);
  const { run } = await aRun(server.open, 'Books');
  const [{ messages }] = await rows(server,
    `SELECT messages FROM conversation_history WHERE run_id = '${run}'`);
  const reference = JSON.stringify({ ...messages, compressed_items: 1 });
  // Only the connection for documents reads a snapshot, and every row of them takes long.
  const change = (statement) =>
    psqlSync(server.db, `SET search_path = ${server.schema}; ${statement}`);
  change('CREATE POLICY slow ON snapshots AS RESTRICTIVE USING (pg_sleep(60)::text IS NOT NULL)');
  const begun = Date.now();
  try {
    await refused(server, `SELECT '${reference}'::jsonb AS list, cairn_document('[1]') AS one`,
      /took longer than 1 s/, '--timeout', '1');
    assert.ok(Date.now() - begun < 60_000);
  } finally {
    change('DROP POLICY slow ON snapshots'); // a later test has the same schema
  }
});

test('a statement sees the rows of its tenant, whatever it asks', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const mine = await aRun(alice, 'Hers');
  const theirs = await aRun(bob, 'His');
  const as = (statement) => rows(server, statement, '--tenant', alice.tenantId);
  for (const [statement, expected] of [
    ['SELECT session_id AS id FROM agno_sessions', [mine.thread]],
    [`SELECT session_id AS id FROM agno_sessions WHERE session_id = '${theirs.thread}'`, []],
    [`SELECT id FROM workflow_runs WHERE id = '${theirs.run}'`, []],
    ['SELECT id FROM workflows', [mine.thread]],
    ['SELECT id FROM tenant', [alice.tenantId]],
    ['SELECT DISTINCT workflow_id AS id FROM workflow_events', [mine.thread]],
    [`SELECT conversation_id AS id FROM conversation_history
      WHERE tenant_id = '${bob.tenantId}'`, []],
    [`SELECT DISTINCT tenant_id AS id FROM api_key`, [alice.tenantId]],
  ])
    assert.deepEqual((await as(statement)).map((row) => row.id), expected, statement);
  const names = await rows(server, 'SELECT name FROM tenant', '--tenant', bob.tenantId);
  assert.deepEqual(await rows(server, 'SELECT id FROM workflows', '--tenant', names[0].name),
    [{ id: theirs.thread }]);
  await refused(server, 'SELECT 1 AS a', /the tenant nobody does not exist/, '--tenant', 'nobody');
  await refused(server, 'SELECT 1 AS a', /the tenant \* does not exist/, '--tenant', '*');
});

const TABLES = ['threads', 'api_keys', 'tenants', 'events', 'items', 'schema_versions',
  'audit_log'];

/** Refused on both engines, with the reason. */
const REFUSED = [
  ...TABLES.map((table) => `SELECT * FROM ${table}`),
  ...TABLES.map((table) => `SELECT count(*) AS n FROM ${table}`),
  'WITH agno_sessions AS (SELECT * FROM threads) SELECT * FROM agno_sessions',
  'SELECT (SELECT max(secret_hash) FROM api_keys) AS a FROM agno_sessions',
  'SELECT 1 AS a UNION SELECT name FROM tenants',
  'INSERT INTO workflows (id) VALUES (1)', 'DELETE FROM agno_sessions',
  'UPDATE tenant SET name = 1',
  'CREATE TABLE x (a int)', 'CREATE TEMP TABLE x AS SELECT 1 AS a', 'DROP VIEW workflows',
  'SELECT 1 AS a; SELECT 2 AS a', 'SELECT 1 AS a; DELETE FROM threads', 'BEGIN',
  'COMMIT',
  'VACUUM', 'ANALYZE', 'SELECT * FROM no_such_view', 'SELECT FROM', '?', "SELECT '",
  'SELECT $1 AS a',
  'EXPLAIN SELECT 1 AS a',
];
const REFUSED_BY_SQLITE = [
  "ATTACH '/tmp/x.db' AS x", 'PRAGMA query_only = OFF', 'PRAGMA table_info(threads)',
  'SELECT * FROM pragma_database_list', "SELECT * FROM pragma_table_info('threads')",
  'SELECT * FROM main.threads', 'SELECT * FROM main.agno_sessions', 'SELECT * FROM temp.threads',
  'SELECT * FROM sqlite_schema', 'SELECT count(*) AS n FROM sqlite_master',
  'SELECT * FROM sqlite_temp_schema', 'SELECT * FROM dbstat', 'SELECT * FROM sqlite_dbpage',
  'WITH agno_sessions AS (SELECT * FROM main.api_keys) SELECT * FROM agno_sessions',
  'SELECT * FROM message_words', "SELECT load_extension('x') AS a", "SELECT readfile('x') AS a",
  "SELECT writefile('/tmp/cairn-x', 'a') AS a", "SELECT fts3_tokenizer('x') AS a",
  "VACUUM INTO '/tmp/cairn-x'", 'SELECT sqlite_version() AS a', 'SELECT randomblob(9) AS a',
  'EXPLAIN QUERY PLAN SELECT 1 AS a', 'REINDEX', 'SELECT ?1 AS a',
];
const REFUSED_BY_POSTGRES = [
  "SELECT set_config('cairn.tenant', '*', true) AS a",
  "WITH a AS MATERIALIZED (SELECT set_config('cairn.tenant', '*', true)) SELECT * FROM a, tenant",
  "SELECT U&\"\\0073et_config\"('cairn.tenant', '*', true) AS a",
  "SELECT pg_catalog.set_config('cairn.tenant', '*', true) AS a",
  "SELECT * FROM set_config('cairn.tenant', '*', true) AS a",
  "SELECT 1 AS a FROM tenant ORDER BY set_config('cairn.tenant', '*', true)",
  "SELECT (SELECT set_config('cairn.tenant', '*', true)) AS a FROM tenant",
  "SELECT count(*) FILTER (WHERE set_config('cairn.tenant', '*', true) = '*') AS n FROM tenant",
  "SELECT pg_read_file('/etc/passwd') AS a", "SELECT pg_ls_dir('.') AS a",
  "SELECT lo_import('/etc/passwd') AS a", "SELECT query_to_xml('SELECT 1', true, true, '') AS a",
  "SELECT table_to_xml('threads', true, true, '') AS a", "SELECT ts_stat('SELECT 1') AS a",
  'SELECT database_to_xml(true, true, \'\') AS a', "SELECT current_setting('data_directory') AS a",
  'SELECT pg_sleep(1) AS a', 'SELECT pg_advisory_lock(1) AS a', 'SELECT pg_backend_pid() AS a',
  "SELECT nextval('event_ids') AS a", 'SELECT * FROM pg_catalog.pg_class',
  'SELECT * FROM pg_stat_activity', 'SELECT * FROM information_schema.tables',
  'SELECT event_horizon() AS a', "SELECT fence_by_tenant('threads') AS a",
  'SELECT cairn_tenants() AS a', 'SELECT 1 AS a INTO x', "SET cairn.tenant = '*'", 'RESET ALL',
  'WITH a AS (DELETE FROM threads RETURNING 1) SELECT * FROM a', 'COPY threads TO STDOUT',
  "COPY (SELECT 1) TO PROGRAM 'true'", 'DO $$ BEGIN END $$', "NOTIFY x", 'LISTEN x',
  'SELECT * FROM threads FOR UPDATE', 'EXPLAIN ANALYZE SELECT 1 AS a',
  'SELECT * FROM cairn_select', 'TABLE threads', 'SELECT 1 AS a) AS b; DELETE FROM threads; --',
];

test('a statement that is more than a SELECT on the views is refused', async (t) => {
  const server = await startServer(t);
  await aRun(server.open, 'Books');
  const before = server.sql('SELECT count(*) FROM threads');
  for (const statement of [...REFUSED, ...(ON_POSTGRES ? REFUSED_BY_POSTGRES : REFUSED_BY_SQLITE)])
    await refused(server, statement, /^cairn sql: \S.*\n$/);
  await refused(server, ' ', /the statement is empty/);
  await refused(server, `SELECT 1 AS a -- ${'x'.repeat(64 * 1024)}`, /more than 64 KiB/);
  await refused(server, 'SELECT 1 AS a, 2 AS a', ON_POSTGRES ? /specified more than once/
    : /two columns have the name "a"/);
  assert.deepEqual(server.sql('SELECT count(*) FROM threads'), before);
  assert.ok(!existsSync('/tmp/cairn-x'));
});

test('a database that nobody serves is read without a file beside it', FILES, async (t) => {
  const server = await startServer(t);
  await aRun(server.open, 'Books');
  await server.stop();
  const before = readdirSync(server.dataDir).sort();
  assert.equal((await rows(server, 'SELECT id FROM workflows')).length, 1);
  assert.deepEqual(readdirSync(server.dataDir).sort(), before);
  const empty = mkdtempSync(join(tmpdir(), 'cairn-sql-'));
  atEnd(t, () => rmSync(empty, { recursive: true, force: true }));
  const none = await runCairn(['sql', '--data', empty, 'SELECT 1 AS a']);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /does not exist/);
});

const COUNT = (n) => (ON_POSTGRES ? `SELECT n FROM generate_series(1, ${n}) AS n`
  : `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT ${n}) SELECT n FROM c`);

test('time, rows and bytes are limited', async (t) => {
  const server = await startServer(t);
  await refused(server, ON_POSTGRES
    ? 'SELECT count(*) AS n FROM generate_series(1, 1000000000000) AS n'
    : 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) AS n FROM c',
  /took longer than 1 s/, '--timeout', '1');
  assert.equal((await rows(server, COUNT(1000))).length, 1000);
  const cut = await sql(server, COUNT(1001), '--json');
  assert.deepEqual([JSON.parse(cut.stdout).data.length, JSON.parse(cut.stdout).has_more],
    [1000, true]);
  assert.match(cut.stderr, /only the first 1000 rows are shown/);
  assert.equal((await rows(server, COUNT(5), '--limit', '3')).length, 3);
  assert.equal((await rows(server, COUNT(3), '--limit', '3')).length, 3);
  const large = ON_POSTGRES ? "repeat('x', 1000000)" : "printf('%1000000d', 1)";
  await refused(server, COUNT(100).replace('SELECT n FROM', `SELECT ${large} AS n FROM`),
    /more than 64 MiB/);
  const columns = Array.from({ length: 201 }, (_, i) => `1 AS c${i}`).join(', ');
  await refused(server, `SELECT ${columns}`, /more than 200 columns/);
  for (const wrong of [['--limit', '0'], ['--limit', '100001'], ['--timeout', '0'],
    ['--timeout', '301']])
    assert.equal((await sql(server, 'SELECT 1 AS a', ...wrong)).code, 2, wrong.join(' '));
});

test('values of PostgreSQL that JSON has not are text', DATABASE, async (t) => {
  const server = await startServer(t);
  const [row] = await rows(server, `SELECT '{"a": 1, "a": 2}'::json AS twice,
    '{ "b" : [1.50] }'::json AS blanks, 'NaN'::float8 AS nan, '-Infinity'::float8 AS least,
    1e20::float8 AS large, 1.50::numeric AS exact, true AS yes, ARRAY['x'] AS list,
    repeat('[', 300)::text AS deep, (repeat('[', 200) || repeat(']', 200))::jsonb AS nested,
    'x'::bytea AS bytes, date '2026-01-02' AS day, timestamptz '2026-01-02 03:04:05+01' AS time`);
  assert.deepEqual({ ...row, nested: typeof row.nested, deep: row.deep.length }, {
    twice: '{"a": 1, "a": 2}', blanks: { b: [1.5] }, nan: 'NaN', least: '-Infinity', large: 1e20,
    exact: 1.5, yes: true, list: '{x}', deep: 300, nested: 'string', bytes: '\\x78',
    day: '2026-01-02', time: '2026-01-02T02:04:05Z' });
});

test('a function that the operator added is refused, whatever it declares', DATABASE,
  async (t) => {
    const server = await startServer(t);
    psqlSync(server.db, `SET search_path = ${server.schema};
      CREATE FUNCTION mine() RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT 1::text'`);
    await refused(server, 'SELECT mine() AS a', /may not use the function mine/);
    await refused(server, `SELECT ${server.schema}.mine() AS a`, /may not use the function mine/);
  });
