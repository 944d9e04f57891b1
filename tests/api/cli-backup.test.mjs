// SPDX-License-Identifier: Apache-2.0
// cairn backup, restore and check: beside a server that is written to, killed at any moment, on a
// full disk, and with files that are not what they should be.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync,
  readdirSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { RunWorker, Starter } from './lib/actors.mjs';
import { atEnd } from './lib/ending.mjs';
import { expectSeqs } from './lib/followers.mjs';
import { addContent, isThere, pathOf } from './lib/content.mjs';
import { sqliteRows, sqliteScript } from './lib/sql.mjs';
import { claim, eventually, expectStatus, onPostgres, onSqlite, readAll, runCairn, startServer,
  token, twoTenants, uuid } from './lib/server.mjs';

const BINARY = resolve(process.env.CAIRN_BIN ??
  join(fileURLToPath(new URL('.', import.meta.url)), '../../build/src/cli/cairn'));
const FILES = onSqlite('files of SQLite');
const KILLS = 30;

/** A directory of the test's own. */
function newPlace(t) {
  const place = mkdtempSync(join(tmpdir(), 'cairn-backup-'));
  atEnd(t, () => rmSync(place, { recursive: true, force: true }));
  return place;
}

const hashOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Runs cairn, which must succeed; gives the document that it prints. */
async function succeed(...args) {
  const end = await runCairn([...args, '--json']);
  assert.equal(end.code, 0, `cairn ${args.join(' ')}: ${end.signal} ${end.stderr}`);
  return JSON.parse(end.stdout);
}

const backup = (server, file, ...more) =>
  succeed('backup', file, '--data', server.dataDir, ...more);
const check = (dataDir, ...more) => succeed('check', '--data', dataDir, ...more);

/** Runs cairn, which must refuse with these words and print no data. */
async function refuse(rule, ...args) {
  const end = await runCairn(args);
  assert.equal(end.code, 1, `${end.code ?? end.signal}: ${end.stdout}${end.stderr}`);
  assert.match(end.stderr, rule);
  assert.equal(end.stdout, '');
}

/** A server on what the file holds. */
async function serveRestored(t, file) {
  const server = await startServer(t);
  await server.stop();
  rmSync(server.dataDir, { recursive: true });
  const report = await succeed('restore', file, '--data', server.dataDir);
  assert.equal(report.sha256, hashOf(file));
  assert.equal((await check(server.dataDir)).content_sha256, report.content_sha256);
  await server.start();
  return server;
}

// --- Under load -------------------------------------------------------------------------------

/** Appends events until it is stopped. */
class Writer {
  acknowledged = []; // {key, body, event}
  stopped = false;

  constructor(client, threadId) {
    this.client = client;
    this.threadId = threadId;
  }

  post({ key, body }, client = this.client) {
    return client.post(`/v1/threads/${this.threadId}/events`, body,
      { headers: { 'Idempotency-Key': key } });
  }

  async work() {
    while (!this.stopped) {
      const request = { key: uuid(), body: { kind: 'progress', text: uuid(), payload: [uuid()] } };
      const event = expectStatus(await this.post(request), 201);
      this.acknowledged.push({ ...request, event });
    }
  }

  /**
   * Every acknowledged event is stored, a repeated request is replayed, and numbering continues.
   */
  async check(client, acknowledged) {
    const log = await readAll(client, `/v1/threads/${this.threadId}/events`);
    const { last_seq: last } = expectStatus(await client.get(`/v1/threads/${this.threadId}`), 200);
    expectSeqs(log, 1, last);
    for (const { event } of acknowledged)
      assert.deepEqual(log[event.seq - 1], event);
    const newest = acknowledged.at(-1);
    const again = await this.post(newest, client);
    assert.deepEqual(expectStatus(again, 201), newest.event);
    assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
    const next = expectStatus(await this.post({ key: uuid(), body: newest.body }, client), 201);
    assert.equal(next.seq, last + 1);
    const after = `/v1/threads/${this.threadId}/events?after=${last}`;
    assert.deepEqual(expectStatus(await client.get(after), 200).data, [next]);
  }
}

