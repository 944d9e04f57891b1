// SPDX-License-Identifier: Apache-2.0
// cairn migrate: moves all data from one engine to the other and back. Old keys, cursors,
// idempotency keys and fencing tokens continue to work.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { BINARY, claim, eventually, expectNoStart, expectProblem, expectStatus, onPostgres, pause,
  readAll, runCairn, startServer, token, twoTenants, withKey } from './lib/server.mjs';
import { followSse, followWs, expectSeqs } from './lib/followers.mjs';
import { atEnd } from './lib/ending.mjs';
import { openSession, psql, startCluster } from './lib/postgres.mjs';
import { startPgbouncer } from './lib/middlemen.mjs';
import { startProxy } from './lib/proxy.mjs';
import { addContent, isThere, pathOf } from './lib/content.mjs';
import { postgresRows, sqliteRows } from './lib/sql.mjs';

const HERE = onPostgres('it goes to PostgreSQL and back');

let cluster = null;
let databases = 0;
test.before(async () => {
  if (!HERE.skip)
    cluster = await startCluster(null);
});
test.after(() => cluster?.remove());

const STATUSES = ['queued', 'running', 'waiting_for_input', 'paused', 'completed', 'failed',
  'cancelled'];

// --- Places ----------------------------------------------------------------------------------

/** A place: what --from and --to name, and how a server is started on it. */
function directory(t) {
  const root = mkdtempSync(join(tmpdir(), 'cairn-move-'));
  const dataDir = join(root, 'data');
  atEnd(t, () => rmSync(root, { recursive: true, force: true }));
  return {
    url: `sqlite:${dataDir}`, dataDir, serve: () => startServer(t, { engine: 'sqlite', dataDir }),
    rows: (statement, ...params) => sqliteRows(join(dataDir, 'cairn.db'), statement, params),
    refuses: async (rule) => {
      const end = await runCairn(['serve', '--listen', '127.0.0.1:0', '--data', dataDir]);
      assert.equal(end.code, 1, end.stderr);
      assert.match(end.stderr, rule);
    },
  };
}

/** A database of PostgreSQL that nothing else uses. */
async function database(t) {
  const url = await cluster.database(`move${++databases}`);
  return {
    url, serve: () => startServer(t, { engine: 'postgres', db: url, schema: 'cairn' }),
    rows: (statement, ...params) => postgresRows({ url, schema: 'cairn' }, statement, params),
    refuses: (rule) => expectNoStart(url, [rule]),
  };
}

const migrate = (from, to, ...more) =>
  runCairn(['migrate', '--from', from.url, '--to', to.url, ...more]);

/** Moves it, and gives what --json says of that. */
async function move(from, to, ...more) {
  const end = await migrate(from, to, '--json', ...more);
  assert.equal(end.code, 0, end.stderr);
  return JSON.parse(end.stdout);
}

async function expectRefused(from, to, rule, ...more) {
  const end = await migrate(from, to, ...more);
  assert.equal(end.code, 1, `${end.code}: ${end.stdout}${end.stderr}`);
  assert.equal(end.stdout, '');
  assert.match(end.stderr, rule);
  return end.stderr;
}

// --- Content of the databases ----------------------------------------------------------------

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);

const append = async (client, id, body, opts) =>
  expectStatus(await client.post(`/v1/threads/${id}/events`, body, opts), 201);

/** A run in this status, on a thread of its own. */
async function runIn(client, status) {
  const thread = await newThread(client, { title: status });
  const dispatch = status === 'queued' ? 'queue' : 'direct';
  const run = expectStatus(await client.post(`/v1/threads/${thread.id}/runs`,
    { dispatch, user_input: 'Grüße 🪨', metadata: { status } }), 201);
  if (run.status !== status)
    expectStatus(await client.patch(`/v1/runs/${run.id}`, { status }), 200);
  return run;
}

