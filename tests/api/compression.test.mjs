// SPDX-License-Identifier: Apache-2.0
// Content-Encoding of answers.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import test from 'node:test';
import { gunzipSync } from 'node:zlib';
import { plain } from './lib/plain.mjs';
import { eventually, expectProblem, expectStatus, startServer, twoTenants } from './lib/server.mjs';

const KIB = 1024;
const MIB = 1024 * KIB;

const accept = (value, more = {}) => ({ 'Accept-Encoding': value, ...more });
const codingOf = (answer) => answer.headers.get('Content-Encoding');
const variesOf = (answer) => answer.headers.get('Vary');

/** A thread with a context of this many bytes of text: its path. */
async function newThread(client, size) {
  const context = { text: 'a'.repeat(size) };
  const made = await client.post('/v1/threads', { title: 't', context });
  return `/v1/threads/${expectStatus(made, 201).id}`;
}

test('an answer of more than 1 KiB is compressed on request', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const base = (await plain(server, 'GET', await newThread(open, 0))).bytes.length;
  const edge = await newThread(open, KIB - base);
  const exact = await plain(server, 'GET', edge, accept('gzip'));
  assert.deepEqual([exact.bytes.length, codingOf(exact), variesOf(exact)], [KIB, null, null]);

  const path = await newThread(open, KIB - base + 1);
  const bare = await plain(server, 'GET', path);
  assert.deepEqual([bare.bytes.length, codingOf(bare)], [KIB + 1, null]);
  assert.deepEqual([variesOf(bare), bare.headers.get('ETag')], ['Accept-Encoding', '"1"']);
  const gzip = await plain(server, 'GET', path, accept('gzip, deflate'));
  assert.equal(gzip.status, 200);
  assert.equal(codingOf(gzip), 'gzip');
  assert.deepEqual([variesOf(gzip), gzip.headers.get('ETag')], ['Accept-Encoding', '"1-gzip"']);
  assert.equal(gzip.headers.get('Content-Length'), String(gzip.bytes.length));
  assert.ok(gzip.bytes.length < KIB / 2, `${gzip.bytes.length} bytes`);
  assert.deepEqual(gunzipSync(gzip.bytes), bare.bytes);

  const zstd = await plain(server, 'GET', path, accept('gzip, deflate, br, zstd'));
  assert.deepEqual([codingOf(zstd), zstd.headers.get('ETag')], ['zstd', '"1-zstd"']);
  // Cairn itself decodes it: a document that was read can be written back.
  const back = await plain(server, 'PATCH', path, { 'Content-Type': 'application/json',
    'Content-Encoding': 'zstd', 'If-Match': '"1-zstd"' }, zstd.bytes);
  assert.equal(back.status, 200, back.bytes.toString());

  for (const coding of ['gzip', 'zstd']) {
    const read = await plain(server, 'GET', path, accept(coding));
    const head = await plain(server, 'HEAD', path, accept(coding));
    assert.equal(head.bytes.length, 0);
    for (const name of ['Content-Encoding', 'Content-Length', 'Content-Type', 'ETag', 'Vary'])
      assert.equal(head.headers.get(name), read.headers.get(name), name);
  }
});

test('the client chooses the coding', async (t) => {
  const server = await startServer(t);
  const path = await newThread(server.open, 4 * KIB);
  for (const [value, coding] of [['gzip', 'gzip'], ['zstd', 'zstd'], ['*', 'zstd'],
    ['gzip;q=1.0, zstd;q=0.9', 'gzip'], ['gzip;q=0', null], ['identity', null], ['br', null],
    ['gzip;q=0.5, identity;q=0.6', null], ['identity;q=0, gzip', 'gzip'], ['*;q=0', null],
    ['zstd;q=0, *;q=0.1', 'gzip'], ['', null], ['gzip;q=7', null], [['br', 'gzip'], 'gzip']]) {
    const answer = await plain(server, 'GET', path, accept(value));
    assert.deepEqual([answer.status, codingOf(answer)], [200, coding], String(value));
    assert.equal(variesOf(answer), 'Accept-Encoding');
  }
  // A client of HTTP/1.0 too.
  const socket = net.connect(server.port, '127.0.0.1');
  socket.end(`GET ${path} HTTP/1.0\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n`);
  const chunks = [];
  for await (const chunk of socket) chunks.push(chunk);
  assert.match(Buffer.concat(chunks).toString('latin1'), /\r\nContent-Encoding: gzip\r\n/);
});

