// SPDX-License-Identifier: Apache-2.0
// An answer of every operation about archives, for openapi.test.mjs.
import { expectStatus, uuid } from './server.mjs';

export async function answersOfArchives(check, c) {
  const agent = expectStatus(await c.post('/v1/agents', { name: `agent ${uuid()}` }), 201).id;
  const thread = expectStatus(await c.post('/v1/threads', {}), 201).id;
  check('/v1/export', 'get', await c.get('/v1/export'), 200);
  check('/v1/agents/{agent_id}/export', 'get', await c.get(`/v1/agents/${agent}/export`), 200);
  const archive = await c.get(`/v1/threads/${thread}/export`);
  check('/v1/threads/{thread_id}/export', 'get', archive, 200);
  const raw = { raw: archive.bytes, type: 'application/x-tar' };
  check('/v1/imports', 'post', await c.post('/v1/imports?ids=remap', undefined, raw), 201);
}
