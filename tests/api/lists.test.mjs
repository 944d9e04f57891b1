// SPDX-License-Identifier: Apache-2.0
// Every list of the route table: two places of one tenant and a place of another tenant have rows
// of each sort. A list of the first place has exactly its own rows, pages of two rows give the
// same rows in the same order, and no row of the other places appears.
import assert from 'node:assert/strict';
import test from 'node:test';
import { done, fill, made, pathOf } from './lib/places.mjs';
import { expectStatus, startServer, twoTenants } from './lib/server.mjs';


// --- The lists ---------------------------------------------------------------------------------

// Lists of one tenant: how many rows n of the first place and m of the second one make there.
// Steps of a place: those of one run, and the starts and ends of its runs, of which one is open.
const stepsOf = (n) => 3 * n + 2 * n - 1;
const TENANT_WIDE = {
  '/v1/agents': (n, m) => 1 + n + 1 + m,
  '/v1/threads': (n, m) => 1 + n + 1 + m,
  '/v1/runs': (n, m) => n + m,
  '/v1/steps': (n, m) => stepsOf(n) + stepsOf(m),
  '/v1/prices': (n, m) => 1 + n + 1 + m,
  '/v1/usage': (n, m) => 2 + n + m, // by model and agent; runs are counted without a model
  '/v1/usage/averages': () => 2,
  '/v1/evals': (n, m) => n + m,
  '/v1/notebooks': (n, m) => n + m,
  '/v1/keys': (n, m) => 1 + n + m,
  '/v1/checkpoints': (n, m) => n + m,
  '/v1/messages/search': (n, m) => n + m,
};
// Tenants and records are not made for a place; every list there has at least five rows.
const COUNTED_BY_NONE = ['/v1/tenants', '/v1/audit', '/v1/events'];
// Lists of a place that do not have n rows.
const OTHER_COUNTS = {
  '/v1/threads/{thread_id}/participants': (n) => 2 * n,
  '/v1/runs/{run_id}/steps': (n) => 3 * n + 1,
  '/v1/threads/{thread_id}/events': null,
  '/v1/runs/{run_id}/tool-calls': (n) => 2 * n, // of steps, and awaited
  '/v1/runs/{run_id}/phases': (n) => n + 1,
  '/v1/agents/{agent_id}/runs/{run_id}/phases': (n) => n + 1,
  '/v1/threads/{thread_id}/history': (n) => n - 1,
  '/v1/threads/{thread_id}/messages/{message_id}/versions': (n) => n - 1,
};
const QUERIES = {
  '/v1/messages/search': 'q=lantern',
  '/v1/threads/{thread_id}/messages/search': 'q=lantern',
  '/v1/usage': 'group_by=model,agent',
};
// Filters that select all rows of the first place, and none of the second.
const FILTERED = {
  '/v1/runs': (place) => [['thread_id', place.thread], ['agent_id', place.agent]],
  '/v1/steps': (place) => [['thread_id', place.thread], ['agent_id', place.agent]],
  '/v1/evals': (place) => [['run_id', place.run], ['agent_id', place.agent]],
  '/v1/threads/{thread_id}/runs': (place) => [['agent_id', place.agent]],
  '/v1/threads/{thread_id}/checkpoints': (place) => [['run_id', place.run]],
};

async function readTable(client) {
  const { paths } = expectStatus(await client.get('/openapi.json'), 200);
  return Object.entries(paths)
    .filter(([path, { get }]) => get?.parameters.some((p) => p.name === 'limit') && path)
    .map(([path, { get }]) => ({ path, params: get.parameters.map((p) => p.name) }));
}

/** All rows, in pages of `limit`; `seek` is the parameter that continues a page. */
async function walk(client, path, limit, seek, from = undefined) {
  const rows = [];
  let cursor = from;
  for (let pages = 0; ; pages++) {
    assert.ok(pages < 500, 'the pages end');
    const join = path.includes('?') ? '&' : '?';
    const at = cursor === undefined ? '' : `&${seek}=${cursor}`;
    const page = await done(client.get(`${path}${join}limit=${limit}${at}`));
    assert.ok(page.data.length <= limit, `${path}: ${page.data.length} rows`);
    if (page.has_more) assert.equal(page.data.length, limit, `${path}: a full page`);
    rows.push(...page.data);
    if (!page.has_more) return rows;
    assert.ok(page.next_cursor, path);
    cursor = page.next_cursor;
  }
}

