// SPDX-License-Identifier: Apache-2.0
// The bytes of files on their way in and out: any size, any client, every way to fail.
import assert from 'node:assert/strict';
import net from 'node:net';
import { closeSync, mkdtempSync, openSync, readSync, readdirSync, rmSync, writeSync } from
  'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { eventually, expectProblem, expectStatus, onPostgres, onSqlite, runCairn,
  startServer, twoTenants, uuid } from './lib/server.mjs';
import { beginUpload, contents, digestOf, download, filePath, known, pattern, sha256, upload } from
  './lib/bytes.mjs';
import { startMeddled } from './lib/meddle.mjs';

const MIB = 1024 * 1024;
const FATAL = 70;

/** The assertion holds after a while. */
async function settles(assertion) {
  let why = null;
  await eventually(() => {
    try {
      assertion();
      return true;
    } catch (error) {
      why = error;
      return false;
    }
  }, () => why.message);
}

/** Nothing lies in the store that no row knows. */
const expectNoLeftovers = (server) => settles(() => assert.deepEqual(
  contents(server).filter((id) => !known(server).includes(id)), []));

test('files of any size come back as they were sent, whatever the client', async (t) => {
  const server = await startServer(t);
  for (const size of [0, 1, 65_536, 300_000, 3 * MIB + 17])
    for (const chunked of [false, true]) {
      const bytes = pattern(size, size + 1);
      const path = await filePath(server.open, `größe ${size}.bin`);
      const made = await upload(server, path, bytes, { chunked, headers: {
        'Content-Type': 'application/x-thing' } });
      assert.equal(expectStatus(made, 201).size_bytes, size);
      assert.equal(made.body.sha256, sha256(bytes).digest('hex'));
      const got = await download(server, path);
      expectStatus(got, 200);
      assert.ok(got.bytes.equals(bytes), `${size} ${chunked}`);
      const { headers } = got;
      assert.equal(headers.get('Content-Length'), `${size}`);
      assert.equal(headers.get('Content-Type'), 'application/x-thing');
      assert.equal(headers.get('Accept-Ranges'), 'bytes');
      assert.equal(headers.get('X-Content-Type-Options'), 'nosniff');
      assert.equal(headers.get('Repr-Digest'), digestOf(bytes));
      assert.equal(headers.get('Content-Disposition'),
        `attachment; filename="gr__e ${size}.bin"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20${size}.bin`);
      assert.ok(Date.parse(headers.get('Last-Modified')) > 0);
      const head = await download(server, path, { method: 'HEAD' });
      assert.equal(head.bytes.length, 0);
      for (const name of ['Content-Length', 'ETag', 'Content-Type', 'Last-Modified'])
        assert.equal(head.headers.get(name), headers.get(name), name);
    }
  const path = await filePath(server.open, 'by fetch');
  const body = new ReadableStream({ start(c) {
    for (let i = 0; i < 10; i++) c.enqueue(pattern(100_000, i));
    c.close();
  } });
  const put = await fetch(server.url + path, { method: 'PUT', body, duplex: 'half' });
  assert.equal(put.status, 201);
  const got = Buffer.from(await (await fetch(server.url + path)).arrayBuffer());
  assert.equal(got.length, 1_000_000);
  assert.ok(got.subarray(100_000, 200_000).equals(pattern(100_000, 1)));
  await expectNoLeftovers(server);
});

