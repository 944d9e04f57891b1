// SPDX-License-Identifier: Apache-2.0
// Keys of threads: the ids that their users know them by.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  ENGINE,
  expectProblem,
  expectStatus,
  startServer,
  twoTenants,
  withKey,
} from './lib/server.mjs';

const byKey = (key) => `/v1/threads/by-key/${encodeURIComponent(key)}`;

test('a thread is found by the key that its user gave it', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);

  await t.test('which it has from the start, in answers, lists and events', async () => {
    const body = { key: 'thread-1', title: 'x' };
    const made = expectStatus(await alice.post('/v1/threads', body), 201);
    assert.equal(made.key, 'thread-1');
    assert.deepEqual(expectStatus(await alice.get(`/v1/threads/by-key/${made.key}`), 200), made);
    const answer = await alice.get(byKey('thread-1'));
    assert.equal(answer.headers.get('ETag'), '"1"');
    const { data } = expectStatus(await alice.get('/v1/threads?key=thread-1'), 200);
    assert.deepEqual(data.map((x) => [x.id, x.key]), [[made.id, 'thread-1']]);
    for (const query of ['?key=thread-1&title=y', '?key=thread-2', '?key=thread-1&metadata.a=1'])
      assert.deepEqual(expectStatus(await alice.get(`/v1/threads${query}`), 200).data, [], query);
    const whole = await alice.get('/v1/threads?key=thread-1&include=documents');
    assert.deepEqual(expectStatus(whole, 200).data, [made]);
    const events = expectStatus(await alice.get(`/v1/threads/${made.id}/events`), 200).data;
    assert.equal(events[0].payload.key, 'thread-1');
  });

  await t.test('and which another tenant may give as well', async () => {
    expectProblem(await bob.get(byKey('thread-1')), 404, 'not_found');
    const theirs = expectStatus(await bob.post('/v1/threads', { key: 'thread-1' }), 201);
    const mine = expectStatus(await alice.get(byKey('thread-1')), 200);
    assert.notEqual(theirs.id, mine.id);
  });

  await t.test('and nobody else of the tenant, which is told who has it', async () => {
    const { id } = expectStatus(await alice.get(byKey('thread-1')), 200);
    const second = await alice.post('/v1/threads', { key: 'thread-1' });
    const taken = expectProblem(second, 409, 'conflict');
    assert.equal(taken.thread_id, id);
    assert.match(taken.detail, new RegExp(`${id} already has the key "thread-1"`));
    const other = expectStatus(await alice.post('/v1/threads', {}), 201);
    const patch = await alice.patch(`/v1/threads/${other.id}`, { key: 'thread-1', title: 'no' });
    assert.equal(expectProblem(patch, 409, 'conflict').thread_id, id);
    assert.deepEqual(expectStatus(await alice.get(`/v1/threads/${other.id}`), 200), other);
  });

  await t.test('which can be changed, removed and given to another', async () => {
    const { id } = expectStatus(await alice.post('/v1/threads', { key: 'moves' }), 201);
    expectStatus(await alice.patch(`/v1/threads/${id}`, { key: 'moved' }), 200);
    expectProblem(await alice.get(byKey('moves')), 404, 'not_found');
    assert.equal(expectStatus(await alice.get(byKey('moved')), 200).id, id);
    const freed = await alice.patch(`/v1/threads/${id}`, { key: null });
    assert.equal(expectStatus(freed, 200).key, null);
    const events = expectStatus(await alice.get(`/v1/threads/${id}/events`), 200).data;
    assert.deepEqual(events.at(-1).payload.changed, ['key']);
    const next = expectStatus(await alice.put(byKey('moved')), 201);
    assert.notEqual(next.id, id);
    expectStatus(await alice.del(`/v1/threads/${next.id}`), 204);
    expectStatus(await alice.put(byKey('moved')), 201);
  });

  await t.test('whatever text it is, up to 512 bytes', async () => {
    for (const key of ['a/b?c#d%2F', 'runs', 'ü'.repeat(256), ' ']) {
      const made = expectStatus(await alice.put(byKey(key), { agent: 'a' }), 201);
      assert.equal(made.key, key);
      assert.equal(expectStatus(await alice.get(byKey(key)), 200).id, made.id);
    }
    for (const key of ['', 'x'.repeat(513), 7]) {
      const refused = await alice.post('/v1/threads', { key });
      const { errors } = expectProblem(refused, 422, 'invalid_input');
      assert.equal(errors[0].pointer, '/key');
    }
    expectProblem(await alice.get(byKey('x'.repeat(513))), 422, 'invalid_input');
    expectProblem(await alice.put(byKey('x'.repeat(513)), {}), 422, 'invalid_input');
  });
});

