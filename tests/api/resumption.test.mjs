// SPDX-License-Identifier: Apache-2.0
// The data an engine needs to resume a thread, and the tools that its runs wait for.
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

/** A conversation of n messages. */
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

  await t.test('is written back by a principal that may not see the prompt', async () => {
    const agent = expectStatus(await open.post('/v1/agents', { name: uuid(),
      system_prompt: 'of the agent', granted_to: ['user:*'] }), 201).id;
    const thread = await newThread(open);
    const path = `/v1/threads/${thread}/resumption`;
    expectStatus(await open.post(`/v1/threads/${thread}/participants`,
      { principal: 'user:ann' }), 201);
    expectStatus(await open.post(`/v1/threads/${thread}/runs`, { agent_id: agent }), 201);
    expectStatus(await open.put(path, LEAST, NEW), 201);
    const as = { 'Cairn-Principal': 'user:ann', 'If-Match': '*' };
    const { body } = await open.get(path, { headers: as });
    assert.equal(body.system_prompt, null);
    const { system_prompt: _, ...without } = body;
    for (const sent of [body, { ...without, version: 2 }]) {
      const { updated_at: __, ...same } = sent; // of the first write
      expectStatus(await open.put(path, same, { headers: as }), 200);
      assert.equal((await read(open, thread)).system_prompt, LEAST.system_prompt);
    }
    expectStatus(await open.put(path, { ...LEAST, system_prompt: 'theirs' }, { headers: as }), 200);
    assert.equal((await read(open, thread)).system_prompt, 'theirs');
  });

  await t.test('counts the runs from before Cairn', async () => {
    const [thread, other] = [await newThread(open), await newThread(open)];
    const path = `/v1/threads/${thread}/resumption`;
    const total = async (of) => (await read(open, of)).total_runs;
    const runIn = async (of) => expectStatus(await open.post(`/v1/threads/${of}/runs`,
      { dispatch: 'direct', status: 'completed' }), 201);
    await runIn(thread);
    expectStatus(await open.put(`/v1/threads/${other}/resumption`, LEAST, NEW), 201);
    assert.equal(expectStatus(await open.put(path, { ...LEAST, total_runs: 5 }, NEW), 201)
      .total_runs, 5);
    await runIn(thread);
    assert.equal(await total(thread), 6);
    const any = { headers: { 'If-Match': '*' } };
    // The number that was read before the last run.
    expectStatus(await open.put(path, { ...LEAST, total_runs: 5 }, any), 200);
    assert.equal(await total(thread), 6);
    expectStatus(await open.put(path, LEAST, any), 200);
    assert.equal(await total(thread), 6);
    expectStatus(await open.patch(path, { total_runs: 9 }, any), 200);
    expectStatus(await open.patch(path, { total_runs: 1, model: 'n' }, any), 200);
    assert.deepEqual([await total(thread), await total(other)], [9, 0]);
    expectFault(await open.patch(path, { total_runs: -1 }, any), 422, 'invalid_input',
      '/total_runs', /0/);
    const made = expectStatus(await open.post('/v1/imports?ids=remap', undefined, {
      raw: (await open.get(`/v1/threads/${thread}/export`)).bytes,
      type: 'application/x-tar' }), 201);
    assert.equal(await total(made.objects.at(-1).to), 9);
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

    const delay = await open.patch(path, { base_delay: 0.1 + 0.2 }, at(1));
    assert.equal(expectStatus(delay, 200).base_delay, 0.3, 'rounded to milliseconds');
    const second = expectStatus(await open.put(path, LEAST, at(2)), 200);
    assert.equal(second.messages, undefined, 'a write is answered without the lists');
    const left = await read(open, thread);
    assert.deepEqual([left.messages, left.conversation_history, left.title, left.max_steps,
      left.extras, left.version], [said(3), said(5), body.title, 50, {}, 3]);
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
      /string/);
    await refuse({ tool_schemas: [1] }, '/tool_schemas/0', /object/);
    await refuse({ beta_headers: ['a', 1] }, '/beta_headers/1', /string/);
    await refuse({ server_tools: ['a'] }, '/server_tools/0', /object/);
    await refuse({ file_registry: { 'a/b': {} } }, '/file_registry/a~1b', /filename/);
    await refuse({ file_registry: [] }, '/file_registry', /object/);
    await refuse({ base_delay: 3600.0005 }, '/base_delay', /3600/);
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

// --- Tools -----------------------------------------------------------------------------------

const confirm = (id, side = 'frontend') =>
  ({ tool_use_id: id, name: 'user_confirm', input: { message: `${id}?` }, side });
const result = (id, content = `of ${id}`) => ({ tool_use_id: id, content });

/** A run that works on a thread of its own, under no lease. */
async function working(client) {
  const thread = await newThread(client);
  return expectStatus(
    await client.post(`/v1/threads/${thread}/runs`, { dispatch: 'direct' }), 201);
}
const readRun = async (client, run) => expectStatus(await client.get(`/v1/runs/${run.id}`), 200);
const wait = async (client, run, tools, more = {}) =>
  expectStatus(await client.post(`/v1/runs/${run.id}/tools`, { tools, ...more }), 200);
const give = async (client, run, ...results) =>
  expectStatus(await client.post(`/v1/runs/${run.id}/tool-results`, { results }), 200);
const toolsOf = async (client, run, query = '') =>
  expectStatus(await client.get(`/v1/runs/${run.id}/tools?${query}`), 200).data;
const eventsOf = async (client, run) =>
  (await readAll(client, `/v1/threads/${run.thread_id}/events`));

test('a run waits for its tools', async (t) => {
  const { open } = await startServer(t);

  await t.test('and goes on with the last result, in whatever order they come', async () => {
    const run = await working(open);
    expectStatus(await open.put(`/v1/threads/${run.thread_id}/resumption`, LEAST, NEW), 201);
    const stopped = await wait(open, run, [confirm('toolu_1'), confirm('toolu_2', 'backend'),
      confirm('toolu_3')], { current_step: 3, messages: said(4),
      backend_results: [{ type: 'tool_result', tool_use_id: 'toolu_0', content: [{ a: 1 }] }] });
    assert.deepEqual(stopped, { run_id: run.id, status: 'waiting_for_input',
      phase: 'awaiting_tool', remaining: 3 });
    const place = await read(open, run.thread_id);
    assert.deepEqual([place.current_step, place.messages, place.awaiting_frontend_tools,
      place.pending_frontend_tools, place.pending_backend_results], [3, said(4), true,
      ['toolu_1', 'toolu_3'].map((id) =>
        ({ tool_use_id: id, name: 'user_confirm', input: { message: `${id}?` } })),
      [{ type: 'tool_result', tool_use_id: 'toolu_0', content: [{ a: 1 }], is_error: false }]]);

    const first = await give(open, run, result('toolu_3'));
    assert.deepEqual(first, { run_id: run.id, status: 'waiting_for_input',
      phase: 'awaiting_tool', remaining: 2, resumed: false, accepted: ['toolu_3'],
      duplicates: [] });
    assert.deepEqual((await toolsOf(open, run, 'open=true')).map((x) => x.tool_use_id),
      ['toolu_1', 'toolu_2']);
    const again = await give(open, run, result('toolu_3', 'other'), result('toolu_1', null));
    assert.deepEqual([again.accepted, again.duplicates, again.remaining],
      [['toolu_1'], ['toolu_3'], 1]);
    const last = await give(open, run, { ...result('toolu_2'), is_error: true });
    assert.deepEqual([last.resumed, last.remaining, last.status], [true, 0, 'running']);
    const now = await readRun(open, run);
    assert.deepEqual(now.input, { tool_results: [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: null, is_error: false },
      { type: 'tool_result', tool_use_id: 'toolu_2', content: 'of toolu_2', is_error: true },
      { type: 'tool_result', tool_use_id: 'toolu_3', content: 'of toolu_3', is_error: false },
      { type: 'tool_result', tool_use_id: 'toolu_0', content: [{ a: 1 }], is_error: false },
    ] });
    const after = await read(open, run.thread_id);
    assert.deepEqual([after.awaiting_frontend_tools, after.pending_frontend_tools,
      after.pending_backend_results], [false, [], []]);
    const all = await eventsOf(open, run);
    assert.deepEqual(all.filter((e) => e.kind === 'run.phase').map((e) => e.payload), [
      { from: 'created', to: 'awaiting_tool', trigger: 'tool_call' },
      { from: 'awaiting_tool', to: 'executing', trigger: 'tool_result' },
    ]);
    const told = all.filter((e) => e.kind.startsWith('tool.'));
    assert.deepEqual(told.map((e) => [e.kind, e.payload]), [
      ['tool.awaited', { tools: [
        { tool_use_id: 'toolu_1', name: 'user_confirm', side: 'frontend' },
        { tool_use_id: 'toolu_2', name: 'user_confirm', side: 'backend' },
        { tool_use_id: 'toolu_3', name: 'user_confirm', side: 'frontend' }] }],
      ['tool.result', { tool_use_id: 'toolu_3', remaining: 2 }],
      ['tool.result', { tool_use_id: 'toolu_1', remaining: 1 }],
      ['tool.result', { tool_use_id: 'toolu_2', remaining: 0 }],
    ]);
    const late = await give(open, run, result('toolu_2', 'late'));
    assert.deepEqual([late.resumed, late.duplicates], [false, ['toolu_2']]);
    assert.deepEqual((await readRun(open, run)).input, now.input, 'the first result stays');
  });

  await t.test('and those that it went on without are pending no more', async () => {
    const run = await working(open);
    const pending = async () => {
      const place = await read(open, run.thread_id);
      return [place.awaiting_frontend_tools,
        place.pending_frontend_tools.map((x) => x.tool_use_id)];
    };
    expectStatus(await open.put(`/v1/threads/${run.thread_id}/resumption`, LEAST, NEW), 201);
    await wait(open, run, [confirm('left')]);
    expectStatus(await open.patch(`/v1/runs/${run.id}`, { status: 'paused' }), 200);
    assert.deepEqual(await pending(), [true, ['left']], 'a pause by hand changes nothing of it');
    expectStatus(await open.patch(`/v1/runs/${run.id}`, { status: 'waiting_for_input' }), 200);
    expectStatus(await open.patch(`/v1/runs/${run.id}`, { status: 'running' }), 200);
    assert.deepEqual(await pending(), [false, []]);
    await wait(open, run, [confirm('next')]);
    assert.deepEqual(await pending(), [true, ['next']]);
    await give(open, run, result('next'));
    assert.deepEqual(await pending(), [false, []]);
  });

  await t.test('and the tools of another thread or run are not among them', async () => {
    const runs = [await working(open), await working(open)];
    for (const run of runs) {
      expectStatus(await open.put(`/v1/threads/${run.thread_id}/resumption`, LEAST, NEW), 201);
      await wait(open, run, [confirm('same'), confirm(`of ${run.id}`.replace(' ', '-'))],
        { backend_results: [result(`done-${run.id}`)] });
    }
    for (const run of runs) {
      const place = await read(open, run.thread_id);
      assert.deepEqual(place.pending_frontend_tools.map((x) => x.tool_use_id),
        ['same', `of-${run.id}`]);
      assert.deepEqual(place.pending_backend_results.map((x) => x.tool_use_id),
        [`done-${run.id}`]);
    }
    await give(open, runs[0], result('same'), result(`of-${runs[0].id}`));
    assert.deepEqual((await readRun(open, runs[0])).input.tool_results.map((x) => x.tool_use_id),
      ['same', `of-${runs[0].id}`, `done-${runs[0].id}`]);
    assert.equal((await readRun(open, runs[1])).status, 'waiting_for_input');
    assert.equal((await read(open, runs[1].thread_id)).pending_frontend_tools.length, 2);
  });

  await t.test('twice, and each pause has tools of its own', async () => {
    const run = await working(open);
    await wait(open, run, [confirm('a')]);
    expectProblem(await open.post(`/v1/runs/${run.id}/tools`, { tools: [confirm('b')] }),
      409, 'conflict');
    await give(open, run, result('a'));
    await wait(open, run, [confirm('b'), confirm('c')]);
    const both = await give(open, run, result('c'), result('b'), result('c'));
    assert.deepEqual([both.resumed, both.accepted, both.duplicates], [true, ['c', 'b'], ['c']]);
    const { input } = await readRun(open, run);
    assert.deepEqual(input.tool_results.map((r) => r.tool_use_id), ['b', 'c']);
    const all = await toolsOf(open, run);
    assert.deepEqual(all.map((x) => [x.tool_use_id, x.pause, x.content]),
      [['a', 1, 'of a'], ['b', 2, 'of b'], ['c', 2, 'of c']]);
    const page = expectStatus(await open.get(`/v1/runs/${run.id}/tools?limit=2`), 200);
    assert.deepEqual([page.data.length, page.has_more], [2, true]);
    assert.deepEqual((await toolsOf(open, run, `cursor=${page.next_cursor}`))
      .map((x) => x.tool_use_id), ['c']);
    expectProblem(await open.get(`/v1/runs/${run.id}/tools?cursor=eA`), 400, 'invalid_cursor');
  });

  await t.test('an unknown tool refuses the whole request', async () => {
    const run = await working(open);
    await wait(open, run, [confirm('a'), confirm('b')]);
    const before = await eventsOf(open, run);
    expectFault(await open.post(`/v1/runs/${run.id}/tool-results`,
      { results: [result('a'), result('nobody')] }), 422, 'invalid_input',
    '/results/1/tool_use_id', /a tool that the run waits for/);
    assert.deepEqual((await toolsOf(open, run)).map((x) => x.result_at), [null, null]);
    assert.deepEqual(await eventsOf(open, run), before);
    expectProblem(await open.post(`/v1/runs/${uuid()}/tool-results`, { results: [result('a')] }),
      404, 'not_found');
  });

  await t.test('results after the end are refused, and input in their place', async () => {
    const run = await working(open);
    await wait(open, run, [confirm('a'), confirm('b')]);
    expectProblem(await open.post(`/v1/runs/${run.id}/input`, { input: 'yes' }), 409, 'conflict');
    await give(open, run, result('a'));
    expectStatus(await open.post(`/v1/runs/${run.id}/cancel`, {}), 200);
    expectProblem(await open.post(`/v1/runs/${run.id}/tool-results`, { results: [result('b')] }),
      409, 'conflict');
    const again = await give(open, run, result('a'));
    assert.deepEqual([again.duplicates, again.resumed, again.status], [['a'], false, 'cancelled']);
    assert.equal((await toolsOf(open, run))[1].result_at, null);
  });

  await t.test('what breaks a rule is refused with its place, and the run works on', async () => {
    const run = await working(open);
    const refuse = async (body, pointer, rule) => expectFault(
      await open.post(`/v1/runs/${run.id}/tools`, body), 422, 'invalid_input', pointer, rule);
    await refuse({ tools: [] }, '/tools', /1/);
    await refuse({ tools: [confirm('a'), confirm('a')] }, '/tools/1/tool_use_id', /tools\/0/);
    await refuse({ tools: [confirm('a b')] }, '/tools/0/tool_use_id', /visible/);
    await refuse({ tools: [{ ...confirm('a'), name: 'é' }] }, '/tools/0/name', /visible/);
    await refuse({ tools: [confirm('a', 'nowhere')] }, '/tools/0/side', /one of/);
    await refuse({ tools: [{ ...confirm('a'), input: [] }] }, '/tools/0/input', /object/);
    await refuse({ tools: [confirm('a')], backend_results: [result('a')] },
      '/backend_results/0/tool_use_id', /tools\/0/);
    await refuse({ tools: [confirm('a')], backend_results: [{ tool_use_id: 'b' }] },
      '/backend_results/0/content', /given/);
    await refuse({ tools: [confirm('a')], messages: said(1) }, '/messages', /resumption/);
    await refuse({ tools: [confirm('a')], current_step: 1 }, '/current_step', /resumption/);
    expectStatus(await open.put(`/v1/threads/${run.thread_id}/resumption`, LEAST, NEW), 201);
    await refuse({ tools: [confirm('a')], messages: [...said(1), {}] }, '/messages/1', /role/);
    await refuse({ tools: [confirm('a')], messages: {} }, '/messages', /array/);
    assert.deepEqual((await read(open, run.thread_id)).messages, []);
    await refuse({ tools: Array.from({ length: 5 }, (_, i) =>
      ({ ...confirm(`${i}`), input: { x: 'x'.repeat(250_000) } })) }, '/tools/4/input', /1048576/);
    assert.deepEqual(await toolsOf(open, run), []);
    assert.equal((await readRun(open, run)).status, 'running');
    await wait(open, run, [confirm('a'), confirm('b')]);
    await give(open, run, result('a', 'x'.repeat(700_000)));
    expectFault(await open.post(`/v1/runs/${run.id}/tool-results`,
      { results: [result('b', 'x'.repeat(100_000))] }), 422, 'invalid_input',
    '/results/0/content', /786432/);
    assert.equal((await give(open, run, result('b'))).resumed, true);
    await refuse({ tools: [confirm('b')] }, '/tools/0/tool_use_id', /before/);
  });

  await t.test('from many clients at once, and goes on exactly once', async () => {
    const run = await working(open);
    const ids = Array.from({ length: 20 }, (_, i) => `toolu_${i}`);
    await wait(open, run, ids.map((id) => confirm(id)));
    const answers = await Promise.all([...ids, ...ids].map((id) =>
      open.post(`/v1/runs/${run.id}/tool-results`, { results: [result(id)] })));
    const bodies = answers.map((a) => expectStatus(a, 200));
    assert.equal(bodies.filter((b) => b.resumed).length, 1);
    assert.equal(bodies.flatMap((b) => b.accepted).length, 20);
    assert.equal(bodies.flatMap((b) => b.duplicates).length, 20);
    const told = await eventsOf(open, run);
    assert.deepEqual(told.filter((e) => e.kind === 'tool.result').map((e) => e.payload.remaining),
      Array.from({ length: 20 }, (_, i) => 19 - i));
    assert.equal(told.filter((e) => e.payload?.from === 'waiting_for_input').length, 1);
    assert.equal(told.filter((e) => e.payload?.trigger === 'tool_result').length, 1);
    assert.deepEqual((await readRun(open, run)).input.tool_results.map((r) => r.tool_use_id), ids);
  });

  await t.test('a worker under a lease pauses it, and another may go on', async () => {
    const thread = await newThread(open);
    const queued = expectStatus(await open.post(`/v1/threads/${thread}/runs`, {}), 201);
    const claim = async () => expectStatus(
      await open.post('/v1/runs/claim', { worker: 'w', thread_id: thread }), 200);
    const { fence } = await claim();
    expectProblem(await open.post(`/v1/runs/${queued.id}/tools`, { tools: [confirm('a')] }),
      409, 'lease_required');
    expectStatus(await open.post(`/v1/runs/${queued.id}/tools`, { tools: [confirm('a')] },
      { headers: { 'Cairn-Fencing-Token': `${fence}` } }), 200);
    const paused = expectStatus(await open.post(`/v1/runs/${queued.id}/pause`, {}), 200);
    assert.equal(paused.status, 'paused');
    const done = await give(open, queued, result('a'));
    assert.deepEqual([done.resumed, done.status], [true, 'paused']);
    assert.equal(expectStatus(await open.post(`/v1/runs/${queued.id}/resume`, {}), 200).status,
      'queued');
    const next = await claim();
    assert.deepEqual(next.input.tool_results.map((r) => r.content), ['of a']);
  });
});
