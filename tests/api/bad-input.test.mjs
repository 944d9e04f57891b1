// SPDX-License-Identifier: Apache-2.0
// Bad input: each kind is refused with the field and the rule, and changes nothing.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  eventually,
  expectFault,
  expectProblem,
  expectStatus,
  startServer,
  twoTenants,
  uuid,
  withKey,
} from './lib/server.mjs';

/** All that a tenant can see of itself: equal when nothing changed in between. */
async function everything(client) {
  const state = {};
  for (const list of [
    '/v1/threads?include=documents',
    '/v1/runs?include=documents',
    '/v1/events',
    '/v1/keys',
    '/v1/audit',
  ])
    state[list] = expectStatus(await client.get(list), 200);
  return state;
}

test('bad input is refused with the field and the rule, and nothing changes', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const thread = expectStatus(await alice.post('/v1/threads', { title: 'kept' }), 201);
  const run = expectStatus(
    await alice.post(`/v1/threads/${thread.id}/runs`, { user_input: 'x' }),
    201,
  );
  const theirs = expectStatus(await bob.post('/v1/threads', {}), 201);
  const theirRun = expectStatus(await bob.post(`/v1/threads/${theirs.id}/runs`, {}), 201);
  const before = await everything(alice);
  const beforeBob = await everything(bob);
  const threadPath = `/v1/threads/${thread.id}`;
  const refuse = (name, ask) =>
    t.test(name, async () => {
      await ask();
      assert.deepEqual(await everything(alice), before, 'alice has what she had');
      assert.deepEqual(await everything(bob), beforeBob, 'bob has what he had');
    });

  await refuse('an unknown field', async () => {
    expectFault(
      await alice.post('/v1/threads', { colour: 1 }),
      422,
      'invalid_input',
      '/colour',
      /not a member/,
    );
    expectFault(
      await alice.post(`${threadPath}/events`, { kind: 'progress', level: 1 }),
      422,
      'invalid_input',
      '/level',
      /not a member/,
    );
    expectFault(
      await alice.post(`${threadPath}/events`, {
        events: [{ kind: 'progress' }, { kind: 'progress', x: 1 }],
      }),
      422,
      'invalid_input',
      '/events/1/x',
      /not a member/,
    );
    expectFault(
      await alice.post(`${threadPath}/pause`, { really: true }),
      422,
      'invalid_input',
      '/really',
      /not a member/,
    );
  });
  await refuse('a wrong type', async () => {
    expectFault(
      await alice.post(`${threadPath}/events`, { kind: 5 }),
      422,
      'invalid_input',
      '/kind',
      /string/,
    );
    expectFault(
      await alice.post(`${threadPath}/runs`, { ask_clarifications: 1 }),
      422,
      'invalid_input',
      '/ask_clarifications',
      /./,
    );
    expectFault(
      await alice.post('/v1/runs/claim', { worker: 'w', lease_ms: '5000' }),
      422,
      'invalid_input',
      '/lease_ms',
      /number/,
    );
    expectFault(await alice.post('/v1/threads', []), 422, 'invalid_input', '', /object/);
    expectFault(await alice.post('/v1/threads', 'x'), 422, 'invalid_input', '', /object/);
  });
  await refuse('a missing field', async () => {
    expectFault(await alice.post('/v1/runs/claim', {}), 422, 'invalid_input', '/worker', /given/);
    expectFault(
      await alice.post(`/v1/runs/${run.id}/input`, {}),
      422,
      'invalid_input',
      '/input',
      /given/,
    );
    expectFault(await alice.post(`${threadPath}/events`, {}), 422, 'invalid_input', '/kind', /./);
    expectFault(
      await alice.post('/workflow/start', {}),
      422,
      'invalid_input',
      '/user_input',
      /given/,
    );
  });
  await refuse('an oversized body', async () => {
    const raw = `{"title":"${'x'.repeat(4 * 1024 * 1024)}"}`;
    const problem = expectStatus(await alice.post('/v1/threads', undefined, { raw }), 413);
    assert.equal(problem.code, 'body_too_large');
    assert.match(problem.detail, /4194304|limit|large/);
  });
  await refuse('a bad UUID', async () => {
    for (const id of ['7', 'x'.repeat(36), `${uuid()}0`, uuid().replaceAll('-', ''), `{${uuid()}}`])
      expectFault(
        await alice.get(`/v1/threads/${encodeURIComponent(id)}`),
        422,
        'invalid_input',
        'thread_id',
        /UUID/,
      );
    expectFault(
      await alice.patch('/v1/runs/nope', { status: 'paused' }),
      422,
      'invalid_input',
      'run_id',
      /UUID/,
    );
    expectFault(
      await alice.get('/v1/runs?thread_id=nope'),
      422,
      'invalid_input',
      'thread_id',
      /UUID/,
    );
    expectFault(
      await alice.post(`${threadPath}/runs`, { parent_run_id: 'nope' }),
      422,
      'invalid_input',
      '/parent_run_id',
      /UUID/,
    );
  });
  await refuse('a bad cursor', async () => {
    for (const list of ['/v1/threads', '/v1/runs', '/v1/keys', `${threadPath}/runs`, '/v1/audit'])
      expectFault(
        await alice.get(`${list}?cursor=%21%21`),
        400,
        'invalid_cursor',
        'cursor',
        /next_cursor/,
      );
    for (const list of [`${threadPath}/events`, '/v1/events', `${threadPath}/events/stream`])
      for (const cursor of ['x', '-1', '1.5', '', '99999999999999999999'])
        expectFault(
          await alice.get(`${list}?after=${cursor}`),
          400,
          'invalid_cursor',
          'after',
          /cursor/,
        );
    expectFault(
      await alice.get(`${threadPath}/events?after=0~0`),
      400,
      'invalid_cursor',
      'after',
      /cursor/,
    );
  });
  await refuse('a cursor ahead of the log', async () => {
    for (const list of [
      `${threadPath}/events`,
      '/v1/events',
      `${threadPath}/events/stream`,
      '/v1/events/stream',
    ])
      expectFault(
        await alice.get(`${list}?after=1000000`),
        400,
        'invalid_cursor',
        'after',
        /newest event/,
      );
    expectFault(
      await alice.get(`${threadPath}/events/stream`, { headers: { 'Last-Event-ID': '1000000' } }),
      400,
      'invalid_cursor',
      'after',
      /newest event/,
    );
    expectFault(
      await alice.post(`${threadPath}/events/prune`, { through_seq: 1000000 }),
      422,
      'invalid_input',
      '/through_seq',
      /newest event/,
    );
  });
  await refuse('an unknown kind of event', async () => {
    for (const kind of ['progres', 'PROGRESS', 'a b.c', '.x', 'x.', '', 'gap'])
      expectFault(
        await alice.post(`${threadPath}/events`, { kind }),
        422,
        'invalid_input',
        '/kind',
        /./,
      );
    expectFault(
      await alice.get(`${threadPath}/events?kind=progres`),
      422,
      'invalid_input',
      'kind',
      /./,
    );
    expectFault(
      await alice.get('/v1/events/stream?kind=progres'),
      422,
      'invalid_input',
      'kind',
      /./,
    );
  });
  await refuse("another tenant's id", async () => {
    expectProblem(await alice.get(`/v1/threads/${theirs.id}`), 404, 'not_found');
    expectProblem(
      await alice.patch(`/v1/threads/${theirs.id}`, { title: 'mine' }),
      404,
      'not_found',
    );
    expectProblem(await alice.del(`/v1/threads/${theirs.id}`), 404, 'not_found');
    expectProblem(await alice.post(`/v1/runs/${theirRun.id}/cancel`), 404, 'not_found');
    expectProblem(
      await alice.post(`/v1/threads/${theirs.id}/events`, { kind: 'progress' }),
      404,
      'not_found',
    );
    expectProblem(await alice.del(`/v1/keys/${bob.keyId}`), 404, 'not_found');
  });
  await refuse('a stale ETag', async () => {
    const headers = { 'If-Match': '"99"' };
    expectProblem(await alice.patch(threadPath, { title: 'x' }, { headers }), 412, 'stale_etag');
    expectProblem(
      await alice.patch(`/v1/runs/${run.id}`, { metadata: { a: 1 } }, { headers }),
      412,
      'stale_etag',
    );
    expectProblem(
      await alice.post(`/v1/runs/${run.id}/cancel`, {}, { headers }),
      412,
      'stale_etag',
    );
    expectProblem(await alice.del(threadPath, { headers }), 412, 'stale_etag');
  });
  await refuse('an ETag where there is none to match', async () => {
    const headers = { 'If-Match': '"1"' };
    expectFault(
      await alice.post('/v1/threads', {}, { headers }),
      422,
      'invalid_input',
      'If-Match',
      /no ETag/,
    );
    expectFault(
      await alice.post(`${threadPath}/events`, { kind: 'progress' }, { headers }),
      422,
      'invalid_input',
      'If-Match',
      /no ETag/,
    );
  });
  await refuse('an unknown query parameter', async () => {
    expectFault(
      await alice.post('/v1/threads?dry_run=1', {}),
      422,
      'invalid_input',
      'dry_run',
      /not a parameter/,
    );
    expectFault(
      await alice.del(`${threadPath}?force=1`),
      422,
      'invalid_input',
      'force',
      /not a parameter/,
    );
    expectFault(
      await alice.get('/healthz?verbose=1'),
      422,
      'invalid_input',
      'verbose',
      /not a parameter/,
    );
  });
  await refuse('a body where none is taken', async () => {
    expectProblem(await alice.request('DELETE', threadPath, { body: {} }), 400, 'bad_request');
  });
  await refuse('a bad fencing token', async () => {
    for (const token of ['x', '0', '-1', '1.5', ''])
      expectFault(
        await alice.patch(
          `/v1/runs/${run.id}`,
          { metadata: { a: 1 } },
          { headers: { 'Cairn-Fencing-Token': token } },
        ),
        422,
        'invalid_input',
        'Cairn-Fencing-Token',
        /fencing token/,
      );
  });
});

