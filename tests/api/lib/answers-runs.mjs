// SPDX-License-Identifier: Apache-2.0
// Answers of the routes of runs under their agents, for openapi.test.mjs.

export async function answersOfAgentRuns(check, c) {
  const agent = (await c.post('/v1/agents', { name: 'of runs' })).body;
  const thread = (await c.post('/v1/threads', {})).body;
  const body = { agent_id: agent.id, dispatch: 'direct', request: { message: 'hi' } };
  const run = (await c.post(`/v1/threads/${thread.id}/runs`, body)).body;
  const under = `/v1/agents/${agent.id}/runs`;
  const config = { model_override: 'm', stream: true };
  const asked = { input: { message: 'hi' }, dispatch: 'direct', config };
  check('/v1/agents/{agent_id}/runs', 'post', await c.post(under, asked), 201);
  check('/v1/agents/{agent_id}/runs', 'get', await c.get(under), 200);
  check('/v1/agents/{agent_id}/runs/{run_id}', 'get', await c.get(`${under}/${run.id}`), 200);

  for (const [template, path] of [
    ['/v1/runs/{run_id}', `/v1/runs/${run.id}`],
    ['/v1/agents/{agent_id}/runs/{run_id}', `${under}/${run.id}`],
  ]) {
    const child = { parent_run_id: run.id, dispatch: 'direct' };
    await c.post(`/v1/threads/${thread.id}/runs`, child);
    check(template, 'get', await c.get(`${path}?include=member_responses`), 200);
    check(`${template}/tree`, 'get', await c.get(`${path}/tree`), 200);
    const to = template.startsWith('/v1/runs') ? 'initializing' : 'planning';
    check(`${template}/phase`, 'post', await c.post(`${path}/phase`, { to }), 200);
    check(`${template}/attempts`, 'get', await c.get(`${path}/attempts`), 200);
    check(`${template}/phases`, 'get', await c.get(`${path}/phases`), 200);
    const input = { message: 'hello' };
    const turn = check(`${template}/turns`, 'post', await c.post(`${path}/turns`, { input }), 201);
    const one = `${path}/turns/${turn.turn_id}`;
    check(`${template}/turns`, 'get', await c.get(`${path}/turns`), 200);
    check(`${template}/turns/{turn_id}`, 'get', await c.get(one), 200);
    const done = { status: 'complete', output: { message: 'hi' } };
    check(`${template}/turns/{turn_id}`, 'patch', await c.patch(one, done), 200);
  }
}
