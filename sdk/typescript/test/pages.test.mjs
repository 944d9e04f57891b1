// SPDX-License-Identifier: Apache-2.0
// Lists: single pages, and iteration over all pages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../../tests/api/lib/server.mjs';
import { Cairn, InvalidInput, NotFound } from 'cairn-client';

test('pages', async (t) => {
  const server = await startServer(t);
  let requests = 0;
  const client = new Cairn({ baseUrl: server.url, onResponse: () => requests++ });
  const made = [];
  for (let i = 0; i < 7; i++)
    made.unshift(
      (await client.threads.create({ title: `t${i}`, metadata: { n: i % 2, who: 'a&b=c ü' } })).id,
    );
  const ids = (items) => items.map((item) => item.id);

  await t.test('a page is a page', async () => {
    const page = await client.threads.list({ limit: 3 });
    assert.deepEqual(ids(page.data), made.slice(0, 3));
    assert.equal(page.has_more, true);
    assert.equal(typeof page.next_cursor, 'string');
    const next = await page.nextPage();
    assert.deepEqual(ids(next.data), made.slice(3, 6));
    assert.equal(await (await next.nextPage()).nextPage(), null);
    assert.deepEqual(Object.keys(page), ['data', 'has_more', 'next_cursor']);
  });

  await t.test('an iteration reads all pages, each when it is needed', async () => {
    const seen = [];
    for await (const thread of client.threads.list({ limit: 2 })) seen.push(thread.id);
    assert.deepEqual(seen, made);
    requests = 0;
    for await (const thread of client.threads.list({ limit: 2 })) if (thread.id === made[2]) break;
    assert.equal(requests, 2);
    const rest = [];
    for await (const thread of await client.threads.list({ limit: 5 })) rest.push(thread.id);
    assert.deepEqual(rest, made);
  });

  await t.test('pages and arrays', async () => {
    const sizes = [];
    for await (const page of client.threads.list({ limit: 3 }).pages())
      sizes.push(page.data.length);
    assert.deepEqual(sizes, [3, 3, 1]);
    assert.deepEqual(ids(await client.threads.list({ limit: 2 }).toArray(3)), made.slice(0, 3));
    assert.deepEqual(await client.threads.list().toArray(0), []);
  });

  await t.test(
    'nothing is sent for a list that nobody reads, and once for one that is read twice',
    async () => {
      requests = 0;
      const list = client.threads.list();
      assert.equal(requests, 0);
      await list;
      await list;
      assert.equal(requests, 1);
      await assert.rejects(async () => await client.threads.list({ limit: 0 }), InvalidInput);
      assert.equal(await client.threads.list({ limit: 0 }).catch(() => 'caught'), 'caught');
    },
  );

  await t.test('a filter by metadata', async () => {
    const odd = await client.threads
      .list({ metadata: { n: 1, who: 'a&b=c ü' }, limit: 1 })
      .toArray();
    assert.deepEqual(
      odd.map((thread) => thread.title),
      ['t5', 't3', 't1'],
    );
  });

  await t.test('events go forwards, messages backwards or forwards', async () => {
    const [id] = made;
    for (let i = 0; i < 5; i++) await client.threads.messages.create(id, { content: `m${i}` });
    const contents = async (query) =>
      (await client.threads.messages.list(id, query).toArray()).map((m) => m.content).join();
    assert.equal(await contents({ limit: 2 }), 'm4,m3,m2,m1,m0');
    assert.equal(await contents({ limit: 2, after: undefined }), 'm4,m3,m2,m1,m0');
    assert.equal(await contents({ limit: 2, after: '0' }), 'm0,m1,m2,m3,m4');
    const events = await client.threads.events.list(id, { limit: 2 }).toArray();
    assert.deepEqual(
      events.map((e) => e.seq),
      [1, 2, 3, 4, 5, 6],
    );
  });

  await t.test('a page keeps what else it tells', async () => {
    const usage = await client.usage.get({ group_by: 'day' });
    assert.equal(typeof usage.totals.runs_started, 'number');
    assert.ok(Array.isArray(await client.usage.get().toArray()));
    const page = await client.threads.messages.list(made[0], { limit: 2 });
    assert.equal(typeof page.before_cursor, 'string');
    assert.equal(typeof (await page.nextPage()).before_cursor, 'string');
  });

  await t.test('one or many, by what is sent', async () => {
    const [id] = made;
    assert.equal((await client.threads.events.append(id, { kind: 'progress' })).kind, 'progress');
    assert.equal(
      (await client.threads.events.append(id, { events: [{ kind: 'progress' }] })).count,
      1,
    );
  });

  await t.test('an update is a merge patch, or a JSON Patch when it is a list', async () => {
    const [id] = made;
    assert.deepEqual((await client.threads.update(id, { metadata: { who: null } })).metadata, {
      n: 0,
    });
    const patched = await client.threads.update(id, [{ op: 'add', path: '/metadata/x', value: 1 }]);
    assert.deepEqual(patched.metadata, { n: 0, x: 1 });
  });

  await t.test('a search of the store goes to its end, and takes labels as a list', async () => {
    const { store } = client;
    for (let n = 0; n < 5; n++)
      await store.put({ namespace: ['users', `u${n}`], key: 'food', value: { n } });
    assert.equal((await store.get({ namespace: ['users', 'u3'], key: 'food' })).value.n, 3);
    assert.equal((await store.get({ namespace: 'users.u3', key: 'food' })).value.n, 3);
    const query = { namespace_prefix: ['users'], limit: 2 };
    const found = await store.search({ ...query, offset: 1 }).toArray();
    assert.deepEqual(
      found.map((item) => item.value.n),
      [3, 2, 1, 0],
    );
    assert.equal((await store.search(query, { idempotencyKey: 'k' }).toArray()).length, 5);
    assert.equal((await store.search(query)).has_more, true);
    const spaces = await store.namespaces({ prefix: ['users'], limit: 2 }).toArray();
    assert.deepEqual(
      spaces.map(([, user]) => user),
      ['u0', 'u1', 'u2', 'u3', 'u4'],
    );
    await store.delete({ namespace: ['users', 'u3'], key: 'food' });
    await assert.rejects(store.get({ namespace: ['users', 'u3'], key: 'food' }), NotFound);
  });

  await t.test('any route can be asked, and times are given as Date', async () => {
    const query = { created_after: new Date(Date.now() - 1e7), limit: 2 };
    assert.equal((await client.request('GET', '/v1/threads', { query })).data.length, 2);
    const thread = await client.request('POST', '/v1/threads', { body: { title: 'by hand' } });
    assert.equal(thread.title, 'by hand');
    assert.throws(() => client.request('GET', 'v1/threads'), TypeError);
    const onResponse = () => {
      throw new RangeError('mine');
    };
    await assert.rejects(client.threads.create({}, { onResponse }), /^RangeError: mine$/);
  });

  await t.test('nothing to claim is null', async () => {
    assert.equal(await client.runs.claim({ worker: 'w' }), null);
  });
});
