// SPDX-License-Identifier: Apache-2.0
// The rate limit of a key, and what its headers say.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, expectProblem, expectStatus, startServer, withKey } from './lib/server.mjs';

async function limited(server, perMinute, scopes = ['admin']) {
  const first = await server.open.post('/v1/keys', { name: 'first', scopes: ['operator'] });
  const owner = server.client(expectStatus(first, 201).secret);
  const client = await withKey(owner, scopes, { rate_limit_per_minute: perMinute });
  return { owner, client };
}

const remaining = (answer) => Number(/r=(\d+)/.exec(answer.headers.get('RateLimit'))[1]);

test('each answer tells the policy and what is left of it', async (t) => {
  const server = await startServer(t);
  const { client } = await limited(server, 3);
  const first = await client.get('/v1/threads');
  expectStatus(first, 200);
  assert.equal(first.headers.get('RateLimit-Policy'), '"key";q=3;w=60');
  assert.match(first.headers.get('RateLimit'), /^"key";r=2;t=\d+$/);
  assert.equal(remaining(await client.get('/v1/whoami')), 1);
});

test('a key past its limit gets 429 with Retry-After, and changes nothing', async (t) => {
  const server = await startServer(t);
  const { owner, client } = await limited(server, 2);
  expectStatus(await client.post('/v1/threads', { title: 'one' }), 201);
  expectStatus(await client.post('/v1/threads', { title: 'two' }), 201);
  const refused = await client.post('/v1/threads', { title: 'three' });
  const problem = expectProblem(refused, 429, 'rate_limited');
  assert.equal(problem.retryable, true);
  assert.match(problem.detail, /2 requests per minute/);
  const seconds = Number(refused.headers.get('Retry-After'));
  assert.ok(seconds >= 1 && seconds <= 30, `a token comes back in 30 s: ${seconds}`);
  assert.equal(remaining(refused), 0);
  const titles = expectStatus(await owner.get('/v1/threads'), 200).data.map((x) => x.title);
  assert.deepEqual(titles, ['two', 'one']);
});

test('refused requests count too, so guessing is limited', async (t) => {
  const server = await startServer(t);
  const { client } = await limited(server, 3, ['threads:read']);
  for (let i = 0; i < 3; i++) expectProblem(await client.get('/v1/keys'), 403, 'forbidden');
  expectProblem(await client.get('/v1/keys'), 429, 'rate_limited');
});

test('keys are limited one by one, and a key without a limit has no such headers', async (t) => {
  const server = await startServer(t);
  const { owner, client } = await limited(server, 1);
  const other = await withKey(owner, ['threads:read'], { rate_limit_per_minute: 1 });
  expectStatus(await client.get('/v1/threads'), 200);
  expectProblem(await client.get('/v1/threads'), 429, 'rate_limited');
  expectStatus(await other.get('/v1/threads'), 200);
  const free = await owner.get('/v1/threads');
  assert.equal(free.headers.get('RateLimit'), null);
  assert.equal(free.headers.get('RateLimit-Policy'), null);
});

test('a long poll costs one request, however often it wakes', async (t) => {
  const server = await startServer(t);
  const { owner, client } = await limited(server, 2, ['events:read']);
  const thread = expectStatus(await owner.post('/v1/threads', {}), 201);
  const waiting = client.get(`/v1/threads/${thread.id}/events?kind=warning&wait=60`);
  await eventually(async () => /^cairn_subscribers 1$/m.test((await owner.get('/metrics')).text));
  for (let i = 0; i < 5; i++)
    expectStatus(await owner.post(`/v1/threads/${thread.id}/events`, { kind: 'progress' }), 201);
  expectStatus(await owner.post(`/v1/threads/${thread.id}/events`, { kind: 'warning' }), 201);
  const answer = await waiting;
  assert.equal(expectStatus(answer, 200).data[0].kind, 'warning');
  assert.equal(remaining(answer), 1);
});

test('a replayed answer tells the rate limit of now, not of then', async (t) => {
  const server = await startServer(t);
  const { client } = await limited(server, 2);
  const headers = { 'Idempotency-Key': 'once' };
  const first = await client.post('/v1/threads', {}, { headers });
  const again = await client.post('/v1/threads', {}, { headers });
  assert.deepEqual([first.status, again.status], [201, 201]);
  assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
  assert.deepEqual([remaining(first), remaining(again)], [1, 0]);
});
