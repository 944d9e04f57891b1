// SPDX-License-Identifier: Apache-2.0
// Requests of savers of other frameworks' checkpoints: values that follow versions, lists by
// id and over all threads, the history of channels that are kept as writes.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  expectFault, expectProblem, expectStatus, startServer, twoTenants, uuid, withKey,
} from './lib/server.mjs';

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201).id;
const of = (thread) => `/v1/threads/${thread}/checkpoints`;
const put = async (client, thread, body) =>
  expectStatus(await client.post(of(thread), body), 201);
const valuesOf = async (client, thread, id) =>
  expectStatus(await client.get(`${of(thread)}/${id}`), 200).channel_values;
const ids = (rows) => rows.map((k) => k.id);
const readAll = async (client, path) => {
  const all = [];
  for (let cursor = ''; cursor !== null;) {
    const page = expectStatus(await client.get(`${path}${cursor && `&cursor=${cursor}`}`), 200);
    all.push(...page.data);
    cursor = page.next_cursor;
  }
  return all;
};
const numbered = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

test('a checkpoint takes over the channels that have kept their version', async (t) => {
  const { open } = await startServer(t);
  const thread = await newThread(open);
  const changed = (body, set = {}, rest = {}) =>
    put(open, thread, { ...body, changes: { set, inherit: 'versions', ...rest } });

  const first = await changed(
    { parent_id: null, channel_versions: { a: 1, b: '1.5', c: 1.5, d: 1 } },
    { a: 'A', b: 'B', c: 'C', unversioned: 1 });
  assert.deepEqual(await valuesOf(open, thread, first.id),
    { a: 'A', b: 'B', c: 'C', unversioned: 1 });

  await t.test('and no other', async () => {
    const next = await changed({ channel_versions: { a: 1, b: '1.6', c: 1.50, d: 1 } });
    assert.equal(next.parent_id, first.id);
    assert.deepEqual(await valuesOf(open, thread, next.id), { a: 'A', c: 'C' });
    const text = await changed({ parent_id: first.id, channel_versions: { a: '1', b: '1.5' } });
    assert.deepEqual(await valuesOf(open, thread, text.id), { b: 'B' });
    const none = await changed({ parent_id: first.id });
    assert.deepEqual(await valuesOf(open, thread, none.id), {});
  });

  await t.test('beside those that are set, appended to or removed', async () => {
    const lists = await changed({ parent_id: null, channel_versions: { l: 1, m: 1, n: 1 } },
      { l: [1], m: [1], n: 1 });
    const next = await changed(
      { parent_id: lists.id, channel_versions: { l: 2, m: 2, n: 1, o: 1 } },
      { o: 1 }, { append: { l: [2] }, remove: ['n'] });
    assert.deepEqual(await valuesOf(open, thread, next.id), { l: [1, 2], o: 1 });
  });

  await t.test('the same twice is harmless, and all of it stays unless it is asked', async () => {
    const body = {
      id: uuid(), parent_id: first.id, channel_versions: { a: 1, b: 2 },
      changes: { set: { b: 'new' }, inherit: 'versions' },
    };
    const once = await put(open, thread, body);
    const again = expectStatus(await open.post(of(thread), body), 200);
    assert.equal(again.sequence_num, once.sequence_num);
    assert.deepEqual(await valuesOf(open, thread, body.id), { a: 'A', b: 'new' });
    const all = await put(open, thread,
      { parent_id: first.id, changes: { set: { b: 'new' }, inherit: 'all' } });
    assert.deepEqual(await valuesOf(open, thread, all.id),
      { a: 'A', b: 'new', c: 'C', unversioned: 1 });
  });

  await t.test('the first of a line says that it has no parent, or keeps nothing', async () => {
    const body = (namespace, rest) => ({ namespace, changes: { set: { x: 1 } }, ...rest });
    const said = await put(open, thread, body('one', { parent_id: null }));
    assert.deepEqual([said.parent_id, await valuesOf(open, thread, said.id)], [null, { x: 1 }]);
    const kept = await put(open, thread,
      { namespace: 'two', changes: { append: { x: [1] }, inherit: 'versions' } });
    assert.deepEqual(await valuesOf(open, thread, kept.id), { x: [1] });
    expectFault(await open.post(of(thread), body('three')), 422, 'invalid_input', '/changes');
    expectFault(await open.post(of(thread), body('three', { parent_id: uuid() })), 422,
      'invalid_input', '/parent_id', /this thread and namespace/);
    expectFault(await open.post(of(thread), { changes: { inherit: 'some' } }), 422,
      'invalid_input', '/changes/inherit', /all/);
  });

  await t.test('a parent was put before, also when a checkpoint is replaced', async () => {
    const [a, b] = [uuid(), uuid()];
    const namespace = 'loop';
    await put(open, thread, { id: a, namespace, channel_values: {} });
    await put(open, thread, { id: b, namespace, channel_values: {} });
    const loop = { id: a, namespace, parent_id: b, channel_values: {}, replace: true };
    expectFault(await open.post(of(thread), loop), 422, 'invalid_input', '/parent_id', /before/);
  });
});

