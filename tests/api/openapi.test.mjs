// SPDX-License-Identifier: Apache-2.0
// The OpenAPI document against itself, and real answers against the document.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import Ajv from 'ajv/dist/2020.js';
import { answersOfCheckpoints } from './lib/answers-checkpoints.mjs';
import { answersOfFiles } from './lib/answers-files.mjs';
import { answersOfResumption } from './lib/answers-resumption.mjs';
import { answersOfAgentRuns } from './lib/answers-runs.mjs';
import { answersOfMessages } from './lib/answers-messages.mjs';
import { answersOfArchives } from './lib/answers-archives.mjs';
import { answersOfAgents } from './lib/answers-states.mjs';
import { answersOfSteps } from './lib/answers-steps.mjs';
import { answersOfMoney } from './lib/answers-money.mjs';
import { answersOfStore } from './lib/answers-store.mjs';
import { expectStatus, startServer, token, twoTenants, uuid } from './lib/server.mjs';

async function readDocument(server) {
  return expectStatus(await server.open.get('/openapi.json'), 200);
}

function resolve(document, schema) {
  if (schema.$ref === undefined) return schema;
  const found = schema.$ref
    .split('/')
    .slice(1)
    .reduce((at, name) => at?.[name], document);
  assert.ok(found, `${schema.$ref} leads nowhere`);
  return found;
}

function* operations(document) {
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(item))
      yield [`${method.toUpperCase()} ${path}`, operation, path];
}

function* everyValue(value) {
  yield value;
  if (typeof value === 'object' && value !== null)
    for (const child of Object.values(value)) yield* everyValue(child);
}

// --- A small validator of the part of JSON Schema that Cairn uses ----------------------------

const FORMATS = {
  'uuid': /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
};

function typeOf(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Asserts that a value is what the schema says, with no member that it does not know. */
function conform(document, schema, value, at) {
  schema = resolve(document, schema);
  if (schema.oneOf) {
    const fits = schema.oneOf.filter((one) => {
      try {
        conform(document, one, value, at);
        return true;
      } catch {
        return false;
      }
    });
    assert.equal(fits.length, 1, `${at} is exactly one of the documented forms`);
    return;
  }
  const type = typeOf(value);
  const types = [schema.type].flat();
  const fits = types.includes(type) || (type === 'integer' && types.includes('number'));
  if (schema.type !== undefined) assert.ok(fits, `${at} is ${type}, not ${schema.type}`);
  if (schema.enum !== undefined)
    assert.ok(schema.enum.includes(value), `${at} is ${value}, not one of ${schema.enum}`);
  if (type === 'string' && FORMATS[schema.format]) assert.match(value, FORMATS[schema.format], at);
  if (type === 'integer' && schema.minimum !== undefined)
    assert.ok(value >= schema.minimum, `${at} is ${value}, less than ${schema.minimum}`);
  if (type === 'array' && schema.items)
    value.forEach((item, i) => conform(document, schema.items, item, `${at}/${i}`));
  if (type !== 'object' || schema.properties === undefined) return;
  for (const name of schema.required) assert.ok(name in value, `${at} lacks ${name}`);
  for (const [name, member] of Object.entries(value)) {
    assert.ok(schema.properties[name], `${at} has ${name}, which is not documented`);
    conform(document, schema.properties[name], member, `${at}/${name}`);
  }
}

// --- The document ----------------------------------------------------------------------------

test('every schema has an example, which is what the schema says', async (t) => {
  const server = await startServer(t);
  const document = await readDocument(server);
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    if (name === 'Problem') continue;
    assert.equal(schema.examples?.length, 1, `${name} has an example`);
    conform(document, schema, schema.examples[0], name);
  }
});