test('many faults are told at once, and how many more there are', async (t) => {
  const { open } = await startServer(t);
  const body = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`wrong${i}`, i]));
  const problem = expectProblem(await open.post('/v1/threads', body), 422, 'invalid_input');
  assert.deepEqual(
    problem.errors.map((e) => e.pointer),
    Object.keys(body)
      .slice(0, 32)
      .map((n) => `/${n}`),
  );
  assert.equal(problem.errors_untold, 8);
  const whole = expectProblem(await open.post('/v1/threads', []), 422, 'invalid_input');
  assert.match(whole.detail, /^the body must be an object/);
});

test('a missing scope and an expired key are refused before the input is judged', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const thread = expectStatus(await alice.post('/v1/threads', { title: 'kept' }), 201);
  const reader = await withKey(alice, ['threads:read']);
  const brief = await withKey(alice, ['admin'], {
    expires_at: new Date(Date.now() + 1000).toISOString(),
  });
  await eventually(async () => (await brief.get('/v1/whoami')).status === 401);
  const bodies = [{ title: 'x' }, { colour: 1 }, [], 'x'];
  for (const body of bodies) {
    expectProblem(await reader.patch(`/v1/threads/${thread.id}`, body), 403, 'forbidden');
    expectProblem(await brief.patch(`/v1/threads/${thread.id}`, body), 401, 'key_expired');
    expectProblem(
      await server.open.patch(`/v1/threads/${thread.id}`, body),
      401,
      'unauthenticated',
    );
    expectProblem(await reader.patch('/v1/threads/nope', body), 403, 'forbidden');
  }
  assert.deepEqual(expectStatus(await alice.get(`/v1/threads/${thread.id}`), 200), thread);
});