test('a range, a condition and both are answered as RFC 9110 says', async (t) => {
  const server = await startServer(t);
  const path = await filePath(server.open, 'a');
  const bytes = pattern(600_000);
  const etag = (await upload(server, path, bytes)).headers.get('ETag');
  const date = (await download(server, path)).headers.get('Last-Modified');
  const part = async (headers) => download(server, path, { headers });
  for (const [range, first, last] of [['0-0', 0, 0], ['5-9', 5, 9], ['599990-', 599_990, 599_999],
    ['-10', 599_990, 599_999], ['100-900000', 100, 599_999], ['-900000', 0, 599_999],
    ['262140-262150', 262_140, 262_150], ['524280-524300', 524_280, 524_300]]) {
    const got = await part({ Range: `bytes=${range}` });
    expectStatus(got, 206);
    assert.equal(got.headers.get('Content-Range'), `bytes ${first}-${last}/600000`);
    assert.equal(got.headers.get('Content-Length'), `${last - first + 1}`);
    assert.ok(got.bytes.equals(bytes.subarray(first, last + 1)), range);
  }
  for (const range of ['600000-', '700000-800000', '-0']) {
    const got = await part({ Range: `bytes=${range}` });
    expectProblem(got, 416, 'range_not_satisfiable');
    assert.equal(got.headers.get('Content-Range'), 'bytes */600000');
  }
  for (const range of ['bytes=9-5', 'bytes=a-b', 'lines=1-2', 'bytes=1-2,5-6', 'bytes=-',
    'bytes=1'])
    assert.equal((await part({ Range: range })).bytes.length, 600_000, range);
  for (const name of [etag, `"x", ${etag}`, `W/${etag}`, '*']) {
    const got = await part({ 'If-None-Match': name });
    expectStatus(got, 304);
    assert.equal(got.headers.get('ETag'), etag);
  }
  expectStatus(await part({ 'If-None-Match': '"77"' }), 200);
  expectStatus(await part({ 'If-Modified-Since': date }), 304);
  expectStatus(await part({ Range: 'bytes=1-2', 'If-Range': etag }), 206);
  expectStatus(await part({ Range: 'bytes=1-2', 'If-Range': date }), 206);
  expectStatus(await part({ Range: 'bytes=1-2', 'If-Range': '"77"' }), 200);
  expectStatus(await part({ Range: 'bytes=1-2', 'If-Range': `W/${etag}` }), 200);
  expectProblem(await part({ 'If-Match': '"77"' }), 412, 'stale_etag');
  expectStatus(await part({ 'If-Match': etag }), 200);
});

test('what can be refused without the bytes is refused before they come', async (t) => {
  const server = await startServer(t, { args: ['--max-upload', '1'] });
  const path = await filePath(server.open, 'a');
  const absent = `/v1/threads/${uuid()}/files/a`;
  // A length of 9 GiB, of which nothing is sent.
  for (const headers of [{}, { Expect: '100-continue' }]) {
    const up = beginUpload(server, absent, { length: 9 * 1024 ** 3, headers });
    expectProblem(await up.answer, 404, 'not_found');
    assert.equal(up.continued, false);
    up.leave();
  }
  const large = beginUpload(server, path, { length: MIB + 1, headers: { Expect: '100-continue' } });
  assert.match(expectProblem(await large.answer, 413, 'body_too_large').detail, /1048576 bytes/);
  assert.equal(large.continued, false);
  large.leave();
  const stale = beginUpload(server, path, { length: 100, headers: { 'If-Match': '"3"' } });
  assert.equal((await stale.answer).status, 412);
  stale.leave();
  const good = beginUpload(server, path, { length: 3, headers: { Expect: '100-continue' } });
  await settles(() => assert.ok(good.continued));
  expectStatus(await good.end('abc'), 201);
  // Without a length it is found out on the way.
  const endless = beginUpload(server, path);
  for (let i = 0; i < 24; i++) await endless.write(pattern(64 * 1024, i));
  assert.equal(expectStatus(await endless.answer, 413).code, 'body_too_large');
  endless.leave();
  assert.equal((await download(server, path)).text, 'abc');
  await expectNoLeftovers(server);
});

test('a digest is verified, and bytes that do not have it change nothing', async (t) => {
  const server = await startServer(t);
  const path = await filePath(server.open, 'a');
  const bytes = pattern(1000);
  for (const name of ['Content-Digest', 'Repr-Digest']) {
    const wrong = await upload(server, path, bytes, { headers: { [name]: digestOf('other') } });
    assert.match(expectProblem(wrong, 422, 'invalid_input').detail, /SHA-256 of the body/);
    for (const value of ['sha-256=:short:', 'sha-256=x', 'sha-256=',
      `sha-256=:${'-'.repeat(43)}=:`])
      assert.equal((await upload(server, path, bytes, { headers: { [name]: value } })).status, 422,
        value);
  }
  expectProblem(await download(server, path), 404, 'not_found');
  const right = { 'Content-Digest': `sha-512=:AAAA:, ${digestOf(bytes)}` };
  expectStatus(await upload(server, path, bytes, { headers: right }), 201);
  await expectNoLeftovers(server);
});

