// SPDX-License-Identifier: Apache-2.0
// Every command on a resource: what it asks, what it prints, as a table and as JSON.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { newCli } from './lib/cli.mjs';
import { atEnd } from './lib/ending.mjs';
import { expectStatus, startServer, twoTenants, uuid } from './lib/server.mjs';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

test('threads are created, listed, shown and deleted', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  assert.deepEqual(await cli.rows('thread', 'list'), []);
  const made = await cli.json(
    ...['thread', 'create', '--title', 'a "title"', '--agent', 'pilot', '--metadata', '{"k": 1}'],
    ...['--run-policy', 'enqueue', '--event-max-age=60', '--prune-on-completion'],
  );
  assert.equal(made.title, 'a "title"');
  assert.deepEqual(made.metadata, { k: 1 });
  assert.equal(made.run_policy, 'enqueue');
  assert.equal(made.event_max_age_s, 60);
  assert.equal(made.prune_on_completion, true);
  const [row] = await cli.rows('thread', 'list');
  assert.deepEqual(row.slice(0, 5), [made.id, 'active', 'a "title"', 'pilot', '1']);
  assert.match(row[5], TIME);
  assert.deepEqual(await cli.json('thread', 'get', made.id), made);
  assert.equal(expectStatus(await server.open.get(`/v1/threads/${made.id}`), 200).agent, 'pilot');

  await cli.refused(1, /--yes is required/, 'thread', 'delete', made.id);
  const dry = await cli.ok('thread', 'delete', made.id, '--dry-run');
  assert.match(dry.stderr, /^Would send DELETE \/v1\/threads\/\S+ to http:.*nothing was changed/);
  assert.equal(JSON.parse(dry.stdout).id, made.id);
  expectStatus(await server.open.get(`/v1/threads/${made.id}`), 200);
  const deleted = await cli.ok('thread', 'delete', '--yes', made.id);
  assert.equal(deleted.stdout, '');
  assert.equal(deleted.stderr, 'The thread is deleted.\n');
  await cli.refused(1, /\(404 not_found\)$/m, 'thread', 'get', made.id);
  await cli.refused(1, /\(404 not_found\)$/m, 'thread', 'delete', made.id, '--dry-run');
});

test('threads are made, listed and found by keys of their user', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const made = await cli.json('thread', 'create', '--key', 'chat/1 ü');
  assert.equal(made.key, 'chat/1 ü');
  assert.deepEqual(await cli.json('thread', 'find', 'chat/1 ü'), made);
  assert.deepEqual(await cli.json('thread', 'ensure', 'chat/1 ü', '--title', 'unused'), made);
  const other = await cli.json('thread', 'ensure', 'chat/2', '--title', 'new');
  assert.deepEqual([other.key, other.title], ['chat/2', 'new']);
  assert.deepEqual((await cli.rows('thread', 'list', '--key', 'chat/2')).map((r) => r[0]),
    [other.id]);
  await cli.refused(1, /\(409 conflict\)$/m, 'thread', 'create', '--key', 'chat/2');
  await cli.refused(1, /\(404 not_found\)$/m, 'thread', 'find', 'chat/3');
});

test('checkpoints are listed of a thread or of all', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const [one, two] = [await cli.json('thread', 'create'), await cli.json('thread', 'create')];
  const put = async (thread, source) => expectStatus(
    await server.open.post(`/v1/threads/${thread.id}/checkpoints`,
      { channel_values: {}, metadata: { source } }), 201).id;
  const [a, b, c] = [await put(one, 'input'), await put(two, 'loop'), await put(one, 'loop')];
  const listed = async (...words) =>
    (await cli.rows('checkpoint', 'list', ...words)).map((row) => row[0]);
  assert.deepEqual(await listed(), [c, b, a]);
  assert.deepEqual(await listed(one.id), [c, a]);
  assert.deepEqual(await listed('--metadata', 'source=loop', '--id-before', c), [b]);
  await cli.refused(1, /before/, 'checkpoint', 'list', '--before', a);
});

