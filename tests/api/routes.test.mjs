// SPDX-License-Identifier: Apache-2.0
// The route table itself, as described by /openapi.json: every route is tested, so a new route is
// covered from the start, and fails here until this file and another test use it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import test from 'node:test';
import {
  DEFAULT_TENANT,
  expectStatus,
  startServer,
  twoTenants,
  uuid,
  withKey,
} from './lib/server.mjs';

const TENANT_SCOPES = [
  'threads:read',
  'threads:write',
  'runs:read',
  'runs:write',
  'events:read',
  'events:write',
  'messages:read',
  'messages:write',
  'files:read',
  'files:write',
  'participants:read',
  'participants:write',
  'agents:read',
  'agents:write',
  'states:read',
  'states:write',
  'storage:read',
  'storage:write',
  'checkpoints:read',
  'checkpoints:write',
  'store:read',
  'store:write',
  'notebooks:read',
  'notebooks:write',
  'usage:read',
  'usage:write',
  'evals:read',
  'evals:write',
];

// --- The table -------------------------------------------------------------------------------

async function readTable(server) {
  const document = expectStatus(await server.open.get('/openapi.json'), 200);
  const routes = [];
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(item)) {
      const content = operation.requestBody?.content['application/json'];
      const name = content?.schema.$ref.split('/').at(-1);
      routes.push({
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        operation,
        isPublic: operation.security?.length === 0,
        scope: operation['x-cairn-scope'],
        isSocket: operation.responses[101] !== undefined,
        isStream: operation.responses[200]?.content?.['text/event-stream'] !== undefined,
        params: operation.parameters.filter((p) => p.in === 'path').map((p) => p.name),
        bodyName: name,
        body: name && document.components.schemas[name],
      });
    }
  assert.ok(routes.length > 40, 'the table is there');
  return routes;
}

// The token of the share that was furnished last.
let spareToken = 'cairn_share_x';

// A body that each route takes. A schema with required members needs an example here.
const EXAMPLES = {
  ToolsAwait: () => ({ tools: [{ tool_use_id: uuid(), name: 'x', side: 'backend' }] }),
  ToolResults: () => ({ results: [{ tool_use_id: 'x', content: '' }] }),
  TenantCreate: () => ({ name: `tenant ${uuid()}` }),
  KeyCreate: () => ({ name: 'example', scopes: ['runs:read'] }),
  StateBody: () => ({ data: {} }),
  AgentBody: () => ({ name: `agent ${uuid()}` }),
  AgentVersionCreate: () => ({ bump: 'patch' }),
  PriceBody: () => ({ input: 3, output: 15 }),
  UsageBody: () => ({ input_tokens: 1, output_tokens: 1 }),
  CostBody: () => ({ model: 'furniture', usage: { input_tokens: 1, output_tokens: 1 } }),
  StorePut: () => ({ namespace: ['example'], key: 'example', value: {} }),
  StoreBatch: () => (
    { operations: [{ op: 'put', namespace: ['example'], key: 'example', value: {} }] }),
  EvalBody: () => ({ name: 'example', eval_type: 'accuracy' }),
  NotebookBody: () => ({ title: 'example' }),
  RunClaim: () => ({ worker: 'example' }),
  RunInput: () => ({ input: 'yes' }),
  AgentRunCreate: () => ({ input: { message: 'hello' } }),
  RunPhaseBody: () => ({ to: 'initializing' }),
  TurnCreate: () => ({ input: { message: 'hello' } }),
  EventAppend: () => ({ kind: 'progress' }),
  EventPrune: () => ({ through_seq: 1 }),
  StepAppend: () => ({ action_type: 'run_started' }),
  MessageCreate: () => ({ content: 'hello' }),
  CheckpointPut: () => ({ channel_values: {} }),
  CheckpointWritesPut: () => ({ task_id: 'example', writes: [] }),
  CheckpointPrune: () => ({ keep_latest: 1 }),
  CheckpointDeltasBody: () => ({ channels: ['messages'] }),
  CheckpointCopy: (owned) => ({ to_thread_id: owned?.thread ?? uuid() }),
  Replay: (owned) => ({ checkpoint_id: owned?.checkpoint ?? uuid() }),
  ShareCreate: () => ({ kind: 'participate' }),
  ShareRedeem: () => ({ token: spareToken }),
  ParticipantJoin: () => ({ principal: `user:${uuid()}` }),
  FileRestore: () => ({ version: 1 }),
  FileCopy: (owned) => ({ thread_id: owned?.thread ?? uuid(), name: uuid() }),
  UploadCreate: () => ({ name: 'example', size_bytes: 1 }),
  WorkflowStart: () => ({ user_input: 'hello' }),
  WorkflowInput: () => ({ input: 'yes' }),
};

