// SPDX-License-Identifier: Apache-2.0
// The limits of every body and query: they are the ones of limits.json, and each is enforced at
// its edge. After a deliberate change, CAIRN_WRITE_LIMITS=1 node limits.test.mjs writes the file.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { expectStatus, startServer, uuid } from './lib/server.mjs';

const FILE = new URL('limits.json', import.meta.url);
const LIMITS = ['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems'];

const readDocument = async (server) => expectStatus(await server.open.get('/openapi.json'), 200);

function* operations(document) {
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(item))
      yield { name: `${method.toUpperCase()} ${path}`, method, path, operation };
}

const bodyOf = (document, operation) => {
  const name = operation.requestBody?.content?.['application/json']?.schema.$ref?.split('/').at(-1);
  return name && [name, document.components.schemas[name]];
};

/**
 * The members with limits below a schema: [their pointer, their schema, a function that puts a
 * value at their place into a document]. A reference is followed once.
 */
function* limited(document, schema, pointer = '', wrap = (value) => value, seen = []) {
  const ref = schema.$ref;
  if (ref !== undefined) {
    if (seen.includes(ref)) return;
    const target = document.components.schemas[ref.split('/').at(-1)];
    yield* limited(document, target, pointer, wrap, [...seen, ref]);
    return;
  }
  if (LIMITS.some((name) => name in schema)) yield [pointer, schema, wrap];
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    yield* limited(document, member, `${pointer}/${name}`, (v) => wrap({ [name]: v }), seen);
  if (schema.items)
    yield* limited(document, schema.items, `${pointer}/0`, (v) => wrap([v]), seen);
}

const limitsOf = (schema) =>
  Object.fromEntries(LIMITS.filter((name) => name in schema).map((name) => [name, schema[name]]));

/** All limits of what clients send: {"ThreadBody/title": {maxLength: 1000}}. */
function allLimits(document) {
  const all = {};
  for (const { name, operation } of operations(document)) {
    const [bodyName, body] = bodyOf(document, operation) ?? [];
    if (body !== undefined)
      for (const [pointer, schema] of limited(document, body))
        all[`${bodyName}${pointer}`] = limitsOf(schema);
    for (const p of operation.parameters.filter((q) => q.in === 'query'))
      if (LIMITS.some((limit) => limit in p.schema))
        all[`${name}?${p.name}`] = limitsOf(p.schema);
  }
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
}

