// SPDX-License-Identifier: Apache-2.0
// An answer of each route of the store, for the OpenAPI test.

/** `check` holds an answer against what the document says of it; `c` is a client of the tenant. */
export async function answersOfStore(check, c) {
  const item = { namespace: ['users', '42'], key: 'food', value: { text: 'likes pizza' } };
  const items = '/v1/store/items';
  check(items, 'put', await c.put('/v1/store/items', { ...item, ttl_s: 60 }), 201);
  check(items, 'put', await c.put('/v1/store/items', item), 200);
  check(items, 'get', await c.get('/v1/store/items?namespace=users.42&key=food'), 200);
  check('/v1/store/search', 'post', await c.post('/v1/store/search', { query: 'pizza' }), 200);
  check('/v1/store/namespaces', 'post', await c.post('/v1/store/namespaces', {}), 200);
  for (const operations of [[{ op: 'put', ...item }], [{ op: 'search' }, { op: 'namespaces' }]])
    check('/v1/store/batch', 'post', await c.post('/v1/store/batch', { operations }), 200);
  check(items, 'delete', await c.del('/v1/store/items?namespace=users.42&key=food'), 204);
}