/** `owned`: the objects that `furnish` has created for the client. */
function exampleOf(route, owned = undefined) {
  if (route.body === undefined) return undefined;
  const body = EXAMPLES[route.bodyName]?.(owned) ?? {};
  for (const member of route.body.required)
    assert.ok(member in body, `give EXAMPLES a ${route.bodyName} with ${member}`);
  return body;
}

// --- Asking ----------------------------------------------------------------------------------

/** One request with any result: a response, or a stream or WebSocket, which is closed at once. */
function ask(client, route, path, { body = exampleOf(route), headers = {} } = {}) {
  const payload = body === undefined ? '' : JSON.stringify(body);
  return new Promise((done, fail) => {
    const request = http.request({
      host: '127.0.0.1',
      port: client.server.port,
      method: route.method,
      path,
      agent: false,
      headers: {
        ...(client.secret === null ? {} : { Authorization: `Bearer ${client.secret}` }),
        ...(payload === ''
          ? {}
          : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload) }),
        ...(route.isSocket
          ? {
              'Connection': 'Upgrade',
              'Upgrade': 'websocket',
              'Sec-WebSocket-Version': '13',
              'Sec-WebSocket-Key': 'AQIDBAUGBwgJCgsMDQ4PEA==',
            }
          : {}),
        ...(route.name.startsWith('PATCH') && route.path.endsWith('/uploads/{upload_id}')
          ? { 'Upload-Offset': '0' }
          : {}),
        ...headers,
      },
    });
    const finish = (answer, text) =>
      done({ status: answer.statusCode, headers: answer.headers, text });
    request.on('upgrade', (answer, socket) => {
      socket.destroy();
      finish(answer, '');
    });
    request.on('response', (answer) => {
      if (answer.headers['content-type']?.startsWith('text/event-stream')) {
        request.destroy();
        finish(answer, '');
        return;
      }
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => finish(answer, text));
    });
    request.on('error', (error) => error.code !== 'ECONNRESET' && fail(error));
    request.end(payload);
  });
}

/** The observable parts of a response, without the ids that the client sent itself. */
function appearance(answer, ...ids) {
  const { date, 'x-request-id': requestId, ...headers } = answer.headers;
  const text = ids
    .reduce((rest, id) => rest.replaceAll(id, 'ID'), answer.text)
    .replaceAll(requestId, 'REQUEST');
  return { status: answer.status, headers, text };
}

/** A team, and its member. */
async function furnishTeam(client) {
  const team = { name: `agent ${uuid()}`, kind: 'team', granted_to: ['user:*'] };
  const agent = expectStatus(await client.post('/v1/agents', team), 201);
  const child = expectStatus(await client.post('/v1/agents', { name: `agent ${uuid()}` }), 201);
  expectStatus(await client.put(`/v1/agents/${agent.id}/links/${child.id}`, {}), 201);
  return [agent, child];
}

/** A thread with this key, which the one that had it before gives up. */
async function furnishThread(client, key) {
  const before = await client.get(`/v1/threads/by-key/${key}`);
  if (before.status === 200)
    expectStatus(await client.patch(`/v1/threads/${before.body.id}`, { key: null }), 200);
  return expectStatus(await client.post('/v1/threads', { key }), 201);
}

