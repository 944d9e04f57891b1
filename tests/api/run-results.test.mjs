// SPDX-License-Identifier: Apache-2.0
// The end of a run and its result in one call: content, messages, usage, files, extras and the
// message for the context of the thread; runs that are recorded after they have ended.
import assert from 'node:assert/strict';
import test from 'node:test';
import { claim, expectFault, expectProblem, expectStatus, readAll, startServer, twoTenants,
  withKey } from './lib/server.mjs';

const MODEL = 'claude-sonnet-4-5';
const PRICE = { input: 3, output: 15, cache_write: 3.75, cache_read: 0.3 };
const MESSAGES = [{ role: 'user', content: 'Sales?' }, { role: 'assistant', content: 'Up 4 %.' }];
const FILES = [{ file_id: 'f1', filename: 'sales.png', step: 2 }];
const RESULT = { content: 'Up 4 %.', messages: MESSAGES, generated_files: FILES,
  usage: { input_tokens: 1500, output_tokens: 800 }, extras: { credits_used: 42 } };

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201).id;
const start = async (client, thread, body = {}) => expectStatus(
  await client.post(`/v1/threads/${thread}/runs`, { dispatch: 'direct', ...body }), 201);
const get = async (client, path) => expectStatus(await client.get(path), 200);
const entries = async (client, thread) =>
  (await get(client, `/v1/threads/${thread}/history?include=messages`)).data;
const said = async (client, thread) =>
  (await get(client, `/v1/threads/${thread}/messages?after=0`)).data;
const events = (client, thread) => readAll(client, `/v1/threads/${thread}/events`);
const refused = (answer, pointer, rule) =>
  expectFault(answer, 422, 'invalid_input', pointer, rule);
/** Everything that a call could change. */
const stateOf = async (client, thread, run) => ({
  run: await get(client, `/v1/runs/${run}?include=messages`),
  usage: await get(client, `/v1/runs/${run}/usage`),
  thread: await get(client, `/v1/threads/${thread}`),
  history: await entries(client, thread),
  said: await said(client, thread),
  events: await events(client, thread),
});

test('lists of runs show the messages of each run', async (t) => {
  const { open } = await startServer(t);
  const agent = expectStatus(await open.post('/v1/agents', { name: 'a' }), 201).id;
  const said = (text) => [{ role: 'user', content: text }];
  const fill = async (name, body) => {
    const thread = await newThread(open);
    const root = await start(open, thread, body);
    const child = await start(open, thread, { parent_run_id: root.id, status: 'completed',
      messages: said(`${name}: child`), generated_files: FILES, ...body });
    const logged = await start(open, thread, { parent_run_id: root.id, ...body });
    expectStatus(await open.post(`/v1/runs/${logged.id}/steps`,
      { action_type: 'compaction', messages_snapshot: said(`${name}: logged`) }), 201);
    expectStatus(await open.patch(`/v1/runs/${root.id}`,
      { status: 'completed', messages: said(`${name}: root`), extras: { n: 1 } }), 200);
    const recorded = await start(open, thread,
      { status: 'failed', messages: said(`${name}: recorded`), ...body });
    const silent = await start(open, thread, body);
    return { thread, runs: [silent, recorded, logged, child, root].map((run) => run.id) };
  };
  const mine = await fill('mine', { agent_id: agent });
  const other = await fill('other', {});
  const pages = async (path) => {
    const found = [];
    for (let cursor = ''; cursor !== null;) {
      const page = await get(open, `${path}?include=messages&limit=2${cursor}`);
      found.push(...page.data);
      cursor = page.has_more ? `&cursor=${page.next_cursor}` : null;
    }
    return found;
  };
  for (const [path, places] of [[`/v1/threads/${mine.thread}/runs`, [mine]],
    [`/v1/threads/${other.thread}/runs`, [other]], [`/v1/agents/${agent}/runs`, [mine]],
    ['/v1/runs', [other, mine]]]) {
    const found = await pages(path);
    assert.deepEqual(found.map((run) => run.id), places.flatMap((place) => place.runs), path);
    for (const run of found)
      assert.deepEqual(run, await get(open, `/v1/runs/${run.id}?include=messages`));
  }
  const [, ...texts] = (await pages(`/v1/threads/${mine.thread}/runs`)).map((r) => r.messages);
  assert.deepEqual(texts.map(([message]) => message.content),
    ['mine: recorded', 'mine: logged', 'mine: child', 'mine: root']);
  const [whole] = (await get(open, `/v1/threads/${mine.thread}/runs?include=documents`)).data;
  assert.deepEqual([whole.messages, whole.extras], [undefined, undefined]);

  // A page ends with the run whose messages exceed its bytes.
  const thread = await newThread(open);
  for (let i = 0; i < 5; i++)
    await start(open, thread, { status: 'completed', messages: said(`${i}`.repeat(1.6e6)) });
  const page = await get(open, `/v1/threads/${thread}/runs?include=messages`);
  assert.deepEqual([page.data.length, page.has_more], [3, true]);
  const rest = await get(open,
    `/v1/threads/${thread}/runs?include=messages&cursor=${page.next_cursor}`);
  assert.deepEqual(rest.data.map((run) => run.messages[0].content[0]), ['1', '0']);
});

