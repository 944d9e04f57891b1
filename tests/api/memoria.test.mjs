// SPDX-License-Identifier: Apache-2.0
// The Memoria workflow system as its users live it, under its own names: routes, events, views.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ENGINE, expectFault, expectProblem, expectStatus, onPostgres, startServer, twoTenants,
  uuid, withKey } from './lib/server.mjs';
import { followWs } from './lib/followers.mjs';

/** A JSON column: JSONB is decoded, SQLite returns text. */
const json = (value) => (typeof value === 'string' ? JSON.parse(value) : value);

const texts = (events) => events.map((e) => e.text);

test('a Memoria conversation from start to its second run', async (t) => {
  const server = await startServer(t);
  const memoria = server.open;

  // A person asks; the engine that started the run works on it.
  const started = expectStatus(await memoria.post('/workflow/start', {
    user_input: 'Plan a trip to the Alps',
    ask_clarifications: true,
    preferences: { language: 'en' },
  }), 201);
  const { workflow_id: workflow, run_id: run } = started;
  assert.equal(started.status, 'active');
  assert.equal(started.run_status, 'running');

  // The client watches the progress over a WebSocket, from before the start.
  const watching = followWs(memoria, `/workflow/ws/${workflow}?cursor=${started.cursor}`);
  await watching.hears(2);
  const progress = (text, payload) => memoria.post(
    `/v1/threads/${workflow}/events`, { kind: 'progress', text, payload, run_id: run });
  expectStatus(await progress('Reading maps', { phase: 'research' }), 201);
  expectStatus(await progress('Comparing huts'), 201);
  await watching.hearsText('Comparing huts');
  assert.deepEqual(texts(watching.heard),
    ['thread is active', 'run is running', 'Reading maps', 'Comparing huts']);
  const map = watching.heard[2];
  assert.deepEqual(Object.keys(map).sort(),
    ['created_at', 'id', 'kind', 'payload', 'run_id', 'text', 'workflow_id']);
  assert.deepEqual([map.kind, map.workflow_id, map.run_id, map.payload],
    ['progress', workflow, run, { phase: 'research' }]);

  // The engine needs to know more.
  const question = { question: 'On foot or by train?' };
  expectStatus(await memoria.patch(`/v1/runs/${run}`,
    { status: 'waiting_for_input', state: { phase: 'ask', pending_input: question } }), 200);
  const asked = await watching.hearsText('run is waiting_for_input');
  assert.deepEqual(asked.payload.state.pending_input, question);

  // After the input the run continues; the question is removed from the state.
  const answered = expectStatus(
    await memoria.post(`/workflow/input/${workflow}`, { input: 'By train' }), 200);
  assert.equal(answered.run_status, 'running');
  const resumed = expectStatus(await memoria.get(`/v1/runs/${run}`), 200);
  assert.equal(resumed.input, 'By train');
  assert.deepEqual(resumed.state, { phase: 'ask' });
  await watching.until((heard) => heard.at(-1).payload?.reason === 'input');

  // The train enters a tunnel; the work continues unseen.
  const cursor = watching.heard.at(-1).id;
  watching.vanish();
  await watching.ended;
  expectStatus(await progress('Booking seats'), 201);

  // Back with the last cursor: what was missed, then live, nothing twice.
  const again = followWs(memoria, `/workflow/ws/${workflow}?cursor=${cursor}`);
  await again.hearsText('Booking seats');
  const answer = { text: 'Take the 8:02 to Chur.', sources: ['sbb'] };
  expectStatus(await memoria.patch(`/v1/runs/${run}`,
    { status: 'completed', final_output: answer }), 200);
  const final = await again.until((heard) => heard.find((e) => e.kind === 'final'));
  assert.deepEqual(final.payload.final_output, answer);
  assert.deepEqual(texts(again.heard), ['Booking seats', 'run is completed']);
  const seen = [...watching.heard, ...again.heard].map((e) => e.id);
  assert.deepEqual(seen, [...new Set(seen)].sort((a, b) => a - b));

  // A second turn of the same conversation.
  const second = expectStatus(await memoria.post('/workflow/start',
    { workflow_id: workflow, user_input: 'And the way back?' }), 201);
  assert.equal(second.workflow_id, workflow);
  assert.notEqual(second.run_id, run);
  const thread = expectStatus(await memoria.get(`/v1/threads/${workflow}`), 200);
  assert.equal(thread.most_recent_run_id, second.run_id);
  assert.deepEqual(thread.context, {
    meta: { next_seq: 3 },
    tail: [
      { seq: 1, role: 'user', content: 'Plan a trip to the Alps' },
      { seq: 2, role: 'user', content: 'And the way back?' },
    ],
  });
  assert.deepEqual(thread.preferences, { language: 'en' });
  await again.until((heard) => heard.at(-1).run_id === second.run_id);
  assert.equal((await memoria.get(`/v1/runs/${run}`)).body.status, 'completed');
});

