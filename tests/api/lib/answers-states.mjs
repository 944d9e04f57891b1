// SPDX-License-Identifier: Apache-2.0
// An answer of every operation about agents and what belongs to them, for openapi.test.mjs.
import { expectStatus } from './server.mjs';
const NEW = { headers: { 'If-None-Match': '*' } };
const ANY = { headers: { 'If-Match': '*' } };

async function answersOfAgentStates(check, c, agent) {
  const of = '/v1/agents/{agent_id}/states';
  const [data, name] = [{ data: { x: 1 } }, 'notes'];
  const one = `${of}/{name}`;
  check(one, 'put', await c.put(`/v1/agents/${agent}/states/${name}`, data, NEW), 201);
  check(one, 'put', await c.put(`/v1/agents/${agent}/states/${name}`, data, ANY), 200);
  check(one, 'patch', await c.patch(`/v1/agents/${agent}/states/${name}`, data, ANY), 200);
  check(one, 'get', await c.get(`/v1/agents/${agent}/states/${name}`), 200);
  check(of, 'get', await c.get(`/v1/agents/${agent}/states`), 200);
  check(`${one}/versions`, 'get', await c.get(`/v1/agents/${agent}/states/${name}/versions`), 200);
  const version = 1;
  check(`${one}/versions/{version}`, 'get',
    await c.get(`/v1/agents/${agent}/states/${name}/versions/${version}`), 200);
  check(`${one}/focus`, 'post', await c.post(`/v1/agents/${agent}/states/${name}/focus`), 204);
  check(one, 'delete', await c.del(`/v1/agents/${agent}/states/${name}`, ANY), 204);
}

async function answersOfThreadStates(check, c, thread) {
  const of = '/v1/threads/{thread_id}/states';
  const [data, name] = [{ data: { x: 1 } }, 'notes'];
  const one = `${of}/{name}`;
  check(one, 'put', await c.put(`/v1/threads/${thread}/states/${name}`, data, NEW), 201);
  check(one, 'patch', await c.patch(`/v1/threads/${thread}/states/${name}`, data, ANY), 200);
  check(one, 'get', await c.get(`/v1/threads/${thread}/states/${name}`), 200);
  check(of, 'get', await c.get(`/v1/threads/${thread}/states?include=documents`), 200);
  check(`${one}/versions`, 'get',
    await c.get(`/v1/threads/${thread}/states/${name}/versions`), 200);
  const version = 1;
  check(`${one}/versions/{version}`, 'get',
    await c.get(`/v1/threads/${thread}/states/${name}/versions/${version}`), 200);
  check(`${one}/focus`, 'post', await c.post(`/v1/threads/${thread}/states/${name}/focus`), 204);
  check(one, 'delete', await c.del(`/v1/threads/${thread}/states/${name}`, ANY), 204);
}

async function answersOfBoth(check, c, thread, agent) {
  const of = '/v1/threads/{thread_id}/agents/{agent_id}/states';
  const [data, name, version] = [{ data: { x: 1 } }, 'notes', 1];
  const one = `${of}/{name}`;
  check(one, 'put',
    await c.put(`/v1/threads/${thread}/agents/${agent}/states/${name}`, data, NEW), 201);
  check(one, 'patch',
    await c.patch(`/v1/threads/${thread}/agents/${agent}/states/${name}`, data, ANY), 200);
  check(one, 'get', await c.get(`/v1/threads/${thread}/agents/${agent}/states/${name}`), 200);
  check(of, 'get', await c.get(`/v1/threads/${thread}/agents/${agent}/states`), 200);
  check(`${one}/versions`, 'get',
    await c.get(`/v1/threads/${thread}/agents/${agent}/states/${name}/versions`), 200);
  check(`${one}/versions/{version}`, 'get',
    await c.get(`/v1/threads/${thread}/agents/${agent}/states/${name}/versions/${version}`), 200);
  check(`${one}/focus`, 'post',
    await c.post(`/v1/threads/${thread}/agents/${agent}/states/${name}/focus`), 204);
  check(one, 'delete',
    await c.del(`/v1/threads/${thread}/agents/${agent}/states/${name}`, ANY), 204);
}

