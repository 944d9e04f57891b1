// SPDX-License-Identifier: Apache-2.0
// The plans of the queries that the seeds print (lib/seed-queries.mjs), and of a lookup by each id
// of each view: none reads a whole table.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { ENGINE, expectStatus, onPostgres, onSqlite, startServer } from './lib/server.mjs';
import { psqlSync } from './lib/postgres.mjs';
import { cairnRows, seedQuery, seedQueryNames, seedRows } from './lib/seed-queries.mjs';
import { sqliteSteps } from './lib/sql.mjs';

const ON_POSTGRES = ENGINE === 'postgres';
const DATABASE = onPostgres('SQLite has an index of each text');
const FILES = onSqlite('PostgreSQL leaves such parts out of the plan');
const ID = '018f0000-0000-7000-8000-000000000abc';

const IDS = { thread: ID, run: ID, workflow: ID };
const QUERIES = Object.fromEntries(seedQueryNames.map((name) => [name, seedQuery(name, IDS)]));
// The list of all sessions has no condition.
const SELECTIVE = seedQueryNames.filter((name) => name !== 'sessions');

// The columns by which rows are looked up. docs/sql.md says why workflow_events.run_id and
// tool_binding.tool_id are not among them, and that PostgreSQL finds the id of a step's call among
// the calls of the tenant.
const LOOKUPS = {
  agent_config: 'agent_uuid',
  conversation_history: 'conversation_id agent_uuid run_id',
  agent_runs: 'agent_uuid run_id log_id',
  agno_sessions: 'session_id',
  agno_components: 'component_id',
  agno_component_configs: 'component_id',
  agno_component_links: 'parent_component_id child_component_id',
  agno_eval_runs: 'run_id',
  notebooks: 'id',
  notebook_sessions: 'id notebook_id session_id',
  tenant: 'id',
  api_key: 'id',
  agent_definition: 'id',
  tool_binding: 'definition_id',
  agent_instance: 'id definition_id thread_id',
  checkpoint: 'id instance_id parent_id thread_id',
  turn: 'id instance_id checkpoint_id',
  tool_call: 'id turn_id run_id log_id',
  llm_call: 'id turn_id run_id log_id',
  workflows: 'id most_recent_run_id',
  workflow_runs: 'id workflow_id',
  workflow_events: 'id workflow_id',
};
const NUMBERS = ['log_id', 'notebook_id', 'notebooks.id', 'notebook_sessions.id',
  'workflow_events.id'];

/** A view, a column, and the query that looks a row up. */
function* lookups() {
  for (const [view, columns] of Object.entries(LOOKUPS))
    for (const column of columns.split(' ')) {
      const isNumber = NUMBERS.includes(column) || NUMBERS.includes(`${view}.${column}`);
      yield [view, column,
        `SELECT * FROM ${view} WHERE ${column} = ${isNumber ? 7 : `'${ID}'`}`];
    }
}

/**
 * The lines of the plan. PostgreSQL reads a table of a few rows as a whole, whatever indexes there
 * are; without enable_seqscan it does so only where no index serves.
 */
function plan(server, query) {
  if (!ON_POSTGRES)
    return server.sql(`EXPLAIN QUERY PLAN ${query}`).map((row) => row[3]);
  return psqlSync(server.db, `SET search_path = ${server.schema};
    SET cairn.tenant = '018f0000-0000-7000-8000-000000000001'; SET enable_seqscan = off;
    EXPLAIN (COSTS OFF) ${query};`).split('\n');
}

/** The plan of a query of the seeds, on SQLite that of cairn sql. */
async function seedPlan(server, name) {
  if (ON_POSTGRES)
    return plan(server, QUERIES[name]);
  return (await cairnRows(server, QUERIES[name], '--plan')).map((row) => row.plan);
}

// Without rows PostgreSQL chooses any index. Each table gets 3,000 copies of its row, with other
// ids: $1 is the table, $2 the columns that differ, as an expression of n.
const COPY = `CREATE FUNCTION pg_temp.copy(name text, differ text) RETURNS void
  LANGUAGE plpgsql AS $$
  DECLARE columns text;
  BEGIN
    SELECT string_agg(quote_ident(attname), ', ') INTO columns FROM pg_attribute
      WHERE attrelid = name::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '';
    EXECUTE format('INSERT INTO %1$I (%2$s) SELECT %2$s FROM (SELECT (jsonb_populate_record(x.r,
      jsonb_build_object(%3$s))).* FROM (SELECT r FROM %1$I AS r LIMIT 1) AS x,
      generate_series(1, 3000) AS n) AS y', name, columns, differ);
    EXECUTE format('ANALYZE %I', name);
  END $$;`;
