// SPDX-License-Identifier: Apache-2.0
// Every query parameter that names something: an id, a name, a key, a word, a namespace or a
// cursor. Two places of one tenant and a place of another tenant have rows of every sort, with
// texts that exist in one place only. A filter finds the rows of its own place, and a value of
// another place looks as one that does not exist, for the tenant's key, a participant and an agent.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ANY, done, fill, made } from './lib/places.mjs';
import { expectStatus, startServer, twoTenants, uuid, withKey } from './lib/server.mjs';
import { followWs, readSse } from './lib/followers.mjs';

const N = 3;

// --- The places --------------------------------------------------------------------------------

/** A place of `fill` and one more run, with a text (`tag`) in every member that a filter reads. */
async function furnish(client) {
  const p = await fill(client, N);
  const { thread, agent } = p;
  p.tag = `w${uuid().replaceAll('-', '')}`;
  p.agentName = (await done(client.get(`/v1/agents/${agent}`))).name;
  await done(client.patch(`/v1/threads/${thread}`,
    { key: `key-${p.tag}`, title: p.tag, agent: p.agentName, metadata: { tag: p.tag } }, ANY));
  const start = (body) => made(client.post(`/v1/threads/${thread}/runs`,
    { agent_id: agent, dispatch: 'direct', policy: 'enqueue', ...body }));
  await done(client.post(`/v1/runs/${p.run}/cancel`, {}));
  p.work = (await start({ user_input: p.tag })).id;
  p.child = (await start({ parent_run_id: p.work })).id;
  p.workTurn = (await made(client.post(`/v1/runs/${p.work}/turns`,
    { input: { message: p.tag } }))).turn_id;
  const call = { step_number: 1, turn_id: p.workTurn };
  await made(client.post(`/v1/runs/${p.work}/steps`, { steps: [
    { ...call, action_type: 'api_call_started', action_data: { model: p.tag } },
    { ...call, action_type: 'api_response_received', action_data: {}, model: p.tag },
    { ...call, action_type: 'tool_execution', action_data: {}, tool_name: p.tag,
      tool_use_id: p.tag },
    { action_type: `x.${p.tag}`, action_data: {} },
  ] }));
  await made(client.post(`/v1/runs/${p.work}/usage`,
    { model: p.tag, provider: p.tag, input_tokens: 1, output_tokens: 1 }));
  await made(client.post('/v1/evals',
    { name: p.tag, eval_type: p.tag, run_id: p.work, agent_id: agent }));
  const first = { channel_values: {}, run_id: p.work, namespace: p.tag, metadata: { tag: p.tag } };
  p.firstCheckpoint = (await made(client.post(`/v1/threads/${thread}/checkpoints`, first))).id;
  p.workCheckpoint = (await made(client.post(`/v1/threads/${thread}/checkpoints`, first))).id;
  p.sender = (await made(client.post(`/v1/threads/${thread}/participants`,
    { principal: `user:${p.tag}` }))).id;
  await made(client.post(`/v1/threads/${thread}/messages`,
    { content: `lantern ${p.tag}`, sender_id: p.sender, run_id: p.work }));
  await made(client.put(`/v1/threads/${thread}/files/${p.tag}`, { tag: p.tag }));
  await made(client.put(`/v1/agents/${agent}/storage/${p.tag}`, { tag: p.tag }));
  await made(client.put('/v1/store/items',
    { namespace: [p.tag], key: p.tag, value: { tag: p.tag } }));
  for (let i = 0; i < 2; i++)
    await made(client.post(`/v1/threads/${thread}/events`,
      { kind: `x.${p.tag}`, run_id: p.work, text: p.tag }));
  return p;
}

/** Everything that only an answer about this place contains. */
const secretsOf = (p) => [p.tag, p.thread, p.agent, p.agentName, p.run, p.work, p.child, p.workTurn,
  p.turn, p.message, p.sender, p.participant, p.checkpoint, p.workCheckpoint, p.firstCheckpoint];