/** One object of each sort. */
async function furnish(client) {
  const name = 'notes';
  const thread = await furnishThread(client, name);
  const [agent, child] = await furnishTeam(client);
  const past = expectStatus(await client.post(`/v1/threads/${thread.id}/runs`, {}), 201);
  expectStatus(await client.post(`/v1/runs/${past.id}/cancel`, {}), 200);
  const resumption = { system_prompt: 'You help.', model: 'example' };
  expectStatus(await client.put(`/v1/threads/${thread.id}/resumption`, resumption,
    { headers: { 'If-Match': '*' } }), 201);
  const run = expectStatus(
    await client.post(`/v1/threads/${thread.id}/runs`, { agent_id: agent.id }),
    201,
  );
  const turn = expectStatus(
    await client.post(
      `/v1/runs/${run.id}/turns`, { input: { message: 'hello' }, status: 'awaiting_tool' }),
    201,
  );
  const key = expectStatus(
    await client.post('/v1/keys', { name: 'spare', scopes: ['runs:read'] }),
    201,
  );
  const unseen = { headers: { 'If-Match': '*' } };
  const documents = await Promise.all([
    client.put(`/v1/agents/${agent.id}/config`, { data: {} }, unseen),
    client.put(`/v1/agents/${agent.id}/states/${name}`, { data: {} }, unseen),
    client.put(`/v1/threads/${thread.id}/states/${name}`, { data: {} }, unseen),
    client.put(`/v1/threads/${thread.id}/agents/${agent.id}/states/${name}`, { data: {} }, unseen),
  ]);
  for (const answer of documents) expectStatus(answer, 201);
  expectStatus(await client.put(`/v1/agents/${agent.id}/storage/${name}`, { data: {} }), 201);
  const participant = expectStatus(
    await client.post(`/v1/threads/${thread.id}/participants`, { principal: 'user:furniture' }),
    201,
  );
  const message = expectStatus(
    await client.post(`/v1/threads/${thread.id}/messages`, { content: 'hello' }),
    201,
  );
  const checkpoint = expectStatus(
    await client.post(`/v1/threads/${thread.id}/checkpoints`,
      { channel_values: {}, run_id: run.id }),
    201,
  );
  const share = expectStatus(
    await client.post(`/v1/threads/${thread.id}/shares`, { kind: 'participate' }),
    201,
  );
  spareToken = share.token;
  expectStatus(await client.post(`/v1/runs/${run.id}/steps`, EXAMPLES.StepAppend()), 201);
  const file = await client.put(`/v1/threads/${thread.id}/files/${name}`, {});
  expectStatus(file, 201);
  const upload = await client.post(`/v1/threads/${thread.id}/uploads`, EXAMPLES.UploadCreate());
  const model = `model-${uuid()}`;
  expectStatus(await client.put(`/v1/prices/${model}`, EXAMPLES.PriceBody()), 201);
  const evaluated = expectStatus(await client.post('/v1/evals', EXAMPLES.EvalBody()), 201);
  const notebook = expectStatus(await client.post('/v1/notebooks', EXAMPLES.NotebookBody()), 201);
  expectStatus(
    await client.post(`/v1/notebooks/${notebook.id}/sessions`, { thread_id: thread.id }),
    201,
  );
  return {
    model,
    eval: evaluated.id,
    notebook: notebook.id,
    message: message.id,
    checkpoint: checkpoint.id,
    thread: thread.id,
    upload: expectStatus(upload, 201).id,
    run: run.id,
    turn: turn.turn_id,
    key: key.id,
    tenant: client.tenantId,
    participant: participant.id,
    share: share.id,
    agent: agent.id,
    child: child.id,
    semver: agent.version,
    name,
    number: 1,
  };
}

// The sort of object that each name of an id means.
const SORTS = {
  thread_id: 'thread',
  workflow_id: 'thread',
  run_id: 'run',
  parent_run_id: 'run',
  turn_id: 'turn',
  checkpoint_id: 'thread',
  message_id: 'message',
  responds_to: 'message',
  sender_id: 'participant',
  addressed_to: 'participant',
  id: 'checkpoint',
  checkpoint_id: 'checkpoint',
  other_id: 'checkpoint',
  parent_id: 'checkpoint',
  expected_latest: 'checkpoint',
  before: 'checkpoint',
  to_thread_id: 'thread',
  key_id: 'key',
  tenant_id: 'tenant',
  agent_id: 'agent',
  child_id: 'child',
  semver: 'semver',
  other: 'semver',
  name: 'name',
  key: 'name',
  version: 'number',
  number: 'number',
  agent_uuid: 'thread', // of a line of a log
  tool_use_id: 'name',
  sequence: 'number',
  object_id: 'thread',
  participant_id: 'participant',
  share_id: 'share',
  upload_id: 'upload',
  model: 'model',
  eval_id: 'eval',
  notebook_id: 'notebook',
};

function sortOf(name) {
  assert.ok(SORTS[name], `teach SORTS what ${name} is`);
  return SORTS[name];
}

/** An id of something that is not there; what is a number in a path stays one. */
const absentId = (id) => (name) => (SORTS[name] === 'number' ? '1' : id);

// Ids that name nothing: others are compared with them.
const COMPARED = ['id_before'];

// Routes that create the object of their path, and need no existing one.
const MAKES = ['PUT /v1/prices/{model}', 'PUT /v1/threads/by-key/{key}'];