test('a body that is not strict JSON is refused with the byte and the rule', async (t) => {
  const { open } = await startServer(t);
  const nest = (n) => '['.repeat(n) + ']'.repeat(n);
  const bad = {
    'nothing': ' ',
    'a duplicate key': '{"title":"a","title":"b"}',
    'a duplicate key, escaped': '{"title":"a","\\u0074itle":"b"}',
    'a duplicate key, deep inside': '{"context":{"a":{"k":1,"k":1}}}',
    'depth 129': `{"context":{"a":${nest(127)}}}`,
    'invalid UTF-8': Buffer.from([...Buffer.from('{"title":"'), 0xff, ...Buffer.from('"}')]),
    'overlong UTF-8': Buffer.from([...Buffer.from('{"title":"'), 0xc0, 0xaf, ...Buffer.from('"}')]),
    'a surrogate in UTF-8': Buffer.from([
      ...Buffer.from('{"title":"'),
      0xed,
      0xa0,
      0x80,
      ...Buffer.from('"}'),
    ]),
    'a lone surrogate': '{"title":"\\ud800"}',
    'surrogates in the wrong order': '{"title":"\\udc00\\ud800"}',
    'a control character': '{"title":"a\nb"}',
    'a raw NUL': '{"title":"a\u0000b"}',
    'a byte order mark': '\ufeff{}',
    'a comment': '{} // no',
    'a trailing comma': '{"title":"a",}',
    'two values': '{}{}',
    'single quotes': "{'title':'a'}",
    'a leading zero': '{"event_max_age_s":060}',
    'NaN': '{"event_max_age_s":NaN}',
    'an end too soon': '{"title":"a"',
  };
  for (const [name, raw] of Object.entries(bad)) {
    const answer = await open.post('/v1/threads', undefined, { raw });
    assert.match(
      expectProblem(answer, 400, 'invalid_json').detail,
      /^byte \d+ of the body: ./,
      name,
    );
  }
  assert.deepEqual(expectStatus(await open.get('/v1/threads'), 200).data, []);
  const deep = await open.post('/v1/threads', undefined, { raw: `{"context":{"a":${nest(126)}}}` });
  expectStatus(deep, 201);
});