/** Some of everything that the API can make. */
async function fill(server, { events = 300 } = {}) {
  const { operator, alice, bob } = await twoTenants(server);
  const story = await newThread(alice, { title: '日本語 \u0001 "quoted"', agent: 'scribe',
    metadata: { 'ключ': 'значение', n: 1, z: true, A: 'b', a: 'B' },
    context: { big: 'x'.repeat(700_000), deep: [[[{}]]] }, preferences: { 'é': null } });
  for (let i = 0; i < events; i += 100)
    await append(alice, story.id, { events: Array.from({ length: 100 }, (_, n) =>
      ({ kind: 'progress', text: `${i + n} 🪨`, payload: { at: i + n } })) });
  await append(alice, story.id, { kind: 'app.big', payload: { blob: 'é'.repeat(60_000) } });
  // Exactly these bytes, blanks and digits are the client's.
  await alice.request('POST', `/v1/threads/${story.id}/events`,
    { raw: '{"kind":"app.raw","payload":{ "x": 1.50e+3,"\\u0061": [1 , 2] }}' });

  const pruned = await newThread(alice, { title: 'pruned' });
  for (let i = 0; i < 10; i++)
    await append(alice, pruned.id, { kind: 'progress', text: String(i) });
  expectStatus(await alice.post(`/v1/threads/${pruned.id}/events/prune`, { through_seq: 4 }), 200);
  const emptied = await newThread(alice, { title: 'emptied', event_max_age_s: 86_400 });
  await append(alice, emptied.id, { events: [{ kind: 'progress' }, { kind: 'progress' }] });
  const { last_seq: last } = expectStatus(await alice.get(`/v1/threads/${emptied.id}`), 200);
  expectStatus(
    await alice.post(`/v1/threads/${emptied.id}/events/prune`, { through_seq: last }), 200);
  const gone = await newThread(bob);
  expectStatus(await bob.del(`/v1/threads/${gone.id}`), 204);

  for (const status of STATUSES)
    await runIn(alice, status);
  const parent = await runIn(bob, 'running');
  expectStatus(await bob.post(`/v1/threads/${parent.thread_id}/runs`,
    { parent_run_id: parent.id, policy: 'enqueue' }), 201);
  const queue = await newThread(bob, { agent: 'worker' });
  expectStatus(await bob.post(`/v1/threads/${queue.id}/runs`, { policy: 'enqueue' }), 201);
  const claimed = await claim(bob, { agent: 'worker', lease_ms: 600_000 });
  // The previous state of the thread is kept, for rollback.
  expectStatus(await bob.patch(`/v1/threads/${queue.id}`, { context: { by: 'it' } },
    token(claimed)), 200);
  await append(bob, queue.id, { kind: 'progress', run_id: claimed.id }, token(claimed));
  expectStatus(await bob.post(`/v1/threads/${queue.id}/runs`, { policy: 'enqueue' }), 201);

  for (let i = 0; i < 5; i++)
    expectStatus(await alice.put('/v1/store/items', { namespace: ['users', `ä${i}`], key: 'k',
      value: { i, text: 'é' }, ttl_s: 86_400,
      vectors: [{ path: 'text', values: [i, 1.5] }] }), 201);

  const once = { headers: { 'Idempotency-Key': 'just-Once' } };
  const first = await alice.post('/v1/threads', { title: 'once' }, once);
  expectStatus(first, 201);
  await withKey(alice, ['threads:read'], { rate_limit_per_minute: 5 });
  const revoked = await withKey(alice, ['admin']);
  expectStatus(await alice.del(`/v1/keys/${revoked.keyId}`), 200);
  const { tenant: carol } = expectStatus(
    await operator.post('/v1/tenants', { name: 'carol' }), 201);
  expectStatus(await operator.del(`/v1/tenants/${carol.id}`), 204);
  return { operator, alice, bob, story, pruned, emptied, claimed, queue, once, first };
}

/** The same clients, of another server. */
const onServer = (server, clients) => Object.fromEntries(['operator', 'alice', 'bob'].map(
  (name) => [name, server.client(clients[name].secret)]));

/** An answer as far as it must not change: a server gives whole leases when it starts, and a
 *  problem names its request. */
const told = (answer) => `${answer.status} ${answer.headers.get('ETag')} ${answer.text
  .replace(/("lease_expires_at":")[^"]+/g, '$1later')
  .replace(answer.status === 200 ? '' : answer.headers.get('X-Request-Id'), '')}`;