/** The server's responses about objects that do not change during the load. */
async function quietThings(client) {
  const thread = expectStatus(await client.post('/v1/threads',
    { title: 'quiet', metadata: { colour: 'red', n: 1.50 }, context: { a: [1, 2] } }), 201);
  const run = expectStatus(await client.post(`/v1/threads/${thread.id}/runs`,
    { user_input: 'hello', dispatch: 'direct' }), 201);
  expectStatus(await client.patch(`/v1/runs/${run.id}`, { status: 'completed',
    final_output: { text: 'é😀' } }), 200);
  return [`/v1/threads/${thread.id}`, `/v1/runs/${run.id}`, `/v1/runs?thread_id=${thread.id}`,
    `/v1/threads/${thread.id}/events?after=0`, '/v1/threads?metadata.colour=red', '/v1/keys',
    '/v1/audit', '/v1/audit/verify'];
}

const tell = async (client, paths) => Promise.all(paths.map(async (path) => {
  const answer = await client.get(path);
  expectStatus(answer, 200);
  return [path, answer.headers.get('ETag'), answer.text];
}));

test('backups under load hold what was acknowledged, whole, in order, and go on', FILES,
  async (t) => {
    const place = newPlace(t);
    const server = await startServer(t);
    const { alice } = await twoTenants(server);
    const quiet = await quietThings(alice);
    const told = await tell(alice, quiet);
    const writers = [];
    for (let i = 0; i < 4; i++) {
      const thread = expectStatus(await alice.post('/v1/threads', {}), 201);
      writers.push(new Writer(alice, thread.id));
    }
    const working = Promise.all(writers.map((w) => w.work()));
    await eventually(() => writers.every((w) => w.acknowledged.length > 0));
    const acknowledged = () => writers.reduce((sum, w) => sum + w.acknowledged.length, 0);
    const taken = [];
    for (let i = 0; i < 5; i++) {
      const count = acknowledged();
      await eventually(() => acknowledged() > count + 20, 'nothing is written');
      const before = writers.map((w) => [...w.acknowledged]);
      const file = join(place, `${i}.db`);
      const report = await backup(server, file);
      assert.equal(report.sha256, hashOf(file));
      assert.equal(report.size_bytes, statSync(file).size);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      taken.push({ file, before, report });
    }
    assert.deepEqual(readdirSync(place).length, 10, 'five files and their hashes');
    writers.forEach((w) => { w.stopped = true; });
    await working;
    assert.deepEqual(await tell(alice, quiet), told);
    const counts = taken.map(({ before }) => before.flat().length);
    assert.ok(counts.at(-1) > counts[0], 'nothing was written between the backups');
    const all = await readAll(alice, '/v1/events');
    execFileSync('sha256sum', ['-c', ...taken.map(({ file }) => `${file}.sha256`)],
      { cwd: place, stdio: 'pipe' });

    for (const { file, before, report } of taken) {
      const restored = await serveRestored(t, file);
      const client = restored.client(alice.secret);
      assert.deepEqual(await tell(client, quiet), told);
      const events = await readAll(client, '/v1/events');
      // In the order of commits: a beginning of what the source has, and nothing else.
      assert.deepEqual(events, all.slice(0, events.length));
      assert.ok(report.tables.events >= events.length);
      for (const [i, writer] of writers.entries())
        await writer.check(client, before[i]);
      await restored.stop();
    }
  });

test('a claimed run goes on in the restored server under its lease', FILES, async (t) => {
  const place = newPlace(t);
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201);
  expectStatus(await server.open.post(`/v1/threads/${thread.id}/runs`, {}), 201);
  const run = await claim(server.open, { lease_ms: 3_600_000 });
  await backup(server, join(place, 'leased.db'));
  await server.stop();
  const restored = await serveRestored(t, join(place, 'leased.db'));
  expectStatus(await restored.open.post(`/v1/runs/${run.id}/heartbeat`, {}, token(run)), 200);
  const done = await restored.open.patch(`/v1/runs/${run.id}`, { status: 'completed' }, token(run));
  assert.equal(expectStatus(done, 200).status, 'completed');
});

test('a server that was killed is backed up with what only its log has', FILES, async (t) => {
  const place = newPlace(t);
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201);
  const writer = new Writer(server.open, thread.id);
  const working = writer.work().catch(() => {});
  await eventually(() => writer.acknowledged.length > 20);
  await server.kill();
  await working;
  const database = hashOf(server.database);
  const log = hashOf(`${server.database}-wal`);
  await backup(server, join(place, 'dead.db'));
  const found = await check(server.dataDir);
  assert.equal(hashOf(server.database), database);
  assert.equal(hashOf(`${server.database}-wal`), log);
  const restored = await serveRestored(t, join(place, 'dead.db'));
  assert.equal((await succeed('check', '--data', restored.dataDir)).tables.events,
    found.tables.events);
  await writer.check(restored.open, writer.acknowledged);
});