test('U+0000 is refused wherever text may stand, and the place is named', async (t) => {
  const { open } = await startServer(t);
  for (const raw of [
    '{"title":"a\\u0000b"}',
    '{"context":{"k":"a\\u0000b"}}',
    '{"context":{"a\\u0000b":1}}',
  ]) {
    const answer = await open.post('/v1/threads', undefined, { raw });
    assert.equal(
      expectProblem(answer, 400, 'invalid_json').detail,
      `byte ${raw.indexOf('\\u0000')} of the body: \\u0000 is not allowed`,
    );
  }
  expectFault(await open.get('/v1/threads?title=a%00b'), 422, 'invalid_input', 'title', /U\+0000/);
  expectFault(await open.get('/v1/threads?a%00b=1'), 422, 'invalid_input', 'query', /U\+0000/);
  expectFault(
    await open.get('/v1/threads?metadata.k=%00'),
    422,
    'invalid_input',
    'metadata.k',
    /U\+0000/,
  );
  assert.deepEqual(expectStatus(await open.get('/v1/threads'), 200).data, []);
});

test('a body must be JSON by its Content-Type, or have none', async (t) => {
  const { open } = await startServer(t);
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/merge-patch+json',
  ])
    expectProblem(await open.post('/v1/threads', {}, { type }), 415, 'unsupported_media_type');
  for (const type of ['application/json', 'Application/JSON; charset=utf-8'])
    expectStatus(await open.post('/v1/threads', {}, { type }), 201);
});

/** Rules between members, or between a request and what exists: [request, status, part of the
 * answer]. */