// Query parameters without which a route rejects every request.
const QUERIES = {
  'GET /v1/messages/search': '?q=hello',
  'GET /v1/threads/{thread_id}/messages/search': '?q=hello',
};

const fill = (route, idOf) =>
  route.path.replace(/\{(\w+)\}/g, (_, name) => idOf(name)) + (QUERIES[route.name] ?? '');

// --- The walk --------------------------------------------------------------------------------

test('every route has a summary, and a scope unless it is public', async (t) => {
  const server = await startServer(t);
  const scopes = new Set([...TENANT_SCOPES, 'admin', 'operator', 'none']);
  for (const route of await readTable(server)) {
    assert.match(route.operation.summary, /^[A-Z].{5,}[^.]$/, `${route.name} has a summary`);
    assert.ok(
      route.isPublic ? route.scope === undefined : scopes.has(route.scope),
      `${route.name} has a scope`,
    );
    assert.ok(
      !route.isPublic || route.params.length === 0,
      `${route.name} is public and tells of an object`,
    );
  }
});

test('the routes that need no scope or no key are these and no others', async (t) => {
  const server = await startServer(t);
  const table = await readTable(server);
  assert.deepEqual(
    table.filter((r) => r.isPublic).map((r) => r.name),
    ['GET /healthz', 'GET /readyz', 'GET /metrics', 'GET /openapi.json'],
  );
  assert.deepEqual(
    table.filter((r) => r.scope === 'none').map((r) => r.name),
    ['GET /v1/whoami'],
  );
});

test("another tenant's id in a path looks as an absent one does, on every route", async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const table = (await readTable(server))
    .filter((r) => r.params.length > 0 && !MAKES.includes(r.name));
  assert.ok(table.length > 25);
  let furnished = null; // until its owner has changed it
  for (const route of table)
    await t.test(route.name, async () => {
      const theirs = furnished ?? await furnish(bob);
      furnished = route.method === 'GET' ? theirs : null;
      const real = (name) => theirs[sortOf(name)];
      const absent = uuid();
      for (const headers of [
        {},
        { 'If-Match': '"1"' },
        { 'Cairn-Fencing-Token': '1' },
        { 'Idempotency-Key': uuid() },
      ]) {
        const body = exampleOf(route);
        const other = await ask(alice, route, fill(route, real), { headers, body });
        const none = await ask(
          alice,
          route,
          fill(route, absentId(absent)),
          { headers, body },
        );
        assert.deepEqual(
          appearance(other, ...route.params.filter((p) => p.endsWith('_id')).map(real)),
          appearance(none, absent),
          JSON.stringify(headers),
        );
        assert.ok(
          route.scope === 'operator' ? other.status === 403 : [404, 422].includes(other.status),
          `${other.status} ${other.text}`,
        );
      }
      const plain = await ask(alice, route, fill(route, real));
      assert.equal(plain.status, route.scope === 'operator' ? 403 : 404, plain.text);
      const fenced = route.operation.parameters.some((p) => p.name === 'Cairn-Fencing-Token');
      const own = await ask(bob, route, fill(route, real), {
        body: exampleOf(route, theirs),
        headers: fenced ? { 'Cairn-Fencing-Token': '1' } : {},
      });
      assert.ok(
        route.scope === 'operator' || ![400, 404, 422].includes(own.status),
        `the same request finds the object for its owner: ${own.status} ${own.text}`,
      );
    });
});

test("another tenant's id in a body or a query looks as an absent one does", async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  let walked = 0;
  const isId = (schema) => schema.format === 'uuid';
  const theirs = await furnish(bob);
  for (const route of await readTable(server)) {
    const inQuery = route.operation.parameters.filter(
      (p) => p.in === 'query' && isId(p.schema) && !COMPARED.includes(p.name));
    const inBody = Object.entries(route.body?.properties ?? {}).filter(([, schema]) =>
      isId(schema),
    );
    const cases = [
      ...inQuery.map((p) => [p.name, (id) => [`?${p.name}=${id}`, exampleOf(route)]]),
      ...inBody.map(([name]) => [name, (id) => ['', { ...exampleOf(route), [name]: id }]]),
    ];
    for (const [name, request] of cases)
      await t.test(`${route.name} with ${name}`, async () => {
        walked++;
        // A place of its own for each of the two, so that the first changes nothing for the second.
        const send = async (id) => {
          const mine = await furnish(alice);
          const [query, body] = request(id);
          const answer = await ask(alice, route, fill(route, (p) => mine[sortOf(p)]) + query, {
            body,
          });
          // An empty page of a filter says how far it looked, in the asker's own log.
          const text = answer.text
            .replaceAll(mine.thread, 'MINE')
            .replaceAll(mine.checkpoint, 'MINE')
            .replace(/"created_at":"[^"]+"/g, '"created_at":"NOW"')
            .replace(/"next_cursor":"\d+"/, '"next_cursor":"END"');
          return appearance({ ...answer, text }, id);
        };
        const absent = await send(uuid());
        assert.deepEqual(await send(theirs[sortOf(name)]), absent);
        assert.ok(absent.status < 500);
      });
  }
  assert.ok(walked >= 8, `${walked} ids were tried`);
});