// --- Killed -----------------------------------------------------------------------------------

/** Starts cairn and kills it after so long, unless it has ended. Gives its exit code, if any. */
function killAfter(ms, args, signal = 'SIGKILL') {
  return new Promise((done, fail) => {
    const child = spawn(BINARY, args, { stdio: 'ignore', env: { ...process.env, CAIRN_DB: '' } });
    const timer = setTimeout(() => child.kill(signal), ms);
    child.on('error', fail).on('close', (code) => {
      clearTimeout(timer);
      done(code);
    });
  });
}

/** Returns true for the first tries, then until one of them has ended with the wanted code. */
function isOneMore(tries, codes, wanted) {
  assert.ok(tries < 20 * KILLS, `none ended with ${wanted}`);
  return tries < KILLS || !codes.has(wanted);
}

/** The duration of a backup that is not killed. */
async function timeOf(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

async function fillSome(client, threads = 20) {
  for (let i = 0; i < threads; i++) {
    const thread = expectStatus(await client.post('/v1/threads', { metadata: { i } }), 201);
    const events = Array.from({ length: 20 }, () => ({ kind: 'progress',
      payload: Array.from({ length: 40 }, uuid) }));
    expectStatus(await client.post(`/v1/threads/${thread.id}/events`, { events }), 201);
  }
}

test('a backup that is killed at any moment leaves the old file or the new one', FILES,
  async (t) => {
    const file = join(newPlace(t), 'copy.db');
    const server = await startServer(t);
    await fillSome(server.open);
    const whole = await timeOf(() => backup(server, file));
    const args = ['backup', file, '--data', server.dataDir, '--yes'];
    const codes = new Set();
    let threads = 20;
    for (let i = 0; isOneMore(i, codes, null); i++, threads++) {
      expectStatus(await server.open.post('/v1/threads', {}), 201);
      if (i % 3 === 2) // also where there is none yet
        [file, `${file}.sha256`].forEach((name) => rmSync(name));
      codes.add(await killAfter(Math.random() * whole * 1.2, args));
      if (existsSync(file)) {
        const { tables } = await succeed('restore', file, '--dry-run', '--data',
          join(tmpdir(), uuid()));
        assert.ok(tables.threads >= 20);
      } else {
        await backup(server, file);
      }
    }
    // Their leftovers do not block later backups.
    const { tables } = await backup(server, file, '--yes');
    assert.equal(tables.threads, threads);
    assert.deepEqual(readdirSync(join(file, '..')).sort(), ['copy.db', 'copy.db.sha256']);
  });

test('Ctrl-C ends a backup with 130 and leaves nothing', FILES, async (t) => {
  const place = newPlace(t);
  const file = join(place, 'copy.db');
  const server = await startServer(t);
  await fillSome(server.open);
  const args = ['backup', file, '--data', server.dataDir];
  const whole = await timeOf(() => backup(server, file));
  const codes = new Set();
  for (let i = 0; isOneMore(i, codes, 130); i++) {
    [file, `${file}.sha256`].forEach((name) => rmSync(name, { force: true }));
    const code = await killAfter(Math.random() * whole, args, 'SIGINT');
    // Before it listened to signals it had done nothing yet.
    assert.ok([0, 130, null].includes(code), String(code));
    assert.deepEqual(readdirSync(place), code === 0 ? ['copy.db', 'copy.db.sha256'] : []);
    codes.add(code);
  }
});

test('a restore that is killed at any moment leaves the old database or the new one', FILES,
  async (t) => {
    const place = newPlace(t);
    const server = await startServer(t);
    await fillSome(server.open);
    const file = join(place, 'new.db');
    const fresh = await backup(server, file);
    // The old one has more, and some of it in its log alone.
    await fillSome(server.open, 5);
    await server.kill();
    const old = await check(server.dataDir);
    assert.notEqual(old.content_sha256, fresh.content_sha256);
    assert.ok(statSync(`${server.database}-wal`).size > 0);
    const data = join(place, 'data');
    const args = ['restore', file, '--data', data, '--yes', '--json'];
    const begin = () => {
      rmSync(data, { recursive: true, force: true });
      cpSync(server.dataDir, data, { recursive: true });
    };
    begin();
    const whole = await timeOf(() => succeed(...args.slice(0, -1)));
    const seen = { old: 0, new: 0 };
    for (let i = 0; i < KILLS; i++) {
      begin();
      await killAfter(Math.random() * whole * 1.2, args);
      const now = await check(data);
      assert.equal(now.ok, true);
      assert.ok([old.content_sha256, fresh.content_sha256].includes(now.content_sha256),
        'it is neither the old database nor the new one');
      seen[now.content_sha256 === old.content_sha256 ? 'old' : 'new']++;
      // After any failure, the same command repairs the result.
      const { kept } = await succeed(...args.slice(0, -1));
      assert.equal((await check(data)).content_sha256, fresh.content_sha256);
      assert.ok(existsSync(kept));
    }
    assert.ok(seen.old > 0, JSON.stringify(seen));
    server.dataDir = data;
    await server.start();
    assert.equal(expectStatus(await server.open.get('/v1/threads?limit=100'), 200).data.length, 20);
  });

// --- Full -------------------------------------------------------------------------------------

/** A file system of this size at `directory`, or false where we may not mount one. */
function mountSmall(t, directory, size) {
  mkdirSync(directory);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory],
      { stdio: 'pipe' });
  } catch {
    return false;
  }
  atEnd(t, () => execFileSync('umount', ['-l', directory], { stdio: 'pipe' }));
  return true;
}