const of = (letter) => `md5('${letter}' || n)`;
const COPIES = {
  threads: `'id', ${of('t')}, 'most_recent_run_id', ${of('r')}`,
  resumptions: `'thread_id', ${of('t')}`,
  runs: `'id', ${of('r')}, 'thread_id', ${of('t')}`,
  run_documents: `'run_id', ${of('r')}`,
  history_entries: `'id', ${of('h')}, 'run_id', ${of('r')}, 'thread_id', ${of('t')},
    'started_at', n * 86400000000`,
  steps: `'run_id', ${of('r')}, 'thread_id', ${of('t')}, 'log_id', 100000 + n,
    'action_type', CASE WHEN n % 100 = 0 THEN 'error' ELSE 'acme.x' END`,
  events: `'thread_id', ${of('t')}, 'id', 100000 + n`,
  notebook_threads: `'thread_id', ${of('t')}, 'number', 100 + n`,
  agents: `'id', ${of('a')}, 'name', 'agent ' || n`,
  agent_versions: `'agent_id', ${of('a')}`,
  eval_runs: `'id', ${of('e')}`,
  turns: `'id', ${of('u')}, 'run_id', ${of('r')}, 'checkpoint_id', ${of('c')}`,
  checkpoints: `'id', ${of('c')}, 'parent_id', ${of('p')}, 'thread_id', ${of('t')}`,
  awaited_tools: `'run_id', ${of('r')}, 'turn_id', ${of('u')}`,
};

