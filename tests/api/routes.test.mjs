// SPDX-License-Identifier: Apache-2.0
// The route table itself, as described by /openapi.json: every route is tested, so a new route is
// covered from the start, and fails here until this file and another test use it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import test from 'node:test';
import {
  DEFAULT_TENANT,
  expectFault,
  expectProblem,
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
  TicketCreate: () => ({ path: '/v1/events/stream' }),
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
  // The path of what this request has created.
  if (headers.location) headers.location = headers.location.replace(/[0-9a-f-]{36}/g, 'ID');
  return { status: answer.status, headers, text };
}

// A text in everything that `furnish` creates beforehand: an answer that has it shows old content.
const MARK = 'planted-4711';

/** A team with this name, which the one that had it before gives up, and its member. */
async function furnishTeam(client, name) {
  const before = await client.get(`/v1/agents/by-name/${name}`);
  if (before.status === 200)
    expectStatus(await client.patch(`/v1/agents/${before.body.id}`, { name: uuid() }), 200);
  const team = { name, kind: 'team', granted_to: ['user:*'], description: MARK,
    system_prompt: MARK, metadata: { MARK } };
  const agent = expectStatus(await client.post('/v1/agents', team), 201);
  const child = expectStatus(
    await client.post('/v1/agents', { name: `${MARK} ${uuid()}`, system_prompt: MARK }), 201);
  expectStatus(await client.put(`/v1/agents/${agent.id}/links/${child.id}`,
    { role: MARK, metadata: { MARK } }), 201);
  return [agent, child];
}

/** A thread with this key, which the one that had it before gives up. */
async function furnishThread(client, key) {
  const before = await client.get(`/v1/threads/by-key/${key}`);
  if (before.status === 200)
    expectStatus(await client.patch(`/v1/threads/${before.body.id}`, { key: null }), 200);
  return expectStatus(await client.post('/v1/threads',
    { key, title: MARK, metadata: { MARK }, context: { MARK } }), 201);
}

/** One object of each sort. */
async function furnish(client) {
  const name = 'notes';
  const thread = await furnishThread(client, name);
  const [agent, child] = await furnishTeam(client, name);
  const asked = { user_input: MARK, metadata: { MARK }, request: { MARK } };
  const past = expectStatus(await client.post(`/v1/threads/${thread.id}/runs`, asked), 201);
  expectStatus(await client.post(`/v1/runs/${past.id}/cancel`, {}), 200);
  const resumption = { system_prompt: MARK, model: MARK };
  expectStatus(await client.put(`/v1/threads/${thread.id}/resumption`, resumption,
    { headers: { 'If-Match': '*' } }), 201);
  const run = expectStatus(
    await client.post(`/v1/threads/${thread.id}/runs`, { ...asked, agent_id: agent.id }),
    201,
  );
  const turn = expectStatus(
    await client.post(
      `/v1/runs/${run.id}/turns`, { input: { message: MARK }, status: 'awaiting_tool' }),
    201,
  );
  const key = expectStatus(
    await client.post('/v1/keys', { name: 'spare', scopes: ['runs:read'] }),
    201,
  );
  const unseen = { headers: { 'If-Match': '*' } };
  const documents = await Promise.all([
    client.put(`/v1/agents/${agent.id}/config`, { data: { MARK } }, unseen),
    client.put(`/v1/agents/${agent.id}/states/${name}`, { data: { MARK } }, unseen),
    client.put(`/v1/threads/${thread.id}/states/${name}`, { data: { MARK } }, unseen),
    client.put(
      `/v1/threads/${thread.id}/agents/${agent.id}/states/${name}`, { data: { MARK } }, unseen),
  ]);
  for (const answer of documents) expectStatus(answer, 201);
  expectStatus(await client.put(`/v1/agents/${agent.id}/storage/${name}`, { MARK }), 201);
  const participant = expectStatus(
    await client.post(`/v1/threads/${thread.id}/participants`,
      { principal: 'user:furniture', name: MARK, metadata: { MARK } }),
    201,
  );
  const message = expectStatus(
    await client.post(`/v1/threads/${thread.id}/messages`, { content: `hello ${MARK}` }),
    201,
  );
  const checkpoint = expectStatus(
    await client.post(`/v1/threads/${thread.id}/checkpoints`,
      { channel_values: { MARK }, metadata: { MARK }, run_id: run.id }),
    201,
  );
  const share = expectStatus(
    await client.post(`/v1/threads/${thread.id}/shares`, { kind: 'participate', label: MARK }),
    201,
  );
  spareToken = share.token;
  expectStatus(await client.post(`/v1/runs/${run.id}/steps`, EXAMPLES.StepAppend()), 201);
  const file = await client.put(`/v1/threads/${thread.id}/files/${name}`, { MARK });
  expectStatus(file, 201);
  expectStatus(await client.patch(`/v1/threads/${thread.id}/files/${name}/info`,
    { metadata: { MARK } }, unseen), 200);
  const upload = await client.post(`/v1/threads/${thread.id}/uploads`,
    { ...EXAMPLES.UploadCreate(), name: `${MARK}.txt` });
  const model = `model-${uuid()}`;
  expectStatus(await client.put(`/v1/prices/${model}`, EXAMPLES.PriceBody()), 201);
  const evaluated = expectStatus(await client.post('/v1/evals',
    { ...EXAMPLES.EvalBody(), evaluated_name: MARK, eval_data: { MARK } }), 201);
  const notebook = expectStatus(
    await client.post('/v1/notebooks', { title: MARK, instructions: MARK }), 201);
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
    past: past.id,
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
  'GET /v1/store/items': '?namespace=a&key=b',
  'DELETE /v1/store/items': '?namespace=a&key=b',
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
    ['GET /v1/whoami', 'GET /v1/tenant'],
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

// A write that answers about an existing object could change nothing, and would then be a way to
// read it; an object that is new may be made from old ones.
const ID_OR_TIME = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z)$/;