// Filters of tenant-wide lists: a key of the whole tenant finds objects of any thread with them.
const TENANT_WIDE = /^GET \/v1\/(audit|runs|steps|steps\/summary|usage|evals|events.*|agents)$/;

/** The cases of the walk over query filters: [route, parameter, the sort of object it names]. */
function queryFilters(table) {
  return table.flatMap((route) => route.operation.parameters
    .filter((p) => p.in === 'query' && p.schema.format === 'uuid' && !COMPARED.includes(p.name))
    .map((p) => [route, p.name, sortOf(p.name)]));
}

test('a query filter shows nothing of another thread, run or agent of the tenant', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  operator.tenantId = DEFAULT_TENANT;
  const other = await furnish(operator);
  const mine = await furnish(operator);
  const removed = `/v1/threads/${other.thread}/participants`;
  const member = { principal: 'user:filter', permission: 'read_write' };
  expectStatus(await operator.post(`/v1/threads/${mine.thread}/participants`, member), 201);
  const past = expectStatus(await operator.post(removed, member), 201);
  expectStatus(await operator.del(`${removed}/${past.id}`), 200);
  const askers = {
    tenant: operator,
    principal: await withKey(operator, TENANT_SCOPES, { principal: member.principal }),
    agent: await withKey(operator, TENANT_SCOPES, { principal: `agent:${mine.agent}` }),
  };
  const secrets = ['thread', 'run', 'message', 'checkpoint', 'participant', 'turn', 'agent']
    .map((sort) => other[sort]);
  let walked = 0;
  for (const [route, name, sort] of queryFilters(await readTable(server)))
    for (const [who, client] of Object.entries(askers)) {
      if (who === 'tenant' && TENANT_WIDE.test(route.name)) continue;
      walked++;
      const include = route.operation.parameters.find((p) => p.name === 'include');
      const shown = include ? `&include=${include.schema.enum?.at(-1) ?? 'values'}` : '';
      const send = async (id) => {
        const path = fill(route, (p) => mine[sortOf(p)]);
        const answer = await ask(client, route, `${path}?${name}=${id}${shown}`);
        const text = answer.text.replace(/"next_cursor":"\d+"/, '"next_cursor":"END"');
        return appearance({ ...answer, text }, id);
      };
      const told = `${route.name} with ${name}, as ${who}`;
      const found = await send(other[sort]);
      assert.deepEqual(found, await send(uuid()), told);
      for (const secret of secrets)
        assert.ok(!found.text.includes(secret), `${told}: ${found.text}`);
    }
  t.diagnostic(`query filters: ${walked} cases`);
  assert.ok(walked >= 60, `${walked} cases`);
});

test('without a key every route that is not public answers 401', async (t) => {
  const server = await startServer(t);
  await twoTenants(server);
  for (const route of await readTable(server)) {
    const answer = await ask(server.open, route, fill(route, absentId(uuid())));
    if (route.isPublic) {
      assert.equal(answer.status, 200, route.name);
      continue;
    }
    assert.equal(answer.status, 401, route.name);
    assert.equal(JSON.parse(answer.text).code, 'unauthenticated', route.name);
    assert.match(answer.headers['www-authenticate'], /^Bearer/, route.name);
  }
});

test('a key with every scope but the one that a route needs gets 403 there', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const keys = new Map();
  const keyWithout = async (scope) => {
    const rest = scope === 'operator' ? ['admin'] : TENANT_SCOPES.filter((s) => s !== scope);
    if (!keys.has(scope)) keys.set(scope, await withKey(operator, rest));
    return keys.get(scope);
  };
  for (const route of await readTable(server)) {
    if (route.isPublic || route.scope === 'none') continue;
    const answer = await ask(await keyWithout(route.scope), route, fill(route, absentId(uuid())));
    assert.equal(answer.status, 403, route.name);
    const problem = JSON.parse(answer.text);
    assert.deepEqual(
      [problem.code, problem.detail],
      ['forbidden', `this route requires the scope ${route.scope}`],
      route.name,
    );
  }
});