test('the result of a run', async (t) => {
  const { open } = await startServer(t);
  expectStatus(await open.put(`/v1/prices/${MODEL}`, PRICE), 201);

  await t.test('finishing a run is one call', async () => {
    const thread = await newThread(open);
    const run = await start(open, thread, { user_input: 'Sales?', model: MODEL });
    const done = expectStatus(await open.patch(`/v1/runs/${run.id}`,
      { status: 'completed', stop_reason: 'end_turn', append: true, ...RESULT }), 200);
    assert.equal(done.status, 'completed');
    assert.equal(done.history_sequence, 1);
    assert.deepEqual(done.generated_files, FILES);
    assert.deepEqual(done.extras, { credits_used: 42 });
    assert.equal(done.total_usage.input_tokens, 1500);
    assert.equal(done.total_usage.llm_calls, 1);
    assert.equal(done.messages, undefined, 'the messages may be large');

    const [entry, ...others] = await entries(open, thread);
    assert.deepEqual(others, []);
    assert.equal(entry.run_id, run.id);
    assert.equal(entry.final_response, 'Up 4 %.');
    assert.equal(entry.stop_reason, 'end_turn');
    assert.deepEqual(entry.messages, MESSAGES);
    assert.deepEqual(entry.generated_files, FILES);
    assert.deepEqual(entry.extras, { credits_used: 42 });
    assert.deepEqual(entry.usage, { input_tokens: 1500, output_tokens: 800,
      cache_creation_input_tokens: 0, cache_read_input_tokens: 0 });
    assert.equal(entry.cost.total_cost, 0.0165);

    const { context } = await get(open, `/v1/threads/${thread}`);
    assert.deepEqual(context, { meta: { next_seq: 2 },
      tail: [{ seq: 1, role: 'assistant', content: 'Up 4 %.' }] });
    const read = await get(open, `/v1/runs/${run.id}`);
    assert.equal(read.history_sequence, 1);
    assert.deepEqual(read.extras, { credits_used: 42 });
    assert.equal(read.messages, undefined);
    assert.deepEqual((await get(open, `/v1/runs/${run.id}?include=messages`)).messages, MESSAGES);
  });

  await t.test('a finished run can be written back as it was read', async () => {
    const thread = await newThread(open);
    const parent = await start(open, thread, { user_input: 'Sales?' });
    const child = await start(open, thread, { parent_run_id: parent.id });
    const other = [{ role: 'user', content: 'Costs?' }];
    for (const { id } of [child, parent]) {
      expectStatus(await open.patch(`/v1/runs/${id}`, { status: 'completed', ...RESULT,
        extras: { credits_used: 1.5, deep: [{ a: null }] } }), 200);
      for (const query of ['', '?include=messages']) {
        const { body } = await open.get(`/v1/runs/${id}${query}`);
        const { version, updated_at: _, ...after } = expectStatus(
          await open.patch(`/v1/runs/${id}`, { ...body, metadata: { seen: query } }), 200);
        const { version: old, updated_at: __, messages, ...before } = body;
        assert.deepEqual({ ...after, metadata: {} }, { ...before, metadata: {} });
        assert.ok(version > old);
        assert.deepEqual(messages, query === '' ? undefined : MESSAGES);
      }
      for (const changed of [{ messages: other }, { extras: {} }, { generated_files: [] },
        { extras: { credits_used: 1.5 }, generated_files: FILES }])
        expectProblem(await open.patch(`/v1/runs/${id}`, changed), 409, 'conflict');
    }
    assert.equal((await get(open, `/v1/runs/${parent.id}`)).total_usage.llm_calls, 2);
  });

  await t.test('without a result, the messages of a run are those of its newest step', async () => {
    const thread = await newThread(open);
    const messagesOf = async (id) => (await get(open, `/v1/runs/${id}?include=messages`)).messages;
    const [one, two] = [await start(open, thread), await start(open, await newThread(open))];
    const log = async (id, list) => expectStatus(await open.post(`/v1/runs/${id}/steps`,
      { action_type: 'api_response_received', ...(list && { messages_snapshot: list }) }), 201);
    assert.deepEqual(await messagesOf(one.id), []);
    await log(one.id, MESSAGES.slice(0, 1));
    await log(one.id, MESSAGES);
    await log(one.id);
    await log(two.id, [{ role: 'user', content: 'other' }]);
    assert.deepEqual(await messagesOf(one.id), MESSAGES);
    const child = await start(open, thread, { parent_run_id: one.id });
    await log(child.id, MESSAGES.slice(1));
    expectStatus(await open.patch(`/v1/runs/${child.id}`, { status: 'completed' }), 200);
    assert.deepEqual(await messagesOf(child.id), MESSAGES.slice(1));
    // As it was read it can be written back.
    const { body } = await open.get(`/v1/runs/${child.id}?include=messages`);
    expectStatus(await open.patch(`/v1/runs/${child.id}`, body), 200);
    const told = [{ role: 'assistant', content: 'told at the end' }];
    expectStatus(await open.patch(`/v1/runs/${one.id}`, { status: 'completed', messages: told }),
      200);
    assert.deepEqual(await messagesOf(one.id), told);
  });

  await t.test('a run that is reported later keeps its times', async () => {
    const thread = await newThread(open);
    const times = { started_at: '2025-11-25T10:00:00.000001Z',
      finished_at: '2025-11-25T10:02:30.5Z' };
    const shown = { ...times, finished_at: '2025-11-25T10:02:30.500000Z' };
    const timesOf = ({ started_at, finished_at }) => ({ started_at, finished_at });
    const first = await start(open, thread);
    const path = `/v1/runs/${first.id}`;
    for (const [body, pointer, rule] of [
      [times, '/started_at', /only in the call that ends the run/],
      [{ finished_at: times.finished_at }, '/finished_at', /only in the call that ends/],
      [{ status: 'completed', finished_at: times.finished_at }, '/finished_at',
        /must not be before the start of the run/],
      [{ status: 'completed', started_at: times.finished_at, finished_at: times.started_at },
        '/finished_at', /must not be before the start of the run/],
      [{ status: 'completed', finished_at: '2999-01-01T00:00:00Z' }, '/finished_at', /future/],
      [{ status: 'completed', started_at: '2999-01-01T00:00:00Z' }, '/started_at', /future/],
    ])
      refused(await open.patch(path, body), pointer, rule);
    const child = await start(open, thread, { parent_run_id: first.id });
    for (const { id } of [child, first])
      assert.deepEqual(timesOf(expectStatus(await open.patch(`/v1/runs/${id}`,
        { status: 'failed', ...times }), 200)), shown);
    const recorded = await start(open, thread, { status: 'completed', ...times });
    assert.deepEqual(timesOf(recorded), shown);
    const same = { status: 'completed', started_at: times.started_at,
      finished_at: times.started_at };
    assert.deepEqual(timesOf(await start(open, thread, same)),
      { started_at: times.started_at, finished_at: times.started_at });
    refused(await open.post(`/v1/threads/${thread}/runs`,
      { status: 'completed', finished_at: times.finished_at }), '/finished_at', /before the start/);
    refused(await open.post(`/v1/threads/${thread}/runs`, times), '/status', /completed, failed/);
    assert.deepEqual((await entries(open, thread)).map((e) => [e.started_at, e.completed_at]),
      [[times.started_at, times.started_at], ...[1, 2].map(() => Object.values(shown))]);

    // One that never started gets no start, unless the call names it.
    const other = await newThread(open);
    for (const [body, expected] of [[{ finished_at: times.finished_at },
      { started_at: null, finished_at: shown.finished_at }], [times, shown]]) {
      const queued = expectStatus(await open.post(`/v1/threads/${other}/runs`, {}), 201);
      assert.deepEqual(timesOf(expectStatus(await open.patch(`/v1/runs/${queued.id}`,
        { status: 'cancelled', ...body }), 200)), expected);
    }
    // As they were read they may be sent again; others come too late.
    expectStatus(await open.patch(path, { ...shown, metadata: { a: 1 } }), 200);
    expectProblem(await open.patch(path, { started_at: times.finished_at }), 409, 'conflict');
  });

  await t.test('a child has its result itself, and its parent counts the usage', async () => {
    const thread = await newThread(open);
    const parent = await start(open, thread, { model: MODEL });
    const child = await start(open, thread, { parent_run_id: parent.id, model: MODEL });
    const done = expectStatus(await open.patch(`/v1/runs/${child.id}`,
      { status: 'completed', append: 'The researcher found it.', ...RESULT }), 200);
    assert.equal(done.history_sequence, undefined, 'only runs without parent have an entry');
    assert.deepEqual(done.generated_files, FILES);
    const read = await get(open, `/v1/runs/${child.id}?include=messages`);
    assert.deepEqual(read.messages, MESSAGES);
    assert.deepEqual(read.extras, { credits_used: 42 });
    const above = await get(open, `/v1/runs/${parent.id}`);
    assert.equal(above.usage.input_tokens, 0);
    assert.equal(above.total_usage.input_tokens, 1500);
    assert.deepEqual(await entries(open, thread), []);
    const { context } = await get(open, `/v1/threads/${thread}`);
    assert.equal(context.tail[0].content, 'The researcher found it.');
    const next = expectStatus(await open.patch(`/v1/runs/${parent.id}`, { status: 'completed',
      append: { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] } }), 200);
    assert.equal(next.history_sequence, 1);
    assert.deepEqual((await get(open, `/v1/threads/${thread}`)).context.tail[1],
      { seq: 2, role: 'assistant', content: [{ type: 'text', text: 'Done.' }] });
  });

  await t.test('messages of several megabytes are stored whole', async () => {
    const thread = await newThread(open);
    const messages = Array.from({ length: 80 },
      (_, i) => ({ role: 'user', content: `${i}`.padEnd(100000, 'x') }));
    const run = await start(open, thread);
    expectStatus(await open.patch(`/v1/runs/${run.id}`, { status: 'completed', messages }), 200);
    const read = await get(open, `/v1/runs/${run.id}?include=messages`);
    assert.deepEqual(read.messages, messages);
    const recorded = expectStatus(await open.post(`/v1/threads/${thread}/runs`,
      { status: 'completed', messages }), 201);
    assert.equal(recorded.history_sequence, 2);
    assert.deepEqual((await entries(open, thread))[0].messages, messages);
    refused(await open.post(`/v1/threads/${thread}/runs`,
      { status: 'completed', messages: [...messages, ...messages.slice(0, 4)] }),
    '/messages', /8387584 bytes/);
  });

  await t.test('the messages of a run are those of its history', async () => {
    const thread = await newThread(open);
    const run = await start(open, thread);
    assert.deepEqual((await get(open, `/v1/runs/${run.id}?include=messages`)).messages, []);
    expectStatus(await open.patch(`/v1/runs/${run.id}`, { status: 'failed' }), 200);
    expectStatus(await open.patch(`/v1/threads/${thread}/history/1`, { messages: MESSAGES }), 200);
    assert.deepEqual((await get(open, `/v1/runs/${run.id}?include=messages`)).messages, MESSAGES);
  });

  await t.test('a call that is rejected changes nothing', async () => {
    const thread = await newThread(open, { context: { tail: ['x'.repeat(1000000)] } });
    const run = await start(open, thread, { model: MODEL });
    const before = await stateOf(open, thread, run.id);
    const end = (more) =>
      open.patch(`/v1/runs/${run.id}`, { status: 'completed', ...RESULT, ...more });
    for (const [more, pointer, rule] of [
      [{ messages: [{ content: 'no role' }] }, '/messages/0', /role/],
      [{ messages: {} }, '/messages', /array/],
      [{ generated_files: [{ filename: 'x' }] }, '/generated_files/0', /file_id/],
      [{ usage: { input_tokens: 1 } }, '/usage/output_tokens', /given/],
      [{ usage: { input_tokens: -1, output_tokens: 1 } }, '/usage/input_tokens', /0/],
      [{ extras: [] }, '/extras', /object/],
      [{ append: 5 }, '/append', /true, a text, or a message/],
      [{ append: {} }, '/append/content', /must be given/],
      [{ append: { content: 5 } }, '/append/content', /string or a list/],
      [{ append: { role: 'user', content: 'x' } }, '/append/role', /assistant/],
      [{ append: { content: 'x', name: 'y' } }, '/append', /role and content/],
      [{ append: true, content: null }, '/append', /content/],
      [{ append: 'y'.repeat(100000) }, '/append', /too long/],
      [{ reply: 'text' }, '/reply', /true or false|bool/],
      [{ reply: true, append: 'y'.repeat(100000) }, '/append', /too long/],
      [{ reply: true, content: null, messages: MESSAGES.slice(0, 1) }, '/reply', /an answer/],
    ])
      refused(await end(more), pointer, rule);
    assert.deepEqual(await stateOf(open, thread, run.id), before);
    for (const [member, value] of Object.entries({ ...RESULT, append: 'x', reply: true }))
      if (member !== 'content')
        refused(await open.patch(`/v1/runs/${run.id}`, { [member]: value }), `/${member}`,
          /only in the call that ends the run/);
    assert.deepEqual(await stateOf(open, thread, run.id), before);
    expectStatus(await end({}), 200);
    const after = await stateOf(open, thread, run.id);
    expectProblem(await end({}), 409, 'conflict');
    for (const again of [{ append: 'again' }, { reply: true }])
      expectProblem(await open.patch(`/v1/runs/${run.id}`, again), 409, 'conflict');
    assert.deepEqual(await stateOf(open, thread, run.id), after, 'a repeated call counts nothing');
  });

  await t.test('If-Match is that of the run, and the lease is needed', async () => {
    const thread = await newThread(open);
    expectStatus(await open.post(`/v1/threads/${thread}/runs`, {}), 201);
    const run = await claim(open, { thread_id: thread });
    const end = { status: 'completed', append: 'x', ...RESULT };
    expectProblem(await open.patch(`/v1/runs/${run.id}`, end), 409, 'lease_required');
    const headers = { 'Cairn-Fencing-Token': String(run.fence), 'If-Match': '"99"' };
    expectProblem(await open.patch(`/v1/runs/${run.id}`, end, { headers }), 412, 'stale_etag');
    headers['If-Match'] = `"${run.version}"`;
    expectStatus(await open.patch(`/v1/runs/${run.id}`, end, { headers }), 200);
  });

  await t.test('a finished run is recorded in one call', async () => {
    const thread = await newThread(open);
    const run = expectStatus(await open.post(`/v1/threads/${thread}/runs`, { user_input: 'Sales?',
      model: MODEL, status: 'completed', append: true, ...RESULT }), 201);
    assert.equal(run.status, 'completed');
    assert.equal(run.dispatch, 'direct');
    expectProblem(await open.post('/v1/threads/019a8c5e-4f10-7b3a-9d2c-5e6f7a8b9c0d/runs',
      { status: 'completed', ...RESULT }), 404, 'not_found');
    assert.equal(run.history_sequence, 1);
    assert.ok(run.started_at <= run.finished_at);
    const [entry] = await entries(open, thread);
    assert.equal(entry.user_message, 'Sales?');
    assert.deepEqual(entry.messages, MESSAGES);
    assert.equal(entry.cost.total_cost, 0.0165);
    const child = await start(open, thread);
    expectStatus(await open.post(`/v1/threads/${thread}/runs`,
      { parent_run_id: child.id, status: 'completed', content: 'found' }), 201);
    const { member_responses: [member] } =
      await get(open, `/v1/runs/${child.id}?include=member_responses`);
    assert.equal(member.content, 'found');
  });

  await t.test('an archive has the result of a child', async () => {
    const thread = await newThread(open);
    const parent = await start(open, thread);
    expectStatus(await open.post(`/v1/threads/${thread}/runs`,
      { parent_run_id: parent.id, status: 'completed', ...RESULT }), 201);
    const { bytes: raw } = await open.get(`/v1/threads/${thread}/export`);
    const made = expectStatus(await open.post('/v1/imports?ids=remap', undefined,
      { raw, type: 'application/x-tar' }), 201);
    const { data } = await get(open, `/v1/threads/${made.objects[0].to}/runs`);
    const child = data.find((run) => run.parent_run_id !== null);
    const read = await get(open, `/v1/runs/${child.id}?include=messages`);
    assert.deepEqual(read.messages, MESSAGES);
    assert.deepEqual(read.generated_files, FILES);
    assert.deepEqual(read.extras, RESULT.extras);
  });

  await t.test('a run of an agent is recorded in one call', async () => {
    const agent = expectStatus(await open.post('/v1/agents', { name: 'analyst' }), 201);
    const run = expectStatus(await open.post(`/v1/agents/${agent.id}/runs`,
      { input: { message: 'Sales?' }, status: 'failed', error: { code: 'timeout' } }), 201);
    assert.equal(run.status, 'failed');
    assert.deepEqual(run.error, { code: 'timeout' });
    assert.equal(run.history_sequence, 1);
  });

  await t.test('only a finished run is recorded, and only if it may start', async () => {
    const thread = await newThread(open, { run_policy: 'enqueue' });
    const record = (body) => open.post(`/v1/threads/${thread}/runs`, body);
    refused(await record({ status: 'running' }), '/status', /completed, failed or cancelled/);
    refused(await record({ content: 'x' }), '/status', /completed, failed or cancelled/);
    refused(await record({ extras: {} }), '/status', /completed, failed or cancelled/);
    refused(await record({ status: 'completed', dispatch: 'queue' }), '/dispatch', /direct/);
    const active = await start(open, thread);
    expectProblem(await record({ status: 'completed' }), 409, 'run_active');
    assert.equal((await get(open, `/v1/threads/${thread}/runs`)).data.length, 1);
    expectStatus(await open.patch(`/v1/runs/${active.id}`, { status: 'completed' }), 200);
    assert.equal(expectStatus(await record({ status: 'cancelled' }), 201).history_sequence, 2);
  });
});

