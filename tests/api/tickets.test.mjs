// SPDX-License-Identifier: Apache-2.0
// Tickets: a browser opens one stream or WebSocket with one, and never needs a key.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ENGINE, eventually, expectFault, expectProblem, expectStatus, startServer, twoTenants,
  withKey } from './lib/server.mjs';
import { followWs, readSse } from './lib/followers.mjs';

const MAX = 10_000;

const newThread = async (client) => expectStatus(await client.post('/v1/threads', {}), 201);

const ticketFor = async (client, path, more = {}) =>
  expectStatus(await client.post('/v1/tickets', { path, ...more }), 201).ticket;

const streamOf = (thread) => `/v1/threads/${thread.id}/events/stream`;

/** The status of an attempt to open the stream without a key. */
const open = (server, path, ticket) => server.open.get(`${path}?ticket=${ticket}`);

test('a ticket opens one stream or WebSocket, once', async (t) => {
  const server = await startServer(t, { args: ['--log-level', 'debug'] });
  const { alice } = await twoTenants(server);
  const thread = await newThread(alice);
  const path = streamOf(thread);
  const ticket = await ticketFor(alice, path);
  assert.match(ticket, /^cairn_ticket_[A-Za-z0-9_-]{86}$/);
  const stream = readSse(server.open, `${path}?after=0&ticket=${ticket}`);
  await stream.hears(1);
  expectStatus(await alice.post(`/v1/threads/${thread.id}/events`, { kind: 'progress' }), 201);
  await stream.hears(2);
  expectProblem(await open(server, path, ticket), 401, 'unauthenticated');
  stream.close();

  const socket = `/v1/threads/${thread.id}/events/ws`;
  const other = await ticketFor(alice, socket);
  const follower = followWs(server.open, `${socket}?ticket=${other}`);
  await follower.hears(2);
  await assert.rejects(followWs(server.open, `${socket}?ticket=${other}`).opened, /401/);
  follower.close();

  // The server logs requests, but no ticket.
  await eventually(() => server.stderr.includes(path));
  for (const secret of [ticket, other]) assert.ok(!server.stderr.includes(secret.slice(13)));
});

test('a ticket is for one path, and for a short time', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const [mine, other, theirs] = [await newThread(alice), await newThread(alice),
    await newThread(bob)];
  const ticket = await ticketFor(alice, streamOf(mine));
  for (const path of [streamOf(other), streamOf(theirs), '/v1/events/stream'])
    expectProblem(await open(server, path, ticket), 401, 'unauthenticated');
  for (const wrong of ['', 'x', `${ticket}x`, ticket.replace(/.$/, (c) => c === 'A' ? 'B' : 'A')])
    expectProblem(await open(server, streamOf(mine), wrong), 401, 'unauthenticated');
  // Only streams take a ticket.
  expectProblem(await open(server, `/v1/threads/${mine.id}/events`, ticket), 401,
    'unauthenticated');
  for (const path of ['/v1/threads', '/nothing', `${streamOf(mine)}?after=0`, 'x'])
    expectFault(await alice.post('/v1/tickets', { path }), 422, 'invalid_input', '/path');
  for (const ttl of [0, 301])
    expectFault(await alice.post('/v1/tickets', { path: '/v1/events/stream', ttl_s: ttl }), 422,
      'invalid_input', '/ttl_s');
  // None of this has used it up; neither does a request that is wrong.
  assert.equal((await open(server, streamOf(mine), `${ticket}&after=x`)).status, 400);
  const stream = readSse(server.open, `${streamOf(mine)}?ticket=${ticket}`);
  await stream.hears(1);
  stream.close();

  const answer = await alice.post('/v1/tickets', { path: streamOf(mine), ttl_s: 1 });
  const short = expectStatus(answer, 201);
  await eventually(() => Date.now() > Date.parse(short.expires_at));
  expectProblem(await open(server, streamOf(mine), short.ticket), 401, 'unauthenticated');
});

test('a ticket has the rights of the key and the principal that created it', async (t) => {
  const server = await startServer(t);
  const admin = await withKey(server.open, ['operator']);
  const thread = await newThread(admin);
  const path = streamOf(thread);
  const noScope = await withKey(admin, ['runs:read']);
  expectProblem(await open(server, path, await ticketFor(noScope, path)), 403, 'forbidden');
  const bob = await withKey(admin, ['events:read'], { principal: 'user:bob' });
  const early = await ticketFor(bob, path);
  expectProblem(await open(server, path, early), 404, 'not_found');
  const part = expectStatus(await admin.post(`/v1/threads/${thread.id}/participants`,
    { principal: 'user:bob', permission: 'read' }), 201);
  const stream = readSse(server.open, `${path}?after=0&ticket=${early}`);
  await stream.hears(2);
  expectStatus(await admin.del(`/v1/threads/${thread.id}/participants/${part.id}`), 200);
  assert.equal((await stream.ended).reason, 'access_ended');

  // A tenant's key narrows a ticket with the header, too.
  const narrowed = expectStatus(await admin.post('/v1/tickets', { path },
    { headers: { 'Cairn-Principal': 'user:eve' } }), 201).ticket;
  expectProblem(await open(server, path, narrowed), 404, 'not_found');

  // With its key a ticket ends, and so does a stream that it has opened.
  const key = await withKey(admin, ['events:read']);
  const [first, second] = [await ticketFor(key, path), await ticketFor(key, path)];
  const live = readSse(server.open, `${path}?ticket=${first}`);
  await live.hears(1);
  expectStatus(await admin.del(`/v1/keys/${key.keyId}`), 200);
  await live.ended;
  expectProblem(await open(server, path, second), 401, 'unauthenticated');
});

test('a tenant has a limited number of unused tickets', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const path = '/v1/events/stream';
  await ticketFor(alice, path);
  const [id, bytes] = ENGINE === 'postgres'
    ? ['gen_random_uuid()', `'\\x00'::bytea`] : ['randomblob(16)', `x'00'`];
  const fill = (expires) => server.sql(`
    INSERT INTO tickets (tenant_id, id, secret_hash, path, expires_at)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MAX - 2})
    SELECT (SELECT tenant_id FROM tickets LIMIT 1), ${id}, ${bytes}, 'x', ${expires} FROM n`);
  fill(1);
  await ticketFor(alice, path); // expired tickets do not count
  fill(Date.now() * 2000);
  assert.match(expectProblem(await alice.post('/v1/tickets', { path }), 429, 'rate_limited').detail,
    /10000 unused tickets/);
  await ticketFor(bob, path);
});
