// SPDX-License-Identifier: Apache-2.0
// In-process and HTTP are the same API: one script is driven through both, and every answer is
// compared, status, headers and body.
//   1. On one database: the script runs over HTTP; then its reads, its refusals and its POSTs (by
//      their Idempotency-Keys) are sent again, over HTTP and in-process. They are byte-identical.
//   2. On two empty databases: identical but for ids, times, secrets and hashes, which are numbered
//      in the order in which they appear.
// Left out: the headers of the transport (TRANSPORT), /metrics, whose figures are of a process, and
// the routes of streams, which embed.test.mjs compares.
import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { placeOf, startDrive } from './lib/drive.mjs';
import { ENGINE, startServer } from './lib/server.mjs';

const TRANSPORT = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding',
  'vary'];

/** One request over HTTP, answered as drive.call answers. */
function overHttp(server, method, target, { headers = [], body } = {}) {
  const options = { method, path: target, port: server.port, agent: false,
    headers: Object.fromEntries(headers.map((line) => line.split(/: (.*)/s, 2))) };
  return new Promise((done, fail) => {
    const request = http.request({ host: '127.0.0.1', ...options }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk)).on('error', fail).on('end', () => {
        const names = answer.rawHeaders.filter((_, i) => i % 2 === 0);
        const pairs = names.map((name, i) => [name, answer.rawHeaders[2 * i + 1]]);
        done({ status: answer.statusCode, body: Buffer.concat(chunks).toString(),
          headers: pairs.filter(([name]) => !TRANSPORT.includes(name.toLowerCase())) });
      });
    });
    request.on('error', fail);
    if (body !== undefined) request.setHeader('Content-Length', Buffer.byteLength(body));
    request.end(body);
  });
}

// --- The script ------------------------------------------------------------------------------

const json = (object) => JSON.stringify(object);
const TYPE = 'Content-Type: application/json';
const MERGE = 'Content-Type: application/merge-patch+json';
const PATCH = 'Content-Type: application/json-patch+json';
const NOBODY = '018f0000-0000-7000-8000-0000000000aa';

/**
 * Steps: [method, target, {body, headers, as, keep, once}], the last three by name: whose key, what
 * to remember of the answer, and whether sending it again would change something. Targets, headers
 * and bodies are made of what is remembered.
 */
