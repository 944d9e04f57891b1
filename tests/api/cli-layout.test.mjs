// SPDX-License-Identifier: Apache-2.0
// The files that resumable agents keep: written, followed while the agents work, and read back.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync,
  symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { newCli } from './lib/cli.mjs';
import { atEnd } from './lib/ending.mjs';
import { eventually, expectStatus, startServer, twoTenants, uuid } from './lib/server.mjs';

function newPlace(t) {
  const place = mkdtempSync(join(tmpdir(), 'cairn-layout-'));
  atEnd(t, () => rmSync(place, { recursive: true, force: true }));
  return place;
}

const read = (...path) => JSON.parse(readFileSync(join(...path), 'utf8'));
const lines = (...path) => readFileSync(join(...path), 'utf8').split('\n').slice(0, -1)
  .map((line) => JSON.parse(line));

/** Every file of a tree, by its name; not what a kill left of one that was being written. */
function tree(directory, below = '') {
  return Object.fromEntries(readdirSync(join(directory, below), { withFileTypes: true })
    .filter((entry) => !/^\..*\.partial$/.test(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory()
      ? Object.entries(tree(directory, join(below, entry.name)))
      : [[join(below, entry.name), readFileSync(join(directory, below, entry.name), 'utf8')]])));
}

/** A thread whose agent can be resumed, with finished runs that logged their steps. */
async function chartAgent(client, { runs = 1, steps = 3 } = {}) {
  const thread = expectStatus(await client.post('/v1/threads', { title: 'Charts' }), 201).id;
  expectStatus(await client.put(`/v1/threads/${thread}/resumption`, {
    system_prompt: 'You are a helpful assistant.', model: 'claude-sonnet-4-5',
    container_id: 'container_xyz789', base_delay: 1.5,
    messages: [{ role: 'user', content: 'Create a chart' }],
    tool_schemas: [{ name: 'web_search', description: 'finds', input_schema: {} }],
    beta_headers: ['code-execution-2025-08-25'], api_kwargs: { temperature: 0.7 },
    extras: { user_id: 'user_123' } }, { headers: { 'If-None-Match': '*' } }), 201);
  const ids = [];
  for (let i = 0; i < runs; i++)
    ids.push(await finishedRun(client, thread, steps));
  return { thread, runs: ids };
}

