// SPDX-License-Identifier: Apache-2.0
// The store: items under namespaces, conditions, expiry, search by time, filter and words,
// namespaces, batches, and isolation from other tenants.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  ENGINE,
  eventually,
  expectFault,
  expectProblem,
  expectStatus,
  startServer,
  twoTenants,
  uuid,
} from './lib/server.mjs';

const at = (namespace, key) =>
  `/v1/store/items?namespace=${encodeURIComponent(namespace.join('.'))}` +
  `&key=${encodeURIComponent(key)}`;
const put = (client, namespace, key, value, more = {}, options = {}) =>
  client.put('/v1/store/items', { namespace, key, value, ...more }, options);
const get = (client, namespace, key) => client.get(at(namespace, key));
const search = async (client, body) =>
  expectStatus(await client.post('/v1/store/search', body), 200);
const names = async (client, body) =>
  expectStatus(await client.post('/v1/store/namespaces', body), 200);
const keysOf = (page) => page.data.map((item) => item.key);

/** One fault of bad input: where, and the whole rule. */
function expectRule(answer, pointer, rule) {
  const problem = expectFault(answer, 422, 'invalid_input', pointer);
  assert.equal(problem.errors.find((e) => e.pointer === pointer).detail, rule);
}

test('items of the store', async (t) => {
  const server = await startServer(t);
  const { open } = server;

  await t.test('an item is read back as it was put, with every digit', async () => {
    const raw = '{"namespace":["users","ä 42"],"key":"a/b ☃","value":{"n":1.50,"l":[null]}}';
    const made = await open.put('/v1/store/items', undefined, { raw, type: 'application/json' });
    const item = expectStatus(made, 201);
    assert.equal(made.headers.get('ETag'), '"1"');
    assert.deepEqual(item, { namespace: ['users', 'ä 42'], key: 'a/b ☃',
      value: { n: 1.5, l: [null] }, version: 1, created_at: item.created_at,
      updated_at: item.created_at, expires_at: null });
    const read = await get(open, ['users', 'ä 42'], 'a/b ☃');
    assert.match(read.text, /"value":\{"n":1\.50,"l":\[null\]\}/);
    assert.equal(read.headers.get('ETag'), '"1"');
    const again = expectStatus(await put(open, ['users', 'ä 42'], 'a/b ☃', {}), 200);
    assert.deepEqual([again.version, again.created_at, again.value], [2, item.created_at, {}]);
    assert.ok(again.updated_at > item.updated_at);
    const same = await open.get(at(['users', 'ä 42'], 'a/b ☃'),
      { headers: { 'If-None-Match': '"2"' } });
    assert.equal(same.status, 304);
    expectStatus(await open.del(at(['users', 'ä 42'], 'a/b ☃')), 204);
    expectProblem(await get(open, ['users', 'ä 42'], 'a/b ☃'), 404, 'not_found');
    expectProblem(await open.del(at(['users', 'ä 42'], 'a/b ☃')), 404, 'not_found');
    assert.equal(expectStatus(await put(open, ['users', 'ä 42'], 'a/b ☃', {}), 201).version, 1);
  });

  await t.test('a namespace is not its prefix, and a key is not of another namespace', async () => {
    await put(open, ['apart'], 'k', { is: 'upper' });
    await put(open, ['apart', 'x'], 'k', { is: 'lower' });
    assert.equal(expectStatus(await get(open, ['apart'], 'k'), 200).value.is, 'upper');
    assert.equal(expectStatus(await get(open, ['apart', 'x'], 'k'), 200).value.is, 'lower');
    expectProblem(await get(open, ['apar'], 'k'), 404, 'not_found');
  });

  await t.test('conditions hold: If-Match, If-None-Match, and both are refused', async () => {
    const when = (headers) => put(open, ['when'], 'k', { at: Date.now() }, {}, { headers });
    expectProblem(await when({ 'If-Match': '"1"' }), 412, 'stale_etag');
    expectProblem(await when({ 'If-Match': '*' }), 412, 'stale_etag');
    expectStatus(await when({ 'If-None-Match': '*' }), 201);
    expectProblem(await when({ 'If-None-Match': '*' }), 412, 'stale_etag');
    expectProblem(await when({ 'If-Match': '"7"' }), 412, 'stale_etag');
    expectStatus(await when({ 'If-Match': '"1"' }), 200);
    expectStatus(await when({ 'If-Match': '*' }), 200);
    expectFault(await when({ 'If-None-Match': '*', 'If-Match': '"3"' }), 422, 'invalid_input',
      'If-None-Match');
    expectProblem(await open.del(at(['when'], 'k'), { headers: { 'If-Match': '"1"' } }), 412,
      'stale_etag');
    expectStatus(await open.del(at(['when'], 'k'), { headers: { 'If-Match': '"3"' } }), 204);
  });

  await t.test('of many that put the same new key at once, one makes it', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) =>
      put(open, ['race'], 'k', { i }, {}, { headers: { 'If-None-Match': '*' } })));
    const made = answers.filter((a) => a.status === 201);
    assert.equal(made.length, 1);
    for (const answer of answers)
      if (answer !== made[0]) expectProblem(answer, 412, 'stale_etag');
    assert.deepEqual((await get(open, ['race'], 'k')).body, made[0].body);
    const plain = await Promise.all(Array.from({ length: 12 }, (_, i) =>
      put(open, ['race'], 'other', { i })));
    assert.deepEqual(plain.map((a) => a.body.version).sort((a, b) => a - b),
      Array.from({ length: 12 }, (_, i) => i + 1));
  });

  await t.test('an item that expires is gone at once, and its key is free', async () => {
    const item = expectStatus(await put(open, ['brief'], 'k', { word: 'fleeting' },
      { ttl_s: 1 }), 201);
    assert.equal(Date.parse(item.expires_at) - Date.parse(item.updated_at), 1000);
    expectStatus(await put(open, ['brief'], 'kept', { word: 'fleeting' }, { ttl_s: 1 }), 201);
    expectStatus(await put(open, ['brief'], 'kept', { word: 'fleeting' }), 200);
    await eventually(async () => (await get(open, ['brief'], 'k')).status === 404);
    assert.deepEqual(keysOf(await search(open, { namespace_prefix: ['brief'] })), ['kept']);
    assert.deepEqual(keysOf(await search(open, { query: 'fleeting' })), ['kept']);
    expectProblem(await open.del(at(['brief'], 'k')), 404, 'not_found');
    const anew = await put(open, ['brief'], 'k', {}, {}, { headers: { 'If-None-Match': '*' } });
    assert.equal(expectStatus(anew, 201).version, 1);
  });

  await t.test('what breaks a rule is refused, and told where', async () => {
    const deep = (n) => Array.from({ length: n }, (_, i) => `l${i}`);
    expectRule(await put(open, [], 'k', {}), '/namespace', 'must have at least 1 items');
    expectRule(await put(open, deep(17), 'k', {}), '/namespace', 'must have at most 16 items');
    expectStatus(await put(open, deep(16), 'k', {}), 201);
    expectRule(await put(open, ['a', ''], 'k', {}), '/namespace/1',
      'must be a label of 1 to 128 bytes');
    expectRule(await put(open, ['x'.repeat(129)], 'k', {}), '/namespace/0',
      'must be a label of 1 to 128 bytes');
    expectRule(await put(open, ['a', 'b.c'], 'k', {}), '/namespace/1',
      'must not contain "."');
    expectRule(await put(open, ['a', 7], 'k', {}), '/namespace/1', 'must be a string, not number');
    expectRule(await put(open, 'a', 'k', {}), '/namespace', 'must be an array, not string');
    expectRule(await put(open, ['a'], '', {}), '/key', 'must have at least 1 bytes');
    expectRule(await put(open, ['a'], 'x'.repeat(513), {}), '/key', 'must have at most 512 bytes');
    expectStatus(await put(open, ['y'.repeat(128)], 'x'.repeat(512), {}), 201);
    expectRule(await put(open, ['a'], 'k', [1]), '/value', 'must be an object');
    expectRule(await put(open, ['a'], 'k', null), '/value', 'must be an object');
    expectRule(await put(open, ['a'], 'k', {}, { ttl_s: 0 }), '/ttl_s', 'must be at least 1');
    expectRule(await put(open, ['a'], 'k', {}, { color: 1 }), '/color',
      'is not a member of StorePut');
    const most = { x: 'y'.repeat(1024 * 1024 - 8) };
    expectStatus(await put(open, ['large'], 'k', most), 201);
    most.x += 'y';
    expectRule(await put(open, ['large'], 'k', most), '/value',
      'must have at most 1048576 bytes');
    expectProblem(await get(open, ['a'], 'k'), 404, 'not_found');
    for (const [query, pointer] of [['?key=k', 'namespace'], ['?namespace=a', 'key'],
      ['?namespace=&key=k', 'namespace'], ['?namespace=a..b&key=k', 'namespace'],
      ['?namespace=a.&key=k', 'namespace'], ['?namespace=a&key=', 'key'],
      [`?namespace=${deep(17).join('.')}&key=k`, 'namespace']]) {
      expectFault(await open.get(`/v1/store/items${query}`), 422, 'invalid_input', pointer);
      expectFault(await open.del(`/v1/store/items${query}`), 422, 'invalid_input', pointer);
    }
  });
});

