// SPDX-License-Identifier: Apache-2.0
// Threads: create, read, list, patch, delete; ETags and pages.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, expectFault, expectProblem, expectStatus, startServer, uuid } from
  './lib/server.mjs';

const MERGE = { type: 'application/merge-patch+json' };
const PATCH = { type: 'application/json-patch+json' };

async function make(client, body) {
  return expectStatus(await client.post('/v1/threads', body), 201);
}

async function ids(client, query) {
  return expectStatus(await client.get(`/v1/threads?${query}`), 200).data.map((x) => x.id);
}

test('a thread has every member from the start, with defaults', async (t) => {
  const { open } = await startServer(t);
  const answer = await open.post('/v1/threads');
  const { id, created_at: created, updated_at: updated, ...rest } = expectStatus(answer, 201);
  assert.deepEqual(rest, {
    key: null, key_owner: null,
    status: 'active',
    title: null,
    agent: null,
    context: {},
    preferences: {},
    important_steps: {},
    metadata: {},
    error: null,
    run_policy: 'reject',
    prune_on_completion: false,
    event_max_age_s: null,
    most_recent_run_id: null,
    last_seq: 1,
    pruned_seq: 0,
    version: 1,
  });
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.match(created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  assert.equal(updated, created);
  assert.equal(answer.headers.get('ETag'), '"1"');
});

test('a thread is read back as it was written, also after a restart', async (t) => {
  const server = await startServer(t);
  const body = {
    title: 'Größe ≠ "Länge" \\ 🪨',
    agent: 'planner',
    context: { summary: 'so far', tail: [{ role: 'user', n: 12345678901234567890n.toString() }] },
    preferences: { tone: 'dry' },
    important_steps: [{ step: 1 }, { step: 2 }],
    metadata: { customer: 'ACME', n: 1e300, deep: { list: [null, true] } },
    error: { code: 'x' },
    run_policy: 'enqueue',
    prune_on_completion: true,
    event_max_age_s: 86400,
  };
  const made = await make(server.open, body);
  for (const [name, value] of Object.entries(body)) assert.deepEqual(made[name], value, name);
  assert.deepEqual(expectStatus(await server.open.get(`/v1/threads/${made.id}`), 200), made);
  await server.restart();
  assert.deepEqual(expectStatus(await server.open.get(`/v1/threads/${made.id}`), 200), made);
});

test('numbers in documents keep every digit', async (t) => {
  const { open } = await startServer(t);
  const raw =
    '{"context":{"big":12345678901234567890123,"exact":0.10000000000000000000001,"e":1E+2}}';
  const made = await open.post('/v1/threads', undefined, { raw });
  expectStatus(made, 201);
  const read = await open.get(`/v1/threads/${made.body.id}`);
  for (const digits of ['12345678901234567890123', '0.10000000000000000000001', '1E+2'])
    assert.ok(read.text.includes(digits), digits);
});

test('a list carries no documents unless it is asked to', async (t) => {
  const { open } = await startServer(t);
  const made = await make(open, { title: 'a', context: { x: 1 }, metadata: { k: 'v' } });
  const { context, preferences, important_steps: steps, ...row } = made;
  const list = async (query) => expectStatus(await open.get(`/v1/threads${query}`), 200).data;
  assert.deepEqual(await list(''), [row]);
  assert.deepEqual(await list('?include=documents'), [made]);
  expectFault(
    await open.get('/v1/threads?include=everything'),
    422,
    'invalid_input',
    'include',
    /documents/,
  );
});

test('threads are found by status, agent, title, metadata and time', async (t) => {
  const { open } = await startServer(t);
  const a = await make(open, {
    title: 'Plan the Trip',
    agent: 'planner',
    metadata: { env: 'prod', n: 1 },
  });
  const b = await make(open, {
    title: '100% sure_thing!',
    agent: 'coder',
    metadata: { env: 'prod', n: 2 },
  });
  const c = await make(open, { agent: 'planner', metadata: { env: 'test', ok: true, none: null } });
  expectStatus(await open.patch(`/v1/threads/${b.id}`, { status: 'paused' }), 200);

  assert.deepEqual(await ids(open, 'status=active'), [c.id, a.id]);
  assert.deepEqual(await ids(open, 'status=paused'), [b.id]);
  assert.deepEqual(await ids(open, 'agent=planner'), [c.id, a.id]);
  assert.deepEqual(await ids(open, 'agent=plan'), []);
  assert.deepEqual(await ids(open, 'title=trip'), [a.id], 'any case, any part');
  assert.deepEqual(await ids(open, 'title=%25'), [b.id], 'a percent sign is itself');
  assert.deepEqual(await ids(open, 'title=e_t'), [b.id], 'an underscore is itself');
  assert.deepEqual(await ids(open, 'title=!'), [b.id]);
  assert.deepEqual(await ids(open, 'title=nothing'), []);
  assert.deepEqual(await ids(open, 'metadata.env=prod'), [b.id, a.id]);
  assert.deepEqual(await ids(open, 'metadata.env=prod&metadata.n=2'), [b.id]);
  assert.deepEqual(await ids(open, 'metadata.ok=true'), [c.id]);
  assert.deepEqual(await ids(open, 'metadata.none=null'), [c.id]);
  assert.deepEqual(await ids(open, 'metadata.env=pro'), []);
  assert.deepEqual(await ids(open, 'agent=planner&metadata.env=prod&status=active&title=plan'), [
    a.id,
  ]);
  const at = (x) => encodeURIComponent(x.created_at);
  assert.deepEqual(await ids(open, `created_after=${at(b)}`), [c.id, b.id], 'at or after');
  assert.deepEqual(await ids(open, `created_before=${at(b)}`), [a.id], 'before');
  assert.deepEqual(await ids(open, `created_after=${at(a)}&created_before=${at(c)}`), [b.id, a.id]);
});

test('threads are found by four members of their metadata at once', async (t) => {
  const { open } = await startServer(t);
  // Each of four keys counts: the value of one under another key is not enough.
  const four = { k1: 'w', k2: 'x', k3: 'y', k4: 'z' };
  const whole = await make(open, { metadata: four });
  for (const key of Object.keys(four)) {
    const { [key]: value, ...others } = four;
    await make(open, { metadata: { ...others, other: value } });
    await make(open, { metadata: { ...four, [key]: 'else' } });
  }
  const query = Object.entries(four).map(([key, value]) => `metadata.${key}=${value}`);
  assert.deepEqual(await ids(open, query.join('&')), [whole.id]);
});

test('the metadata filter follows every change of the metadata', async (t) => {
  const { open } = await startServer(t);
  const made = await make(open, { metadata: { env: 'prod', old: 'x', other: 'y' } });
  expectStatus(
    await open.patch(`/v1/threads/${made.id}`, { metadata: { env: 'test', old: null } }),
    200,
  );
  assert.deepEqual(await ids(open, 'metadata.env=prod'), []);
  assert.deepEqual(await ids(open, 'metadata.old=x'), []);
  assert.deepEqual(await ids(open, 'metadata.env=test'), [made.id]);
  const read = expectStatus(await open.get(`/v1/threads/${made.id}`), 200);
  assert.deepEqual(read.metadata, { env: 'test', other: 'y' });
});

test('bad filters are refused by name, never ignored', async (t) => {
  const { open } = await startServer(t);
  const bad = {
    'status=asleep': ['status', /active, paused, cancelled, error/],
    'limit=0': ['limit', /1 to 200/],
    'limit=201': ['limit', /1 to 200/],
    'limit=ten': ['limit', /an integer/],
    'limit=5&limit=6': ['limit', /repeated/],
    'created_after=yesterday': ['created_after', /RFC 3339/],
    'agent=': ['agent', /bytes/],
    'titel=x': ['titel', /not a parameter/],
    'metadata=x': ['metadata', /not a parameter/],
    'metadata.a=1&metadata.b=1&metadata.c=1&metadata.d=1&metadata.e=1': ['metadata', /at most 4/],
    'title=%ff': ['query', /UTF-8/],
    'title=%2': ['query', /percent/],
  };
  for (const [query, [name, rule]] of Object.entries(bad))
    expectFault(await open.get(`/v1/threads?${query}`), 422, 'invalid_input', name, rule);
  for (const cursor of ['x', '', 'AAAA', '%2b', 'A'.repeat(22) + '=='])
    expectFault(
      await open.get(`/v1/threads?cursor=${cursor}`),
      400,
      'invalid_cursor',
      'cursor',
      /next_cursor/,
    );
});

test('pages neither skip nor repeat a thread while others are added and removed', async (t) => {
  const { open } = await startServer(t);
  const before = [];
  for (let i = 0; i < 25; i++) before.unshift((await make(open, { title: `t${i}` })).id);
  const seen = [];
  let query = 'limit=4';
  for (;;) {
    const page = expectStatus(await open.get(`/v1/threads?${query}`), 200);
    seen.push(...page.data.map((x) => x.id));
    assert.ok(page.data.length <= 4);
    if (!page.has_more) {
      assert.equal(page.next_cursor, null);
      break;
    }
    query = `limit=4&cursor=${page.next_cursor}`;
    await make(open, { title: 'added on the way' });
    expectStatus(await open.del(`/v1/threads/${page.data.at(-1).id}`), 204);
  }
  assert.deepEqual(seen, before);
});

test('a filtered list pages too, and the last full page says that it is the last', async (t) => {
  const { open } = await startServer(t);
  const wanted = [];
  for (let i = 0; i < 12; i++) {
    const made = await make(open, { metadata: { even: i % 2 === 0 } });
    if (i % 2 === 0) wanted.unshift(made.id);
  }
  const first = expectStatus(await open.get('/v1/threads?metadata.even=true&limit=3'), 200);
  const second = expectStatus(
    await open.get(`/v1/threads?metadata.even=true&limit=3&cursor=${first.next_cursor}`),
    200,
  );
  assert.deepEqual(
    [...first.data, ...second.data].map((x) => x.id),
    wanted,
  );
  assert.deepEqual([second.has_more, second.next_cursor], [false, null]);
});

test('a merge patch changes what it names, member by member', async (t) => {
  const { open } = await startServer(t);
  const made = await make(open, {
    title: 'old',
    agent: 'a',
    context: { keep: 1, drop: 2, deep: { x: 1, y: 2 } },
    metadata: { k: 'v' },
    event_max_age_s: 60,
  });
  const patch = {
    title: 'new',
    agent: null,
    event_max_age_s: null,
    context: { drop: null, deep: { y: 3, z: [1] }, add: 'more' },
  };
  for (const type of ['application/merge-patch+json', 'application/json; charset=utf-8']) {
    const answer = await open.patch(`/v1/threads/${made.id}`, patch, { type });
    const after = expectStatus(answer, 200);
    // The second time nothing differs, and no event is written.
    assert.deepEqual(after, {
      ...made,
      title: 'new',
      agent: null,
      event_max_age_s: null,
      context: { keep: 1, deep: { x: 1, y: 3, z: [1] }, add: 'more' },
      last_seq: 2,
      updated_at: after.updated_at,
      version: after.version,
    });
    assert.equal(answer.headers.get('ETag'), `"${after.version}"`);
    assert.ok(after.updated_at > made.updated_at);
  }
  const { data } = expectStatus(await open.get(`/v1/threads/${made.id}/events`), 200);
  assert.deepEqual(
    data.map((e) => [e.kind, e.payload]),
    [
      [
        'conversation.created',
        {
          change: 'thread.created',
          to: 'active',
          title: 'old',
          agent: 'a',
          metadata: { k: 'v' },
        },
      ],
      [
        'conversation.updated',
        {
          change: 'thread.updated',
          changed: ['title', 'agent', 'context', 'event_max_age_s'],
          title: 'new',
          metadata: { k: 'v' },
        },
      ],
    ],
  );
});

test('a merge patch puts back the default of a document or a policy that it removes', async (t) => {
  const { open } = await startServer(t);
  const made = await make(open, {
    metadata: { a: 1 },
    run_policy: 'enqueue',
    prune_on_completion: true,
  });
  const after = expectStatus(
    await open.patch(
      `/v1/threads/${made.id}`,
      { metadata: null, run_policy: null, prune_on_completion: null },
      MERGE,
    ),
    200,
  );
  assert.deepEqual(
    [after.metadata, after.run_policy, after.prune_on_completion],
    [{}, 'reject', false],
  );
  expectFault(
    await open.patch(`/v1/threads/${made.id}`, { status: null }),
    422,
    'invalid_input',
    '/status',
    /removed/,
  );
});

test('a JSON patch applies whole or not at all', async (t) => {
  const { open } = await startServer(t);
  const made = await make(open, { title: 'old', important_steps: ['a', 'c'], context: { n: 1 } });
  const good = [
    { op: 'test', path: '/title', value: 'old' },
    { op: 'replace', path: '/title', value: 'new' },
    { op: 'add', path: '/important_steps/1', value: 'b' },
    { op: 'add', path: '/important_steps/-', value: 'd' },
    { op: 'copy', from: '/context/n', path: '/metadata/n' },
    { op: 'move', from: '/context/n', path: '/context/m' },
  ];
  const after = expectStatus(await open.patch(`/v1/threads/${made.id}`, good, PATCH), 200);
  assert.deepEqual(
    [after.title, after.important_steps, after.metadata, after.context],
    ['new', ['a', 'b', 'c', 'd'], { n: 1 }, { m: 1 }],
  );

  const refused = [
    [
      [
        { op: 'replace', path: '/title', value: 'x' },
        { op: 'test', path: '/title', value: 'no' },
      ],
      'patch_failed',
    ],
    [[{ op: 'remove', path: '/context/absent' }], 'patch_failed'],
    [[{ op: 'add', path: '/important_steps/9', value: 1 }], 'patch_failed'],
    [[{ op: 'explode', path: '/title' }], 'invalid_input'],
    [[{ op: 'add', path: 'title', value: 1 }], 'invalid_input'],
    [{ op: 'add', path: '/title', value: 1 }, 'invalid_input'],
    [[{ op: 'replace', path: '/status', value: 'asleep' }], 'invalid_input'],
    [[{ op: 'add', path: '/id', value: uuid() }], 'invalid_input'],
    [[{ op: 'replace', path: '', value: [] }], 'invalid_input'],
    [[{ op: 'remove', path: '/status' }], 'invalid_input'],
  ];
  for (const [patch, code] of refused) {
    const problem = expectProblem(
      await open.patch(`/v1/threads/${made.id}`, patch, PATCH),
      422,
      code,
    );
    assert.ok(problem.errors.length > 0, JSON.stringify(patch));
  }
  assert.deepEqual(expectStatus(await open.get(`/v1/threads/${made.id}`), 200), after);
});

test('a patch of an unknown media type is refused', async (t) => {
  const { open } = await startServer(t);
  const made = await make(open, {});
  const problem = expectProblem(
    await open.patch(`/v1/threads/${made.id}`, { title: 'x' }, { type: 'text/plain' }),
    415,
    'unsupported_media_type',
  );
  assert.match(problem.detail, /merge-patch\+json/);
});

test('If-Match lets the first of two writers through and tells the second', async (t) => {
  const { open } = await startServer(t);
  const made = await open.post('/v1/threads', { title: 'one' });
  const path = made.body.id;
  const held = { headers: { 'If-Match': made.headers.get('ETag') } };
  const both = await Promise.all([
    open.patch(`/v1/threads/${path}`, { title: 'two' }, held),
    open.patch(`/v1/threads/${path}`, { title: 'three' }, held),
  ]);
  assert.deepEqual(both.map((x) => x.status).sort(), [200, 412]);
  const loser = both.find((x) => x.status === 412);
  assert.match(expectProblem(loser, 412, 'stale_etag').detail, /"2"/);
  const winner = both.find((x) => x.status === 200);
  assert.deepEqual(expectStatus(await open.get(`/v1/threads/${path}`), 200), winner.body);
});

test('a stale or unknown ETag changes nothing, whatever the verb', async (t) => {
  const { open } = await startServer(t);
  const made = await make(open, { title: 'kept' });
  for (const tag of ['"99"', '"x"', 'W/"1"', '1', '""']) {
    const headers = { 'If-Match': tag };
    expectProblem(
      await open.patch(`/v1/threads/${made.id}`, { title: 'x' }, { headers }),
      412,
      'stale_etag',
    );
    expectProblem(await open.del(`/v1/threads/${made.id}`, { headers }), 412, 'stale_etag');
    expectProblem(
      await open.post(`/v1/threads/${made.id}/pause`, {}, { headers }),
      412,
      'stale_etag',
    );
    expectProblem(
      await open.post(`/v1/threads/${made.id}/cancel`, {}, { headers }),
      412,
      'stale_etag',
    );
  }
  assert.deepEqual(expectStatus(await open.get(`/v1/threads/${made.id}`), 200), made);
  expectStatus(
    await open.patch(`/v1/threads/${made.id}`, {}, { headers: { 'If-Match': '*' } }),
    200,
  );
});

test('If-None-Match spares a client what it has', async (t) => {
  const { open } = await startServer(t);
  const made = await make(open, { title: 'one' });
  for (const tag of ['"1"', 'W/"1"', '"7", "1"', '*']) {
    const same = await open.get(`/v1/threads/${made.id}`, { headers: { 'If-None-Match': tag } });
    expectStatus(same, 304);
    assert.deepEqual([same.text, same.headers.get('ETag')], ['', '"1"']);
  }
  const other = await open.get(`/v1/threads/${made.id}`, { headers: { 'If-None-Match': '"7"' } });
  expectStatus(other, 200);
});

test('a status changes as the table allows, and each change is an event', async (t) => {
  const { open } = await startServer(t);
  const made = await make(open, {});
  const move = (status) => open.patch(`/v1/threads/${made.id}`, { status });
  expectStatus(await move('paused'), 200);
  expectStatus(await move('error'), 200);
  const refused = expectProblem(await move('paused'), 409, 'transition_refused');
  assert.deepEqual(refused.allowed, ['active', 'cancelled']);
  expectStatus(await move('cancelled'), 200);
  expectStatus(await move('active'), 200);
  const events = expectStatus(await open.get(`/v1/threads/${made.id}/events`), 200).data;
  assert.deepEqual(
    events.map((e) => [e.seq, e.kind, e.payload.to]),
    [
      [1, 'conversation.created', 'active'],
      [2, 'status', 'paused'],
      [3, 'status', 'error'],
      [4, 'status', 'cancelled'],
      [5, 'status', 'active'],
    ],
  );
});

test('pause, resume and cancel move a thread and its run together', async (t) => {
  const { open } = await startServer(t);
  const made = await make(open, {});
  const run = expectStatus(
    await open.post(`/v1/threads/${made.id}/runs`, { dispatch: 'direct' }),
    201,
  );
  const runStatus = async () => expectStatus(await open.get(`/v1/runs/${run.id}`), 200).status;
  assert.equal(expectStatus(await open.post(`/v1/threads/${made.id}/pause`), 200).status, 'paused');
  assert.equal(await runStatus(), 'paused');
  assert.equal(
    expectStatus(await open.post(`/v1/threads/${made.id}/resume`, {}), 200).status,
    'active',
  );
  assert.equal(await runStatus(), 'running');
  expectProblem(await open.post(`/v1/threads/${made.id}/resume`), 409, 'transition_refused');
  const cancelled = expectStatus(
    await open.post(`/v1/threads/${made.id}/cancel`, { reason: 'enough' }),
    200,
  );
  assert.equal(cancelled.status, 'cancelled');
  assert.equal(cancelled.most_recent_run_id, run.id);
  assert.equal(await runStatus(), 'cancelled');
});

test('a deleted thread takes its runs and events with it, to the last row', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const made = await make(open, { metadata: { k: 'v' } });
  const other = await make(open, { metadata: { k: 'v' } });
  const run = expectStatus(
    await open.post(`/v1/threads/${made.id}/runs`, { dispatch: 'direct' }),
    201,
  );
  expectStatus(await open.patch(`/v1/threads/${made.id}`, { context: { a: 1 } }), 200);
  expectStatus(
    await open.post(`/v1/threads/${made.id}/events`, { kind: 'progress', run_id: run.id }),
    201,
  );
  expectStatus(await open.del(`/v1/threads/${made.id}`), 204);

  expectProblem(await open.get(`/v1/threads/${made.id}`), 404, 'not_found');
  expectProblem(await open.get(`/v1/runs/${run.id}`), 404, 'not_found');
  expectProblem(await open.get(`/v1/threads/${made.id}/events`), 404, 'not_found');
  expectProblem(await open.get(`/v1/threads/${made.id}/runs`), 404, 'not_found');
  expectProblem(await open.del(`/v1/threads/${made.id}`), 404, 'not_found');
  assert.deepEqual(await ids(open, 'metadata.k=v'), [other.id]);
  const told = expectStatus(await open.get('/v1/events'), 200).data;
  assert.deepEqual(
    told.filter((e) => e.thread_id === made.id).map((e) => e.payload.change),
    ['thread.deleted'],
    'the tenant-wide stream tells of the end',
  );
  await server.stop();
  const id = server.idLiteral(made.id);
  for (const table of ['runs', 'thread_metadata'])
    assert.deepEqual(
      server.sql(`SELECT count(*) FROM ${table} WHERE thread_id = ${id}`),
      [[0]],
      table,
    );
  assert.deepEqual(server.sql('SELECT count(*) FROM run_undo'), [[0]]);
  // The events are deleted after every node has sent them; here, that time has passed.
  server.sql('UPDATE event_garbage SET added_at = 0');
  await server.start();
  await eventually(
    () => server.sql(`SELECT count(*) FROM events WHERE thread_id = ${id}`)[0][0] === 1,
    'more than the word of its end was left',
  );
});

