// SPDX-License-Identifier: Apache-2.0
// A change of one object leaves the others alone: two places of one tenant have rows of every sort,
// each change happens in the first, and all that the second shows stays as it was.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ANY, fill, pathOf } from './lib/places.mjs';
import { expectProblem, expectStatus, startServer, twoTenants } from './lib/server.mjs';

const CSV = { raw: 'a,b', type: 'text/csv' };
const PART = { raw: 'x', headers: { 'Upload-Offset': '0' }, type: 'application/octet-stream' };

/** Every change of a place, in an order in which each succeeds: [method, path, body, options]. */
const changes = (p) => [
  ['PATCH', `/v1/threads/${p.thread}`, { title: 'changed', metadata: { a: 'b' } }],
  ['PATCH', `/v1/threads/${p.thread}`,
    { context: { a: 1 }, preferences: { b: 2 }, important_steps: [3], agent: 'changed' }],
  ['POST', `/v1/threads/${p.thread}/events`, { kind: 'progress' }],
  ['POST', `/v1/threads/${p.thread}/events/prune`, { through_seq: 3 }],
  ['PATCH', `/v1/threads/${p.thread}/resumption`, { model: 'other' }, ANY],
  ['POST', `/v1/threads/${p.thread}/resumption/messages`,
    { append: [{ role: 'user', content: 'x' }] }],
  ['PATCH', `/v1/threads/${p.thread}/history/1`, { extras: { a: 1 } }],

  ['PATCH', `/v1/agents/${p.agent}`, { name: `changed ${p.agent}`, description: 'changed' }],
  ['PATCH', `/v1/agents/${p.agent}/versions/1.0.1`, { description: 'changed' }],
  ['POST', `/v1/agents/${p.agent}/versions/1.0.1/activate`],
  ['POST', `/v1/agents/${p.agent}/rollback`],
  ['PUT', `/v1/agents/${p.agent}/links/${p.children[0]}`, { role: 'changed', position: 9 }],
  ['DELETE', `/v1/agents/${p.agent}/links/${p.children[0]}`],
  ['PATCH', `/v1/agents/${p.agent}/config`, { data: { changed: true } }, ANY],
  ['PUT', `/v1/agents/${p.agent}/storage/item-0`, undefined, CSV],
  ['DELETE', `/v1/agents/${p.agent}/storage/item-0`],
  ...[`/v1/agents/${p.agent}`, `/v1/threads/${p.thread}`,
    `/v1/threads/${p.thread}/agents/${p.agent}`].flatMap((owner) => [
    ['PATCH', `${owner}/states/state-0`, { data: { changed: true } }, ANY],
    ['POST', `${owner}/states/state-0/focus`],
    ['DELETE', `${owner}/states/state-0`, undefined, ANY],
  ]),

  ['POST', `/v1/runs/${p.run}/tool-results`,
    { results: [{ tool_use_id: `${p.run}-0`, content: 'done' }] }],
  ['POST', `/v1/runs/${p.run}/usage`, { model: 'model-0', input_tokens: 1, output_tokens: 1 }],
  ['POST', `/v1/runs/${p.run}/steps`, { action_type: 'run_started' }],
  ['PATCH', `/v1/runs/${p.run}/turns/${p.turn}`, { latency_ms: 5 }],
  ['PATCH', `/v1/runs/${p.run}`, { state: { changed: true } }],
  ['PATCH', `/v1/runs/${p.run}`, { metadata: { a: 1 }, metrics: { b: 2 }, citations: [3] }],
  ['PUT', `/v1/threads/${p.thread}/checkpoints/${p.checkpoint}/writes`,
    { task_id: 't', writes: [{ channel: 'c', value: 1 }] }],
  ['POST', `/v1/threads/${p.thread}/checkpoints/prune`, { keep_latest: 2 }],
  ['POST', `/v1/runs/${p.run}/cancel`, {}],
  ['POST', `/v1/runs/${p.run}/retry`, {}],
  ['DELETE', `/v1/threads/${p.thread}/checkpoints`],

  ['PATCH', `/v1/threads/${p.thread}/participants/${p.participant}`,
    { name: 'changed', permission: 'read' }],
  ['POST', `/v1/threads/${p.thread}/participants/${p.participant}/heartbeat`, {}],
  ['DELETE', `/v1/threads/${p.thread}/participants/${p.participant}`],
  ['PATCH', `/v1/threads/${p.thread}/messages/${p.message}`, { content: 'changed entirely' }],
  ['DELETE', `/v1/threads/${p.thread}/messages/${p.message}`],
  ['DELETE', `/v1/threads/${p.thread}/shares/${p.share.id}`],
  ['PATCH', `/v1/threads/${p.thread}/files/file-0/info`, { metadata: { a: 1 } }],
  ['POST', `/v1/threads/${p.thread}/files/file-0/restore`, { version: 1 }],
  ['DELETE', `/v1/threads/${p.thread}/files/file-0/versions/2`],
  ['POST', `/v1/threads/${p.thread}/files/file-0/copy`, { thread_id: p.thread, name: 'copy' }],
  ['DELETE', `/v1/threads/${p.thread}/files/file-0`],
  ['PATCH', `/v1/threads/${p.thread}/uploads/${p.upload}`, undefined, PART],
  ['POST', `/v1/threads/${p.thread}/uploads/${p.upload}/complete`],
  ['POST', `/v1/threads/${p.thread}/pause`],
  ['POST', `/v1/threads/${p.thread}/resume`],
  ['POST', `/workflow/pause/${p.thread}`],
  ['POST', `/workflow/resume/${p.thread}`],
  ['POST', `/workflow/cancel/${p.thread}`],

  ['PATCH', `/v1/evals/${p.eval}`, { name: 'changed', score: 0.5 }],
  ['DELETE', `/v1/evals/${p.eval}`],
  ['PATCH', `/v1/notebooks/${p.notebook}`, { title: 'changed' }],
  ['DELETE', `/v1/notebooks/${p.notebook}/sessions/${p.session}`],
  ['DELETE', `/v1/notebooks/${p.notebook}`],
  ['PUT', `/v1/prices/${p.model}`, { input: 99, output: 99 }],
  ['DELETE', `/v1/prices/${p.model}`],
  ['PUT', '/v1/store/items', { namespace: [p.label], key: 'item-0', value: { changed: true } }],
  ['DELETE', `/v1/store/items?namespace=${p.label}&key=item-0`],
  ['DELETE', `/v1/keys/${p.key}`],

  ['DELETE', `/v1/threads/${p.thread}`],
  ['DELETE', `/v1/agents/${p.agent}`],
];

