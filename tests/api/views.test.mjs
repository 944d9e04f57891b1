// SPDX-License-Identifier: Apache-2.0
// The tables of the seeds, as the readers that were written against them query them: every query
// that the seeds print, with real ids put in (lib/seed-queries.mjs).
import assert from 'node:assert/strict';
import test from 'node:test';
import { ENGINE, expectStatus, onPostgres, startServer, twoTenants } from './lib/server.mjs';
import { seedQuery, seedRows } from './lib/seed-queries.mjs';
import { postgresRows } from './lib/sql.mjs';

const ON_POSTGRES = ENGINE === 'postgres';
/** A JSON column: JSONB is decoded, SQLite returns text. */
const json = (value) => (typeof value === 'string' ? JSON.parse(value) : value);
const seconds = (text) => Math.floor(Date.parse(text) / 1000);
const columns = (server, view) => (ON_POSTGRES
  ? server.sql(`SELECT column_name FROM information_schema.columns WHERE table_name = '${view}'
      AND table_schema = '${server.schema}' ORDER BY ordinal_position`)
  : server.sql(`SELECT name FROM pragma_table_info('${view}')`)).flat();

/** The book session of the seed: three questions, seven runs, a team and two members. */
async function bookSession(client) {
  const agent = async (name, kind) =>
    expectStatus(await client.post('/v1/agents', { name, kind }), 201).id;
  const team = await agent('NotebookLM', 'team');
  const researcher = await agent('Researcher', 'agent');
  const writer = await agent('Writer', 'agent');
  const thread = expectStatus(await client.post('/v1/threads', { title: 'Books' }), 201);
  const runs = [];
  const run = async (of, input, content, parent) => {
    const made = expectStatus(await client.post(`/v1/threads/${thread.id}/runs`, {
      dispatch: 'direct', agent_id: of, user_input: input, model: 'claude-sonnet-4-5',
      provider: 'anthropic', ...(parent && { parent_run_id: parent.id }) }), 201);
    runs.push({ ...made, of, input, content });
    return made;
  };
  const finish = async (made, content) => expectStatus(await client.patch(`/v1/runs/${made.id}`,
    { status: 'completed', content, content_type: 'text/plain', metrics: { latency: 0.5 } }), 200);
  const whole = async (of, input, content, parent) =>
    finish(await run(of, input, content, parent), content);

  await whole(team, 'hello', 'Hello! Welcome to NotebookLM!');
  const delegates = await run(team, 'recommend books for a 9yo girl', 'I asked the Researcher.');
  await whole(researcher, 'Search for books', 'Matilda; The Secret Garden', delegates);
  await finish(delegates, 'I asked the Researcher.');
  await whole(team, 'recommend books for a 9yo girl', 'Here are some "books": Matilda …');
  const last = await run(team, 'summarize each book', 'Summaries, in markdown.');
  await whole(researcher, 'Find summaries', 'Matilda is about …', last);
  await whole(writer, 'Format them', '## Matilda', last);
  await finish(last, 'Summaries, in markdown.');
  return { team, researcher, writer, thread: thread.id, runs };
}

test('the queries of the session model answer what was written', async (t) => {
  const server = await startServer(t);
  const { team, researcher, thread, runs } = await bookSession(server.open);
  const made = expectStatus(await server.open.get(`/v1/threads/${thread}`), 200);
  const notebook = expectStatus(await server.open.post('/v1/notebooks',
    { title: 'Books', instructions: 'Be brief.' }), 201);
  expectStatus(await server.open.post(`/v1/notebooks/${notebook.id}/sessions`,
    { thread_id: thread }), 201);

  const [session] = await seedRows(server, 'sessions');
  assert.deepEqual(session, { session_id: thread, session_type: 'team', team_id: team,
    agent_id: null, created_at: session.created_at });
  assert.equal(session.created_at, seconds(made.created_at));

  assert.deepEqual(await seedRows(server, 'runs in a session', { session: thread }),
    [{ num_runs: 7 }]);

  const summary = await seedRows(server, 'summary of a session', { session: thread });
  assert.deepEqual(summary.map((r) => r.run_id).sort(), runs.map((r) => r.id).sort());
  for (const run of runs) {
    const seen = summary.find((r) => r.run_id === run.id);
    assert.equal(seen.team_id, run.of === team ? team : null);
    assert.equal(seen.agent_id, run.of === team ? null : run.of);
    assert.equal(seen.status, 'COMPLETED');
    assert.deepEqual(JSON.parse(seen.input_truncated), { input_content: run.input });
    assert.equal(seen.content_truncated, run.content);
    assert.equal(Number(seen.created_at), seconds(run.created_at));
  }

  const named = await seedRows(server, 'notebook of a session', { session: thread });
  assert.equal(named.length, 1);
  assert.deepEqual([named[0].title, named[0].session_id], ['Books', thread]);
  const [{ id: number, instructions }] = server.rows('SELECT * FROM notebooks');
  assert.deepEqual([number, instructions], [notebook.number, 'Be brief.']);

  // The run object, whole.
  const [{ runs: stored }] = server.rows(
    `SELECT runs FROM agno_sessions WHERE session_id = '${thread}'`);
  const objects = json(stored);
  assert.deepEqual(objects.map((r) => r.run_id), runs.map((r) => r.id));
  for (const name of ['run_id', 'session_id', 'team_id', 'team_name', 'agent_id', 'agent_name',
    'status', 'input', 'content', 'content_type', 'messages', 'member_responses', 'metrics',
    'events', 'model', 'model_provider', 'citations', 'created_at'])
    assert.ok(name in objects[0], name);
  const [, delegates, member] = objects;
  assert.deepEqual([delegates.team_name, delegates.agent_name], ['NotebookLM', null]);
  assert.deepEqual([member.team_name, member.agent_name], [null, 'Researcher']);
  assert.deepEqual(delegates.member_responses, [{ run_id: member.run_id, agent_id: researcher,
    agent_name: 'Researcher', status: 'COMPLETED', content: 'Matilda; The Secret Garden' }]);
  assert.deepEqual([member.model, member.model_provider, member.citations, member.session_id],
    ['claude-sonnet-4-5', 'anthropic', null, thread]);
  assert.equal(member.metrics.latency, 0.5);
  assert.equal(member.metrics.input_tokens, 0);
});

