// SPDX-License-Identifier: Apache-2.0
// An answer of every operation about steps, for openapi.test.mjs.
export async function answersOfSteps(check, c) {
  const thread = (await c.post('/v1/threads', {})).body.id;
  const run = (await c.post(`/v1/threads/${thread}/runs`, { dispatch: 'direct' })).body.id;
  const of = '/v1/runs/{run_id}';
  const messages = [{ role: 'user', content: 'hello' }];
  const steps = [
    { action_type: 'api_call_started', messages_snapshot: messages, estimated_tokens: 5 },
    { action_type: 'api_response_received', model: 'm', usage: { input_tokens: 1 } },
    { action_type: 'tool_execution', action_data: { tool_name: 't', input: 1, result: [] } },
  ];
  check(`${of}/steps`, 'post', await c.post(`/v1/runs/${run}/steps`, steps[0]), 201);
  check(`${of}/steps`, 'post', await c.post(`/v1/runs/${run}/steps`, { steps }), 201);
  check(`${of}/steps`, 'get', await c.get(`/v1/runs/${run}/steps?include=messages`), 200);
  const number = 1;
  check(`${of}/steps/{number}`, 'get', await c.get(`/v1/runs/${run}/steps/${number}`), 200);
  check(`${of}/llm-calls`, 'get', await c.get(`/v1/runs/${run}/llm-calls?include=messages`), 200);
  check(`${of}/tool-calls`, 'get', await c.get(`/v1/runs/${run}/tool-calls`), 200);
  check('/v1/steps', 'get', await c.get('/v1/steps?limit=2'), 200);
  check('/v1/steps/summary', 'get', await c.get(`/v1/steps/summary?run_id=${run}`), 200);
}