test('search in the store', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const dogs = [['rex', 7, 'Rex barks at the quiet postman'], ['bello', 3, 'Bello sleeps'],
    ['lassie', 12, 'Lassie finds the quiet way home'], ['idefix', 3, 'Idefix mourns for trees']];
  for (const [key, age, text] of dogs)
    expectStatus(await put(open, ['pets', 'dogs'], key, { age, text, good: age > 3 }), 201);
  expectStatus(await put(open, ['pets'], 'all', { text: 'all of them', age: null }), 201);
  expectStatus(await put(open, ['petstore'], 'shop', { text: 'quiet on Mondays' }), 201);

  await t.test('under a prefix, the newest first, page by page', async () => {
    assert.deepEqual(keysOf(await search(open, { namespace_prefix: ['pets'] })),
      ['all', 'idefix', 'lassie', 'bello', 'rex']);
    assert.deepEqual(keysOf(await search(open, {})),
      ['shop', 'all', 'idefix', 'lassie', 'bello', 'rex']);
    assert.deepEqual(keysOf(await search(open, { namespace_prefix: ['pet'] })), []);
    const page = await search(open, { namespace_prefix: ['pets', 'dogs'], limit: 3 });
    assert.deepEqual([keysOf(page), page.has_more], [['idefix', 'lassie', 'bello'], true]);
    assert.equal(page.data[0].score, null);
    const next = await search(open, { namespace_prefix: ['pets', 'dogs'], limit: 3,
      cursor: page.next_cursor });
    assert.deepEqual([keysOf(next), next.has_more, next.next_cursor], [['rex'], false, null]);
    const whole = await search(open, { namespace_prefix: ['pets', 'dogs'], limit: 4 });
    assert.deepEqual([whole.data.length, whole.has_more], [4, false]);
    const some = await search(open, { namespace_prefix: ['pets'], offset: 2, limit: 2 });
    assert.deepEqual([keysOf(some), some.has_more], [['lassie', 'bello'], true]);
    assert.deepEqual(keysOf(await search(open, { offset: 6 })), []);
    expectStatus(await put(open, ['pets', 'dogs'], 'rex', { age: 7, text: dogs[0][2] }), 200);
    assert.equal(keysOf(await search(open, {}))[0], 'rex');
  });

  await t.test('a filter holds by equality and by operators', async () => {
    const found = async (filter, more = {}) =>
      keysOf(await search(open, { namespace_prefix: ['pets'], filter, ...more })).sort();
    assert.deepEqual(await found({ age: 3 }), ['bello', 'idefix']);
    assert.deepEqual(await found({ age: { $eq: 3.0 } }), ['bello', 'idefix']);
    assert.deepEqual(await found({ age: null }), ['all']);
    assert.deepEqual(await found({ age: { $ne: 3 } }), ['all', 'lassie', 'rex']);
    assert.deepEqual(await found({ good: { $ne: true } }), ['all', 'bello', 'idefix', 'rex']);
    assert.deepEqual(await found({ age: { $gt: 3 } }), ['lassie', 'rex']);
    assert.deepEqual(await found({ age: { $gte: 3, $lt: 12 } }), ['bello', 'idefix', 'rex']);
    assert.deepEqual(await found({ age: { $lte: '7' } }), ['all', 'bello', 'idefix', 'rex']);
    assert.deepEqual(await found({ text: { $gt: 'L' } }), ['all', 'lassie', 'rex']);
    assert.deepEqual(await found({ age: { $in: [7, 12] } }), ['lassie', 'rex']);
    assert.deepEqual(await found({ age: { $nin: [7, 12, null] } }), ['bello', 'idefix']);
    assert.deepEqual(await found({ age: 3, text: 'Bello sleeps' }), ['bello']);
    assert.deepEqual(await found({ missing: 1 }), []);
    assert.deepEqual(await found({ age: { $gt: [] } }), []);
    assert.deepEqual(await found({}), ['all', 'bello', 'idefix', 'lassie', 'rex']);
    assert.deepEqual(await found({ age: 3 }, { offset: 1 }), ['bello']);
    const page = await search(open, { filter: { age: 3 }, limit: 1 });
    assert.deepEqual([keysOf(page), page.has_more], [['idefix'], true]);
    const next = await search(open, { filter: { age: 3 }, limit: 1, cursor: page.next_cursor });
    assert.deepEqual(keysOf(next), ['bello']);
    expectStatus(await put(open, ['docs'], 'nested', { owner: { id: 1, tags: ['a'] } }), 201);
    assert.deepEqual(keysOf(await search(open, { filter: { owner: { tags: ['a'], id: 1 } } })),
      ['nested']);
  });

  await t.test('words find items, the best first, with a score', async () => {
    const page = await search(open, { namespace_prefix: ['pets'], query: 'a Quiet, POSTMAN?' });
    assert.deepEqual(keysOf(page), ['rex', 'lassie']);
    assert.ok(page.data[0].score > page.data[1].score && page.data[1].score > 0);
    assert.ok(page.data[0].score < 1, 'nothing has "a"');
    assert.equal((await search(open, { query: 'Bello sleeps' })).data[0].score, 1);
    assert.deepEqual(keysOf(await search(open, { query: 'quiet' })), ['rex', 'shop', 'lassie']);
    assert.deepEqual(
      keysOf(await search(open, { query: 'quiet', filter: { age: { $gt: 7 } } })), ['lassie']);
    const first = await search(open, { query: 'quiet', limit: 1 });
    const second = await search(open, { query: 'quiet', limit: 1, cursor: first.next_cursor });
    assert.deepEqual([keysOf(first), keysOf(second)], [['rex'], ['shop']]);
    assert.deepEqual(keysOf(await search(open, { query: 'quiet', offset: 2 })), ['lassie']);
    assert.deepEqual(keysOf(await search(open, { query: '?!' })), []);
    assert.equal((await search(open, { query: '' })).data.length, 7, 'an empty query is none');
    assert.deepEqual(keysOf(await search(open, { query: `#n" OR 'x' & "` })), []);
    expectStatus(await put(open, ['pets', 'dogs'], 'bello', { text: 'wakes up' }), 200);
    assert.deepEqual(keysOf(await search(open, { query: 'sleeps' })), []);
    assert.deepEqual(keysOf(await search(open, { query: 'wakes' })), ['bello']);
    expectStatus(await open.del(at(['pets', 'dogs'], 'bello')), 204);
    assert.deepEqual(keysOf(await search(open, { query: 'wakes' })), []);
  });

  await t.test('bad searches are refused', async () => {
    const refused = async (body, pointer, rule) =>
      expectRule(await open.post('/v1/store/search', body), pointer, rule);
    await refused({ limit: 0 }, '/limit', 'must be at least 1');
    await refused({ limit: 201 }, '/limit', 'must be at most 200');
    await refused({ offset: 10001 }, '/offset', 'must be at most 10000');
    await refused({ namespace_prefix: ['a.b'] }, '/namespace_prefix/0',
      'must not contain "."');
    await refused({ filter: { x: { $like: 1 } } }, '/filter/x/$like',
      'must be one of $eq, $ne, $gt, $gte, $lt, $lte, $in and $nin');
    await refused({ filter: { x: { $gt: 1, y: 1 } } }, '/filter/x/y',
      'must be one of $eq, $ne, $gt, $gte, $lt, $lte, $in and $nin');
    await refused({ filter: { x: { $in: 1 } } }, '/filter/x/$in', 'must be an array');
    const members = Array.from({ length: 33 }, (_, i) => [`m${i}`, i]);
    await refused({ filter: Object.fromEntries(members) }, '/filter',
      'must have at most 32 members');
    await refused({ filter: [] }, '/filter', 'must be an object');
    await refused({ query: 'x'.repeat(65537) }, '/query', 'must have at most 65536 bytes');
    const { next_cursor: cursor } = await search(open, { limit: 1 });
    await refused({ cursor, offset: 1 }, '/offset', 'cannot be given together with cursor');
    const made = ['t1 2', 't-1 2 0', 't1 2 10001', 'none'];
    for (const bad of ['x', ...made.map((text) => Buffer.from(text).toString('base64url'))])
      expectFault(await open.post('/v1/store/search', { cursor: bad }), 400, 'invalid_cursor',
        '/cursor');
    expectFault(await open.post('/v1/store/search', { cursor, query: 'x' }), 400, 'invalid_cursor',
      '/cursor');
  });
});