// Replaying a run starts one.
const scopesOf = (route) =>
  route.path.endsWith('/replay') ? [route.scope, 'runs:write'] : [route.scope];

test('a key with only the scope that a route needs gets in', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const keys = new Map();
  for (const route of await readTable(server)) {
    if (route.isPublic || route.scope === 'none') continue;
    const scopes = scopesOf(route).join();
    if (!keys.has(scopes)) keys.set(scopes, await withKey(operator, scopesOf(route)));
    const answer = await ask(keys.get(scopes), route, fill(route, absentId(uuid())));
    assert.ok(
      ![401, 403].includes(answer.status) && answer.status < 500,
      `${route.name}: ${answer.status} ${answer.text}`,
    );
  }
});

// POST routes need their scope for the change that they make; PATCH and PUT could make none.
const REPLACES = /^(PATCH|PUT) /;
const ID_OR_TIME = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z)$/;

test('without the scope to read, PATCH and PUT answer with no text and no document', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  operator.tenantId = DEFAULT_TENANT;
  let walked = 0;
  for (const route of await readTable(server)) {
    if (!REPLACES.test(route.name) || !route.scope.endsWith(':write')) continue;
    const writer = await withKey(operator, [route.scope]);
    const mine = await furnish(operator);
    const path = fill(route, (p) => mine[sortOf(p)]);
    const body = route.method === 'PUT' ? exampleOf(route, mine) : {};
    const answer = await ask(writer, route, path, { body, headers: { 'If-Match': '*' } });
    if (answer.status !== 200 || answer.text === '') continue;
    walked++;
    for (const value of Object.values(JSON.parse(answer.text)))
      assert.ok(['number', 'boolean'].includes(typeof value) || ID_OR_TIME.test(value),
        `${route.name}: ${answer.text}`);
  }
  t.diagnostic(`receipts: ${walked} routes`);
  assert.ok(walked >= 15, `${walked} routes`);
});

test('a scope to write does not read or start what another scope is for', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const mine = await furnish(operator);
  const writer = await withKey(operator, ['store:write', 'checkpoints:write']);
  const batch = (...operations) => writer.post('/v1/store/batch', { operations });
  const item = { namespace: ['a'], key: 'k' };
  expectStatus(await batch({ op: 'put', ...item, value: {} }), 200);
  for (const read of [{ op: 'get', ...item }, { op: 'search', namespace_prefix: ['a'] }])
    assert.match(expectStatus(await batch({ op: 'put', ...item, value: { n: 1 } }, read), 403)
      .detail, /requires the scope store:read/);
  const kept = await operator.get('/v1/store/items?namespace=a&key=k');
  assert.deepEqual(expectStatus(kept, 200).value, {}, 'a rejected batch changes nothing');
  const threads = await withKey(operator, ['threads:write']);
  const guess = [{ op: 'test', path: '/title', value: 'x' }];
  assert.match(expectStatus(await threads.patch(`/v1/threads/${mine.thread}`, guess,
    { headers: { 'Content-Type': 'application/json-patch+json' } }), 403).detail,
    /requires the scope threads:read/);
  const made = await threads.put(`/v1/threads/by-key/${uuid()}`, { title: 'x' });
  assert.equal(expectStatus(made, 201).title, 'x', 'the creator sees what it has created');
  const replay = await writer.post(`/v1/runs/${mine.run}/replay`,
    { checkpoint_id: mine.checkpoint });
  assert.match(expectStatus(replay, 403).detail, /requires the scope runs:write/);
});

// --- Principals ------------------------------------------------------------------------------