async function manyRows(server) {
  const client = server.open;
  const thread = expectStatus(await client.post('/v1/threads', {}), 201).id;
  const run = expectStatus(await client.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct' }), 201).id;
  expectStatus(await client.post(`/v1/runs/${run}/steps`, { action_type: 'acme.x' }), 201);
  expectStatus(await client.patch(`/v1/runs/${run}`, { status: 'completed' }), 200);
  expectStatus(await client.put(`/v1/threads/${thread}/resumption`,
    { system_prompt: 'x', model: 'm' }, { headers: { 'If-None-Match': '*' } }), 201);
  expectStatus(await client.post('/v1/agents', { name: 'a' }), 201);
  expectStatus(await client.post('/v1/evals', { name: 'e', eval_type: 'accuracy' }), 201);
  const waiting = expectStatus(await client.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct' }), 201).id;
  const parent = expectStatus(await client.post(`/v1/threads/${thread}/checkpoints`,
    { run_id: waiting, channel_values: {} }), 201).id;
  expectStatus(await client.post(`/v1/threads/${thread}/checkpoints`,
    { run_id: waiting, channel_values: {}, parent_id: parent }), 201);
  expectStatus(await client.post(`/v1/runs/${waiting}/turns`,
    { input: { message: 'x' }, output: { message: 'y', status: 'complete' } }), 201);
  expectStatus(await client.post(`/v1/runs/${waiting}/tools`,
    { tools: Array.from({ length: 200 }, (_, i) => ({ tool_use_id: `t${i}`, name: 'x',
      input: {}, side: 'frontend' })) }), 200);
  const notebook = expectStatus(await client.post('/v1/notebooks', { title: 'B' }), 201).id;
  expectStatus(await client.post(`/v1/notebooks/${notebook}/sessions`, { thread_id: thread }), 201);
  if (ON_POSTGRES)
    psqlSync(server.db, `SET search_path = ${server.schema}; SET cairn.tenant = '*'; ${COPY}
      ${Object.entries(COPIES).map(([table, differ]) =>
    `SELECT pg_temp.copy('${table}', $a$${differ}$a$);`).join('\n')}`);
}

/** Lines that read every row of a table. Those of a subquery or of a JSON document are no table. */
const wholeTables = (lines) => lines.filter((line) => (ON_POSTGRES
  ? /Seq Scan/.test(line)
  : /^SCAN (?!(m|q|tool_call)$|(main\.)?tenants\b|\w+ VIRTUAL TABLE|CONSTANT ROW)/.test(line)));

/** Lines of SQLite that read the rows of a whole tenant, also those of a subquery. */
const wholeTenants = (lines) => lines.filter((line) => !ON_POSTGRES &&
  /^SEARCH [\w.]+ USING .*INDEX \w+ \(tenant_id=\?\)/.test(line));

// Parts of the union in a view whose id is NULL are in the plan of SQLite, but nothing in them is
// read: see the test of the steps that SQLite takes.
const NULL_PARTS = ['tool_call.turn_id', 'tool_call.log_id', 'llm_call.turn_id'];

const DOCUMENT = new URL('../../docs/sql.md', import.meta.url);

/** How the rows of the query itself are found, in the order of the plan. */
function steps(lines) {
  const end = lines.findIndex((line) => /^ *(CORRELATED|CO-ROUTINE|SubPlan)/.test(line));
  const own = end < 0 ? lines : lines.slice(0, end);
  return own.map((line) => (ON_POSTGRES
    ? line.match(/((?:Bitmap )?Index (?:Only )?Scan (?:Backward )?(?:using|on) \w+)/)?.[1]
    : line.match(/^(?:SEARCH|SCAN) (?!main\.tenants ).*/)?.[0].replace('main.', '')))
    .filter(Boolean);
}

/** The table of docs/sql.md has these plans. CAIRN_WRITE_PLANS=1 writes those of the engine. */
async function compareDocument(server) {
  let text = readFileSync(DOCUMENT, 'utf8');
  for (const name of seedQueryNames) {
    const found = steps(await seedPlan(server, name));
    const row = text.split('\n').find((line) => line.startsWith(`| ${name} |`));
    const cells = row.split('|').map((cell) => cell.trim());
    const cell = ON_POSTGRES ? 3 : 2;
    if (process.env.CAIRN_WRITE_PLANS === '1') {
      cells[cell] = found.map((step) => `\`${step}\``).join(', ');
      text = text.replace(row, cells.join(' | ').trim());
      continue;
    }
    const shown = [...cells[cell].matchAll(/`([^`]+)`/g)].map((match) => match[1]);
    assert.ok(shown.length > 0, name);
    // The order and the kind of the scans on PostgreSQL follow its statistics.
    const indexes = (of) => of.map((step) => step.split(' ').at(-1)).sort();
    assert.deepEqual(ON_POSTGRES ? indexes(shown) : shown, ON_POSTGRES ? indexes(found) : found,
      name);
  }
  if (process.env.CAIRN_WRITE_PLANS === '1')
    writeFileSync(DOCUMENT, text);
}

test('no query of the seeds reads a whole table', async (t) => {
  const server = await startServer(t);
  for (const name of SELECTIVE) {
    const lines = await seedPlan(server, name);
    assert.ok(lines.length > 0, name);
    assert.deepEqual(wholeTables(lines), [], `${name}:\n${lines.join('\n')}`);
    assert.deepEqual(wholeTenants(lines), [], `${name}:\n${lines.join('\n')}`);
    assert.ok(Array.isArray(await seedRows(server, name, IDS)), name);
  }
  // The test would notice: this query has no condition.
  assert.ok(wholeTables(await seedPlan(server, 'sessions')).length > 0 || ON_POSTGRES);
  assert.ok(Array.isArray(await seedRows(server, 'sessions')));
});

test('no lookup by an id of a view reads a whole table', async (t) => {
  const server = await startServer(t);
  for (const [view, column, query] of lookups()) {
    const lines = plan(server, query);
    assert.deepEqual(wholeTables(lines), [], `${view}.${column}:\n${lines.join('\n')}`);
    if (!NULL_PARTS.includes(`${view}.${column}`))
      assert.deepEqual(wholeTenants(lines), [], `${view}.${column}:\n${lines.join('\n')}`);
    if (ON_POSTGRES)
      assert.ok(lines.some((line) => /Index Cond: /.test(line)), `${view}.${column}`);
  }
});

test('the ids of the seeds find their row in an index, not among the rows of the tenant',
  async (t) => {
    const server = await startServer(t);
    await manyRows(server);
    const served = ON_POSTGRES ? {
      'one agent': /Index Cond: .*cairn_tenants\(\)\)\) AND \((thread_)?id = /,
      'a page of the history': /Index Cond: .*cairn_tenants\(\)\)\) AND \((thread_)?id = /,
      'one run': /Index Cond: .*cairn_tenants\(\)\)\) AND \((run_)?id = /,
      'average tokens': /Index Cond: .*cairn_tenants\(\)\)\) AND \(started_time > /,
      errors: /Index Cond: .*cairn_tenants\(\)\)\) AND \(action_type = /,
      'events after a cursor': /Index Cond: .*cairn_tenants\(\)\)\) AND \(thread_id = /,
      'runs in a session': /Index Cond: .*cairn_tenants\(\)\)\) AND \(session_id = /,
      'summary of a session': /Index Cond: .*cairn_tenants\(\)\)\) AND \(session_id = /,
      'notebook of a session': /Index Cond: .*AND \(session_id = /,
    } : {
      'one agent': /SEARCH main.threads USING INDEX threads_by_text/,
      'a page of the history': /SEARCH main.threads USING INDEX threads_by_text/,
      'one run': /SEARCH main.runs USING INDEX runs_by_text/,
      'average tokens': /history_entries_by_time \(tenant_id=\? AND <expr>>\?\)/,
      errors: /steps_by_type \(tenant_id=\? AND action_type=\?\)/,
      'events after a cursor': /event_index USING PRIMARY KEY \(tenant_id=\? AND thread_id=\?\)/,
      'runs in a session': /SEARCH main.threads USING INDEX threads_by_session/,
      'summary of a session': /SEARCH main.threads USING INDEX threads_by_session/,
      'notebook of a session': /SEARCH main.threads USING INDEX threads_by_session/,
    };
    for (const [name, expected] of Object.entries(served)) {
      const lines = await seedPlan(server, name);
      assert.ok(lines.some((line) => expected.test(line)), `${name}:\n${lines.join('\n')}`);
    }
    await compareDocument(server);
  });

test('ids that PostgreSQL shows as text or computes find their row in an index', DATABASE,
  async (t) => {
    const server = await startServer(t);
    await manyRows(server);
    const byText = /Index Cond: .*AND \(id_text = /;
    const byThread = /Index Cond: .*AND \(CASE WHEN \(keyed_id_text IS NOT NULL\)/;
    const served = {
      'agno_components.component_id': byText,
      'agno_component_configs.component_id': byText,
      'agno_component_links.parent_component_id': byText,
      'agno_component_links.child_component_id': byText,
      'agno_eval_runs.run_id': byText,
      'agent_instance.thread_id': byThread,
      'checkpoint.thread_id': byThread,
      'checkpoint.id': /Index Cond: .*AND \(id = /,
      'checkpoint.parent_id': /Index Cond: .*AND \(parent_id = /,
      'turn.checkpoint_id': /Index Cond: .*AND \(checkpoint_id = /,
      'workflows.most_recent_run_id': /Index Cond: .*AND \(most_recent_run_id = /,
      'tool_call.id': /Index Cond: .*AND \(call_id = /,
      'tool_call.turn_id': /Index Cond: .*AND \(id = /,
      'llm_call.turn_id': /Index Cond: .*AND \(id = /,
    };
    for (const [view, column, query] of lookups()) {
      const lines = plan(server, query);
      const expected = served[`${view}.${column}`] ?? /./;
      assert.ok(lines.some((line) => expected.test(line)),
        `${view}.${column}:\n${lines.join('\n')}`);
    }
  });

test('SQLite reads nothing of the calls without a turn or a step to look up those with one', FILES,
  async (t) => {
    const server = await startServer(t);
    await manyRows(server);
    assert.equal(server.rows('SELECT id FROM tool_call').length, 200);
    const all = sqliteSteps(server.database, 'SELECT * FROM tool_call');
    for (const column of NULL_PARTS) {
      const [view, name] = column.split('.');
      const some = sqliteSteps(server.database, `SELECT * FROM ${view} WHERE ${name} = 'x'`);
      assert.ok(some * 10 < all, `${column}: ${some} of ${all}`);
    }
  });