const SINGLE = (p) => [
  `/v1/threads/${p.thread}`, `/v1/threads/${p.thread}/resumption`,
  `/v1/threads/${p.thread}/history/1`, `/v1/agents/${p.agent}`, `/v1/agents/${p.agent}/config`,
  `/v1/agents/${p.agent}/versions/1.0.1`, `/v1/agents/${p.agent}/tree`,
  `/v1/agents/${p.agent}/storage/item-0`, `/v1/runs/${p.run}`, `/v1/runs/${p.run}/usage`,
  `/v1/runs/${p.run}/turns/${p.turn}`, `/v1/evals/${p.eval}`, `/v1/notebooks/${p.notebook}`,
  `/v1/threads/${p.thread}/messages/${p.message}`, `/v1/prices/${p.model}`, `/v1/keys/${p.key}`,
  `/v1/threads/${p.thread}/files/file-0`, `/v1/threads/${p.thread}/checkpoints/${p.checkpoint}`,
  `/v1/store/items?namespace=${p.label}&key=item-0`,
];

/** The lists that show one place alone. */
async function listsOf(server) {
  const { paths } = expectStatus(await server.open.get('/openapi.json'), 200);
  return Object.entries(paths)
    .filter(([path, { get }]) => /\{/.test(path) && get?.parameters.some((p) => p.name === 'limit'))
    .map(([path]) => path);
}

// They change with time or with other objects: presence, and the end of an upload.
const PASSING = /"(expires_at|online_until|is_online|last_used_at)":("[^"]*"|null|true|false)/g;

/** The answers to all reads of a place, by path. */
async function view(client, place, lists) {
  const paths = [...SINGLE(place), ...lists.map((path) =>
    `${pathOf(path, place)}${path.endsWith('search') ? '?q=lantern' : '?limit=200'}`)];
  const shown = {};
  for (const path of paths) {
    const { status, text } = await client.get(path);
    assert.equal(status, 200, `${path}: ${text}`);
    shown[path] = text.replace(PASSING, '');
  }
  return shown;
}

test('a change of one object leaves its neighbours as they were', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const [mine, other] = [await fill(alice, 5), await fill(alice, 3)];
  const lists = await listsOf(server);
  const before = await view(alice, other, lists);
  assert.ok(Object.keys(before).length > 50);
  for (const [method, path, body, options] of changes(mine))
    await t.test(`${method} ${path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')}`, async () => {
      const answer = await alice.request(method, path, { ...options, body });
      assert.ok(answer.status < 300, `${answer.status} ${answer.text}`);
      const after = await view(alice, other, lists);
      for (const [at, text] of Object.entries(before)) assert.equal(after[at], text, at);
    });
});