/** Reads a list page by page: what each page says, and the ids in it. */
async function walkList(client, path, pages, ids) {
  for (let cursor = ''; cursor !== null;) {
    const url = `${path}${path.includes('?') ? '&' : '?'}limit=50${cursor}`;
    const answer = await client.get(url);
    expectStatus(answer, 200);
    pages[url] = told(answer);
    ids?.push(...answer.body.data.map((item) => item.id));
    cursor = answer.body.has_more ? `&cursor=${answer.body.next_cursor}` : null;
  }
}

/** Everything that can be read with these keys, as it was answered. */
async function readEverything({ operator, alice, bob }) {
  const all = {};
  for (const [name, client] of Object.entries({ operator, alice, bob })) {
    const pages = {}, threads = [], runs = [], keys = [];
    await walkList(client, '/v1/threads', pages, threads);
    await walkList(client, '/v1/threads?metadata.A=b', pages);
    await walkList(client, '/v1/runs', pages, runs);
    await walkList(client, '/v1/keys', pages, keys);
    await walkList(client, '/v1/audit', pages);
    const paths = ['/v1/whoami', '/v1/audit/verify',
      ...threads.flatMap((id) => [`/v1/threads/${id}`, `/v1/threads/${id}/runs`,
        `/v1/threads/${id}/events?limit=1000`, `/v1/threads/${id}/events?after=2&limit=1000`]),
      ...runs.map((id) => `/v1/runs/${id}`), ...keys.map((id) => `/v1/keys/${id}`),
      '/v1/events?limit=1000', '/v1/events?after=1000&limit=1000'];
    if (name === 'operator')
      await walkList(client, '/v1/tenants', pages);
    for (const path of paths) {
      const answer = await client.get(path);
      assert.ok([200, 400, 410].includes(answer.status), `${path}: ${answer.text}`);
      pages[path] = told(answer);
    }
    for (const body of [{ limit: 2 }, { vector: [1, 0] }, { filter: { i: { $gt: 2 } } }])
      pages[`store ${JSON.stringify(body)}`] = told(await client.post('/v1/store/search', body));
    all[name] = pages;
  }
  return all;
}

/** Asserts that two readings are the same, and names the first page that is not. */
function expectSame(now, before) {
  for (const name of Object.keys(before)) {
    for (const path of Object.keys(before[name]))
      assert.equal(now[name][path], before[name][path], `${name} ${path}`);
    assert.deepEqual(Object.keys(now[name]), Object.keys(before[name]));
  }
}

/** Follows both streams up to the end of what is there; gives the cursors. */
async function cursorsOf(client, thread) {
  const { last_seq: last } = expectStatus(await client.get(`/v1/threads/${thread.id}`), 200);
  const own = followSse(client, `/v1/threads/${thread.id}/events/stream?after=${last - 5}`);
  await own.hears(5);
  const page = expectStatus(await client.get('/v1/events?after=0&limit=1000'), 410);
  const wide = followSse(client, `/v1/events/stream?after=${page.resume_cursor}`);
  const newest = (await readAll(client, `/v1/threads/${thread.id}/events`)).at(-1);
  await wide.until((heard) => heard.find((e) => e.id > newest.id || e.id === newest.id));
  await pause(200);
  own.close();
  wide.close();
  return { seq: Number(own.ids.at(-1)), id: wide.ids.at(-1) };
}

/**
 * Appends, and asserts that subscribers that reconnect with old cursors receive exactly these
 * events.
 */
async function expectToGoOn(client, thread, cursors) {
  const own = followWs(client, `/v1/threads/${thread.id}/events/ws?after=${cursors.seq}`);
  const wide = followSse(client, '/v1/events/stream', { headers: { 'Last-Event-ID': cursors.id } });
  await Promise.all([own.opened, wide.opened]);
  for (let i = 1; i <= 3; i++) {
    const event = await append(client, thread.id, { kind: 'progress', text: `after ${i}` });
    assert.equal(event.seq, cursors.seq + i, 'the next seq');
    assert.ok(event.id > Number.parseInt(cursors.id, 10), `${event.id} after ${cursors.id}`);
  }
  expectSeqs(await own.hears(3), cursors.seq + 1, cursors.seq + 3);
  await wide.hears(3);
  await pause(200);
  assert.deepEqual(wide.heard.map((e) => e.text), ['after 1', 'after 2', 'after 3']);
  own.close();
  wide.close();
}

// --- There and back --------------------------------------------------------------------------