/** Queues a run with old content; gives its thread. */
async function queueRun(client) {
  const thread = expectStatus(await client.post('/v1/threads', {}), 201).id;
  expectStatus(await client.post(`/v1/threads/${thread}/runs`, { user_input: MARK }), 201);
  return thread;
}

/** Ids and bodies with which a write meets old content in another way than with `furnish` alone. */
const FROM_OLD = {
  'POST /v1/runs/{run_id}/retry': (client, things) =>
    ({ run: things.past, body: { policy: 'enqueue' } }),
  'PUT /v1/threads/{thread_id}/resumption': async (client, things) => {
    const thread = expectStatus(await client.post('/v1/threads', {}), 201).id;
    expectStatus(
      await client.post(`/v1/threads/${thread}/runs`, { agent_id: things.agent }), 201);
    return { thread, body: { model: 'sent' } };
  },
  'PUT /v1/agents/{agent_id}/config': async (client) =>
    ({ agent: expectStatus(await client.post('/v1/agents', { name: uuid() }), 201).id }),
  'PUT /v1/agents/{agent_id}/links/{child_id}': async (client) => ({
    child: expectStatus(await client.post('/v1/agents', { name: `${MARK} ${uuid()}` }), 201).id }),
  'POST /v1/threads/{thread_id}/uploads/{upload_id}/complete': async (client, things) => {
    const part = { raw: 'x', type: 'text/plain', headers: { 'Upload-Offset': '0' } };
    expectStatus(await client.request(
      'PATCH', `/v1/threads/${things.thread}/uploads/${things.upload}`, part), 200);
  },
  'POST /v1/threads/{thread_id}/participants': async (client, things) => {
    expectStatus(await client.del(
      `/v1/threads/${things.thread}/participants/${things.participant}`), 200);
    return { body: { principal: 'user:furniture' } };
  },
  'POST /v1/notebooks/{notebook_id}/sessions': async (client) => {
    const thread = expectStatus(await client.post('/v1/threads', { title: MARK }), 201);
    return { body: { thread_id: thread.id } };
  },
  'POST /v1/threads/{thread_id}/runs': (client, things) =>
    ({ body: { agent_id: things.agent, policy: 'enqueue' } }),
  'POST /v1/agents/{agent_id}/runs': (client, things) => ({ body: {
    input: { message: 'sent' }, thread_id: things.thread, policy: 'enqueue' } }),
  'PUT /v1/store/items': async (client) => {
    expectStatus(await client.put('/v1/store/items',
      { namespace: ['example'], key: MARK, value: { MARK } }), 201);
    return { body: { namespace: ['example'], key: MARK, value: {} } };
  },
  'POST /v1/runs/claim': async (client) =>
    ({ body: { worker: 'w', thread_id: await queueRun(client) } }),
  'POST /v1/shares/redeem': async (client, things) => {
    const { token } = expectStatus(
      await client.post(`/v1/threads/${things.thread}/shares`, { kind: 'participate' }), 201);
    return { body: { token }, more: { 'Cairn-Principal': `user:${uuid()}` } };
  },
  'POST /workflow/start': async (client, things) => {
    expectStatus(await client.post(`/v1/threads/${things.thread}/cancel`, { reason: MARK }), 200);
    return { body: { user_input: 'sent', workflow_id: things.thread } };
  },
};
for (const path of ['/v1/runs/{run_id}/replay', '/v1/agents/{agent_id}/runs/{run_id}/replay'])
  FROM_OLD[`POST ${path}`] = (client, things) =>
    ({ body: { checkpoint_id: things.checkpoint, policy: 'enqueue' } });