test('the ETag of a compressed answer is as good as the other one', async (t) => {
  const server = await startServer(t);
  const path = await newThread(server.open, 4 * KIB);
  const get = (headers) => plain(server, 'GET', path, headers);
  const all = ['"1"', '"1-gzip"', '"1-zstd"'];
  for (const tag of [...all, ...all.map((each) => `W/${each}`), '"0", "1-gzip"'])
    for (const coding of ['gzip', 'identity']) {
      const answer = await get(accept(coding, { 'If-None-Match': tag }));
      assert.deepEqual([answer.status, answer.bytes.length, codingOf(answer)], [304, 0, null]);
      // The answer names the one that the client has.
      assert.equal(answer.headers.get('ETag'), /"1[^"]*"/.exec(tag)[0]);
      assert.equal(variesOf(answer), 'Accept-Encoding');
    }
  for (const tag of ['"2-gzip"', '"1-br"', '"-gzip"', '"1-gzip-gzip"', '"1-gzip'])
    assert.equal((await get(accept('gzip', { 'If-None-Match': tag }))).status, 200, tag);

  const { open } = server;
  const patch = (tag) => open.patch(path, { title: tag }, { headers: { 'If-Match': tag } });
  for (const tag of ['"2-gzip"', '"1-br"', '"1-GZIP"', '"-gzip"', '"1-gzip-gzip"', 'W/"1-gzip"'])
    expectProblem(await patch(tag), 412, 'stale_etag');
  expectStatus(await patch('"1-gzip"'), 200);
  expectStatus(await patch('"1-zstd", "2-zstd"'), 200);
  expectProblem(await patch('"2-gzip"'), 412, 'stale_etag');
  for (const tag of ['"3-gzip"', '"3"'])
    assert.equal((await get(accept('gzip', { 'If-Match': tag }))).status, 200);
  assert.equal((await get(accept('gzip', { 'If-Match': '"2-gzip"' }))).status, 412);

  // The description of a file has the ETag of a revision.
  const file = `${path}/files/a.txt`;
  expectStatus(await open.put(file, undefined, { raw: 'text', type: 'text/plain' }), 201);
  const note = { metadata: { note: 'n'.repeat(2 * KIB) } };
  const described = expectStatus(await open.patch(`${file}/info`, note), 200);
  const meta = await plain(server, 'GET', `${file}/info`, accept('gzip'));
  assert.deepEqual(JSON.parse(gunzipSync(meta.bytes)), described);
  const tag = meta.headers.get('ETag');
  assert.match(tag, /^"r\d+-gzip"$/);
  const again = { headers: { 'If-Match': tag } };
  expectStatus(await open.patch(`${file}/info`, { metadata: {} }, again), 200);
  expectProblem(await open.patch(`${file}/info`, { metadata: {} }, again), 412, 'stale_etag');
});

test('answers of every kind are compressed: lists, writes, problems, texts', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  for (let i = 0; i < 5; i++) await newThread(open, 300);
  const read = async (method, path, headers, body) => {
    const answer = await plain(server, method, path, accept('gzip', headers), body);
    assert.equal(codingOf(answer), 'gzip', `${method} ${path}: ${answer.bytes}`);
    return [answer, gunzipSync(answer.bytes).toString()];
  };
  const [, list] = await read('GET', '/v1/threads?limit=4&include=documents');
  const page = JSON.parse(list);
  assert.equal(page.data.length, 4);
  assert.equal(expectStatus(await open.get(`/v1/threads?cursor=${page.next_cursor}`), 200)
    .data.length, 1);
  assert.match((await read('GET', '/metrics'))[1], /cairn_store/);
  assert.equal(JSON.parse((await read('GET', '/openapi.json'))[1]).openapi, '3.1.0');

  const json = { 'Content-Type': 'application/json', 'Idempotency-Key': 'k' };
  const body = JSON.stringify({ context: { text: 'b'.repeat(2 * KIB) } });
  const [made, text] = await read('POST', '/v1/threads', json, body);
  assert.deepEqual([made.status, made.headers.get('ETag')], [201, '"1-gzip"']);
  const [replayed, same] = await read('POST', '/v1/threads', json, body);
  assert.equal(replayed.headers.get('Idempotency-Replayed'), 'true');
  assert.equal(same, text);
  // The stored answer has no coding.
  const bare = await plain(server, 'POST', '/v1/threads', json, body);
  assert.deepEqual([codingOf(bare), bare.headers.get('ETag')], [null, '"1"']);
  assert.equal(bare.bytes.toString(), text);

  const wrong = JSON.stringify({ title: 1, agent: 2, context: 3, preferences: 4, metadata: 5,
    important_steps: 6, run_policy: 7, ['x'.repeat(1000)]: 8 });
  const [refused, problem] = await read('POST', '/v1/threads',
    { 'Content-Type': 'application/json' }, wrong);
  assert.equal(refused.status, 422);
  assert.equal(refused.headers.get('Content-Type'), 'application/problem+json');
  assert.equal(JSON.parse(problem).code, 'invalid_input');
});