test('runs:write creates the messages of a run, and no others', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const worker = await withKey(operator, ['runs:write']);
  const thread = await newThread(operator);
  const { id } = await start(worker, thread, { user_input: 'Sales?' });
  const end = { status: 'completed', content: 'Up.', reply: true, append: true };
  expectStatus(await worker.patch(`/v1/runs/${id}`, end), 200);
  await start(worker, thread, { user_input: 'Costs?', ...end, content: 'Down.' });
  const messages = await said(operator, thread);
  assert.deepEqual(messages.map((m) => [m.sender_role, m.content]), [['user', 'Sales?'],
    ['assistant', 'Up.'], ['user', 'Costs?'], ['assistant', 'Down.']]);
  const { context } = await get(operator, `/v1/threads/${thread}`);
  assert.equal(JSON.stringify(context).match(/Up[.]|Down[.]/g).length, 2);
  const path = `/v1/threads/${thread}/messages`;
  const own = `${path}/${messages[1].id}`;
  for (const answer of [await worker.post(path, { content: 'x', run_id: id }),
    await worker.patch(own, { content: 'x' }, { headers: { 'If-Match': '*' } }),
    await worker.del(own)])
    assert.match(expectProblem(answer, 403, 'forbidden').detail, /messages:write/);
  assert.deepEqual(await said(operator, thread), messages);
});