test('messages are sent, listed either way, found, edited and deleted', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201).id;
  const made = await cli.json('message', 'send', thread, '--content', 'first words');
  const many = await cli.json('message', 'send', thread,
    '--messages', '[{"content":"second"},{"content":"third"}]');
  assert.equal(many.count, 2);
  const contents = async (...args) =>
    (await cli.rows('message', 'list', thread, ...args)).map((row) => row.at(-1));
  assert.deepEqual(await contents(), ['third', 'second', 'first words']);
  assert.deepEqual(await contents('--after', '0'), ['first words', 'second', 'third']);
  assert.deepEqual(await contents('--before', String(many.last_seq)), ['second', 'first words']);
  const edited = await cli.json('message', 'edit', thread, made.id, '--content', 'other words',
    '--if-match', '"1"');
  assert.equal(edited.version, 2);
  await cli.refused(1, /stale_etag/, 'message', 'edit', thread, made.id, '--content', 'x',
    '--if-match', '"1"');
  assert.equal((await cli.json('message', 'get', thread, made.id)).content, 'other words');
  const file = join(cli.home, 'said.txt');
  writeFileSync(file, 'from a file\n');
  assert.equal((await cli.json('message', 'send', thread, '--content', `@${file}`)).content,
    'from a file\n');
  assert.equal((await cli.json('message', 'send', thread, '--content', '@@bob')).content, '@bob');
  await cli.refused(1, /write @@ for a text/, 'message', 'send', thread, '--content',
    '@/nowhere/at/all');
  const [old] = await cli.rows('message', 'history', thread, made.id);
  assert.equal(old[2], 'first words');
  for (const where of [[thread], []]) {
    const [found] = await cli.rows('message', 'search', ...where, '-q', 'other');
    assert.deepEqual([found[2], found.at(-1)], [made.id, 'other words']);
  }
  for (const where of [[], [thread]]) {
    const [hit] = await cli.rows('message', 'search', ...where, 'words', 'other');
    assert.equal(hit.at(-1), 'other words');
  }
  await cli.refused(2, /WORD is missing/, 'message', 'search', thread);
  await cli.refused(2, /only once/, 'message', 'search', 'a', '-q', 'b');
  await cli.ok('message', 'delete', thread, made.id, '--yes');
  assert.deepEqual(await cli.rows('message', 'search', '-q', 'other'), []);
});

test('a list pages by itself, up to its limit or all of it', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const ids = [];
  for (let i = 0; i < 205; i++)
    ids.unshift(expectStatus(await server.open.post('/v1/threads', { title: `t${i}` }), 201).id);
  const shown = (rows) => rows.map(([id]) => id);
  assert.deepEqual(shown(await cli.rows('thread', 'list')), ids.slice(0, 100));
  assert.deepEqual(shown(await cli.rows('thread', 'list', '--limit', '203')), ids.slice(0, 203));
  assert.deepEqual(shown(await cli.rows('thread', 'list', '--all')), ids);
  const whole = await cli.json('thread', 'list', '--all', '--json');
  assert.deepEqual(whole.data.map(({ id }) => id), ids);
  assert.equal(whole.has_more, false);
  assert.equal(whole.next_cursor, null);
  const part = await cli.json('thread', 'list', '--limit', '2', '--json');
  assert.equal(part.data.length, 2);
  assert.equal(part.has_more, true);
  const next = await server.open.get(`/v1/threads?cursor=${part.next_cursor}`);
  assert.equal(expectStatus(next, 200).data[0].id, ids[2]);
  const lines = await cli.jsonl('thread', 'list', '--limit', '3', '--jsonl');
  assert.deepEqual(lines.map(({ id }) => id), ids.slice(0, 3));
  assert.deepEqual(await cli.json('thread', 'list', '--title', 'nothing', '--json'), {
    data: [],
    has_more: false,
    next_cursor: null,
  });
});