const SCRIPT = [
  ['GET', '/healthz'],
  ['GET', '/readyz'],
  ['GET', '/openapi.json'],
  ['GET', '/v1/whoami', { as: null }],
  ['POST', '/v1/keys', { as: null, once: true, keep: { host: 'secret', hostId: 'id' },
    body: json({ name: 'host', scopes: ['operator', 'admin'] }) }],
  ['GET', '/v1/whoami', { as: null }],
  ['GET', '/v1/whoami'],
  ['GET', '/v1/whoami', { headers: ['Authorization: Basic eDp5'], as: null }],
  ['GET', '/v1/whoami', { headers: ['Authorization: Bearer cairn_wrong'], as: null }],
  ['POST', '/v1/tenants', { once: true, body: json({ name: 'guest' }),
    keep: { tenant: 'tenant.id', guest: 'key.secret' } }],
  ['POST', '/v1/keys', { once: true, keep: { reader: 'secret' },
    body: json({ name: 'reader', scopes: ['threads:read'] }) }],
  ['POST', '/v1/keys', { once: true, keep: { slow: 'secret' },
    body: json({ name: 'slow', scopes: ['threads:read'], rate_limit_per_minute: 2 }) }],
  ['GET', '/v1/keys?limit=2'],
  ['GET', (v) => `/v1/keys/${v.hostId}`],
  ['GET', '/v1/tenants'],
  ['GET', (v) => `/v1/tenants/${v.tenant}`],

  // Threads.
  ['POST', '/v1/threads', { keep: { thread: 'id' },
    body: json({ title: 'one', context: { a: 1 }, metadata: { color: 'red' } }) }],
  ['POST', '/v1/threads', { keep: { second: 'id' } }],
  ['POST', '/v1/threads', { body: '{"title":' }],
  ['POST', '/v1/threads', { body: '{"title":"\ud83d\ude00 \\u00e4","title":1}' }],
  ['POST', '/v1/threads', { body: json({ title: 7, colour: 'red' }) }],
  ['POST', '/v1/threads', { body: 'x=1', headers: ['Content-Type: text/plain'] }],
  ['POST', '/v1/threads', { body: `"${'x'.repeat(5 << 20)}"` }],
  ['POST', '/v1/threads', { as: 'reader', body: '{}' }],
  ['GET', '/v1/threads?limit=1', { keep: { cursor: 'next_cursor' } }],
  ['GET', (v) => `/v1/threads?limit=1&cursor=${v.cursor}`],
  ['GET', '/v1/threads?metadata.color=red&include=context'],
  ['GET', '/v1/threads?limit=0'],
  ['GET', '/v1/threads?cursor=nonsense'],
  ['GET', '/v1/threads?%zz=1'],
  ['GET', '/v1/threads', { as: 'guest' }],
  ['GET', '/v1/threads', { as: null }],
  ['GET', (v) => `/v1/threads/${v.thread}`],
  ['HEAD', (v) => `/v1/threads/${v.thread}`],
  ['GET', (v) => `/v1/threads/${v.thread}`, { headers: ['If-None-Match: "1"'] }],
  ['GET', (v) => `/v1/threads/${v.thread}`, { headers: ['If-None-Match: *'] }],
  ['GET', (v) => `/v1/threads/${v.thread}`, { as: 'guest' }],
  ['GET', `/v1/threads/${NOBODY}`],
  ['GET', '/v1/threads/not-a-uuid'],
  ['GET', '/v1/nowhere'],
  ['DELETE', '/v1/threads'],
  ['OPTIONS', '/v1/threads'],
  ['PATCH', (v) => `/v1/threads/${v.thread}`, { once: true, headers: [MERGE, 'If-Match: "1"'],
    body: json({ title: null, context: { b: [1, 2.50, 'x'] } }) }],
  ['PATCH', (v) => `/v1/threads/${v.thread}`, { headers: [MERGE, 'If-Match: "1"'],
    body: json({ title: 'late' }) }],
  ['PATCH', (v) => `/v1/threads/${v.thread}`, { once: true, headers: [PATCH],
    body: json([{ op: 'add', path: '/context/c', value: true }]) }],
  ['PATCH', (v) => `/v1/threads/${v.thread}`, { headers: [PATCH],
    body: json([{ op: 'test', path: '/context/c', value: false }]) }],
  ['POST', (v) => `/v1/threads/${v.second}/pause`],
  ['POST', (v) => `/v1/threads/${v.second}/resume`],
  ['GET', (v) => `/v1/threads/${v.thread}`, { headers: ['traceparent: 00-a\tb-01'] }],

  // Runs and leases.
  ['POST', (v) => `/v1/threads/${v.thread}/runs`, { keep: { run: 'id' },
    body: json({ user_input: 'how many?' }) }],
  ['POST', (v) => `/v1/threads/${v.thread}/runs`, { once: true, // refused: one is active
    body: '{}' }],
  ['POST', '/v1/runs/claim', { body: json({ worker: 'w' }), keep: { fence: 'fence' } }],
  ['POST', '/v1/runs/claim?wait=1', { body: json({ worker: 'w' }) }],
  ['POST', '/v1/runs/claim', { body: '{}' }],
  ['PATCH', (v) => `/v1/runs/${v.run}`, { once: true, headers: [MERGE], // refused: it is leased
    body: json({ state: { n: 1 } }) }],
  ['PATCH', (v) => `/v1/runs/${v.run}`, { once: true, body: json({ state: { n: 1 } }),
    headers: [MERGE, (v) => `Cairn-Fencing-Token: ${v.fence}`] }],
  ['PATCH', (v) => `/v1/runs/${v.run}`, { headers: [MERGE, 'Cairn-Fencing-Token: 0'],
    body: json({ state: { n: 2 } }) }],
  ['POST', (v) => `/v1/runs/${v.run}/heartbeat`,
    { headers: [(v) => `Cairn-Fencing-Token: ${v.fence}`] }],
  ['PATCH', (v) => `/v1/runs/${v.run}`, { once: true,
    body: json({ status: 'completed', final_output: { count: 42 } }),
    headers: [MERGE, (v) => `Cairn-Fencing-Token: ${v.fence}`] }],
  ['POST', (v) => `/v1/runs/${v.run}/cancel`, { body: json({ reason: 'late' }) }],
  ['GET', (v) => `/v1/runs/${v.run}`],
  ['GET', '/v1/runs?status=completed'],
  ['GET', (v) => `/v1/threads/${v.thread}/runs`],

  // Events.
  ['POST', (v) => `/v1/threads/${v.thread}/events`,
    { body: json({ kind: 'progress', text: 'half', payload: { at: 0.5 } }) }],
  ['POST', (v) => `/v1/threads/${v.thread}/events`,
    { body: json({ events: [{ kind: 'app.a' }, { kind: 'app.b', text: '\u0001"\\' }] }) }],
  ['POST', (v) => `/v1/threads/${v.thread}/events`, { body: json({ kind: 'strange' }) }],
  ['GET', (v) => `/v1/threads/${v.thread}/events?after=2&limit=2`],
  ['GET', (v) => `/v1/threads/${v.thread}/events?after=999`],
  ['GET', (v) => `/v1/threads/${v.thread}/events?kind=app.none&wait=1`],
  ['GET', '/v1/events?kind=app.b'],
  ['POST', (v) => `/v1/threads/${v.thread}/events/prune`, { body: json({ through_seq: 2 }) }],
  ['GET', (v) => `/v1/threads/${v.thread}/events?after=1`],

  // The façade.
  ['POST', '/workflow/start', { keep: { flow: 'workflow_id' },
    body: json({ user_input: 'hello' }) }],
  ['GET', (v) => `/workflow/${v.flow}`],
  ['POST', (v) => `/workflow/pause/${v.flow}`],
  ['POST', (v) => `/workflow/resume/${v.flow}`],
  ['POST', (v) => `/workflow/input/${v.flow}`, { body: json({ input: 'yes' }) }],
  ['POST', (v) => `/workflow/cancel/${v.flow}`],
  ['POST', `/workflow/cancel/${NOBODY}`],

  // A request with a used key gets the stored answer, and only if it is the same.
  ['POST', '/v1/threads', { headers: ['Idempotency-Key: twice'], body: json({ title: 'twice' }) }],
  ['POST', '/v1/threads', { headers: ['Idempotency-Key: twice'], body: json({ title: 'twice' }) }],
  ['POST', '/v1/threads', { headers: ['Idempotency-Key: twice'], body: json({ title: 'other' }) }],
  ['POST', '/v1/threads', { headers: ['Idempotency-Key: a b'], body: '{}' }],

  // Ends.
  ['GET', '/v1/audit', { as: 'guest' }],
  ['GET', '/v1/audit/verify', { as: 'guest' }],
  ['GET', '/v1/threads', { as: 'slow', fresh: true }],
  ['GET', '/v1/threads', { as: 'slow', fresh: true }],
  ['GET', '/v1/threads', { as: 'slow', fresh: true }],
  ['DELETE', (v) => `/v1/threads/${v.second}`, { once: true }],
  ['GET', (v) => `/v1/threads/${v.second}`],
  ['GET', `/v1/threads?title=${'x'.repeat(9000)}`],
];

