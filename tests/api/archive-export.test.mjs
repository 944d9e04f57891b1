// SPDX-License-Identifier: Apache-2.0
// Exports beside other work: who waits for whom, and what ends them.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { readdirSync, readlinkSync } from 'node:fs';
import test from 'node:test';
import { atEnd } from './lib/ending.mjs';
import { startMeddled } from './lib/meddle.mjs';
import { eventually, expectProblem, expectStatus, startServer, twoTenants } from './lib/server.mjs';

const newThread = async (client) => expectStatus(await client.post('/v1/threads', {}), 201).id;

/** A connection on which a request was sent, and nothing is read. */
async function request(t, server, line, ...headers) {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  atEnd(t, () => socket.destroy());
  await new Promise((done) => socket.once('connect', done));
  const head = [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');
  await new Promise((done) => socket.write(head, done));
  return socket;
}

/** The archives that the server has spooled and not closed. */
const spooled = (server) =>
  readdirSync(`/proc/${server.pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${server.pid}/fd/${fd}`).endsWith(' (deleted)');
    } catch {
      return false; // closed meanwhile
    }
  }).length;

async function connections(client) {
  const { text } = await client.get('/metrics');
  return Number(/^cairn_http_connections (\d+)/m.exec(text)[1]);
}

test('exports occupy no reader, and one tenant has one of their places', async (t) => {
  const { server, meddle } = await startMeddled(t);
  const { operator, alice, bob } = await twoTenants(server);
  const thread = await newThread(alice);
  const path = `/v1/threads/${thread}/export`;
  meddle.spool(0);
  const first = alice.get(path);
  await eventually(() => meddle.spoolWaits === 1);

  const own = expectProblem(await alice.get(path), 503, 'unavailable');
  assert.match(own.detail, /an export of the tenant is in progress/);
  const second = bob.get('/v1/export');
  await eventually(() => meddle.spoolWaits === 2);
  const refused = await operator.get('/v1/export');
  assert.match(expectProblem(refused, 503, 'unavailable').detail, /2 exports are in progress/);
  assert.ok(Number(refused.headers.get('Retry-After')) > 0);

  for (const client of [operator, alice, bob])
    for (let i = 0; i < 20; i++) expectStatus(await client.get('/v1/threads'), 200);
  await newThread(alice);

  meddle.spool();
  expectStatus(await first, 200);
  expectStatus(await second, 200);
  expectStatus(await alice.head(path), 200);
  expectStatus(await alice.get(path), 200);
});

test('an export ends when its client leaves', async (t) => {
  const { server, meddle } = await startMeddled(t);
  const client = server.open;
  const thread = await newThread(client);
  const raw = Buffer.alloc(8 << 20, 'x');
  expectStatus(
    await client.put(`/v1/threads/${thread}/files/large`, undefined, { raw, type: 'text/plain' }),
    201,
  );
  // The writes before the copy of the content, whose pieces follow.
  meddle.spool(1 << 20);
  expectStatus(await client.get(`/v1/threads/${thread}/export`), 200);
  const writes = (1 << 20) - meddle.spoolLeft;

  for (const [where, before] of [['with rows', 10], ['with content', writes - 16]])
    await t.test(`while the archive is filled ${where}`, async () => {
      meddle.spool(before);
      const socket = await request(t, server, `GET /v1/threads/${thread}/export`);
      await eventually(() => meddle.spoolWaits === 1);
      assert.equal(spooled(server), 1);
      const left = await connections(client);
      socket.destroy();
      await eventually(async () => (await connections(client)) < left);
      // Far fewer writes than the rest of the archive has.
      meddle.spool(8);
      await eventually(() => spooled(server) === 0, 'the archive is still written');
      assert.ok(meddle.spoolLeft > 0);
      meddle.spool();
      await eventually(async () =>
        (await client.get(`/v1/threads/${thread}/export`)).status === 200, 'no place is free');
    });
});