// Routes whose path names no thread, run or agent, or that go beyond it: `own`, where every
// principal sees and makes what is its own, or `tenant`, where only keys of the whole tenant get
// in. A new one must be put here.
const WITHOUT_THREAD = {
  'GET /v1/whoami': 'own',
  'POST /v1/threads': 'own',
  'GET /v1/threads': 'own',
  'PUT /v1/threads/by-key/{key}': 'own',
  'GET /v1/threads/by-key/{key}': 'thread',
  'GET /v1/messages/search': 'own',
  'GET /v1/events': 'own',
  'GET /v1/events/stream': 'own',
  'GET /v1/events/ws': 'own',
  'POST /workflow/start': 'own',
  'POST /v1/agents/{agent_id}/runs': 'own',
  'POST /v1/shares/redeem': 'own',
  'POST /v1/agents': 'tenant',
  'GET /v1/agents': 'tenant',
  'GET /v1/runs': 'tenant',
  'GET /v1/checkpoints': 'tenant',
  'POST /v1/runs/claim': 'tenant',
  'GET /v1/steps': 'tenant',
  'GET /v1/steps/summary': 'tenant',
  'GET /v1/prices': 'tenant',
  'GET /v1/prices/{model}': 'tenant',
  'PUT /v1/prices/{model}': 'tenant',
  'DELETE /v1/prices/{model}': 'tenant',
  'GET /v1/prices/{model}/versions': 'tenant',
  'POST /v1/costs': 'tenant',
  'GET /v1/usage': 'tenant',
  'GET /v1/usage/averages': 'tenant',
  'POST /v1/evals': 'tenant',
  'GET /v1/evals': 'tenant',
  'GET /v1/evals/{eval_id}': 'tenant',
  'PATCH /v1/evals/{eval_id}': 'tenant',
  'DELETE /v1/evals/{eval_id}': 'tenant',
  'POST /v1/notebooks': 'tenant',
  'GET /v1/notebooks': 'tenant',
  'GET /v1/notebooks/{notebook_id}': 'tenant',
  'PATCH /v1/notebooks/{notebook_id}': 'tenant',
  'DELETE /v1/notebooks/{notebook_id}': 'tenant',
  'POST /v1/notebooks/{notebook_id}/sessions': 'tenant',
  'GET /v1/notebooks/{notebook_id}/sessions': 'tenant',
  'DELETE /v1/notebooks/{notebook_id}/sessions/{thread_id}': 'tenant',
  'PUT /v1/store/items': 'tenant',
  'GET /v1/store/items': 'tenant',
  'DELETE /v1/store/items': 'tenant',
  'POST /v1/store/search': 'tenant',
  'POST /v1/store/namespaces': 'tenant',
  'POST /v1/store/batch': 'tenant',
  'POST /v1/tenants': 'tenant',
  'GET /v1/tenants': 'tenant',
  'GET /v1/tenants/{tenant_id}': 'tenant',
  'PATCH /v1/tenants/{tenant_id}': 'tenant',
  'DELETE /v1/tenants/{tenant_id}': 'tenant',
  'POST /v1/tenants/{tenant_id}/keys': 'tenant',
  'POST /v1/keys': 'tenant',
  'GET /v1/keys': 'tenant',
  'GET /v1/keys/{key_id}': 'tenant',
  'DELETE /v1/keys/{key_id}': 'tenant',
  'GET /v1/audit': 'tenant',
  'GET /v1/audit/verify': 'tenant',
  'GET /v1/threads/{thread_id}/export': 'tenant',
  'GET /v1/agents/{agent_id}/export': 'tenant',
  'GET /v1/agents/{agent_id}/runs': 'tenant',
  'GET /v1/export': 'tenant',
  'POST /v1/imports': 'tenant',
};