test('vectors of the store', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const vectors = (...lists) => ({ vectors: lists.map((values) => ({ path: 'text', values })) });
  const namespace = ['v'];
  expectStatus(await put(open, namespace, 'east', { n: 1 }, vectors([1, 0])), 201);
  expectStatus(await put(open, namespace, 'north', { n: 2 }, vectors([0, 5e-1])), 201);
  expectStatus(await put(open, namespace, 'both', { n: 3 }, vectors([-1, 0], [3, 4])), 201);
  expectStatus(await put(open, namespace, 'none', { n: 4 }), 201);
  expectStatus(await put(open, ['other'], 'x', { n: 1 }, vectors([1, 0, 0])), 201);
  const found = async (vector, more = {}) =>
    (await search(open, { namespace_prefix: ['v'], vector, ...more })).data
      .map((item) => [item.key, item.score]);

  await t.test('the most like come first, by the best vector of each', async () => {
    assert.deepEqual(await found([2, 0]), [['east', 1], ['both', 0.6], ['north', 0]]);
    assert.deepEqual(await found([0, 1]), [['north', 1], ['both', 0.8], ['east', 0]]);
    assert.deepEqual(await found([-1, 0]), [['both', 1], ['north', 0], ['east', -1]]);
    assert.deepEqual(await found([2, 0], { filter: { n: { $gt: 1 } } }),
      [['both', 0.6], ['north', 0]]);
    assert.deepEqual(await found([2, 0], { limit: 1, offset: 1 }), [['both', 0.6]]);
    const page = await search(open, { namespace_prefix: ['v'], vector: [2, 0], limit: 2 });
    const next = await search(open, { namespace_prefix: ['v'], vector: [2, 0], limit: 2,
      cursor: page.next_cursor });
    assert.deepEqual([keysOf(page), keysOf(next)], [['east', 'both'], ['north']]);
    assert.deepEqual(await found([0, 0]), [['both', 0], ['north', 0], ['east', 0]]);
    assert.deepEqual((await search(open, { namespace_prefix: ['w'], vector: [1] })).data, []);
  });

  await t.test('another put takes them away, or has its own', async () => {
    expectStatus(await put(open, namespace, 'east', { n: 1 }), 200);
    assert.deepEqual((await found([1, 0])).map(([key]) => key), ['both', 'north']);
    const batch = async (operation) => {
      const answer = await open.post('/v1/store/batch', { operations: [operation] });
      return expectStatus(answer, 200).results[0];
    };
    await batch({ op: 'put', namespace, key: 'east', value: {}, ...vectors([0, -1]) });
    const { data: [nearest] } = await batch(
      { op: 'search', namespace_prefix: namespace, vector: [0, -1], limit: 1 });
    assert.deepEqual([nearest.key, nearest.score], ['east', 1]);
    expectStatus(await open.del(at(namespace, 'both')), 204);
    assert.deepEqual((await found([1, 0])).map(([key]) => key), ['east', 'north']);
  });

  await t.test('bad vectors are refused, and told where', async () => {
    const refused = async (values, pointer, rule) =>
      expectRule(await put(open, namespace, 'bad', {}, vectors([1], values)), pointer, rule);
    await refused([], '/vectors/1/values', 'must have 1 to 4096 numbers');
    await refused(Array(4097).fill(0), '/vectors/1/values', 'must have 1 to 4096 numbers');
    await refused([1, 'x'], '/vectors/1/values/1', 'must be a 32-bit floating-point number');
    await refused([1e39], '/vectors/1/values/0', 'must be a 32-bit floating-point number');
    expectRule(await put(open, namespace, 'bad', {}, vectors(...Array(17).fill([1]))), '/vectors',
      'must have at most 16 items');
    expectProblem(await get(open, namespace, 'bad'), 404, 'not_found');
    const asked = async (body, pointer, rule) =>
      expectRule(await open.post('/v1/store/search', body), pointer, rule);
    await asked({ vector: [1], query: 'x' }, '/vector', 'cannot be given together with query');
    await asked({ vector: [null] }, '/vector/0', 'must be a 32-bit floating-point number');
    await asked({ namespace_prefix: ['v'], vector: [1, 2, 3] }, '/vector',
      'must have 2 numbers like the vectors under this prefix');
    expectStatus(await put(open, ['wide'], 'k', {}, vectors(Array(4096).fill(0.123456789))), 201);
    const { data } = await search(open, { namespace_prefix: ['wide'],
      vector: Array(4096).fill(7) });
    assert.equal(data[0].score, 1);
  });
});