const made = (part, v) => (typeof part === 'function' ? part(v) : part);

const valueAt = (body, path) => path.split('.').reduce((o, name) => o[name], JSON.parse(body));

/** The headers of a step: its own, its key, an id, and under what it is remembered. */
function headersOf([method, , { headers = [], as = 'host', body } = {}], index, v) {
  const own = headers.map((line) => made(line, v));
  const has = (name) => own.some((line) => line.startsWith(`${name}: `));
  return [
    ...own,
    `X-Request-Id: step-${index}`,
    ...(as === null || v[as] === undefined ? [] : [`Authorization: Bearer ${v[as]}`]),
    ...(body === undefined || has('Content-Type') ? [] : [TYPE]),
    ...(method !== 'POST' || has('Idempotency-Key') ? [] : [`Idempotency-Key: key-${index}`]),
  ];
}

/** Sends the script's steps; `v` holds what is remembered. Gives each answer with its step. */
async function drive(send, v, { again = false } = {}) {
  const answers = [];
  for (const [index, step] of SCRIPT.entries()) {
    const [method, target, { body, keep = {}, once, fresh } = {}] = step;
    if (again && (once || fresh)) continue;
    const answer = await send(method, made(target, v),
      { headers: headersOf(step, index, v), body: made(body, v) });
    answers.push({ name: `${index}: ${method} ${made(target, v).slice(0, 80)}`, answer });
    if (!again)
      for (const [name, path] of Object.entries(keep)) {
        assert.ok(answer.status < 300, `step ${index}: ${answer.status} ${answer.body}`);
        v[name] = valueAt(answer.body, path);
      }
  }
  return answers;
}

