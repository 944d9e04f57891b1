// SPDX-License-Identifier: Apache-2.0
// Clients that take more than their part: of the memory for bodies, and of the connections.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';

import { eventually, expectProblem, expectStatus, startServer, twoTenants, withKey }
  from './lib/server.mjs';

const MIB = 1 << 20;
const LIMITED = { args: ['--max-body-memory', '64', '--max-connections-per-address', '80'] };

/** A connection from this address that collects the server's bytes in `text`. */
function connect(t, server, address = '127.0.0.1') {
  const socket = net.connect({ port: server.port, host: '127.0.0.1', localAddress: address });
  socket.text = '';
  socket.on('data', (chunk) => { socket.text += chunk; });
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  return socket;
}

const answered = (socket) =>
  eventually(() => socket.text.includes('\r\n\r\n') || socket.destroyed, 'no answer');

/** Sends a request for a thread whose body is never completed. */
function neverEnding(t, server, secret, bytes, address) {
  const socket = connect(t, server, address);
  socket.write([
    'POST /v1/threads HTTP/1.1', 'Host: localhost', 'Content-Type: application/json',
    ...(secret ? [`Authorization: Bearer ${secret}`] : []), `Content-Length: ${bytes + 1}`, '', '',
  ].join('\r\n'));
  socket.write(Buffer.alloc(bytes, ' '));
  return socket;
}

/** Keeps so many MiB of bodies in the server's memory. */
async function occupy(t, server, secret, mib) {
  const before = await received(server);
  const sockets = Array.from({ length: mib }, () => neverEnding(t, server, secret, MIB));
  await arrived(server, before + mib * MIB);
  for (const socket of sockets) assert.equal(socket.text, '');
  return sockets;
}

async function received(server) {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^cairn_http_received_bytes_total (\S+)$/m.exec(text)[1]);
}

const arrived = (server, bytes) =>
  eventually(async () => (await received(server)) >= bytes, 'the bodies did not arrive');

/** Sends a thread of 100 KiB, and gets the answer. */
const large = (client) => client.post('/v1/threads', { context: { text: 'x'.repeat(100_000) } });

function expectRejected(answer, detail) {
  assert.equal(answer.status, 429);
  assert.equal(answer.body.code, 'rate_limited');
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.match(answer.body.detail, detail);
}

test('bodies of a key may have a quarter of the memory, those of a tenant a half', async (t) => {
  const server = await startServer(t, LIMITED);
  const { alice, bob } = await twoTenants(server);
  const other = await withKey(alice, ['threads:write']);
  const held = await occupy(t, server, alice.secret, 16);

  expectRejected(await large(alice), /key's requests have reached a quarter of --max-body-memory/);
  expectStatus(await alice.post('/v1/threads', {}), 201); // small bodies belong to the address
  expectStatus(await large(other), 201);
  expectStatus(await large(bob), 201);

  held.push(...(await occupy(t, server, other.secret, 16)));
  const third = await withKey(alice, ['threads:write']);
  expectRejected(await large(third), /tenant's requests have reached half of --max-body-memory/);
  expectStatus(await large(bob), 201);

  for (const socket of held) socket.destroy();
  await eventually(async () => (await large(alice)).status === 201, 'the memory was not freed');
});

test('small bodies without a key occupy a quarter of the memory for each address', async (t) => {
  const server = await startServer(t, {
    args: ['--max-body-memory', '64', '--max-connections-per-address', '400'],
  });
  const { alice } = await twoTenants(server);
  const SMALL = 64 * 1024 - 1;
  const sockets = [];
  for (let i = 0; i < 16 * 16; i++)
    sockets.push(neverEnding(t, server, null, SMALL, '127.0.0.2'));
  await arrived(server, sockets.length * SMALL);
  const excess = neverEnding(t, server, alice.secret, SMALL, '127.0.0.2');
  await answered(excess);
  assert.match(excess.text, /^HTTP\/1\.1 429 /);
  assert.match(excess.text, /requests from this address have reached/);
  assert.match(excess.text, /\r\nRetry-After: 1\r\n/);
  expectStatus(await alice.post('/v1/threads', { title: 'x' }), 201);
  for (const socket of sockets) socket.destroy();
});

test('one address may not take every connection', async (t) => {
  const server = await startServer(t, LIMITED);
  const idle = Array.from({ length: 80 }, () => connect(t, server, '127.0.0.2'));
  await eventually(() => idle.every((socket) => !socket.connecting), 'no connections');
  const excess = connect(t, server, '127.0.0.2');
  await answered(excess);
  assert.match(excess.text, /^HTTP\/1\.1 503 [^]*--max-connections-per-address/);
  assert.match(excess.text, /\r\nRetry-After: 1\r\n/);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  assert.match(metrics, /^cairn_http_connections_refused_total 1$/m);
  idle[0].destroy();
  await eventually(async () => {
    const next = connect(t, server, '127.0.0.2');
    next.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await answered(next);
    return next.text.startsWith('HTTP/1.1 200 ');
  }, 'no place became free');
});

test('a body is answered in the same way wherever it is decoded', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const send = (raw, options) => alice.request('POST', '/v1/threads', { raw, ...options });
  for (const length of [1000, 64 * 1024, 64 * 1024 + 1, 1_000_000]) {
    const padded = (text) => text.padEnd(length);
    const made = expectStatus(await send(padded('{"title": "a"}')), 201);
    assert.equal(made.title, 'a');
    const cut = await send(padded('{"title": '));
    expectProblem(cut, 400, 'invalid_json');
    assert.match(cut.body.detail, new RegExp(`^byte ${length} of the body: the text ends`));
    const wrong = await send(padded('{"title": 1, "other": 2}'));
    expectProblem(wrong, 422, 'invalid_input');
    assert.deepEqual(wrong.body.errors.map(({ pointer }) => pointer).sort(), ['/other', '/title']);
    expectProblem(await send(padded('{}'), { type: 'text/plain' }), 415, 'unsupported_media_type');
    const key = { headers: { 'Idempotency-Key': `key-${length}` } };
    const first = expectStatus(await send(padded('{"title": "b"}'), key), 201);
    const again = await send(padded('{"title": "b"}'), key);
    assert.equal(expectStatus(again, 201).id, first.id);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
  }
});

test('large bodies that are being decoded when the server stops are answered', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const zeros = `{"operations":[${'0,'.repeat(1_000_000)}0]}`;
  const answers = Promise.all([alice, bob, alice, bob].map((client) =>
    client.request('POST', '/v1/store/batch', { raw: zeros })));
  await eventually(async () => (await received(server)) > 4 * zeros.length, 'no bodies');
  await server.stop();
  for (const answer of await answers) assert.ok([422, 503].includes(answer.status), answer.status);
});

for (const args of [[], ['--max-connections-per-address', '0']]) {
  test(`loopback addresses have no limit with ${args.join(' ') || 'the defaults'}`, async (t) => {
    const server = await startServer(t, { args: ['--max-connections', '40', ...args] });
    const idle = Array.from({ length: 30 }, () => connect(t, server, '127.0.0.2'));
    await eventually(() => idle.every((socket) => !socket.connecting), 'no connections');
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(metrics, /^cairn_http_connections_refused_total 0$/m);
  });
}