test('a full disk ends a backup and a restore with a clear word and nothing left', FILES,
  async (t) => {
    const place = newPlace(t);
    const small = join(place, 'small');
    if (!mountSmall(t, small, '1600k'))
      return t.skip('no right to mount a small file system');
    const server = await startServer(t);
    await fillSome(server.open);
    await refuse(/the disk is full/, 'backup', join(small, 'copy.db'), '--data', server.dataDir);
    assert.deepEqual(readdirSync(small), []);
    await fillSome(server.open, 1);

    const file = join(place, 'copy.db');
    await backup(server, file);
    const empty = await startServer(t);
    await empty.stop();
    const data = join(small, 'data');
    mkdirSync(data, { mode: 0o700 });
    copyFileSync(empty.database, join(data, 'cairn.db'));
    const before = await check(data);
    await refuse(/cannot write .*cairn\.db\.restoring: the disk is full/,
      'restore', file, '--data', data, '--yes');
    assert.equal((await check(data)).content_sha256, before.content_sha256);
    assert.ok(!readdirSync(data).some((name) => /restor/.test(name)), String(readdirSync(data)));
    execFileSync('mount', ['-o', 'remount,size=64m', small], { stdio: 'pipe' });
    assert.equal((await succeed('restore', file, '--data', data, '--yes')).tables.threads, 21);
  });

// --- Rejections -------------------------------------------------------------------------------

test('what is not a whole backup of ours is refused, and nothing is changed', FILES, async (t) => {
  const place = newPlace(t);
  const server = await startServer(t);
  await fillSome(server.open, 3);
  const file = join(place, 'copy.db');
  const report = await backup(server, file);
  const data = join(place, 'data');
  const restore = (rule, ...more) => refuse(rule, 'restore', file, '--data', data, ...more);
  const good = readFileSync(file);

  for (const at of [0, 18, 100, 4096, 40_000, good.length - 1]) {
    const bad = Buffer.from(good);
    bad[at] ^= 1;
    writeFileSync(file, bad);
    await restore(/is not the original backup: its SHA-256 is [0-9a-f]{64}, not/);
  }
  // A false hash is detected by the file itself.
  for (const at of [20, 4096]) {
    const bad = Buffer.from(good);
    bad.fill(0xa5, at, at + 64);
    writeFileSync(file, bad);
    await restore(/damaged|is not a database/, '--sha256', hashOf(file));
  }
  writeFileSync(file, good);
  truncateSync(file, good.length - 4096);
  await restore(/is not the original backup/);
  await restore(/is damaged/, '--sha256', hashOf(file));
  writeFileSync(file, 'certainly not a database, whatever its hash may say of it');
  await restore(/is damaged, or is not a database/, '--sha256', hashOf(file));
  writeFileSync(file, '');
  await restore(/is not a Cairn database/, '--sha256', hashOf(file));
  writeFileSync(file, good);
  await restore(/is not the original backup/, '--sha256', 'ab'.repeat(32));
  await restore(/--sha256 must be 64 hexadecimal digits/, '--sha256', 'abc');
  rmSync(`${file}.sha256`);
  await restore(/copy\.db\.sha256 does not exist: pass the hash of the backup with --sha256/);
  await refuse(/No such file or directory/, 'restore', join(place, 'no.db'), '--data', data,
    '--sha256', report.sha256);
  assert.ok(!existsSync(data), 'the directory was made');

  await refuse(/another cairn process is using the data directory/, 'restore', file, '--data',
    server.dataDir, '--yes', '--sha256', report.sha256);
  await refuse(/copy\.db already exists: --yes replaces it/, 'backup', file, '--data',
    server.dataDir);
  await refuse(/must not be a file of the data directory/, 'backup',
    join(server.dataDir, 'cairn.db'), '--data', server.dataDir, '--yes');
  await refuse(/No such file or directory/, 'backup', join(place, 'no/such/copy.db'), '--data',
    server.dataDir);
  await refuse(/the database .* does not exist/, 'backup', join(place, 'x.db'), '--data', data);
  await fillSome(server.open, 1);
  assert.deepEqual(readdirSync(place), ['copy.db']);
});