/** Something that answers as it likes: `reply` gives [status, headers, document]. */
async function startLiar(t, reply) {
  const server = createServer((request, answer) => {
    const [status, headers, body] = reply(new URL(request.url, 'http://x'));
    answer.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    answer.end(JSON.stringify(body));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  atEnd(t, () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  return { url: `http://127.0.0.1:${server.address().port}` };
}

test('a list that cannot be one is refused', async (t) => {
  let page;
  const cli = newCli(t, await startLiar(t, () => [200, {}, page]));
  for (page of [{ data: 5 }, { data: {} }, {}, [], 5])
    await cli.refused(1, /^cairn thread list: .* answer is not a list$/m, 'thread', 'list');
  for (const next of [null, 7, undefined]) {
    page = { data: [], has_more: true, next_cursor: next };
    await cli.refused(1, /there is more, but returned no cursor/, 'thread', 'list', '--all');
  }
  page = { data: [{ id: 'a' }], has_more: true, next_cursor: 'again' };
  const { code, stdout, stderr } = await cli('thread', 'list', '--all');
  assert.deepEqual([code, stdout.split('\t')[0]], [1, 'a']);
  assert.match(stderr, /there is more, but returned no cursor/);
});

test('a page that is longer than asked for shows no more than was asked for', async (t) => {
  const data = [1, 2, 3, 4].map((i) => ({ id: `t${i}` }));
  const cli = newCli(t, await startLiar(t, () =>
    [200, {}, { data, has_more: true, next_cursor: 'next' }]));
  const shown = await cli.json('thread', 'list', '--limit', '3', '--json');
  assert.deepEqual(shown, { data: data.slice(0, 3), has_more: true, next_cursor: null });
  const whole = await cli.json('thread', 'list', '--limit', '4', '--json');
  assert.deepEqual(whole, { data, has_more: true, next_cursor: 'next' });
});

test('an answer that sends elsewhere is a failure that names the place', async (t) => {
  const Location = 'https://elsewhere.example/\u009b2J';
  const cli = newCli(t, await startLiar(t, () => [307, { Location }, { data: [] }]));
  for (const args of [
    ['thread', 'list'],
    ['thread', 'get', uuid()],
    ['thread', 'create'],
    ['thread', 'delete', uuid(), '--yes'],
    ['thread', 'delete', uuid(), '--dry-run'],
  ]) {
    const said = await cli.refused(1, /answered 307 and redirects to https:\/\/elsewhere\.example/,
      ...args);
    assert.doesNotMatch(said, /[\u0080-\u009f]/);
  }
  const lost = newCli(t, await startLiar(t, () => [304, {}, null]));
  await lost.refused(1, /the server answered 304; --url/, 'thread', 'list');
});

test('threads are filtered', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const one = await cli.json('thread', 'create', '--agent', 'a', '--metadata', '{"c":"x=y&z"}');
  const two = await cli.json('thread', 'create', '--title', 'Käse & Brot', '--agent', 'b');
  const listed = async (...args) => (await cli.rows('thread', 'list', ...args)).map(([id]) => id);
  assert.deepEqual(await listed('--agent', 'a'), [one.id]);
  assert.deepEqual(await listed('--metadata', 'c=x=y&z'), [one.id]);
  assert.deepEqual(await listed('--title', 'Käse &'), [two.id]);
  assert.deepEqual(await listed('--status', 'active'), [two.id, one.id]);
  assert.deepEqual(await listed('--created-after', two.created_at), [two.id]);
  await cli.refused(2, /--metadata must be KEY=VALUE; see/, 'thread', 'list', '--metadata', 'c');
  await cli.refused(1, /created_after/, 'thread', 'list', '--created-after', 'yesterday');
});

test('a run goes through its life', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const thread = await cli.json('thread', 'create');
  await cli.refused(1, /^cairn run claim: there is no run to claim$/m, 'run', 'claim', '--worker',
    'w');
  const run = await cli.json('run', 'start', thread.id, '--input', 'hi', '--state', '{"n":1}',
    '--ask-clarifications');
  assert.equal(run.status, 'queued');
  assert.equal(run.user_input, 'hi');
  assert.deepEqual(run.state, { n: 1 });
  assert.equal(run.ask_clarifications, true);
  await cli.refused(1, /\(409 run_active\)/, 'run', 'start', thread.id);
  assert.equal((await cli.json('run', 'pause', run.id)).status, 'paused');
  assert.equal((await cli.json('run', 'resume', run.id)).status, 'queued');
  const claimed = await cli.json('run', 'claim', '--worker', 'w', '--lease', '60000', '--thread',
    thread.id, '--wait', '5');
  assert.equal(claimed.id, run.id);
  assert.equal(claimed.worker, 'w');
  assert.equal(claimed.lease_ms, 60000);
  const fence = String(claimed.fence);
  await cli.refused(1, /\(409 lease_required\)/, 'event', 'append', thread.id, '--kind', 'progress',
    '--run', run.id);
  await cli.ok('event', 'append', thread.id, '--kind', 'progress', '--run', run.id, '--fence',
    fence);
  const waiting = await server.open.patch(
    `/v1/runs/${run.id}`,
    { status: 'waiting_for_input' },
    { headers: { 'Cairn-Fencing-Token': fence } },
  );
  expectStatus(waiting, 200);
  await cli.refused(2, /--text is required/, 'run', 'input', run.id);
  await cli.refused(2, /--text and --value exclude each other/, 'run', 'input', run.id, '--text',
    'a', '--value', '1');
  const answered = await cli.with({ input: '{"yes": [1, 2]}' }).json('run', 'input', run.id,
    '--value', '@-');
  assert.deepEqual(answered.input, { yes: [1, 2] });

  assert.deepEqual((await cli.rows('run', 'list', '--thread', thread.id)).map((row) => row[0]),
    [run.id]);
  assert.deepEqual(await cli.rows('run', 'list', '--status', 'completed'), []);
  assert.equal((await cli.json('run', 'list', '--include', 'documents', '--json')).data[0]
    .user_input, 'hi');
  await cli.refused(1, /--yes is required/, 'run', 'cancel', run.id);
  assert.equal((await cli.json('run', 'cancel', run.id, '--dry-run')).status, 'queued');
  const cancelled = await cli.json('run', 'cancel', run.id, '-y', '--reason', 'enough');
  assert.equal(cancelled.status, 'cancelled');
  assert.deepEqual(await cli.json('run', 'get', run.id), cancelled);
  await cli.refused(1, /\(409 transition_refused\)/, 'run', 'pause', run.id);
});

test('events are appended and listed', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const thread = await cli.json('thread', 'create');
  const event = await cli.json('event', 'append', thread.id, '--kind', 'progress', '--text',
    'tab\there', '--payload', '{"a": [1]}');
  assert.equal(event.text, 'tab\there');
  writeFileSync(join(cli.home, 'events.json'), '[{"kind": "a.b"}, {"kind": "warning"}]');
  assert.deepEqual(await cli.json('event', 'append', thread.id, '--events', '@events.json'), {
    count: 2,
    first_seq: 3,
    last_seq: 4,
  });
  const rows = await cli.rows('event', 'list', thread.id);
  assert.deepEqual(rows.map(([seq, , , kind]) => [seq, kind]), [
    ['1', 'conversation.created'],
    ['2', 'progress'],
    ['3', 'a.b'],
    ['4', 'warning'],
  ]);
  assert.deepEqual(rows[1].slice(4), ['tab\\there', '{"a":[1]}', thread.id]);
  assert.match(rows[0][2], TIME);
  const seqs = async (...args) => (await cli.rows('event', 'list', ...args)).map(([seq]) => seq);
  assert.deepEqual(await seqs(thread.id, '--after', '2'), ['3', '4']);
  assert.deepEqual(await seqs(thread.id, '--after', '1', '--limit', '2'), ['2', '3']);
  assert.deepEqual(await seqs(thread.id, '--kind', 'a.b'), ['3']);
  assert.deepEqual(await seqs(), ['1', '2', '3', '4']);
  await cli.refused(2, /--events must be JSON: at byte 0, /, 'event', 'append', thread.id,
    '--events', 'x');
  await cli.refused(1, /--events: nowhere.json: No such file/, 'event', 'append', thread.id,
    '--events', '@nowhere.json');
});