test('pause, resume and cancel move the workflow and its run together', async (t) => {
  const server = await startServer(t);
  const memoria = server.open;
  const { workflow_id: id, run_id: run } = expectStatus(
    await memoria.post('/workflow/start', { user_input: 'Write a poem' }), 201);
  const watching = followWs(memoria, `/workflow/ws/${id}`);

  const paused = expectStatus(await memoria.post(`/workflow/pause/${id}`), 200);
  assert.deepEqual([paused.status, paused.run_status], ['paused', 'paused']);
  const refused = expectProblem(
    await memoria.post(`/workflow/pause/${id}`), 409, 'transition_refused');
  assert.equal(refused.from, 'paused');
  assert.deepEqual(refused.allowed, ['active', 'cancelled', 'error']);
  expectProblem(await memoria.post('/workflow/start', { workflow_id: id, user_input: 'x' }),
    409, 'conflict');

  const resumed = expectStatus(await memoria.post(`/workflow/resume/${id}`), 200);
  assert.deepEqual([resumed.status, resumed.run_status], ['active', 'running']);

  // A run that was paused at a question returns to the question.
  expectStatus(await memoria.patch(`/v1/runs/${run}`, { status: 'waiting_for_input' }), 200);
  expectStatus(await memoria.post(`/workflow/pause/${id}`), 200);
  const waiting = expectStatus(await memoria.post(`/workflow/resume/${id}`), 200);
  assert.equal(waiting.run_status, 'waiting_for_input');

  const cancelled = expectStatus(await memoria.post(`/workflow/cancel/${id}`), 200);
  assert.deepEqual([cancelled.status, cancelled.run_status], ['cancelled', 'cancelled']);
  expectProblem(await memoria.post(`/workflow/resume/${uuid()}`), 404, 'not_found');

  // A new start revives a cancelled conversation.
  const revived = expectStatus(
    await memoria.post('/workflow/start', { workflow_id: id, user_input: 'Again' }), 201);
  assert.deepEqual([revived.status, revived.run_status], ['active', 'running']);
  await watching.until((heard) => heard.at(-1).run_id === revived.run_id);
  assert.deepEqual(texts(watching.heard), [
    'thread is active', 'run is running',
    'thread is paused', 'run is paused',
    'thread is active', 'run is running',
    'run is waiting_for_input',
    'thread is paused', 'run is paused',
    'thread is active', 'run is waiting_for_input',
    'thread is cancelled', 'run is cancelled',
    'thread is active', 'run is running',
  ]);
});

const start = async (client, body = {}, opts = {}) =>
  expectStatus(await client.post('/workflow/start', { user_input: 'Go', ...body }, opts), 201);
const waits = async (client, run, question = 'Which?') => expectStatus(await client.patch(
  `/v1/runs/${run}`, { status: 'waiting_for_input', state: { pending_input: question } }), 200);
const child = async (client, { workflow_id, run_id }) => expectStatus(await client.post(
  `/v1/threads/${workflow_id}/runs`, { parent_run_id: run_id, dispatch: 'direct' }), 201).id;

