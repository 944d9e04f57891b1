// SPDX-License-Identifier: Apache-2.0
// Events: append, pages, long polls, pruning, and the signals that make every gap visible.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { eventually, expectFault, expectProblem, expectStatus, startServer, uuid }
  from './lib/server.mjs';
import { expectSeqs, followSse, followWs, readSse, untilSubscribers } from './lib/followers.mjs';

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);

const readThread = async (client, id) => expectStatus(await client.get(`/v1/threads/${id}`), 200);

const append = async (client, id, ...texts) => {
  const events = texts.map((text) => ({ kind: 'progress', text }));
  return expectStatus(await client.post(`/v1/threads/${id}/events`, { events }), 201);
};

const page = async (client, id, query = '') =>
  expectStatus(await client.get(`/v1/threads/${id}/events${query}`), 200);

const prune = async (client, id, body) =>
  expectStatus(await client.post(`/v1/threads/${id}/events/prune`, body), 200).pruned;

const numbered = (n) => Array.from({ length: n }, (_, i) => `event ${i + 1}`);

// --- Append and pages --------------------------------------------------------------------------

test('one event is appended and answered whole', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const event = expectStatus(await client.post(`/v1/threads/${thread.id}/events`,
    { kind: 'acme.tool_call', text: 'né ☃ "quoted"', payload: { deep: [1, { x: null }] } }), 201);
  assert.deepEqual(Object.keys(event),
    ['id', 'thread_id', 'seq', 'run_id', 'kind', 'text', 'payload', 'created_at']);
  assert.deepEqual([event.thread_id, event.seq, event.run_id, event.kind, event.text],
    [thread.id, 2, null, 'acme.tool_call', 'né ☃ "quoted"']);
  const { data } = await page(client, thread.id, '?after=1');
  assert.deepEqual(data, [event]);
});

test('a batch is appended whole, or not at all', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const appended = await append(client, thread.id, ...numbered(1000));
  assert.deepEqual(appended, { count: 1000, first_seq: 2, last_seq: 1001 });
  const stranger = await newThread(client);
  const run = expectStatus(await client.post(`/v1/threads/${stranger.id}/runs`, {}), 201);
  const good = { kind: 'progress', text: 'good' };
  for (const [bad, pointer] of [
    [{ kind: 'nonsense' }, '/events/2/kind'],
    [{ text: 'no kind' }, '/events/2/kind'],
    [{ kind: 'progress', colour: 'red' }, '/events/2/colour'],
    [{ kind: 'progress', text: 7 }, '/events/2/text'],
    [{ kind: 'progress', run_id: 'x' }, '/events/2/run_id'],
    [{ kind: 'progress', run_id: uuid() }, '/events/2/run_id'],
    [{ kind: 'progress', run_id: run.id }, '/events/2/run_id'],
    [{ kind: 'progress', text: 'x'.repeat(17_000) }, '/events/2/text'],
  ])
    expectFault(await client.post(`/v1/threads/${thread.id}/events`,
      { events: [good, good, bad, good] }), 422, 'invalid_input', pointer);
  expectFault(await client.post(`/v1/threads/${thread.id}/events`, { events: [] }),
    422, 'invalid_input', '/events');
  expectFault(await client.post(`/v1/threads/${thread.id}/events`, { kind: 'progress',
    events: [good] }), 422, 'invalid_input', '/events');
  assert.equal((await readThread(client, thread.id)).last_seq, 1001);
  await append(client, thread.id, 'the next');
  const { data } = await page(client, thread.id, '?after=1001');
  assert.deepEqual(data.map((e) => [e.seq, e.text]), [[1002, 'the next']]);
});

test('kinds: clients append two plain ones and their own, and cannot forge a status', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const post = (kind) => client.post(`/v1/threads/${thread.id}/events`, { kind });
  const good = ['progress', 'warning', 'acme.tool', 'a.b-c.d_9'];
  for (const kind of good)
    expectStatus(await post(kind), 201);
  for (const kind of ['status', 'final', 'error', '', 'other', 'Acme.tool', 'acme.', '.tool',
    'a..b', 'acme tool.x', `acme.${'x'.repeat(60)}`, 'cairn.x', 'final.x', 'status.x', 'error.x',
    'run.started', 'thread.x', 'gap.x'])
    expectFault(await post(kind), 422, 'invalid_input', '/kind');
  const { data } = await page(client, thread.id, '?after=1');
  assert.deepEqual(data.map((e) => e.kind), good);
});