test('bad input to the threads names each field and its rule, and changes nothing', async (t) => {
  const { open } = await startServer(t);
  const made = await make(open, { title: 'kept' });
  const bad = [
    [{ title: 7 }, '/title', /string/],
    [{ title: 'x'.repeat(1025) }, '/title', /at most/],
    [{ agent: '' }, '/agent', /at least 1/],
    [{ status: 'asleep' }, '/status', /"active", "paused", "cancelled", "error"/],
    [{ context: [] }, '/context', /object/],
    [{ preferences: 'x' }, '/preferences', /object/],
    [{ important_steps: 1 }, '/important_steps', /object or an array/],
    [{ metadata: [] }, '/metadata', /object/],
    [{ metadata: { big: 'x'.repeat(110000) } }, '/metadata', /at most/],
    [{ error: 'x' }, '/error', /object/],
    [{ run_policy: 'queue' }, '/run_policy', /"reject"/],
    [{ prune_on_completion: 'yes' }, '/prune_on_completion', /boolean|true|false/],
    [{ event_max_age_s: 0 }, '/event_max_age_s', /at least 1/],
    [{ event_max_age_s: '60' }, '/event_max_age_s', /number/],
    [{ colour: 'red' }, '/colour', /not a member/],
    [{ 'a/b~c': 1 }, '/a~1b~0c', /not a member/],
    [{ last_seq: 5 }, '/last_seq', /./],
  ];
  for (const [body, pointer, rule] of bad) {
    expectFault(await open.post('/v1/threads', body), 422, 'invalid_input', pointer, rule);
    expectFault(
      await open.patch(`/v1/threads/${made.id}`, body),
      422,
      'invalid_input',
      pointer,
      rule,
    );
  }
  const several = expectProblem(
    await open.post('/v1/threads', { title: 1, agent: 2, nope: 3 }),
    422,
    'invalid_input',
  );
  assert.deepEqual(several.errors.map((e) => e.pointer).sort(), ['/agent', '/nope', '/title']);
  expectFault(
    await open.post('/v1/threads', { status: 'paused' }),
    422,
    'invalid_input',
    '/status',
  );
  assert.deepEqual(expectStatus(await open.get('/v1/threads?include=documents'), 200).data, [made]);
});

test('a status given in a patch moves the active run along, as the verb does', async (t) => {
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201);
  const run = expectStatus(
    await server.open.post(`/v1/threads/${thread.id}/runs`, { dispatch: 'direct' }),
    201,
  );
  for (const [status, runStatus] of [
    ['paused', 'paused'],
    ['active', 'running'],
    ['cancelled', 'cancelled'],
  ]) {
    const current = await server.open.get(`/v1/threads/${thread.id}`);
    const patched = await server.open.patch(
      `/v1/threads/${thread.id}`,
      { status, title: `now ${status}` },
      { headers: { 'If-Match': current.headers.get('ETag') } },
    );
    assert.equal(expectStatus(patched, 200).status, status);
    assert.equal(patched.body.title, `now ${status}`);
    const after = expectStatus(await server.open.get(`/v1/runs/${run.id}`), 200);
    assert.equal(after.status, runStatus);
  }
});