/** Without the end of an upload, which is computed from another clock at each reading. */
const lasting = (rows) => rows.map(({ expires_at: _unused, ...row }) => row);

/** Asserts that pages of two and of three rows have the rows of the whole list. */
async function expectPages(client, path, seek, least) {
  const whole = await walk(client, path, 200, seek);
  assert.ok(whole.length >= least, `${path} has ${whole.length} rows`);
  assert.equal(new Set(whole.map((row) => JSON.stringify(row))).size, whole.length,
    `${path}: no row twice`);
  for (const limit of [2, 3])
    assert.deepEqual(lasting(await walk(client, path, limit, seek)), lasting(whole),
      `${path} by ${limit}`);
  return whole;
}

test('every list has the rows of its owner alone, and pages of two rows have all of them',
  async (t) => {
    const server = await startServer(t);
    const { operator, alice, bob } = await twoTenants(server);
    for (let i = 0; i < 4; i++) await made(operator.post('/v1/tenants', { name: `more ${i}` }));
    const [n, m] = [5, 3];
    const mine = await fill(alice, n);
    const second = await fill(alice, m);
    const foreign = await fill(bob, m);
    const others = [second, foreign].flatMap((place) => [place.thread, place.run, place.agent]);
    let walked = 0;
    for (const { path, params } of await readTable(server.open)) {
      walked++;
      const client = path === '/v1/tenants' ? operator : alice;
      const seek = ['cursor', 'before', 'after'].find((name) => params.includes(name));
      const query = QUERIES[path] ? `?${QUERIES[path]}` : '';
      await t.test(path, async () => {
        const rows = await expectPages(client, `${pathOf(path, mine)}${query}`, seek,
          path === '/v1/usage/averages' ? 2 : n - 1);
        const text = JSON.stringify(rows);
        assert.ok(!text.includes(foreign.thread) && !text.includes(foreign.agent), text);
        const wide = TENANT_WIDE[path];
        if (COUNTED_BY_NONE.includes(path)) return;
        if (wide !== undefined) {
          assert.equal(rows.length, wide(n, m), text);
          return;
        }
        for (const id of others) assert.ok(!text.includes(id), `${id} in ${text}`);
        const count = path in OTHER_COUNTS ? OTHER_COUNTS[path] : (k) => k;
        if (count !== null) assert.equal(rows.length, count(n), text);
      });
      for (const [name, id] of FILTERED[path]?.(mine) ?? [])
        await t.test(`${path} with ${name}`, async () => {
          const rows = await expectPages(client, `${pathOf(path, mine)}?${name}=${id}`, seek, n);
          const wide = { '/v1/steps': stepsOf(n) }[path] ?? n;
          assert.equal(rows.length, wide);
          const text = JSON.stringify(rows);
          for (const other of others) assert.ok(!text.includes(other), `${other} in ${text}`);
        });
    }
    assert.ok(walked >= 50, `${walked} lists`);
    t.diagnostic(`lists: ${walked}`);

    await t.test('messages are read in both directions', async () => {
      const path = `/v1/threads/${mine.thread}/messages`;
      const up = await walk(alice, path, 2, 'after', '0');
      const { data: newest } = await done(alice.get(`${path}?limit=1&before=1000000`));
      const down = await walk(alice, path, 2, 'before', `${newest[0].seq + 1}`);
      assert.equal(up.length, n);
      assert.deepEqual(down.map((row) => row.id), up.map((row) => row.id).reverse());
    });

    await t.test('usage by every group has pages of two rows, too', async () => {
      for (const groups of ['model', 'agent', 'day,model', 'day,model,provider,agent', 'provider'])
        await expectPages(alice, `/v1/usage?group_by=${groups}`, 'cursor', 1);
      for (const group of ['thread', 'agent'])
        await expectPages(alice, `/v1/usage/averages?group_by=${group}`, 'cursor', 2);
    });
  });
