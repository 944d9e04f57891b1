// SPDX-License-Identifier: Apache-2.0
// Checkpoints: put, read, list, writes of tasks, comparison, replay, recovery, prune, copy.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import {
  expectFault, expectProblem, expectStatus, startServer, twoTenants, uuid,
} from './lib/server.mjs';

const newThread = async (client) => expectStatus(await client.post('/v1/threads', {}), 201).id;
const of = (thread) => `/v1/threads/${thread}/checkpoints`;
const put = async (client, thread, body) =>
  expectStatus(await client.post(of(thread), body), 201);
const read = async (client, thread, id, query = '') =>
  expectStatus(await client.get(`${of(thread)}/${id}${query}`), 200);
const list = async (client, thread, query = '') =>
  expectStatus(await client.get(`${of(thread)}?${query}`), 200);
const refuse = async (client, thread, body, pointer, rule) =>
  expectFault(await client.post(of(thread), body), 422, 'invalid_input', pointer, rule);
const ids = (page) => page.data.map((k) => k.id);

test('checkpoints of a thread', async (t) => {
  const server = await startServer(t);
  const { open } = server;

  await t.test('a checkpoint has every member, and shows its values when it is read', async () => {
    const thread = await newThread(open);
    const run = expectStatus(
      await open.post(`/v1/threads/${thread}/runs`, { dispatch: 'direct' }), 201).id;
    const channel_values = {
      messages: [{ role: 'user', content: 'Hällo' }], current_node: 'agent', iteration: 1,
      custom: { budget: 0.10 },
    };
    const answer = await open.post(of(thread), {
      channel_values,
      channel_versions: { messages: 1, current_node: '1.5', iteration: 1, custom: 1 },
      versions_seen: { agent: { messages: 1 } },
      pending_sends: [{ channel: 'tools', value: { name: 'search' } }],
      metadata: { trigger: 'turn_complete', step: 1 },
      node: 'agent',
      run_id: run,
    });
    const { id, created_at: _, ...head } = expectStatus(answer, 201);
    assert.deepEqual(head, {
      thread_id: thread, thread_key: null, namespace: '', parent_id: null, run_id: run,
      sequence_num: 1,
      node: 'agent', metadata: { trigger: 'turn_complete', step: 1 },
      size_bytes: Buffer.byteLength(JSON.stringify(channel_values)),
      channel_versions: { messages: 1, current_node: '1.5', iteration: 1, custom: 1 },
      versions_seen: { agent: { messages: 1 } },
      pending_sends: [{ channel: 'tools', value: { name: 'search' } }],
    });
    const whole = await read(open, thread, id);
    assert.deepEqual(whole, { ...answer.body, channel_values, pending_writes: [] });
    assert.deepEqual(
      expectStatus(await open.get(`${of(thread)}/latest`), 200), whole);
    const [listed] = (await list(open, thread)).data;
    assert.equal('channel_values' in listed || 'channel_versions' in listed, false);
    assert.deepEqual((await list(open, thread, 'include=all')).data, [whole]);
    const events = expectStatus(await open.get(`/v1/threads/${thread}/events`), 200).data;
    assert.equal(events.at(-1).kind, 'checkpoint.created');
    assert.equal(events.at(-1).run_id, run);
    assert.deepEqual(events.at(-1).payload,
      { checkpoint_id: id, namespace: '', parent_id: null, sequence_num: 1 });
  });

  await t.test('what breaks a rule is refused with its place, and changes nothing', async () => {
    const thread = await newThread(open);
    const other = await newThread(open);
    const theirs = await put(open, other, { channel_values: {} });
    const inner = await put(open, thread, { namespace: 'inner:1', channel_values: {} });
    const channel_values = {};
    const run = expectStatus(await open.post(`/v1/threads/${other}/runs`, {}), 201).id;
    await refuse(open, thread, {}, '/channel_values', /changes/);
    await refuse(open, thread, { channel_values, changes: {} }, '/changes', /together/);
    await refuse(open, thread, { channel_values: [] }, '/channel_values', /object/);
    await refuse(open, thread, { changes: { set: {} } }, '/changes', /parent/);
    for (const parent_id of [uuid(), theirs.id, inner.id])
      await refuse(open, thread, { channel_values, parent_id }, '/parent_id', /this thread and n/);
    await refuse(open, thread, { channel_values, run_id: run }, '/run_id', /this thread/);
    await refuse(open, thread, { channel_values, run_id: uuid() }, '/run_id', /this thread/);
    await refuse(open, thread, { channel_values, id: 'x' }, '/id', /UUID/);
    await refuse(open, thread, { channel_values, id: '00000000-0000-0000-0000-000000000000' },
      '/id', /nil/);
    await refuse(open, thread, { channel_values, channel_versions: { 'a/b': true } },
      '/channel_versions/a~1b', /number or a string/);
    await refuse(open, thread, { channel_values, versions_seen: { n: 1 } },
      '/versions_seen/n', /object/);
    await refuse(open, thread, { channel_values, pending_sends: [{ value: 1 }] },
      '/pending_sends/0/channel', /name/);
    await refuse(open, thread, { channel_values, pending_sends: [{ channel: 'a' }] },
      '/pending_sends/0/value', /given/);
    await refuse(open, thread, { channel_values, namespace: 'n'.repeat(1001) }, '/namespace',
      /1000/);
    await refuse(open, thread, { channel_values, colour: 1 }, '/colour', /not a member/);
    expectFault(await open.get(`${of(thread)}?before=${uuid()}`), 422, 'invalid_input', 'before');
    expectProblem(await open.get(`${of(thread)}?cursor=x`), 400, 'invalid_cursor');
    expectProblem(await open.get(`${of(thread)}/latest`), 404, 'not_found');
    expectProblem(await open.get(`${of(thread)}/${theirs.id}`), 404, 'not_found');
    expectProblem(await open.post(of(uuid()), { channel_values }), 404, 'not_found');
    assert.deepEqual(ids(await list(open, thread)), [inner.id]);
  });

  await t.test('the same id once more is harmless, another content a conflict', async () => {
    const thread = await newThread(open);
    const id = 'FFFFFFFF-0000-4000-8000-000000000001';
    const body = { id, channel_values: { a: 1 }, metadata: { source: 'input' } };
    const first = await put(open, thread, body);
    assert.equal(first.id, id.toLowerCase());
    await put(open, thread, { channel_values: { a: 2 }, parent_id: first.id });
    const again = await open.post(of(thread), body);
    assert.deepEqual(expectStatus(again, 200), { ...first });
    const stale = { ...body, expected_latest: null };
    assert.equal(expectStatus(await open.post(of(thread), stale), 200).id, first.id);
    expectProblem(
      await open.post(of(thread), { ...body, metadata: {} }), 409, 'conflict');
    const replaced = expectStatus(
      await open.post(of(thread), { ...body, metadata: { source: 'fork' }, replace: true }), 200);
    assert.equal(replaced.sequence_num, 1);
    assert.deepEqual((await read(open, thread, id)).metadata, { source: 'fork' });
    await put(open, thread, { ...body, namespace: 'inner' });
    assert.equal((await read(open, thread, id)).namespace, '');
    assert.equal((await read(open, thread, id, '?namespace=inner')).namespace, 'inner');
  });

  await t.test('of two writers that expect the same latest one exactly one wins', async () => {
    const thread = await newThread(open);
    let latest = null;
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([1, 2, 3, 4].map((n) =>
        open.post(of(thread), { expected_latest: latest, channel_values: { round, n } })));
      const won = answers.filter((a) => a.status === 201);
      assert.equal(won.length, 1);
      latest = won[0].body.id;
      for (const lost of answers.filter((a) => a.status !== 201)) {
        expectProblem(lost, 409, 'conflict');
        assert.equal(lost.body.latest, latest);
      }
    }
    assert.equal((await list(open, thread)).data.length, 5);
  });

  await t.test('changes cost what changed, and lead to the whole', async () => {
    const thread = await newThread(open);
    await put(open, thread, { channel_values: { messages: ['a'], n: 1, gone: 1 } });
    await put(open, thread, {
      changes: { append: { messages: ['b', 'c'], log: [1] }, set: { n: 2 }, remove: ['gone'] },
    });
    const { channel_values: values } = expectStatus(await open.get(`${of(thread)}/latest`), 200);
    assert.deepEqual(values, { messages: ['a', 'b', 'c'], n: 2, log: [1] });
    const bad = await open.post(of(thread), { changes: { append: { n: [1] } } });
    expectProblem(bad, 422, 'invalid_input');
    assert.match(bad.body.errors[0].pointer, /^\/changes\/append/);
  });

  await t.test('lists go by namespace, run, metadata, id and page', async () => {
    const thread = await newThread(open);
    const run = expectStatus(
      await open.post(`/v1/threads/${thread}/runs`, { dispatch: 'direct' }), 201).id;
    const made = [];
    for (let step = 0; step < 6; step++)
      made.push(await put(open, thread, {
        namespace: step % 3 === 2 ? 'child:1' : '',
        channel_values: { step },
        metadata: { source: step === 0 ? 'input' : 'loop', step, nested: { a: 1 } },
        ...(step >= 4 ? { run_id: run } : {}),
      }));
    const all = made.map((k) => k.id).reverse();
    assert.deepEqual(ids(await list(open, thread)), all);
    assert.deepEqual(ids(await list(open, thread, 'namespace=')),
      [made[4], made[3], made[1], made[0]].map((k) => k.id));
    assert.deepEqual(ids(await list(open, thread, 'namespace=child:1')), [made[5].id, made[2].id]);
    assert.deepEqual(ids(await list(open, thread, `run_id=${run}`)), [made[5].id, made[4].id]);
    assert.deepEqual(ids(await list(open, thread, `run_id=${run}&namespace=`)), [made[4].id]);
    assert.deepEqual(ids(await list(open, thread, `before=${made[2].id}`)),
      [made[1].id, made[0].id]);
    assert.deepEqual(ids(await list(open, thread, 'metadata.source=input')), [made[0].id]);
    assert.deepEqual(ids(await list(open, thread, 'metadata.source=loop&metadata.step=3')),
      [made[3].id]);
    const walked = [];
    for (let cursor = ''; cursor !== null;) {
      const page = await list(open, thread, `limit=4${cursor && `&cursor=${cursor}`}`);
      walked.push(...ids(page));
      cursor = page.next_cursor;
    }
    assert.deepEqual(walked, all);
  });

  await t.test('the first to write an index wins, also at once', async () => {
    const thread = await newThread(open);
    const { id } = await put(open, thread, { channel_values: {} });
    const path = `${of(thread)}/${id}/writes`;
    const write = (task_id, value, index) =>
      open.put(path, { task_id, task_path: '~x', writes: [{ channel: 'm', value, index }] });
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => write('t', n, 0)));
    const won = answers.map((a) => expectStatus(a, 200).written);
    assert.equal(won.reduce((a, b) => a + b), 1);
    expectStatus(await write('t', 'first', -1), 200);
    assert.deepEqual(expectStatus(await write('t', null, -1), 200), { written: 1, kept: 0 });
    const { writes } = expectStatus(await open.get(path), 200);
    assert.deepEqual(writes, [
      { task_id: 't', index: -1, task_path: '~x', channel: 'm', value: null },
      { task_id: 't', index: 0, task_path: '~x', channel: 'm', value: won.indexOf(1) + 1 },
    ]);
    assert.deepEqual((await read(open, thread, id)).pending_writes, writes);
    expectStatus(await write('u', 'of another task', -1), 200);
    expectStatus(await write('t', 'replaced', -1), 200);
    const both = expectStatus(await open.get(path), 200).writes.filter((w) => w.index === -1);
    assert.deepEqual(both.map((w) => [w.task_id, w.value]),
      [['t', 'replaced'], ['u', 'of another task']]);
    const twice = { task_id: 't', writes: [{ channel: 'a', value: 1, index: 3 },
      { channel: 'b', value: 1, index: 3 }] };
    expectFault(await open.put(path, twice), 422, 'invalid_input', '/writes/1/index', /repeated/);
    const early = `${of(thread)}/${uuid()}/writes`;
    const body = { task_id: 't', writes: [{ channel: 'a', value: 1 }] };
    expectProblem(await open.put(early, body), 404, 'not_found');
    expectStatus(await open.put(early, { ...body, ahead: true }), 200);
  });

  await t.test("while a worker holds the run's lease, only its token writes", async () => {
    const thread = await newThread(open);
    const run = expectStatus(await open.post(`/v1/threads/${thread}/runs`, {}), 201).id;
    const { fence } = expectStatus(
      await open.post('/v1/runs/claim', { worker: 'w', thread_id: thread }), 200);
    const body = { channel_values: {}, run_id: run };
    expectProblem(await open.post(of(thread), body), 409, 'lease_required');
    const token = { headers: { 'Cairn-Fencing-Token': String(fence) } };
    const { id } = expectStatus(await open.post(of(thread), body, token), 201);
    const writes = { task_id: 't', writes: [{ channel: 'a', value: 1 }] };
    expectProblem(await open.put(`${of(thread)}/${id}/writes`, writes), 409, 'lease_required');
    expectStatus(await open.put(`${of(thread)}/${id}/writes`, writes, token), 200);
    const late = { headers: { 'Cairn-Fencing-Token': String(fence + 1) } };
    expectProblem(await open.post(of(thread), body, late), 409, 'lease_lost');
  });

  await t.test('two checkpoints are compared channel by channel', async () => {
    const thread = await newThread(open);
    const a = await put(open, thread, {
      channel_values: { messages: ['x'], n: 1, old: true },
      channel_versions: { messages: 1, n: 1, old: 1 },
    });
    const b = await put(open, thread, {
      channel_values: { messages: ['x', 'y'], n: 1, 'a/b': 1 },
      channel_versions: { messages: 2, n: 1, 'a/b': 1 },
    });
    const diff = expectStatus(await open.get(`${of(thread)}/${a.id}/diff/${b.id}`), 200);
    assert.deepEqual(diff.channels, [
      { channel: 'messages', change: 'changed', from_version: 1, to_version: 2 },
      { channel: 'old', change: 'removed', from_version: 1, to_version: null },
      { channel: 'a/b', change: 'added', from_version: null, to_version: 1 },
    ]);
    assert.deepEqual(new Set(diff.patch.map((o) => `${o.op} ${o.path}`)),
      new Set(['add /messages/1', 'remove /old', 'add /a~1b']));
    const same = expectStatus(await open.get(`${of(thread)}/${a.id}/diff/${a.id}`), 200);
    assert.deepEqual([same.channels, same.patch], [[], []]);
    expectProblem(await open.get(`${of(thread)}/${a.id}/diff/${uuid()}`), 404, 'not_found');
  });

  await t.test('the oldest are pruned by number and by age, and what stays is whole', async () => {
    const thread = await newThread(open);
    const made = [];
    for (let n = 0; n < 6; n++)
      made.push(await put(open, thread,
        { channel_values: { n, messages: Array.from({ length: n }, (_, i) => `m${i}`) } }));
    const prune = async (body) =>
      expectStatus(await open.post(`${of(thread)}/prune`, body), 200);
    expectFault(await open.post(`${of(thread)}/prune`, {}), 422, 'invalid_input', '/keep_latest');
    expectFault(await open.post(`${of(thread)}/prune`, { keep_latest: 0 }), 422, 'invalid_input',
      '/keep_latest');
    assert.deepEqual(await prune({ older_than_s: 3600 }), { pruned: 0, more: false });
    assert.deepEqual(await prune({ keep_latest: 2 }), { pruned: 4, more: false });
    const kept = await list(open, thread, 'include=values');
    assert.deepEqual(kept.data.map((k) => k.parent_id), [made[4].id, null]);
    assert.deepEqual(kept.data[0].channel_values,
      { n: 5, messages: ['m0', 'm1', 'm2', 'm3', 'm4'] });
    const { data } = expectStatus(await open.get(`/v1/threads/${thread}/events?limit=100`), 200);
    assert.deepEqual(data.at(-1).payload, { namespace: '', count: 4 });
    assert.deepEqual(await prune({ older_than: '2100-01-01T00:00:00Z' }),
      { pruned: 1, more: false });
    assert.deepEqual(ids(await list(open, thread)), [made[5].id]);
    await put(open, thread, { namespace: 'x', channel_values: {} });
    assert.deepEqual(expectStatus(await open.del(`${of(thread)}?namespace=x`), 200),
      { pruned: 1, more: false });
    assert.deepEqual(expectStatus(await open.del(of(thread)), 200), { pruned: 1, more: false });
    assert.deepEqual(await list(open, thread), { data: [], has_more: false, next_cursor: null });
  });

  await t.test('a copy in another thread goes its own way', async () => {
    const thread = await newThread(open);
    const other = await newThread(open);
    const a = await put(open, thread, { channel_values: { m: ['x'] } });
    const b = await put(open, thread, { channel_values: { m: ['x', 'y'] }, namespace: 'in' });
    const copy = async (to) => open.post(`${of(thread)}/copy`, { to_thread_id: to });
    assert.deepEqual(expectStatus(await copy(other), 200), { copied: 2, more: false });
    assert.deepEqual(expectStatus(await copy(other), 200), { copied: 0, more: false });
    expectFault(await copy(uuid()), 422, 'invalid_input', '/to_thread_id');
    await open.del(of(thread));
    assert.deepEqual((await read(open, other, a.id)).channel_values, { m: ['x'] });
    assert.deepEqual((await read(open, other, b.id)).channel_values, { m: ['x', 'y'] });
    const next = await put(open, other, { channel_values: {} });
    assert.equal(next.parent_id, a.id);
    assert.equal(next.sequence_num, 3);
  });

  await t.test('recovery goes back past what is damaged, and says so', async () => {
    const thread = await newThread(open);
    const run = expectStatus(
      await open.post(`/v1/threads/${thread}/runs`, { dispatch: 'direct' }), 201).id;
    const long = (letter) => letter.repeat(500);
    expectProblem(await open.get(`/v1/runs/${run}/recovery`), 404, 'not_found');
    const a = await put(open, thread, {
      run_id: run, channel_values: { messages: [long('a')], x: 1 },
      channel_versions: { messages: 1, y: 1 },
      pending_sends: [{ channel: 'tools', value: { call: 1 } }],
    });
    const b = await put(open, thread,
      { run_id: run, changes: { append: { messages: [long('b')] } } });
    const c = await put(open, thread,
      { run_id: run, changes: { append: { messages: [long('c')] } } });
    const recover = async (path = `/v1/runs/${run}/recovery`) => open.get(path);
    const intact = expectStatus(await recover(), 200);
    assert.equal(intact.checkpoint_id, c.id);
    assert.deepEqual([intact.skipped, intact.warnings], [[], []]);
    const flip = async (letter) => {
      const text = JSON.stringify(long(letter));
      const hash = createHash('sha256').update(text).digest('hex');
      const flipped = Buffer.from(text.replace(letter, '!')).toString('hex');
      const literal = (hex) => (server.db === null ? `x'${hex}'` : `'\\x${hex}'`);
      await server.stop();
      server.sql(`UPDATE items SET bytes = ${literal(flipped)} WHERE sha256 = ${literal(hash)}`);
      await server.start();
    };
    await flip('b');
    expectProblem(await open.get(`${of(thread)}/${c.id}`), 500, 'data_damaged');
    const recovered = expectStatus(await recover(), 200);
    assert.equal(recovered.checkpoint_id, a.id);
    assert.deepEqual(recovered.recovered_state, { messages: [long('a')], x: 1 });
    assert.deepEqual(recovered.pending_sends, [{ channel: 'tools', value: { call: 1 } }]);
    assert.deepEqual(recovered.skipped.map((s) => s.checkpoint_id), [c.id, b.id]);
    assert.match(recovered.skipped[0].reason, /differs from what was stored/);
    assert.deepEqual(recovered.warnings, [
      { channel: 'x', detail: 'has a value and no version' },
      { channel: 'y', detail: 'has a version and no value' },
    ]);
    const byThread = expectStatus(await recover(`/v1/threads/${thread}/recovery`), 200);
    assert.equal(byThread.checkpoint_id, a.id);
    const target = expectStatus(
      await recover(`/v1/runs/${run}/recovery?checkpoint_id=${a.id}`), 200);
    assert.deepEqual(target.skipped, []);
    await flip('a');
    const lost = await recover();
    expectProblem(lost, 500, 'data_damaged');
    assert.deepEqual(lost.body.skipped.map((s) => s.checkpoint_id), [c.id, b.id, a.id]);
  });
});

