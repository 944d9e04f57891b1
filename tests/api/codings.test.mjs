// SPDX-License-Identifier: Apache-2.0
// Content-Encoding of bodies.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { zstdRepeated, zstdStored } from './lib/codings.mjs';
import { expectProblem, expectStatus, startServer, twoTenants, uuid } from './lib/server.mjs';

const MIB = 1024 * 1024;
/** The most bytes of memory that the server has had. */
const peakMemory = (server) =>
  1024 * Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]);
const codings = { gzip: gzipSync, zstd: zstdStored };

/** A body as the client has encoded it. */
const coded = (coding, raw, more = {}) =>
  ({ raw, headers: { 'Content-Encoding': coding, ...more } });

for (const [coding, encode] of Object.entries(codings)) {
  test(`a body may be sent as ${coding}, small and large`, async (t) => {
    const { open } = await startServer(t);
    for (const size of [1, 20_000, 900_000]) {
      const context = { text: 'ä'.repeat(size / 2) };
      const body = encode(Buffer.from(JSON.stringify({ title: coding, context })));
      const thread = expectStatus(
        await open.post('/v1/threads', undefined, coded(coding, body)), 201);
      assert.deepEqual(thread.context, context);
      const patch = encode(Buffer.from('{"title":"b"}'));
      const patched = await open.patch(`/v1/threads/${thread.id}`, undefined,
        coded(coding, patch));
      assert.equal(expectStatus(patched, 200).title, 'b');
    }
    const upper = coded(coding.toUpperCase(), encode(Buffer.from('{}')));
    expectStatus(await open.post('/v1/threads', undefined, upper), 201);
  });

  test(`a body of ${coding} that is damaged is rejected`, async (t) => {
    const { open } = await startServer(t);
    const whole = encode(Buffer.from(JSON.stringify({ title: 'x'.repeat(400) })));
    for (const raw of [whole.subarray(0, whole.length - 1), whole.subarray(0, 9),
      Buffer.concat([whole, Buffer.from('x')]), Buffer.from('{"title": "plain"}')]) {
      const answer = await open.post('/v1/threads', undefined, coded(coding, raw));
      expectProblem(answer, 400, 'bad_request');
      assert.match(answer.body.detail, new RegExp(`valid ${coding} data`));
    }
    // The parts are decoded one after the other.
    const two = Buffer.concat([encode(Buffer.from('{"title"')), encode(Buffer.from(':"a"}'))]);
    const made = await open.post('/v1/threads', undefined, coded(coding, two));
    assert.equal(expectStatus(made, 201).title, 'a');
    const half = encode(Buffer.from('{'));
    const noJson = await open.post('/v1/threads', undefined, coded(coding, half));
    expectProblem(noJson, 400, 'invalid_json');
  });

  test(`the limit of the route holds for what a body of ${coding} contains`, async (t) => {
    const server = await startServer(t);
    const { open } = server;
    const start = '{"title":"a"}';
    const text = (n) => coding === 'gzip' ? encode(Buffer.from(start + ' '.repeat(n - 13)))
      : Buffer.concat([encode(Buffer.from(start)), zstdRepeated(0x20, n - 13)]);
    const send = (raw) => open.post('/v1/threads', undefined, coded(coding, raw));
    expectStatus(await send(text(4 * MIB)), 201);
    const over = await send(text(4 * MIB + 1));
    expectProblem(over, 413, 'body_too_large');
    assert.match(over.body.detail, /decoded body must have at most 4194304 bytes/);
  });
}

test('a bomb is rejected without memory for what it contains', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const bombs = {
    gzip: gzipSync(Buffer.alloc(512 * MIB, ' '), { level: 9 }),
    zstd: zstdRepeated(0x20, 1024 * MIB),
  };
  for (const [coding, bomb] of Object.entries(bombs)) {
    assert.ok(bomb.length < MIB, `${coding}: ${bomb.length} bytes`);
    const before = peakMemory(server);
    const answers = await Promise.all(Array.from({ length: 20 }, () =>
      alice.post('/v1/threads', undefined, coded(coding, bomb))));
    for (const answer of answers) expectProblem(answer, 413, 'body_too_large');
    const grown = peakMemory(server) - before;
    assert.ok(grown < 128 * MIB, `${coding}: ${grown} bytes more`);
    // Without a key nothing is decoded.
    expectProblem(await server.open.post('/v1/threads', undefined, coded(coding, bomb)),
      401, 'unauthenticated');
  }
});

test('a window above 8 MiB is rejected', async (t) => {
  const { open } = await startServer(t);
  const body = Buffer.from('{}');
  const send = (log) => open.post('/v1/threads', undefined, coded('zstd', zstdStored(body, log)));
  expectStatus(await send(23), 201);
  expectProblem(await send(24), 400, 'bad_request');
});

test('another coding gets 415 with Accept-Encoding', async (t) => {
  const { open } = await startServer(t);
  const body = Buffer.from('{}');
  for (const name of ['br', 'deflate', 'gzip, zstd', 'gzip, gzip', '', 'x']) {
    const answer = await open.post('/v1/threads', undefined, coded(name, body));
    expectProblem(answer, 415, 'unsupported_media_type');
    assert.equal(answer.headers.get('Accept-Encoding'), 'gzip, zstd', name);
  }
  expectStatus(await open.post('/v1/threads', undefined, coded('identity', body)), 201);
  const other = await open.post('/v1/threads', {}, { type: 'text/plain' });
  expectProblem(other, 415, 'unsupported_media_type');
  assert.equal(other.headers.get('Accept-Encoding'), null, 'the coding is not the fault');
  // Files are stored as they are sent.
  const thread = expectStatus(await open.post('/v1/threads', {}), 201);
  const upload = await open.put(`/v1/threads/${thread.id}/files/a`, undefined,
    coded('gzip', gzipSync(body)));
  expectProblem(upload, 415, 'unsupported_media_type');
  assert.equal(upload.headers.get('Accept-Encoding'), 'identity');
});

test('a request is the same one with and without a coding', async (t) => {
  const { open } = await startServer(t);
  const text = JSON.stringify({ title: 'once' });
  const key = { 'Idempotency-Key': uuid() };
  const plain = await open.post('/v1/threads', undefined, { raw: text, headers: key });
  const again = await open.post('/v1/threads', undefined, coded('gzip', gzipSync(text), key));
  assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
  assert.equal(again.body.id, expectStatus(plain, 201).id);
});