test('every example is valid, for a validator of JSON Schema', async (t) => {
  const document = await readDocument(await startServer(t));
  const ajv = new Ajv({ allErrors: true, strict: false });
  for (const [name, pattern] of Object.entries(FORMATS)) ajv.addFormat(name, pattern);
  ajv.addFormat('int64', { type: 'number', validate: Number.isSafeInteger });
  ajv.addSchema({ $id: 'doc', ...document });
  let validated = 0;
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    const validate = ajv.compile({ $ref: `doc#/components/schemas/${name}` });
    for (const example of schema.examples ?? []) {
      assert.ok(validate(example), `${name}: ${JSON.stringify(validate.errors)}`);
      validated++;
    }
  }
  assert.ok(validated > 100, `${validated} examples`);
});

test('the document is OpenAPI 3.1 of this version of Cairn', async (t) => {
  const server = await startServer(t);
  const document = await readDocument(server);
  assert.equal(document.openapi, '3.1.0');
  assert.equal(document.info.title, 'Cairn');
  assert.equal(document.info.license.identifier, 'Apache-2.0');
  assert.equal(document.info.version, expectStatus(await server.open.get('/healthz'), 200).version);
  assert.deepEqual(document.security, [{ key: [] }]);
  assert.deepEqual(document.components.securitySchemes.key, { type: 'http', scheme: 'bearer' });
});

test('every reference resolves and every schema is referred to', async (t) => {
  const document = await readDocument(await startServer(t));
  const used = new Set();
  for (const value of everyValue(document))
    if (typeof value?.$ref === 'string') {
      resolve(document, value);
      used.add(value.$ref.split('/').at(-1));
    }
  const unused = Object.keys(document.components.schemas).filter((name) => !used.has(name));
  // OpenAPI cannot describe the messages of a WebSocket.
  assert.deepEqual(
    unused.filter((name) => !['Event', 'Workflow'].includes(name)),
    [],
  );
});

test('every array has items, and every integer a minimum', async (t) => {
  const document = await readDocument(await startServer(t));
  const lacks = (type, member) => [...everyValue([document.paths, document.components])]
    .filter((value) => [value?.type].flat().includes(type) && value[member] === undefined);
  assert.deepEqual(lacks('array', 'items'), []);
  assert.deepEqual(lacks('integer', 'minimum'), []);
  const zero = document.components.schemas.TokenUsage.properties.input_tokens;
  assert.equal(zero.minimum, 0);
});

test('limits of texts and documents are described as bytes', async (t) => {
  const document = await readDocument(await startServer(t));
  const texts = [...everyValue([document.paths, document.components])]
    .filter((value) => value?.maxLength !== undefined);
  assert.ok(texts.length > 100);
  for (const text of texts) assert.match(text.description, /\d bytes/, JSON.stringify(text));
  const { title, metadata, context } = document.components.schemas.ThreadBody.properties;
  assert.match(title.description, /at most 1000 bytes$/);
  assert.match(metadata.description, /at most 102400 bytes of JSON$/);
  assert.match(context.description, /at most 1048576 bytes of JSON$/);
  // A character may have 4 bytes: only of ASCII texts is a minimum also one of characters.
  const places = Object.values(document.components.schemas)
    .flatMap(({ properties }) => Object.entries(properties ?? {}));
  const ascii = places.filter(([, { minLength }]) => minLength > 1).map(([name]) => name);
  assert.deepEqual([...new Set(ascii)].sort(), ['currency', 'sha256']);
});

test('the parameters without which a request is rejected are marked as required', async (t) => {
  const server = await startServer(t);
  const document = await readDocument(server);
  const walked = new Set();
  for (const [name, { parameters, responses }, path] of operations(document)) {
    const query = parameters.filter((p) => p.in === 'query');
    if (!/^(GET|DELETE) /.test(name) || responses[101]) continue;
    const [method] = name.split(' ');
    const bare = path.replace(/\{(\w+)\}/g,
      (_, id) => (/version|number|sequence/.test(id) ? '1' : uuid()));
    const answer = await server.open.request(method, bare, { headers: { 'If-Match': '*' } });
    const missing = answer.status !== 422 ? [] : answer.body.errors
      .filter((fault) => query.some((p) => p.name === fault.pointer))
      .map((fault) => [fault.pointer, fault.detail]);
    assert.deepEqual(missing, query.filter((p) => p.required)
      .map((p) => [p.name, 'must be given']), name);
    if (missing.length > 0) walked.add(name);
  }
  assert.deepEqual([...walked].sort(), [
    'DELETE /v1/store/items', 'GET /v1/messages/search', 'GET /v1/store/items',
    'GET /v1/threads/{thread_id}/messages/search',
  ]);
});