test('the limits of bodies and queries are the ones that are written down', async (t) => {
  const limits = allLimits(await readDocument(await startServer(t)));
  const lines = Object.entries(limits)
    .map(([name, limit]) => `  ${JSON.stringify(name)}: ${JSON.stringify(limit)}`);
  if (process.env.CAIRN_WRITE_LIMITS) writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`);
  assert.deepEqual(limits, JSON.parse(readFileSync(FILE, 'utf8')),
    'a limit changed: if that is intended, run this file with CAIRN_WRITE_LIMITS=1');
  assert.ok(lines.length > 100, `${lines.length} limits`);
});

/** The pairs of values on both sides of each limit of a schema: [good, bad]. */
function edges(schema) {
  const pairs = [];
  const of = (limit, make, step) => {
    // Larger integers are not exact here; the decoder's own tests have them.
    if (Math.abs(schema[limit]) < 2 ** 53 - 1)
      pairs.push([limit, make(schema[limit]), make(schema[limit] + step)]);
  };
  const text = (n) => 'x'.repeat(n);
  const item = schema.items?.type === 'string' ? 'x' : {};
  const items = (n) => Array.from({ length: n }, () => item);
  of('maxLength', text, 1);
  if (schema.minLength > 0) of('minLength', text, -1);
  of('maxItems', items, 1);
  if (schema.minItems > 0) of('minItems', items, -1);
  of('maximum', (n) => n, 1);
  of('minimum', (n) => n, -1);
  return pairs;
}

/** The rule that a member breaks, by the answer; undefined if there is none. */
const faultAt = (answer, pointer) => answer.status !== 422 ? undefined
  : answer.body.errors?.find((fault) => fault.pointer === pointer)?.detail;

const fill = (path) => path.replace(/\{(\w+)\}/g,
  (_, name) => (/version|number|sequence/.test(name) ? '1' : uuid()));

// These read the object before they judge the whole of it.
const JUDGED_LATER = /^PATCH |^POST \/v1\/agents\/\{agent_id\}\/versions$/;

test('every limit of a body is enforced at its edge', async (t) => {
  const server = await startServer(t);
  const document = await readDocument(server);
  let walked = 0;
  const seen = new Set();
  for (const { name, method, path, operation } of operations(document)) {
    const [bodyName, body] = bodyOf(document, operation) ?? [];
    if (body === undefined || JUDGED_LATER.test(name) || seen.has(bodyName)) continue;
    seen.add(bodyName);
    const send = (value) => server.open.request(method.toUpperCase(), fill(path),
      { body: value, headers: { 'If-Match': '*', 'Cairn-Fencing-Token': '1' } });
    for (const [pointer, schema, wrap] of limited(document, body))
      for (const [limit, good, bad] of edges(schema)) {
        if (JSON.stringify(wrap(bad)).length > 3_900_000) continue;
        const told = `${name} ${pointer}, ${limit} ${schema[limit]}`;
        const refusal = faultAt(await send(wrap(bad)), pointer);
        assert.ok(refusal !== undefined, `${told}: one more is rejected`);
        assert.notEqual(faultAt(await send(wrap(good)), pointer), refusal, `${told} is accepted`);
        walked++;
      }
  }
  t.diagnostic(`limits of bodies: ${walked}`);
  assert.ok(walked > 200, `${walked} edges`);
});

test('every limit of a query is enforced at its edge', async (t) => {
  const server = await startServer(t);
  const document = await readDocument(server);
  let walked = 0;
  for (const { name, path, operation } of operations(document)) {
    const isStream = operation.responses[101] !== undefined ||
      operation.responses[200]?.content?.['text/event-stream'] !== undefined;
    if (!name.startsWith('GET ') || isStream) continue;
    // A request that waits is answered after that time.
    for (const p of operation.parameters.filter((q) => q.in === 'query' && q.name !== 'wait'))
      for (const [limit, good, bad] of edges(p.schema)) {
        const send = (value) => server.open.get(`${fill(path)}?${p.name}=${value}`);
        const told = `${name}?${p.name}, ${limit} ${p.schema[limit]}`;
        const refusal = faultAt(await send(bad), p.name);
        assert.ok(refusal !== undefined, `${told}: one more is rejected`);
        assert.notEqual(faultAt(await send(good), p.name), refusal, `${told} is accepted`);
        walked++;
      }
  }
  t.diagnostic(`limits of queries: ${walked}`);
  assert.ok(walked > 60, `${walked} edges`);
});

// --- Limits that the OpenAPI document does not have ---------------------------------------------

const text = (n) => 'x'.repeat(n);
const list = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const object = (n) => Object.fromEntries(list(n, (i) => [`m${i}`, i]));
/** An object of exactly n bytes as compact JSON. */
const bytes = (n) => ({ a: text(n - 8) });

/**
 * [name, the greatest number that is accepted, a function that sends a request with the number, the
 * pointer of the fault]. Each is sent with the number and with one more.
 */
const inner = ({ open, thread, run, agent, today }) => {
  const of = `/v1/threads/${thread}`;
  const message = (more) => open.post(`${of}/messages`, { content: 'x', ...more });
  const draft = (more) => open.post(`/v1/agents/${agent}/versions`, { bump: 'patch', ...more });
  const rails = (tools) => draft({ guardrail_config: { tool_rails: { allowed_tools: tools } } });
  const tools = async (body) => {
    const { id } = expectStatus(await open.post('/v1/threads', {}), 201);
    const started = await open.post(`/v1/threads/${id}/runs`, { dispatch: 'direct' });
    return open.post(`/v1/runs/${expectStatus(started, 201).id}/tools`, body);
  };
  const tool = (i) => ({ tool_use_id: `t${i}`, name: 'x', side: 'frontend' });
  const result = (i, content) => ({ tool_use_id: `r${i}`, content });
  const turn = (results) => open.post(`/v1/runs/${run}/turns`,
    { input: { tool_results: results }, status: 'complete' });
  const item = (more) => open.put('/v1/store/items',
    { namespace: ['n'], key: 'k', value: {}, ...more });
  const day = (n) => new Date(today - n * 86_400_000).toISOString().slice(0, 10);
  return [
    ['members of metadata', 256, (n) => open.post('/v1/threads', { metadata: object(n) }),
      '/metadata'],
    ['filenames', 100, (n) => message({ filenames: list(n, () => 'a') }), '/filenames'],
    ['a text of the footer', 2000, (n) => message({ metadata: { footer_items: text(n) } }),
      '/metadata/footer_items'],
    ['texts of the footer', 100, (n) => message({ metadata: { footer_items: list(n, () => 'x') } }),
      '/metadata/footer_items'],
    ['calls of tools', 100, (n) => message({ metadata: {
      tool_calls: list(n, (i) => ({ id: `${i}`, name: 'x', arguments: {} })) } }),
    '/metadata/tool_calls'],
    ['bytes of debug', 1024 * 1024, (n) => message({ metadata: { debug: bytes(n) } }),
      '/metadata/debug'],
    ['bytes of metadata', 100 * 1024, (n) => message({ metadata: bytes(n) }), '/metadata'],
    ['bytes of a command', 16 * 1024, (n) => message({ type: 'command', content:
      `/a ${text(n - 3)}` }), '/content'],
    ['the name of a command', 64, (n) => message({ type: 'command', content: `/${text(n)}` }),
      '/content'],
    ['arguments of a command', 100, (n) => message({ type: 'command', content:
      `/a ${list(n, () => 'x').join(' ')}` }), '/content'],
    ['a principal', 256, (n) => open.post(`${of}/participants`,
      { principal: `user:${text(n - 5)}` }), '/principal'],
    ['the kind of an event', 64, (n) => open.post(`${of}/events`, { kind: `a.${text(n - 2)}` }),
      '/kind'],

    ['the name of a file', 255, (n) => open.put(`${of}/files/${text(n)}`, {}), 'name'],
    ['the type of a file', 255, (n) => open.request('PUT', `${of}/files/typed`,
      { raw: 'x', type: `text/${text(n - 5)}` }), 'Content-Type'],
    ['the name of a state', 200, (n) => open.put(`${of}/states/${text(n)}`, { data: {} },
      { headers: { 'If-Match': '*' } }), 'name'],
    ['the key of storage', 512, (n) => open.put(`/v1/agents/${agent}/storage/${text(n)}`, {}),
      'key'],
    ['the type of storage', 200, (n) => open.request('PUT', `/v1/agents/${agent}/storage/typed`,
      { raw: 'x', type: `text/${text(n - 5)}` }), 'Content-Type'],
    ['the model of a price', 200, (n) => open.put(`/v1/prices/${text(n)}`,
      { input: 1, output: 1 }), 'model'],

    ['a label of a namespace', 128, (n) => item({ namespace: [text(n)] }), '/namespace/0'],
    ['members of a filter', 32, (n) => open.post('/v1/store/search', { filter: object(n) }),
      '/filter'],
    ['dimensions', 4096, (n) => item({ vectors: [{ path: 'a', values: list(n, () => 1) }] }),
      '/vectors/0/values'],

    ['instructions', 128 * 1024, (n) => draft({ system_prompt: text(n) }), '/system_prompt'],
    ['examples', 256, (n) => draft({ system_prompt: { examples: list(n, () => 'x') } }),
      '/system_prompt/examples'],
    ['allowed tools', 256, (n) => rails(list(n, (i) => `t${i}`)),
      '/guardrail_config/tool_rails/allowed_tools'],
    ['the name of an allowed tool', 200, (n) => rails([text(n)]),
      '/guardrail_config/tool_rails/allowed_tools/0'],

    ['tools of a pause', 256, (n) => tools(
      { tools: [tool(0)], backend_results: list(n - 1, (i) => result(i, 'x')) }),
    '/backend_results'],
    ['the id of a tool', 128, (n) => tools({ tools: [{ ...tool(0), tool_use_id: text(n) }] }),
      '/tools/0/tool_use_id'],
    ['the name of a tool', 128, (n) => tools({ tools: [{ ...tool(0), name: text(n) }] }),
      '/tools/0/name'],
    ['inputs of tools', 1024 * 1024, (n) => tools({ tools: list(5, (i) =>
      ({ ...tool(i), input: bytes(i < 4 ? 200_000 : n - 800_000) })) }), '/tools/4/input'],
    ['results of tools', 768 * 1024, (n) => tools({ tools: [tool(0)], backend_results: [
      result(0, text(400_000 - 2)), result(1, text(n - 400_000 - 2))] }),
    '/backend_results/1/content'],
    ['the results of a turn', 256, (n) => turn(list(n, (i) => ({ tool_use_id: `${i}` }))),
      '/input/tool_results'],
    ['the tool of a turn', 200, (n) => turn([{ tool_use_id: text(n) }]),
      '/input/tool_results/0/tool_use_id'],
    ['days of usage', 3660, (n) => open.get(`/v1/usage?from=${day(n - 1)}&to=${day(0)}`),
      'from'],
  ];
};

test('limits inside documents, paths and sums are enforced at their edge', async (t) => {
  const { open } = await startServer(t);
  const made = async (path, body) => expectStatus(await open.post(path, body), 201).id;
  const thread = await made('/v1/threads', {});
  const run = await made(`/v1/threads/${thread}/runs`, { dispatch: 'direct' });
  const agent = await made('/v1/agents', { name: 'limits' });
  expectStatus(await open.put(`/v1/threads/${thread}/files/a`, {}), 201);
  for (const [name, most, send, pointer] of inner({ open, thread, run, agent, today: Date.now() }))
    await t.test(`${name}: ${most}`, async () => {
      const good = await send(most);
      assert.ok(good.status < 300, good.text);
      const bad = await send(most + 1);
      assert.ok(faultAt(bad, pointer) !== undefined, `one more is rejected: ${bad.text}`);
    });
});

// --- Limits of the number of rows ---------------------------------------------------------------

/** [name, the greatest number, a function that adds the row i of an owner, a function that frees a
 * place, if any]. */
const counted = (open) => [
  ['uploads', 100, (thread, i) => open.post(`/v1/threads/${thread}/uploads`,
    { name: `u${i}`, size_bytes: 1 }),
  (thread, { id }) => open.del(`/v1/threads/${thread}/uploads/${id}`)],
  ['shares', 1000, (thread) => open.post(`/v1/threads/${thread}/shares`, { kind: 'participate' }),
    (thread, { id }) => open.del(`/v1/threads/${thread}/shares/${id}`)],
  ['participants', 1000, (thread, i) => open.post(`/v1/threads/${thread}/participants`,
    { principal: `user:p${i}` })],
];

test('rows of another owner, and rows that are gone, do not count', async (t) => {
  const { open } = await startServer(t);
  const newThread = async () => expectStatus(await open.post('/v1/threads', {}), 201).id;
  for (const [name, most, add, free] of counted(open))
    await t.test(`${name}: ${most}`, async () => {
      const [thread, other] = [await newThread(), await newThread()];
      const first = expectStatus(await add(thread, 0), 201);
      for (let i = 1; i < most;)
        await Promise.all(list(Math.min(50, most - i), () => add(thread, i++)))
          .then((answers) => answers.forEach((answer) => expectStatus(answer, 201)));
      assert.match(expectStatus(await add(thread, most), 409).detail, new RegExp(`${most}`));
      expectStatus(await add(other, most), 201);
      if (free === undefined) return;
      assert.ok((await free(thread, first)).status < 300);
      expectStatus(await add(thread, most), 201);
      expectStatus(await add(thread, most + 1), 409);
    });
});