test('no request waits while the file of a large archive is deleted', async (t) => {
  const { server, meddle } = await startMeddled(t);
  const client = server.open;
  const thread = await newThread(client);
  const path = `/v1/threads/${thread}/export`;
  const raw = Buffer.alloc(8 << 20, 'x');
  expectStatus(
    await client.put(`/v1/threads/${thread}/files/large`, undefined, { raw, type: 'text/plain' }),
    201,
  );
  const etag = (await client.get(path)).headers.get('ETag');
  await eventually(() => spooled(server) === 0);
  meddle.holdClose(true);
  atEnd(t, () => meddle.holdClose(false));
  expectStatus(await client.get(path), 200);
  await eventually(() => meddle.closeWaits === 1);
  expectStatus(await client.get('/v1/threads'), 200);
  expectStatus(await client.head(path), 200);
  await eventually(() => meddle.closeWaits === 2);
  expectStatus(await client.get('/v1/threads'), 200);
  expectStatus(await client.get(path, { headers: { 'If-None-Match': etag } }), 304);
  expectStatus(await client.get('/v1/threads'), 200);
  meddle.holdClose(false);
  await eventually(() => spooled(server) === 0);
});

// --- The end of the server ---------------------------------------------------------------------

const STOPS_SOON = { args: ['--drain-seconds', '1'] };
const CUT_OFF = /work in progress did not end in time/;

/** Stops the server; after its client was cut off, one write a second continues. */
async function stopWhileWriting(t, server, meddle, cutOff) {
  const stopped = server.stop();
  await cutOff;
  const grants = setInterval(() => meddle.spool(1), 1000);
  atEnd(t, () => clearInterval(grants));
  await stopped;
}

test('a stopping server ends an export that makes progress', async (t) => {
  const { server, meddle } = await startMeddled(t, STOPS_SOON);
  const thread = await newThread(server.open);
  meddle.spool(0);
  const socket = await request(t, server, `GET /v1/threads/${thread}/export`);
  await eventually(() => meddle.spoolWaits === 1);
  const cutOff = new Promise((done) => socket.once('close', done));
  await stopWhileWriting(t, server, meddle, cutOff);
  assert.doesNotMatch(server.stderr, CUT_OFF);
});

test('a stopping server does not wait for a disk that does not answer', async (t) => {
  const { server, meddle } = await startMeddled(t, STOPS_SOON);
  const thread = await newThread(server.open);
  meddle.spool(0);
  await request(t, server, `GET /v1/threads/${thread}/export`);
  await eventually(() => meddle.spoolWaits === 1);
  await server.stop();
  assert.match(server.stderr, CUT_OFF);
  meddle.spool();
  await server.start();
  expectStatus(await server.open.get(`/v1/threads/${thread}`), 200);
});

test('a stopping server ends an import that it still verifies', async (t) => {
  const { server, meddle } = await startMeddled(t, STOPS_SOON);
  const thread = await newThread(server.open);
  const payload = 'x'.repeat(50_000);
  const events = Array.from({ length: 60 }, () => ({ kind: 'progress', payload }));
  for (let i = 0; i < 2; i++)
    expectStatus(await server.open.post(`/v1/threads/${thread}/events`, { events }), 201);
  const archive = (await server.open.get(`/v1/threads/${thread}/export`)).bytes;
  meddle.spool(0);
  const opts = { raw: archive, type: 'application/x-tar' };
  const cutOff = server.open.post('/v1/imports?ids=remap', undefined, opts).catch(() => {});
  await eventually(() => meddle.spoolWaits === 1);
  await stopWhileWriting(t, server, meddle, cutOff);
  assert.doesNotMatch(server.stderr, CUT_OFF);
  meddle.spool();
  await server.start();
  assert.equal(expectStatus(await server.open.get('/v1/threads'), 200).data.length, 1);
});

test('a stopping server does not wait for clients that neither read nor send', async (t) => {
  const server = await startServer(t, STOPS_SOON);
  const thread = await newThread(server.open);
  const path = `/v1/threads/${thread}/files/large`;
  const raw = Buffer.alloc(32 << 20, 'x');
  const sent = await server.open.put(path, undefined, { raw, type: 'text/plain' });
  expectStatus(sent, 201);
  const deaf = await request(t, server, `GET ${path}`);
  await new Promise((heard) => deaf.once('readable', heard));
  await request(t, server, `PUT ${path}`, 'Content-Type: text/plain', 'Content-Length: 1000000');
  await server.stop();
  assert.doesNotMatch(server.stderr, CUT_OFF);
});
