// SPDX-License-Identifier: Apache-2.0
// Files of a thread: versions, conditions, ranges, lists, differences, copies, uploads.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import {
  ENGINE,
  eventually,
  expectFault,
  expectProblem,
  expectStatus,
  readAll,
  startServer,
  twoTenants,
  uuid,
  withKey,
} from './lib/server.mjs';

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const newThread = async (client) => expectStatus(await client.post('/v1/threads', {}), 201).id;
const at = (thread, name) => `/v1/threads/${thread}/files/${encodeURIComponent(name)}`;
const put = (client, thread, name, bytes, headers = {}) =>
  client.request('PUT', at(thread, name), { raw: bytes, type: 'text/plain', headers });

test('files', async (t) => {
  const server = await startServer(t);
  const c = server.open;

  await t.test('the same name makes version 2, 3 …, and each can be read', async () => {
    const thread = await newThread(c);
    const first = await put(c, thread, 'a.txt', 'one');
    assert.equal(first.status, 201);
    assert.equal(first.headers.get('ETag'), '"1"');
    const { id, created_at, updated_at, ...rest } = first.body;
    assert.deepEqual(rest, {
      thread_id: thread, name: 'a.txt', version: 1, size_bytes: 3, sha256: sha256('one'),
      content_type: 'text/plain', created_by: null, metadata: {}, revision: 1,
    });
    const second = await put(c, thread, 'a.txt', 'two!');
    assert.equal(second.status, 200);
    assert.equal(second.body.version, 2);
    const newest = await c.get(at(thread, 'a.txt'));
    assert.equal(newest.text, 'two!');
    assert.equal(newest.headers.get('ETag'), '"2"');
    assert.equal(newest.headers.get('Content-Type'), 'text/plain');
    assert.equal(newest.headers.get('X-Content-Type-Options'), 'nosniff');
    assert.equal((await c.get(`${at(thread, 'a.txt')}?version=1`)).text, 'one');
    assert.equal((await c.get(`${at(thread, 'a.txt')}/versions/1`)).text, 'one');
    expectProblem(await c.get(`${at(thread, 'a.txt')}/versions/3`), 404, 'not_found');
    const versions = expectStatus(await c.get(`${at(thread, 'a.txt')}/versions`), 200);
    assert.deepEqual(versions.data.map((v) => [v.version, v.size_bytes]), [[2, 4], [1, 3]]);
    const kinds = (await readAll(c, `/v1/threads/${thread}/events`)).map((e) => e.kind);
    assert.deepEqual(kinds.slice(-2), ['file.created', 'file.updated']);
  });

  await t.test('ranges, HEAD and conditions of reading', async () => {
    const thread = await newThread(c);
    await put(c, thread, 'r', '0123456789');
    const part = await c.get(at(thread, 'r'), { headers: { Range: 'bytes=2-4' } });
    assert.equal(part.status, 206);
    assert.equal(part.text, '234');
    assert.equal(part.headers.get('Content-Range'), 'bytes 2-4/10');
    const head = await c.head(at(thread, 'r'));
    assert.equal(head.headers.get('Content-Length'), '10');
    const known = { headers: { 'If-None-Match': '"1"' } };
    assert.equal((await c.get(at(thread, 'r'), known)).status, 304);
    const ranged = (range) => c.get(at(thread, 'r'), { headers: { Range: range } });
    const clamped = await ranged('Bytes=2-99999999999999999999');
    assert.deepEqual([clamped.status, clamped.headers.get('Content-Range')], [206, 'bytes 2-9/10']);
    assert.equal((await ranged('bytes=-99999999999999999999')).status, 206);
    expectProblem(await ranged('bytes=99999999999999999999-'), 416, 'range_not_satisfiable');
    expectProblem(await c.get(at(thread, 'r'), { headers: { Range: 'bytes=10-' } }), 416,
      'range_not_satisfiable');
  });

  await t.test('with If-Match one of two uploaders wins; without it none is lost', async () => {
    const thread = await newThread(c);
    await put(c, thread, 'a', '1');
    const both = await Promise.all(
      ['x', 'y'].map((text) => put(c, thread, 'a', text, { 'If-Match': '"1"' })),
    );
    assert.deepEqual(both.map((a) => a.status).sort(), [200, 412]);
    const loser = both.find((a) => a.status === 412);
    assert.match(loser.body.detail, /"2"/);
    const many = await Promise.all(
      Array.from({ length: 6 }, (_, i) => put(c, thread, 'a', `n${i}`)),
    );
    assert.deepEqual(many.map((a) => a.body.version).sort(), [3, 4, 5, 6, 7, 8]);
    const texts = await Promise.all(
      many.map(async (a) => (await c.get(`${at(thread, 'a')}/versions/${a.body.version}`)).text),
    );
    assert.deepEqual(texts, many.map((_, i) => `n${i}`));
    assert.equal((await put(c, thread, 'a', 'z', { 'If-None-Match': '*' })).status, 412);
    assert.equal((await put(c, thread, 'b', 'z', { 'If-None-Match': '*' })).status, 201);
    assert.equal((await put(c, thread, 'none', 'z', { 'If-Match': '*' })).status, 412);
    expectFault(await put(c, thread, 'b', 'z', { 'If-None-Match': '"1"' }), 422, 'invalid_input',
      'If-None-Match');
    expectProblem(await c.get(at(thread, 'none')), 404, 'not_found');
  });

  await t.test('names are data: slashes, dots, any script, but no control characters', async () => {
    const thread = await newThread(c);
    const names = [
      '../../etc/passwd', '/abs', '...', 'ü/ñ 名.txt', '%2e%2e', 'a?b#c&d', 'x'.repeat(255),
    ];
    for (const name of names) {
      assert.equal((await put(c, thread, name, name)).body.name, name);
      assert.equal((await c.get(at(thread, name))).text, name);
    }
    expectFault(await put(c, thread, 'x'.repeat(256), 'x'), 422, 'invalid_input', 'name', /255/);
    expectFault(await put(c, thread, 'a\nb', 'x'), 422, 'invalid_input', 'name', /control/);
    const listed = [];
    let cursor = '';
    do {
      const page = expectStatus(
        await c.get(`/v1/threads/${thread}/files?limit=2${cursor && `&cursor=${cursor}`}`), 200);
      listed.push(...page.data.map((f) => f.name));
      cursor = page.next_cursor ?? '';
    } while (cursor);
    const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    assert.deepEqual(listed, names.toSorted(byBytes));
    const some = expectStatus(await c.get(`/v1/threads/${thread}/files?prefix=..`), 200);
    assert.deepEqual(some.data.map((f) => f.name), ['...', '../../etc/passwd']);
    expectProblem(await c.get(`/v1/threads/${thread}/files?cursor=!`), 400, 'invalid_cursor');
  });

  await t.test('the media type is what was said, else guessed by name and bytes', async () => {
    const thread = await newThread(c);
    const typed = async (name, bytes, type) =>
      (await c.request('PUT', at(thread, name), {
        raw: bytes, headers: type === undefined ? {} : { 'Content-Type': type },
        type: type ?? 'application/octet-stream',
      })).body.content_type;
    assert.equal(await typed('a.bin', 'x', 'text/markdown; charset=utf-8'),
      'text/markdown; charset=utf-8');
    assert.equal(await typed('table.CSV', 'a,b'), 'text/csv');
    assert.equal(await typed('unnamed', Buffer.from('89504e470d0a1a0a00', 'hex')), 'image/png');
    assert.equal(await typed('blob', '??'), 'application/octet-stream');
    expectFault(await c.request('PUT', at(thread, 'x'), { raw: 'x', type: 'plain' }), 422,
      'invalid_input', 'Content-Type', /media type/);
  });

  await t.test('metadata is patched under a revision of its own', async () => {
    const thread = await newThread(c);
    await put(c, thread, 'a', '1');
    const info = `${at(thread, 'a')}/info`;
    const patched = await c.patch(info, { metadata: { k: 1 } },
      { headers: { 'If-Match': '"r1"' } });
    assert.equal(patched.headers.get('ETag'), '"r2"');
    assert.deepEqual([patched.body.metadata, patched.body.version], [{ k: 1 }, 1]);
    assert.equal(
      (await c.patch(info, { metadata: {} }, { headers: { 'If-Match': '"r1"' } })).status, 412);
    const mistaken = await c.patch(info, { metadata: {} }, { headers: { 'If-Match': '"2"' } });
    assert.match(expectProblem(mistaken, 412, 'stale_etag').detail, /"r2"/);
    assert.equal((await c.get(info)).headers.get('ETag'), '"r2"');
    assert.equal((await c.get(info, { headers: { 'If-None-Match': '"r2"' } })).status, 304);
    const unseen = await put(c, thread, 'a', 'x', { 'If-Match': '"r1"' });
    assert.match(expectProblem(unseen, 412, 'stale_etag').detail, /must be the object's ETag: "1"/);
    expectFault(await c.patch(info, { metadata: { big: 'x'.repeat(17000) } }), 422,
      'invalid_input', '/metadata');
    expectFault(await c.patch(info, { version: 7 }), 422, 'invalid_input', '/version');
  });

  await t.test('restore, delete a version, delete the file', async () => {
    const thread = await newThread(c);
    for (const text of ['old', 'newer', 'newest']) await put(c, thread, 'a', text);
    const restored = expectStatus(await c.post(`${at(thread, 'a')}/restore`, { version: 1 }), 200);
    assert.equal(restored.version, 4);
    assert.equal((await c.get(at(thread, 'a'))).text, 'old');
    const [newest] = expectStatus(await c.get(`${at(thread, 'a')}/versions`), 200).data;
    assert.equal(newest.restored_from, 1);
    expectProblem(await c.post(`${at(thread, 'a')}/restore`, { version: 9 }), 404, 'not_found');
    assert.equal((await c.del(`${at(thread, 'a')}/versions/4`)).status, 204);
    assert.equal((await c.get(at(thread, 'a'))).text, 'newest');
    const stale = await c.del(at(thread, 'a'), { headers: { 'If-Match': '"4"' } });
    expectProblem(stale, 412, 'stale_etag');
    assert.equal((await c.del(at(thread, 'a'), { headers: { 'If-Match': '"3"' } })).status, 204);
    expectProblem(await c.get(at(thread, 'a')), 404, 'not_found');
    const again = await put(c, thread, 'a', 'again');
    assert.equal(again.body.version, 5, 'numbers are not given twice');
  });

  await t.test('a difference is what patch(1) takes, and JSON says the same', async () => {
    const thread = await newThread(c);
    const before = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n');
    const after = `first\n${before.replace('line 7\n', '').replace('line 30', 'thirty')}\nlast\n`;
    await put(c, thread, 'a', before);
    await put(c, thread, 'a', after);
    const diff = `${at(thread, 'a')}/diff`;
    const text = await c.get(diff, { headers: { Accept: 'text/x-diff' } });
    assert.match(text.headers.get('Content-Type'), /^text\/x-diff/);
    const dir = mkdtempSync(join(tmpdir(), 'cairn-diff-'));
    try {
      writeFileSync(join(dir, 'a'), before);
      writeFileSync(join(dir, 'p'), text.text);
      if (existsSync('/usr/bin/patch')) {
        execFileSync('patch', ['-s', 'a', 'p'], { cwd: dir });
        assert.equal(readFileSync(join(dir, 'a'), 'utf8'), after);
      }
    } finally {
      rmSync(dir, { recursive: true });
    }
    const json = expectStatus(await c.get(`${diff}?from=1&to=2`), 200);
    assert.deepEqual([json.from, json.to], [1, 2]);
    const lines = json.hunks.flatMap((h) => h.lines);
    assert.equal(lines.filter((l) => l[0] === '+').length, json.added);
    assert.equal(text.text.split('\n').slice(2, -1).filter((l) => !l.startsWith('@@')).join('\n'),
      lines.join('\n'));
    assert.equal((await c.get(`${diff}?from=2&to=2&format=text`)).text, '');
    await put(c, thread, 'a', Buffer.from([0, 1, 2]));
    expectProblem(await c.get(diff), 409, 'conflict');
    await put(c, thread, 'b', 'x');
    expectProblem(await c.get(`${at(thread, 'b')}/diff`), 409, 'conflict');
    await put(c, thread, 'b', 'y'.repeat(4 * 1024 * 1024 + 1));
    const large = expectProblem(await c.get(`${at(thread, 'b')}/diff`), 409, 'conflict');
    assert.match(large.detail, /4194304/);
  });

  await t.test('copies to another thread, with and without history', async () => {
    const [from, to] = [await newThread(c), await newThread(c)];
    await put(c, from, 'a', '1');
    await put(c, from, 'a', '2');
    const copy = (body) => c.post(`${at(from, 'a')}/copy`, body);
    assert.equal(expectStatus(await copy({ thread_id: to }), 201).version, 1);
    expectProblem(await copy({ thread_id: to }), 409, 'conflict');
    const more = { thread_id: to, if_exists: 'add_version', version: 1 };
    const added = expectStatus(await copy(more), 200);
    assert.equal(added.version, 2);
    const whole = expectStatus(await copy({ thread_id: to, name: 'b', history: true }), 201);
    assert.equal(whole.version, 2);
    const { data } = expectStatus(await c.get(`${at(to, 'b')}/versions`), 200);
    assert.deepEqual(data.map((v) => [v.source_thread_id, v.source_name, v.source_version]),
      [[from, 'a', 2], [from, 'a', 1]]);
    assert.equal((await c.get(`${at(to, 'b')}/versions/1`)).text, '1');
    expectProblem(await copy({ thread_id: uuid() }), 404, 'not_found');
    expectFault(await copy({ thread_id: to, name: 'a\u0001' }), 422, 'invalid_input', '/name');
  });

  await t.test('a resumable upload goes on where it was, and is completed once', async () => {
    const thread = await newThread(c);
    const uploads = `/v1/threads/${thread}/uploads`;
    const bytes = randomBytes(700_000);
    const wanted = { name: 'big.bin', size_bytes: bytes.length, sha256: sha256(bytes) };
    const made = expectStatus(await c.post(uploads, wanted), 201);
    const path = `${uploads}/${made.id}`;
    const send = (offset, part) =>
      c.request('PATCH', path, {
        raw: part, type: 'application/octet-stream', headers: { 'Upload-Offset': String(offset) },
      });
    assert.equal((await send(0, bytes.subarray(0, 300_000))).body.offset_bytes, 300_000);
    const wrong = await send(0, bytes.subarray(0, 10));
    assert.equal(expectProblem(wrong, 409, 'conflict').offset_bytes, 300_000);
    const nowhere = await c.request('PATCH', path, { raw: 'x' });
    expectFault(nowhere, 422, 'invalid_input', 'Upload-Offset');
    for (const offset of ['-1', 'x', '', '1.5', '99999999999999999999'])
      expectFault(await send(offset, 'x'), 422, 'invalid_input', 'Upload-Offset');
    expectProblem(await c.post(`${path}/complete`), 409, 'conflict');
    assert.equal((await c.head(path)).headers.get('Upload-Offset'), '300000');
    const long = Buffer.concat([bytes.subarray(300_000), Buffer.from('x')]);
    expectProblem(await send(300_000, long), 413, 'body_too_large');
    await server.kill();
    await server.restart();
    assert.equal(expectStatus(await c.get(path), 200).offset_bytes, 300_000);
    const last = expectStatus(await send(300_000, bytes.subarray(300_000)), 200);
    assert.equal(last.offset_bytes, bytes.length);
    const key = { headers: { 'Idempotency-Key': uuid() } };
    const file = expectStatus(await c.post(`${path}/complete`, undefined, key), 201);
    assert.deepEqual([file.version, file.sha256], [1, sha256(bytes)]);
    assert.equal((await c.post(`${path}/complete`, undefined, key)).text, JSON.stringify(file));
    expectProblem(await c.get(path), 404, 'not_found');
    const answer = await fetch(server.url + at(thread, 'big.bin'));
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes));
    const other = expectStatus(
      await c.post(uploads, { name: 'big.bin', size_bytes: 2, expected_version: 1 }), 201);
    await c.request('PATCH', `${uploads}/${other.id}?offset=0`, { raw: 'ok' });
    await put(c, thread, 'big.bin', 'meanwhile');
    expectProblem(await c.post(`${uploads}/${other.id}/complete`), 412, 'stale_etag');
    assert.equal(expectStatus(await c.get(uploads), 200).data.length, 1);
    assert.equal((await c.del(`${uploads}/${other.id}`)).status, 204);
    const stale = { name: 'big.bin', size_bytes: 2, expected_version: 9 };
    assert.match(expectProblem(await c.post(uploads, stale), 412, 'stale_etag').detail,
      /^expected_version is 9, but the file has version \d+$/);
    expectFault(await c.post(uploads, { name: 'x', size_bytes: 1, content_type: 'bad' }), 422,
      'invalid_input', '/content_type');
    expectFault(await c.post(uploads, { name: 'x', size_bytes: 5 * 2 ** 30 + 1 }), 422,
      'invalid_input', '/size_bytes', /at most 5368709120/);
    const empty = await c.post(uploads, { name: 'x', size_bytes: 0 });
    expectFault(empty, 422, 'invalid_input', '/size_bytes');
  });

  await t.test('every conflict of an upload says what is wrong and changes nothing', async () => {
    const thread = await newThread(c);
    const uploads = `/v1/threads/${thread}/uploads`;
    const made = expectStatus(
      await c.post(uploads, { name: 'x', size_bytes: 4, sha256: sha256('xxxx') }), 201);
    const path = `${uploads}/${made.id}`;
    const send = (offset, raw) =>
      c.request('PATCH', path, { raw, headers: { 'Upload-Offset': String(offset) } });
    const state = async () => {
      const { expires_at, ...rest } = expectStatus(await c.get(path), 200);
      return rest;
    };
    const refused = async (answer, rule) => {
      const before = await state();
      assert.match(expectProblem(await answer(), 409, 'conflict').detail, rule);
      assert.deepEqual(await state(), before);
    };
    await refused(() => c.post(`${path}/complete`), /^only 0 of 4 bytes/);
    await refused(() => send(1, 'b'), /continues at offset 0, not 1/);
    expectStatus(await send(0, 'abc'), 200);
    await refused(() => send(2, 'c'), /continues at offset 3, not 2/);
    await refused(() => send(4, 'e'), /continues at offset 3, not 4/);
    await refused(() => c.post(`${path}/complete`), /^only 3 of 4 bytes/);
    expectStatus(await send(3, 'd'), 200);
    await refused(() => send(4, 'e'), /^all bytes have been received/);
    await refused(() => send(4, ''), /^all bytes have been received/);
    await refused(() => c.post(`${path}/complete`), /not the declared one: delete the upload/);
    assert.equal((await c.del(path)).status, 204);
    expectProblem(await c.get(at(thread, 'x')), 404, 'not_found');
  });

  await t.test('a request that comes late cannot touch what became of an upload', async () => {
    const thread = await newThread(c);
    const uploads = `/v1/threads/${thread}/uploads`;
    const bytes = randomBytes(1000);
    const made = expectStatus(await c.post(uploads, { name: 'late', size_bytes: 1000 }), 201);
    const path = `${uploads}/${made.id}`;
    const send = (offset, raw) =>
      c.request('PATCH', path, { raw, headers: { 'Upload-Offset': String(offset) } });
    const open = async (length) => {
      const socket = connect(new URL(server.url).port, '127.0.0.1');
      socket.setEncoding('latin1');
      socket.write(`PATCH ${path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n` +
        `Upload-Offset: 0\r\nContent-Length: ${length}\r\n\r\n`);
      const [first] = await once(socket, 'data');
      assert.match(first, /^HTTP\/1.1 100 /);
      return socket;
    };
    const late = await open(10);
    const writing = await open(20);
    writing.write('1234567890');
    // Before the server has read these bytes, another request could still take the upload.
    await eventually(() => server.sql(
      `SELECT count(*) FROM uploads WHERE id = ${server.idLiteral(made.id)}
        AND writer IS NOT NULL`)[0][0] === 1);
    assert.match(expectProblem(await send(0, bytes), 409, 'conflict').detail,
      /another request is writing/);
    writing.destroy();
    await eventually(async () => (await c.get(path)).body.offset_bytes === 10);
    expectStatus(await send(10, bytes.subarray(10)), 200);
    expectStatus(await c.post(`${path}/complete`), 201);
    late.write('0123456789');
    const [refused] = await once(late, 'data');
    assert.match(refused, /^HTTP\/1.1 404 /);
    late.destroy();
    const answer = await fetch(server.url + at(thread, 'late'));
    const stored = Buffer.from(await answer.arrayBuffer());
    assert.equal(stored.subarray(0, 10).toString(), '1234567890');
    assert.ok(stored.subarray(10).equals(bytes.subarray(10)));
  });

  await t.test('content that nothing refers to goes, and what is referred to stays', {
    skip: ENGINE === 'sqlite' ? false : 'on PostgreSQL content stays an hour for who reads it',
  }, async () => {
    const blobs = join(server.dataDir, 'blobs');
    const list = () =>
      readdirSync(blobs, { recursive: true, withFileTypes: true })
        .filter((e) => e.isFile()).map((e) => e.name);
    const thread = await newThread(c);
    const text = `unique ${uuid()}`;
    await put(c, thread, 'keep', `kept ${text}`);
    const before = new Set(list());
    await put(c, thread, 'a', text);
    await put(c, thread, 'b', text);
    const added = list().filter((name) => !before.has(name));
    assert.equal(added.length, 1, 'stored once');
    await c.del(at(thread, 'a'));
    await c.del(at(thread, 'b'));
    await eventually(() => !list().includes(added[0]), 'the content stays');
    assert.equal((await c.get(at(thread, 'keep'))).text, `kept ${text}`);
  });
});