test('everything goes to PostgreSQL and back, and nobody can tell', HERE, async (t) => {
  const a = directory(t), b = await database(t), c = directory(t);
  const first = await a.serve();
  const made = await fill(first);
  let cursors = await cursorsOf(made.alice, made.story);
  const before = await readEverything(made);
  await first.stop();

  let clients = made;
  let reading = before;
  const checksums = [];
  for (const [from, to] of [[a, b], [b, c]]) {
    const result = await move(from, to);
    checksums.push(result.sha256);
    assert.equal(result.rows, result.moved);
    assert.equal(result.resumed, false);
    assert.match(result.sha256, /^[0-9a-f]{64}$/);
    for (const table of result.tables)
      assert.equal(table.rows, from.rows(`SELECT count(*) AS n FROM ${table.table}`)[0].n,
        table.table);
    assert.equal((await move(from, to, '--verify-only')).sha256, result.sha256);

    const server = await to.serve();
    clients = onServer(server, made);
    expectSame(await readEverything(clients), reading);
    for (const client of Object.values(clients))
      assert.equal((await client.get('/v1/audit/verify')).body.intact, true);

    // A request sent before is not carried out twice.
    const replayed = await clients.alice.post('/v1/threads', { title: 'once' }, made.once);
    assert.equal(replayed.text, made.first.text);
    assert.equal(replayed.headers.get('Idempotency-Replayed'), 'true');
    expectProblem(await clients.alice.post('/v1/threads', { title: 'other' }, made.once),
      422, 'idempotency_key_reused');

    // The worker continues under its token, and no other worker gets the run.
    expectStatus(await clients.bob.post(`/v1/runs/${made.claimed.id}/heartbeat`, undefined,
      token(made.claimed)), 200);
    expectStatus(await clients.bob.post('/v1/runs/claim', { worker: 'x', agent: 'worker' }), 204);
    expectProblem(await clients.bob.post(`/v1/runs/${made.claimed.id}/heartbeat`, undefined,
      token({ fence: made.claimed.fence - 1 })), 409, 'lease_lost');

    await expectToGoOn(clients.alice, made.story, cursors);
    // Every event of this thread was pruned: its numbers still continue.
    const { last_seq: last } = expectStatus(
      await clients.alice.get(`/v1/threads/${made.emptied.id}`), 200);
    const another = await append(clients.alice, made.emptied.id, { kind: 'progress' });
    assert.equal(another.seq, last + 1);
    expectStatus(await clients.alice.post(`/v1/threads/${made.emptied.id}/events/prune`,
      { through_seq: last + 1 }), 200);
    cursors = await cursorsOf(clients.alice, made.story);
    reading = await readEverything(clients);
    await server.stop();
  }
  assert.notEqual(checksums[0], checksums[1], 'events were added between');

  // The last place is as alive as the first.
  const server = await c.serve();
  const { bob } = onServer(server, made);
  expectStatus(await bob.patch(`/v1/runs/${made.claimed.id}`, { status: 'completed' },
    token(made.claimed)), 200);
  const next = await claim(bob, { agent: 'worker' });
  assert.equal(next.thread_id, made.queue.id);
  assert.ok(next.fence > made.claimed.fence);
});

test('there and back without a word between gives the same checksum', HERE, async (t) => {
  const a = directory(t), b = await database(t), c = directory(t), d = await database(t);
  const server = await a.serve();
  await fill(server, { events: 100 });
  await server.kill(); // its log is not in the database file yet
  const there = await move(a, b);
  const back = await move(b, c);
  assert.equal(back.sha256, there.sha256);
  assert.deepEqual(back.tables, there.tables);
  assert.equal((await move(b, d)).sha256, there.sha256);
  const e = directory(t);
  assert.equal((await move(c, e)).sha256, there.sha256);
});

/** Nothing, little, and what takes several chunks of PostgreSQL. */
const someContent = (dataDir) => [0, 5, 1_200_000].map((size) =>
  addContent(dataDir, Buffer.from(Array.from({ length: size }, (_, i) => (i * 7 + size) % 251))));