test('pages: limit, has_more and next_cursor lead through the whole log', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  await append(client, thread.id, ...numbered(24));
  const seen = [];
  let cursor = 0;
  for (let pages = 1; ; pages++) {
    const { data, has_more: more, next_cursor: next } =
      await page(client, thread.id, `?after=${cursor}&limit=10`);
    seen.push(...data);
    cursor = next;
    if (!more) {
      assert.deepEqual([pages, data.length, next], [3, 5, '25']);
      break;
    }
    assert.equal(data.length, 10);
  }
  expectSeqs(seen, 1, 25);
  const end = await page(client, thread.id, '?after=25');
  assert.deepEqual(end, { data: [], has_more: false, next_cursor: '25' });
  const whole = await page(client, thread.id);
  expectSeqs(whole.data, 1, 25);
  for (const [query, pointer] of [['limit=0', 'limit'], ['limit=1001', 'limit'],
    ['limit=x', 'limit'], ['colour=red', 'colour'], ['run_id=7', 'run_id'], ['wait=61', 'wait']])
    expectFault(await client.get(`/v1/threads/${thread.id}/events?${query}`),
      422, 'invalid_input', pointer);
});

test('a page of large events ends early and says that there is more', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const payload = 'x'.repeat(120_000);
  for (let i = 0; i < 30; i++)
    expectStatus(await client.post(`/v1/threads/${thread.id}/events`,
      { kind: 'progress', payload }), 201);
  const seen = [];
  for (let more = true, cursor = 1; more;) {
    const answer = await page(client, thread.id, `?after=${cursor}&limit=1000`);
    assert.ok(answer.data.length < 30);
    seen.push(...answer.data);
    ({ has_more: more, next_cursor: cursor } = answer);
  }
  expectSeqs(seen, 2, 31);
});

test('filters by run and by kind, on pages and streams', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const run = expectStatus(
    await client.post(`/v1/threads/${thread.id}/runs`, { dispatch: 'direct' }), 201);
  const post = (kind, more) => client.post(`/v1/threads/${thread.id}/events`, { kind, ...more });
  const stream = followSse(client, `/v1/threads/${thread.id}/events/stream?kind=warning`);
  const socket = followWs(client,
    `/v1/threads/${thread.id}/events/ws?kind=warning&run_id=${run.id}`);
  await socket.opened;
  for (let i = 0; i < 3; i++) {
    await post('warning', { text: `loose ${i}` });
    await post('warning', { text: `of run ${i}`, run_id: run.id });
    await post('progress', { text: `other ${i}`, run_id: run.id });
  }
  assert.deepEqual((await stream.hears(6)).map((e) => e.text),
    ['loose 0', 'of run 0', 'loose 1', 'of run 1', 'loose 2', 'of run 2']);
  assert.deepEqual((await socket.hears(3)).map((e) => e.text),
    ['of run 0', 'of run 1', 'of run 2']);
  const both = await page(client, thread.id, `?run_id=${run.id}&kind=warning&limit=2`);
  assert.deepEqual(both.data.map((e) => e.text), ['of run 0', 'of run 1']);
  assert.equal(both.has_more, true);
  const ofRun = await page(client, thread.id, `?run_id=${run.id}`);
  assert.equal(ofRun.data.length, 7);
  assert.deepEqual((await page(client, thread.id, `?run_id=${uuid()}`)).data, []);
});