/**
 * The data that an engine stores for one conversation: to resume it, for users, and for debugging.
 */
async function agentWithTwoRuns(server) {
  const client = server.open;
  const thread = expectStatus(await client.post('/v1/threads', { title: 'Charts' }), 201).id;
  expectStatus(await client.put('/v1/prices/m',
    { input: 3, output: 15, cache_write: 3.75, cache_read: 0.3 }), 201);
  const run = async (input, steps) => {
    const { id: made } = expectStatus(await client.post(`/v1/threads/${thread}/runs`,
      { dispatch: 'direct', user_input: input }), 201);
    expectStatus(await client.post(`/v1/runs/${made}/steps`, { steps: steps() }), 201);
    return made;
  };
  const finish = async (made, number) => {
    expectStatus(await client.patch(`/v1/runs/${made}`,
      { status: 'completed', content: 'answer', stop_reason: 'end_turn' }), 200);
    expectStatus(await client.patch(`/v1/threads/${thread}/history/${number}`,
      { messages: [{ role: 'user', content: 'x' }],
        generated_files: [{ file_id: 'file_abc123', filename: 'c.png' }] }), 200);
  };
  const called = { action_type: 'api_response_received', model: 'm', provider: 'p', step_number: 1,
    duration_ms: 1845, action_data: { stop_reason: 'tool_use',
      usage: { input_tokens: 450, output_tokens: 120, cache_read_input_tokens: 7 } } };
  const at = (ms) => new Date(Date.now() + 10 + ms).toISOString(); // after the start of the run
  const first = await run('question 1', () => [
    { ...called, messages_snapshot: [{ role: 'user', content: 'x' }], timestamp: at(1) },
    { action_type: 'tool_execution', duration_ms: 850, timestamp: at(2), tool_name: 'bash',
      action_data: { input: { code: '1' }, result: { stdout: 'x' }, success: true } },
    { action_type: 'error', action_data: { message: 'out of paper' }, timestamp: at(3) }]);
  await finish(first, 1);
  const second = await run('question 2', () => [called, called]);
  await finish(second, 2);
  expectStatus(await client.put(`/v1/threads/${thread}/resumption`, {
    system_prompt: 'You are helpful.', model: 'm', container_id: 'container_xyz789',
    messages: [{ role: 'user', content: 'x' }],
    tool_schemas: ['web_search', 'calculator'].map((name) => ({ name, input_schema: {} })),
    beta_headers: ['code-execution-2025-08-25'], api_kwargs: { temperature: 0.7 },
    base_delay: 1.5, extras: { user_id: 'user_123' } },
  { headers: { 'If-None-Match': '*' } }), 201);
  const waiting = await run('question 3', () => [called]);
  expectStatus(await client.post(`/v1/runs/${waiting}/tools`, {
    tools: [{ tool_use_id: 'toolu_123', name: 'user_confirm', input: { message: 'ok?' },
      side: 'frontend' }],
    backend_results: [{ tool_use_id: 'toolu_456', content: 42 }] }), 200);
  return { thread, first, second, waiting };
}