test('who leaves midway, or comes slowly, leaves nothing behind', async (t) => {
  const server = await startServer(t);
  const path = await filePath(server.open, 'a');
  for (const options of [{ length: 10 * MIB }, {}]) {
    const up = beginUpload(server, path, options);
    for (let i = 0; i < 20; i++) await up.write(pattern(64 * 1024, i));
    await settles(() => assert.notDeepEqual(contents(server), []));
    up.leave();
    await settles(() => assert.deepEqual(contents(server), []));
  }
  expectProblem(await download(server, path), 404, 'not_found');
  const slow = beginUpload(server, path);
  for (let i = 0; i < 10; i++) {
    await slow.write(Buffer.from(`${i}`));
    await new Promise((turn) => setTimeout(turn, 20));
  }
  expectStatus(await slow.end(), 201);
  assert.equal((await download(server, path)).text, '0123456789');
});

test('the same bytes are stored once a tenant, and never shown to another', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const bytes = pattern(200_000);
  const paths = [await filePath(alice, 'a'), await filePath(alice, 'b'), await filePath(bob, 'c')];
  for (const [i, path] of paths.entries()) {
    const secret = (i < 2 ? alice : bob).secret;
    expectStatus(await upload(server, path, bytes, { secret }), 201);
    assert.ok((await download(server, path, { secret })).bytes.equals(bytes));
    const other = (i < 2 ? bob : alice).secret;
    expectProblem(await download(server, path, { secret: other }), 404, 'not_found');
    expectProblem(await upload(server, path, bytes, { secret: other }), 404, 'not_found');
  }
  await settles(() => assert.equal(contents(server).length, 2));
  assert.equal(known(server).length, 2);
});

test('a reader that is slow gets all of it, also while the server stops', async (t) => {
  const server = await startServer(t);
  const path = await filePath(server.open, 'a');
  const bytes = pattern(20 * MIB);
  expectStatus(await upload(server, path, bytes), 201);
  let stopped;
  const got = await download(server, path, { slowly: async () => {
    stopped = server.stop();
    await new Promise((turn) => setTimeout(turn, 300));
  } });
  assert.ok(got.isWhole && got.bytes.equals(bytes));
  await stopped;
  await server.start();
});

/** Changes a byte of the only content there is. */
function damage(server, at) {
  if (server.db !== null) {
    server.sql(`UPDATE blob_chunks SET bytes = set_byte(bytes, ${at % (512 * 1024)},
      get_byte(bytes, ${at % (512 * 1024)}) # 1) WHERE n = ${Math.floor(at / (512 * 1024))}`);
    return;
  }
  const root = join(server.dataDir, 'blobs');
  const entry = readdirSync(root, { recursive: true, withFileTypes: true })
    .find((it) => it.isFile());
  const file = openSync(join(entry.parentPath ?? entry.path, entry.name), 'r+');
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, at);
  writeSync(file, Buffer.from([byte[0] ^ 1]), 0, 1, at);
  closeSync(file);
}

for (const size of [1000, 2 * MIB])
  test(`damaged content of ${size} bytes is never shown as whole`, async (t) => {
    const server = await startServer(t);
    const path = await filePath(server.open, 'a');
    expectStatus(await upload(server, path, pattern(size)), 201);
    damage(server, size - 100);
    const got = await download(server, path);
    if (size === 1000)
      expectProblem(got, 500, 'data_damaged');
    else
      assert.ok(got.status === 200 && !got.isWhole && got.bytes.length < size);
    const { text } = await server.open.get('/metrics');
    assert.match(text, /^cairn_store_damaged_total 1$/m);
    // The undamaged part can be read as a range.
    expectStatus(await download(server, path, { headers: { Range: 'bytes=0-99' } }), 206);
  });

test('bytes whose stored content is missing are mended by who uploads them again',
  onSqlite('content in the database has no file that could be missing'), async (t) => {
    const server = await startServer(t);
    const bytes = pattern(5000);
    const one = await filePath(server.open, 'one');
    const two = await filePath(server.open, 'two');
    expectStatus(await upload(server, one, bytes), 201);
    const entry = readdirSync(join(server.dataDir, 'blobs'), { recursive: true,
      withFileTypes: true }).find((it) => it.isFile());
    rmSync(join(entry.parentPath ?? entry.path, entry.name));
    expectProblem(await download(server, one), 500, 'data_damaged');
    expectStatus(await upload(server, two, bytes), 201);
    for (const path of [one, two])
      assert.ok((await download(server, path)).bytes.equals(bytes), path);
  });