// Writes that permission to read is enough for, on what is one's own.
const OF_ONESELF = /^(PATCH|DELETE|POST) \/v1\/threads\/\{thread_id\}\/participants\/(me|\{)/;

// POST routes that only read.
const READS = /^POST .*\/deltas$/;

// Reading the shares also requires read_write: they show who has which link.
const OF_WRITERS = /^GET \/v1\/threads\/\{thread_id\}\/shares/;

function ruleOf(route) {
  if (WITHOUT_THREAD[route.name]) return WITHOUT_THREAD[route.name];
  if (/\{(thread_id|workflow_id|run_id)\}/.test(route.path)) return 'thread';
  if (/\{agent_id\}/.test(route.path)) return 'agent';
  assert.ok(WITHOUT_THREAD[route.name], `say in WITHOUT_THREAD what principals may do there`);
  return WITHOUT_THREAD[route.name];
}

const principals = ['stranger', 'reader', 'writer'];

/** Lets the reader and the writer take part in it; gives the ids of their participants. */
async function invite(client, thread) {
  const ids = {};
  for (const permission of ['read', 'read_write']) {
    const name = permission === 'read' ? 'reader' : 'writer';
    const body = { principal: `user:${name}`, permission };
    const path = `/v1/threads/${thread}/participants`;
    ids[name] = expectStatus(await client.post(path, body), 201).id;
  }
  return ids;
}

/** A message that this participant has sent. */
async function sendAs(client, thread, participant) {
  const body = { content: 'mine', sender_id: participant };
  return expectStatus(await client.post(`/v1/threads/${thread}/messages`, body), 201).id;
}

test('on every route a principal may do what its participation lets it, and no more', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  operator.tenantId = DEFAULT_TENANT;
  const keys = {};
  for (const name of principals)
    keys[name] = await withKey(operator, TENANT_SCOPES, { principal: `user:${name}` });
  let furnished = null; // the prepared objects, until a test has changed them
  const place = async () => {
    const things = await furnish(operator);
    return { things, own: await invite(operator, things.thread) };
  };
  for (const route of (await readTable(server)).filter((r) => !r.isPublic))
    await t.test(route.name, async () => {
      const rule = ruleOf(route);
      const fenced = route.operation.parameters.some((p) => p.name === 'Cairn-Fencing-Token');
      for (const name of principals) {
        furnished ??= await place();
        const { own } = furnished;
        const things = { ...furnished.things };
        if (MAKES.includes(route.name)) things.name = uuid(); // the principal's own key
        if (name === 'reader' && OF_ONESELF.test(route.name)) things.participant = own.reader;
        if (name === 'writer' && /heartbeat/.test(route.name)) things.participant = own.writer;
        if (/\{message_id\}/.test(route.path) && own[name] !== undefined)
          things.message = await sendAs(operator, things.thread, own[name]);
        const headers = fenced ? { 'Cairn-Fencing-Token': '1' } : {};
        const path = fill(route, (p) => things[sortOf(p)]);
        const body = exampleOf(route, things);
        const answer = await ask(keys[name], route, path, { headers, body });
        if (route.method !== 'GET' && answer.status < 400) furnished = null;
        const told = `${name}: ${answer.status} ${answer.text}`;
        const writes = OF_WRITERS.test(route.name) ||
          (route.method !== 'GET' && !OF_ONESELF.test(route.name) && !READS.test(route.name));
        if (rule === 'tenant') {
          assert.equal(answer.status, 403, told);
          // A key of the whole tenant that narrows itself has the scope, and still does not get in.
          const narrowed = await ask(operator, route, path, {
            headers: { 'Cairn-Principal': `user:${name}` },
          });
          assert.equal(narrowed.status, 403, narrowed.text);
          assert.match(JSON.parse(narrowed.text).detail, /whole tenant/);
        } else if (rule === 'agent') {
          assert.equal(answer.status, 404, told);
        } else if (rule === 'thread' && name === 'stranger') {
          const none = fill(route, absentId(uuid()));
          const absent = await ask(keys[name], route, none, { headers });
          const plain = (text) => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID');
          assert.equal(answer.status, 404, told);
          assert.deepEqual(
            appearance({ ...answer, text: plain(answer.text) }, 'ID'),
            appearance({ ...absent, text: plain(absent.text) }, 'ID'),
          );
        } else if (rule === 'thread' && name === 'reader' && writes) {
          assert.equal(answer.status, 403, told);
          const problem = JSON.parse(answer.text);
          assert.deepEqual([problem.code, /read_write/.test(problem.detail)], ['forbidden', true]);
        } else {
          assert.ok(![400, 401, 403, 404, 422].includes(answer.status), told);
        }
      }
    });
});

test('every route is called by a test besides this walk', async (t) => {
  const server = await startServer(t);
  const here = new URL('.', import.meta.url);
  const sources = [here, new URL('lib/', here)].flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.mjs') && file !== 'routes.test.mjs')
      .map((file) => readFileSync(new URL(file, folder), 'utf8')),
  );
  const text = sources.join('\n').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  const CALLS = { GET: 'get|head', POST: 'post', PATCH: 'patch', PUT: 'put', DELETE: 'del' };
  const untested = (await readTable(server)).filter((route) => {
    const path = route.path
      .split(/\{\w+\}/)
      .map((part) => part.replace(/[.]/g, '\\.'))
      .join('\\$\\{[^}]+\\}');
    const call = route.isSocket || route.isStream ? '' : `\\.(${CALLS[route.method]})\\(\\s*`;
    return !new RegExp(`${call}[\`'"]${path}[\`'"?$]`).test(text);
  });
  assert.deepEqual(
    untested.map((r) => r.name),
    [],
  );
});