test('a list of events goes on past a page', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const thread = await cli.json('thread', 'create');
  const events = Array.from({ length: 450 }, (_, i) => ({ kind: 'progress', text: `${i}` }));
  expectStatus(await server.open.post(`/v1/threads/${thread.id}/events`, { events }), 201);
  const seqs = (await cli.rows('event', 'list', thread.id, '--all')).map(([seq]) => Number(seq));
  assert.deepEqual(seqs, Array.from({ length: 451 }, (_, i) => i + 1));
});

test('keys, tenants and the audit log', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const made = await cli.ok('key', 'create', '--name', 'first', '--scope', 'operator');
  assert.match(made.stderr, /shown only once/);
  const first = JSON.parse(made.stdout);
  assert.match(first.secret, /^cairn_/);
  await cli.refused(4, /give a key with --api-key-file.*/, 'key', 'list');
  const operator = cli.with({ env: { CAIRN_API_KEY: first.secret } });
  const second = await operator.json('key', 'create', '--name', 'second', '--scope', 'runs:read',
    '--scope', 'events:read', '--rate-limit', '500', '--expires-at', '2099-01-01T00:00:00Z');
  assert.deepEqual(second.scopes, ['runs:read', 'events:read']);
  assert.equal(second.rate_limit_per_minute, 500);
  const rows = await operator.rows('key', 'list');
  assert.deepEqual(rows.map(([id, name, scopes]) => [id, name, scopes]), [
    [second.id, 'second', 'runs:read,events:read'],
    [first.id, 'first', 'operator'],
  ]);
  const reader = cli.with({ env: { CAIRN_API_KEY: second.secret } });
  await reader.refused(4, /\(403 forbidden\)/, 'thread', 'list');
  await operator.refused(1, /--yes is required/, 'key', 'revoke', second.id);
  assert.equal((await operator.json('key', 'revoke', second.id, '--dry-run')).revoked_at, null);
  assert.notEqual((await operator.json('key', 'revoke', second.id, '--yes')).revoked_at, null);
  await reader.refused(4, /\(401 unauthenticated\)/, 'run', 'list');

  const tenant = await operator.json('tenant', 'create', '--name', 'acme');
  assert.match(tenant.key.secret, /^cairn_/);
  assert.deepEqual((await operator.rows('tenant', 'list')).map(([, name]) => name).sort(), [
    'acme',
    'default',
  ]);
  const records = await operator.rows('audit', 'list');
  assert.ok(records.some((row) => row.includes(second.id)), JSON.stringify(records));
  const actions = new Set(records.map(([, , action]) => action));
  const [action] = actions;
  const some = await operator.rows('audit', 'list', '--action', action);
  assert.ok(some.length > 0 && some.every((row) => row[2] === action));
  const verdict = await operator.json('audit', 'verify');
  assert.equal(verdict.intact, true);
  server.sql(`UPDATE audit_log SET action = 'nothing' WHERE seq = 1
    AND tenant_id = ${server.idLiteral('018f0000-0000-7000-8000-000000000001')}`);
  const broken = await operator('audit', 'verify');
  assert.equal(broken.code, 1);
  assert.equal(JSON.parse(broken.stdout).intact, false);
  assert.match(broken.stderr, /^cairn audit verify: intact is not true$/m);
});