// With another name, a PUT creates an object.
for (const path of ['/v1/agents/{agent_id}/states/{name}', '/v1/threads/{thread_id}/states/{name}',
  '/v1/threads/{thread_id}/agents/{agent_id}/states/{name}',
  '/v1/threads/{thread_id}/files/{name}', '/v1/agents/{agent_id}/storage/{key}',
  '/v1/threads/by-key/{key}'])
  FROM_OLD[`PUT ${path}`] = () => ({ name: uuid() });
FROM_OLD['PUT /v1/prices/{model}'] = () => ({ model: uuid() });

const MUST_MATCH = /^PATCH|^PUT .*(states\/\{name\}|config|resumption)$/;

/** Sends the write to what `furnish` has created, or what `alter` makes of it. */
async function writeToOld(route, owner, clients, alter, headers = {}) {
  const mine = await furnish(owner);
  const { body: given, more, ...others } = await alter?.(owner, mine) ?? {};
  const things = { ...mine, ...others };
  const path = fill(route, (p) => things[sortOf(p)]);
  const body = given ?? (route.method === 'PATCH' ? {} : exampleOf(route, things));
  const match = MUST_MATCH.test(route.name) ? { 'If-Match': '*' } : {};
  const sent = { body, headers: { ...match, ...more, ...headers } };
  const answers = [];
  for (const client of clients) answers.push(await ask(client, route, path, sent));
  return { answers, sent: `${JSON.stringify(body)} ${path}` };
}

// A claim hands out a run and a share an access, to the key that sends the request.
const HANDED_OUT = ['POST /v1/runs/claim', 'POST /v1/shares/redeem'];

/** The words of all closed lists in a document. */
const enumsOf = (value) => value === null || typeof value !== 'object' ? []
  : [...(Array.isArray(value.enum) ? value.enum : []), ...Object.values(value).flatMap(enumsOf)];

const textsOf = (value) => typeof value === 'string' ? [value]
  : value === null || typeof value !== 'object' ? [] : Object.values(value).flatMap(textsOf);

// Defaults and secrets of new objects.
const OWN_WORDS = new RegExp('^(1[.]0[.]0|USD|text/plain|application/(json|octet-stream)|' +
  'application/x-www-form-urlencoded|service|cairn_share_.*|[0-9a-f]{64})$');

/** A success shows no old text: a receipt has no text at all, a 201 at most what was sent. */
function expectNothingOld(told, answer, sent, words) {
  if (answer.status >= 300 || answer.status === 204) return;
  const { etag, ...headers } = answer.headers;
  const all = `${told}: ${answer.status} ${JSON.stringify(headers)} ${answer.text}`;
  assert.ok(!all.includes(MARK), all);
  for (const text of textsOf(JSON.parse(answer.text)))
    assert.ok(ID_OR_TIME.test(text) || (answer.status === 201 &&
      (sent.includes(text) || words.has(text) || OWN_WORDS.test(text))), `${text} of ${all}`);
}