/** The tables of the first migration. */
const FIRST_TABLES = ['tenants', 'api_keys', 'audit_log', 'idempotency_keys', 'threads',
  'thread_documents', 'thread_metadata', 'runs', 'run_documents', 'run_undo', 'events',
  'event_garbage', 'event_floor', 'schema_versions'];
const FIRST_INDEXES = ['idempotency_keys_by_age', 'threads_with_event_age',
  'thread_metadata_by_thread', 'runs_by_thread', 'runs_by_status', 'runs_by_parent',
  'runs_unfinished', 'runs_by_lease', 'events_by_thread', 'events_by_tenant'];

test('a backup of a newer version is refused, one of an older version is migrated', FILES,
  async (t) => {
    const place = newPlace(t);
    const server = await startServer(t);
    await fillSome(server.open, 1);
    const file = join(place, 'copy.db');
    await backup(server, file);
    sqliteRows(file, `INSERT INTO schema_versions VALUES (9999, 'later', '9.9', 1)`, []);
    await refuse(/has schema version 9999, this cairn .* knows up to \d+: use a newer cairn/,
      'restore', file, '--data', join(place, 'data'), '--sha256', hashOf(file));
    assert.ok(!existsSync(join(place, 'data')));
    // As the schema was after the first migration.
    const namesOf = (statement) => sqliteRows(file, statement, []).map(({ name }) => name);
    const views = namesOf(`SELECT name FROM sqlite_master WHERE type = 'view'
      AND name NOT IN ('workflows', 'workflow_runs', 'workflow_events')`);
    const tables = namesOf(`SELECT name FROM sqlite_master WHERE type = 'table'
      AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%_words_%'`);
    const indexes = namesOf(`SELECT name FROM sqlite_master WHERE type = 'index'
      AND sql IS NOT NULL AND tbl_name IN (${FIRST_TABLES.map((table) => `'${table}'`)})`);
    const sized = FIRST_TABLES.filter((table) => // a generated column
      namesOf(`SELECT name FROM pragma_table_xinfo('${table}')`).includes('size_bytes'));
    const later = (table, first) => {
      const names = namesOf(`SELECT name FROM pragma_table_info('${table}')`);
      return names.slice(names.indexOf(first))
        .map((name) => `ALTER TABLE ${table} DROP COLUMN ${name}`);
    };
    sqliteScript(file, [
      'PRAGMA foreign_keys = off',
      'DROP VIEW workflow_events', 'CREATE VIEW workflow_events AS SELECT 1',
      'CREATE UNIQUE INDEX events_by_thread ON events (tenant_id, thread_id, seq)',
      ...namesOf(`SELECT name FROM sqlite_master WHERE type = 'trigger'`)
        .map((name) => `DROP TRIGGER ${name}`),
      ...views.map((name) => `DROP VIEW ${name}`),
      ...tables.filter((name) => !FIRST_TABLES.includes(name)).map((name) => `DROP TABLE ${name}`),
      ...indexes.filter((name) => !FIRST_INDEXES.includes(name))
        .map((name) => `DROP INDEX ${name}`),
      ...sized.map((name) => `ALTER TABLE ${name} DROP COLUMN size_bytes`),
      ...later('threads', 'key'), ...later('runs', 'agent_id'),
      ...later('run_documents', 'request'),
      ...later('api_keys', 'principal'), ...later('events', 'marks'),
      ...later('event_garbage', 'added_at'), ...later('tenants', 'plan_tier'),
      ...later('event_floor', 'indexed_id'),
      'DELETE FROM schema_versions WHERE version > 1',
    ]);
    const sha256 = hashOf(file);
    const older = await startServer(t);
    await older.stop();
    const { schema_version: version } =
      await succeed('restore', file, '--data', older.dataDir, '--sha256', sha256, '--yes');
    assert.equal(version, 1);
    await refuse(/has schema version 1, .*: start the server once to migrate the database/, 'check',
      '--data', older.dataDir);
    await older.start();
    await fillSome(older.open, 1);
    assert.ok((await check(older.dataDir)).schema_version > 1);
  });