test('the content of files goes along, in directories and in PostgreSQL', HERE, async (t) => {
  const a = directory(t), b = await database(t), c = directory(t), d = await database(t);
  const server = await a.serve();
  await server.stop();
  const contents = someContent(a.dataDir);
  const files = { count: 3, size_bytes: 1_200_005 };
  assert.deepEqual((await move(a, b, '--dry-run')).files, files);
  assert.deepEqual((await move(a, b)).files, files);
  assert.deepEqual(b.rows(`SELECT n, octet_length(bytes) AS size FROM blob_chunks
    WHERE octet_length(bytes) > 5 ORDER BY n`).map((row) => row.size), [524288, 524288, 151424]);
  const end = await runCairn(['check', '--deep', '--db', b.url, '--json']);
  assert.equal(end.code, 0, end.stdout + end.stderr);
  await move(b, c);
  assert.ok(contents.every((content) => isThere(c.dataDir, content)));

  const shared = join(c.dataDir, 'shared'), elsewhere = directory(t);
  mkdirSync(shared);
  await move(b, d, '--to-files-dir', shared);
  assert.equal(d.rows('SELECT count(*) AS n FROM blob_chunks')[0].n, 0);
  assert.ok(contents.every((content) => isThere(shared, content)));
  await expectRefused(d, elsewhere, /does not exist, or is damaged: .* with --from-files-dir/);
  await move(d, elsewhere, '--from-files-dir', shared);
  assert.ok(contents.every((content) => isThere(elsewhere.dataDir, content)));
});

test('content that is damaged on either side is found, and the next run goes on', HERE,
  async (t) => {
    const a = directory(t), b = await database(t);
    const server = await a.serve();
    await server.stop();
    const [, , large] = someContent(a.dataDir);
    truncateSync(pathOf(a.dataDir, large), 1000);
    await expectRefused(a, b, /the source: the content \S+ of a file does not exist, or is/);
    await b.refuses(/cairn migrate/);
    writeFileSync(pathOf(a.dataDir, large), large.bytes);
    const moved = await move(a, b);
    assert.equal(moved.resumed, true);
    assert.equal(moved.files.count, 3);
    b.rows(`UPDATE blob_chunks SET bytes = 'other' WHERE octet_length(bytes) = ?`, '5');
    await expectRefused(a, b, /the target: the content \S+ of a file does not/, '--verify-only');
  });

test('it says what it did, for people and for programs', HERE, async (t) => {
  const a = directory(t), b = directory(t);
  const server = await a.serve();
  await fill(server, { events: 100 });
  await server.stop();
  const dry = await migrate(a, b, '--dry-run');
  assert.equal(dry.code, 0, dry.stderr);
  assert.match(dry.stderr, /rows would be moved, into a database that would be created/);
  assert.match(dry.stdout, /^events\t\d{3}\t0\t$/m);
  const end = await migrate(a, b);
  assert.equal(end.code, 0, end.stderr);
  const total = /^total\t(\d+)\t(\d+)\t([0-9a-f]{64})$/m.exec(end.stdout);
  assert.equal(total[1], total[2]);
  assert.match(end.stderr, new RegExp(`moved ${total[1]} rows; both sides have the same`));
  const document = await move(a, b, '--verify-only');
  const named = await runCairn(['migrate', '--verify-only', '--json'],
    { env: { CAIRN_MIGRATE_FROM: a.url, CAIRN_MIGRATE_TO: b.url } });
  assert.deepEqual(JSON.parse(named.stdout), document);
  assert.equal(document.sha256, total[3]);
  assert.deepEqual([document.mode, document.moved], ['verify', 0]);
});

// --- Failures --------------------------------------------------------------------------------

/** Starts it and kills it after so long; whether it had ended by itself. */
function killAfter(from, to, ms) {
  return new Promise((done) => {
    const child = spawn(BINARY, ['migrate', '--from', from.url, '--to', to.url],
      { stdio: 'ignore', env: { ...process.env, CAIRN_DB: '' } });
    const timer = setTimeout(() => child.kill('SIGKILL'), ms);
    child.on('close', (code) => { clearTimeout(timer); done(code === 0); });
  });
}