test('without the scope to read, a write answers with nothing that was there before', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  operator.tenantId = DEFAULT_TENANT;
  const seen = { 200: new Set(), 201: new Set() };
  // A batch checks the scope of each operation.
  const table = (await readTable(server)).filter((r) => r.method !== 'GET' &&
    r.scope?.endsWith(':write') && r.name !== 'POST /v1/store/batch');
  const words = new Set(enumsOf(expectStatus(await server.open.get('/openapi.json'), 200)));
  for (const route of table) {
    const writer = await withKey(operator, scopesOf(route));
    const ways = FROM_OLD[route.name] ? [undefined, FROM_OLD[route.name]] : [undefined];
    for (const alter of ways)
      await t.test(`${route.name}${alter ? ', of old content' : ''}`, async () => {
        const { answers: [answer], sent } = await writeToOld(route, operator, [writer], alter);
        const isHandedOut = HANDED_OUT.includes(route.name);
        if (answer.status < 300 && !isHandedOut) seen[answer.status]?.add(route.name);
        if (!isHandedOut) expectNothingOld(route.name, answer, sent, words);
        if (route.method !== 'POST') return;
        const once = { 'Idempotency-Key': uuid() };
        const { answers: [first, again], sent: same } =
          await writeToOld(route, operator, [operator, writer], alter, once);
        if (isHandedOut && alter) assert.equal(first.status, 200, first.text);
        if (first.status >= 300) return;
        assert.ok(again.status === 403 || again.headers['idempotency-replayed'] === 'true',
          `${again.status} ${again.text}`);
        expectNothingOld(`${route.name} replayed`, again, same, words);
      });
  }
  const creates = table.filter((r) => r.operation.responses[201]).map((r) => r.name);
  t.diagnostic(`receipts: ${seen[200].size} routes with 200, ${seen[201].size} with 201`);
  assert.deepEqual(creates.filter((name) => !seen[201].has(name)), []);
  assert.ok(seen[200].size >= 36, `${seen[200].size} routes`);
});

test('a fencing token, which can be guessed, shows nothing', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const [worker, other] = [await withKey(operator, ['runs:write']),
    await withKey(operator, ['runs:write'])];
  const thread = await queueRun(operator);
  const run = expectStatus(await worker.post('/v1/runs/claim', { worker: 'w' }), 200);
  assert.equal(run.user_input, MARK, 'a claim shows the run');
  const fence = { 'Cairn-Fencing-Token': String(run.fence) };
  const match = { 'If-Match': '*' };
  for (const client of [worker, other])
    for (const [method, path, body, headers] of [
      ['PATCH', `/v1/runs/${run.id}`, {}, { ...match, ...fence }],
      ['POST', `/v1/runs/${run.id}/heartbeat`, {}, fence]]) {
      const answer = await client.request(method, path, { body, headers });
      const { etag, ...shown } = expectStatus(answer, 200);
      assert.equal(shown.id, run.id, `${method} ${path}`);
      assert.deepEqual(textsOf(shown).filter((text) => !ID_OR_TIME.test(text)), [], answer.text);
    }
  expectStatus(await operator.put(`/v1/threads/${thread}/resumption`,
    { system_prompt: MARK, model: 'm' }, { headers: match }), 201);
  const changed = await worker.patch(`/v1/threads/${thread}/resumption`, {},
    { headers: { ...match, ...fence } });
  expectStatus(changed, 200);
  assert.ok(!changed.text.includes(MARK), changed.text);

  // A receipt is replayed as one, and a complete answer only to keys that may read.
  const move = (client, to, once) => client.post(`/v1/runs/${run.id}/phase`, { to },
    { headers: { ...fence, 'Idempotency-Key': once } });
  const [phase, next] = ['k-worker', 'k-operator'];
  const receipt = expectStatus(await move(worker, 'initializing', phase), 200);
  for (const client of [worker, operator])
    assert.deepEqual(expectStatus(await move(client, 'initializing', phase), 200), receipt);
  assert.equal(expectStatus(await move(operator, 'planning', next), 200).user_input, MARK);
  for (const client of [worker, other])
    assert.match(expectProblem(await move(client, 'planning', next), 403, 'forbidden').detail,
      /requires the scope runs:read/);
});

