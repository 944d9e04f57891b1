// SPDX-License-Identifier: Apache-2.0
// Idempotency-Key: a POST that is sent again is done once.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  eventually,
  expectFault,
  expectProblem,
  expectStatus,
  startServer,
  twoTenants,
} from './lib/server.mjs';

test('an idempotency key replays the first answer, also after restart and kill', async (t) => {
  const server = await startServer(t);
  const headers = { 'Idempotency-Key': 'once-only' };
  const first = await server.open.post('/v1/threads', { title: 'one' }, { headers });
  expectStatus(first, 201);
  assert.equal(first.headers.get('Idempotency-Replayed'), null);
  const again = async () => {
    const answer = await server.open.post('/v1/threads', { title: 'one' }, { headers });
    assert.deepEqual(
      [answer.status, answer.text, answer.headers.get('ETag')],
      [201, first.text, first.headers.get('ETag')],
    );
    assert.equal(answer.headers.get('Idempotency-Replayed'), 'true');
  };
  await again();
  expectStatus(await server.open.patch(`/v1/threads/${first.body.id}`, { title: 'two' }), 200);
  await again();
  await server.restart();
  await again();
  await server.kill();
  await server.start();
  await again();
  assert.equal(expectStatus(await server.open.get('/v1/threads'), 200).data.length, 1);
});

test('requests with one idempotency key at the same time are one request', async (t) => {
  const { open } = await startServer(t, { args: ['--loops', '2'] });
  const headers = { 'Idempotency-Key': 'race' };
  const answers = await Promise.all(
    Array.from({ length: 24 }, () => open.post('/v1/threads', { title: 'one' }, { headers })),
  );
  assert.deepEqual(new Set(answers.map((a) => a.text)).size, 1);
  assert.deepEqual(new Set(answers.map((a) => a.status)), new Set([201]));
  assert.equal(answers.filter((a) => a.headers.get('Idempotency-Replayed') === null).length, 1);
  assert.equal(expectStatus(await open.get('/v1/threads'), 200).data.length, 1);
});

test('a key used for another body or path is refused, and nothing changes', async (t) => {
  const { open } = await startServer(t);
  const headers = { 'Idempotency-Key': 'k' };
  const one = expectStatus(await open.post('/v1/threads', { title: 'one' }, { headers }), 201);
  const two = expectStatus(await open.post('/v1/threads', { title: 'two' }), 201);
  const refused = await open.post('/v1/threads', { title: 'other' }, { headers });
  assert.match(expectProblem(refused, 422, 'idempotency_key_reused').detail, /"k"/);
  expectStatus(await open.post(`/v1/threads/${one.id}/pause`, undefined, { headers }), 200);
  expectProblem(
    await open.post(`/v1/threads/${two.id}/pause`, undefined, { headers }),
    422,
    'idempotency_key_reused',
  );
  const state = expectStatus(await open.get('/v1/threads'), 200).data;
  assert.deepEqual(
    state.map((x) => [x.title, x.status]),
    [
      ['two', 'active'],
      ['one', 'paused'],
    ],
  );
});

test('idempotency keys are scoped to the tenant and the route', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const headers = { 'Idempotency-Key': 'same' };
  const mine = expectStatus(await alice.post('/v1/threads', { title: 'a' }, { headers }), 201);
  const theirs = expectStatus(await bob.post('/v1/threads', { title: 'b' }, { headers }), 201);
  assert.notEqual(mine.id, theirs.id);
  const event = await alice.post(
    `/v1/threads/${mine.id}/events`,
    { kind: 'progress' },
    { headers },
  );
  expectStatus(event, 201);
  assert.equal(event.headers.get('Idempotency-Replayed'), null);
});

test('a refusal is not remembered: the same key may succeed later', async (t) => {
  const { open } = await startServer(t);
  const headers = { 'Idempotency-Key': 'later' };
  const thread = expectStatus(await open.post('/v1/threads', {}), 201);
  expectProblem(
    await open.post(`/v1/threads/${thread.id}/resume`, undefined, { headers }),
    409,
    'transition_refused',
  );
  expectStatus(await open.post(`/v1/threads/${thread.id}/pause`), 200);
  const done = await open.post(`/v1/threads/${thread.id}/resume`, undefined, { headers });
  expectStatus(done, 200);
  assert.equal(done.headers.get('Idempotency-Replayed'), null);
});

test('a claim under a key still waits, and is not remembered as nothing', async (t) => {
  const { open } = await startServer(t);
  const headers = { 'Idempotency-Key': 'claim' };
  const claim = (query) => open.post(`/v1/runs/claim${query}`, { worker: 'w' }, { headers });
  expectStatus(await claim(''), 204);
  const thread = expectStatus(await open.post('/v1/threads', {}), 201);
  const waiting = claim('?wait=60');
  await eventually(async () => /^cairn_subscribers 1$/m.test((await open.get('/metrics')).text));
  const run = expectStatus(await open.post(`/v1/threads/${thread.id}/runs`, {}), 201);
  assert.equal(expectStatus(await waiting, 200).id, run.id);
  const again = await claim('?wait=60');
  assert.equal(expectStatus(again, 200).id, run.id);
  assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
});

test('a bad idempotency key is refused by name', async (t) => {
  const { open } = await startServer(t);
  for (const key of ['has blanks', 'x'.repeat(256), '"quoted"', 'é'])
    expectFault(
      await open.post('/v1/threads', {}, { headers: { 'Idempotency-Key': key } }),
      422,
      'invalid_input',
      'Idempotency-Key',
      /255 printable/,
    );
  expectStatus(
    await open.post('/v1/threads', {}, { headers: { 'Idempotency-Key': 'x'.repeat(255) } }),
    201,
  );
  assert.equal(expectStatus(await open.get('/v1/threads'), 200).data.length, 1);
});