// The value of each parameter that names something in a place.
const VALUES = {
  'object_id': (p) => p.thread,
  'thread_id': (p) => p.thread,
  'agent_id': (p) => p.agent,
  'run_id': (p) => p.work,
  'parent_run_id': (p) => p.work,
  'turn_id': (p) => p.workTurn,
  'sender_id': (p) => p.sender,
  'checkpoint_id': (p) => p.workCheckpoint,
  'before': (p) => p.workCheckpoint,
  'name': (p) => p.agentName,
  'agent': (p) => p.agentName,
  'key': (p, route) => (route.path.startsWith('/v1/store') ? p.tag : `key-${p.tag}`),
  'title': (p) => p.tag,
  'metadata.tag': (p) => p.tag,
  'prefix': (p) => p.tag,
  'principal': (p) => `user:${p.tag}`,
  'q': (p) => p.tag,
  'namespace': (p) => p.tag,
  'model': (p) => p.tag,
  'provider': (p) => p.tag,
  'tool_name': (p) => p.tag,
  'eval_type': (p) => p.tag,
  'action_type': (p) => `x.${p.tag}`,
  'kind': (p) => `x.${p.tag}`,
};

// Ids that are only compared, and cursors: they select rows of the asker's own list.
const COMPARED = ['id_before'];
const CURSORS = ['cursor', 'after', 'before'];
// Parameters that name nothing: closed lists, numbers, times and switches are recognised by their
// schemas.
const PLAIN = ['from', 'to', 'group_by', 'ticket', 'action'];

/** A value of the same form that exists nowhere. */
function absentLike(value) {
  const hex = uuid();
  return /^[0-9a-f-]{36}$/.test(value) ? hex
    : value.replace(/(w[0-9a-f]{32}|[0-9a-f-]{36})$/, `w${hex.replaceAll('-', '')}`);
}

// --- The table ---------------------------------------------------------------------------------

const isPlain = ({ name, schema }) => schema.enum !== undefined || PLAIN.includes(name) ||
  ['integer', 'boolean'].includes(schema.type) || schema.format === 'date-time';

async function readTable(server) {
  const { paths } = expectStatus(await server.open.get('/openapi.json'), 200);
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      name: `${method.toUpperCase()} ${path}`,
      scope: operation['x-cairn-scope'],
      query: operation.parameters.filter((p) => p.in === 'query'),
      isStream: operation.responses[101] !== undefined ||
        operation.responses[200]?.content?.['text/event-stream'] !== undefined,
    })));
}

/** The parameters of a route that name something: ids and texts. */
const namesOf = (route) => route.query
  .filter((p) => !isPlain(p) && !COMPARED.includes(p.name))
  .filter((p) => !CURSORS.includes(p.name) || p.schema.format === 'uuid')
  .map((p) => {
    const name = p.name === 'metadata.KEY' ? 'metadata.tag' : p.name;
    assert.ok(VALUES[name], `teach VALUES what ${name} of ${route.name} names`);
    return name;
  });

const cursorsOf = (route) => route.query
  .filter(({ name, schema }) => COMPARED.includes(name) ||
    (CURSORS.includes(name) && schema.format !== 'uuid'))
  .map((p) => p.name);

const scopesOf = (table) => [...new Set(table.map((r) => r.scope))]
  .filter((scope) => scope?.includes(':'));

/** The path of a route in a place; `run` is the run that its rows belong to. */
const pathIn = (route, p, run = p.work) => route.path.replace(/\{(\w+)\}/g, (_, name) => ({
  thread_id: p.thread, workflow_id: p.thread, agent_id: p.agent, run_id: run, turn_id: p.turn,
  share_id: p.share.id, message_id: p.message, notebook_id: p.notebook, model: p.model,
  upload_id: p.upload, checkpoint_id: p.workCheckpoint, other_id: p.firstCheckpoint,
  name: route.path.includes('/files') ? 'file-0'
    : route.path.includes('by-name') ? p.agentName : 'state-0',
})[name] ?? assert.fail(`teach pathIn what ${name} is`));

// Parameters that a request needs besides the one under test.
const COMPANIONS = {
  '/v1/store/items': { namespace: (p) => p.tag, key: (p) => p.tag },
  '/v1/threads/{thread_id}/messages/search': { q: () => 'lantern' },
  '/v1/messages/search': { q: () => 'lantern' },
};

/** The whole request: the asker's own place, but one parameter with this value. */
function requestOf(route, p, name, value, run) {
  const include = route.query.find((q) => q.name === 'include')?.schema.enum?.at(-1);
  const query = new URLSearchParams(include ? { include } : {});
  for (const [other, of] of Object.entries(COMPANIONS[route.path] ?? {})) query.set(other, of(p));
  if (route.path === '/v1/usage') query.set('group_by', 'model,agent');
  query.set(name, value);
  return `${pathIn(route, p, run)}?${query}`;
}