async function finishedRun(client, thread, steps = 3) {
  const run = expectStatus(await client.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct', user_input: 'Create a chart' }), 201).id;
  if (steps > 0)
    await log(client, run, steps);
  expectStatus(await client.patch(`/v1/runs/${run}`,
    { status: 'completed', content: 'Here it is.', stop_reason: 'end_turn' }), 200);
  return run;
}

async function log(client, run, n) {
  const steps = [{ action_type: 'run_started', step_number: 0,
    action_data: { user_message: 'Create a chart', formatter: 'xml' } },
  ...Array.from({ length: n - 1 }, (_, i) => ({ action_type: 'api_response_received',
    step_number: i + 1, duration_ms: 5, messages_count: 1, estimated_tokens: 7,
    messages_snapshot: [{ role: 'user', content: `é ${i}` }],
    action_data: { stop_reason: 'end_turn', usage: { input_tokens: 10, output_tokens: 2 } } }))];
  expectStatus(await client.post(`/v1/runs/${run}/steps`, { steps }), 201);
}

test('an export writes the files of every agent, in their known form', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const place = join(newPlace(t), 'data');
  const { thread, runs: [run] } = await chartAgent(server.open);
  const report = await cli.json('export', '--layout', 'files', place, '--json');
  assert.deepEqual([report.threads, report.conversations, report.steps_written], [1, 1, 5]);

  const config = read(place, 'agent_config', `${thread}.json`);
  assert.deepEqual(Object.keys(config), ['agent_uuid', 'system_prompt', 'model', 'max_steps',
    'thinking_tokens', 'max_tokens', 'container_id', 'messages', 'tool_schemas', 'tool_names',
    'server_tools', 'beta_headers', 'api_kwargs', 'formatter',
    'stream_meta_history_and_tool_results', 'compactor_type', 'memory_store_type', 'file_registry',
    'max_retries', 'base_delay', 'last_known_input_tokens', 'last_known_output_tokens',
    'pending_frontend_tools', 'pending_backend_results', 'awaiting_frontend_tools', 'current_step',
    'conversation_history', 'title', 'extras', 'created_at', 'updated_at', 'last_run_at',
    'total_runs']);
  assert.deepEqual([config.agent_uuid, config.title, config.base_delay, config.tool_names,
    config.messages, config.total_runs], [thread, 'Charts', 1.5, ['web_search'],
    [{ role: 'user', content: 'Create a chart' }], 1]);

  const history = join(place, 'conversation_history', thread);
  assert.deepEqual(readdirSync(history).sort(), ['001.json', 'index.json']);
  assert.deepEqual(read(history, 'index.json'), { last_sequence: 1, total_conversations: 1 });
  const entry = read(history, '001.json');
  assert.deepEqual(Object.keys(entry), ['conversation_id', 'agent_uuid', 'run_id', 'started_at',
    'completed_at', 'user_message', 'final_response', 'messages', 'stop_reason', 'total_steps',
    'usage', 'generated_files', 'cost', 'extras', 'sequence_number', 'created_at']);
  assert.deepEqual([entry.agent_uuid, entry.run_id, entry.user_message, entry.sequence_number],
    [thread, run, 'Create a chart', 1]);

  const logged = lines(place, 'agent_runs', thread, `${run}.jsonl`);
  assert.deepEqual(logged.map((step) => step.lifecycle),
    [true, undefined, undefined, undefined, true]);
  assert.deepEqual(Object.keys(logged[0]), ['log_id', 'agent_uuid', 'run_id', 'timestamp',
    'step_number', 'action_type', 'action_data', 'lifecycle']);
  assert.deepEqual(Object.keys(logged[1]), ['log_id', 'agent_uuid', 'run_id', 'timestamp',
    'step_number', 'action_type', 'action_data']);
  assert.deepEqual(Object.keys(logged[2]), ['log_id', 'agent_uuid', 'run_id', 'timestamp',
    'step_number', 'action_type', 'action_data', 'messages_snapshot', 'messages_count',
    'estimated_tokens', 'duration_ms']);
  assert.deepEqual(logged[2].messages_snapshot, [{ role: 'user', content: 'é 0' }]);
  assert.deepEqual(logged.map((step) => step.agent_uuid), Array(5).fill(thread));
  assert.ok(logged[0].log_id < logged[1].log_id);
  assert.equal(statSync(join(history, '001.json')).mode & 0o077, 0, 'others can read it');

  // Again: nothing changes, then only what did.
  const before = tree(place);
  await cli.json('export', '--layout', 'files', place, '--json');
  assert.deepEqual(tree(place), before);
  const second = await finishedRun(server.open, thread, 2);
  await log(server.open, run, 2);
  const more = await cli.json('export', '--layout', 'files', place, '--thread', thread, '--json');
  assert.equal(more.steps_written, 6);
  assert.deepEqual(readdirSync(history).sort(), ['001.json', '002.json', 'index.json']);
  assert.equal(lines(place, 'agent_runs', thread, `${run}.jsonl`).length, 7);
  assert.equal(lines(place, 'agent_runs', thread, `${second}.jsonl`).length, 4);
});

test('an export mends a torn line and what is not the run\'s', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const place = newPlace(t);
  const { thread, runs: [run] } = await chartAgent(server.open);
  const file = join(place, 'agent_runs', thread, `${run}.jsonl`);
  await cli.json('export', '--layout', 'files', place, '--json');
  const whole = readFileSync(file, 'utf8');
  const [first, second] = whole.split('\n');
  for (const damaged of [whole.slice(0, -5), `${whole}{"log_id": 99`, `${first}\n`, '', 'junk\n',
    `${second}\n`, `${first}\n${second.replace(/"log_id":\d+/, '"log_id":1')}\n`]) {
    writeFileSync(file, damaged);
    await cli.json('export', '--layout', 'files', place, '--json');
    assert.equal(readFileSync(file, 'utf8'), whole, JSON.stringify(damaged.slice(-30)));
  }
});