test('what another tenant owns does not exist', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const as = (client) => newCli(t, server).with({ env: { CAIRN_API_KEY: client.secret } });
  const thread = await as(alice).json('thread', 'create');
  const run = await as(alice).json('run', 'start', thread.id);
  for (const args of [
    ['thread', 'get', thread.id],
    ['thread', 'delete', thread.id, '--yes'],
    ['run', 'get', run.id],
    ['run', 'cancel', run.id, '--yes'],
    ['run', 'tail', run.id, '-f'],
    ['run', 'wait', run.id],
    ['event', 'list', thread.id],
    ['event', 'tail', thread.id],
    ['event', 'tail', '-f', thread.id],
  ])
    await as(bob).refused(1, /\(404 not_found\)$/m, ...args);
  assert.deepEqual(await as(bob).rows('thread', 'list'), []);
  assert.equal((await as(alice).json('run', 'get', run.id)).status, 'queued');
});

test('a command that is only a row takes every member of its route', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { id, version } = await cli.json('thread', 'create', '--prune-on-completion');
  const changed = await cli.json('thread', 'update', id, '--title', 'new', '--run-policy',
    'enqueue', '--prune-on-completion=false', '--if-match', String(version));
  assert.deepEqual([changed.title, changed.run_policy, changed.prune_on_completion],
    ['new', 'enqueue', false]);
  await cli.refused(1, /stale_etag/, 'thread', 'update', id, '--title', 'x', '--if-match',
    String(version));
  await cli.refused(2, /--run-policy must be reject, enqueue, interrupt or rollback/, 'thread',
    'update', id, '--run-policy', 'x');
  await cli.refused(2, /--prune-on-completion must be true or false/, 'thread', 'update', id,
    '--prune-on-completion=maybe');
  assert.equal((await cli.json('thread', 'pause', id)).status, 'paused');
  assert.equal((await cli.json('thread', 'resume', id)).status, 'active');
  const run = await cli.json('run', 'start', id);
  const { fence } = await cli.json('run', 'claim', '--worker', 'w');
  const kept = await cli.json('run', 'heartbeat', run.id, '--lease', '500000', '--fence',
    String(fence));
  assert.equal(kept.lease_ms, 500_000);
  assert.equal((await cli.json('run', 'release', run.id, '--fence', String(fence))).status,
    'queued');
  assert.ok((await cli.json('key', 'whoami')).scopes.length > 0);
  await cli.refused(1, /--yes is required/, 'event', 'prune', id, '--through-seq', '1');
  assert.equal((await cli.json('event', 'prune', id, '--through-seq', '1', '--yes')).pruned, 1);
  assert.deepEqual(await cli.rows('upload', 'list', id), []);
  const { next_cursor: cursor } = await cli.json('event', 'list', id, '--limit', '1', '--json');
  assert.ok((await cli.rows('event', 'list', id, '--after', cursor)).length > 1);
});

