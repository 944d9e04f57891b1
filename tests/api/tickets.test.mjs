// SPDX-License-Identifier: Apache-2.0
// Tickets: a browser opens one stream or WebSocket with one, and never needs a key.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ENGINE, eventually, expectFault, expectProblem, expectStatus, pause, startServer,
  twoTenants, withKey } from './lib/server.mjs';
import { followWs, readSse } from './lib/followers.mjs';

const MAX = 1000; // unused tickets of a key and a principal

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
  for (const path of ['/v1/threads', '/nothing', `${streamOf(mine)}?after=0`, 'x',
    '/v1/threads/x/events/stream', '/v1/threads//events/stream'])
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
  // A ticket cannot be created without the scope of the stream.
  const noScope = await withKey(admin, ['runs:read', 'events:write']);
  expectProblem(await noScope.post('/v1/tickets', { path }), 403, 'forbidden');
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
  // Neither can a request with a ticket act for another principal.
  expectProblem(await server.open.get(`${path}?ticket=${narrowed}`,
    { headers: { 'Cairn-Principal': 'user:bob' } }), 403, 'forbidden');
  // A key that is sent takes precedence, and leaves the ticket unused.
  expectProblem(await noScope.get(`${path}?ticket=${narrowed}`), 403, 'forbidden');

  // With its key a ticket ends, and so does a stream that it has opened.
  const key = await withKey(admin, ['events:read']);
  const [first, second] = [await ticketFor(key, path), await ticketFor(key, path)];
  const live = readSse(server.open, `${path}?ticket=${first}`);
  await live.hears(1);
  expectStatus(await admin.del(`/v1/keys/${key.keyId}`), 200);
  await live.ended;
  expectProblem(await open(server, path, second), 401, 'unauthenticated');
});

test('one of many requests at once uses a ticket, and HEAD uses none', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const path = streamOf(await newThread(alice));
  for (let round = 0; round < 5; round++) {
    const ticket = await ticketFor(alice, path);
    expectStatus(await server.open.head(`${path}?ticket=${ticket}`), 200);
    const streams = Array.from({ length: 20 },
      () => readSse(server.open, `${path}?ticket=${ticket}`));
    const answers = await Promise.all(streams.map((stream) => stream.opened));
    assert.deepEqual(answers.map((answer) => answer.statusCode).sort(),
      [200, ...Array(19).fill(401)]);
    streams.forEach((stream) => stream.close());
  }
});

test('a key and a principal have a limited number of unused tickets', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const path = streamOf(await newThread(alice));
  const ann = { headers: { 'Cairn-Principal': 'user:ann' } };
  const first = await ticketFor(alice, path);
  const [id, now] = ENGINE === 'postgres'
    ? ['gen_random_uuid()', 'extract(epoch FROM now())::bigint * 1000000']
    : ['randomblob(16)', 'unixepoch() * 1000000'];
  const fill = (count, expires) => server.sql(`
    INSERT INTO tickets (tenant_id, id, secret_hash, key_id, principal, path, expires_at)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    SELECT t.tenant_id, ${id}, t.secret_hash, t.key_id, t.principal, 'x', ${expires}
    FROM n, (SELECT * FROM tickets WHERE path <> 'x' LIMIT 1) AS t`);
  fill(MAX, 1); // expired tickets do not count
  fill(MAX - 2, `${now} + 600000000`);
  await ticketFor(alice, path);
  const refused = expectProblem(await alice.post('/v1/tickets', { path }), 429, 'rate_limited');
  assert.match(refused.detail, /1000 unused tickets/);
  // Other principals and other keys have tickets of their own.
  expectStatus(await alice.post('/v1/tickets', { path }, ann), 201);
  await ticketFor(await withKey(alice, ['events:read']), path);
  // A used ticket makes room for one.
  const stream = readSse(server.open, `${path}?ticket=${first}`);
  await stream.hears(1);
  stream.close();
  await ticketFor(alice, path);
  expectProblem(await alice.post('/v1/tickets', { path }), 429, 'rate_limited');
});

test('the sweep deletes expired tickets', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  await ticketFor(alice, '/v1/events/stream', { ttl_s: 1 });
  await ticketFor(alice, '/v1/events/ws', { ttl_s: 300 });
  await eventually(() => Number(server.sql('SELECT count(*) FROM tickets')[0][0]) === 1);
  assert.deepEqual(server.sql('SELECT path FROM tickets'), [['/v1/events/ws']]);
});

test('no log, error, metric or audit record contains a ticket', async (t) => {
  const server = await startServer(t, { args: ['--log-level', 'debug'] });
  const { operator } = await twoTenants(server);
  const key = await withKey(operator, ['events:read']);
  const path = streamOf(await newThread(operator));
  const ticket = await ticketFor(key, path);
  const secret = ticket.slice('cairn_ticket_'.length);
  const once = { headers: { 'Idempotency-Key': 'ticket' } };
  const created = expectStatus(await key.post('/v1/tickets', { path }, once), 201);
  const again = expectStatus(await key.post('/v1/tickets', { path }, once), 201);
  assert.deepEqual(again, { ...created, ticket: null });
  expectStatus(await operator.del(`/v1/keys/${key.keyId}`), 200);
  const answers = [
    await open(server, path, ticket), // of a revoked key, which is audited
    await open(server, path, `${ticket}x`),
    await open(server, path, `${ticket}&ticket=${ticket}`),
    await open(server, path, `${ticket}&after=x`),
    await open(server, '/v1/threads', ticket),
    await open(server, '/nothing', ticket),
    await operator.get(`/v1/threads?ticket=${ticket}`),
    await server.open.post(`${path}?ticket=${ticket}`),
  ];
  for (const answer of answers)
    assert.ok(answer.status >= 400 && !answer.text.includes(secret), answer.text);
  const refused = await eventually(async () => {
    const { data } = expectStatus(await operator.get('/v1/audit?action=key.refused'), 200);
    return data.length > 0 && data;
  });
  assert.equal(refused[0].object_id, key.keyId);
  const seen = [(await operator.get('/metrics')).text, (await operator.get('/v1/audit')).text,
    (await operator.get('/v1/events')).text, server.stderr];
  await eventually(() => server.stderr.includes('/nothing'));
  for (const text of seen)
    assert.ok(!text.includes(secret));
});

test('a page continues after the last event with a new ticket', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const thread = await newThread(alice);
  const path = streamOf(thread);
  const append = async (text) => expectStatus(
    await alice.post(`/v1/threads/${thread.id}/events`, { kind: 'progress', text }), 201);
  const heard = [];
  let source;
  let after = 0;
  let isOver = false;
  // The strategy of docs/events.md: EventSource itself would repeat the ticket.
  const follow = async () => {
    while (!isOver) {
      const ticket = await ticketFor(alice, path).catch(() => pause(20));
      if (ticket === undefined)
        continue;
      source = server.open.sse(`${path}?after=${after}&ticket=${ticket}`);
      await new Promise((ended) => {
        source.onmessage = (message) => {
          after = message.lastEventId;
          heard.push(JSON.parse(message.data).seq);
        };
        source.onerror = ended;
      });
      source.close();
    }
  };
  const following = follow();
  for (const count of [2, 3, 4]) {
    await append(`event ${count}`);
    await eventually(() => heard.length === count);
    isOver = count === 4;
    await server.stop();
    await server.start();
  }
  await following;
  assert.deepEqual(heard, [1, 2, 3, 4]);
});