test('an export stays in its directory and out of others\'', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { thread, runs: [run] } = await chartAgent(server.open);
  const other = newPlace(t);
  writeFileSync(join(other, 'thesis.txt'), 'years of work');
  await cli.refused(1, /contains another file: thesis\.txt/, 'export', '--layout', 'files', other);
  assert.deepEqual(readdirSync(other), ['thesis.txt']);

  // A link in the way is neither followed nor written through.
  for (const name of ['agent_runs', `agent_runs/${thread}`, `agent_runs/${thread}/${run}.jsonl`]) {
    const place = newPlace(t);
    const outside = newPlace(t);
    const parts = name.split('/');
    mkdirSync(join(place, ...parts.slice(0, -1)), { recursive: true });
    const target = name.endsWith('.jsonl') ? join(outside, 'victim') : outside;
    if (name.endsWith('.jsonl')) writeFileSync(target, 'mine\n');
    symlinkSync(target, join(place, name));
    await cli.refused(1, /cannot (write|read) .*agent_runs/, 'export', '--layout', 'files', place);
    assert.deepEqual(readdirSync(outside), name.endsWith('.jsonl') ? ['victim'] : []);
    if (name.endsWith('.jsonl')) assert.equal(readFileSync(target, 'utf8'), 'mine\n');
  }
  const place = newPlace(t);
  mkdirSync(join(place, 'agent_config'));
  writeFileSync(join(place, 'elsewhere.json'), 'mine');
  symlinkSync(join(place, 'elsewhere.json'), join(place, 'agent_config', `${thread}.json`));
  await cli.refused(1, /contains another file/, 'export', '--layout', 'files', place);

  await cli.refused(2, /--layout is required/, 'export', '--thread', thread, place);
  await cli.refused(2, /must be files/, 'export', '--layout', 'tar', place);
  await cli.refused(2, /must be an id/, 'export', '--layout', 'files', '--thread', '../x',
    newPlace(t));
  await cli.refused(1, /there is no thread/, 'export', '--layout', 'files', '--thread', uuid(),
    newPlace(t));
});


// --- The mirror ---------------------------------------------------------------------------------

/** Waits until the directory is what an export writes now, byte for byte. */
async function comesToBe(t, cli, place) {
  const fresh = newPlace(t);
  await cli.json('export', '--layout', 'files', fresh, '--json');
  const wanted = tree(fresh);
  const shown = () => {
    const { '.cairn-mirror.json': state, ...files } = tree(place);
    return files;
  };
  for (let end = Date.now() + 180_000; ;) {
    try {
      assert.deepEqual(shown(), wanted);
      return wanted;
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((done) => setTimeout(done, 20));
    }
  }
}

test('a mirror follows the agents, through kill -9 and a restart of the server', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const place = join(newPlace(t), 'data');
  const client = server.open;
  const { thread } = await chartAgent(client);
  let mirror = cli.start('mirror', place);
  await comesToBe(t, cli, place);

  // A run under way, its steps one by one; a new thread; a title.
  const run = expectStatus(await client.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct', user_input: 'And another' }), 201).id;
  await log(client, run, 2);
  await comesToBe(t, cli, place);
  const other = await chartAgent(client, { runs: 2 });
  expectStatus(await client.patch(`/v1/threads/${thread}`, { title: 'Renamed' }), 200);
  const files = await comesToBe(t, cli, place);
  assert.match(files[`agent_config/${thread}.json`], /"Renamed"/);

  // Killed while steps are appended: from any state of the disk, the next run completes the files.
  for (let round = 0; round < 4; round++) {
    const writing = (async () => {
      for (let i = 0; i < 5; i++)
        await log(client, run, 3);
    })();
    await new Promise((done) => setTimeout(done, 15 * round));
    await mirror.kill('SIGKILL');
    await writing;
    mirror = cli.start('mirror', place);
  }
  await comesToBe(t, cli, place);
  const ids = lines(place, 'agent_runs', thread, `${run}.jsonl`).map((step) => step.log_id);
  assert.equal(ids.length, 63);
  assert.equal(new Set(ids).size, 63, 'a step twice');

  // The server restarts; changes during the restart are not lost.
  await server.restart();
  expectStatus(await client.patch(`/v1/runs/${run}`, { status: 'completed' }), 200);
  expectStatus(await client.del(`/v1/threads/${other.thread}`), 204);
  const left = await comesToBe(t, cli, place);
  assert.equal(lines(place, 'agent_runs', thread, `${run}.jsonl`).at(-1).action_type,
    'run_completed');
  assert.ok(!Object.keys(left).some((name) => name.includes(other.thread)));
  assert.ok(`conversation_history/${thread}/002.json` in left);

  const end = await mirror.kill('SIGTERM');
  assert.deepEqual([end.code, end.signal], [0, null], end.stderr);
  const { cursor } = read(place, '.cairn-mirror.json');
  assert.match(cursor, /^\d/);

  // Nothing to do: it continues from its cursor, without a pass over everything.
  mirror = cli.start('mirror', place);
  await finishedRun(client, thread);
  await comesToBe(t, cli, place);
  const { stderr } = await mirror.kill('SIGINT');
  assert.doesNotMatch(stderr, /threads are in/);
});