test('any route can be called', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const made = await cli.json('api', 'POST', '/v1/threads', '--body', '{"title": "one"}');
  writeFileSync(join(cli.home, 'patch.json'), '[{"op":"replace","path":"/title","value":"two"}]');
  const patched = await cli.json('api', 'patch', `/v1/threads/${made.id}`, '--body-file',
    'patch.json', '-H', 'Content-Type: application/json-patch+json', '-H', 'If-Match: "1"');
  assert.equal(patched.title, 'two');
  const piped = await cli.with({ input: '{"title":"three"}' }).json('api', 'POST', '/v1/threads',
    '--body-file', '-');
  assert.equal(piped.title, 'three');
  const shown = await cli.ok('api', '-i', 'GET', `/v1/threads/${made.id}`);
  assert.match(shown.stdout, /^HTTP\/1\.1 200 OK\n(.+: .+\n)+\n\{"id":/);
  assert.match(shown.stdout, /^ETag: "2"$/m);
  const head = await cli.ok('api', 'HEAD', `/v1/threads/${made.id}`, '-i');
  assert.match(head.stdout, /^HTTP\/1\.1 200 OK\n(.+: .+\n)+\n$/);

  const refused = await cli('api', 'PATCH', `/v1/threads/${made.id}`, '--body', '{"titel": 1}');
  assert.equal(refused.code, 1);
  assert.equal(JSON.parse(refused.stdout).code, 'invalid_input');
  assert.match(refused.stderr, /^cairn api: \/titel is not a member of ThreadBody \(422 invalid/);
  for (const [rule, ...args] of [
    [/METHOD must be GET/, 'GET /', '/healthz'],
    [/PATH must begin with \//, 'GET', 'healthz'],
    [/PATH must be percent-encoded/, 'GET', '/a b'],
    [/--header must be NAME: VALUE/, 'GET', '/healthz', '-H', 'nothing'],
    [/--header must be NAME: VALUE/, 'GET', '/healthz', '-H', 'X: a\r\nY: b'],
    [/host cannot be set/, 'GET', '/healthz', '--header', 'host: x'],
    [/--body and --body-file exclude/, 'POST', '/v1/threads', '--body', '{}', '--body-file', 'x'],
  ])
    await cli.refused(2, rule, 'api', ...args);
  await cli.refused(1, /nowhere: No such file/, 'api', 'POST', '/v1/threads', '--body-file',
    'nowhere');
});

test('bad ids, missing arguments and empty ones are told', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  await cli.refused(1, /thread_id must be a UUID/, 'thread', 'get', '../keys');
  await cli.refused(1, /thread_id must be a UUID/, 'thread', 'get', 'a/b?c');
  await cli.refused(1, /\(404 not_found\)/, 'run', 'get', uuid());
  await cli.refused(2, /THREAD is missing; see cairn thread get --help$/m, 'thread', 'get');
  await cli.refused(2, /an argument is empty/, 'thread', 'get', '');
  await cli.refused(2, /"b" is one word too many/, 'thread', 'get', 'a', 'b');
  await cli.refused(2, /--worker is required/, 'run', 'claim');
  await cli.refused(2, /--lease must be a whole number/, 'run', 'claim', '--worker', 'w', '--lease',
    'x');
  for (const limit of ['0', '-1', 'x', '1000001'])
    await cli.refused(2, /--limit must be 1 to 1000000/, 'thread', 'list', '--limit', limit);
});