test('secrets, streams, files and what does not get smaller are sent as they are', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const key = { Authorization: `Bearer ${operator.secret}` };
  const both = accept('gzip, zstd', key);
  const path = await newThread(operator, 4 * KIB);
  assert.equal(codingOf(await plain(server, 'GET', path, both)), 'zstd');

  const scopes = expectStatus(await operator.get('/v1/whoami'), 200).scopes
    .filter((scope) => scope !== 'operator');
  const create = JSON.stringify({ name: 'n'.repeat(200), principal: `user:${'p'.repeat(200)}`,
    scopes: scopes.filter((scope) => !['admin', 'operator'].includes(scope)) });
  const made = await plain(server, 'POST', '/v1/keys',
    { ...both, 'Content-Type': 'application/json' }, create);
  assert.equal(made.status, 201, made.bytes.toString());
  assert.ok(made.bytes.length > KIB, `${made.bytes.length} bytes`);
  assert.deepEqual([codingOf(made), variesOf(made)], [null, null], 'the answer has a secret');

  const text = 'x'.repeat(4 * KIB);
  const file = `${path}/files/a.txt`;
  expectStatus(await operator.put(file, undefined, { raw: text, type: 'text/plain' }), 201);
  for (const [range, size] of [[undefined, 4 * KIB], ['bytes=0-2047', 2 * KIB]]) {
    const bytes = await plain(server, 'GET', file, range ? { ...both, Range: range } : both);
    assert.deepEqual([codingOf(bytes), bytes.bytes.length, bytes.headers.get('ETag')],
      [null, size, '"1"']);
  }
  const archive = await plain(server, 'GET', `${path}/export`, both);
  assert.deepEqual([archive.status, codingOf(archive)], [200, null]);

  const events = new AbortController();
  const stream = await fetch(`${server.url}${path}/events/stream`,
    { headers: both, signal: events.signal });
  assert.deepEqual([stream.status, stream.headers.get('Content-Encoding')], [200, null]);
  events.abort();

  // Content of a type that is not text, and text without any repetition.
  const agent = expectStatus(await operator.post('/v1/agents', { name: 'a' }), 201);
  const noise = randomBytes(3 * KIB);
  for (const [type, coding, vary] of [['application/octet-stream', null, null],
    ['text/plain', null, 'Accept-Encoding']]) {
    const item = `/v1/agents/${agent.id}/storage/noise`;
    const put = await operator.put(item, undefined, { raw: noise, type });
    assert.ok([200, 201].includes(put.status), put.text);
    const got = await plain(server, 'GET', item, both);
    assert.deepEqual([codingOf(got), variesOf(got)], [coding, vary], type);
    assert.deepEqual(got.bytes, noise);
    assert.match(got.headers.get('ETag'), /^"\d+"$/);
  }
});

test('many large answers at once are whole, in order, with and without a coding', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const large = await newThread(alice, MIB - KIB);
  const small = await newThread(bob, 2 * KIB);
  const get = (client, path) =>
    plain(server, 'GET', path, accept('gzip', { Authorization: `Bearer ${client.secret}` }));
  const whole = JSON.stringify(expectStatus(await alice.get(large), 200));
  const check = (answer) => {
    assert.equal(answer.status, 200);
    const bytes = codingOf(answer) === 'gzip' ? gunzipSync(answer.bytes) : answer.bytes;
    assert.equal(JSON.stringify(JSON.parse(bytes)), whole);
    return codingOf(answer);
  };
  const wave = Array.from({ length: 60 }, () => get(alice, large));
  const other = await Promise.all(Array.from({ length: 5 }, () => get(bob, small)));
  assert.ok(other.every((answer) => codingOf(answer) === 'gzip'), 'another tenant has its turn');
  const codings = (await Promise.all(wave)).map(check);
  assert.ok(codings.includes('gzip'));

  // The answers of one connection keep their order.
  const socket = net.connect(server.port, '127.0.0.1');
  const request = (path, client, last) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`
    + `Authorization: Bearer ${client.secret}\r\nAccept-Encoding: gzip\r\n`
    + `${last ? 'Connection: close\r\n' : ''}\r\n`;
  socket.write(request(large, alice) + request('/healthz', alice) + request(large, alice)
    + request('/healthz', alice, true));
  const chunks = [];
  for await (const chunk of socket) chunks.push(chunk);
  const order = [...Buffer.concat(chunks).toString('latin1')
    .matchAll(/HTTP\/1\.1 200 OK\r\n.*?Content-Length: (\d+)\r\n/gs)].map(([, n]) => Number(n));
  assert.deepEqual(order.map((n) => n > 500), [true, false, true, false], String(order));
});

test('clients that leave, and a server that stops, lose nothing else', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const path = await newThread(open, MIB - KIB);
  const leave = () => new Promise((done) => {
    const socket = net.connect(server.port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n`,
      () => setTimeout(() => done(socket.destroy()), 1));
  });
  for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 5 }, leave));
  // Answers without a client are soon out of the way.
  await eventually(async () =>
    codingOf(await plain(server, 'GET', path, accept('gzip'))) === 'gzip');
  const last = Array.from({ length: 10 }, () => plain(server, 'GET', path, accept('gzip')));
  const ended = Promise.allSettled(last);
  await Promise.race(last);
  await server.stop();
  for (const { status, value } of await ended)
    if (status === 'fulfilled' && codingOf(value) === 'gzip') gunzipSync(value.bytes);
});