const rules = ({ thread, direct, queued, agent, team, checkpointed, latest }) => {
  const of = `/v1/threads/${thread}`;
  const get = (path) => ['GET', path];
  const put = (path, body) => ['PUT', path, body];
  const post = (path, body) => ['POST', path, body];
  const patch = (path, body) => ['PATCH', path, body];
  const values = { channel_values: {} };
  return [
    [post(`${of}/checkpoints/prune`, {}), 422, '/keep_latest'],
    [post(`${of}/checkpoints/prune`, { older_than: '2026-01-01T00:00:00Z', older_than_s: 1 }), 422,
      '/older_than_s'],
    [post(`${of}/checkpoints`, {}), 422, 'must be given unless changes is given'],
    [post(`${of}/checkpoints`, { ...values, expected_latest: uuid() }), 409,
      'the namespace has no checkpoint'],
    [post(`/v1/threads/${checkpointed}/checkpoints`, { ...values, expected_latest: uuid() }), 409,
      `the latest checkpoint is ${latest}`],
    [post(`${of}/checkpoints`, { ...values, pending_sends: [1] }), 422, '/pending_sends/0'],
    [post(`${of}/checkpoints`, { ...values, channel_versions: { a: [] } }), 422,
      '/channel_versions/a'],
    [post(`${of}/checkpoints`, { ...values, versions_seen: { n: { a: null } } }), 422,
      '/versions_seen/n/a'],
    [post(`${of}/checkpoints`, { ...values, versions_seen: { n: 1 } }), 422, '/versions_seen/n'],
    [post(`${of}/checkpoints`, { changes: { set: { a: 1 } } }), 422, 'requires a parent'],
    [post(`/v1/threads/${checkpointed}/checkpoints`,
      { changes: { set: { a: 1 }, append: { a: [1] } } }), 422, 'must not be in set too'],
    [post(`/v1/threads/${checkpointed}/checkpoints`,
      { changes: { set: { a: 1 }, remove: ['a'] } }), 422, 'must not be in set or append too'],
    [post(`/v1/threads/${checkpointed}/checkpoints`, { ...values, parent_id: uuid() }), 422,
      'must be another checkpoint of this thread and namespace'],

    [patch(`/v1/runs/${direct}`, { status: 'queued' }), 409, 'cannot be queued'],
    [patch(`/v1/runs/${queued}`, { status: 'running' }), 409, 'when a worker claims it'],
    [post(`/v1/runs/${direct}/resume`), 409, 'the run is not paused'],
    [post(`/v1/runs/${direct}/input`, { input: {} }), 409, 'the run is not waiting'],
    [post(`/v1/runs/${direct}/tool-results`, { results: [{ tool_use_id: 'a', content: 'x' }] }),
      409, 'has not named any tool'],
    [post(`/v1/runs/${direct}/tools`, { tools: [{ tool_use_id: 'a', name: 'x', side: 'frontend' },
      { tool_use_id: 'a', name: 'y', side: 'frontend' }] }), 422, '/tools/1/tool_use_id'],
    [post(`/v1/runs/${direct}/turns`, { input: {} }), 422, 'must have a message or tool_results'],
    [post(`/v1/runs/${direct}/turns`, { input: { message: 'x' }, output: { status: 'running' } }),
      422, '/output/status'],
    [post(`/v1/runs/${direct}/turns`,
      { input: { message: 'x' }, output: { status: 'failed' }, status: 'complete' }), 422,
    'must be equal to the status of the turn'],
    [post(`${of}/runs`, { agent_version: '1.0.0' }), 422, 'only together with agent_id'],

    [post(`/v1/agents/${agent}/versions`, {}), 422, 'must be given unless bump is given'],
    [post(`/v1/agents/${agent}/versions`, { bump: 'patch', version: '9.0.0' }), 422, 'not both'],
    [post(`/v1/agents/${agent}/versions`, { version: '1.0.0' }), 422,
      'must be greater than the newest version'],
    [put(`/v1/agents/${agent}/links/${team}`, { role: 'x' }), 409, 'has the kind agent'],
    [post('/v1/agents', { name: 'w', kind: 'workflow' }), 422, 'must be given for a workflow'],
    [get(`/v1/agents/${agent}/versions/7.0.0`), 404, 'the agent has no version'],

    [post('/v1/threads', { status: 'paused' }), 422, 'must be active for a new thread'],
    [post(`${of}/events/prune`, { through_seq: 1, finished: true }), 422, 'exactly one of'],
    [post(`${of}/events/prune`, {}), 422, 'exactly one of'],
    [post(`${of}/shares`, { kind: 'copy', permission: 'read' }), 422, 'must be read_write'],
    [post(`${of}/messages`, { content: '/a "b', type: 'command' }), 422, 'must close the quote'],
    [post(`${of}/messages`, { content: '/a "b"c', type: 'command' }), 422, 'must have a blank'],
    [post(`${of}/messages`, { content: '/a b=1 b=2', type: 'command' }), 422,
      'must not repeat the option'],
    [post(`${of}/messages`, { content: 'x', parent_id: uuid() }), 422, 'parent_id'],
    [get(`${of}/messages/search?q=%22a`), 422, 'must close every quote'],
    [get(`${of}/messages/search?q=-a`), 422, 'must have a required word'],
    [get('/v1/store/items?namespace=a.&key=k'), 422, 'must not end in a'],
    [get('/v1/steps/summary'), 422, 'exactly one of run_id and thread_id'],
  ];
};

test('rules between members and rows are enforced', async (t) => {
  const { open } = await startServer(t);
  const made = async (path, body) => expectStatus(await open.post(path, body), 201).id;
  const [thread, other, checkpointed] = [await made('/v1/threads', {}),
    await made('/v1/threads', {}), await made('/v1/threads', {})];
  const place = {
    thread, checkpointed,
    direct: await made(`/v1/threads/${thread}/runs`, { dispatch: 'direct' }),
    queued: await made(`/v1/threads/${other}/runs`, { dispatch: 'queue' }),
    agent: await made('/v1/agents', { name: 'agent' }),
    team: await made('/v1/agents', { name: 'team', kind: 'team' }),
    latest: await made(`/v1/threads/${checkpointed}/checkpoints`, { channel_values: { a: [] } }),
  };
  for (const [[method, path, body], status, part] of rules(place)) {
    const answer = await open.request(method, path, { body });
    const told = `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`;
    assert.equal(answer.status, status, told);
    assert.ok(answer.text.includes(part), `${told} does not have "${part}"`);
  }
});