async function answersOfConfig(check, c, agent) {
  const of = '/v1/agents/{agent_id}/config';
  const [data, version] = [{ data: { x: 1 } }, 1];
  check(of, 'put', await c.put(`/v1/agents/${agent}/config`, data, NEW), 201);
  check(of, 'patch', await c.patch(`/v1/agents/${agent}/config`, data, ANY), 200);
  check(of, 'get', await c.get(`/v1/agents/${agent}/config`), 200);
  check(`${of}/versions`, 'get', await c.get(`/v1/agents/${agent}/config/versions`), 200);
  check(`${of}/versions/{version}`, 'get',
    await c.get(`/v1/agents/${agent}/config/versions/${version}`), 200);
}

async function answersOfStorage(check, c, agent) {
  const of = '/v1/agents/{agent_id}/storage';
  const key = 'plan';
  const one = `${of}/{key}`;
  check(one, 'put', await c.put(`/v1/agents/${agent}/storage/${key}`, { x: 1 }), 201);
  check(one, 'put', await c.put(`/v1/agents/${agent}/storage/${key}`, { x: 1 }), 200);
  check(one, 'get', await c.get(`/v1/agents/${agent}/storage/${key}`), 200);
  check(of, 'get', await c.get(`/v1/agents/${agent}/storage?include=values`), 200);
  check(one, 'delete', await c.del(`/v1/agents/${agent}/storage/${key}`), 204);
}

async function answersOfVersions(check, c, agent) {
  const of = '/v1/agents/{agent_id}/versions';
  const path = `/v1/agents/${agent}/versions`;
  check(of, 'post', await c.post(path, { bump: 'minor', description: 'more' }), 201);
  check(of, 'get', await c.get(path), 200);
  check(`${of}/{semver}`, 'get', await c.get(`${path}/1.1.0`), 200);
  check(`${of}/{semver}`, 'patch', await c.patch(`${path}/1.1.0`, { tools: ['search'] }), 200);
  check(`${of}/{semver}/activate`, 'post', await c.post(`${path}/1.1.0/activate`), 200);
  check(`${of}/{semver}/diff/{other}`, 'get', await c.get(`${path}/1.0.0/diff/1.1.0`), 200);
  const back = await c.post(`/v1/agents/${agent}/rollback`);
  check('/v1/agents/{agent_id}/rollback', 'post', back, 200);
}

async function answersOfLinks(check, c, agent) {
  const of = '/v1/agents/{agent_id}/links';
  const team = expectStatus(await c.post('/v1/agents', { name: 'team', kind: 'team' }), 201);
  const path = `/v1/agents/${team.id}/links`;
  check(`${of}/{child_id}`, 'put', await c.put(`${path}/${agent}`, { role: 'r' }), 201);
  check(`${of}/{child_id}`, 'put', await c.put(`${path}/${agent}`, { position: 3 }), 200);
  check(`${of}/{child_id}`, 'get', await c.get(`${path}/${agent}`), 200);
  check(of, 'get', await c.get(path), 200);
  check('/v1/agents/{agent_id}/tree', 'get', await c.get(`/v1/agents/${team.id}/tree`), 200);
  check(`${of}/{child_id}`, 'delete', await c.del(`${path}/${agent}`), 204);
}

export async function answersOfAgents(check, c) {
  const agent = check('/v1/agents', 'post', await c.post('/v1/agents', { name: 'a' }), 201);
  const thread = check('/v1/threads', 'post', await c.post('/v1/threads', {}), 201);
  check('/v1/agents', 'get', await c.get('/v1/agents'), 200);
  check('/v1/agents/{agent_id}', 'get', await c.get(`/v1/agents/${agent.id}`), 200);
  check('/v1/agents/{agent_id}', 'get',
    await c.get(`/v1/agents/${agent.id}?include=definition`), 200);
  check('/v1/agents/by-name/{name}', 'get', await c.get('/v1/agents/by-name/a'), 200);
  check('/v1/agents/{agent_id}', 'patch', await c.patch(`/v1/agents/${agent.id}`, { name: 'b' }),
    200);
  await answersOfAgentStates(check, c, agent.id);
  await answersOfThreadStates(check, c, thread.id);
  await answersOfBoth(check, c, thread.id, agent.id);
  await answersOfConfig(check, c, agent.id);
  await answersOfStorage(check, c, agent.id);
  await answersOfVersions(check, c, agent.id);
  await answersOfLinks(check, c, agent.id);
  check('/v1/agents/{agent_id}', 'delete', await c.del(`/v1/agents/${agent.id}`), 204);
}