test('lists of checkpoints go by id, and over all threads', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const threads = [await newThread(alice, { key: 'one' }), await newThread(alice)];
  const made = [];
  for (let n = 1; n <= 40; n++) {
    const thread = threads[n % 2];
    made.unshift(await put(alice, thread, {
      id: numbered(n),
      namespace: n % 10 === 0 ? 'child' : '',
      channel_values: { n },
      metadata: { source: n % 4 === 0 ? 'input' : 'loop' },
    }));
  }
  await put(bob, await newThread(bob), { channel_values: {}, metadata: { source: 'input' } });
  const all = async (query = '') => ids(await readAll(alice, `/v1/checkpoints?${query}`));
  const wanted = (which) => ids(made.filter(which));

  await t.test('newest first, each with its thread and the key of that', async () => {
    assert.deepEqual(await all('limit=7'), ids(made));
    const { data } = expectStatus(await alice.get('/v1/checkpoints?limit=2'), 200);
    assert.deepEqual(data.map((k) => [k.thread_id, k.thread_key, 'channel_values' in k]),
      [[threads[0], 'one', false], [threads[1], null, false]]);
    const one = expectStatus(await alice.get(`${of(threads[0])}/${numbered(40)}`), 200);
    assert.equal(one.thread_key, 'one');
    const whole = expectStatus(await alice.get('/v1/checkpoints?include=all&limit=1'), 200);
    assert.deepEqual(whole.data, [one]);
  });

  await t.test('by namespace, metadata and id, a page at a time', async () => {
    assert.deepEqual(await all('namespace='), wanted((k) => k.namespace === ''));
    assert.deepEqual(await all('namespace=child&limit=1'), wanted((k) => k.namespace === 'child'));
    assert.deepEqual(await all('metadata.source=input&limit=3'),
      wanted((k) => k.metadata.source === 'input'));
    assert.deepEqual(await all(`id_before=${numbered(20)}&limit=3`),
      wanted((k) => k.id < numbered(20)));
    assert.deepEqual(await all(`id_before=${numbered(21)}&namespace=child&metadata.source=input`),
      [numbered(20)]);
    assert.deepEqual(await all(`id_before=${numbered(1)}`), []);
  });

  await t.test('by time, of all threads and of one', async () => {
    const [from, to] = [made[30].created_at, made[10].created_at];
    const times = `from=${from}&to=${to}`;
    const within = (k) => k.created_at >= from && k.created_at < to;
    assert.equal(wanted(within).length, 20);
    assert.deepEqual(await all(`${times}&limit=7`), wanted(within));
    assert.deepEqual(await all(`to=${to}&limit=7`), wanted((k) => k.created_at < to));
    assert.deepEqual(await all(`from=${from}&limit=7`), wanted((k) => k.created_at >= from));
    assert.deepEqual(await all(`${times}&metadata.source=input&limit=2`),
      wanted((k) => within(k) && k.metadata.source === 'input'));
    const mine = async (query) => ids(await readAll(alice, `${of(threads[0])}?${query}`));
    const here = (k) => k.thread_id === threads[0];
    assert.deepEqual(await mine(`${times}&limit=3`), wanted((k) => here(k) && within(k)));
    assert.deepEqual(await mine(`to=${to}&limit=3`), wanted((k) => here(k) && k.created_at < to));
    assert.deepEqual(await mine(`from=${to}&to=${from}`), []);
    const bad = await alice.get('/v1/checkpoints?from=soon');
    expectFault(bad, 422, 'invalid_input', 'from');
  });

  await t.test('of one thread, also before ids of others and of nobody', async () => {
    const mine = async (query) => ids(await readAll(alice, `${of(threads[0])}?${query}`));
    const even = (most) => wanted((k) => k.thread_id === threads[0] && k.id < numbered(most));
    assert.deepEqual(await mine(`id_before=${numbered(31)}&limit=4`), even(31));
    assert.deepEqual(await mine(`id_before=${'f'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`),
      even(99));
    assert.deepEqual(await mine(`id_before=${numbered(31)}&before=${numbered(10)}`), even(10));
    const bad = await alice.get(`${of(threads[0])}?id_before=x`);
    expectFault(bad, 422, 'invalid_input', 'id_before');
  });

  await t.test('with cursors that are its own, for keys of the whole tenant', async () => {
    const opaque = (text) => Buffer.from(text).toString('base64url');
    const bad = ['x', '1', `1~${uuid()}`, `1~${uuid()}~0`, `1~${uuid()}~1~1`];
    for (const cursor of ['x', `1~${uuid()}~1`, ...bad.map(opaque)])
      expectProblem(await alice.get(`/v1/checkpoints?cursor=${cursor}`), 400, 'invalid_cursor');
    expectStatus(await alice.get(`/v1/checkpoints?cursor=${opaque(`1~${uuid()}~1`)}`), 200);
    const principal = { headers: { 'Cairn-Principal': 'user:ada' } };
    expectProblem(await alice.get('/v1/checkpoints', principal), 403, 'forbidden');
    const other = await withKey(alice, ['threads:read']);
    expectProblem(await other.get('/v1/checkpoints'), 403, 'forbidden');
  });
});