/** The number of times that the command line sends a request that is rejected with 503. */
const TRIES = 4;

/** A front of the server that responds 503 while `refuses` is set, except to event streams. */
async function busyFront(t, server) {
  const front = { refuses: false, refused: 0 };
  const listening = http.createServer((request, answer) => {
    if (front.refuses && !request.url.startsWith('/v1/events')) {
      front.refused++;
      answer.writeHead(503).end();
      return;
    }
    const { method, url: path, headers } = request;
    const there = http.request(server.url + path, { method, headers }, (from) => {
      answer.writeHead(from.statusCode, from.headers);
      from.pipe(answer);
    });
    there.on('error', () => answer.destroy());
    answer.on('close', () => there.destroy());
    request.pipe(there);
  });
  await new Promise((done) => listening.listen(0, '127.0.0.1', done));
  atEnd(t, () => listening.closeAllConnections() ?? listening.close());
  front.url = `http://127.0.0.1:${listening.address().port}`;
  return front;
}

test('a mirror makes up for changes that it was told of while the server was busy', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const place = join(newPlace(t), 'data');
  const front = await busyFront(t, server);
  const { thread } = await chartAgent(server.open);
  cli.with({ env: { CAIRN_URL: front.url } }).start('mirror', place);
  await comesToBe(t, cli, place);
  front.refuses = true;
  expectStatus(await server.open.patch(`/v1/threads/${thread}`, { title: 'Renamed' }), 200);
  await eventually(() => front.refused >= TRIES, 'it does not try again');
  front.refuses = false;
  const files = await comesToBe(t, cli, place);
  assert.match(files[`agent_config/${thread}.json`], /"Renamed"/);
});

test('a mirror that missed pruned events reads everything anew', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const place = newPlace(t);
  const client = server.open;
  const { thread } = await chartAgent(client);
  const gone = await chartAgent(client);
  let mirror = cli.start('mirror', place);
  await comesToBe(t, cli, place);
  await mirror.kill('SIGTERM');
  await finishedRun(client, thread);
  expectStatus(await client.del(`/v1/threads/${gone.thread}`), 204);
  expectStatus(await client.post(`/v1/threads/${thread}/events/prune`, { finished: true }), 200);
  mirror = cli.start('mirror', place);
  const left = await comesToBe(t, cli, place);
  assert.ok(!Object.keys(left).some((name) => name.includes(gone.thread)));
  const { stderr } = await mirror.kill('SIGTERM');
  assert.match(stderr, /pruned/);
});

test('a mirror keeps to its tenant and its directory', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  await chartAgent(alice);
  await chartAgent(bob);
  const as = (client) => newCli(t, server).with({ env: { CAIRN_API_KEY: client.secret } });
  const place = newPlace(t);
  const mirror = as(alice).start('mirror', place);
  const files = await comesToBe(t, as(alice), place);
  assert.equal(Object.keys(files).length, 4);
  await mirror.kill('SIGTERM');
  await as(bob).refused(1, /mirrors another tenant/, 'mirror', place);
  const other = newPlace(t);
  writeFileSync(join(other, 'thesis.txt'), 'years of work');
  await as(bob).refused(1, /contains another file/, 'mirror', other);
  assert.ok(existsSync(join(place, 'agent_config')));
  const blind = expectStatus(await alice.post('/v1/keys',
    { name: 'blind', scopes: ['threads:read', 'runs:read', 'agents:read'] }), 201);
  const empty = newPlace(t);
  await as(blind).refused(4, /events:read/, 'mirror', empty);
  assert.deepEqual(readdirSync(empty), []);
});