// A request that is rejected before its headers are read gets a generated id.
const withoutOwnId = (answer) => answer.status !== 414 ? answer : {
  ...answer,
  headers: answer.headers.map(([name, value]) => [name, name === 'X-Request-Id' ? '-' : value]),
  body: answer.body.replace(/"request_id":"[^"]*"/, '"request_id":"-"'),
};

function compare(httpAnswers, inProcess, shape) {
  assert.equal(httpAnswers.length, inProcess.length);
  for (const [i, { name, answer }] of httpAnswers.entries())
    assert.deepEqual(shape[1](withoutOwnId(inProcess[i].answer)), shape[0](withoutOwnId(answer)),
      name);
}

/** Which statuses the script has met: it would prove little if all went well. */
function expectStatuses(answers, wanted) {
  const met = new Set(answers.map(({ answer }) => answer.status));
  for (const status of wanted) assert.ok(met.has(status), `no answer was ${status}`);
}

test('on one database HTTP and in-process answer the same bytes', async (t) => {
  const server = await startServer(t);
  const v = {};
  const throughHttp = (...request) => overHttp(server, ...request);
  const first = await drive(throughHttp, v);
  expectStatuses(first, [200, 201, 204, 304, 400, 401, 403, 404, 405, 409, 410, 412, 413, 414, 415,
    422, 429]);
  const overSocket = await drive(throughHttp, v, { again: true });
  if (ENGINE === 'sqlite') await server.stop(); // one process at a time; PostgreSQL takes both
  const program = startDrive(t, placeOf(server));
  const inProcess = await drive((...request) => program.call(...request), v, { again: true });
  await program.close();
  compare(overSocket, inProcess, [(answer) => answer, (answer) => answer]);
  expectStatuses(inProcess, [200, 201, 204, 304, 400, 401, 403, 404, 405, 409, 410, 412, 413, 414,
    415, 422]);
  assert.ok(inProcess.filter(({ answer }) => answer.headers.some(
    ([name, value]) => name === 'Idempotency-Replayed' && value === 'true')).length >= 15);
});

/** Gives what differs between two databases a number each, in the order of appearance. */
function numbering() {
  const seen = new Map();
  const number = (value) => {
    if (!seen.has(value)) seen.set(value, seen.size);
    return `#${seen.get(value)}`;
  };
  const fromCursor = (text) => {
    const hex = Buffer.from(text, 'base64url').toString('hex');
    return [8, 12, 16, 20].reduceRight((s, at) => `${s.slice(0, at)}-${s.slice(at)}`, hex);
  };
  const plain = (text) => text
    .replace(/"next_cursor":"([\w-]{22})"/g, (_, cursor) => `"next_cursor":${fromCursor(cursor)}`)
    .replace(/cairn_[\w-]{20,}/g, number)
    .replace(/"[0-9a-f]{64}"/g, number)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, number)
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/g, number);
  const header = ([name, value]) =>
    [name, name === 'RateLimit' ? value.replace(/t=\d+/, 't=-')
      : name === 'Retry-After' ? '-' : plain(value)];
  return (answer) =>
    ({ ...answer, headers: answer.headers.map(header), body: plain(answer.body) });
}

test('on two empty databases HTTP and in-process do the same', async (t) => {
  const server = await startServer(t);
  const other = await startServer(t); // for its place, which no server has touched after its start
  await other.stop();
  const overSocket = await drive((...request) => overHttp(server, ...request), {});
  const program = startDrive(t, placeOf(other));
  const inProcess = await drive((...request) => program.call(...request), {});
  await program.close();
  compare(overSocket, inProcess, [numbering(), numbering()]);
  assert.equal(overSocket.length, SCRIPT.length);
});
