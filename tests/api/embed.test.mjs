// SPDX-License-Identifier: Apache-2.0
// libcairn from outside: the examples, what the library files give away and need, subscriptions
// against the server's streams, and what is left after a crash of the host.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { BUILD, SHARED_LIBRARY, STATIC_LIBRARY, placeOf, startDrive } from './lib/drive.mjs';
import { atEnd } from './lib/ending.mjs';
import { readSse } from './lib/followers.mjs';
import { expectStatus, onPostgres, onSqlite, pause, startServer } from './lib/server.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LIBRARIES = dirname(SHARED_LIBRARY);
const FILES = onSqlite('the library files have nothing to do with the engine');

const run = (program, args, options = {}) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options });

/** A directory that is deleted when the test ends. */
function scratch(t) {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-embed-'));
  atEnd(t, () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A build under a sanitizer cannot be loaded by programs that were not built so. */
const isSanitized = () => /\b__[atu]\w*san_/.test(run('nm', ['-D', SHARED_LIBRARY]));

// --- The examples ----------------------------------------------------------------------------

function expectStory(text) {
  const statuses = [...text.matchAll(/^(?:GET|POST) \S+ (\d+) /gm)].map((m) => m[1]);
  assert.ok(statuses.length >= 4 && statuses.every((s) => s === '200' || s === '201'), text);
  const cursors = [...text.matchAll(/^event (\d+):? /gm)].map((m) => Number(m[1]));
  assert.deepEqual(cursors, Array.from(cursors, (_, i) => i + 1), text);
  assert.ok(cursors.length >= 3 && text.includes('app.answer') && text.includes('42'), text);
}

for (const name of ['embed', 'embed_static'])
  test(`the example in C runs, and runs again on the same data: ${name}`, FILES, (t) => {
    const data = join(scratch(t), 'data');
    const program = join(BUILD, 'examples', name);
    for (let i = 0; i < 2; i++) expectStory(run(program, [data]).replaceAll(': ', ' '));
    assert.throws(() => run(program, ['/proc/nowhere/data']), /cannot create the data directory/);
  });

test('the example in Python runs with ctypes alone', FILES, (t) => {
  if (isSanitized()) return t.skip('Python is not built with the sanitizer');
  const example = join(ROOT, 'examples/embed.py');
  const data = join(scratch(t), 'data');
  for (let i = 0; i < 2; i++) expectStory(run('python3', [example, data, SHARED_LIBRARY]));
  assert.throws(() => run('python3', [example, '/proc/nowhere/data', SHARED_LIBRARY]),
    /cannot create the data directory/);
});

test('the examples stay under sixty lines', FILES, () => {
  for (const name of ['embed.c', 'embed.py'])
    assert.ok(readFileSync(join(ROOT, 'examples', name), 'utf8').split('\n').length <= 60, name);
});

test('the programs of docs/embed.md do what it says', FILES, (t) => {
  if (isSanitized()) return t.skip('a program would need the sanitizer too');
  const page = readFileSync(join(ROOT, 'docs/embed.md'), 'utf8');
  const block = (language) => page.match(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms'))[1];
  const directory = scratch(t);
  const options = { cwd: directory, env: { ...process.env, LD_LIBRARY_PATH: LIBRARIES } };
  writeFileSync(join(directory, 'hello.c'), block('c'));
  run('cc', ['-Wall', '-Werror', 'hello.c', '-o', 'hello', '-I', join(ROOT, 'include'),
    '-L', LIBRARIES, '-lcairn'], options);
  assert.match(run('./hello', [], options), /^201 \{.*"title":"hello".*\}\n1 \{.*"seq":1,/);
  assert.match(run('python3', ['-c', block('python')], options), /^200 .*'title': 'hello'/);
});

// --- The library files -----------------------------------------------------------------------

const declared = () => {
  const header = readFileSync(join(ROOT, 'include/cairn/cairn.h'), 'utf8');
  return [...header.matchAll(/^CAIRN_API [^;]*?\b(cairn_\w+)\(/gms)].map((m) => m[1]).sort();
};

const names = (args, file) =>
  [...run('nm', [...args, file]).matchAll(/ [A-Z] (\w+)$/gm)].map((m) => m[1]).sort();

test('both libraries give away what the header declares, and nothing else', FILES, () => {
  assert.ok(declared().length >= 15);
  assert.deepEqual(names(['-D', '--defined-only'], SHARED_LIBRARY), declared());
  const global = names(['-g', '--defined-only'], STATIC_LIBRARY);
  assert.deepEqual(global.filter((name) => !/^_*(asan|tsan|ubsan|sancov|start|stop)_/.test(name)),
    declared());
});

test('the shared library needs only databases, libcrypto, zlib and libzstd', FILES, () => {
  const dynamic = run('readelf', ['-d', SHARED_LIBRARY]);
  const needed = [...dynamic.matchAll(/NEEDED\).*\[(.*?)\.so/g)].map((m) => m[1]);
  assert.deepEqual(needed.filter((name) => !['libc', 'ld-linux-x86-64', 'libgcc_s', 'libm',
    'libresolv', 'libpthread', 'libdl', 'librt'].includes(name)).sort(),
  ['libcrypto', 'libpq', 'libsqlite3', 'libz', 'libzstd']);
  assert.match(dynamic, /SONAME.*\[libcairn\.so\.0\]/);
});

test('what is installed is found by pkg-config, and programs link both ways', FILES, (t) => {
  if (isSanitized()) return t.skip('a program would need the sanitizer too');
  const root = scratch(t);
  run('meson', ['install', '-C', BUILD, '--no-rebuild', '--destdir', root]);
  const found = readdirSync(root, { recursive: true }).map(String);
  const pc = found.find((path) => path.endsWith('pkgconfig/cairn.pc'));
  assert.ok(pc !== undefined && found.some((path) => path.endsWith('include/cairn/cairn.h')));
  const where = join(root, pc, '../..');
  const prefix = readFileSync(join(root, pc), 'utf8').match(/^prefix=(.*)$/m)[1];
  const config = (...args) => run('pkg-config',
    [`--define-variable=prefix=${join(root, prefix)}`, ...args, 'cairn'],
    { env: { ...process.env, PKG_CONFIG_PATH: join(where, 'pkgconfig') } }).trim().split(/\s+/);
  assert.match(config('--print-requires-private').join(' '),
    /libpq.*sqlite3.*libcrypto.*zlib.*libzstd/);
  const source = join(ROOT, 'examples/embed.c');
  const shared = join(root, 'shared'), fixed = join(root, 'fixed');
  run('cc', ['-Wall', '-Werror', source, '-o', shared, ...config('--cflags', '--libs')]);
  run('cc', [source, '-o', fixed, ...config('--cflags'), join(where, 'libcairn.a'), '-lpq',
    '-lsqlite3', '-lcrypto', '-lzstd', '-lz', '-pthread']);
  expectStory(run(shared, [join(root, 'data')], { env: { LD_LIBRARY_PATH: where } })
    .replaceAll(': ', ' '));
  expectStory(run(fixed, [join(root, 'data')]).replaceAll(': ', ' '));
});

test('the header is one of C and of C++', FILES, (t) => {
  const out = join(scratch(t), 'header.o');
  const header = join(ROOT, 'include/cairn/cairn.h');
  for (const [language, standard] of [['c', 'c99'], ['c++', 'c++11']])
    run('clang', ['-x', language, `-std=${standard}`, '-Wall', '-Wextra', '-Wpedantic', '-Werror',
      '-fsyntax-only', header, '-o', out]);
});

// --- Subscriptions and streams ---------------------------------------------------------------

/** The stream's whole blocks that hold data, as cairn_next gives them. */
const blocksOf = (text) => text.split('\n\n').slice(0, -1)
  .filter((block) => block.includes('data: '))
  .map((block) => [
    /^event: gap$/m.test(block) ? 'gap' : 'event',
    /^id: (.*)$/m.exec(block)[1],
    /^data: (.*)$/m.exec(block)[1],
  ]);

/** All events, of which there are so many: silence ends them, on a slow machine a longer one. */
async function readToEnd(drive, target, count) {
  for (let timeoutMs = 500; ; timeoutMs *= 10) {
    const { events } = await drive.subscribe(target, { limit: count + 100, timeoutMs });
    if (events.length >= count || timeoutMs > 10_000)
      return events;
  }
}

test('a subscription gives the bytes of the stream: events, gaps and cursors', async (t) => {
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201).id;
  const other = expectStatus(await server.open.post('/v1/threads', {}), 201).id;
  for (let i = 0; i < 600; i += 100)
    for (const id of [thread, other])
      expectStatus(await server.open.post(`/v1/threads/${id}/events`, { events: Array.from(
        { length: 100 }, (_, n) => ({ kind: n % 3 ? 'progress' : 'app.third', text: `\u00e9 ${n}`,
          payload: { n, big: 'x'.repeat(n) } })) }), 201);
  expectStatus(await server.open.post(`/v1/threads/${thread}/events/prune`, { through_seq: 40 }),
    200);
  const targets = [
    [`/v1/threads/${thread}/events/stream`, 561],
    [`/v1/threads/${thread}/events/stream?after=10`, 562],
    [`/v1/threads/${thread}/events/stream?after=300&kind=app.third`, 102],
    ['/v1/events/stream', 1162],
    ['/v1/events/stream?after=5', 1158],
  ];
  const streams = [];
  for (const [target, count] of targets) {
    const stream = readSse(server.open, target);
    while (blocksOf(stream.text).length < count) await pause(20);
    streams.push(blocksOf(stream.text));
    stream.close();
  }
  await server.stop();
  const drive = startDrive(t, placeOf(server));
  for (const [i, [target]] of targets.entries()) {
    const events = await readToEnd(drive, target, streams[i].length);
    assert.equal(events.length, streams[i].length, target);
    assert.deepEqual(events, streams[i], target);
  }
  assert.ok(streams.flat().some(([kind]) => kind === 'gap'));
  await drive.close();
});

test('a program and a server share a PostgreSQL: each sees what the other commits',
  onPostgres('SQLite has one process at a time'), async (t) => {
    const server = await startServer(t);
    const thread = expectStatus(await server.open.post('/v1/threads', {}), 201).id;
    const drive = startDrive(t, placeOf(server));
    await drive.call('GET', '/readyz');
    const heard = drive.subscribe(`/v1/threads/${thread}/events/stream?after=1`,
      { limit: 20, timeoutMs: 180_000 });
    for (let i = 0; i < 20; i++)
      expectStatus(await server.open.post(`/v1/threads/${thread}/events`, { kind: 'progress' }),
        201);
    assert.deepEqual((await heard).events.map(([, cursor]) => Number(cursor)),
      Array.from({ length: 20 }, (_, i) => i + 2));
    const stream = readSse(server.open, `/v1/threads/${thread}/events/stream?after=21`);
    await stream.opened;
    for (let i = 0; i < 20; i++)
      assert.equal((await drive.call('POST', `/v1/threads/${thread}/events`,
        { body: '{"kind":"progress"}' })).status, 201);
    while (blocksOf(stream.text).length < 20) await pause(20);
    stream.close();
    await drive.close();
  });

// --- One process, and crashes ----------------------------------------------------------------

test('a directory that a server has open is refused in words, and the other way round',
  onSqlite('any number of processes share a PostgreSQL'), async (t) => {
    const server = await startServer(t);
    const drive = startDrive(t, placeOf(server));
    assert.equal((await drive.ended).code, 1);
    assert.match(drive.stderr, /another cairn process is using the data directory/);
    await server.stop();
    const alone = startDrive(t, placeOf(server));
    assert.equal((await alone.call('GET', '/readyz')).status, 200);
    await assert.rejects(server.start(), /another cairn process is using the data directory/);
    await alone.close();
    await server.start();
  });

test('what a killed program had acknowledged is there when it opens again', async (t) => {
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201).id;
  await server.stop();
  const place = placeOf(server);
  const acknowledged = [];
  let sent = 0;
  for (let cycle = 0; cycle < 5; cycle++) {
    const drive = startDrive(t, place);
    const enough = acknowledged.length + 40;
    const answers = Array.from({ length: 400 }, () => {
      const text = `event ${sent++}`;
      return drive.call('POST', `/v1/threads/${thread}/events`,
        { body: JSON.stringify({ kind: 'progress', text }) })
        .then(({ status }) => { if (status === 201) acknowledged.push(text); });
    });
    while (acknowledged.length < enough) await pause(1);
    await drive.kill();
    await Promise.allSettled(answers);
  }
  const drive = startDrive(t, place);
  const { body } = await drive.call('GET', `/v1/threads/${thread}`);
  const events = await readToEnd(drive, `/v1/threads/${thread}/events/stream?after=1`,
    JSON.parse(body).last_seq - 1);
  const texts = events.map(([, , data]) => JSON.parse(data).text);
  assert.deepEqual(events.map(([, cursor]) => Number(cursor)),
    Array.from(events, (_, i) => i + 2), 'the numbers have no gap');
  assert.ok(acknowledged.length >= 200);
  for (const text of acknowledged)
    assert.equal(texts.filter((other) => other === text).length, 1, text);
  await drive.close();
});