test('the history of channels that are kept as writes', async (t) => {
  const { open } = await startServer(t);
  const thread = await newThread(open);
  const namespace = 'child';
  const add = async (parent_id, channel_values = {}) =>
    (await put(open, thread, { namespace, parent_id, channel_values })).id;
  const write = async (id, task_id, writes) =>
    expectStatus(await open.put(`${of(thread)}/${id}/writes?namespace=${namespace}`,
      { task_id, writes }), 200);
  const deltas = async (id, channels, rest = { namespace }) => expectStatus(
    await open.post(`/v1/threads/${thread}/checkpoints/${id}/deltas`, { channels, ...rest }), 200);
  const plain = ({ writes, seed }) => [seed, ...writes.map((w) => w.value)];

  const c0 = await add(null, { m: ['seed'], n: null });
  await write(c0, 'task-b', [{ channel: 'm', value: 'b' }, { channel: 'x', value: 0 }]);
  await write(c0, 'task-a', [{ channel: 'm', value: 'a2', index: 7 },
    { channel: 'm', value: 'a0', index: -2 }, { channel: 'n', value: 'n' }]);
  const c1 = await add(c0);
  await write(c1, 't', [{ channel: 'm', value: [1] }, { channel: 'later', value: 1 }]);
  const c2 = await add(c1, { n: 2 });
  await write(c2, 't', [{ channel: 'n', value: 3 }]);
  const fork = await add(c1);
  await write(fork, 't', [{ channel: 'm', value: 'not on the line' }]);
  const c3 = await add(c2);
  await write(c3, 't', [{ channel: 'm', value: 'its own' }]);

  await t.test('goes from the nearest value through the writes, oldest first', async () => {
    const found = await deltas(c3, ['m', 'n', 'x', 'later', 'nothing']);
    const { channels, ...rest } = found;
    assert.deepEqual(rest, {
      checkpoint_id: c3, namespace, looked_at: 3, next_checkpoint_id: null,
    });
    assert.deepEqual(channels.m, {
      seed: ['seed'],
      writes: [
        { checkpoint_id: c0, task_id: 'task-a', index: -2, channel: 'm', value: 'a0' },
        { checkpoint_id: c0, task_id: 'task-a', index: 7, channel: 'm', value: 'a2' },
        { checkpoint_id: c0, task_id: 'task-b', index: 0, channel: 'm', value: 'b' },
        { checkpoint_id: c1, task_id: 't', index: 0, channel: 'm', value: [1] },
      ],
    });
    assert.deepEqual(plain(channels.n), [2, 3]);
    assert.deepEqual(plain(channels.x), [undefined, 0]);
    assert.deepEqual(plain(channels.later), [undefined, 1]);
    assert.deepEqual(channels.nothing, { writes: [] });
  });

  await t.test('ends where every channel has a value, of which null is one', async () => {
    const found = await deltas(c3, ['n']);
    assert.deepEqual([found.looked_at, plain(found.channels.n)], [1, [2, 3]]);
    assert.deepEqual(plain((await deltas(c2, ['n'])).channels.n), [null, 'n']);
    assert.deepEqual(await deltas(c0, ['m']), {
      checkpoint_id: c0, namespace, channels: { m: { writes: [] } }, looked_at: 0,
      next_checkpoint_id: null,
    });
    assert.deepEqual((await deltas(c3, [], {})).channels, {});
  });

  await t.test('is refused for what is not there or said twice', async () => {
    const ask = (id, body) => open.post(`${of(thread)}/${id}/deltas`, body);
    expectProblem(await ask(uuid(), { channels: ['m'] }), 404, 'not_found');
    expectProblem(await ask(c3, { channels: ['m'], namespace: '' }), 404, 'not_found');
    expectFault(await ask(c3, {}), 422, 'invalid_input', '/channels');
    const twice = await ask(c3, { channels: ['m', 'm'] });
    expectFault(twice, 422, 'invalid_input', '/channels/1', /repeated/);
    const many = Array.from({ length: 101 }, (_, i) => `c${i}`);
    expectFault(await ask(c3, { channels: many }), 422, 'invalid_input', '/channels', /100/);
  });

  await t.test('says where to go on when it is long', async () => {
    const value = 'x'.repeat(3 * 1024 * 1024);
    let last = await add(null);
    for (let n = 0; n < 7; n++) {
      await write(last, 't', [{ channel: 'm', value: `${n}${value}` }]);
      last = await add(last);
    }
    const first = await deltas(last, ['m', 'none']);
    assert.equal(first.looked_at, 6);
    const rest = await deltas(first.next_checkpoint_id, ['m']);
    assert.deepEqual([rest.looked_at, rest.next_checkpoint_id], [1, null]);
    assert.deepEqual(
      [...rest.channels.m.writes, ...first.channels.m.writes].map((w) => w.value[0]).join(''),
      '0123456');
  });
});