test('start, input and GET return what an engine needs to continue', async (t) => {
  const { open: memoria } = await startServer(t);
  const first = await start(memoria, { user_input: 'Plan', preferences: { language: 'en' } });
  const { workflow_id: id, run_id: run } = first;
  const said = { seq: 1, role: 'user', content: 'Plan' };
  assert.deepEqual(first.context, { meta: { next_seq: 2 }, tail: [said] });
  assert.deepEqual([first.preferences, first.important_steps, first.error],
    [{ language: 'en' }, {}, null]);
  assert.equal(first.most_recent_run_id, run);
  const { created_at, updated_at, ...shown } = first.run;
  assert.deepEqual(shown, { id: run, workflow_id: id, parent_run_id: null, status: 'running',
    user_input: 'Plan', ask_clarifications: false, input: null, state: {}, final_output: null,
    error: null });
  assert.ok(created_at <= updated_at);
  const { cursor: before, ...started } = first;
  const { cursor: after, ...read } = expectStatus(await memoria.get(`/workflow/${id}`), 200);
  assert.deepEqual(read, started);
  assert.ok(after > before, 'a stream from the cursor of a GET begins after what it shows');
  const live = followWs(memoria, `/workflow/ws/${id}?cursor=${after}`);
  await live.opened;

  await memoria.patch(`/v1/threads/${id}`, { important_steps: [{ step: 'searched' }] });
  await waits(memoria, run, 'When?');
  assert.equal((await live.hears(1))[0].text, 'run is waiting_for_input');
  const asked = expectStatus(await memoria.get(`/workflow/${id}`), 200);
  assert.deepEqual([asked.run_status, asked.run.state], ['waiting_for_input',
    { pending_input: 'When?' }]);
  const answered = expectStatus(
    await memoria.post(`/workflow/input/${id}`, { input: { month: 5 } }), 200);
  assert.deepEqual([answered.important_steps, answered.context.tail, answered.preferences],
    [[{ step: 'searched' }], [said], { language: 'en' }]);
  assert.deepEqual([answered.run.input, answered.run.state], [{ month: 5 }, {}]);
  await memoria.patch(`/v1/runs/${run}`, { status: 'failed', error: { code: 'x' } });
  const ended = expectStatus(await memoria.get(`/workflow/${id}`), 200);
  assert.deepEqual([ended.run_id, ended.run_status, ended.run.error],
    [run, 'failed', { code: 'x' }]);

  const idle = expectStatus(await memoria.post('/v1/threads', { context: { a: 1 } }), 201);
  const none = expectStatus(await memoria.get(`/workflow/${idle.id}`), 200);
  assert.deepEqual([none.run, none.run_id, none.run_status, none.most_recent_run_id, none.context],
    [null, null, null, null, { a: 1 }]);
  expectProblem(await memoria.get(`/workflow/${uuid()}`), 404, 'not_found');
});

test('an answer has the run that was resumed, not the newest', async (t) => {
  const { open: memoria } = await startServer(t);
  const first = await start(memoria);
  const { workflow_id: id } = first;
  await waits(memoria, first.run_id);
  const second = await start(memoria, { workflow_id: id, policy: 'enqueue' });
  assert.deepEqual([second.run_id === first.run_id, second.run_status], [false, 'queued']);
  const current = async () => expectStatus(await memoria.get(`/workflow/${id}`), 200);
  assert.deepEqual([(await current()).run_id, (await current()).most_recent_run_id],
    [first.run_id, second.run_id]);
  const answered = expectStatus(await memoria.post(`/workflow/input/${id}`, { input: 'a' }), 200);
  assert.deepEqual([answered.run_id, answered.run.id, answered.run_status, answered.run.input],
    [first.run_id, first.run_id, 'running', 'a']);
  assert.equal((await current()).run_id, first.run_id);
  await memoria.patch(`/v1/runs/${first.run_id}`, { status: 'completed' });
  assert.deepEqual([(await current()).run_id, (await current()).run_status],
    [second.run_id, 'running']);
});