test('cursors: a bad one, one ahead of the log, and one of another stream', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  for (const bad of ['x', '-1', '1~1', '99999999999999999999', '1.5', ''])
    expectFault(await client.get(`/v1/threads/${thread.id}/events?after=${bad}`),
      400, 'invalid_cursor', 'after', /cursor/);
  const ahead = /greater than the cursor of the newest event/;
  expectFault(await client.get(`/v1/threads/${thread.id}/events?after=2`),
    400, 'invalid_cursor', 'after', ahead);
  expectFault(await client.get(`/v1/threads/${thread.id}/events?after=2&wait=10`),
    400, 'invalid_cursor', 'after', ahead);
  expectFault(await client.get('/v1/events?after=1000000'), 400, 'invalid_cursor', 'after', ahead);
  expectFault(await client.get('/v1/events?after=1~1000000'),
    400, 'invalid_cursor', 'after', ahead);
  expectFault(await client.get(`/v1/threads/${thread.id}/events/stream?after=2`),
    400, 'invalid_cursor', 'after', ahead);
  expectFault(await client.get(`/v1/threads/${thread.id}/events/stream`,
    { headers: { 'Last-Event-ID': '2' } }), 400, 'invalid_cursor', 'after', ahead);
  await assert.rejects(
    followWs(client, `/v1/threads/${thread.id}/events/ws?after=2`).opened, { status: 400 });
  expectProblem(await client.get(`/v1/threads/${uuid()}/events`), 404, 'not_found');
  expectProblem(await client.get(`/v1/threads/${uuid()}/events/stream`), 404, 'not_found');
});

// --- Long polls --------------------------------------------------------------------------------

test('a long poll answers at once when there is something', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const answer = await page(client, thread.id, '?after=0&wait=60');
  expectSeqs(answer.data, 1, 1);
});

test('a long poll answers as soon as something comes', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const waiting = page(client, thread.id, '?after=1&wait=60');
  const { next_cursor: end } = (await client.get('/v1/events')).body;
  const tenant = client.get(`/v1/events?after=${end}&wait=60`);
  await untilSubscribers(client, 2);
  await append(client, thread.id, 'news');
  for (const { data, next_cursor: next } of [await waiting, expectStatus(await tenant, 200)]) {
    assert.deepEqual(data.map((e) => e.text), ['news']);
    assert.ok(Number(next) > 1);
  }
});

test('a long poll answers empty when its time is up', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const began = performance.now();
  const answer = await page(client, thread.id, '?after=1&wait=1');
  assert.ok(performance.now() - began > 900);
  assert.deepEqual(answer, { data: [], has_more: false, next_cursor: '1' });
});

test('a long poll waits through all that its filter leaves out', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const waiting = page(client, thread.id, '?after=1&kind=warning&wait=60&limit=1000');
  await untilSubscribers(client, 1);
  for (let i = 0; i < 100; i++)
    await append(client, thread.id, `noise ${i}`);
  expectStatus(await client.post(
    `/v1/threads/${thread.id}/events`, { kind: 'warning', text: 'done' }), 201);
  assert.deepEqual((await waiting).data.map((e) => e.text), ['done']);
});

test('a long poll whose answer is on its way is not disturbed by what comes after', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  const thread = await newThread(client);
  const payload = 'x'.repeat(120_000);
  const large = Array.from({ length: 17 }, () => ({ kind: 'progress', payload }));
  expectStatus(await client.post(`/v1/threads/${thread.id}/events`, { events: large }), 201);
  // A client that asks for a page, then waits for the next one, and reads neither for a while: the
  // first answer fills the socket, so the second stays in the server.
  const socket = net.connect(server.port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.pause();
  const ask = (query, more) => socket.write(
    `GET /v1/threads/${thread.id}/events?${query} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`);
  ask('after=1', '');
  ask('after=18&wait=60', 'Connection: close\r\n');
  await untilSubscribers(client, 1);
  expectStatus(await client.post(`/v1/threads/${thread.id}/events`, { events: large }), 201);
  for (const text of numbered(50))
    await append(client, thread.id, text);
  let text = '';
  for await (const chunk of socket)
    text += chunk;
  const bodies = text.split(/HTTP\/1\.1 200 OK[^]*?\r\n\r\n/).slice(1).map((b) => JSON.parse(b));
  expectSeqs(bodies[0].data, 2, 18);
  // A poll that is woken reads a page, which may also have later events.
  const last = bodies[1].data.at(-1).seq;
  assert.ok(last >= 35, `${last}`);
  expectSeqs(bodies[1].data, 19, last);
});

test('long polls end with an answer when the server stops', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  const thread = await newThread(client);
  const waiting = page(client, thread.id, '?after=1&wait=60');
  await untilSubscribers(client, 1);
  await server.stop();
  assert.deepEqual((await waiting).data, []);
});

// --- Pruning and gaps --------------------------------------------------------------------------

