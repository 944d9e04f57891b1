// SPDX-License-Identifier: Apache-2.0
// An answer of every operation on messages, for openapi.test.mjs.

/** `check` compares an answer with what the document says of it, and returns its body. */
export async function answersOfMessages(check, client, thread) {
  const at = '/v1/threads/{thread_id}/messages';
  const path = `/v1/threads/${thread}/messages`;
  const body = { content: '/go', type: 'command', metadata: { debug: { a: 1 } } };
  const { id } = check(at, 'post', await client.post(path, body), 201);
  check(at, 'post', await client.post(path, { messages: [{ content: 'x' }] }), 201);
  check(at, 'get', await client.get(`${path}?include=debug`), 200);
  check(`${at}/search`, 'get', await client.get(`${path}/search?q=go`), 200);
  check('/v1/messages/search', 'get', await client.get('/v1/messages/search?q=go'), 200);
  const one = `${at}/{message_id}`;
  check(one, 'get', await client.get(`${path}/${id}`), 200);
  check(`${one}/debug`, 'get', await client.get(`${path}/${id}/debug`), 200);
  check(one, 'patch', await client.patch(`${path}/${id}`, { metadata: { b: 1 } }), 200);
  check(`${one}/versions`, 'get', await client.get(`${path}/${id}/versions`), 200);
  check(one, 'delete', await client.del(`${path}/${id}`), 204);
}