for (const target of ['PostgreSQL', 'SQLite'])
  test(`killed at any moment, it goes on where it was: to ${target}`, HERE, async (t) => {
    const a = directory(t);
    const first = await a.serve();
    const made = await fill(first, { events: 5000 });
    const before = await readEverything(made);
    await first.stop();
    const from = target === 'SQLite' ? await database(t) : a;
    if (target === 'SQLite')
      await move(a, from);
    const to = target === 'SQLite' ? directory(t) : await database(t);
    let kills = 0;
    let refused = 0;
    while (kills < 40 && !await killAfter(from, to, 20 + Math.random() * 20 * (kills + 1))) {
      kills++;
      const now = await migrate(from, to, '--dry-run', '--json');
      if (now.code !== 0) { // the migration was complete before the kill
        assert.match(now.stderr, /already contains data/);
        break;
      }
      if (!JSON.parse(now.stdout).resumed)
        continue; // nothing was begun
      await to.refuses(/being filled by cairn migrate; run it again to finish/);
      refused++;
    }
    if ((await migrate(from, to, '--dry-run')).code === 0)
      await move(from, to);
    await move(from, to, '--verify-only');
    assert.ok(kills > 2, `${kills} kills`);
    t.diagnostic(`killed ${kills} times, ${refused} times half-filled`);
    expectSame(await readEverything(onServer(await to.serve(), made)), before);
  });

test('a connection that is cut in the middle is an error, and the next run goes on', HERE,
  async (t) => {
    const a = directory(t), b = await database(t);
    const first = await a.serve();
    const made = await fill(first, { events: 2500 });
    const before = await readEverything(made);
    await first.stop();
    const proxy = await startProxy(t, cluster.port);
    const through = { url: cluster.url(new URL(b.url).pathname.slice(1), 'cairn',
      { port: proxy.port }) };
    // The schema, the mark and the first tables are there; then the copy stops; then it continues.
    for (const how of ['after', 'after', 'after', 'after', 'before', 'half', 'after']) {
      const struck = proxy.atCommit(how);
      await expectRefused(a, through, /the connection (to the target )?was lost/);
      await struck;
    }
    await b.refuses(/being filled by cairn migrate; run it again to finish/);
    const result = await move(a, through);
    assert.equal(result.resumed, true);
    assert.ok(result.moved > 0 && result.moved < result.rows, `${result.moved} of ${result.rows}`);
    const server = await b.serve();
    expectSame(await readEverything(onServer(server, made)), before);
    await server.stop();
    // And while it is read.
    const c = directory(t);
    proxy.delay(5);
    setTimeout(() => proxy.cut(), 400);
    const cut = await migrate(through, c);
    assert.equal(cut.code, 1, cut.stdout + cut.stderr);
    assert.match(cut.stderr, /lost|connect/);
    proxy.delay(0);
    assert.equal((await move(through, c)).sha256, (await move(b, c, '--verify-only')).sha256);
  });

test('Ctrl-C ends it with code 130, and the next run goes on', HERE, async (t) => {
  const a = directory(t), b = await database(t);
  const server = await a.serve();
  await fill(server, { events: 3000 });
  await server.stop();
  const proxy = await startProxy(t, cluster.port);
  proxy.delay(30); // so that it takes its time
  const through = { url: cluster.url(new URL(b.url).pathname.slice(1), 'cairn',
    { port: proxy.port }) };
  const child = spawn(BINARY, ['migrate', '--from', a.url, '--to', through.url],
    { stdio: ['ignore', 'ignore', 'pipe'] });
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { words += text; });
  const ended = new Promise((done) => child.on('close', done));
  const begun = async () => {
    const tables = await psql(b.url, `SELECT 1 FROM pg_tables WHERE tablename = 'cairn_transfer'`);
    return tables.length > 0;
  };
  await eventually(begun, 'the target was never marked');
  child.kill('SIGINT');
  assert.equal(await ended, 130, words);
  assert.match(words, /run the same command again to continue/);
  await b.refuses(/being filled by cairn migrate/);
  proxy.delay(0);
  assert.equal((await move(a, through)).resumed, true);
});

test('a pooler is refused', HERE, async (t) => {
  const a = directory(t), b = await database(t);
  const server = await a.serve();
  await server.stop();
  const pooled = await startPgbouncer(t, cluster);
  const name = new URL(b.url).pathname;
  const through = { url: pooled.replace(/\/cairn(\?|$)/, `${name}$1`) };
  await expectRefused(a, through, /--to is the address of a transaction pooler/);
});