test('PUT makes the thread of a key once, and answers it as it is from then on', async (t) => {
  const server = await startServer(t);
  const made = expectStatus(await server.open.put(byKey('once'), { title: 'first' }), 201);
  assert.deepEqual([made.key, made.title, made.version], ['once', 'first', 1]);
  const second = await server.open.put(`/v1/threads/by-key/${made.key}`, { title: 'second' });
  const again = expectStatus(second, 200);
  assert.deepEqual(again, made);
  expectProblem(await server.open.put(byKey('twice'), { key: 'once' }), 422, 'invalid_input');
  expectProblem(await server.open.put(byKey('twice'), { status: 'paused' }), 422, 'invalid_input');
  expectProblem(await server.open.get(byKey('twice')), 404, 'not_found');
  const raced = await Promise.all(
    Array.from({ length: 12 }, () => server.open.put(byKey('raced'), { title: 'raced' })),
  );
  assert.deepEqual(raced.map((a) => a.status).sort(), [...Array(11).fill(200), 201]);
  assert.equal(new Set(raced.map((a) => a.body.id)).size, 1);
  await server.restart();
  assert.deepEqual(expectStatus(await server.open.get(byKey('once')), 200), made);
});

test('a principal finds by key what it takes part in, and is told of nothing else', async (t) => {
  const server = await startServer(t);
  const admin = await withKey(server.open, ['operator']);
  const as = (name) => ({ headers: { 'Cairn-Principal': `user:${name}` } });
  const made = expectStatus(await admin.put(byKey('hers'), { title: 'x' }, as('ada')), 201);
  assert.deepEqual(expectStatus(await admin.get(byKey('hers'), as('ada')), 200).id, made.id);
  assert.equal(expectStatus(await admin.put(byKey('hers'), {}, as('ada')), 200).id, made.id);
  for (const [name, count] of [['ada', 1], ['bob', 0]]) {
    const listed = await admin.get('/v1/threads?key=hers', as(name));
    assert.equal(expectStatus(listed, 200).data.length, count);
  }
  expectProblem(await admin.get(byKey('hers'), as('bob')), 404, 'not_found');
});