test('an older database goes aside and is told of; --dry-run changes nothing', FILES, async (t) => {
  const place = newPlace(t);
  const server = await startServer(t);
  await fillSome(server.open, 1);
  const file = join(place, 'copy.db');
  const { content_sha256: content } = await backup(server, file);
  await fillSome(server.open, 1);
  await server.stop();
  const { content_sha256: before } = await check(server.dataDir);
  const args = ['restore', file, '--data', server.dataDir];
  await refuse(/already contains a database: --yes replaces it and keeps the old one/, ...args);
  const files = readdirSync(server.dataDir);
  assert.deepEqual(files, ['cairn.db', 'cairn.lock', 'cairn.reserve'],
    'a check has left something');
  await succeed(...args, '--dry-run', '--yes');
  assert.deepEqual(readdirSync(server.dataDir), files);
  assert.equal((await check(server.dataDir)).content_sha256, before);
  const { kept } = await succeed(...args, '--yes');
  assert.match(kept, /cairn\.db\.before-restore-20[0-9T.-]+Z$/);
  assert.equal((await check(server.dataDir)).content_sha256, content);
  execFileSync('sha256sum', ['-c', `${kept}.sha256`], { cwd: server.dataDir, stdio: 'pipe' });
  await server.start();
  assert.equal(expectStatus(await server.open.get('/v1/threads'), 200).data.length, 1);
  // And back again, also when the other one was killed and has a log.
  await fillSome(server.open, 1);
  await server.kill();
  assert.ok(statSync(`${server.database}-wal`).size > 0);
  const back = await succeed('restore', kept, '--data', server.dataDir, '--yes');
  assert.equal(back.content_sha256, before);
  assert.equal((await check(server.dataDir)).content_sha256, before);
  await server.start();
  assert.equal(expectStatus(await server.open.get('/v1/threads'), 200).data.length, 2);
});

test('a backup does not replace the database of another server', FILES, async (t) => {
  const server = await startServer(t);
  const other = await startServer(t);
  await fillSome(other.open, 1);
  const args = ['backup', other.database, '--data', server.dataDir, '--yes'];
  await refuse(/must not be a file of the data directory/, ...args);
  await other.kill();
  await refuse(/is a database in use and not a backup/, ...args);
  await other.start();
  assert.equal(expectStatus(await other.open.get('/v1/threads'), 200).data.length, 1);
});