test('what a route hands out is replayed to its key, and to keys that may read', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const scopes = ['runs:write', 'participants:write'];
  const [first, other] = [await withKey(operator, scopes), await withKey(operator, scopes)];
  const thread = expectStatus(await operator.post('/v1/threads', {}), 201).id;
  let keys = 0;
  const claim = async () => {
    await queueRun(operator);
    return ['/v1/runs/claim', { worker: 'w' }, {}, /requires the scope runs:read/];
  };
  const redeem = async () => {
    const share = await operator.post(`/v1/threads/${thread}/shares`, { kind: 'participate' });
    const { token } = expectStatus(share, 201);
    return ['/v1/shares/redeem', { token }, { 'Cairn-Principal': `user:u${keys}` },
      /requires the scope participants:read/];
  };
  for (const prepare of [claim, redeem])
    for (const owner of [first, operator]) {
      const [path, body, more, rule] = await prepare();
      const headers = { ...more, 'Idempotency-Key': `k${keys++}` };
      const given = expectStatus(await owner.post(path, body, { headers }), 200);
      for (const client of [owner, operator]) {
        const again = await client.post(path, body, { headers });
        assert.deepEqual(expectStatus(again, 200), given);
        assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
        assert.ok([...again.headers.keys()].every((name) => !name.startsWith(':')));
      }
      assert.match(expectProblem(await other.post(path, body, { headers }), 403, 'forbidden')
        .detail, rule);
    }
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
  const again = { headers: { 'Idempotency-Key': uuid() } };
  const reading = { operations: [{ op: 'put', ...item, value: {} }, { op: 'get', ...item }] };
  expectStatus(await operator.post('/v1/store/batch', reading, again), 200);
  assert.match(expectStatus(await writer.post('/v1/store/batch', reading, again), 403).detail,
    /requires the scope store:read/, 'a kept answer is for keys that may read it');
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
  'POST /v1/tickets': 'own',
  'POST /v1/threads': 'own',
  'GET /v1/threads': 'own',
  'PUT /v1/threads/by-key/{key}': 'own',
  'GET /v1/threads/by-key/{key}': 'thread',
  'GET /v1/agents/by-name/{name}': 'agent',
  'GET /v1/messages/search': 'own',
  'GET /v1/events': 'own',
  'GET /v1/events/stream': 'own',
  'GET /v1/events/ws': 'own',
  'POST /workflow/start': 'own',
  'POST /v1/agents/{agent_id}/runs': 'own',
  'POST /v1/shares/redeem': 'own',
  'POST /v1/agents': 'tenant',
  'GET /v1/agents': 'tenant',
  'GET /v1/runs': 'tenant', // or of an agent
  'GET /v1/checkpoints': 'tenant',
  'POST /v1/runs/claim': 'tenant', // or of an agent
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
  'GET /v1/tenant': 'tenant',
  'PATCH /v1/tenant': 'tenant',
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
  'GET /v1/agents/{agent_id}/runs': 'agent',
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

// --- Writing back ----------------------------------------------------------------------------

// Paths whose GET answers something else than their PUT takes: the thread with a key is only
// created, and writes of a task are added to a checkpoint.
const NOT_REPLACED = ['/v1/threads/by-key/{key}',
  '/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/writes'];
// Members that every write changes.
const MOVES = ['updated_at', 'updated_by', 'version', 'revision'];

/** Objects with values in their members. */
async function furnishToWriteBack(client) {
  const things = await furnish(client);
  const { thread, agent, run, turn } = things;
  const set = async (path, body) =>
    expectStatus(await client.patch(path, body, { headers: { 'If-Match': '*' } }), 200);
  const messages = [{ role: 'user', content: 'hello' }];
  await set(`/v1/threads/${thread}`, { title: 'x', metadata: { a: 1 }, context: { b: [2] } });
  await set(`/v1/agents/${agent}`, { description: 'x', metadata: { a: 1 } });
  await set(`/v1/agents/${agent}/config`, { data: { a: 1.5 }, description: 'x' });
  await set(`/v1/threads/${thread}/resumption`, { messages, conversation_history: messages,
    extras: { a: 1 }, tool_schemas: [{ name: 't', description: 'd', input_schema: {} }] });
  await set(`/v1/threads/${thread}/history/1`, { messages, extras: { a: 1 } });
  await set(`/v1/runs/${run}`, { state: { a: 1 }, metadata: { b: 2 }, content: 'x' });
  await set(`/v1/runs/${run}/turns/${turn}`, { usage: { tokens_in: 3, tokens_out: 4 } });
  const stored = await client.put('/v1/store/items',
    { namespace: ['a'], key: 'b', value: { c: 1 } });
  assert.ok(stored.status < 300, stored.text);
  const bumped = await client.post(`/v1/agents/${agent}/versions`, { bump: 'patch', tools: ['t'] });
  const tenant = await client.post('/v1/tenants', { name: `tenant ${uuid()}` });
  return { ...things, semver: expectStatus(bumped, 201).version,
    tenant: expectStatus(tenant, 201).tenant.id };
}

/** Sends a request and returns the answer with its ETag. */
async function exchange(client, method, path, body, headers = {}) {
  const answer = await client.request(method, path, { body, headers });
  return { ...answer, etag: answer.headers.get('ETag') };
}

test('what a GET answers is taken back by the PUT and the PATCH of its path', async (t) => {
  const server = await startServer(t);
  const { operator: client } = await twoTenants(server);
  const table = await readTable(server);
  const pairs = table.filter((r) => ['PUT', 'PATCH'].includes(r.method) && r.body !== undefined)
    .filter((r) => !NOT_REPLACED.includes(r.path))
    .map((r) => [r, table.find((g) => g.method === 'GET' && g.path === r.path)])
    .filter(([, reads]) => reads !== undefined);
  assert.ok(pairs.length > 25, `${pairs.length} pairs`);
  let changed = 0;
  for (const [route, reads] of pairs)
    await t.test(route.name, async () => {
      const things = await furnishToWriteBack(client);
      const path = fill(reads, (p) => things[sortOf(p)]);
      const plain = fill(route, (p) => things[sortOf(p)]);
      const own = { 'Cairn-Principal': 'user:furniture' };
      const headers = /participants.me/.test(route.path) ? own : {};
      const before = await exchange(client, 'GET', path, undefined, headers);
      expectStatus(before, 200);
      const match = before.etag === null ? {} : { 'If-Match': before.etag };
      const send = (body, more = match) =>
        exchange(client, route.method, plain, body, { ...headers, ...more });
      const written = await send(before.body);
      assert.ok([200, 201].includes(written.status), `${written.status} ${written.text}`);
      const after = expectStatus(await exchange(client, 'GET', path, undefined, headers), 200);
      const kept = (object) => Object.fromEntries(
        Object.entries(object).filter(([name]) => !MOVES.includes(name)));
      assert.deepEqual(kept(after), kept(before.body));
      const writable = Object.keys(route.body.properties);
      for (const name of Object.keys(after).filter((key) => !writable.includes(key))) {
        const other = await send({ ...after, [name]: 'another value' }, { 'If-Match': '*' });
        expectFault(other, 422, 'invalid_input', `/${name}`, /is set by Cairn/);
        changed++;
      }
      expectFault(await send({ ...after, other: 1 }, { 'If-Match': '*' }), 422,
        'invalid_input', '/other', /is not a member/);
    });
  assert.ok(changed > 100, `${changed} read-only members`);

  await t.test('unless it is stale, of another object, or the key may not read', async () => {
    const things = await furnishToWriteBack(client);
    const path = `/v1/threads/${things.thread}/resumption`;
    const before = await exchange(client, 'GET', path);
    const match = { 'If-Match': before.etag };
    expectStatus(await exchange(client, 'PUT', path, before.body, match), 200);
    expectProblem(await exchange(client, 'PUT', path, before.body, match), 412, 'stale_etag');
    const other = expectStatus(await client.post('/v1/threads', {}), 201).id;
    const moved = `/v1/threads/${other}/resumption`;
    expectFault(await exchange(client, 'PUT', moved, before.body, { 'If-Match': '*' }), 422,
      'invalid_input', '/thread_id', /is set by Cairn/);
    expectProblem(await client.get(`/v1/threads/${other}/resumption`), 404, 'not_found');
    expectProblem(await exchange(client, 'PUT', `/v1/threads/${uuid()}/resumption`, before.body,
      { 'If-Match': '*' }), 404, 'not_found');
    const writer = await withKey(client, ['runs:write']);
    const guessed = { title: 'x', last_run_at: null };
    expectProblem(await exchange(writer, 'PATCH', path, guessed, { 'If-Match': '*' }), 403,
      'forbidden');
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
