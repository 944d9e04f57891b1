// SPDX-License-Identifier: Apache-2.0
// The programs of examples/scenarios: each makes what it says, with no more calls than its README
// promises. The server counts the requests, too.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expectStatus, startServer } from './lib/server.mjs';

const PLACE = new URL('../../examples/scenarios/', import.meta.url);
const get = async (client, path) => expectStatus(await client.get(path), 200);
const json = (value) => (typeof value === 'string' ? JSON.parse(value) : value);
const requests = async (client) =>
  Number(/^cairn_http_requests_total (\d+)$/m.exec((await client.get('/metrics')).text)[1]);

/** Runs a program, and checks its number of calls. */
async function play(server, name, count) {
  const before = await requests(server.open);
  const { stdout } = await promisify(execFile)(process.execPath,
    [fileURLToPath(new URL(`${name}.mjs`, PLACE))],
    { env: { ...process.env, CAIRN_URL: `http://127.0.0.1:${server.port}`, CAIRN_API_KEY: '' } });
  const made = JSON.parse(stdout);
  const read = await requests(server.open) - before - 1; // the second reading of the metrics
  assert.deepEqual([made.count, made.calls.length], [count, count], stdout);
  assert.equal(read, made.count + made.preparations, 'the server has read other requests');
  return made;
}

/** The numbers of calls in the README, by program, in the order of its rows. */
function promised(name) {
  const rows = readFileSync(new URL('README.md', PLACE), 'utf8').split('\n');
  const at = rows.findIndex((row) => row.startsWith(`| [${name}.mjs]`));
  assert.notEqual(at, -1, name);
  const numbers = [];
  for (let i = at; i === at || rows[i].startsWith('| | '); i++)
    numbers.push(Number(rows[i].split('|').at(-2)));
  return numbers;
}

test('a turn with a clarification', async (t) => {
  const server = await startServer(t);
  const made = await play(server, 'clarification', promised('clarification')[0]);
  assert.equal(made.answer, 'To ship in May.');
  assert.deepEqual(made.context.tail.map((m) => [m.role, m.content]),
    [['user', 'What did we decide?'], ['assistant', 'To ship in May.']]);
  const run = await get(server.open, `/v1/runs/${made.run_id}`);
  assert.deepEqual([run.status, run.input, run.state],
    ['completed', 'March', { phase: 'clarify' }]);
  const { data } = await get(server.open, `/v1/threads/${made.workflow_id}/messages?after=0`);
  assert.deepEqual(data.map((m) => [m.sender_role, m.content]),
    [['user', 'What did we decide?'], ['assistant', 'To ship in May.']]);
  const told = server.rows(`SELECT kind, text FROM workflow_events
    WHERE workflow_id = '${made.workflow_id}' AND id > 0 ORDER BY id`);
  assert.deepEqual(told.filter((e) => e.kind === 'progress').map((e) => e.text),
    ['Searching the decisions of March', 'Found 2 of them']);
  assert.equal(told.filter((e) => e.kind === 'final').length, 1);
});

test('a message that a team delegates', async (t) => {
  const server = await startServer(t);
  const made = await play(server, 'delegation', promised('delegation')[0]);
  const [session] = server.rows(`SELECT session_type, runs FROM agno_sessions
    WHERE session_id = '${made.session}'`);
  assert.equal(session.session_type, 'team');
  const [leader, member] = json(session.runs);
  assert.deepEqual([leader.run_id, member.run_id], [made.run_id, made.member_run_id]);
  assert.deepEqual([leader.status, member.status], ['COMPLETED', 'COMPLETED']);
  assert.deepEqual(leader.member_responses.map((m) => m.run_id), [member.run_id]);
  assert.deepEqual(leader.events.map((e) => e.event), ['run_started', 'run_completed']);
  for (const run of [leader, member]) {
    const read = await get(server.open, `/v1/runs/${run.run_id}?include=messages`);
    assert.deepEqual(read.messages.map((m) => m.role), ['user', 'assistant']);
    assert.equal(read.messages[1].content, run.content);
    assert.equal((await get(server.open, run.messages.read)).messages[1].content, run.content);
  }
  const { total_usage: total } = await get(server.open, `/v1/runs/${made.run_id}`);
  assert.deepEqual([total.llm_calls, total.input_tokens, total.output_tokens], [2, 2400, 200]);
  const { data } = await get(server.open, `/v1/threads/${made.thread_id}/messages?after=0`);
  assert.deepEqual(data.map((m) => [m.sender_role, m.content]),
    [['user', 'recommend books for a 9yo girl'], ['assistant', leader.content]]);
});