test('what root restores is the owner\'s of the directory, and nothing else becomes theirs',
  { skip: FILES.skip || (process.getuid() !== 0 && 'only root gives files away') }, async (t) => {
    const place = newPlace(t);
    const server = await startServer(t);
    const file = join(place, 'copy.db');
    await backup(server, file);
    const secret = join(place, 'secret');
    writeFileSync(secret, 'mine', { mode: 0o600 });
    const data = join(place, 'data');
    mkdirSync(data);
    chownSync(data, 65534, 65534);
    const lock = join(data, 'cairn.lock');
    symlinkSync(secret, lock);
    const args = ['restore', file, '--data', data, '--yes'];
    await refuse(/cairn\.lock is not a regular file of the directory's owner: remove it/, ...args);
    assert.equal(statSync(secret).uid, 0);
    rmSync(lock);
    await succeed(...args);
    const { kept } = await succeed(...args);
    for (const name of [lock, join(data, 'cairn.db'), kept, `${kept}.sha256`])
      assert.equal(statSync(name).uid, 65534, name);
    // Another user's partial backup is rejected too.
    writeFileSync(`${file}.partial`, '');
    chownSync(`${file}.partial`, 65534, 65534);
    await refuse(/copy\.db\.partial exists and is not a regular file of this user/, 'backup', file,
      '--data', server.dataDir, '--yes');
    assert.equal(hashOf(file), (await succeed(...args, '--dry-run')).sha256);
  });

// --- Files ------------------------------------------------------------------------------------

test('a backup has the content of files beside it, and a check finds what is missing', FILES,
  async (t) => {
    const place = newPlace(t);
    const server = await startServer(t);
    await server.stop();
    const one = addContent(server.dataDir, Buffer.from('one'));
    const two = addContent(server.dataDir, Buffer.alloc(300_000, 'two'));
    const file = join(place, 'copy.db');
    assert.deepEqual((await backup(server, file)).files, { count: 2, size_bytes: 300_003 });
    assert.ok(readFileSync(pathOf(place, one).replace('/blobs/', '/copy.db.blobs/'))
      .equals(one.bytes));
    const data = join(place, 'data');
    const report = await succeed('restore', file, '--data', data);
    assert.deepEqual(report.files, { count: 2, size_bytes: 300_003 });
    assert.ok(isThere(data, one) && isThere(data, two));
    assert.equal((await check(data, '--deep')).ok, true);

    writeFileSync(pathOf(data, one), 'eno');
    assert.equal((await check(data)).ok, true); // by its size alone
    truncateSync(pathOf(data, two), 5);
    const end = await runCairn(['check', '--deep', '--data', data]);
    assert.equal(end.code, 1);
    assert.match(end.stdout, /^content\tcontent \S+\tit differs from the stored content: its/m);
    assert.match(end.stdout, /^content\tcontent \S+\tit has another size$/m);
    await refuse(/differs from the stored/, 'backup', join(place, 'other.db'), '--data', data);
    assert.ok(!existsSync(join(place, 'other.db.blobs')));
  });

// --- Check ------------------------------------------------------------------------------------

test('a check beside the server finds nothing, and what breaks a rule afterwards', FILES,
  async (t) => {
    const server = await startServer(t);
    const { alice } = await twoTenants(server);
    await fillSome(alice, 3);
    await quietThings(alice);
    const whole = await check(server.dataDir);
    assert.equal(whole.ok, true);
    assert.match(whole.content_sha256, /^[0-9a-f]{64}$/);
    assert.equal(whole.tables.threads, 4);
    assert.equal(whole.rows, Object.values(whole.tables).reduce((sum, n) => sum + n));
    assert.equal((await check(server.dataDir, '--quick')).content_sha256, null);
    const [[thread]] = server.sql('SELECT hex(thread_id) FROM events WHERE seq = 11 LIMIT 1');
    await server.stop();
    server.sql(`DELETE FROM events WHERE seq = 11 AND hex(thread_id) = '${thread}'`);
    server.sql(`UPDATE audit_log SET detail = '{"x":1}' WHERE seq = 1`);
    for (const how of [[], ['--quick']]) {
      const end = await runCairn(['check', '--data', server.dataDir, ...how]);
      assert.equal(end.code, 1);
      assert.match(end.stdout, /^audit-chain\ttenant 018f0000-\S+\trecord 1 is missing/m);
      const gap = /^events-gapless\tthread (\S+)\t/m.exec(end.stdout);
      assert.equal(gap[1].replaceAll('-', '').toUpperCase(), thread);
      assert.match(end.stderr, /^\d+ rows: threads 4, runs 1, events \d+$/m);
      assert.match(end.stderr, /\d findings, \d of them shown/);
    }
    await refuse(/the database .* does not exist/, 'check', '--data', join(server.dataDir, 'no'));
  });

/** Creates, prunes and deletes threads until it is stopped. */
class Gardener {
  stopped = false;

  constructor(client) {
    this.client = client;
  }

  async work() {
    while (!this.stopped) {
      const { id } = expectStatus(await this.client.post('/v1/threads',
        { metadata: { season: uuid() } }), 201);
      const events = Array.from({ length: 30 }, () => ({ kind: 'acme.leaf', payload: [1, {}] }));
      expectStatus(await this.client.post(`/v1/threads/${id}/events`, { events }), 201);
      expectStatus(await this.client.post(`/v1/threads/${id}/events/prune`,
        { through_seq: 11 }), 200);
      expectStatus(await this.client.patch(`/v1/threads/${id}`,
        { metadata: { season: null, n: 7 } }), 200);
      if (Math.random() < 0.5)
        expectStatus(await this.client.del(`/v1/threads/${id}`), 204);
    }
  }
}

test('a check beside a busy server finds nothing', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const thread = expectStatus(await alice.post('/v1/threads', {}), 201);
  const workers = [new Writer(alice, thread.id), new Starter(alice, thread.id),
    new RunWorker(alice, 1, 2000), new RunWorker(alice, 2, 2000), new Gardener(bob),
    new Gardener(alice)];
  const working = Promise.all(workers.map((worker) => worker.work()));
  const place = server.db === null ? ['--data', server.dataDir]
    : ['--db', server.db, '--db-schema', server.schema];
  let events = 0;
  for (let i = 0; i < 10 || events <= 50; i++) {
    const report = await succeed('check', ...place, ...(i % 2 ? ['--quick'] : []));
    assert.deepEqual(report.findings, []);
    events = report.tables.events ?? events;
  }
  workers.forEach((worker) => { worker.stopped = true; });
  await working;
});