test('killed in the middle of uploads: after the start nothing of them is left',
  onSqlite('on PostgreSQL another node may be writing it: it goes after a day'), async (t) => {
    const server = await startServer(t);
    const path = await filePath(server.open, 'kept');
    const bytes = pattern(500_000);
    expectStatus(await upload(server, path, bytes), 201);
    for (let i = 0; i < 3; i++) {
      const up = beginUpload(server, path, { length: 8 * MIB });
      up.write(pattern(MIB));
      await settles(() => assert.equal(contents(server).length, i + 2));
    }
    await server.kill();
    assert.equal(contents(server).length, 4);
    await server.start();
    await settles(() => assert.equal(contents(server).length, 1));
    assert.ok((await download(server, path)).bytes.equals(bytes));
    assert.match(server.stderr, /left behind by a crash/);
  });

test('a disk that is full in the middle of an upload: 507, and nothing is left of it',
  onSqlite('the disk of PostgreSQL is its own'), async (t) => {
    const { server, meddle } = await startMeddled(t);
    const path = await filePath(server.open, 'a');
    const up = beginUpload(server, path, { length: 8 * MIB });
    await up.write(pattern(MIB));
    await settles(() => assert.equal(contents(server).length, 1));
    meddle.fail('write', { error: 'ENOSPC' });
    up.write(pattern(4 * MIB)).catch(() => {});
    const answer = await up.answer;
    expectProblem(answer, 507, 'storage_full');
    up.leave();
    meddle.mend();
    assert.deepEqual(contents(server), []);
    expectStatus(await upload(server, path, pattern(MIB)), 201);
  });

test('an fsync of content fails: the server stops, and acknowledges nothing',
  onSqlite('the disk of PostgreSQL is its own'), async (t) => {
    const { server, meddle } = await startMeddled(t);
    const path = await filePath(server.open, 'a');
    const up = beginUpload(server, path, { length: 2 * MIB });
    await up.write(pattern(MIB));
    await settles(() => assert.equal(contents(server).length, 1));
    const ending = server.ending();
    meddle.fail('sync');
    await assert.rejects(up.end(pattern(MIB)));
    assert.equal((await ending).code, FATAL);
    assert.match(server.stderr, /an fsync of a file's content failed/);
    meddle.mend();
    await server.start();
    expectProblem(await download(server, path), 404, 'not_found');
    await expectNoLeftovers(server);
  });

test('on PostgreSQL content can be in a directory that the nodes share',
  onPostgres('SQLite has its data directory'), async (t) => {
    const shared = mkdtempSync(join(tmpdir(), 'cairn-files-'));
    t.after(() => rmSync(shared, { recursive: true }));
    const server = await startServer(t, { args: ['--files-dir', shared] });
    const node = await server.join();
    const path = await filePath(server.open, 'a');
    const bytes = pattern(MIB);
    expectStatus(await upload(server, path, bytes), 201);
    assert.ok((await download(node, path)).bytes.equals(bytes));
    assert.equal(contents(server, shared).length, 1);
    assert.deepEqual(contents(server), []);
    const up = beginUpload(node, path, { length: 4 * MIB });
    await up.write(pattern(MIB, 2));
    await settles(() => assert.equal(contents(server, shared).length, 2));
    up.leave();
    await settles(() => assert.equal(contents(server, shared).length, 1));
    const end = await runCairn(['serve', '--listen', '127.0.0.1:0', '--db', server.db,
      '--db-schema', server.schema, '--files-dir', join(shared, 'absent')]);
    assert.equal(end.code, 1);
    assert.match(end.stderr, /cannot use the directory of files/);
  });

test('a client of HTTP/1.0 and one that sends no more are served', async (t) => {
  const server = await startServer(t);
  const path = await filePath(server.open, 'a');
  const bytes = pattern(MIB);
  expectStatus(await upload(server, path, bytes), 201);
  for (const version of ['1.0', '1.1']) {
    const got = await new Promise((done) => {
      const socket = net.connect(server.port, '127.0.0.1');
      const parts = [];
      socket.on('data', (part) => parts.push(part)).on('end', () => done(Buffer.concat(parts)));
      socket.end(`GET ${path} HTTP/${version}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    });
    assert.ok(got.subarray(got.length - MIB).equals(bytes), version);
  }
});

