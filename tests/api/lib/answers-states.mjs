// An answer of every operation about agents and what belongs to them, for openapi.test.mjs.
export async function answersOfAgents(check, c) {
  const agent = check('/v1/agents', 'post', await c.post('/v1/agents', { name: 'a' }), 201);
  check('/v1/agents', 'get', await c.get('/v1/agents'), 200);
  check('/v1/agents/{agent_id}', 'get', await c.get(`/v1/agents/${agent.id}`), 200);
  check('/v1/agents/{agent_id}', 'patch', await c.patch(`/v1/agents/${agent.id}`, { name: 'b' }),
    200);
  check('/v1/agents/{agent_id}', 'delete', await c.del(`/v1/agents/${agent.id}`), 204);
}