test('what is served is neither a source nor a target', HERE, async (t) => {
  const a = directory(t), b = await database(t), c = directory(t);
  const file = await a.serve();
  await fill(file, { events: 100 });
  await expectRefused(a, b, /another cairn process is using the data directory/);
  await expectRefused(a, b, /another cairn process is using/, '--dry-run');
  await file.stop();
  await move(a, b);
  const shared = await b.serve();
  const served = /the (source|target): the schema "cairn" of the database "move\d+" is served/;
  await expectRefused(b, c, served);
  await expectRefused(a, b, served);
  for (const insisting of ['--yes', '--despite-sessions'])
    await expectRefused(b, c, served, insisting);
  // Sessions of another schema are harmless; the operator confirms this with --despite-sessions.
  const other = { url: b.url };
  await expectRefused(a, other, /the target: \d+ sessions of cairn.*add --despite-sessions/,
    '--to-schema', 'another', '--yes');
  const moved = await move(a, other, '--to-schema', 'another', '--despite-sessions');
  assert.equal(moved.rows, moved.moved);
  await shared.stop();
  // And while it is being read, no server can start on it.
  const reader = openSession(t, b.url);
  await reader.sql(`SELECT pg_advisory_lock(1667328367, hashtext('cairn'))`);
  await b.refuses(/cairn migrate is reading the schema/);
  await expectRefused(b, c, /another cairn migrate is using the schema/);
  await reader.end();
  await move(b, c);
});

test('a server is noticed whatever it calls itself', HERE, async (t) => {
  const b = await database(t), c = directory(t);
  const url = new URL(b.url);
  url.searchParams.set('application_name', 'billing');
  const server = await startServer(t, { engine: 'postgres', db: url.href, schema: 'cairn' });
  await newThread(server.open, { title: 'mine' });
  await expectRefused(b, c, /the source: the schema "cairn" .* is served/);
  await server.stop();
  await move(b, c);
});

test('a server behind a pooler, which holds no lock, is noticed by its name', HERE, async (t) => {
  const b = await database(t), c = directory(t);
  const name = new URL(b.url).pathname;
  const pooled = await startPgbouncer(t, cluster);
  const server = await startServer(t, { engine: 'postgres', schema: 'cairn',
    db: pooled.replace(/\/cairn(\?|$)/, `${name}$1`) });
  await newThread(server.open, { title: 'mine' });
  await expectRefused(b, c, /the source: \d+ sessions of cairn/);
  await server.stop();
});

test('what is written to the source meanwhile keeps the target closed', HERE, async (t) => {
  const a = directory(t), b = await database(t), c = directory(t);
  const first = await a.serve();
  await fill(first, { events: 1000 });
  await first.stop();
  await move(a, b);
  const writer = openSession(t, b.url);
  await writer.sql(`SET search_path = cairn; SET cairn.tenant = '*'`);
  const proxy = await startProxy(t, cluster.port);
  proxy.delay(20); // so that it takes its time
  const through = { url: cluster.url(new URL(b.url).pathname.slice(1), 'cairn',
    { port: proxy.port }) };
  const ended = migrate(through, c);
  await eventually(async () => (await psql(b.url, `SELECT 1 FROM pg_stat_activity
    WHERE application_name = 'cairn migrate' AND backend_xmin IS NOT NULL
      AND query LIKE '%FROM "events"%'`)).length > 0, 'it never read the events');
  await writer.sql(`UPDATE threads SET title = 'too late' WHERE title = 'once'`);
  await writer.end();
  proxy.delay(0);
  const end = await ended;
  assert.equal(end.code, 1, end.stdout + end.stderr);
  assert.match(end.stderr, /the source was written to during the move.*remove the directory/);
  await c.refuses(/being filled by cairn migrate/);
  await expectRefused(b, c, /the source has changed since that began/);
  rmSync(c.dataDir, { recursive: true });
  await move(b, c);
  assert.equal(c.rows(`SELECT count(*) AS n FROM threads WHERE title = 'too late'`)[0].n, 1);
});

