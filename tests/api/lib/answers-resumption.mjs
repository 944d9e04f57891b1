// SPDX-License-Identifier: Apache-2.0
// An answer of every operation about what a thread is resumed from, for openapi.test.mjs.
import { expectStatus } from './server.mjs';

const NEW = { headers: { 'If-None-Match': '*' } };
const ANY = { headers: { 'If-Match': '*' } };
const said = [{ role: 'user', content: 'hello' }];

async function answersOfTools(check, c, thread) {
  const agent = expectStatus(await c.post('/v1/agents', { name: 'with tools' }), 201).id;
  const run = expectStatus(await c.post(`/v1/threads/${thread}/runs`,
    { dispatch: 'direct', agent_id: agent }), 201).id;
  const tools = (id) => ({ tools: [{ tool_use_id: id, name: 'x', side: 'backend' }] });
  const results = (id) => ({ results: [{ tool_use_id: id, content: {} }] });
  const of = '/v1/runs/{run_id}';
  check(`${of}/tools`, 'post', await c.post(`/v1/runs/${run}/tools`, tools('a')), 200);
  check(`${of}/tool-results`, 'post',
    await c.post(`/v1/runs/${run}/tool-results`, results('a')), 200);
  check(`${of}/tools`, 'get', await c.get(`/v1/runs/${run}/tools`), 200);
  const under = '/v1/agents/{agent_id}/runs/{run_id}';
  check(`${under}/tools`, 'post',
    await c.post(`/v1/agents/${agent}/runs/${run}/tools`, tools('b')), 200);
  check(`${under}/tools`, 'get', await c.get(`/v1/agents/${agent}/runs/${run}/tools`), 200);
  check(`${under}/tool-results`, 'post',
    await c.post(`/v1/agents/${agent}/runs/${run}/tool-results`, results('b')), 200);
}

export async function answersOfResumption(check, c) {
  const thread = expectStatus(await c.post('/v1/threads', {}), 201).id;
  const of = '/v1/threads/{thread_id}/resumption';
  const body = { system_prompt: 'You help.', model: 'm', messages: said };
  check(of, 'put', await c.put(`/v1/threads/${thread}/resumption`, body, NEW), 201);
  check(of, 'put', await c.put(`/v1/threads/${thread}/resumption`, body, ANY), 200);
  check(of, 'patch', await c.patch(`/v1/threads/${thread}/resumption`, { extras: {} }, ANY), 200);
  check(`${of}/messages`, 'post',
    await c.post(`/v1/threads/${thread}/resumption/messages`, { append: said }), 200);
  check(of, 'get', await c.get(`/v1/threads/${thread}/resumption`), 200);
  const run = expectStatus(await c.post(`/v1/threads/${thread}/runs`, {}), 201);
  expectStatus(await c.post(`/v1/runs/${run.id}/cancel`, {}), 200);
  const history = '/v1/threads/{thread_id}/history';
  const [number, one] = [1, `${history}/{sequence}`];
  check(history, 'get', await c.get(`/v1/threads/${thread}/history?include=messages`), 200);
  check(one, 'get', await c.get(`/v1/threads/${thread}/history/${number}`), 200);
  check(one, 'patch',
    await c.patch(`/v1/threads/${thread}/history/${number}`, { messages: said }), 200);
  await answersOfTools(check, c, thread);
  check('/v1/threads/{thread_id}/context', 'get', await c.get(`/v1/threads/${thread}/context`),
    200);
}