const BODIES = { PUT: { task_id: 'example', writes: [] } };

/** The parts of an answer that another value of the filter must not change. */
async function look(client, route, path, value) {
  const body = BODIES[route.method];
  const answer = await client.request(route.method, path, { body });
  assert.ok(answer.status < 500, `${route.method} ${path}: ${answer.text}`);
  const text = answer.text.replaceAll(value, 'VALUE').replace(/"request_id":"[^"]+"/, '')
    .replace(/"next_cursor":"\d+"/, '"next_cursor":"END"');
  return { status: answer.status, etag: answer.headers.get('ETag'), text };
}

// Lists of the whole tenant: its key finds rows of any place there.
const TENANT_WIDE = new RegExp('^/v1/(audit|runs|steps|steps/summary|usage|usage/averages|' +
  'evals|agents|threads|checkpoints|messages/search|events.*|store/items|prices|notebooks)$');

// Routes on which a participant finds the rows of its thread.
const OF_PARTICIPANTS = /^GET \/v1\/(threads|runs)\/\{/;

/** Three askers in the first place; the participant was removed from the second. */
async function invite(operator, mine, second, scopes) {
  const member = { principal: 'user:filter', permission: 'read_write' };
  for (const principal of [member.principal, `agent:${mine.agent}`])
    await made(operator.post(`/v1/threads/${mine.thread}/participants`, { ...member, principal }));
  const past = await made(operator.post(`/v1/threads/${second.thread}/participants`, member));
  await done(operator.del(`/v1/threads/${second.thread}/participants/${past.id}`));
  return {
    tenant: () => withKey(operator, scopes),
    participant: () => withKey(operator, scopes, { principal: member.principal }),
    agent: () => withKey(operator, scopes, { principal: `agent:${mine.agent}` }),
  };
}

/** A cursor of a list by id. */
const cursorOf = (id) => Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');

const rowsOf = (text) => JSON.parse(text).data ?? [JSON.parse(text)];

// --- The walks ---------------------------------------------------------------------------------

test('a filter finds rows of its own place, and nothing of another thread, agent or tenant',
  async (t) => {
    const server = await startServer(t);
    const { operator, bob } = await twoTenants(server);
    const table = await readTable(server);
    const [mine, second] = [await furnish(operator), await furnish(operator)];
    const foreign = await furnish(bob);
    const keys = await invite(operator, mine, second, scopesOf(table));
    const askers = {};
    for (const [who, make] of Object.entries(keys)) askers[who] = await make();
    const others = { second, foreign };
    const counts = { foreign: 0, second: 0, own: 0, cursor: 0, answered: 0 };
    const lists = table.filter((r) => !r.isStream && r.scope?.includes(':'));

    for (const route of lists)
      for (const name of namesOf(route))
        await t.test(`${route.name} by ${name}`, async () => {
          // Both places have such rows, so that a missing predicate would show them.
          for (const place of route.method === 'GET' ? [mine, second] : []) {
            counts.own++;
            const value = VALUES[name](place, route);
            const own = await operator.get(requestOf(route, place, name, value));
            assert.equal(own.status, 200, own.text);
            assert.ok(rowsOf(own.text).length >= 1, own.text);
          }
          for (const client of OF_PARTICIPANTS.test(route.name) ? Object.values(askers) : []) {
            counts.own++;
            const own = await client.get(
              requestOf(route, mine, name, VALUES[name](mine, route)));
            assert.equal(own.status, 200, own.text);
            assert.ok(rowsOf(own.text).length >= 1, own.text);
          }
          for (const [who, client] of Object.entries(askers))
            for (const [whose, place] of Object.entries(others)) {
              const isWide = TENANT_WIDE.test(route.path) && who === 'tenant';
              if (isWide && whose === 'second') continue;
              counts[whose]++;
              const value = VALUES[name](place, route);
              const absent = absentLike(value);
              const told = `as ${who}, a value of the ${whose} place`;
              const found = await look(
                client, route, requestOf(route, mine, name, value), value);
              assert.deepEqual(found, await look(
                client, route, requestOf(route, mine, name, absent), absent), told);
              for (const secret of secretsOf(place))
                assert.ok(!found.text.includes(secret), `${told}: ${found.text}`);
              if (found.status === 200) counts.answered++;
            }
        });

    for (const route of lists.filter((r) => r.method === 'GET'))
      for (const name of cursorsOf(route))
        await t.test(`${route.name} from a foreign ${name}`, async () => {
          for (const [whose, place] of Object.entries(others)) {
            const owner = whose === 'second' ? operator : bob;
            const page = await owner.get(requestOf(route, place, 'limit', '1', place.run));
            const value = COMPARED.includes(name) ? place.workCheckpoint
              : page.body.next_cursor ?? cursorOf(place.thread);
            for (const [who, client] of Object.entries(askers)) {
              if (whose === 'second' && who === 'tenant' && TENANT_WIDE.test(route.path)) continue;
              counts.cursor++;
              const path = requestOf(route, mine, name, value, mine.run);
              const answer = await client.get(path);
              assert.ok(answer.status < 500, answer.text);
              if (answer.status === 200) counts.answered++;
              for (const secret of secretsOf(place))
                assert.ok(!answer.text.replaceAll(value, '').includes(secret),
                  `as ${who}, of the ${whose} place: ${answer.text}`);
            }
          }
        });

    const walked = counts.foreign + counts.second + counts.own + counts.cursor;
    t.diagnostic(`query filters: ${walked} cases: ${JSON.stringify(counts)}`);
    assert.ok(walked >= 900, `${walked} cases`);
  });

/** Opens a stream of the route, on a place. */
function follow(client, route, path) {
  return route.path.includes('/ws') ? followWs(client, path) : readSse(client, path);
}

test('a stream with a filter or cursor of another place sends nothing of it', async (t) => {
  const server = await startServer(t);
  const { operator, bob } = await twoTenants(server);
  const table = await readTable(server);
  const [mine, second] = [await furnish(operator), await furnish(operator)];
  const foreign = await furnish(bob);
  const keys = await invite(operator, mine, second, scopesOf(table));
  const say = (client, p, text) => made(client.post(`/v1/threads/${p.thread}/events`,
    { kind: `x.${p.tag}`, run_id: p.work, text }));
  let walked = 0;
  for (const [who, make] of Object.entries(keys)) {
    const client = await make();
    const open = [];
    for (const route of table.filter((r) => r.isStream))
      for (const name of [...namesOf(route), ...cursorsOf(route)])
        for (const [whose, place] of Object.entries({ mine, second, foreign })) {
          if (whose === 'second' && who === 'tenant' && TENANT_WIDE.test(route.path)) continue;
          const isCursor = CURSORS.includes(name);
          const at = isCursor && (await done((whose === 'foreign' ? bob : operator).get(
            `/v1/threads/${place.thread}/events?kind=x.${place.tag}&limit=1`))).data[0];
          const value = !isCursor ? VALUES[name](place, route)
            : route.path.startsWith('/v1/threads') ? at.seq : at.id;
          const stream = follow(client, route, `${pathIn(route, mine)}?${name}=${value}` +
            `${isCursor || route.path.startsWith('/workflow') ? '' : '&after=0'}`);
          open.push({ told: `${route.name} by ${name}, as ${who}, ${whose}`, whose, isCursor,
            stream });
          await stream.opened;
        }
    // A past and a live event of every place; the streams with the own values receive both.
    for (const [p, owner] of [[second, operator], [foreign, bob], [mine, operator]])
      await say(owner, p, `last of ${p.tag} for ${who}`);
    for (const { stream, whose } of open.filter((s) => s.whose === 'mine' || s.isCursor))
      if (whose === 'mine') await stream.hearsText(`last of ${mine.tag} for ${who}`);
    // The end of the key ends its streams, after what they had to send.
    await done(operator.del(`/v1/keys/${client.keyId}`));
    for (const { told, whose, isCursor, stream } of open) {
      walked++;
      await stream.ended;
      const events = stream.heard.filter((e) => e.kind !== 'gap');
      if (whose === 'mine') assert.ok(events.length >= 2, told);
      if (whose !== 'mine' && !isCursor) assert.deepEqual(events, [], told);
      const text = JSON.stringify(events);
      for (const p of [second, foreign])
        for (const secret of who === 'tenant' && p === second ? [] : secretsOf(p))
          assert.ok(!text.includes(secret), `${told}: ${text}`);
    }
  }
  t.diagnostic(`filters of streams: ${walked} cases`);
  assert.ok(walked >= 105, `${walked} cases`);
});
