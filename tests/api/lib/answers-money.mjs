// SPDX-License-Identifier: Apache-2.0
// An answer of each route of prices, usage, evals and notebooks, for the OpenAPI test.

/** `check` holds an answer against what the document says of it; `c` is a client of the tenant. */
export async function answersOfMoney(check, c) {
  const model = 'claude-sonnet-4-5';
  const rates = { input: 3, output: 15, long_context: { above_tokens: 10, input: 6, output: 30 } };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const prices = '/v1/prices/{model}';
  check(prices, 'put', await c.put('/v1/prices/plain', { input: 1, output: 2 }), 201);
  check(prices, 'put', await c.put(`/v1/prices/${model}`, rates), 201);
  check(prices, 'get', await c.get(`/v1/prices/${model}`), 200);
  check('/v1/prices', 'get', await c.get('/v1/prices'), 200);
  check(`${prices}/versions`, 'get', await c.get(`/v1/prices/${model}/versions`), 200);
  check('/v1/costs', 'post', await c.post('/v1/costs', { model, usage }), 200);
  const agent = (await c.post('/v1/agents', { name: 'frugal' })).body;
  const thread = (await c.post('/v1/threads', {})).body;
  const run = (await c.post(`/v1/threads/${thread.id}/runs`, { agent_id: agent.id })).body;
  const plain = '/v1/runs/{run_id}/usage';
  const ofAgent = '/v1/agents/{agent_id}/runs/{run_id}/usage';
  check(plain, 'post', await c.post(`/v1/runs/${run.id}/usage`, { ...usage, model }), 201);
  check(plain, 'get', await c.get(`/v1/runs/${run.id}/usage`), 200);
  const told = await c.post(`/v1/agents/${agent.id}/runs/${run.id}/usage`, usage);
  check(ofAgent, 'post', told, 201);
  check(ofAgent, 'get', await c.get(`/v1/agents/${agent.id}/runs/${run.id}/usage`), 200);
  const groups = '/v1/usage?group_by=day,model,provider,agent';
  check('/v1/usage', 'get', await c.get(groups), 200);
  check('/v1/usage/averages', 'get', await c.get('/v1/usage/averages'), 200);
  check(prices, 'delete', await c.del(`/v1/prices/${model}`), 204);

  const evals = '/v1/evals/{eval_id}';
  const body = { name: 'e', eval_type: 'accuracy', score: 0.5 };
  const made = check('/v1/evals', 'post', await c.post('/v1/evals', body), 201);
  check('/v1/evals', 'get', await c.get('/v1/evals'), 200);
  check(evals, 'get', await c.get(`/v1/evals/${made.id}`), 200);
  check(evals, 'patch', await c.patch(`/v1/evals/${made.id}`, { passed: true }), 200);
  check(evals, 'delete', await c.del(`/v1/evals/${made.id}`), 204);

  const notebooks = '/v1/notebooks/{notebook_id}';
  const { id } = check('/v1/notebooks', 'post', await c.post('/v1/notebooks', { title: 'n' }), 201);
  check('/v1/notebooks', 'get', await c.get('/v1/notebooks'), 200);
  check(notebooks, 'get', await c.get(`/v1/notebooks/${id}`), 200);
  check(notebooks, 'patch', await c.patch(`/v1/notebooks/${id}`, { title: 'm' }), 200);
  const link = { thread_id: thread.id };
  check(`${notebooks}/sessions`, 'post', await c.post(`/v1/notebooks/${id}/sessions`, link), 201);
  check(`${notebooks}/sessions`, 'get', await c.get(`/v1/notebooks/${id}/sessions`), 200);
  const at = '/v1/threads/{thread_id}/notebook';
  check(at, 'get', await c.get(`/v1/threads/${thread.id}/notebook`), 200);
  const gone = await c.del(`/v1/notebooks/${id}/sessions/${thread.id}`);
  check(`${notebooks}/sessions/{thread_id}`, 'delete', gone, 204);
  check(notebooks, 'delete', await c.del(`/v1/notebooks/${id}`), 204);
  expectGone(await c.del(`/v1/threads/${thread.id}`));
}

function expectGone(answer) {
  if (answer.status !== 204) throw new Error(`the thread is still there: ${answer.text}`);
}