test('a target with other data is refused and stays as it is', HERE, async (t) => {
  const a = directory(t), b = await database(t), c = directory(t);
  const first = await a.serve();
  await fill(first, { events: 100 });
  await first.stop();
  for (const place of [b, c]) {
    const server = await place.serve();
    const thread = await newThread(server.open, { title: 'mine' });
    await server.stop();
    await expectRefused(a, place, /already contains data/);
    await expectRefused(a, place, /already contains data/, '--dry-run');
    await server.start();
    assert.equal((await server.open.get(`/v1/threads/${thread.id}`)).body.title, 'mine');
    await server.stop();
  }
});

test('another version of the schema is refused', HERE, async (t) => {
  const a = directory(t), b = await database(t), c = directory(t);
  const first = await a.serve();
  await fill(first, { events: 100 });
  await first.stop();
  await move(a, b);
  b.rows(`INSERT INTO schema_versions VALUES (999, 'x', 'x', 1)`);
  await expectRefused(b, c, /the source has schema version 999.*use a newer cairn/);
  await expectRefused(a, b, /schema version 999.*newer cairn/);
  a.rows('DELETE FROM schema_versions WHERE version > 1');
  await expectRefused(a, c, /the source has schema version 1,.*start this cairn on it once/);
});

test('a flipped row is found, with its table and key', HERE, async (t) => {
  const a = directory(t), b = await database(t);
  const first = await a.serve();
  const made = await fill(first, { events: 1500 });
  await first.stop();
  await move(a, b);
  b.rows(`UPDATE events SET text = 'forged' WHERE text = '777 🪨'`);
  const words = await expectRefused(a, b, /the target differs in: events \(first at tenant_id/,
    '--verify-only');
  assert.ok(words.includes(made.alice.tenantId), words);
  b.rows(`UPDATE events SET text = '777 🪨' WHERE text = 'forged'`);
  await move(a, b, '--verify-only');
  b.rows(`UPDATE thread_documents SET context = (context::text || ' ')::json`);
  await expectRefused(a, b, /the target differs in: thread_documents/, '--verify-only');
  // Also in a resumed run; and then no server opens it.
  const c = await database(t);
  const proxy = await startProxy(t, cluster.port);
  const through = { url: cluster.url(new URL(c.url).pathname.slice(1), 'cairn',
    { port: proxy.port }) };
  for (const what of ['the schema', 'the mark', 'the first table']) {
    const struck = proxy.atCommit('after');
    await expectRefused(a, through, /lost/);
    await struck;
    t.diagnostic(`${what} is committed`);
  }
  c.rows(`UPDATE audit_log SET actor = 'forged' WHERE seq = 1`);
  await expectRefused(a, c, /differs in: audit_log \(first at tenant_id .*, seq 1\)/);
  await c.refuses(/being filled by cairn migrate/);
});

test('what is asked for wrongly is said so, with code 2', HERE, async (t) => {
  const a = directory(t);
  const wrong = [
    [['--to', a.url], /--from is required: sqlite:DIR or postgres/],
    [['--from', a.url], /--to is required/],
    [['--from', a.dataDir, '--to', a.url], /--from must be sqlite:DIR or a URL/],
    [['--from', a.url, '--to', 'sqlite:'], /--to must be sqlite:DIR/],
    [['--from', a.url, '--to', a.url], /name the same database/],
    [['--from', a.url, '--to', 'postgres://x', '--from-schema', 'x'], /--from-schema is only for/],
    [['--from', a.url, '--to', 'postgres://x', '--to-schema', 'X;'], /--to-schema must be a lower/],
    [['--from', a.url, '--to', 'sqlite:/x', '--dry-run', '--verify-only'], /exclude each other/],
  ];
  for (const [args, rule] of wrong) {
    const end = await runCairn(['migrate', ...args]);
    assert.equal(end.code, 2, `${args}: ${end.code} ${end.stderr}`);
    assert.match(end.stderr, rule);
  }
  // An unreachable database is an error of another kind, and no password is printed.
  const secret = 'Tr0ub4dor';
  const end = await migrate(a, { url: `postgres://cairn:${secret}@127.0.0.1:1/x` });
  assert.equal(end.code, 1);
  assert.match(end.stderr, /is not a Cairn database/);
  const server = await a.serve();
  await server.stop();
  const away = await migrate(a, { url: `postgres://cairn:${secret}@127.0.0.1:1/x` });
  assert.equal(away.code, 1);
  assert.match(away.stderr, /cannot connect to the database/);
  assert.ok(!away.stderr.includes(secret));
});