test('a damaged file is reported, wherever the damage is, and crashes nothing', FILES,
  async (t) => {
    const place = newPlace(t);
    const server = await startServer(t);
    await fillSome(server.open, 5);
    const file = join(place, 'copy.db');
    await backup(server, file);
    const good = readFileSync(file);
    const data = join(place, 'data');
    mkdirSync(data);
    const damage = async (at) => {
      const bad = Buffer.from(good);
      for (let n = 0; n < 200 && at + n < bad.length; n++)
        bad[at + n] = Math.floor(Math.random() * 256);
      writeFileSync(join(data, 'cairn.db'), bad);
      const end = await runCairn(['check', '--data', data, '--json']);
      assert.ok(end.code === 0 || end.code === 1, `${end.code ?? end.signal}: ${end.stderr}`);
      const report = JSON.parse(end.stdout);
      assert.equal(report.ok, end.code === 0);
      assert.equal(report.findings.length > 0, end.code === 1);
      return end.code;
    };
    for (const at of [0, 16, 100, 4096]) // the header, the schema, the first table
      assert.equal(await damage(at), 1, `damage at ${at} was not found`);
    // Bytes that no page uses may be anything.
    let found = 0;
    for (let i = 0; i < 40; i++)
      found += await damage(Math.floor(Math.random() * good.length));
    assert.ok(found > 0);
  });

test('on PostgreSQL a check finds what breaks a rule, and pg_dump is named for backups',
  onPostgres('the other engine'), async (t) => {
    const place = newPlace(t);
    const server = await startServer(t);
    const { alice } = await twoTenants(server);
    await fillSome(alice, 3);
    await quietThings(alice);
    const args = ['check', '--db', server.db, '--db-schema', server.schema];
    const whole = await succeed(...args);
    assert.equal(whole.ok, true);
    assert.equal(whole.tables.threads, 4);
    assert.equal(whole.tables.events, Number(server.sql('SELECT count(*) FROM events')[0][0]));
    await succeed(...args, '--quick');
    server.sql('DELETE FROM events WHERE seq = 11');
    const end = await runCairn(args);
    assert.equal(end.code, 1);
    const gaps = end.stdout.match(/^events-gapless\tthread \S+\tevent 11 is missing/mg);
    assert.equal(gaps.length, 3);
    await refuse(/has no Cairn schema "nobody"/, 'check', '--db', server.db, '--db-schema',
      'nobody');
    for (const command of ['backup', 'restore']) {
      const refused =
        await runCairn([command, join(place, 'x.db')], { env: { CAIRN_DB: server.db } });
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /is PostgreSQL: .*(pg_dump|pg_restore)/);
    }
  });

// --- The documentation ------------------------------------------------------------------------

test('the examples of docs/backup.md run as they stand', FILES, async (t) => {
  const place = newPlace(t);
  const server = await startServer(t);
  await fillSome(server.open, 2);
  symlinkSync(server.dataDir, join(place, 'data'));
  mkdirSync(join(place, 'bin'));
  symlinkSync(BINARY, join(place, 'bin/cairn'));
  const page = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8');
  const script = [...page.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, body]) => body).join('');
  assert.ok(script.includes('cairn backup') && script.includes('cairn restore'));
  const env = { ...process.env, CAIRN_DB: '', PATH: `${place}/bin:${process.env.PATH}` };
  const said = execFileSync('bash', ['-euc', script],
    { cwd: place, encoding: 'utf8', stdio: 'pipe', env });
  assert.match(said, /monday\.db: OK/);
  assert.match(said, /"file":\s*"tuesday\.db"/);
  assert.deepEqual(readdirSync(join(place, 'third')), ['cairn.db', 'cairn.lock']);
});