test('child runs that wait are answered, the newest first or by id', async (t) => {
  const { open: memoria } = await startServer(t);
  const top = await start(memoria);
  const other = await start(memoria);
  const { workflow_id: id } = top;
  const input = (body) => memoria.post(`/workflow/input/${id}`, body);
  const children = [];
  for (let i = 0; i < 3; i++) children.push(await child(memoria, top));
  for (const run of children) await waits(memoria, run, run);
  const newest = expectStatus(await memoria.get(`/workflow/${id}`), 200);
  assert.deepEqual([newest.run_id, newest.run.state.pending_input, newest.run.parent_run_id],
    [children[2], children[2], top.run_id]);
  const byId = expectStatus(await input({ input: 1, run_id: children[0] }), 200);
  assert.deepEqual([byId.run_id, byId.run.input, byId.run_status], [children[0], 1, 'running']);
  for (const run of [children[2], children[1]])
    assert.equal(expectStatus(await input({ input: 'x' }), 200).run_id, run);
  assert.match(expectProblem(await input({ input: 'x' }), 409, 'transition_refused').detail,
    /is not waiting/);
  assert.match(expectProblem(await input({ input: 1, run_id: children[0] }), 409,
    'transition_refused').detail, /is not waiting/);

  // A run that waits for tools takes no input, and does not hide one that waits for a person.
  await waits(memoria, children[0]);
  const tools = expectStatus(await memoria.post(`/v1/threads/${id}/runs`,
    { parent_run_id: top.run_id, dispatch: 'direct' }), 201).id;
  for (const to of ['initializing', 'planning', 'executing', 'awaiting_tool'])
    expectStatus(await memoria.post(`/v1/runs/${tools}/phase`, { to }), 200);
  assert.match(expectProblem(await input({ input: 1, run_id: tools }), 409, 'conflict').detail,
    /waits for tool results/);
  assert.equal(expectStatus(await input({ input: 2 }), 200).run_id, children[0]);
  assert.match(expectProblem(await input({ input: 3 }), 409, 'conflict').detail,
    /waits for tool results/);

  await waits(memoria, other.run_id);
  expectFault(await input({ input: 1, run_id: other.run_id }), 422, 'invalid_input', '/run_id',
    /a run of this thread/);
  expectFault(await input({ input: 1, run_id: uuid() }), 422, 'invalid_input', '/run_id');
});

test('a start applies its policy to the run that is active', async (t) => {
  const { open: memoria } = await startServer(t);
  const first = await start(memoria, { user_input: 'one', preferences: { n: 1 } });
  const { workflow_id: id } = first;
  const again = (policy, more = {}) => memoria.post('/workflow/start',
    { workflow_id: id, user_input: policy ?? 'none', policy, ...more });
  const statusOf = async (run) => (await memoria.get(`/v1/runs/${run}`)).body.status;
  for (const policy of ['reject', null, undefined])
    expectProblem(await again(policy), 409, 'run_active');
  expectFault(await again('ignore'), 422, 'invalid_input', '/policy');
  const waiting = expectStatus(await again('enqueue'), 201);
  assert.deepEqual([waiting.run_status, await statusOf(first.run_id)], ['queued', 'running']);
  const next = expectStatus(await again('interrupt', { preferences: { n: 2 } }), 201);
  assert.deepEqual([next.run_status, await statusOf(first.run_id), await statusOf(waiting.run_id)],
    ['running', 'cancelled', 'cancelled']);
  const tail = (workflow) => workflow.context.tail.map((m) => m.content);
  assert.deepEqual(tail(next), ['one', 'enqueue', 'interrupt']);
  // Rollback also removes what the cancelled run's start has written.
  const last = expectStatus(await again('rollback'), 201);
  assert.deepEqual(tail(last), ['one', 'enqueue', 'rollback']);
  assert.deepEqual([last.preferences, await statusOf(next.run_id)], [{ n: 1 }, 'cancelled']);
  await memoria.patch(`/v1/threads/${id}`, { run_policy: 'interrupt' });
  assert.equal(expectStatus(await again(null), 201).run_status, 'running');
  assert.equal(await statusOf(last.run_id), 'cancelled');
});