test('pruning by number: a page before it is 410 with where to go on', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  const thread = await newThread(client);
  await append(client, thread.id, ...numbered(9));
  assert.equal(await prune(client, thread.id, { through_seq: 4 }), 4);
  assert.equal(await prune(client, thread.id, { through_seq: 4 }), 0);
  for (const cursor of [0, 3]) {
    const gone = expectProblem(
      await client.get(`/v1/threads/${thread.id}/events?after=${cursor}`), 410, 'events_pruned');
    assert.deepEqual([gone.pruned_through, gone.resume_cursor], [4, '4']);
    const { data } = await page(client, thread.id, `?after=${gone.resume_cursor}`);
    expectSeqs(data, 5, 10);
  }
  expectSeqs((await page(client, thread.id, '?after=4')).data, 5, 10);
  expectSeqs((await page(client, thread.id)).data, 5, 10); // from the oldest that is kept
  assert.equal((await readThread(client, thread.id)).pruned_seq, 4);
  // Numbering continues after all events were pruned and the server was restarted.
  assert.equal(await prune(client, thread.id, { through_seq: 10 }), 6);
  await server.restart();
  assert.equal((await append(client, thread.id, 'next')).first_seq, 11);
});

test('pruning by age, and what may not be pruned', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  await append(client, thread.id, 'old');
  const { data } = await page(client, thread.id);
  await append(client, thread.id, 'new');
  const between = (await page(client, thread.id)).data[2].created_at;
  assert.ok(between > data[1].created_at);
  assert.equal(await prune(client, thread.id, { older_than: between }), 2);
  expectSeqs((await page(client, thread.id)).data, 3, 3);
  for (const [body, pointer] of [[{}, ''], [{ through_seq: 1, finished: true }, ''],
    [{ finished: false }, ''], [{ through_seq: 99 }, '/through_seq'],
    [{ through_seq: 0 }, '/through_seq'], [{ older_than: 'yesterday' }, '/older_than']])
    expectFault(await client.post(`/v1/threads/${thread.id}/events/prune`, body),
      422, 'invalid_input', pointer);
  expectProblem(await client.post(`/v1/threads/${uuid()}/events/prune`, { finished: true }),
    404, 'not_found');
});

test('pruning what is finished keeps all that belongs to a run that goes on', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const start = async () => expectStatus(
    await client.post(`/v1/threads/${thread.id}/runs`, { dispatch: 'direct' }), 201);
  const done = await start();
  expectStatus(await client.patch(`/v1/runs/${done.id}`, { status: 'completed' }), 200);
  const active = await start();
  await append(client, thread.id, 'after the start');
  assert.equal(await prune(client, thread.id, { finished: true }), 5);
  const { data } = await page(client, thread.id);
  assert.deepEqual(data.map((e) => e.text), ['run is running', 'after the start']);
  assert.equal(data[0].run_id, active.id);
});

test('prune_on_completion: the end stays, latecomers hear of the gap before it', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client, { prune_on_completion: true });
  const live = followWs(client, `/v1/threads/${thread.id}/events/ws`);
  const run = expectStatus(
    await client.post(`/v1/threads/${thread.id}/runs`, { dispatch: 'direct' }), 201);
  await append(client, thread.id, 'working');
  await live.hears(3);
  expectStatus(await client.patch(`/v1/runs/${run.id}`,
    { status: 'completed', final_output: 'all' }), 200);
  await live.hears(6);
  expectSeqs(live.heard, 1, 6);
  assert.equal(live.heard[5].payload.final_output, 'all');
  assert.deepEqual((await page(client, thread.id)).data, [live.heard[5]]);
  const late = followWs(client, `/v1/threads/${thread.id}/events/ws?after=2`);
  assert.deepEqual((await late.hears(1))[0], { kind: 'gap', pruned_through: 5, cursor: '5' });
  expectProblem(await client.get(`/v1/threads/${thread.id}/events?after=2`), 410, 'events_pruned');
  assert.deepEqual((await page(client, thread.id, '?after=6')).data, []);
  // A reader that saw the last one, by Memoria's cursor too, has missed nothing.
  const memoria = followWs(client, `/workflow/ws/${thread.id}?cursor=${live.heard[5].id}`);
  await memoria.opened;
  await append(client, thread.id, 'a new day');
  assert.deepEqual((await memoria.hears(1)).map((e) => e.text), ['a new day']);
  assert.deepEqual((await late.hears(3)).slice(1).map((e) => e.seq), [6, 7]);
});