test('content is its tenants own, and a principal reads as far as it may', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const [mine, theirs] = [await newThread(alice), await newThread(bob)];
  await put(alice, mine, 'a', 'same');
  await put(bob, theirs, 'a', 'same');
  await alice.del(at(mine, 'a'));
  assert.equal((await bob.get(at(theirs, 'a'))).text, 'same');
  await put(alice, mine, 'a', 'mine');
  expectProblem(await alice.post(`${at(mine, 'a')}/copy`, { thread_id: theirs }), 404, 'not_found');
  const other = await newThread(alice);
  const scopes = ['files:read', 'files:write', 'participants:read'];
  const reader = await withKey(alice, scopes, { principal: 'user:reader' });
  expectProblem(await reader.get(at(mine, 'a')), 404, 'not_found');
  for (const [thread, permission] of [[mine, 'read'], [other, 'read_write']])
    expectStatus(await alice.post(`/v1/threads/${thread}/participants`,
      { principal: 'user:reader', permission }), 201);
  assert.equal((await reader.get(at(mine, 'a'))).text, 'mine');
  expectProblem(await put(reader, mine, 'a', 'no'), 403, 'forbidden');
  const copied = await reader.post(`${at(mine, 'a')}/copy`, { thread_id: other });
  assert.equal(expectStatus(copied, 201).created_by, 'user:reader');
  expectProblem(await reader.post(`${at(mine, 'a')}/copy`, { thread_id: mine, name: 'b' }), 403,
    'forbidden');
});
