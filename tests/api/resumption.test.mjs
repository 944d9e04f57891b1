// What an engine needs to go on with a thread, and the tools that its runs wait for.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectFault, expectProblem, expectStatus, readAll, startServer, uuid } from
  './lib/server.mjs';

const NEW = { headers: { 'If-None-Match': '*' } };
const ANY = { headers: { 'If-Match': '*' } };
const at = (version) => ({ headers: { 'If-Match': `"${version}"` } });
const JSON_PATCH = 'application/json-patch+json';
const newThread = async (client) =>
  expectStatus(await client.post('/v1/threads', { title: 'one' }), 201).id;
const LEAST = { system_prompt: 'You help.', model: 'claude-sonnet-4-5' };

/** What was said, n messages of it. */
const said = (n, from = 0) => Array.from({ length: n }, (_, i) =>
  ({ role: (from + i) % 2 ? 'assistant' : 'user', content: `message ${from + i}` }));

const read = async (client, thread) =>
  expectStatus(await client.get(`/v1/threads/${thread}/resumption`), 200);

test('the resumption of a thread', async (t) => {
  const { open } = await startServer(t);

  await t.test('has every member, with the defaults of what was left out', async () => {
    const thread = await newThread(open);
    const path = `/v1/threads/${thread}/resumption`;
    expectProblem(await open.get(path), 404, 'not_found');
    const made = await open.put(path, LEAST, NEW);
    expectStatus(made, 201);
    assert.equal(made.headers.get('ETag'), '"1"');
    const { created_at: created, updated_at: updated, ...rest } = await read(open, thread);
    assert.equal(created, updated);
    assert.deepEqual(rest, {
      thread_id: thread, agent_uuid: thread, agent_id: null, ...LEAST, max_steps: 50,
      thinking_tokens: 0, max_tokens: 2048, container_id: null, messages: [], tool_schemas: [],
      server_tools: [], beta_headers: [], api_kwargs: {}, formatter: null,
      stream_meta_history_and_tool_results: false, compactor_type: null, memory_store_type: null,
      file_registry: {}, extras: {}, max_retries: 5, base_delay: 1, last_known_input_tokens: 0,
      last_known_output_tokens: 0, current_step: 0, conversation_history: [], title: 'one',
      tool_names: [], pending_frontend_tools: [], pending_backend_results: [],
      awaiting_frontend_tools: false, last_run_at: null, total_runs: 0, version: 1,
    });
    const told = (await readAll(open, `/v1/threads/${thread}/events`)).at(-1);
    assert.deepEqual([told.kind, told.payload], ['resumption.updated', { version: 1 }]);
  });

  await t.test('keeps all that an engine writes', async () => {
    const thread = await newThread(open);
    const path = `/v1/threads/${thread}/resumption`;
    const body = {
      ...LEAST, max_steps: 10, thinking_tokens: 1024, max_tokens: 4096,
      container_id: 'container_xyz789', messages: said(3),
      tool_schemas: [{ name: 'web_search', description: 'Searches', input_schema: { a: 1 } },
        { name: 'calculator', input_schema: {}, cache_control: { type: 'ephemeral' } }],
      server_tools: [{ type: 'code_execution_20250825' }],
      beta_headers: ['code-execution-2025-08-25'], api_kwargs: { temperature: 0.7, top_p: 0.9 },
      formatter: 'xml', stream_meta_history_and_tool_results: true,
      compactor_type: 'ToolResultRemovalCompactor', memory_store_type: 'PlaceholderMemoryStore',
      file_registry: { file_abc123: { filename: 'chart.png', size: 45231 } },
      extras: { user_id: 'user_123' }, max_retries: 0, base_delay: 0.125,
      last_known_input_tokens: 12345, last_known_output_tokens: 678, current_step: 4,
      conversation_history: said(5), title: 'Python Function for List Sorting',
    };
    expectStatus(await open.put(path, body, NEW), 201);
    const now = await read(open, thread);
    for (const [name, value] of Object.entries(body)) assert.deepEqual(now[name], value, name);
    assert.deepEqual(now.tool_names, ['web_search', 'calculator']);
    assert.equal(expectStatus(await open.get(`/v1/threads/${thread}`), 200).title, body.title);

    const second = expectStatus(await open.put(path, LEAST, at(1)), 200);
    assert.equal(second.messages, undefined, 'a write is answered without the lists');
    const left = await read(open, thread);
    assert.deepEqual([left.messages, left.conversation_history, left.title, left.max_steps,
      left.extras, left.version], [said(3), said(5), body.title, 50, {}, 2]);
  });

  await t.test('is changed by who has seen it', async () => {
    const thread = await newThread(open);
    const path = `/v1/threads/${thread}/resumption`;
    expectProblem(await open.put(path, LEAST), 428, 'precondition_required');
    expectProblem(await open.patch(path, {}, ANY), 404, 'not_found');
    expectStatus(await open.put(path, { ...LEAST, messages: said(4), extras: { a: 1 } }, NEW), 201);
    expectProblem(await open.put(path, LEAST, NEW), 412, 'stale_etag');
    expectProblem(await open.patch(path, { max_steps: 3 }), 428, 'precondition_required');
    expectProblem(await open.patch(path, { max_steps: 3 }, at(7)), 412, 'stale_etag');
    const merged = expectStatus(await open.patch(path,
      { max_steps: null, extras: { b: 2 }, current_step: 9 }, at(1)), 200);
    assert.deepEqual([merged.max_steps, merged.extras, merged.current_step, merged.version],
      [50, { a: 1, b: 2 }, 9, 2]);
    assert.deepEqual((await read(open, thread)).messages, said(4), 'nobody touched them');
    expectStatus(await open.patch(path, [{ op: 'remove', path: '/messages/0' },
      { op: 'add', path: '/messages/-', value: { role: 'user', content: 'new' } }],
    { ...at(2), type: JSON_PATCH }), 200);
    assert.deepEqual((await read(open, thread)).messages,
      [...said(3, 1), { role: 'user', content: 'new' }]);
    expectStatus(await open.patch(path, { messages: null, title: null }, at(3)), 200);
    const now = await read(open, thread);
    assert.deepEqual([now.messages, now.title, now.version], [[], null, 4]);
  });

  await t.test('grows by appends', async () => {
    const thread = await newThread(open);
    const path = `/v1/threads/${thread}/resumption`;
    expectProblem(await open.post(`${path}/messages`, { append: said(1) }), 404, 'not_found');
    expectStatus(await open.put(path, LEAST, NEW), 201);
    for (let i = 0; i < 6; i++)
      expectStatus(await open.post(`${path}/messages`,
        { append: said(2, 2 * i), append_history: said(1, i) }), 200);
    const now = await read(open, thread);
    assert.deepEqual([now.messages, now.conversation_history, now.version],
      [said(12), said(6), 7]);
    expectProblem(await open.post(`${path}/messages`, { append: said(1) }, at(3)),
      412, 'stale_etag');
    expectFault(await open.post(`${path}/messages`, {}), 422, 'invalid_input', '/append', /given/);
    expectFault(await open.post(`${path}/messages`, { append: [{ role: 'user' }, { role: 1 }] }),
      422, 'invalid_input', '/append/1', /role/);
    assert.deepEqual(await read(open, thread), now);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) =>
      open.post(`${path}/messages`, { append: said(1, i) })));
    for (const answer of answers) expectStatus(answer, 200);
    assert.equal((await read(open, thread)).messages.length, 22, 'none is lost');
  });

  await t.test('refuses what breaks a rule, with its place', async () => {
    const thread = await newThread(open);
    const path = `/v1/threads/${thread}/resumption`;
    const tool = { name: 'a', input_schema: {} };
    const refuse = async (body, pointer, rule) => expectFault(
      await open.put(path, { ...LEAST, ...body }, NEW), 422, 'invalid_input', pointer, rule);
    await refuse({ tool_schemas: [tool, tool] }, '/tool_schemas/1/name', /tool 0/);
    await refuse({ tool_schemas: [{ name: 'a' }] }, '/tool_schemas/0/input_schema', /object/);
    await refuse({ tool_schemas: [{ ...tool, name: '' }] }, '/tool_schemas/0/name', /1 to 128/);
    await refuse({ tool_schemas: [{ ...tool, description: 1 }] }, '/tool_schemas/0/description',
      /text/);
    await refuse({ tool_schemas: [1] }, '/tool_schemas/0', /object/);
    await refuse({ beta_headers: ['a', 1] }, '/beta_headers/1', /text/);
    await refuse({ server_tools: ['a'] }, '/server_tools/0', /object/);
    await refuse({ file_registry: { 'a/b': {} } }, '/file_registry/a~1b', /filename/);
    await refuse({ file_registry: [] }, '/file_registry', /object/);
    await refuse({ base_delay: 0.0001 }, '/base_delay', /milliseconds/);
    await refuse({ base_delay: 3601 }, '/base_delay', /3600/);
    await refuse({ base_delay: -1 }, '/base_delay', /least 0/);
    await refuse({ max_steps: 0 }, '/max_steps', /1/);
    await refuse({ messages: [{}] }, '/messages/0', /role/);
    await refuse({ conversation_history: 'x' }, '/conversation_history', /array/);
    await refuse({ tool_names: [] }, '/tool_names', /./);
    await refuse({ awaiting_frontend_tools: true }, '/awaiting_frontend_tools', /./);
    await refuse({ title: 'x'.repeat(1001) }, '/title', /1000/);
    expectFault(await open.put(path, { model: 'm' }, NEW), 422, 'invalid_input', '/system_prompt',
      /must be given/);
    expectFault(await open.put(path, { system_prompt: '' }, NEW), 422, 'invalid_input', '/model',
      /must be given/);
    expectProblem(await open.get(path), 404, 'not_found');
    expectProblem(await open.get(`/v1/threads/${uuid()}/resumption`), 404, 'not_found');
  });

  await t.test('counts the runs of the thread', async () => {
    const thread = await newThread(open);
    expectStatus(await open.put(`/v1/threads/${thread}/resumption`, LEAST, NEW), 201);
    const run = expectStatus(
      await open.post(`/v1/threads/${thread}/runs`, { dispatch: 'direct' }), 201);
    expectStatus(await open.post(`/v1/threads/${thread}/runs`,
      { dispatch: 'direct', parent_run_id: run.id }), 201);
    const now = await read(open, thread);
    assert.deepEqual([now.total_runs, now.last_run_at], [1, run.started_at]);
  });
});