test('archives are tar files, and files bytes of any type', async (t) => {
  const document = await readDocument(await startServer(t));
  const types = (content) => Object.keys(content ?? {});
  const answers = ([, { responses }]) => types(responses[200]?.content);
  for (const [name, operation] of operations(document)) {
    if (/\/export$/.test(name))
      assert.deepEqual(answers([name, operation]), ['application/x-tar'], name);
    if (name === 'POST /v1/imports')
      assert.deepEqual(types(operation.requestBody.content), ['application/x-tar']);
    if (/^GET .*\/files\/\{name\}$/.test(name))
      assert.deepEqual(answers([name, operation]), ['application/octet-stream']);
  }
  assert.deepEqual(types(document.paths['/metrics'].get.responses[200].content), ['text/plain']);
});

test('every operation has a tag that is described, and every tag has operations', async (t) => {
  const document = await readDocument(await startServer(t));
  const used = new Set([...operations(document)].flatMap(([, { tags }]) => tags));
  assert.deepEqual([...used].sort(), document.tags.map(({ name }) => name).sort());
  for (const tag of document.tags) assert.ok(tag.description, tag.name);
  for (const [name, operation] of operations(document))
    assert.match(operation.description, /^Needs (no key|a key with)/, name);
});

test('operation ids are unique and plain', async (t) => {
  const document = await readDocument(await startServer(t));
  const ids = [...operations(document)].map(([, operation]) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[a-z][a-z0-9_]+$/);
});

test('every path parameter is declared, and no parameter twice', async (t) => {
  const document = await readDocument(await startServer(t));
  for (const [name, { parameters }, path] of operations(document)) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]);
    assert.deepEqual(
      parameters.filter((p) => p.in === 'path').map((p) => p.name),
      inPath,
      name,
    );
    const all = parameters.map((p) => `${p.in} ${p.name}`);
    assert.equal(new Set(all).size, all.length, name);
    for (const p of parameters) {
      if (p.in !== 'query') assert.equal(p.required, p.in === 'path', `${name} ${p.name}`);
      assert.ok(p.schema, `${name} ${p.name}`);
    }
  }
});

test('ids in paths are UUIDs', async (t) => {
  const document = await readDocument(await startServer(t));
  const own = ['checkpoint_id', 'notebook_id', 'other_id', 'tool_use_id', 'workflow_id'];
  const found = new Set();
  for (const operations of Object.values(document.paths))
    for (const { parameters = [] } of Object.values(operations))
      for (const p of parameters.filter((x) => x.in === 'path' && /_id$/.test(x.name)))
        if (resolve(document, p.schema ?? p).format !== 'uuid')
          found.add(p.name);
  assert.deepEqual([...found].filter((name) => !own.includes(name)), []);
});

test('every operation tells its success and its refusal', async (t) => {
  const document = await readDocument(await startServer(t));
  for (const [name, operation] of operations(document)) {
    const { default: refusal, ...rest } = operation.responses;
    assert.deepEqual(
      refusal.content['application/problem+json'].schema,
      { $ref: '#/components/schemas/Problem' },
      name,
    );
    assert.ok(
      Object.keys(rest).some((status) => ['101', '200', '201', '204'].includes(status)),
      name,
    );
    for (const schema of Object.values(operation.requestBody?.content ?? {}))
      assert.ok(schema.schema, name);
  }
});