test('the documents of a workflow are for keys that may read threads', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const [writer, both, reader] = [await withKey(operator, ['runs:write']),
    await withKey(operator, ['runs:write', 'runs:read']),
    await withKey(operator, ['runs:write', 'runs:read', 'threads:read'])];
  const { workflow_id: id } = await start(operator, { preferences: { secret: 1 } });
  const names = (workflow) => ['context', 'preferences', 'important_steps', 'run'].filter((name) =>
    workflow[name] !== undefined);
  const all = names(expectStatus(await reader.get(`/workflow/${id}`), 200));
  assert.deepEqual(all, ['context', 'preferences', 'important_steps', 'run']);
  assert.deepEqual(names(expectStatus(await both.get(`/workflow/${id}`), 200)), ['run']);
  expectProblem(await writer.get(`/workflow/${id}`), 403, 'forbidden');
  const again = { workflow_id: id, policy: 'interrupt' };
  assert.deepEqual(names(await start(writer, again)), ['run'], 'a write returns what it created');
  assert.deepEqual(names(await start(writer)), all);
  for (const verb of ['pause', 'resume']) {
    assert.deepEqual(names(expectStatus(await writer.post(`/workflow/${verb}/${id}`), 200)), []);
    await operator.post(`/workflow/${verb === 'pause' ? 'resume' : 'pause'}/${id}`);
    assert.deepEqual(names(expectStatus(await both.post(`/workflow/${verb}/${id}`), 200)), ['run']);
    if (verb === 'pause') continue;
    await operator.post(`/workflow/pause/${id}`);
    assert.deepEqual(names(expectStatus(await reader.post(`/workflow/${verb}/${id}`), 200)), all);
  }

  // A kept answer is for keys that may read all of it.
  const once = { headers: { 'Idempotency-Key': uuid() } };
  const shown = await start(reader, again, once);
  assert.deepEqual(names(shown), all);
  const body = { user_input: 'Go', ...again };
  assert.deepEqual(expectStatus(await reader.post('/workflow/start', body, once), 201), shown);
  for (const [key, scope] of [[both, 'threads:read'], [writer, 'runs:read']])
    assert.match(expectProblem(await key.post('/workflow/start', body, once), 403, 'forbidden')
      .detail, new RegExp(`requires the scope ${scope}`));
  const plain = { headers: { 'Idempotency-Key': uuid() } };
  const made = await start(writer, again, plain);
  assert.deepEqual(expectStatus(await writer.post('/workflow/start', body, plain), 201), made);
});

test('a gap names the cursor up to which events were pruned', async (t) => {
  const { open: memoria } = await startServer(t);
  await start(memoria); // so that ids and numbers of events differ
  const { workflow_id: id, cursor: before } = await start(memoria);
  for (const text of ['one', 'two', 'three'])
    expectStatus(await memoria.post(`/v1/threads/${id}/events`, { kind: 'progress', text }), 201);
  const { data } = expectStatus(await memoria.get(`/v1/threads/${id}/events`), 200);
  const two = data.findIndex((e) => e.text === 'two');
  expectStatus(await memoria.post(`/v1/threads/${id}/events/prune`,
    { through_seq: data[two].seq }), 200);
  const gap = { kind: 'gap', pruned_through: data[two].id, cursor: String(data[two].id) };
  const late = followWs(memoria, `/workflow/ws/${id}?cursor=${before}`);
  const [told, three] = await late.hears(2);
  assert.deepEqual([told, three.text], [gap, 'three']);
  late.say({ cursor: before });
  assert.deepEqual((await late.hears(4)).slice(2), [gap, three]);

  // After the gap's cursor, and for a client without a cursor, there is no gap.
  for (const query of [`?cursor=${told.cursor}`, '']) {
    const after = followWs(memoria, `/workflow/ws/${id}${query}`);
    assert.deepEqual(await after.hears(1), [three]);
  }
});

test('input without a question is refused and changes nothing', async (t) => {
  const { open: memoria } = await startServer(t);
  const { workflow_id: id, run_id: run } = expectStatus(
    await memoria.post('/workflow/start', { user_input: 'Hello' }), 201);
  const before = (await memoria.get(`/v1/runs/${run}`)).body;
  const refused = expectProblem(
    await memoria.post(`/workflow/input/${id}`, { input: 'yes' }), 409, 'transition_refused');
  assert.match(refused.detail, /is not waiting/);
  assert.ok(refused.allowed.includes('waiting_for_input'));
  assert.deepEqual((await memoria.get(`/v1/runs/${run}`)).body, before);
  const idle = expectStatus(await memoria.post('/v1/threads', {}), 201);
  expectProblem(await memoria.post(`/workflow/input/${idle.id}`, { input: 1 }), 409, 'conflict');
  expectProblem(await memoria.post(`/workflow/input/${uuid()}`, { input: 1 }), 404, 'not_found');
  expectFault(await memoria.post('/workflow/start', {}), 422, 'invalid_input', '/user_input');
  expectFault(await memoria.post('/workflow/start', { user_input: 'x', colour: 'red' }),
    422, 'invalid_input', '/colour');
});