test('event_max_age_s: a sweep drops what is older', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client, { event_max_age_s: 1 });
  const kept = await newThread(client);
  await append(client, thread.id, 'one', 'two');
  await eventually(async () => (await readThread(client, thread.id)).pruned_seq === 3);
  expectProblem(await client.get(`/v1/threads/${thread.id}/events?after=1`), 410, 'events_pruned');
  assert.equal((await readThread(client, kept.id)).pruned_seq, 0);
});

test('streams never pass over a gap in silence', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  await append(client, thread.id, ...numbered(9));
  await prune(client, thread.id, { through_seq: 6 });
  const gap = { kind: 'gap', pruned_through: 6, cursor: '6' };
  const streams = [
    followWs(client, `/v1/threads/${thread.id}/events/ws?after=2`),
    followSse(client, `/v1/threads/${thread.id}/events/stream?after=2`),
    readSse(client, `/v1/threads/${thread.id}/events/stream`,
      { headers: { 'Last-Event-ID': '2' } }),
  ];
  for (const stream of streams) {
    const [first, ...rest] = await stream.hears(5);
    assert.deepEqual(first, gap);
    expectSeqs(rest, 7, 10);
  }
  assert.deepEqual(streams[2].ids, ['6', '7', '8', '9', '10']);
  assert.match(streams[2].text, /^event: gap$/m);
  streams[2].close();
  // After the gap's cursor there is no second gap, nor for a client that asks for the kept events.
  for (const query of ['?after=6', '']) {
    const stream = followWs(client, `/v1/threads/${thread.id}/events/ws${query}`);
    expectSeqs(await stream.hears(4), 7, 10);
    stream.say({ after: 3 });
    await stream.hears(9);
    assert.deepEqual(stream.heard[4], gap);
    expectSeqs(stream.heard.slice(5), 7, 10);
  }
});

test('the tenant-wide log tells of a gap once, and goes on behind it', async (t) => {
  const { open: client } = await startServer(t);
  const [busy, quiet] = [await newThread(client), await newThread(client)];
  await append(client, quiet.id, 'first of quiet');
  await append(client, busy.id, ...numbered(5));
  await append(client, quiet.id, 'second of quiet');
  await append(client, busy.id, 'last of busy');
  const all = expectStatus(await client.get('/v1/events'), 200);
  assert.equal(all.data.length, 10);
  assert.equal(all.next_cursor, String(all.data.at(-1).id));
  const lost = all.data[7].id;
  await prune(client, busy.id, { through_seq: 6 });

  // By pages: 410 names a cursor that accepts the gap, which the following cursors remember.
  const gone = expectProblem(await client.get('/v1/events?after=1'), 410, 'events_pruned');
  assert.deepEqual([gone.pruned_through, gone.resume_cursor], [lost, `1~${lost}`]);
  const seen = [];
  for (let cursor = gone.resume_cursor, more = true; more;) {
    const answer = expectStatus(await client.get(`/v1/events?after=${cursor}&limit=1`), 200);
    seen.push(...answer.data);
    ({ has_more: more, next_cursor: cursor } = answer);
  }
  const expected = ['thread is active', 'first of quiet', 'second of quiet', 'last of busy'];
  assert.deepEqual(seen.map((e) => e.text), expected);

  // By streams: one gap, then the same events.
  const streams = [followSse(client, '/v1/events/stream?after=1'),
    followWs(client, '/v1/events/ws?after=1')];
  for (const stream of streams) {
    const [gap, ...rest] = await stream.hears(5);
    assert.deepEqual(gap, { kind: 'gap', pruned_through: lost, cursor: `1~${lost}` });
    assert.deepEqual(rest.map((e) => e.text), expected);
  }
  const accepted = followWs(client, `/v1/events/ws?after=1~${lost}`);
  assert.deepEqual((await accepted.hears(4)).map((e) => e.text), expected);
  const beyond = followSse(client, `/v1/events/stream?after=${lost}`);
  assert.deepEqual((await beyond.hears(2)).map((e) => e.text), expected.slice(2));
});