test('a run of the three tables', async (t) => {
  const server = await startServer(t);
  const [stored, live] = promised('three-tables');
  const made = await play(server, 'three-tables', stored + live);
  const [config] = server.rows(`SELECT * FROM agent_config
    WHERE agent_uuid = '${made.agent_uuid}'`);
  assert.deepEqual([config.system_prompt, config.total_runs, config.last_known_input_tokens]
    .map((value) => (isNaN(value) ? value : Number(value))), ['You draw charts.', 2, 600]);
  const history = server.rows(`
    SELECT conversation_id, user_message, final_response, started_at,
           generated_files, total_steps
    FROM conversation_history
    WHERE agent_uuid = '${made.agent_uuid}'
    ORDER BY sequence_number DESC
    LIMIT 20 OFFSET 0`);
  assert.deepEqual(history.map((row) => [row.user_message, row.final_response,
    Number(row.total_steps), json(row.generated_files)[0].file_id]), [
    ['Create chart 2', 'Here is chart 2.', 2, 'file_2'],
    ['Create chart 1', 'Here is chart 1.', 2, 'file_1']]);
  for (const [run, types] of [
    [made.runs[0], ['run_started', 'run_completed', 'api_response_received', 'tool_execution',
      'api_response_received']],
    [made.runs[1], ['run_started', 'api_response_received', 'tool_execution',
      'api_response_received', 'run_completed']]]) {
    const log = server.rows(`
      SELECT timestamp, step_number, action_type, action_data, duration_ms
      FROM agent_runs
      WHERE run_id = '${run}'
      ORDER BY timestamp ASC`);
    assert.deepEqual(log.map((row) => row.action_type), types);
    const { usage } = await get(server.open, `/v1/runs/${run}`);
    assert.deepEqual([usage.llm_calls, usage.input_tokens, usage.output_tokens], [2, 1050, 160]);
  }
  const { data } = await get(server.open, `/v1/threads/${made.agent_uuid}/messages?after=0`);
  assert.deepEqual(data.map((m) => m.content),
    ['Create chart 1', 'Here is chart 1.', 'Create chart 2', 'Here is chart 2.']);
  const entry = await get(server.open, `/v1/threads/${made.agent_uuid}/history/1`);
  assert.equal(entry.usage.input_tokens, 1050);
});

test('a conversation of a workbench', async (t) => {
  const server = await startServer(t);
  const made = await play(server, 'workbench', promised('workbench')[0]);
  const thread = `/v1/threads/${made.thread_id}`;
  const { data: people } = await get(server.open, `${thread}/participants`);
  const names = new Map(people.map((p) => [p.id, p.principal]));
  assert.deepEqual([...names.values()].sort(),
    [`agent:${made.agent_id}`, 'user:ann', 'user:bob']);
  const { data } = await get(server.open, `${thread}/messages?after=0`);
  assert.deepEqual(data.map((m) => [names.get(m.sender_id), m.content, m.filenames]), [
    ['user:ann', 'Where could we go?', ['ideas.txt']],
    [`agent:${made.agent_id}`, 'To Norway or Iceland.', ['ideas.txt']]]);
  assert.equal((await get(server.open, `${thread}/files/ideas.txt/info`)).version, 2);
  const state = await get(server.open, `${thread}/agents/${made.agent_id}/states/plan`);
  assert.deepEqual([state.version, state.data], [1, { goal: 'fjords' }]);
  assert.deepEqual(made.missed, ['assistant.state.created', 'file.updated', 'message.created']);
});

test('a run of an agent platform', async (t) => {
  const server = await startServer(t);
  const made = await play(server, 'platform', promised('platform')[0]);
  const question = 'recommend books for a 9yo girl';
  assert.deepEqual(made.recovered,
    { messages: [{ role: 'user', content: question }], audience: '9yo' });
  const run = await get(server.open, `/v1/runs/${made.run_id}`);
  assert.deepEqual([run.status, run.phase, run.turn_count, run.usage.llm_calls],
    ['completed', 'completed', 2, 2]);
  const { data: turns } = await get(server.open, `/v1/runs/${made.run_id}/turns`);
  assert.deepEqual(turns.map((turn) => turn.status), ['complete', 'complete']);
  const { data: [tool] } = await get(server.open, `/v1/runs/${made.run_id}/tool-calls`);
  assert.deepEqual([tool.tool_name, tool.status, tool.output], ['search', 'success', 'Matilda']);
  const { recovered_state: state } = await get(server.open, `/v1/runs/${made.new_run_id}/recovery`);
  assert.equal(state.audience, '12yo');
  const { data } = await get(server.open, `/v1/threads/${made.thread_id}/messages?after=0`);
  assert.deepEqual(data.map((m) => [m.sender_role, m.content, m.run_id]), [
    ['user', question, made.run_id], ['assistant', 'You could try Matilda.', made.run_id],
    ['assistant', 'You could try The Hobbit.', made.new_run_id]]);
});