test('the reply of a run', async (t) => {
  const { open } = await startServer(t);
  const spoken = async (thread) => (await said(open, thread))
    .map((m) => [m.sender_role, m.sender_id, m.content, m.run_id]);
  const agent = expectStatus(await open.post('/v1/agents', { name: 'analyst' }), 201).id;
  const asAgent = { headers: { 'Cairn-Principal': `agent:${agent}` } };
  const finish = (run, body, options) => open.patch(`/v1/runs/${run.id}`,
    { status: 'completed', reply: true, ...body }, options);

  await t.test('is a message of the assistant, before the event of the end', async () => {
    const thread = await newThread(open);
    const run = await start(open, thread, { user_input: 'Sales?' });
    expectStatus(await finish(run, { content: '**Up**', content_type: 'text/markdown' }), 200);
    assert.deepEqual(await spoken(thread),
      [['user', null, 'Sales?', run.id], ['assistant', null, '**Up**', run.id]]);
    const [, reply] = await said(open, thread);
    assert.deepEqual([reply.type, reply.content_type], ['chat', 'text/markdown']);
    const kinds = (await events(open, thread)).map((e) => e.kind);
    assert.ok(kinds.lastIndexOf('message.created') < kinds.indexOf('final'), kinds.join());
    const { data: [found] } = await get(open, `/v1/threads/${thread}/messages/search?q=up`);
    assert.equal(found.id, reply.id);
    assert.deepEqual(
      (await get(open, `/v1/threads/${thread}/messages?run_id=${run.id}`)).data.length, 2);
  });

  await t.test('is a run recorded in one call, a failed one and that of a child', async () => {
    const thread = await newThread(open);
    const run = await start(open, thread,
      { user_input: 'Sales?', status: 'completed', reply: true, ...RESULT });
    const quiet = await start(open, thread,
      { user_input: 'Costs?', message: false, status: 'failed', reply: true, content: 'Sorry.' });
    const parent = await start(open, thread);
    const child = await start(open, thread, { parent_run_id: parent.id, user_input: 'Look!' });
    expectStatus(await finish(child, { content: 'found' }), 200);
    expectStatus(await finish(parent, { reply: false, content: 'unsaid' }), 200);
    const ofAgent = expectStatus(await open.post(`/v1/agents/${agent}/runs`, { thread_id: thread,
      input: { message: 'And?' }, status: 'completed', content: 'Up.', reply: true }), 201);
    assert.deepEqual(await spoken(thread), [['user', null, 'Sales?', run.id],
      ['assistant', null, 'Up 4 %.', run.id], ['assistant', null, 'Sorry.', quiet.id],
      ['assistant', null, 'found', child.id], ['user', null, 'And?', ofAgent.run_id],
      ['assistant', null, 'Up.', ofAgent.run_id]]);
  });

  await t.test('is the content, a text of the output, or the last text of the model', async () => {
    const blocks = [{ type: 'text', text: 'one' }, { type: 'tool_use', id: 't', name: 'n' },
      { type: 'text', text: 'two' }];
    for (const [body, text, type] of [
      [{ content: 'a', final_output: { text: 'b' }, messages: MESSAGES }, 'a', 'text/plain'],
      [{ content: 'a', content_type: 'str' }, 'a', 'text/plain'],
      [{ content: '', final_output: { answer: 'b' }, messages: MESSAGES }, 'b', 'text/plain'],
      [{ final_output: 'b', content_type: 'text/html' }, 'b', 'text/plain'],
      [{ final_output: { rows: [] }, messages: MESSAGES }, 'Up 4 %.', 'text/plain'],
      [{ messages: [{ role: 'assistant', content: blocks }] }, 'one\ntwo', 'text/plain'],
    ]) {
      const thread = await newThread(open);
      const run = await start(open, thread);
      expectStatus(await finish(run, body), 200);
      const [reply] = await said(open, thread);
      assert.deepEqual([reply.content, reply.content_type], [text, type]);
    }
    const thread = await newThread(open);
    const run = await start(open, thread);
    const before = await stateOf(open, thread, run.id);
    const long = 'x'.repeat(1024 * 1024 + 1);
    for (const [body, rule] of [[{}, /an answer/], [{ content: '' }, /an answer/],
      [{ final_output: { rows: [] }, messages: [] }, /an answer/],
      [{ messages: [{ role: 'assistant', content: long }] }, /1048576 bytes/]])
      refused(await finish(run, body), '/reply', rule);
    refused(await open.post(`/v1/threads/${thread}/runs`, { status: 'completed', reply: true,
      policy: 'interrupt' }), '/reply', /an answer/);
    refused(await open.post(`/v1/threads/${thread}/runs`, { content: 'x', reply: true }),
      '/status', /completed, failed or cancelled/);
    assert.deepEqual(await stateOf(open, thread, run.id), before);
  });

  await t.test('is sent by the agent of the run, if it takes part', async () => {
    const thread = await newThread(open);
    const alone = await start(open, thread, { agent_id: agent });
    expectStatus(await finish(alone, { content: 'not yet' }, asAgent), 200);
    const { id } = expectStatus(await open.post(`/v1/threads/${thread}/participants`,
      { principal: `agent:${agent}`, role: 'assistant' }), 201);
    for (const options of [undefined, asAgent])
      expectStatus(await finish(await start(open, thread, { agent_id: agent }),
        { content: 'mine' }, options), 200);
    expectStatus(await open.post(`/v1/threads/${thread}/participants`,
      { principal: 'user:anna', role: 'user' }), 201);
    const run = await start(open, thread, { agent_id: agent });
    const before = await stateOf(open, thread, run.id);
    expectProblem(await finish(run, { content: 'forged' },
      { headers: { 'Cairn-Principal': 'user:anna' } }), 403, 'forbidden');
    assert.deepEqual(await stateOf(open, thread, run.id), before);
    assert.deepEqual((await spoken(thread)).map(([role, sender, text]) => [role, sender, text]),
      [['assistant', null, 'not yet'], ['assistant', id, 'mine'], ['assistant', id, 'mine']]);
  });

  await t.test('is created once, however often the call is sent', async () => {
    const thread = await newThread(open);
    const run = await start(open, thread);
    const options = { headers: { 'Idempotency-Key': `reply-${run.id}` } };
    const record = { status: 'completed', content: 'once', reply: true };
    expectStatus(await finish(run, { content: 'first' }), 200);
    expectProblem(await finish(run, { content: 'first' }), 409, 'conflict');
    const recorded = [];
    for (let i = 0; i < 2; i++)
      recorded.push(expectStatus(
        await open.post(`/v1/threads/${thread}/runs`, record, options), 201).id);
    assert.equal(recorded[0], recorded[1]);
    assert.deepEqual((await spoken(thread)).map((m) => m[2]), ['first', 'once']);
  });

  await t.test('is in an archive', async () => {
    const thread = await newThread(open);
    await start(open, thread,
      { user_input: 'Sales?', status: 'completed', reply: true, ...RESULT });
    const { bytes: raw } = await open.get(`/v1/threads/${thread}/export`);
    const made = expectStatus(await open.post('/v1/imports?ids=remap', undefined,
      { raw, type: 'application/x-tar' }), 201);
    assert.deepEqual((await said(open, made.objects[0].to)).map((m) => [m.sender_role, m.content]),
      [['user', 'Sales?'], ['assistant', 'Up 4 %.']]);
  });
});