test('keys of principals have namespaces of their own', async (t) => {
  const server = await startServer(t);
  const admin = await withKey(server.open, ['operator']);
  const as = (name) => ({ headers: { 'Cairn-Principal': `user:${name}` } });
  const first = expectStatus(await admin.post('/v1/threads', { key: 'k' }, as('eve')), 201);
  assert.equal(first.key_owner, 'user:eve');
  // The tenant's programs and other principals do not find eve's thread, and may use the key.
  expectProblem(await admin.get(byKey('k')), 404, 'not_found');
  assert.deepEqual(expectStatus(await admin.get('/v1/threads?key=k'), 200).data, []);
  const second = expectStatus(await admin.put(byKey('k'), {}), 201);
  assert.equal(second.key_owner, null);
  const third = expectStatus(await admin.put(byKey('k'), {}, as('ada')), 201);
  assert.equal(new Set([first.id, second.id, third.id]).size, 3);
  for (const [opts, id] of [[{}, second.id], [as('eve'), first.id], [as('ada'), third.id]]) {
    assert.equal(expectStatus(await admin.get(byKey('k'), opts), 200).id, id);
    assert.equal(expectStatus(await admin.put(byKey('k'), {}, opts), 200).id, id);
    expectProblem(await admin.post('/v1/threads', { key: 'k' }, opts), 409, 'conflict');
    assert.deepEqual(
      expectStatus(await admin.get('/v1/threads?key=k', opts), 200).data.map((x) => x.id), [id]);
  }
  // A principal finds the tenant's thread by its key if it participates and has no such key.
  const invited = { principal: 'user:bob' };
  expectStatus(await admin.post(`/v1/threads/${second.id}/participants`, invited), 201);
  assert.equal(expectStatus(await admin.get(byKey('k'), as('bob')), 200).id, second.id);
  assert.equal(expectStatus(await admin.put(byKey('k'), {}, as('bob')), 200).id, second.id);
  // A changed key moves to the namespace of the request; an unchanged one stays in its own.
  const path = `/v1/threads/${third.id}`;
  assert.equal(expectStatus(await admin.patch(path, { title: 'x' }), 200).key_owner, 'user:ada');
  expectProblem(await admin.patch(path, { key: 'j' }, as('eve')), 404, 'not_found');
  assert.equal(expectStatus(await admin.patch(path, { key: 'j' }), 200).key_owner, null);
  assert.equal(expectStatus(await admin.patch(path, { key: null }), 200).key_owner, null);
  assert.equal(expectStatus(await admin.patch(path, { key: 'j' }, as('ada')), 200).key_owner,
    'user:ada');
  expectProblem(await admin.get(byKey('j')), 404, 'not_found');
  // A principal cannot take the tenant's key from a thread that both use.
  const writer = { principal: 'user:dan', permission: 'read_write' };
  expectStatus(await admin.post(`/v1/threads/${second.id}/participants`, writer), 201);
  for (const key of ['other', null])
    expectProblem(await admin.patch(`/v1/threads/${second.id}`, { key }, as('dan')), 403,
      'forbidden');
  // A principal that left its thread does not see it, and its key stays taken.
  expectStatus(await admin.del(`/v1/threads/${first.id}/participants/me`, as('eve')), 200);
  expectProblem(await admin.get(byKey('k'), as('eve')), 404, 'not_found');
  const problem = expectProblem(await admin.put(byKey('k'), {}, as('eve')), 409, 'conflict');
  assert.ok(!JSON.stringify(problem).includes(first.id), problem.detail);
});

test('a key goes with an archive, unless it is taken where it comes in', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const { id } = expectStatus(await alice.put(byKey('travels'), {}), 201);
  const raw = (await alice.get(`/v1/threads/${id}/export`)).bytes;
  const bring = (query) =>
    bob.post(`/v1/imports${query}`, undefined, { raw, type: 'application/x-tar' });
  const [first] = expectStatus(await bring('?ids=remap'), 201).objects;
  assert.equal(first.key_dropped, false);
  assert.equal(expectStatus(await bob.get(byKey('travels')), 200).id, first.to);
  const foreseen = expectStatus(await bring('?ids=remap&dry_run=true'), 200).objects;
  assert.equal(foreseen[0].key_dropped, true);
  const [second] = expectStatus(await bring('?ids=remap'), 201).objects;
  assert.equal(second.key_dropped, true);
  assert.equal(expectStatus(await bob.get(`/v1/threads/${second.to}`), 200).key, null);
  assert.equal(expectStatus(await bob.get(byKey('travels')), 200).id, first.to);
});

test('of threads that are given one key at once one has it, others are told', async (t) => {
  const server = await startServer(t);
  const nodes = [server.open, ENGINE === 'postgres' ? (await server.join()).open : server.open];
  const ids = await Promise.all(Array.from({ length: 6 }, async () =>
    expectStatus(await server.open.post('/v1/threads', {}), 201).id));
  for (const key of ['one', 'two', 'three', 'four']) {
    const answers = await Promise.all(ids.map((id, i) =>
      nodes[i % 2].patch(`/v1/threads/${id}`, { key })));
    assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
    for (const answer of answers.filter((one) => one.status !== 200))
      assert.match(expectProblem(answer, 409, 'conflict').detail, new RegExp(`the key "${key}"`));
  }
});