/** Changes that `changes` does not have, because they do not fit into its order. */
const furtherChanges = (p, tenant) => [
  ['PATCH', '/v1/tenant', { settings: { locale: 'de' } }],
  ['PATCH', `/v1/tenants/${tenant}`, { name: 'changed' }],
  ['DELETE', `/v1/tenants/${tenant}`],
  ['PUT', `/v1/agents/${p.agent}/config`, { data: {} }],
  ...[`/v1/agents/${p.agent}`, `/v1/threads/${p.thread}`,
    `/v1/threads/${p.thread}/agents/${p.agent}`].map((owner) =>
    ['PUT', `${owner}/states/state-0`, { data: {} }]),
  ['POST', `/v1/threads/${p.thread}/cancel`],
  ['PUT', `/v1/threads/${p.thread}/resumption`, { messages: [] }],
  ['PUT', `/v1/threads/${p.thread}/files/file-0`, { changed: true }],
  ...[`/v1/runs/${p.run}`, `/v1/agents/${p.agent}/runs/${p.run}`].flatMap((run) => [
    ['POST', `${run}/phase`, { to: 'failed' }],
    ['PATCH', `${run}/turns/${p.turn}`, { latency_ms: 5 }],
  ]),
  ['POST', `/v1/runs/${p.run}/input`, { input: 'more' }],
  ...['pause', 'resume'].map((verb) => ['POST', `/v1/runs/${p.run}/${verb}`, {}]),
  ['PATCH', `/v1/threads/${p.thread}/participants/me`, { name: 'changed' }],
  ['DELETE', `/v1/threads/${p.thread}/participants/me`],
];

/** The changes whose If-Match the document describes: [method, path template]. */
async function conditionalChanges(server) {
  const { paths } = expectStatus(await server.open.get('/openapi.json'), 200);
  return Object.entries(paths).flatMap(([path, operations]) => Object.entries(operations)
    .filter(([method, { parameters }]) => method !== 'get' &&
      parameters?.some((p) => p.in === 'header' && p.name === 'If-Match'))
    .map(([method]) => [method.toUpperCase(), path]));
}

const matches = (template, path) => new RegExp(
  `^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path.replace(/\?.*/, ''));

test('no change is made if If-Match names another version', async (t) => {
  const server = await startServer(t);
  const { operator, alice } = await twoTenants(server);
  const place = await fill(alice, 3);
  const lists = await listsOf(server);
  const before = await view(alice, place, lists);
  const all = [...changes(place), ...furtherChanges(place, alice.tenantId)];
  for (const [method, template] of await conditionalChanges(server))
    await t.test(`${method} ${template}`, async () => {
      const change = all.find((one) => one[0] === method && matches(template, one[1]));
      assert.ok(change, 'is missing in the list of changes');
      const [, path, body, options] = change;
      const client = path.startsWith('/v1/tenants/') ? operator : alice;
      // The tags of versions and of revisions. A path that ends in "me" needs a principal.
      const headers = { ...options?.headers, 'If-Match': '"99999", "r99999"',
        ...(path.endsWith('/me') && { 'Cairn-Principal': 'user:member-0' }) };
      expectProblem(await client.request(method, path, { ...options, headers, body }), 412,
        'stale_etag');
    });
  assert.deepEqual(await view(alice, place, lists), before);
});