// --- Read back ----------------------------------------------------------------------------------

/** A tree under other ids, without what a server gives anew. */
function renamed(files, ids) {
  const rename = (text) => Object.entries(ids)
    .reduce((all, [from, to]) => all.replaceAll(from, to), text);
  const anew = '(log_id|conversation_id|(created|updated|last_run)_at)';
  const given = new RegExp(`"${anew}": ?[^,\n}]+`, 'g');
  const ofCairn = /("(?:timestamp|duration_ms)":)[^,]+(?=.*"lifecycle":true)/g;
  return Object.fromEntries(Object.entries(files)
    .map(([name, text]) =>
      [rename(name),
        rename(text).replace(given, '"$1":0').replace(ofCairn, (_, member) => `${member}0`)])
    .sort(([a], [b]) => (a < b ? -1 : 1)));
}

const idsOf = (report) => Object.fromEntries(report.threads
  .flatMap((thread) => [thread, ...thread.runs]).map(({ from, to }) => [from, to]));

test('what was exported and imported elsewhere is exported as the same', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const as = (client) => newCli(t, server).with({ env: { CAIRN_API_KEY: client.secret } });
  const { thread } = await chartAgent(alice, { runs: 2 });
  expectStatus(await alice.patch(`/v1/threads/${thread}/history/2`, { extras: { credits_used: 42 },
    messages: [{ role: 'user', content: 'Create a chart' }, { role: 'assistant', content: 'é' }],
    generated_files: [{ file_id: 'file_abc123', filename: 'chart.png' }] }), 200);
  await chartAgent(alice, { runs: 1, steps: 0 });
  const open = expectStatus(await alice.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct' }), 201).id;
  await log(alice, open, 2);
  // A child that failed: its log has its status and its error.
  const child = expectStatus(await alice.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct', parent_run_id: open }), 201).id;
  expectStatus(await alice.patch(`/v1/runs/${child}`,
    { status: 'failed', error: { code: 'no_model' } }), 200);
  expectStatus(await alice.post(`/v1/runs/${open}/tools`, {
    tools: [{ tool_use_id: 'toolu_1', name: 'user_confirm', input: {}, side: 'frontend' }],
    backend_results: [{ tool_use_id: 'toolu_2', content: '42' }] }), 200);
  const [before, after] = [newPlace(t), newPlace(t)];
  await as(alice).json('export', '--layout', 'files', before, '--json');
  const dry = await as(bob).json('import', '--layout', 'files', before, '--dry-run', '--json');
  assert.deepEqual(dry.threads, []);
  const report = await as(bob).json('import', '--layout', 'files', before, '--json');
  assert.deepEqual(report.counts, { threads: 2, were_there: 0, runs: 5, steps: 8 });
  await as(bob).json('export', '--layout', 'files', after, '--json');
  assert.deepEqual(renamed(tree(after), {}), renamed(tree(before), idsOf(report)));

  // Once more: nothing is doubled. One that was left unfinished is made again.
  const again = await as(bob).json('import', '--layout', 'files', before, '--json');
  assert.deepEqual(again.counts, { threads: 0, were_there: 2, runs: 0, steps: 0 });
  const { [thread]: there } = idsOf(report);
  expectStatus(await bob.patch(`/v1/threads/${there}`, { metadata: { import: 'begun' } }), 200);
  const mended = await as(bob).json('import', '--layout', 'files', before, '--json');
  assert.deepEqual([mended.counts.threads, mended.counts.were_there], [1, 1]);
  assert.equal(expectStatus(await bob.get('/v1/threads'), 200).data.length, 2);
});

/** The files that the schema's document shows, with its own names. */
function writeExample(place) {
  const agent = 'abc-123-def-456';
  const of = { agent_uuid: agent, run_id: 'run-001' };
  const messages = [
    { role: 'user', content: 'Create a chart showing sales data' },
    { role: 'assistant', content: [{ type: 'text', text: "I'll create that chart for you..." }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_123',
      name: 'bash_code_execution', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_123', content: [] }] },
    { role: 'assistant', content: [{ type: 'text', text: "I've created a chart..." }] }];
  const config = { agent_uuid: agent, system_prompt: 'You are a helpful assistant...',
    model: 'claude-sonnet-4-5', max_steps: 50, thinking_tokens: 0, max_tokens: 2048,
    container_id: 'container_xyz789', messages,
    tool_schemas: [{ name: 'web_search', description: '...', input_schema: {} }],
    tool_names: ['web_search', 'calculator'], server_tools: [{ type: 'code_execution_20250825' }],
    beta_headers: ['code-execution-2025-08-25'], api_kwargs: { temperature: 0.7, top_p: 0.9 },
    formatter: 'xml', stream_meta_history_and_tool_results: false,
    compactor_type: 'ToolResultRemovalCompactor', memory_store_type: 'PlaceholderMemoryStore',
    file_registry: { file_abc123: { filename: 'chart.png', size: 45231, mime_type: 'image/png',
      storage_path: 's3://bucket/agent-data/abc-123/file_abc123_chart.png',
      created_in_run: 'run-001', last_updated_run: 'run-003',
      last_updated_at: '2025-11-25T14:30:00Z' } },
    max_retries: 5, base_delay: 1.0, last_known_input_tokens: 12345,
    last_known_output_tokens: 678, pending_frontend_tools: [], pending_backend_results: [],
    awaiting_frontend_tools: false, current_step: 0, conversation_history: [],
    title: 'Python Function for List Sorting', extras: { user_id: 'user_123' },
    created_at: '2025-11-25T10:00:00Z', updated_at: '2025-11-25T15:30:00Z',
    last_run_at: '2025-11-25T15:30:00Z', total_runs: 5 };
  const entry = { conversation_id: 'conv-001', ...of, started_at: '2025-11-25T10:00:00Z',
    completed_at: '2025-11-25T10:02:30Z', user_message: 'Create a chart showing sales data',
    final_response: "I've created a chart showing your sales data...", messages,
    stop_reason: 'end_turn', total_steps: 3, usage: { input_tokens: 1500, output_tokens: 800,
      cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    generated_files: [{ file_id: 'file_abc123', filename: 'sales_chart.png', step: 2 }],
    cost: { total_cost: 0.02607, model_id: 'claude-sonnet-4-5', currency: 'USD' },
    extras: { credits_used: 42 }, sequence_number: 1, created_at: '2025-11-25T10:02:30Z' };
  const steps = [
    { log_id: 1, ...of, timestamp: '2025-11-25T10:00:00.000Z', step_number: 0,
      action_type: 'run_started', action_data: { user_message: 'Create a chart showing sales data',
        queue_present: true, formatter: 'xml' } },
    { log_id: 2, ...of, timestamp: '2025-11-25T10:00:00.125Z', step_number: 0,
      action_type: 'memory_retrieval', action_data: { memories_found: 3, memories_injected: 2,
        memory_store_type: 'placeholder' }, messages_count: 3, estimated_tokens: 450,
      duration_ms: 125 },
    { log_id: 25, ...of, timestamp: '2025-11-25T10:02:30.500Z', step_number: 3,
      action_type: 'run_completed', action_data: { stop_reason: 'end_turn', total_steps: 3,
        total_input_tokens: 1500, total_output_tokens: 800, files_generated: 1 },
      duration_ms: 150500 }];
  const write = (text, ...name) => {
    mkdirSync(join(place, ...name.slice(0, -1)), { recursive: true });
    writeFileSync(join(place, ...name), text);
  };
  write(JSON.stringify(config, null, 2), 'agent_config', `${agent}.json`);
  write(JSON.stringify(entry, null, 2), 'conversation_history', agent, '001.json');
  write('{"last_sequence": 1, "total_conversations": 1}', 'conversation_history', agent,
    'index.json');
  write(steps.map((step) => `${JSON.stringify(step)}\n`).join(''), 'agent_runs', agent,
    'run-001.jsonl');
  return { agent, config, entry, steps, write };
}

test('the files of the schema\'s own example are imported', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const place = newPlace(t);
  const { agent, config, entry, steps } = writeExample(place);
  const report = await cli.json('import', '--layout', 'files', place, '--json');
  const { [agent]: thread, 'run-001': run } = idsOf(report);
  const resumption = expectStatus(await server.open.get(`/v1/threads/${thread}/resumption`), 200);
  for (const name of ['system_prompt', 'messages', 'server_tools', 'file_registry', 'title',
    'base_delay', 'extras', 'last_known_input_tokens'])
    assert.deepEqual(resumption[name], config[name], name);
  const kept = expectStatus(await server.open.get(`/v1/threads/${thread}/history/1`), 200);
  for (const name of ['user_message', 'final_response', 'messages', 'stop_reason',
    'generated_files', 'extras', 'sequence_number', 'usage'])
    assert.deepEqual(kept[name], entry[name], name);
  assert.equal(kept.run_id, run);
  for (const name of ['started_at', 'completed_at'])
    assert.equal(Date.parse(kept[name]), Date.parse(entry[name]), name);
  assert.equal(resumption.total_runs, 5);
  assert.deepEqual(server.rows('SELECT total_runs FROM agent_config')
    .map((row) => Number(row.total_runs)), [5]);
  assert.equal(Date.parse(resumption.last_run_at), Date.parse(entry.started_at));
  const found = expectStatus(await server.open.get(`/v1/threads/by-key/${agent}`), 200);
  assert.equal(found.id, thread);
  const logged = expectStatus(await server.open.get(`/v1/runs/${run}/steps`), 200).data;
  assert.deepEqual(logged.map((step) => [step.action_type, step.action_data, step.duration_ms]),
    steps.map((step) => [step.action_type, step.action_data, step.duration_ms ?? null]));
  assert.ok(logged.every((step) => !step.lifecycle), 'the file has the start and the end');
  assert.equal(Date.parse(logged[1].timestamp), Date.parse(steps[1].timestamp));
  const said = expectStatus(await server.open.get(`/v1/threads/${thread}/messages?after=0`), 200);
  assert.deepEqual(said.data.map((m) => [m.sender_role, m.content]),
    [['user', entry.user_message], ['assistant', entry.final_response]]);
});

test('Cairn logs what the log of a run leaves out', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const place = newPlace(t);
  const { agent, entry, steps, write } = writeExample(place);
  const [started, memory, completed] = steps;
  const cases = [[[memory], ['run_started*', 'memory_retrieval', 'run_completed*']],
    [[started, memory], ['run_started', 'memory_retrieval', 'run_completed*']],
    [[memory, completed], ['run_started*', 'memory_retrieval', 'run_completed']],
    [[{ ...started, lifecycle: true }, started, memory, { ...completed, lifecycle: true }],
      ['run_started*', 'run_started', 'memory_retrieval', 'run_completed*']]];
  for (const [i, [logged]] of cases.entries()) {
    const run_id = `run-00${i + 1}`;
    write(JSON.stringify({ ...entry, run_id, sequence_number: i + 1 }), 'conversation_history',
      agent, `00${i + 1}.json`);
    write(logged.map((step) => `${JSON.stringify({ ...step, run_id })}\n`).join(''), 'agent_runs',
      agent, `${run_id}.jsonl`);
  }
  const ids = idsOf(await cli.json('import', '--layout', 'files', place, '--json'));
  for (const [i, [, expected]] of cases.entries()) {
    const { data } = expectStatus(
      await server.open.get(`/v1/runs/${ids[`run-00${i + 1}`]}/steps`), 200);
    assert.deepEqual(data.map((s) => s.action_type + (s.lifecycle ? '*' : '')), expected);
    const times = { 'run_started*': entry.started_at, run_started: started.timestamp,
      memory_retrieval: memory.timestamp, run_completed: completed.timestamp,
      'run_completed*': entry.completed_at };
    assert.deepEqual(data.map((s) => Date.parse(s.timestamp)),
      expected.map((type) => Date.parse(times[type])), expected.join());
  }
});

test('a child has the times of its steps, and a key that is taken stays where it is', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const place = newPlace(t);
  const { agent, entry, steps, write } = writeExample(place);
  const at = (n) => `2025-11-25T10:01:0${n}.250000Z`;
  write([3, 5].map((n) => `${JSON.stringify({ ...steps[1], run_id: 'run-child',
    timestamp: at(n) })}\n`).join(''), 'agent_runs', agent, 'run-child.jsonl');
  write(JSON.stringify({ ...entry, run_id: 'run-002', sequence_number: 2, completed_at: null }),
    'conversation_history', agent, '002.json');
  const taken = expectStatus(await server.open.post('/v1/threads', { key: agent }), 201).id;
  const report = await cli.json('import', '--layout', 'files', place, '--json');
  assert.equal(report.threads[0].key_dropped, true);
  const { [agent]: thread, 'run-child': child, 'run-001': run, 'run-002': second } = idsOf(report);
  const read = async (path) => expectStatus(await server.open.get(path), 200);
  assert.equal((await read(`/v1/threads/by-key/${agent}`)).id, taken);
  const { key, metadata } = await read(`/v1/threads/${thread}`);
  assert.deepEqual([key, metadata], [null, { imported_from: agent }]);
  const made = await read(`/v1/runs/${child}`);
  assert.deepEqual([made.parent_run_id, made.started_at, made.finished_at], [run, at(3), at(5)]);
  // Without its end, an entry has that of the import.
  const open = await read(`/v1/runs/${second}`);
  assert.equal(Date.parse(open.started_at), Date.parse(entry.started_at));
  assert.ok(Date.parse(open.finished_at) > Date.parse(entry.completed_at));
});

test('a tree with a mistake is refused whole, by file, line and rule', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const entries = 'conversation_history/abc-123-def-456';
  const runs = 'agent_runs/abc-123-def-456';
  for (const [name, text, rule] of [
    ['agent_config/abc-123-def-456.json', '{', /is not JSON/],
    ['agent_config/abc-123-def-456.json', '[]', /is not a JSON object/],
    ['agent_config/abc-123-def-456.json', '{"agent_uuid": "x"}', /another agent_uuid/],
    ['agent_config/readme.txt', 'hello', /is not a file of an agent/],
    [`${entries}/003.json`, '{}', /002\.json is missing/],
    [`${entries}/notes.json`, '{}', /is not named by a number/],
    [`${entries}/001.json`, '{"agent_uuid": "abc-123-def-456"}', /has no run_id/],
    [`${entries}/001.json`, '{"agent_uuid": "abc-123-def-456", "started_at": "yesterday"}',
      /001\.json has a started_at that is not an RFC 3339 time/],
    [`${entries}/001.json`, '{"agent_uuid": "abc-123-def-456", "completed_at": "2025-11-25"}',
      /has a completed_at that is not an RFC 3339 time/],
    [`${entries}/001.json`, '{"agent_uuid": "abc-123-def-456", ' +
      '"started_at": "2025-11-25T10:00:01Z", "completed_at": "2025-11-25T10:00:00Z"}',
    /has a completed_at before its started_at/],
    [`${runs}/run-001.jsonl`, '{"run_id": "run-001"}\n', /line 1, has another agent_uuid/],
    [`${runs}/run-001.jsonl`, '\n{"run_id": 7}\n', /line 2, has another run_id/],
    [`${runs}/run-001.jsonl`,
      '{"run_id": "run-001", "agent_uuid": "abc-123-def-456"}\n', /has no action_type/],
    [`${runs}/run-001.log`, '', /is not a file of a run/],
    ['thesis.txt', 'years of work', /contains another file/],
  ]) {
    const place = newPlace(t);
    writeExample(place).write(text, ...name.split('/'));
    await cli.refused(1, rule, 'import', '--layout', 'files', place);
  }
  assert.deepEqual(expectStatus(await server.open.get('/v1/threads'), 200).data, []);

  // A fault that only the server can detect: no part of that thread counts as imported.
  const place = newPlace(t);
  const { steps, agent, write } = writeExample(place);
  write(`${JSON.stringify({ ...steps[0], action_type: 'dance' })}\n`, 'agent_runs', agent,
    'run-001.jsonl');
  await cli.refused(1, /was not imported/, 'import', '--layout', 'files', place);
  write(steps.map((step) => `${JSON.stringify(step)}\n`).join(''), 'agent_runs', agent,
    'run-001.jsonl');
  await cli.json('import', '--layout', 'files', place, '--json');
  assert.equal(expectStatus(await server.open.get('/v1/threads'), 200).data.length, 1);
  await cli.refused(2, /--ids keep is for archives/, 'import', '--layout', 'files', place,
    '--ids', 'keep');
  await cli.refused(1, /cannot read/, 'import', '--layout', 'files', join(place, 'nowhere'));
});