test('the replay of an agent platform: time travel from a checkpoint', async (t) => {
  const { open } = await startServer(t);
  const agent = expectStatus(await open.post('/v1/agents', { name: 'researcher' }), 201).id;
  const thread = await newThread(open);
  const run = expectStatus(await open.post(`/v1/threads/${thread}/runs`,
    { agent_id: agent, dispatch: 'direct', user_input: 'Find it' }), 201).id;
  const messages = [];
  for (let iteration = 1; iteration <= 3; iteration++) {
    messages.push({ role: 'assistant', content: `thought ${iteration}` });
    await put(open, thread, {
      run_id: run, node: iteration < 3 ? 'plan' : 'act',
      channel_values: { messages, current_node: 'plan', iteration, custom: {} },
      channel_versions: { messages: iteration, current_node: 1, iteration, custom: 1 },
      metadata: { trigger: 'turn_complete', node_outcomes: {} },
    });
  }
  expectStatus(await open.patch(`/v1/runs/${run}`, { status: 'completed' }), 200);
  for (const base of [`/v1/agents/${agent}/runs/${run}`, `/v1/runs/${run}`])
    await t.test(base.includes('agents') ? 'by the agent' : 'by the run', async () => {
      const { data } = expectStatus(await open.get(`${base}/checkpoints?limit=2`), 200);
      assert.deepEqual(data.map((k) => [k.sequence_num, k.node]), [[3, 'act'], [2, 'plan']]);
      const older = expectStatus(
        await open.get(`${base}/checkpoints?before=${data[1].id}`), 200).data;
      const [chosen] = older;
      const shown = expectStatus(await open.get(`${base}/checkpoints/${chosen.id}`), 200);
      assert.equal(shown.parent_id, null);
      assert.equal(shown.state.iteration, 1);
      const replay = expectStatus(await open.post(`${base}/replay`, {
        checkpoint_id: chosen.id, modified_state: { iteration: 0, custom: { hint: 'look again' } },
        dispatch: 'direct', policy: 'enqueue',
      }), 201);
      assert.deepEqual([replay.thread_id, replay.status], [thread, 'running']);
      const made = expectStatus(await open.get(`/v1/runs/${replay.new_run_id}`), 200);
      assert.equal(made.forked_from_run_id, run);
      assert.equal(made.forked_from_checkpoint_id, chosen.id);
      assert.equal(made.agent_id, agent);
      assert.equal(made.user_input, 'Find it');
      const first = expectStatus(
        await open.get(`/v1/runs/${replay.new_run_id}/checkpoints/${replay.checkpoint_id}`), 200);
      assert.equal(first.parent_id, chosen.id);
      assert.deepEqual(first.state, {
        messages: [messages[0]], current_node: 'plan', iteration: 0,
        custom: { hint: 'look again' },
      });
      assert.deepEqual(first.channel_versions,
        { messages: 1, current_node: 1, iteration: 2, custom: 2 });
      assert.equal(first.metadata.source, 'fork');
      const untouched = expectStatus(await open.get(`${base}/checkpoints`), 200).data;
      assert.deepEqual(untouched.map((k) => k.sequence_num), [3, 2, 1]);
      assert.equal(expectStatus(await open.get(`/v1/runs/${run}`), 200).status, 'completed');
      expectStatus(
        await open.patch(`/v1/runs/${replay.new_run_id}`, { status: 'completed' }), 200);
      expectFault(await open.post(`${base}/replay`, { checkpoint_id: replay.checkpoint_id }),
        422, 'invalid_input', '/checkpoint_id', /this run/);
      expectProblem(
        await open.get(`${base}/checkpoints/${replay.checkpoint_id}`), 404, 'not_found');
    });
  await t.test('not by another agent', async () => {
    const other = expectStatus(await open.post('/v1/agents', { name: 'writer' }), 201).id;
    expectProblem(
      await open.get(`/v1/agents/${other}/runs/${run}/checkpoints`), 404, 'not_found');
  });
});

test('a checkpoint of another tenant is no parent', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const theirs = await put(bob, await newThread(bob), { channel_values: { secret: 1 } });
  const thread = await newThread(alice);
  await refuse(alice, thread, { channel_values: {}, parent_id: theirs.id }, '/parent_id',
    /this thread/);
});
