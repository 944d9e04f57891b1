// SPDX-License-Identifier: Apache-2.0
// Notebooks and the threads that are their sessions.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  expectFault, expectProblem, expectStatus, startServer, twoTenants, uuid,
} from './lib/server.mjs';

/** One fault of bad input: where, and the whole rule. */
function expectRule(answer, pointer, rule) {
  const problem = expectFault(answer, 422, 'invalid_input', pointer);
  assert.equal(problem.errors.find((e) => e.pointer === pointer).detail, rule);
}

test('notebooks', async (t) => {
  const { open } = await startServer(t);
  const make = async (body) => expectStatus(await open.post('/v1/notebooks', body), 201);
  const thread = async () => expectStatus(await open.post('/v1/threads', {}), 201).id;
  const add = (notebook, body) => open.post(`/v1/notebooks/${notebook.id}/sessions`, body);

  await t.test('a notebook has a number, and is read back as it was given', async () => {
    const body = {
      title: 'Books',
      description: 'what we read',
      instructions: 'Answer with quotes.',
      metadata: { shelf: 4 },
    };
    const made = await make(body);
    assert.deepEqual(made, { ...made, ...body, number: 1, sessions: 0, version: 1 });
    assert.deepEqual(expectStatus(await open.get(`/v1/notebooks/${made.id}`), 200), made);
    assert.equal((await make({ title: 'Films' })).number, 2);
    const { data } = expectStatus(await open.get('/v1/notebooks'), 200);
    assert.deepEqual(data.map((n) => n.title), ['Films', 'Books']);
    assert.ok(!('instructions' in data[1]));
    const page = expectStatus(await open.get('/v1/notebooks?limit=1'), 200);
    const next = expectStatus(await open.get(`/v1/notebooks?cursor=${page.next_cursor}`), 200);
    assert.deepEqual(next.data.map((n) => n.title), ['Books']);
  });

  await t.test('a patch keeps what it does not name', async () => {
    const made = await make({ title: 'a', instructions: 'b' });
    const path = `/v1/notebooks/${made.id}`;
    const after = expectStatus(await open.patch(path, { title: 'c' }), 200);
    assert.deepEqual([after.title, after.instructions, after.version], ['c', 'b', 2]);
    const stale = { headers: { 'If-Match': '"1"' } };
    expectProblem(await open.patch(path, {}, stale), 412, 'stale_etag');
    expectRule(await open.patch(path, { title: null }), '/title', 'must be given');
    expectRule(
      await open.post('/v1/notebooks', { title: 'x'.repeat(256) }),
      '/title',
      'must have at most 255 bytes',
    );
  });

  await t.test('of many patches at once none is refused, and none is lost', async () => {
    const notebook = `/v1/notebooks/${(await make({ title: 'busy' })).id}`;
    const body = { name: 'busy', eval_type: 'accuracy' };
    const evaluated = `/v1/evals/${expectStatus(await open.post('/v1/evals', body), 201).id}`;
    const keys = Array.from({ length: 12 }, (_, i) => `k${i}`);
    for (const path of [notebook, evaluated]) {
      const answers = await Promise.all(
        keys.map((key) => open.patch(path, { metadata: { [key]: 1 } })));
      answers.forEach((answer) => expectStatus(answer, 200));
      const { metadata, version } = expectStatus(await open.get(path), 200);
      assert.deepEqual([Object.keys(metadata).sort(), version], [keys.toSorted(), 13]);
    }
  });

  await t.test('a thread is in one notebook at most', async () => {
    const first = await make({ title: 'first' });
    const second = await make({ title: 'second' });
    const id = await thread();
    const session = expectStatus(await add(first, { thread_id: id }), 201);
    assert.deepEqual([session.notebook_id, session.thread_id], [first.id, id]);
    assert.deepEqual(expectStatus(await add(first, { thread_id: id }), 201), session);
    const refused = await add(second, { thread_id: id });
    expectProblem(refused, 409, 'conflict');
    assert.match(refused.body.detail, new RegExp(first.id));
    assert.equal(expectStatus(await open.get(`/v1/threads/${id}/notebook`), 200).id, first.id);
    expectProblem(await open.del(`/v1/notebooks/${second.id}/sessions/${id}`), 404, 'not_found');
    expectStatus(await open.del(`/v1/notebooks/${first.id}/sessions/${id}`), 204);
    expectProblem(await open.get(`/v1/threads/${id}/notebook`), 404, 'not_found');
    expectStatus(await add(second, { thread_id: id }), 201);
    expectRule(
      await add(second, { thread_id: uuid() }),
      '/thread_id',
      'must be a thread of the tenant',
    );
  });

  await t.test('without a thread a new one is made; sessions are listed newest first', async () => {
    const notebook = await make({ title: 'new' });
    const made = [];
    for (let i = 0; i < 3; i++) made.push(expectStatus(await add(notebook, {}), 201).thread_id);
    expectStatus(await open.get(`/v1/threads/${made[0]}`), 200);
    const path = `/v1/notebooks/${notebook.id}/sessions`;
    const page = expectStatus(await open.get(`${path}?limit=2`), 200);
    assert.deepEqual(page.data.map((s) => s.thread_id), [made[2], made[1]]);
    const rest = expectStatus(await open.get(`${path}?cursor=${page.next_cursor}`), 200);
    assert.deepEqual(rest.data.map((s) => s.thread_id), [made[0]]);
    assert.equal(expectStatus(await open.get(`/v1/notebooks/${notebook.id}`), 200).sessions, 3);
  });

  await t.test('a notebook is addressed by its number, too', async () => {
    const notebook = await make({ title: 'by number' });
    const path = `/v1/notebooks/${notebook.number}`;
    const read = await open.get(path);
    assert.deepEqual(expectStatus(read, 200), notebook);
    const patched = expectStatus(await open.patch(path, { title: 'new' },
      { headers: { 'If-Match': read.headers.get('etag') } }), 200);
    assert.deepEqual([patched.id, patched.title], [notebook.id, 'new']);
    const session = expectStatus(await open.post(`${path}/sessions`, {}), 201);
    assert.equal(session.notebook_id, notebook.id);
    const listed = expectStatus(await open.get(`${path}/sessions`), 200);
    assert.deepEqual(listed.data.map((s) => s.thread_id), [session.thread_id]);
    expectStatus(await open.del(`${path}/sessions/${session.thread_id}`), 204);
    expectStatus(await open.del(path), 204);
    expectProblem(await open.get(path), 404, 'not_found');
    for (const bad of ['0', '-1', '1.5', 'x', '99999999999999999999'])
      expectRule(await open.get(`/v1/notebooks/${bad}`), 'notebook_id',
        'must be a UUID, or a number of at least 1');
  });

  await t.test('links go with either end, threads stay without their notebook', async () => {
    const notebook = await make({ title: 'gone' });
    const [kept, deleted] = [await thread(), await thread()];
    for (const id of [kept, deleted]) expectStatus(await add(notebook, { thread_id: id }), 201);
    expectStatus(await open.del(`/v1/threads/${deleted}`), 204);
    const path = `/v1/notebooks/${notebook.id}`;
    assert.equal(expectStatus(await open.get(path), 200).sessions, 1);
    expectStatus(await open.del(path), 204);
    expectStatus(await open.get(`/v1/threads/${kept}`), 200);
    expectProblem(await open.get(`/v1/threads/${kept}/notebook`), 404, 'not_found');
    expectProblem(await open.get(path), 404, 'not_found');
  });
});

test('a number is one of the own tenant', async (t) => {
  const { alice, bob } = await twoTenants(await startServer(t));
  const { number } = expectStatus(await alice.post('/v1/notebooks', { title: 'hers' }), 201);
  for (const refused of [await bob.get(`/v1/notebooks/${number}`),
    await bob.patch(`/v1/notebooks/${number}`, { title: 'his' }),
    await bob.post(`/v1/notebooks/${number}/sessions`, {})])
    expectProblem(refused, 404, 'not_found');
  assert.equal(expectStatus(await alice.get(`/v1/notebooks/${number}`), 200).title, 'hers');
});