test('a context that somebody else wrote is gone on with, whatever its counter says', async (t) => {
  const { open: memoria } = await startServer(t);
  const { id } = expectStatus(await memoria.post('/v1/threads',
    { context: { summary: 's', meta: { next_seq: 7, owner: 'me' }, tail: [{ seq: 6 }] } }), 201);
  expectStatus(await memoria.post('/workflow/start', { workflow_id: id, user_input: 'hi' }), 201);
  const thread = (await memoria.get(`/v1/threads/${id}`)).body;
  assert.deepEqual(thread.context, {
    summary: 's',
    meta: { next_seq: 8, owner: 'me' },
    tail: [{ seq: 6 }, { seq: 7, role: 'user', content: 'hi' }],
  });
  for (const strange of ['9223372036854775807', '-5', '1.5', '"many"', '1e400']) {
    const raw = `{"context":{"meta":{"next_seq":${strange}},"tail":"none"}}`;
    const other = expectStatus(await memoria.post('/v1/threads', undefined, { raw }), 201);
    expectStatus(
      await memoria.post('/workflow/start', { workflow_id: other.id, user_input: 'hi' }), 201);
    const { context } = (await memoria.get(`/v1/threads/${other.id}`)).body;
    assert.deepEqual(context,
      { meta: { next_seq: 2 }, tail: [{ seq: 1, role: 'user', content: 'hi' }] }, strange);
  }
});

test('the views show the seed schema to any SQL client while the server runs', async (t) => {
  const server = await startServer(t);
  const memoria = server.open;
  const { workflow_id: id, run_id: run } = expectStatus(await memoria.post('/workflow/start',
    { user_input: 'Count', ask_clarifications: true, preferences: { tone: 'dry' } }), 201);
  await memoria.patch(`/v1/threads/${id}`, { important_steps: [{ step: 'counted' }] });
  for (const text of ['one', 'two', 'three'])
    expectStatus(await memoria.post(`/v1/threads/${id}/events`,
      { kind: 'progress', text, run_id: run, payload: { text } }), 201);
  await memoria.patch(`/v1/runs/${run}`, { state: { phase: 2 } });

  const [workflow] = server.rows('SELECT * FROM workflows WHERE id = ?', id);
  assert.deepEqual(Object.keys(workflow), ['id', 'status', 'context', 'preferences',
    'important_steps', 'most_recent_run_id', 'error', 'created_at', 'updated_at']);
  assert.equal(workflow.status, 'active');
  assert.equal(workflow.most_recent_run_id, run);
  assert.deepEqual(json(workflow.preferences), { tone: 'dry' });
  assert.deepEqual(json(workflow.important_steps), [{ step: 'counted' }]);
  assert.equal(json(workflow.context).meta.next_seq, 2);
  assert.equal(workflow.error, null);

  const [row] = server.rows('SELECT * FROM workflow_runs WHERE workflow_id = ?', id);
  assert.deepEqual(Object.keys(row), ['id', 'workflow_id', 'status', 'user_input',
    'ask_clarifications', 'state', 'final_output', 'error', 'created_at', 'updated_at']);
  assert.deepEqual([row.id, row.status, row.user_input, row.ask_clarifications],
    [run, 'running', 'Count', ENGINE === 'postgres' ? true : 1]);
  assert.deepEqual(json(row.state), { phase: 2 });

  // The hottest query of the seed: the events of a workflow after a cursor, in order.
  const after = 'SELECT * FROM workflow_events WHERE workflow_id = ? AND id > ? ORDER BY id';
  const all = server.rows(after, id, 0);
  assert.deepEqual(Object.keys(all[0]),
    ['id', 'workflow_id', 'run_id', 'kind', 'text', 'payload', 'created_at']);
  assert.deepEqual(texts(all), ['thread is active', 'run is running', 'one', 'two', 'three']);
  assert.deepEqual(texts(server.rows(after, id, all[2].id)), ['two', 'three']);
  assert.deepEqual(json(all[4].payload), { text: 'three' });
  assert.equal(all[4].run_id, run);
  const streamed = followWs(memoria, `/workflow/ws/${id}`);
  await streamed.hears(5);
  assert.deepEqual(streamed.heard.map((e) => e.id), all.map((e) => e.id));
});

const JSONB = onPostgres('SQLite has no JSONB operators');