test('every schema lists as required only members that it has', async (t) => {
  const document = await readDocument(await startServer(t));
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    assert.equal(schema.type, 'object', name);
    for (const member of schema.required)
      assert.ok(schema.properties[member], `${name} requires ${member}`);
  }
});

/** Asks at once, before the next request of the test deletes the object. */
function statusOf(server, secret, path) {
  const args = ['-s', '-I', '-o', '/dev/null', '-w', '%{http_code}', '-H',
    `Authorization: Bearer ${secret}`, `${server.url}${path}`];
  return Number(execFileSync('curl', args, { encoding: 'utf8' }));
}

// --- Real answers ----------------------------------------------------------------------------

test('real answers have the members that the document tells of, and no others', async (t) => {
  const server = await startServer(t);
  const document = await readDocument(server);
  const seen = new Set();
  let first = null; // key
  const places = new Map(); // of the answers with the status 201
  /** Checks an answer against the operation that the path belongs to. */
  const check = (template, method, answer, status) => {
    expectStatus(answer, status);
    const operation = document.paths[template]?.[method];
    assert.ok(operation, `${method} ${template} is documented`);
    const told = operation.responses[status] ?? operation.responses.default;
    const media = answer.headers.get('Content-Type')?.split(';')[0];
    if (answer.text === '')
      assert.equal(told.content, undefined, `${method} ${template} ${status} has no content`);
    else if (told.content['application/octet-stream'] || told.content['application/x-tar']) {
      assert.ok(answer.bytes.length > 0, `${method} ${template}`);
      if (told.content['application/x-tar']) assert.equal(media, 'application/x-tar');
    }
    else conform(document, told.content[media].schema, answer.body, `${method} ${template}`);
    if (status === 201) {
      const place = answer.headers.get('Location');
      assert.match(place ?? '', /^\/(v1|workflow)\//, `${method} ${template}: Location`);
      places.set(`${method} ${template}`, statusOf(server, first.secret, place));
    }
    seen.add(`${method} ${template}`);
    return answer.body;
  };

  const opening = await server.open.post('/v1/keys', {
    name: 'k',
    scopes: ['operator'],
    rate_limit_per_minute: 100000,
  });
  first = opening.body;
  check('/v1/keys', 'post', opening, 201);
  const c = server.client(first.secret);
  check('/healthz', 'get', await c.get('/healthz'), 200);
  check('/readyz', 'get', await c.get('/readyz'), 200);
  check('/v1/whoami', 'get', await c.get('/v1/whoami'), 200);
  check('/v1/tenant', 'get', await c.get('/v1/tenant'), 200);
  check('/v1/tenant', 'patch', await c.patch('/v1/tenant', { settings: { locale: 'de' } }), 200);
  check('/v1/keys', 'get', await c.get('/v1/keys'), 200);
  check('/v1/tickets', 'post', await c.post('/v1/tickets', { path: '/v1/events/stream' }), 201);
  check('/v1/keys/{key_id}', 'get', await c.get(`/v1/keys/${first.id}`), 200);
  const tenant = check(
    '/v1/tenants',
    'post',
    await c.post('/v1/tenants', { name: 'x' }),
    201,
  ).tenant;
  check('/v1/tenants', 'get', await c.get('/v1/tenants?limit=1'), 200);
  check('/v1/tenants/{tenant_id}', 'get', await c.get(`/v1/tenants/${tenant.id}`), 200);
  check(
    '/v1/tenants/{tenant_id}',
    'patch',
    await c.patch(`/v1/tenants/${tenant.id}`,
      { name: 'y', plan_tier: 'pro', quotas: { threads: 3 } }),
    200,
  );
  check(
    '/v1/tenants/{tenant_id}/keys',
    'post',
    await c.post(`/v1/tenants/${tenant.id}/keys`, { name: 'k', scopes: ['admin'] }),
    201,
  );
  check('/v1/tenants/{tenant_id}', 'delete', await c.del(`/v1/tenants/${tenant.id}`), 204);
  await answersOfAgents(check, c);
  await answersOfAgentRuns(check, c);
  await answersOfResumption(check, c);
  await answersOfFiles(check, c, (await c.post('/v1/threads', {})).body.id);
  check('/v1/audit', 'get', await c.get('/v1/audit'), 200);
  check('/v1/audit/verify', 'get', await c.get('/v1/audit/verify'), 200);

  const thread = check('/v1/threads', 'post', await c.post('/v1/threads', { title: 'a' }), 201);
  check('/v1/threads', 'get', await c.get('/v1/threads'), 200);
  check('/v1/threads', 'get', await c.get('/v1/threads?include=documents'), 200);
  check('/v1/threads/by-key/{key}', 'put', await c.put('/v1/threads/by-key/a'), 201);
  check('/v1/threads/by-key/{key}', 'get', await c.get('/v1/threads/by-key/a'), 200);
  check('/v1/threads/{thread_id}', 'get', await c.get(`/v1/threads/${thread.id}`), 200);
  check(
    '/v1/threads/{thread_id}',
    'get',
    await c.get(`/v1/threads/${thread.id}`, { headers: { 'If-None-Match': '"1"' } }),
    304,
  );
  check(
    '/v1/threads/{thread_id}',
    'patch',
    await c.patch(`/v1/threads/${thread.id}`, { title: 'b' }),
    200,
  );
  check(
    '/v1/threads/{thread_id}/pause',
    'post',
    await c.post(`/v1/threads/${thread.id}/pause`),
    200,
  );
  check(
    '/v1/threads/{thread_id}/resume',
    'post',
    await c.post(`/v1/threads/${thread.id}/resume`),
    200,
  );

  check('/v1/runs/claim', 'post', await c.post('/v1/runs/claim', { worker: 'w' }), 204);
  const run = check(
    '/v1/threads/{thread_id}/runs',
    'post',
    await c.post(`/v1/threads/${thread.id}/runs`, { user_input: 'hi' }),
    201,
  );
  const claimed = check(
    '/v1/runs/claim',
    'post',
    await c.post('/v1/runs/claim', { worker: 'w' }),
    200,
  );
  const fence = token(claimed);
  check(
    '/v1/runs/{run_id}/heartbeat',
    'post',
    await c.post(`/v1/runs/${run.id}/heartbeat`, {}, fence),
    200,
  );
  check(
    '/v1/runs/{run_id}',
    'patch',
    await c.patch(`/v1/runs/${run.id}`, { status: 'waiting_for_input' }, fence),
    200,
  );
  check(
    '/v1/runs/{run_id}/input',
    'post',
    await c.post(`/v1/runs/${run.id}/input`, { input: { a: 1 } }),
    200,
  );
  const again = check(
    '/v1/runs/claim',
    'post',
    await c.post('/v1/runs/claim', { worker: 'w' }),
    200,
  );
  check(
    '/v1/runs/{run_id}/release',
    'post',
    await c.post(`/v1/runs/${run.id}/release`, undefined, token(again)),
    200,
  );
  check('/v1/runs/{run_id}/pause', 'post', await c.post(`/v1/runs/${run.id}/pause`), 200);
  check('/v1/runs/{run_id}/resume', 'post', await c.post(`/v1/runs/${run.id}/resume`), 200);
  check(
    '/v1/runs/{run_id}/cancel',
    'post',
    await c.post(`/v1/runs/${run.id}/cancel`, { reason: 'x' }),
    200,
  );
  const repeated = check(
    '/v1/runs/{run_id}/retry',
    'post',
    await c.post(`/v1/runs/${run.id}/retry`, { backoff: { initial_ms: 5 } }),
    201,
  );
  expectStatus(await c.post(`/v1/runs/${repeated.id}/cancel`), 200);
  check('/v1/runs/{run_id}', 'get', await c.get(`/v1/runs/${run.id}`), 200);
  check('/v1/runs', 'get', await c.get('/v1/runs'), 200);
  check(
    '/v1/threads/{thread_id}/runs',
    'get',
    await c.get(`/v1/threads/${thread.id}/runs?include=documents`),
    200,
  );

  check(
    '/v1/threads/{thread_id}/events',
    'post',
    await c.post(`/v1/threads/${thread.id}/events`, { kind: 'progress', payload: [1] }),
    201,
  );
  check(
    '/v1/threads/{thread_id}/events',
    'post',
    await c.post(`/v1/threads/${thread.id}/events`, {
      events: [{ kind: 'progress' }, { kind: 'app.done' }],
    }),
    201,
  );
  check(
    '/v1/threads/{thread_id}/events',
    'get',
    await c.get(`/v1/threads/${thread.id}/events`),
    200,
  );
  check('/v1/events', 'get', await c.get('/v1/events?limit=2'), 200);
  check(
    '/v1/threads/{thread_id}/events/prune',
    'post',
    await c.post(`/v1/threads/${thread.id}/events/prune`, { through_seq: 2 }),
    200,
  );
  await answersOfMessages(check, c, thread.id);
  await answersOfSteps(check, c);
  await answersOfCheckpoints(check, c);
  await answersOfMoney(check, c);
  await answersOfStore(check, c);
  // Participants, by their id and as "me".
  const people = `/v1/threads/${thread.id}/participants`;
  const template = '/v1/threads/{thread_id}/participants';
  const alice = { headers: { 'Cairn-Principal': 'user:alice' } };
  const body = { principal: 'user:alice', image: 'https://example.com/a.png' };
  const person = check(template, 'post', await c.post(people, body), 201);
  check(template, 'get', await c.get(people), 200);
  for (const [name, id, opts] of [
    ['{participant_id}', person.id, {}],
    ['me', 'me', alice],
  ]) {
    const at = `${template}/${name}`;
    check(at, 'get', await c.get(`${people}/${id}`, opts), 200);
    check(at, 'patch', await c.patch(`${people}/${id}`, { status: id }, opts), 200);
    check(`${at}/heartbeat`, 'post', await c.post(`${people}/${id}/heartbeat`, {}, opts), 200);
  }
  check(`${template}/me`, 'delete', await c.del(`${people}/me`, alice), 200);
  check(`${template}/{participant_id}`, 'delete', await c.del(`${people}/${person.id}`), 200);
  check(template, 'post', await c.post(people, { ...body, permission: 'read' }), 201);

  const links = '/v1/threads/{thread_id}/shares';
  const link = { kind: 'participate', permission: 'read_write', max_redemptions: 1 };
  const share = check(links, 'post', await c.post(`/v1/threads/${thread.id}/shares`, link), 201);
  const redeem = await c.post('/v1/shares/redeem', { token: share.token }, alice);
  check('/v1/shares/redeem', 'post', redeem, 200);
  check(links, 'get', await c.get(`/v1/threads/${thread.id}/shares`), 200);
  const at = `/v1/threads/${thread.id}/shares/${share.id}`;
  check(`${links}/{share_id}`, 'get', await c.get(at), 200);
  check(`${links}/{share_id}/redemptions`, 'get', await c.get(`${at}/redemptions`), 200);
  check(`${links}/{share_id}`, 'delete', await c.del(at), 200);

  check(
    '/v1/threads/{thread_id}/cancel',
    'post',
    await c.post(`/v1/threads/${thread.id}/cancel`),
    200,
  );
  check('/v1/threads/{thread_id}', 'delete', await c.del(`/v1/threads/${thread.id}`), 204);

  const flow = check(
    '/workflow/start',
    'post',
    await c.post('/workflow/start', { user_input: 'hi' }),
    201,
  );
  check('/workflow/{workflow_id}', 'get', await c.get(`/workflow/${flow.workflow_id}`), 200);
  check(
    '/workflow/pause/{workflow_id}',
    'post',
    await c.post(`/workflow/pause/${flow.workflow_id}`),
    200,
  );
  check(
    '/workflow/resume/{workflow_id}',
    'post',
    await c.post(`/workflow/resume/${flow.workflow_id}`),
    200,
  );
  expectStatus(await c.patch(`/v1/runs/${flow.run_id}`, { status: 'waiting_for_input' }), 200);
  check(
    '/workflow/input/{workflow_id}',
    'post',
    await c.post(`/workflow/input/${flow.workflow_id}`, { input: 'y' }),
    200,
  );
  check(
    '/workflow/cancel/{workflow_id}',
    'post',
    await c.post(`/workflow/cancel/${flow.workflow_id}`),
    200,
  );
  await answersOfArchives(check, c);
  const spare = expectStatus(await c.post('/v1/keys', { name: 's', scopes: ['runs:read'] }), 201);
  check('/v1/keys/{key_id}', 'delete', await c.del(`/v1/keys/${spare.id}`), 200);

  const silent = new Set(['get /metrics', 'get /openapi.json']);
  const unseen = [...operations(document)]
    .filter(
      ([, operation]) =>
        !operation.responses[101] && !operation.responses[200]?.content?.['text/event-stream'],
    )
    .map(([name]) => name.replace(/^\w+/, (method) => method.toLowerCase()))
    .filter((name) => !seen.has(name) && !silent.has(name));
  assert.deepEqual(unseen, [], 'an answer of every operation was checked');

  const creating = [...operations(document)]
    .filter(([, { responses }]) => responses[201])
    .map(([name]) => name.replace(/^\w+/, (method) => method.toLowerCase()));
  // A key of another tenant is shown to that tenant.
  const elsewhere = 'post /v1/tenants/{tenant_id}/keys';
  assert.deepEqual(
    creating.map((name) => [name, places.get(name)]),
    creating.map((name) => [name, name === elsewhere ? 404 : 200]),
    'each has created an object, and Location leads there',
  );
});

test('refusals are Problem documents as the document tells', async (t) => {
  const server = await startServer(t);
  const document = await readDocument(server);
  const { alice } = await twoTenants(server);
  const thread = expectStatus(await alice.post('/v1/threads', { title: 'a' }), 201);
  const refusals = [
    ['GET', '/v1/threads', await server.open.get('/v1/threads'), 401],
    ['GET', '/v1/tenants', await alice.get('/v1/tenants'), 403],
    ['GET', '/v1/threads/{thread_id}', await alice.get(`/v1/threads/${uuid()}`), 404],
    [null, null, await alice.put('/v1/threads', {}), 405],
    ['POST', '/v1/threads', await alice.post('/v1/threads', { x: 1 }), 422],
    ['POST', '/v1/threads', await alice.post('/v1/threads', undefined, { raw: '{' }), 400],
    ['POST', '/v1/threads', await alice.post('/v1/threads', {}, { type: 'text/plain' }), 415],
    ['GET', '/v1/events/ws', await alice.get('/v1/events/ws'), 426],
    ['PATCH', '/v1/threads/{thread_id}', await alice.patch(`/v1/threads/${thread.id}`,
      { title: 'b' }, { headers: { 'If-Match': '"9"' } }), 412],
    ['PUT', '/v1/threads/{thread_id}/states/{name}',
      await alice.put(`/v1/threads/${thread.id}/states/a`, { data: {} }), 428],
  ];
  for (const [method, path, answer, status] of refusals) {
    expectStatus(answer, status);
    conform(document, { $ref: '#/components/schemas/Problem' }, answer.body, String(status));
    if (method === null) continue;
    const told = document.paths[path][method.toLowerCase()].responses[status];
    const { content } = resolve(document, told);
    assert.deepEqual(Object.keys(content), ['application/problem+json'], `${path} ${status}`);
  }
});
