// Answers of the routes of runs under their agents, for openapi.test.mjs.

export async function answersOfAgentRuns(check, c) {
  const agent = (await c.post('/v1/agents', { name: 'of runs' })).body;
  const thread = (await c.post('/v1/threads', {})).body;
  const body = { agent_id: agent.id, dispatch: 'direct', request: { message: 'hi' } };
  const run = (await c.post(`/v1/threads/${thread.id}/runs`, body)).body;
  const under = `/v1/agents/${agent.id}/runs`;
  check('/v1/agents/{agent_id}/runs', 'get', await c.get(under), 200);
  check('/v1/agents/{agent_id}/runs/{run_id}', 'get', await c.get(`${under}/${run.id}`), 200);
}