test('the seed schema is queried with its own types: JSONB, UUID, BOOL, time', JSONB, async (t) => {
  const server = await startServer(t);
  const memoria = server.open;
  const start = async (body) => expectStatus(await memoria.post('/workflow/start', body), 201);
  const { workflow_id: id, run_id: run } = await start({ user_input: 'Plan a trip',
    ask_clarifications: true, preferences: { language: 'en', units: { length: 'km' } } });
  const other = await start({ user_input: 'Else', preferences: { language: 'de' } });
  const pending = { phase: 'ask', pending_input: { question: 'When?' } };
  expectStatus(await memoria.patch(`/v1/runs/${run}`,
    { status: 'waiting_for_input', state: pending }), 200);
  expectStatus(await memoria.post(`/v1/threads/${id}/events`,
    { kind: 'progress', text: 'one', payload: { tags: ['a', 'b'], n: 7 } }), 201);
  const one = (statement) => server.sql(statement).flat();

  // Queries of the seed on the tables: containment, paths, existence, the latest waiting run.
  assert.deepEqual(one(`SELECT id FROM workflows WHERE preferences @> '{"language": "en"}'`), [id]);
  assert.deepEqual(one(`SELECT preferences #>> '{units,length}' FROM workflows WHERE id = '${id}'`),
    ['km']);
  assert.deepEqual(one(`SELECT id FROM workflows WHERE preferences ? 'units'`), [id]);
  assert.deepEqual(one(`SELECT (context -> 'meta' ->> 'next_seq')::int FROM workflows
    WHERE id = '${id}'::uuid`), [2]);
  assert.deepEqual(one(`SELECT r.state -> 'pending_input' ->> 'question'
    FROM workflows w JOIN workflow_runs r ON r.id = w.most_recent_run_id
    WHERE w.id = '${id}' AND r.workflow_id = w.id AND r.status = 'waiting_for_input'`), ['When?']);
  assert.deepEqual(one(`SELECT id FROM workflow_runs WHERE ask_clarifications`), [run]);
  assert.deepEqual(one(`SELECT jsonb_typeof(context) FROM workflows WHERE id = '${id}'`),
    ['object']);
  assert.deepEqual(one(`SELECT count(*) FROM workflows
    WHERE created_at > now() - interval '1 hour' AND updated_at >= created_at`), [2]);
  assert.deepEqual(one(`SELECT text FROM workflow_events WHERE payload @> '{"tags": ["b"]}'`),
    ['one']);

  // (workflow_id, id > cursor), in order.
  const events = server.rows(`SELECT * FROM workflow_events
    WHERE workflow_id = '${id}' AND id > 0 ORDER BY id`);
  assert.deepEqual(texts(events),
    ['thread is active', 'run is running', 'run is waiting_for_input', 'one']);
  const cursor = events[1].id;
  assert.deepEqual(server.sql(`SELECT id, text FROM workflow_events
    WHERE workflow_id = '${id}' AND id > ${cursor} ORDER BY id LIMIT 10`),
  events.slice(2).map((e) => [e.id, e.text]));
  assert.deepEqual(one(`SELECT data_type FROM information_schema.columns WHERE
    table_schema = '${server.schema}' AND table_name = 'workflow_events'
    ORDER BY ordinal_position`),
  ['bigint', 'uuid', 'uuid', 'text', 'text', 'jsonb', 'timestamp with time zone']);
  assert.notEqual(other.workflow_id, id);
});

test('the workflow socket: repositioned by its client, refused for a cursor ahead', async (t) => {
  const server = await startServer(t);
  const memoria = server.open;
  const other = expectStatus(await memoria.post('/workflow/start', { user_input: 'noise' }), 201);
  const { workflow_id: id, cursor } = expectStatus(
    await memoria.post('/workflow/start', { user_input: 'x' }), 201);
  assert.ok(cursor > other.cursor);
  const watching = followWs(memoria, `/workflow/ws/${id}`);
  const [first, second] = await watching.hears(2);
  watching.say({ cursor: first.id });
  await watching.hears(3);
  assert.deepEqual(watching.heard[2], second);

  // A stop names the cursor in the same terms: going on from there shows nothing twice.
  watching.say({ cursor: second.id + 1000 });
  const { code, reason } = await watching.ended;
  assert.equal(code, 1008);
  assert.match(reason, /^cursor_ahead/);
  await assert.rejects(followWs(memoria, `/workflow/ws/${id}?cursor=${second.id + 1000}`).opened,
    { status: 400 });

  const last = followWs(memoria, `/workflow/ws/${id}`);
  await last.hears(2);
  await server.restart();
  const end = await last.ended;
  assert.equal(end.code, 1001);
  assert.equal(end.reason, `shutting_down cursor=${second.id}`);
});