test('the tenant-wide stream shows every thread in the order of commits', async (t) => {
  const { open: client } = await startServer(t);
  const sse = followSse(client, '/v1/events/stream');
  const ws = followWs(client, '/v1/events/ws');
  await Promise.all([sse.opened, ws.opened]);
  const threads = await Promise.all([1, 2, 3, 4].map(() => newThread(client)));
  await Promise.all(threads.map(async ({ id }) => {
    for (const text of numbered(20))
      await append(client, id, text);
  }));
  for (const stream of [sse, ws]) {
    const heard = await stream.hears(84);
    const ids = heard.map((e) => e.id);
    assert.deepEqual(ids, [...ids].sort((a, b) => a - b));
    for (const { id } of threads)
      expectSeqs(heard.filter((e) => e.thread_id === id), 1, 21);
  }
  assert.deepEqual(sse.ids, sse.heard.map((e) => String(e.id)));
});

test('a deleted thread: its streams say so and end, the tenant keeps the notice', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  await append(client, thread.id, ...numbered(3));
  const tenant = followWs(client, '/v1/events/ws');
  const ws = followWs(client, `/v1/threads/${thread.id}/events/ws`);
  const sse = readSse(client, `/v1/threads/${thread.id}/events/stream`);
  const source = followSse(client, `/v1/threads/${thread.id}/events/stream`);
  const poll = client.get(`/v1/threads/${thread.id}/events?after=4&kind=final&wait=60`);
  for (const stream of [tenant, ws, sse, source])
    await stream.hears(4);
  await untilSubscribers(client, 5);
  expectStatus(await client.del(`/v1/threads/${thread.id}`), 204);
  for (const stream of [ws, sse, source]) {
    await stream.hears(5);
    expectSeqs(stream.heard, 1, 5);
    assert.equal(stream.heard[4].payload.change, 'thread.deleted');
  }
  const end = await ws.ended;
  assert.deepEqual([end.code, end.reason], [1008, 'deleted cursor=5']);
  assert.deepEqual(await sse.ended, { reason: 'deleted', cursor: '5' });
  assert.equal(await source.refused, 404); // it reconnected, and knows now
  expectProblem(await poll, 404, 'not_found');
  expectProblem(await client.get(`/v1/threads/${thread.id}/events`), 404, 'not_found');
  await tenant.hears(5);
  assert.equal(tenant.heard[4].payload.change, 'thread.deleted');
  const later = (await client.get('/v1/events')).body.data;
  assert.deepEqual(later.map((e) => [e.thread_id, e.payload.change]),
    [[thread.id, 'thread.deleted']]);
});

test('the end of a run with children stays when a thread prunes on completion', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client, { prune_on_completion: true });
  const parent = expectStatus(
    await client.post(`/v1/threads/${thread.id}/runs`, { dispatch: 'direct' }), 201);
  expectStatus(await client.post(`/v1/threads/${thread.id}/runs`,
    { dispatch: 'direct', parent_run_id: parent.id }), 201);
  expectStatus(await client.patch(`/v1/runs/${parent.id}`,
    { status: 'completed', final_output: 'kept' }), 200);
  const { data } = await page(client, thread.id);
  assert.equal(data[0].kind, 'final');
  assert.equal(data[0].payload.final_output, 'kept');
});

test('what is pruned or deleted is gone from the tenant-wide log at once', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  for (let i = 0; i < 3; i++)
    await append(client, thread.id, ...numbered(1000));
  expectStatus(await client.del(`/v1/threads/${thread.id}`), 204);
  const { data } = (await client.get('/v1/events?limit=1000')).body;
  assert.deepEqual(data.map((e) => e.payload.change), ['thread.deleted']);
});

test('a filter that finds little goes on from where it has looked', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  for (let i = 0; i < 25; i++)
    await append(client, thread.id, ...numbered(1000));
  const first = await page(client, thread.id, '?kind=warning&after=0');
  assert.deepEqual([first.data, first.has_more, first.next_cursor], [[], true, '20000']);
  const rest = await page(client, thread.id, '?kind=warning&after=20000');
  assert.deepEqual([rest.data, rest.has_more, rest.next_cursor], [[], false, '25001']);
});