test('namespaces of the store', async (t) => {
  const { open } = await startServer(t);
  for (const namespace of [['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'd'], ['a', 'x', 'c'],
    ['b', 'x', 'c', 'v1'], ['a-b'], ['ab', 'v1'], ['*', 'star']])
    for (const key of ['one', 'two']) expectStatus(await put(open, namespace, key, {}), 201);
  const listed = async (body) => (await names(open, body)).data.map((l) => l.join('/'));

  await t.test('each is told once, sorted', async () => {
    assert.deepEqual(await listed({}), ['*/star', 'a-b', 'a', 'a/b', 'a/b/c', 'a/b/d', 'a/x/c',
      'ab/v1', 'b/x/c/v1']);
    assert.deepEqual(await listed({ prefix: ['a'] }), ['a', 'a/b', 'a/b/c', 'a/b/d', 'a/x/c']);
    assert.deepEqual(await listed({ prefix: ['a', '*', 'c'] }), ['a/b/c', 'a/x/c']);
    assert.deepEqual(await listed({ prefix: ['*', 'x'] }), ['a/x/c', 'b/x/c/v1']);
    assert.deepEqual(await listed({ suffix: ['c'] }), ['a/b/c', 'a/x/c']);
    assert.deepEqual(await listed({ suffix: ['x', '*'] }), ['a/x/c']);
    assert.deepEqual(await listed({ prefix: ['a'], suffix: ['b', '*'] }), ['a/b/c', 'a/b/d']);
    assert.deepEqual(await listed({ prefix: ['none'] }), []);
  });

  await t.test('cut to a depth they are told once too', async () => {
    assert.deepEqual(await listed({ max_depth: 1 }), ['*', 'a-b', 'a', 'ab', 'b']);
    assert.deepEqual(await listed({ prefix: ['a'], max_depth: 2 }), ['a', 'a/b', 'a/x']);
    assert.deepEqual(await listed({ suffix: ['c'], max_depth: 2 }), ['a/b', 'a/x']);
  });

  await t.test('page by page, by offset or by cursor', async () => {
    for (const body of [{}, { max_depth: 1 }, { max_depth: 2 }, { suffix: ['c'] }]) {
      const whole = await listed(body), paged = [];
      for (let cursor = null, more = true; more;) {
        const page = await names(open, { ...body, limit: 2, ...(cursor ? { cursor } : {}) });
        paged.push(...page.data.map((l) => l.join('/')));
        cursor = page.next_cursor;
        more = page.has_more;
        assert.equal(cursor === null, !more);
      }
      assert.deepEqual(paged, whole);
      assert.deepEqual(await listed({ ...body, offset: 1, limit: 2 }), whole.slice(1, 3));
    }
  });

  await t.test('one whose items are gone is gone', async () => {
    for (const key of ['one', 'two']) expectStatus(await open.del(at(['a-b'], key)), 204);
    assert.deepEqual(await listed({ max_depth: 1 }), ['*', 'a', 'ab', 'b']);
  });

  await t.test('bad requests are refused', async () => {
    const refused = async (body, pointer, rule) =>
      expectRule(await open.post('/v1/store/namespaces', body), pointer, rule);
    await refused({ max_depth: 0 }, '/max_depth', 'must be at least 1');
    await refused({ limit: 1001 }, '/limit', 'must be at most 1000');
    await refused({ prefix: ['a', 'b.'] }, '/prefix/1', 'must not contain "."');
    await refused({ suffix: [''] }, '/suffix/0', 'must be a label of 1 to 128 bytes');
    expectFault(await open.post('/v1/store/namespaces', { cursor: 'bm8' }), 400, 'invalid_cursor',
      '/cursor');
  });
});

test('batches of the store', async (t) => {
  const { open } = await startServer(t);
  const batch = (operations, options = {}) =>
    open.post('/v1/store/batch', { operations }, options);
  const results = async (...operations) => expectStatus(await batch(operations), 200).results;

  await t.test('operations are carried out in their order, each with its result', async () => {
    const namespace = ['batch'];
    const [none, made, again, got] = await results(
      { op: 'get', namespace, key: 'a' },
      { op: 'put', namespace, key: 'a', value: { n: 1 } },
      { op: 'put', namespace, key: 'b', value: { n: 2 }, ttl_s: 60 },
      { op: 'get', namespace, key: 'a' },
    );
    const [page, listed] = await results(
      { op: 'search', namespace_prefix: namespace, filter: { n: { $gte: 1 } }, limit: 5 },
      { op: 'namespaces', prefix: ['*'] },
    );
    const [gone, nothing, absent] = await results(
      { op: 'delete', namespace, key: 'a' },
      { op: 'get', namespace, key: 'a' },
      { op: 'delete', namespace, key: 'a' },
    );
    assert.equal(none, null);
    assert.deepEqual([made.version, made.value, again.expires_at === null], [1, { n: 1 }, false]);
    assert.deepEqual(got, made);
    assert.deepEqual([keysOf(page), page.has_more, page.next_cursor], [['b', 'a'], false, null]);
    assert.deepEqual(listed.data, [['batch']]);
    assert.deepEqual([gone, nothing, absent], [null, null, null]);
    expectStatus(await get(open, namespace, 'b'), 200);
  });

  await t.test('one that is bad refuses all, and is named', async () => {
    const good = { op: 'put', namespace: ['none'], key: 'k', value: {} };
    const refused = async (bad, pointer, rule) =>
      expectRule(await batch([good, good, bad]), `/operations/2${pointer}`, rule);
    await refused({ op: 'put', namespace: ['x'], value: {} }, '/key', 'must be given');
    await refused({ op: 'put', namespace: ['x'], key: '', value: {} }, '/key',
      'must have at least 1 bytes');
    await refused({ op: 'put', namespace: ['x.y'], key: 'k', value: {} }, '/namespace/0',
      'must not contain "."');
    await refused({ op: 'get', namespace: ['x'], key: 'k', value: {} }, '/value',
      'is not a member of a get');
    for (const op of ['search', 'namespaces'])
      await refused({ op }, '/op', 'must not search in a batch that changes items: ' +
        'send searches in a batch of their own');
    await refused({ op: 'search', key: 'k' }, '/key', 'is not a member of a search');
    await refused({ op: 'search', limit: 201 }, '/limit', 'must be at most 200');
    const got = { op: 'get', namespace: ['x'], key: 'k' };
    const refusedRead = async (bad, pointer, rule) =>
      expectRule(await batch([got, bad]), `/operations/1${pointer}`, rule);
    await refusedRead({ op: 'search', filter: { x: { $x: 1 } } }, '/filter/x/$x',
      'must be one of $eq, $ne, $gt, $gte, $lt, $lte, $in and $nin');
    await refusedRead({ op: 'namespaces', suffix: ['a.b'] }, '/suffix/0',
      'must not contain "."');
    await refused({ op: 'move' }, '/op',
      'must be one of "get", "put", "delete", "search", "namespaces"');
    await refused({}, '/op', 'must be given');
    await refused(7, '', 'must be an object, not number');
    expectFault(await batch([got, { op: 'search', cursor: 'x' }]), 400, 'invalid_cursor',
      '/operations/1/cursor');
    expectRule(await batch([]), '/operations', 'must have at least 1 items');
    expectRule(await batch(Array(101).fill(good)), '/operations', 'must have at most 100 items');
    expectProblem(await get(open, ['none'], 'k'), 404, 'not_found');
  });

  await t.test('a batch is repeated by its Idempotency-Key without doing it twice', async () => {
    const operations = [{ op: 'put', namespace: ['once'], key: 'k', value: {} }];
    const options = { headers: { 'Idempotency-Key': uuid() } };
    const first = expectStatus(await batch(operations, options), 200);
    const second = await batch(operations, options);
    assert.equal(second.headers.get('Idempotency-Replayed'), 'true');
    assert.deepEqual(expectStatus(second, 200), first);
    assert.equal((await get(open, ['once'], 'k')).body.version, 1);
  });

  await t.test('a batch that only reads does not use the writer', async () => {
    const writes = async () => {
      const { text } = await open.get('/metrics');
      return Number(/^cairn_store_writes_total (\d+)$/m.exec(text)[1]);
    };
    const operations = [{ op: 'get', namespace: ['once'], key: 'k' },
      { op: 'search', namespace_prefix: ['once'] }, { op: 'namespaces' }];
    const before = await writes();
    const options = { headers: { 'Idempotency-Key': uuid() } };
    for (let i = 0; i < 50; i++) {
      const answer = await batch(operations, options);
      assert.equal(expectStatus(answer, 200).results[0].key, 'k');
      assert.equal(answer.headers.get('Idempotency-Replayed'), null);
    }
    assert.ok(await writes() - before < 50, 'each read was a job of the writer');
  });

  await t.test('a hundred puts of one batch are newest first in their order', async () => {
    const operations = Array.from({ length: 100 }, (_, i) =>
      ({ op: 'put', namespace: ['many'], key: `k${i}`, value: { i } }));
    assert.equal((await results(...operations)).length, 100);
    const page = await search(open, { namespace_prefix: ['many'], limit: 200 });
    assert.deepEqual(page.data.map((item) => item.value.i),
      Array.from({ length: 100 }, (_, i) => 99 - i));
  });
});

test('a tenant sees nothing of the store of another', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  expectStatus(await put(alice, ['shared'], 'k', { text: 'alice keeps a secret' }), 201);
  expectProblem(await get(bob, ['shared'], 'k'), 404, 'not_found');
  expectProblem(await bob.del(at(['shared'], 'k')), 404, 'not_found');
  for (const body of [{}, { namespace_prefix: ['shared'] }, { query: 'secret' },
    { filter: { text: 'alice keeps a secret' } }])
    assert.deepEqual((await search(bob, body)).data, []);
  assert.deepEqual((await names(bob, {})).data, []);
  expectStatus(await put(bob, ['shared'], 'k', { text: 'bob has a secret' }), 201);
  assert.equal((await get(alice, ['shared'], 'k')).body.value.text, 'alice keeps a secret');
  assert.equal((await search(alice, { query: 'secret' })).data.length, 1);
});

test('batches that change the same items in opposite orders get on', async (t) => {
  const server = await startServer(t);
  const nodes = [server.open, ENGINE === 'postgres' ? (await server.join()).open : server.open];
  const puts = (from) => Array.from({ length: 20 }, (_, i) =>
    ({ op: 'put', namespace: ['both'], key: `k${i}`, value: { from } }));
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => nodes[i % 2].post(
    '/v1/store/batch', { operations: i % 4 < 2 ? puts(i) : puts(i).reverse() })));
  for (const answer of answers)
    expectStatus(answer, 200);
  const { data } = await search(nodes[1], { namespace_prefix: ['both'], limit: 50 });
  assert.deepEqual(new Set(data.map((item) => item.version)), new Set([8]));
  assert.equal(new Set(data.map((item) => item.value.from)).size, 1);
});