test('the five query patterns of the three tables answer what was written', async (t) => {
  const server = await startServer(t);
  const { thread, first, second, waiting } = await agentWithTwoRuns(server);

  // 1: resume.
  const [config] = await seedRows(server, 'one agent', { thread });
  assert.deepEqual([config.model, config.max_steps, config.base_delay, config.title,
    config.total_runs, config.container_id], ['m', 50, 1.5, 'Charts', 3, 'container_xyz789']);
  assert.deepEqual(json(config.tool_names), ['web_search', 'calculator']);
  assert.deepEqual(json(config.beta_headers), ['code-execution-2025-08-25']);
  assert.deepEqual(json(config.extras), { user_id: 'user_123' });
  const told = expectStatus(await server.open.get(`/v1/threads/${thread}/resumption`), 200);
  assert.deepEqual(json(config.pending_frontend_tools), told.pending_frontend_tools);
  assert.equal(told.pending_frontend_tools[0].tool_use_id, 'toolu_123');
  assert.deepEqual(json(config.pending_backend_results), told.pending_backend_results);
  assert.equal(told.pending_backend_results[0].content, 42);
  assert.ok(config.awaiting_frontend_tools);
  expectStatus(await server.open.patch(`/v1/runs/${waiting}`, { status: 'running' }), 200);
  const [gone] = server.rows(`SELECT * FROM agent_config WHERE agent_uuid = '${thread}'`);
  assert.deepEqual([json(gone.pending_frontend_tools), json(gone.pending_backend_results),
    Boolean(gone.awaiting_frontend_tools)], [[], [], false]);
  const apart_ms = Date.parse(config.last_run_at) - Date.parse(told.last_run_at);
  assert.ok(Math.abs(apart_ms) <= 1, `${config.last_run_at}, ${told.last_run_at}`);
  assert.equal(json(config.messages).read, `/v1/threads/${thread}/resumption`);
  assert.match(json(config.messages).snapshot_id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(json(config.conversation_history), []);

  // 2: a page of the history.
  const page = await seedRows(server, 'a page of the history', { thread });
  assert.deepEqual(page.map((row) => row.user_message), ['question 2', 'question 1']);
  assert.deepEqual(json(page[0].generated_files), [{ file_id: 'file_abc123', filename: 'c.png' }]);
  const [entry] = server.rows(`SELECT usage, cost, run_id FROM conversation_history
    WHERE run_id = '${second}'`);
  assert.deepEqual(json(entry.usage), { input_tokens: 900, output_tokens: 240,
    cache_creation_input_tokens: 0, cache_read_input_tokens: 14 });
  assert.equal(typeof json(entry.cost), 'object');

  // 3: one run.
  const log = await seedRows(server, 'one run', { run: first });
  assert.deepEqual(log.map((row) => row.action_type),
    ['run_started', 'api_response_received', 'tool_execution', 'error', 'run_completed']);
  assert.deepEqual(json(log[0].action_data), { dispatch: 'direct', user_message: 'question 1' });
  assert.equal(log[1].duration_ms, 1845);

  // 4: the average of tokens.
  const averages = await seedRows(server, 'average tokens');
  assert.deepEqual(averages.map((row) => [row.agent_uuid, Number(row.avg_tokens)]),
    [[thread, (570 + 1140) / 2]]);

  // 5: errors.
  const errors = async () => (await seedRows(server, 'errors'))
    .map((row) => [row.agent_uuid, row.run_id, json(row.action_data)]);
  assert.deepEqual(await errors(), [[thread, first, { message: 'out of paper' }]]);
  // A failed run is among them although its engine has logged nothing about it.
  expectStatus(await server.open.patch(`/v1/runs/${waiting}`,
    { status: 'failed', error: { message: 'no model' } }), 200);
  const [failed, ...others] = await errors();
  assert.deepEqual([failed[1], failed[2].status, failed[2].error],
    [waiting, 'failed', { message: 'no model' }]);
  assert.deepEqual(others, [[thread, first, { message: 'out of paper' }]]);
  const marks = server.rows(`SELECT run_id, lifecycle FROM agent_runs
    WHERE action_type = 'error' ORDER BY log_id`);
  assert.deepEqual(marks.map((row) => [row.run_id, Boolean(row.lifecycle)]),
    [[first, false], [waiting, true]]);

  // The same steps as calls of models and of tools.
  const [call] = server.rows('SELECT * FROM llm_call ORDER BY log_id');
  assert.deepEqual([call.model, call.provider, call.tokens_in, call.tokens_out, call.latency_ms],
    ['m', 'p', 450, 120, 1845]);
  assert.equal(call.cost_usd.toFixed(9), ((450 * 3 + 120 * 15 + 7 * 0.3) / 1e6).toFixed(9));
  assert.equal(json(entry.cost).currency, 'USD');
  assert.equal(json(call.messages).read, `/v1/runs/${first}/steps/2`);
  const [tool] = server.rows('SELECT * FROM tool_call');
  assert.deepEqual([tool.tool_name, tool.status, tool.latency_ms], ['bash', 'success', 850]);
  assert.deepEqual([json(tool.input), json(tool.output)], [{ code: '1' }, { stdout: 'x' }]);
  const [day] = server.rows('SELECT * FROM agno_metrics ORDER BY date DESC');
  assert.equal(day.date, new Date().toISOString().slice(0, 10));
  assert.equal(Number(day.agent_runs_count), 3);
  assert.deepEqual(json(day.model_metrics), [{ model_id: 'm', model_provider: 'p', count: 4,
    input_tokens: 1800, output_tokens: 480 }]);
  assert.equal(json(day.token_metrics).total_tokens, 2280);
  assert.match(tool.id, /^[0-9a-f]{8}-0000-8000-8000-[0-9a-f]{12}$/);
});

test('the average of tokens has the runs of the last seven days, to the second', async (t) => {
  const server = await startServer(t);
  const week = 7 * 24 * 3600 * 1000;
  const averages = [];
  for (const tokens of [10, 1000]) {
    const thread = expectStatus(await server.open.post('/v1/threads', {}), 201).id;
    for (const [age, factor] of [[week + 90_000, 100], [week - 90_000, 1], [0, 3]])
      expectStatus(await server.open.post(`/v1/threads/${thread}/runs`, {
        status: 'completed', started_at: new Date(Date.now() - age).toISOString(),
        usage: { input_tokens: tokens * factor, output_tokens: tokens } }), 201);
    averages.push([thread, (tokens * 2 + tokens * 4) / 2]);
  }
  assert.deepEqual((await seedRows(server, 'average tokens'))
    .map((row) => [row.agent_uuid, Number(row.avg_tokens)]).sort(), averages.sort());
});

test('the hot query of the events returns those behind the cursor, in their order', async (t) => {
  const server = await startServer(t);
  const ids = [];
  const [workflow, other] = await Promise.all([0, 1].map(async () =>
    expectStatus(await server.open.post('/v1/threads', {}), 201).id));
  for (let n = 0; n < 6; n++)
    for (const thread of [workflow, other])
      ids.push([thread, expectStatus(await server.open.post(`/v1/threads/${thread}/events`,
        { kind: 'progress', text: `${n}`, payload: { n } }), 201).id]);
  const own = ids.filter(([thread]) => thread === workflow).map(([, id]) => Number(id));
  const query = seedQuery('events after a cursor', { workflow });
  assert.match(query, / id > 12/);
  const rows = server.rows(query.replace(' id > 12', ` id > ${own[2]}`));
  assert.deepEqual(rows.map((row) => [Number(row.id), row.workflow_id, row.kind, row.text,
    json(row.payload)]), own.slice(3).map((id, i) =>
    [id, workflow, 'progress', `${i + 3}`, { n: i + 3 }]));
});

test('an agent, its instance, turns, calls and checkpoints are in the views of the platform',
  async (t) => {
    const server = await startServer(t);
    const client = server.open;
    const prompt = { role: 'assistant', instructions: 'Be brief.' };
    const agent = expectStatus(await client.post('/v1/agents', { name: 'platform',
      kind: 'team', system_prompt: prompt,
      tools: [{ tool: 'search', config_overrides: { depth: 2 } },
        { tool: 'mail', is_enabled: false }] }), 201);
    const member = expectStatus(await client.post('/v1/agents', { name: 'member' }), 201);
    expectStatus(await client.put(`/v1/agents/${agent.id}/links/${member.id}`,
      { role: 'member' }), 201);
    const run = expectStatus(await client.post(`/v1/agents/${agent.id}/runs`,
      { input: { message: 'hello' } }), 201);
    const base = `/v1/runs/${run.run_id}`;
    const turn = expectStatus(await client.post(`${base}/turns`, { input: { message: 'hello' },
      output: { message: 'hi', status: 'complete' }, latency_ms: 5 }), 201);
    expectStatus(await client.post(`${base}/steps`, { action_type: 'tool_execution',
      turn_id: turn.turn_id ?? turn.id, tool_name: 'search', duration_ms: 3,
      action_data: { input: { q: 'x' }, result: [1], success: true } }), 201);
    const checkpoint = expectStatus(await client.post(`/v1/threads/${run.thread_id}/checkpoints`,
      { run_id: run.run_id, channel_values: { messages: [] }, node: 'plan' }), 201);

    const one = (statement) => {
      const rows = server.rows(statement);
      assert.equal(rows.length, 1, statement);
      return rows[0];
    };
    const definition = one(`SELECT * FROM agent_definition WHERE id = '${agent.id}'`);
    assert.deepEqual([definition.name, definition.version, Boolean(definition.is_active)],
      ['platform', '1.0.0', true]);
    assert.equal(json(definition.system_prompt).instructions, 'Be brief.');
    assert.deepEqual(server.rows(`SELECT tool_id, config_overrides, is_enabled FROM tool_binding
        WHERE definition_id = '${agent.id}' ORDER BY id`)
      .map((row) => [row.tool_id, json(row.config_overrides ?? null), Boolean(row.is_enabled)]),
    [['search', { depth: 2 }, true], ['mail', {}, false]]);
    const instance = one('SELECT * FROM agent_instance');
    assert.deepEqual([instance.id, instance.definition_id, instance.thread_id],
      [run.run_id, agent.id, run.thread_id]);
    assert.match(instance.status, /^[A-Z_]+$/);
    const shown = one('SELECT * FROM turn');
    assert.deepEqual([shown.instance_id, shown.turn_number, shown.status, shown.latency_ms,
      json(shown.input)], [run.run_id, 1, 'complete', 5, { message: 'hello' }]);
    const call = one('SELECT * FROM tool_call');
    assert.deepEqual([call.turn_id, call.tool_name, json(call.output)], [shown.id, 'search', [1]]);
    const kept = one('SELECT * FROM checkpoint');
    assert.deepEqual([kept.id, kept.instance_id, kept.sequence_num, kept.node],
      [checkpoint.id, run.run_id, 1, 'plan']);
    const values = expectStatus(await client.get(json(kept.channel_values).read), 200);
    assert.deepEqual(values.channel_values, { messages: [] });

    expectStatus(await client.post('/v1/evals', { name: 'nightly', eval_type: 'accuracy',
      agent_id: agent.id, score: 0.75 }), 201);
    const judged = one('SELECT * FROM agno_eval_runs');
    assert.deepEqual([judged.name, judged.eval_type, judged.team_id, judged.agent_id,
      Number(judged.score)], ['nightly', 'accuracy', agent.id, null, 0.75]);

    // The same as components, with every version and its links.
    const component = one(`SELECT * FROM agno_components WHERE component_id = '${agent.id}'`);
    assert.deepEqual([component.component_type, component.current_version], ['team', 1]);
    const config = one(`SELECT * FROM agno_component_configs WHERE component_id = '${agent.id}'`);
    assert.deepEqual([config.version, config.label, config.stage], [1, '1.0.0', 'published']);
    assert.equal(json(config.config).system_prompt.instructions, 'Be brief.');
    const link = one('SELECT * FROM agno_component_links');
    assert.deepEqual([link.parent_component_id, link.child_component_id, link.link_kind],
      [agent.id, member.id, 'member']);
  });

test('awaited tools are calls, each once, with their turn', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  const thread = expectStatus(await client.post('/v1/threads', {}), 201).id;
  const run = expectStatus(await client.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct' }), 201).id;
  const base = `/v1/runs/${run}`;
  const turn = expectStatus(await client.post(`${base}/turns`, { input: { message: 'hello' },
    output: { status: 'awaiting_tool', tool_calls: [
      { id: 't1', name: 'confirm', input: { a: 1 } },
      { id: 't2', name: 'search', input: {} }] } }), 201);
  const calls = () => server.rows(`SELECT * FROM tool_call WHERE run_id = '${run}'`)
    .sort((a, b) => (a.tool_use_id < b.tool_use_id ? -1 : 1));
  const turnId = turn.turn_id ?? turn.id;
  const shown = (row) => [row.tool_use_id, row.tool_name, row.turn_id, row.status, row.log_id,
    json(row.input), json(row.output)];
  assert.deepEqual(calls().map(shown), [['t1', 'confirm', turnId, 'pending', null, { a: 1 }, null],
    ['t2', 'search', turnId, 'pending', null, {}, null]]);
  const listed = expectStatus(await client.get(`${base}/tool-calls`), 200).data;
  assert.deepEqual(calls().map((row) => row.tool_use_id), listed.map((c) => c.tool_use_id).sort());

  expectStatus(await client.post(`${base}/tool-results`, { results: [
    { tool_use_id: 't1', content: { yes: true } },
    { tool_use_id: 't2', content: ['no'], is_error: true }] }), 200);
  assert.deepEqual(calls().map((row) => shown(row).slice(3)),
    [['success', null, { a: 1 }, { yes: true }], ['error', null, {}, ['no']]]);
  for (const call of calls()) {
    assert.ok(call.latency_ms >= 0);
    assert.match(call.id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    for (const [column, value] of [['id', call.id], ['tool_use_id', call.tool_use_id]])
      assert.deepEqual(server.rows(`SELECT * FROM tool_call WHERE ${column} = '${value}'`),
        [call]);
  }
  assert.equal(server.rows(`SELECT * FROM tool_call WHERE turn_id = '${turnId}'`).length, 2);

  // A step with the same tool_use_id is the call; tools without a turn are calls, too.
  expectStatus(await client.post(`${base}/steps`, { action_type: 'tool_execution',
    tool_name: 'search', tool_use_id: 't2', action_data: { result: [1], success: true } }), 201);
  expectStatus(await client.post(`${base}/tools`, { tools: [
    { tool_use_id: 't3', name: 'later', input: {}, side: 'frontend' }] }), 200);
  const [first, second, third] = calls();
  assert.deepEqual([first.log_id, third.log_id, third.turn_id], [null, null, null]);
  assert.ok(second.log_id > 0);
  assert.deepEqual([second.turn_id, json(second.output)], [null, [1]]);
  assert.equal(calls().length, 3);
});

test('the cost of a run or a day is NULL if none of its calls has a price', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  const costs = () => [...server.rows('SELECT runs FROM agno_sessions')
    .flatMap((row) => json(row.runs).map((run) => run.metrics.cost_usd)),
  json(server.rows('SELECT token_metrics FROM agno_metrics')[0].token_metrics).cost_usd];
  const thread = expectStatus(await client.post('/v1/threads', {}), 201).id;
  const run = expectStatus(await client.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct' }), 201).id;
  const call = (model) => client.post(`/v1/runs/${run}/steps`, {
    action_type: 'api_response_received', model,
    action_data: { usage: { input_tokens: 1000000, output_tokens: 0 } } });
  assert.deepEqual(costs(), [0, 0]);
  expectStatus(await call('free-form'), 201);
  assert.equal(expectStatus(await client.get(`/v1/runs/${run}`), 200).usage.cost_usd, null);
  assert.deepEqual(costs(), [null, null]);
  expectStatus(await client.put('/v1/prices/m', { input: 3, output: 15 }), 201);
  expectStatus(await call('m'), 201);
  assert.deepEqual(costs(), [3, 3]);
});

// The columns of the seeds' tables and documents; a view may have more after them.
const SEED_COLUMNS = {
  agent_config: `agent_uuid system_prompt model max_steps thinking_tokens max_tokens container_id
    messages tool_schemas tool_names server_tools beta_headers api_kwargs formatter
    stream_meta_history_and_tool_results compactor_type memory_store_type file_registry extras
    max_retries base_delay last_known_input_tokens last_known_output_tokens pending_frontend_tools
    pending_backend_results awaiting_frontend_tools current_step conversation_history title
    created_at updated_at last_run_at total_runs`,
  conversation_history: `conversation_id agent_uuid run_id started_at completed_at user_message
    final_response messages stop_reason total_steps usage generated_files cost extras
    sequence_number created_at`,
  agent_runs: `log_id agent_uuid run_id timestamp step_number action_type action_data
    messages_snapshot messages_count estimated_tokens duration_ms`,
  agno_sessions: `session_id session_type agent_id team_id user_id session_data agent_data
    team_data runs summary created_at updated_at`,
  agno_components: 'component_id component_type name',
  agno_component_configs: 'component_id version',
  agno_component_links: 'parent_component_id child_component_id',
  agno_metrics: 'date token_metrics model_metrics',
  agno_eval_runs: 'run_id eval_type',
  notebooks: 'id title description instructions created_at updated_at',
  notebook_sessions: 'id notebook_id session_id created_at',
  tenant: 'id name plan_tier settings created_at',
  api_key: 'id tenant_id key_hash scopes expires_at created_at',
  agent_definition: `id tenant_id name version system_prompt workflow_graph memory_config
    guardrail_config is_active created_at`,
  agent_instance: 'id definition_id thread_id status metadata started_at completed_at',
  checkpoint: `id instance_id parent_id sequence_num channel_values pending_sends state_snapshot
    created_at`,
  turn: `id instance_id checkpoint_id turn_number input output status tokens_in tokens_out
    latency_ms created_at`,
  tool_call: 'id turn_id tool_name input output status latency_ms created_at',
  llm_call: `id turn_id model provider messages response tokens_in tokens_out latency_ms cost_usd
    created_at`,
  tool_binding: 'id definition_id tool_id config_overrides is_enabled',
};

test('each view has the columns of its seed, and no secret', async (t) => {
  const server = await startServer(t);
  for (const [view, names] of Object.entries(SEED_COLUMNS)) {
    const seen = columns(server, view);
    for (const name of names.split(/\s+/))
      assert.ok(seen.includes(name), `${view} has no ${name}: ${seen}`);
    assert.ok(Array.isArray(server.rows(`SELECT * FROM ${view}`)), view);
  }
  expectStatus(await server.open.post('/v1/keys', { name: 'k', scopes: ['operator'] }), 201);
  const [key] = server.rows('SELECT * FROM api_key');
  assert.equal(key.key_hash, null);
  assert.deepEqual(json(key.scopes), ['operator']);
  const versions = server.sql('SELECT version FROM agno_schema_versions').flat();
  assert.ok(versions.includes('8'), `${versions}`);
});

const FENCED = onPostgres('SQLite has no row-level security');

test('the views show the rows of the tenant that the session names', FENCED, async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  for (const client of [alice, bob])
    await bookSession(client);
  const count = (tenant, view) => Number(
    postgresRows({ url: server.db, schema: server.schema },
      `SELECT count(*) AS n FROM ${view}`, [], tenant)[0].n);
  for (const [view, all] of Object.entries({ agno_sessions: 2, agno_components: 6,
    agent_instance: 14, agent_definition: 6, tenant: 3, api_key: 3 })) {
    assert.equal(count('*', view), all, view);
    assert.equal(count(alice.tenantId, view), view === 'tenant' || view === 'api_key' ? 1 : all / 2,
      view);
  }
  for (const view of [...Object.keys(SEED_COLUMNS), 'workflows', 'workflow_runs',
    'workflow_events']) {
    assert.throws(() => count('', view), /no tenant is set[^]*SET cairn.tenant/, view);
    assert.throws(() => count('nonsense', view), /invalid input syntax for type uuid/, view);
  }
});

const MESSAGES = [{ role: 'system', content: 'You lead a team.' },
  { role: 'user', content: 'hello' }, { role: 'assistant', content: 'Hello! Welcome!' }];

/** A thread as the migration guide writes it: a team run with history, a member run with a step. */
async function movedSession(client) {
  const team = expectStatus(await client.post('/v1/agents', { name: 'T', kind: 'team' }), 201).id;
  const thread = expectStatus(await client.put('/v1/threads/by-key/books-4', { title: 'Books',
    context: { shelf: 4, list: ['a', null], 'odd "key"': { x: true },
      summary: { summary: 'About books.', topics: ['books'] } } }), 201).id;
  const start = async (more) => expectStatus(await client.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct', user_input: 'hello', ...more }), 201).id;
  const run = await start({ agent_id: team });
  const member = await start({ parent_run_id: run, agent: 'researcher' });
  expectStatus(await client.post(`/v1/runs/${member}/steps`, { action_type: 'agno.messages',
    messages_snapshot: MESSAGES.slice(1) }), 201);
  const other = await start({ parent_run_id: run, agent: 'writer' });
  const end = { status: 'completed', content: 'Hello! Welcome!' };
  expectStatus(await client.patch(`/v1/runs/${member}`, end), 200);
  expectStatus(await client.patch(`/v1/runs/${other}`, { ...end, messages: MESSAGES }), 200);
  expectStatus(await client.patch(`/v1/runs/${run}`, end), 200);
  expectStatus(await client.patch(`/v1/threads/${thread}/history/1`, { messages: MESSAGES }), 200);
  return { thread, run, member, other };
}

test('a session has the key, the state, the summary and the messages that were stored',
  async (t) => {
    const server = await startServer(t);
    const { thread, run, member, other } = await movedSession(server.open);
    const [session] = server.rows(`SELECT * FROM agno_sessions WHERE session_id = 'books-4'`);
    assert.deepEqual(json(session.session_data), { session_name: 'Books', session_state: {
      shelf: 4, list: ['a', null], 'odd "key"': { x: true } } });
    assert.deepEqual(json(session.summary), { summary: 'About books.', topics: ['books'] });
    const [first, second, third] = json(session.runs);
    assert.deepEqual([first.run_id, second.run_id, third.run_id], [run, member, other]);
    assert.deepEqual([first.session_id, second.session_id], ['books-4', 'books-4']);
    for (const [shown, path, stored] of [
      [first.messages, `/v1/threads/${thread}/history/1`, MESSAGES],
      [second.messages, `/v1/runs/${member}/steps/2`, MESSAGES.slice(1)],
      [third.messages, `/v1/runs/${other}?include=messages`, MESSAGES]]) {
      assert.equal(shown.read, path);
      const read = expectStatus(await server.open.get(path), 200);
      assert.deepEqual(read.messages ?? read.messages_snapshot, stored);
    }
    // State documents of the thread replace members of its context.
    expectStatus(await server.open.put(`/v1/threads/${thread}/states/shelf`,
      { data: { row: 2 } }, { headers: { 'If-None-Match': '*' } }), 201);
    expectStatus(await server.open.patch(`/v1/threads/${thread}`,
      { context: { summary: 'Short.', list: null } }), 200);
    const [changed] = server.rows('SELECT session_data, summary FROM agno_sessions');
    assert.deepEqual(json(changed.session_data).session_state,
      { shelf: { row: 2 }, 'odd "key"': { x: true } });
    assert.deepEqual(json(changed.summary), { summary: 'Short.' });

    const notebook = expectStatus(await server.open.post('/v1/notebooks', { title: 'B' }), 201);
    for (const thread_id of [thread, undefined])
      expectStatus(await server.open.post(`/v1/notebooks/${notebook.id}/sessions`,
        { thread_id }), 201);
    const sessions = server.rows(`SELECT s.session_id FROM notebook_sessions AS s
      JOIN agno_sessions AS a ON a.session_id = s.session_id ORDER BY s.id`);
    assert.equal(sessions.length, 2);
    assert.equal(sessions[0].session_id, 'books-4');
    assert.match(sessions[1].session_id, /^[0-9a-f-]{36}$/);
  });

test('a session whose messages are only messages of the thread shows them', async (t) => {
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201).id;
  const run = expectStatus(await server.open.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct' }), 201).id;
  expectStatus(await server.open.post(`/v1/threads/${thread}/messages`,
    { content: 'hi', run_id: run }), 201);
  const [{ runs, summary }] = server.rows(
    `SELECT runs, summary FROM agno_sessions WHERE session_id = '${thread}'`);
  assert.deepEqual(json(runs)[0].messages.map((m) => m.content), ['hi']);
  assert.equal(summary, null);
});

test('times have microseconds', async (t) => {
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201);
  const run = expectStatus(await server.open.post(`/v1/threads/${thread.id}/runs`,
    { dispatch: 'direct' }), 201);
  const timestamp = '2026-01-02T03:04:05.000006Z';
  expectStatus(await server.open.post(`/v1/runs/${run.id}/steps`,
    { action_type: 'error', timestamp }), 201);
  const text = (column) => (ON_POSTGRES ? `to_char(${column} AT TIME ZONE 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')` : column);
  assert.deepEqual(server.sql(`SELECT ${text('timestamp')} FROM agent_runs
    WHERE action_type = 'error'`), [[timestamp]]);
  assert.deepEqual(server.sql(`SELECT ${text('created_at')} FROM workflows`),
    [[thread.created_at]]);
});

test('a key of a principal is no session id, because another principal may have the same',
  async (t) => {
    const server = await startServer(t);
    const { alice } = await twoTenants(server);
    const ids = [];
    for (const name of ['ann', 'ben']) {
      const key = expectStatus(await alice.post('/v1/keys',
        { name, scopes: ['threads:read', 'threads:write'], principal: `user:${name}` }), 201);
      const client = server.client(key.secret ?? key.key);
      ids.push(expectStatus(await client.put('/v1/threads/by-key/mine', {}), 201).id);
    }
    assert.deepEqual(server.sql('SELECT session_id FROM agno_sessions').flat().sort(), ids.sort());
  });

const LISTS = onPostgres('SQLite resolves references in cairn sql');

test('cairn_document returns the list of messages that a reference names', LISTS, async (t) => {
  const server = await startServer(t);
  const { thread } = await movedSession(server.open);
  const long = [...MESSAGES];
  const mixed = 'abcdefghijklmnopqrstuvwxyz0123456789üöäABCDEF'; // larger if it is compressed
  const document = () => server.rows(`SELECT cairn_document(messages) AS list
    FROM conversation_history WHERE agent_uuid = '${thread}'`)[0].list;
  assert.deepEqual(document(), MESSAGES);
  // Differences from the previous list: at the end, in the middle, at the start; and no messages.
  for (const change of [() => long.push({ role: 'user', content: mixed }),
    () => long.splice(1, 1, { role: 'assistant', content: mixed },
      { role: 'x', content: null }),
    () => long.shift(), () => long.splice(1)]) {
    change();
    expectStatus(await server.open.patch(`/v1/threads/${thread}/history/1`,
      { messages: long }), 200);
    assert.deepEqual(document(), long);
  }
  const [{ lists }] = server.rows(`SELECT jsonb_agg(cairn_document(r -> 'messages')) AS lists
    FROM agno_sessions, jsonb_array_elements(runs) AS r`);
  assert.deepEqual(lists, [long, MESSAGES.slice(1), MESSAGES]);
  // An item that is stored compressed is not readable in SQL; the reference says so.
  expectStatus(await server.open.patch(`/v1/threads/${thread}/history/1`,
    { messages: [{ role: 'user', content: 'again '.repeat(500) }] }), 200);
  assert.equal(document().compressed_items, 1);
  assert.equal(document().read, `/v1/threads/${thread}/history/1`);
  // A reference to another tenant's list stays a reference.
  const [{ stranger }] = postgresRows({ url: server.db, schema: server.schema },
    `SELECT cairn_document('${JSON.stringify(document())}') AS stranger`, [],
    '018f0000-0000-7000-8000-00000000ffff');
  assert.equal(stranger.read, `/v1/threads/${thread}/history/1`);
});
