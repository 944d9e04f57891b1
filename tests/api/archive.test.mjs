// SPDX-License-Identifier: Apache-2.0
// Export and import: a thread, an agent or a tenant as one file, whole or not at all.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import {
  claim,
  eventually,
  expectProblem,
  expectSound,
  expectStatus,
  onPostgres,
  readAll,
  startServer,
  twoTenants,
  uuid,
  withKey,
} from './lib/server.mjs';
import { ids, pack, packed, unpack } from './lib/archive.mjs';

async function bytesOf(answer) {
  assert.equal(answer.status, 200, answer.text);
  return answer.bytes;
}

const exportThread = async (client, id) =>
  bytesOf(await client.get(`/v1/threads/${id}/export`));
const exportTenant = async (client) => bytesOf(await client.get('/v1/export'));

const send = (client, archive, query = '', headers = {}) =>
  client.post(`/v1/imports${query}`, undefined, {
    raw: archive,
    type: 'application/x-tar',
    headers,
  });

/** A thread with runs, events, participants and states. */
async function furnish(client, agentName = `agent ${uuid()}`) {
  const agent = expectStatus(await client.post('/v1/agents', { name: agentName }), 201);
  const thread = expectStatus(
    await client.post('/v1/threads', { title: 'a "title"', metadata: { a: 1.5, b: { c: null } } }),
    201,
  );
  const path = `/v1/threads/${thread.id}`;
  const unseen = { headers: { 'If-Match': '*' } };
  expectStatus(await client.post(`${path}/runs`, { user_input: 'héllo', message: false }), 201);
  for (const principal of ['user:ada', `agent:${agent.id}`])
    expectStatus(await client.post(`${path}/participants`, { principal }), 201);
  for (const place of [
    `/v1/agents/${agent.id}/config`,
    `/v1/agents/${agent.id}/states/plan`,
    `${path}/states/board`,
    `${path}/agents/${agent.id}/states/mine`,
  ])
    for (const n of [1, 2])
      assert.ok((await client.put(place, { data: { n } }, unseen)).status < 300, place);
  for (const name of ['a.txt', 'gone.txt'])
    for (const raw of ['one', 'two']) {
      const put = await client.put(`${path}/files/${name}`, undefined, { raw, type: 'text/plain' });
      assert.ok(put.status < 300, put.text);
    }
  expectStatus(await client.del(`${path}/files/${'gone.txt'}`), 204);
  const message = { content: 'see a.txt', filenames: ['a.txt'], metadata: { debug: { n: 1 } } };
  const sent = expectStatus(await client.post(`${path}/messages`, message), 201);
  const edit = { content: 'see a.txt, please' };
  assert.ok((await client.patch(`${path}/messages/${sent.id}`, edit)).status < 300);
  for (let n = 0; n < 20; n++)
    expectStatus(await client.post(`${path}/events`, { kind: 'progress', text: `${n}` }), 201);
  return { thread: thread.id, agent: agent.id };
}

/** The same text with every id replaced by its rank of first occurrence. */
const withoutIds = (archive) =>
  ids(archive.toString('latin1').replace(/"sha256":"[0-9a-f]{64}"/g, '"sha256":""'));

test('a thread goes out and comes in again', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const { thread, agent } = await furnish(alice);
  const archive = await exportThread(alice, thread);

  await t.test('as a tar file that says what it is', async () => {
    const answer = await alice.get(`/v1/threads/${thread}/export`);
    assert.equal(answer.headers.get('Content-Type'), 'application/x-tar');
    assert.match(answer.headers.get('Content-Disposition'), new RegExp(`${thread}\\.tar`));
    assert.equal(Number(answer.headers.get('Content-Length')), archive.length);
    const members = unpack(archive);
    assert.deepEqual(JSON.parse(members.get('cairn.json')), {
      format: 'cairn-archive',
      version: 1,
      what: 'thread',
      id: thread,
    });
    const manifest = JSON.parse(members.get('manifest.json'));
    for (const { name, size_bytes: size, sha256 } of manifest.members) {
      assert.equal(members.get(name).length, size, name);
      assert.equal(createHash('sha256').update(members.get(name)).digest('hex'), sha256, name);
    }
    assert.ok(answer.bytes.equals(archive), 'the same bytes again');
    const headers = { 'If-None-Match': answer.headers.get('ETag') };
    assert.equal((await alice.get(`/v1/threads/${thread}/export`, { headers })).status, 304);
  });

  await t.test('under new ids, to the same bytes but for these', async () => {
    const made = expectStatus(await send(bob, archive, '?ids=remap'), 201);
    assert.equal(made.what, 'thread');
    assert.equal(made.counts.events, (await readAll(alice, `/v1/threads/${thread}/events`)).length);
    const [theirs, mine] = made.objects;
    assert.deepEqual([theirs.type, theirs.from, mine.from], ['agent', agent, thread]);
    assert.notEqual(mine.to, thread);
    assert.equal(withoutIds(await exportThread(bob, mine.to)), withoutIds(archive));
    const [before, after] = [
      await readAll(alice, `/v1/threads/${thread}/events`),
      await readAll(bob, `/v1/threads/${mine.to}/events`),
    ];
    const plain = (events) => events.map((e) => [e.seq, e.kind, e.text]);
    assert.deepEqual(plain(after), plain(before));
    const participants = expectStatus(await bob.get(`/v1/threads/${mine.to}/participants`), 200);
    assert.ok(participants.data.some((p) => p.principal === `agent:${theirs.to}`));
    const file = await bob.get(`/v1/threads/${mine.to}/files/${'a.txt'}`);
    assert.deepEqual([file.status, file.text], [200, 'two']);
    const messages = expectStatus(await bob.get(`/v1/threads/${mine.to}/messages`), 200).data;
    assert.deepEqual(messages.map((m) => [m.content, m.version]), [['see a.txt, please', 2]]);
    const told = after.find((e) => e.kind === 'message.created');
    assert.equal(told.payload.message_id, messages[0].id);
    const next = expectStatus(
      await bob.post(`/v1/threads/${mine.to}/events`, { kind: 'progress' }),
      201,
    );
    assert.equal(next.seq, before.at(-1).seq + 1);
  });

  await t.test('under its own ids only where they are free', async () => {
    const { body } = await send(alice, archive);
    assert.equal(body.code, 'conflict');
    assert.match(body.detail, new RegExp(`thread ${thread} already exists`));
  });

  await t.test('twice with one Idempotency-Key once', async () => {
    const key = { 'Idempotency-Key': uuid() };
    const first = expectStatus(await send(bob, archive, '?ids=remap', key), 201);
    const again = await send(bob, archive, '?ids=remap', key);
    assert.deepEqual(again.body, first);
    assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
    const other = await furnish(alice);
    expectProblem(
      await send(bob, await exportThread(alice, other.thread), '?ids=remap', key),
      422,
      'idempotency_key_reused',
    );
  });

  await t.test('or is only looked at', async () => {
    const count = async () => (await bob.get('/v1/threads?limit=200')).body.data.length;
    const before = await count();
    const verdict = expectStatus(await send(bob, archive, '?ids=remap&dry_run=true'), 200);
    assert.equal(verdict.dry_run, true);
    assert.equal(await count(), before);
    expectProblem(await send(alice, archive, '?dry_run=true'), 409, 'conflict');
  });
  await expectSound(server);
});

test('a tenant moves to another with everything in it', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  await furnish(alice);
  const { thread } = await furnish(alice);
  await alice.post(`/v1/threads/${thread}/events/prune`, { through_seq: 5 });
  const archive = await exportTenant(alice);
  const made = expectStatus(await send(bob, archive), 201);
  assert.deepEqual([made.counts.threads, made.counts.agents, made.counts.states], [2, 2, 8]);
  assert.ok((await exportTenant(bob)).equals(archive));
  expectProblem(await bob.get(`/v1/threads/${thread}/events?after=1`), 410, 'events_pruned');
  const audit = expectStatus(await bob.get('/v1/audit?action=archive.imported'), 200);
  assert.equal(audit.data.length, 1);
  await server.restart();
  assert.ok((await exportTenant(bob)).equals(archive));
  await expectSound(server);
});

test('from SQLite to PostgreSQL and back nothing is lost', onPostgres('both'), async (t) => {
  const [lite, post] = [
    (await startServer(t, { engine: 'sqlite' })).open,
    (await startServer(t)).open,
  ];
  await furnish(lite);
  await furnish(lite);
  const archive = await exportTenant(lite);
  expectStatus(await send(post, archive, '?ids=remap'), 201);
  const second = await exportTenant(post);
  assert.equal(withoutIds(second), withoutIds(archive));
  const back = (await startServer(t, { engine: 'sqlite' })).open;
  expectStatus(await send(back, second), 201);
  assert.ok((await exportTenant(back)).equals(second));
});

test('a thread that was deleted comes back from its archive', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const { thread } = await furnish(alice);
  const archive = await exportThread(alice, thread);
  const { length } = await readAll(alice, `/v1/threads/${thread}/events`);
  expectStatus(await alice.del(`/v1/threads/${thread}`), 204);
  expectStatus(await send(alice, archive), 201);
  assert.ok((await exportThread(alice, thread)).equals(archive));
  const next = await alice.post(`/v1/threads/${thread}/events`, { kind: 'progress' });
  assert.equal(expectStatus(next, 201).seq, length + 1);
  await expectSound(server);
});

test('an agent whose name is taken is renamed if the request says so', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const make = async (client, name, more = {}) =>
    expectStatus(await client.post('/v1/agents', { name, ...more }), 201).id;
  const listed = async (client, path) => expectStatus(await client.get(path), 200).data;
  const named = async (client) =>
    (await listed(client, '/v1/agents')).map((a) => a.name).sort();
  const renamed = (made) => made.objects.filter((o) => o.type === 'agent')
    .map((o) => o.renamed_to);
  const agent = await make(alice, 'helper', { description: 'of alice' });
  const archive = await bytesOf(await alice.get(`/v1/agents/${agent}/export`));

  await t.test('not where it is free', async () => {
    const made = expectStatus(await send(bob, archive, '?ids=remap&names=rename'), 201);
    assert.deepEqual(renamed(made), [null]);
    assert.deepEqual(await named(bob), ['helper']);
  });

  await t.test('to the first free number, which the answer names', async () => {
    for (const query of ['?ids=remap', '?ids=remap&names=keep'])
      assert.match(expectProblem(await send(bob, archive, query), 409, 'conflict').detail,
        /has the same name as/);
    await make(bob, 'helper (3)');
    for (const expected of ['helper (2)', 'helper (4)']) {
      const dry = expectStatus(
        await send(bob, archive, '?ids=remap&names=rename&dry_run=true'), 200);
      assert.deepEqual(renamed(dry), [expected]);
      const made = expectStatus(await send(bob, archive, '?ids=remap&names=rename'), 201);
      assert.deepEqual(renamed(made), [expected]);
      const found = expectStatus(await bob.get(`/v1/agents/${made.objects[0].to}`), 200);
      assert.deepEqual([found.name, found.description], [expected, 'of alice']);
    }
    expectProblem(await send(bob, archive, '?names=other'), 422, 'invalid_input');
  });

  await t.test('but an id that exists is still a conflict', async () => {
    const answer = await send(alice, archive, '?names=rename');
    assert.match(expectProblem(answer, 409, 'conflict').detail, /already exists .*ids=remap/);
  });

  await t.test('a name at its limit is shortened by whole characters', async () => {
    const name = `x${'é'.repeat(99)}`;
    const long = await bytesOf(await alice.get(
      `/v1/agents/${await make(alice, name)}/export`));
    await make(bob, name);
    const made = expectStatus(await send(bob, long, '?ids=remap&names=rename'), 201);
    assert.deepEqual(renamed(made), [`x${'é'.repeat(97)} (2)`]);
  });

  await t.test('up to the number 100', async () => {
    const many = await bytesOf(await alice.get(
      `/v1/agents/${await make(alice, 'many')}/export`));
    await make(bob, 'many');
    for (let n = 2; n < 100; n++)
      await make(bob, `many (${n})`);
    assert.deepEqual(
      renamed(expectStatus(await send(bob, many, '?ids=remap&names=rename'), 201)), ['many (100)']);
    const full = await send(bob, many, '?ids=remap&names=rename');
    assert.match(expectProblem(full, 409, 'conflict').detail,
      /"many" and its numbers up to \(100\) are taken/);
  });

  await t.test('in the archive of a tenant, with its threads and runs', async () => {
    const carol = (await startServer(t)).open;
    const [one, two] = [await make(carol, 'a'), await make(carol, 'a (2)')];
    const threads = [];
    for (const [name, id] of [['a', one], ['a (2)', two], ['b', null]]) {
      const thread = expectStatus(await carol.post('/v1/threads', { agent: name }), 201).id;
      expectStatus(await carol.post(`/v1/threads/${thread}/runs`,
        id === null ? {} : { agent_id: id }), 201);
      threads.push(thread);
    }
    const whole = await exportTenant(carol);
    const dave = (await startServer(t)).open;
    for (const name of ['a', 'b', 'c'])
      await make(dave, name);
    expectProblem(await send(dave, whole), 409, 'conflict');
    const made = expectStatus(await send(dave, whole, '?names=rename'), 201);
    assert.deepEqual(renamed(made), ['a (3)', null]);
    assert.deepEqual(await named(dave), ['a', 'a (2)', 'a (3)', 'b', 'c']);
    assert.equal(made.objects.find((o) => o.type === 'thread').renamed_to, null);
    for (const [n, expected] of ['a (3)', 'a (2)', 'b'].entries()) {
      assert.equal(expectStatus(await dave.get(`/v1/threads/${threads[n]}`), 200).agent, expected);
      const runs = await listed(dave, `/v1/threads/${threads[n]}/runs`);
      assert.deepEqual(runs.map((r) => r.agent), [expected]);
    }
  });

  await t.test('but not to a name that the archive has twice', async () => {
    const members = unpack(archive);
    const row = members.get('agents.jsonl').toString();
    const twice = new Map(members).set('agents.jsonl',
      Buffer.from(row + row.replace(agent, `0f${agent.slice(2)}`)));
    const answer = await send(bob, packed(twice), '?ids=remap&names=rename');
    assert.match(expectProblem(answer, 422, 'invalid_input').detail, /has the same name twice/);
  });

  await t.test('and the agents of a thread are found by their names as before', async () => {
    const { thread } = await furnish(alice, 'helper two');
    const theirs = await make(bob, 'helper two');
    const made = expectStatus(
      await send(bob, await exportThread(alice, thread), '?ids=remap&names=rename'), 201);
    assert.deepEqual([made.objects[0].to, made.objects[0].was_there, made.objects[0].renamed_to],
      [theirs, true, null]);
  });
  await expectSound(server);
});

test('versions that runs used go with a thread and with a tenant, also of deleted agents',
  async (t) => {
    const server = await startServer(t);
    const { alice, bob } = await twoTenants(server);
    const agents = {};
    for (const name of ['living', 'deleted', 'elsewhere']) {
      const { id } = expectStatus(await alice.post('/v1/agents',
        { name, system_prompt: `of ${name}` }), 201);
      for (const temperature of [0.25, 0.5])
        expectStatus(await alice.post(`/v1/agents/${id}/versions`,
          { bump: 'minor', llm_config: { temperature } }), 201);
      agents[name] = id;
    }
    const thread = expectStatus(await alice.post('/v1/threads', {}), 201).id;
    const other = expectStatus(await alice.post('/v1/threads', {}), 201).id;
    const start = async (where, name, version) => {
      const { id } = expectStatus(await alice.post(`/v1/threads/${where}/runs`,
        { agent_id: agents[name], agent_version: version, policy: 'enqueue' }), 201);
      expectStatus(await alice.patch(`/v1/runs/${id}`, { status: 'cancelled' }), 200);
    };
    for (const name of ['living', 'deleted'])
      for (const version of ['1.0.0', '1.2.0'])
        await start(thread, name, version);
    await start(other, 'elsewhere', '1.0.0');
    await start(other, 'living', '1.1.0');
    expectStatus(await alice.del(`/v1/agents/${agents.deleted}`), 204);
    const read = async (client, agent, version) => {
      const { agent_id: _, is_active: __, ...rest } =
        expectStatus(await client.get(`/v1/agents/${agent}/versions/${version}`), 200);
      return rest;
    };
    const one = await exportThread(alice, thread);
    const rows = (archive) => unpack(archive).get('used_versions.jsonl').toString().trim()
      .split('\n').map(JSON.parse);
    assert.deepEqual(rows(one).map((r) => [r.agent_id, r.version]),
      [[agents.living, '1.0.0'], [agents.living, '1.2.0'],
        [agents.deleted, '1.0.0'], [agents.deleted, '1.2.0']]);

    // The other tenant has an agent with the name, whose version 1.0.0 is another one.
    const theirs = expectStatus(await bob.post('/v1/agents',
      { name: 'living', system_prompt: 'theirs' }), 201).id;
    const made = expectStatus(await send(bob, one, '?ids=remap'), 201);
    assert.deepEqual(made.objects.map((o) => [o.from, o.to === theirs]),
      [[agents.living, true], [thread, false]]);
    assert.deepEqual(await read(bob, theirs, '1.2.0'), await read(alice, agents.living, '1.2.0'));
    assert.equal((await read(bob, theirs, '1.0.0')).system_prompt.instructions, 'theirs');
    for (const version of ['1.0.0', '1.2.0'])
      assert.deepEqual(await read(bob, agents.deleted, version),
        await read(alice, agents.deleted, version));
    for (const [agent, version] of [[agents.elsewhere, '1.0.0'], [theirs, '1.1.0']])
      expectProblem(await bob.get(`/v1/agents/${agent}/versions/${version}`), 404, 'not_found');

    const carol = (await startServer(t)).open;
    const whole = await exportTenant(alice);
    assert.equal(rows(whole).length, 6);
    expectStatus(await send(carol, whole), 201);
    assert.ok((await exportTenant(carol)).equals(whole));
    assert.deepEqual(await read(carol, agents.deleted, '1.2.0'),
      await read(alice, agents.deleted, '1.2.0'));
    await expectSound(server);
  });

test('an agent goes with its configuration and states, and without threads', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const { agent } = await furnish(alice, 'helper');
  const answer = await alice.get(`/v1/agents/${agent}/export`);
  const made = expectStatus(await send(bob, await bytesOf(answer), '?ids=remap'), 201);
  assert.deepEqual([made.counts.agents, made.counts.threads, made.counts.states], [1, 0, 2]);
  const config = expectStatus(await bob.get(`/v1/agents/${made.objects[0].to}/config`), 200);
  assert.deepEqual([config.data, config.version], [{ n: 2 }, 2]);
  const again = await send(bob, answer.bytes, '?ids=remap');
  assert.match(expectProblem(again, 409, 'conflict').detail, /has the same name as/);
});

test('a run that a worker holds waits for another where it comes in', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const { thread } = await furnish(alice);
  const run = await claim(alice);
  const archive = await exportThread(alice, thread);
  const made = expectStatus(await send(bob, archive, '?ids=remap'), 201);
  const theirs = await claim(bob);
  assert.equal(theirs.thread_id, made.objects.at(-1).to);
  assert.ok(theirs.fence > run.fence);
});

test('streams of a tenant see what is imported', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const { thread } = await furnish(alice);
  const archive = await exportThread(alice, thread);
  const stream = bob.sse('/v1/events/stream');
  const seen = [];
  stream.addEventListener('message', (event) => seen.push(JSON.parse(event.data)));
  await new Promise((done) => stream.addEventListener('open', done));
  const made = expectStatus(await send(bob, archive, '?ids=remap'), 201);
  await eventually(() => seen.length >= made.counts.events);
  stream.close();
  assert.deepEqual(seen.map((e) => e.seq), seen.map((_, i) => i + 1));
});

test('who may not read something may not export it', async (t) => {
  const server = await startServer(t);
  const { operator } = await twoTenants(server);
  const { thread } = await furnish(operator);
  const poor = await withKey(operator, ['threads:read', 'runs:read']);
  const answer = await poor.get(`/v1/threads/${thread}/export`);
  assert.match(expectProblem(answer, 403, 'forbidden').detail, /events:read/);
});

test('an older archive, which has fewer members, is imported', async (t) => {
  const members = ['agents', 'agent_storage', 'threads', 'participants', 'runs', 'run_undo',
    'events', 'messages', 'message_debug', 'message_versions', 'files', 'file_ends',
    'file_versions', 'states', 'state_versions'].map((name) => `${name}.jsonl`);
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const { thread } = await furnish(alice);
  const old = [...unpack(await exportThread(alice, thread))]
    .filter(([name]) => !name.endsWith('.jsonl') || members.includes(name));
  expectStatus(await send(bob, packed(new Map(old))), 201);
  expectStatus(await bob.get(`/v1/threads/${thread}`), 200);
  const without = old.filter(([name]) => name !== 'events.jsonl');
  expectProblem(await send(bob, packed(new Map(without)), '?ids=remap'), 422, 'invalid_input');
});

test('archives that were tampered with are refused, and change nothing', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const { thread } = await furnish(alice);
  const good = unpack(await exportThread(alice, thread));
  const empty = await exportTenant(bob);

  /** The members as they are but for one, with every hash put right. */
  const edited = (name, change) => {
    const members = new Map(good);
    members.set(name, Buffer.from(change(members.get(name).toString())));
    return packed(members);
  };
  /** One more member, where contents are. */
  const joined = (name, bytes) =>
    packed(
      new Map(
        [...good].flatMap(([n, b]) => (n === 'manifest.json' ? [[name, bytes], [n, b]] : [[n, b]])),
      ),
    );
  /** Another id for the thread, wherever it is named. */
  const renamed = (id) => {
    const rename = (bytes) => Buffer.from(bytes.toString().replaceAll(thread, id));
    return packed(new Map([...good].map(([name, bytes]) => [name, rename(bytes)])));
  };
  const line = (name, change) =>
    edited(name, (text) => {
      const [first, ...rest] = text.trimEnd().split('\n');
      return [JSON.stringify(change(JSON.parse(first))), ...rest, ''].join('\n');
    });
  const refuse = async (archive, rule) => {
    const answer = await send(bob, archive);
    assert.equal(answer.status, 422, `${rule} ${answer.text}`);
    assert.match(answer.body.detail, rule);
  };
  assert.ok(packed(good).equals(await exportThread(alice, thread)), 'packed() is faithful');

  const cases = {
    'a member with an absolute path': [
      () => pack([...good].map(([n, b]) => [n === 'runs.jsonl' ? '/etc/passwd' : n, b])),
      /relative path/,
    ],
    'a member that climbs': [
      () => pack([...good].map(([n, b]) => [n === 'runs.jsonl' ? '../runs.jsonl' : n, b])),
      /relative path/,
    ],
    'a link': [() => pack([...good], { type: { 'runs.jsonl': '2' } }), /plain file/],
    'a device': [() => pack([...good], { type: { 'runs.jsonl': '3' } }), /plain file/],
    'a pax header': [() => pack([...good], { type: { 'runs.jsonl': 'x' } }), /plain file/],
    'an owner': [() => pack([...good], { uid: 1000 }), /owner/],
    'a member too many': [
      () => joined('evil.jsonl', Buffer.from('')),
      /does not belong/,
    ],
    'a member twice': [
      () => pack([...good].flatMap(([n, b]) => (n === 'runs.jsonl' ? [[n, b], [n, b]] : [[n, b]]))),
      /was found instead of run_undo\.jsonl/,
    ],
    'a member too few': [
      () => pack([...good].filter(([n]) => n !== 'runs.jsonl')),
      /was found instead of runs\.jsonl/,
    ],
    'content that nobody asked for': [
      () => {
        const bytes = Buffer.from('bomb');
        const name = `blobs/${createHash('sha256').update(bytes).digest('hex')}`;
        return joined(name, bytes);
      },
      /content to which no version of a file refers/,
    ],
    'content under another hash': [
      () => joined(`blobs/${'f'.repeat(64)}`, Buffer.from('x')),
      /does not have the hash/,
    ],
    'a hash that does not fit': [
      () =>
        pack([...good].map(([n, b]) => [n, n === 'threads.jsonl' ? Buffer.from(`${b} `) : b])),
      /manifest\.json does not match: the archive has .*threads\.jsonl/,
    ],
    'a run that fails by a tool it does not wait for': [
      () => line('runs.jsonl', (run) => ({ ...run, tool_deadline: '2026-01-01T00:00:00.000000Z' })),
      /"tool_deadline" is only for runs that wait for tools/,
    ],
    'a version from the future': [
      () => edited('cairn.json', (text) => text.replace('"version":1', '"version":2')),
      /has version 2; this server supports version 1/,
    ],
    'another format': [
      () => edited('cairn.json', (text) => text.replace('cairn-archive', 'zip')),
      /must have the format "cairn-archive"/,
    ],
    'an end cut off': [() => packed(good).subarray(0, -1), /ends too early/],
    'a tail': [() => Buffer.concat([packed(good), Buffer.alloc(512)]), /two blocks of zeros/],
    'nothing at all': [() => Buffer.alloc(0), /ends too early/],
    'text': [
      () => Buffer.from('hello '.repeat(200)),
      /the member at byte 0 has no header of a POSIX ustar archive/,
    ],
    'an unknown member of a row': [
      () => line('threads.jsonl', (row) => ({ ...row, tenant_id: uuid() })),
      /threads\.jsonl line 1 has an unknown member/,
    ],
    'a row without what it needs': [
      () => line('threads.jsonl', ({ status, ...row }) => row),
      /"status" is missing/,
    ],
    'a status that there is not': [
      () => line('threads.jsonl', (row) => ({ ...row, status: 'asleep' })),
      /"status" has an unknown value/,
    ],
    'a run of another thread': [
      () => line('runs.jsonl', (row) => ({ ...row, thread_id: uuid() })),
      /refers to a thread that is not in the archive/,
    ],
    'a parent that is not there': [
      () => line('runs.jsonl', (row) => ({ ...row, parent_run_id: uuid(), depth: 1 })),
      /refers to a run that is not in the archive/,
    ],
    'a run that is its own parent': [
      () => line('runs.jsonl', (row) => ({ ...row, parent_run_id: row.id, depth: 1 })),
      /depth/,
    ],
    'a gap in the events': [
      () => edited('events.jsonl', (text) => text.split('\n').toSpliced(3, 1).join('\n')),
      /"seq" must be 4/,
    ],
    'events that end too early': [
      () => edited('events.jsonl', (text) => text.split('\n').slice(0, 5).concat('').join('\n')),
      /ends at event 5/,
    ],
    'attempts that do not begin with the first': [
      () => edited('run_attempts.jsonl', () => {
        const { id, created_at: at } = JSON.parse(good.get('runs.jsonl').toString().split('\n')[0]);
        return `${JSON.stringify({ run_id: id, number: 2, worker: 'w', fence: 1, started_at: at,
          ended_at: at, outcome: 'failed' })}\n`;
      }),
      /"number" must be one more than in the line before/,
    ],
    'rows in another order': [
      () =>
        edited('participants.jsonl', (text) =>
          text.trim().split('\n').reverse().concat('').join('\n'),
        ),
      /is not in order/,
    ],
    'a row twice': [
      () => edited('states.jsonl', (text) => text + text.split('\n').at(-2) + '\n'),
      /is not in order/,
    ],
    'a line that does not end': [
      () => edited('runs.jsonl', (text) => text.trimEnd()),
      /does not end with a line feed/,
    ],
    'a line that is no JSON': [
      () => edited('runs.jsonl', () => '{"id":\n'),
      /runs\.jsonl line 1 byte/,
    ],
    'nesting without end': [
      () => edited('runs.jsonl', () => `${'['.repeat(100000)}\n`),
      /nested too deeply/,
    ],
    'a U+0000 in text': [
      () => line('threads.jsonl', (row) => ({ ...row, title: '\0' })),
      /u0000 is not allowed/,
    ],
    'an id from the far future': [
      () => renamed('fffffffe-0000-7000-8000-000000000000'),
      /is in the future/,
    ],
    'an id that is not of version 7': [
      () => renamed('11111111-2222-4333-8444-555555555555'),
      /version 7/,
    ],
    // An import rejects everything that the API rejects.
    'a name of a file with a control character': [
      () => line('files.jsonl', (row) => ({ ...row, name: 'a\nb' })),
      /files\.jsonl line 1 "name" must not contain control characters/,
    ],
    'a name of a file that is too long': [
      () => line('files.jsonl', (row) => ({ ...row, name: 'a'.repeat(256) })),
      /files\.jsonl line 1 "name" must have 1 to 255 bytes/,
    ],
    'a last version that nothing can have made': [
      () => line('files.jsonl', (row) => ({ ...row, last_version: 2 ** 31 - 1 })),
      /files\.jsonl line 1 "last_version" is greater than/,
    ],
    'a last version before the current one': [
      () => line('files.jsonl', (row) => ({ ...row, last_version: 1 })),
      /"current_version" is greater than "last_version"/,
    ],
    'a file that is there and gone': [
      () => line('file_ends.jsonl', (row) => ({ ...row, name: 'a.txt' })),
      /have the same name in one thread twice/,
    ],
    'a content type that breaks a header': [
      () => line('file_versions.jsonl', (row) => ({ ...row, content_type: 'a/b\r\nX: y' })),
      /file_versions\.jsonl line 1 "content_type" must be a media type/,
    ],
    'an author that is no principal': [
      () => line('file_versions.jsonl', (row) => ({ ...row, created_by: 'root' })),
      /"created_by" must be user:NAME or agent:UUID/,
    ],
    'a message with too much metadata': [
      () => line('messages.jsonl', (row) => ({ ...row, metadata: { a: 'x'.repeat(100 * 1024) } })),
      /messages\.jsonl line 1 "metadata" must have 0 to 102400 bytes/,
    ],
    'a message with a script for a link': [
      () => line('messages.jsonl', (row) => ({ ...row, metadata: { href: 'javascript:x()' } })),
      /messages\.jsonl line 1 \/metadata\/href must be an http or https URI/,
    ],
    'a version of a message with a script for a link': [
      () =>
        line('message_versions.jsonl', (row) => ({ ...row, metadata: { href: 'javascript:x()' } })),
      /message_versions\.jsonl line 1 \/metadata\/href must be/,
    ],
    'a message with debug in its metadata': [
      () => line('messages.jsonl', (row) => ({ ...row, metadata: { debug: {} } })),
      /must not contain "debug"/,
    ],
    'a message that is too long': [
      () => line('messages.jsonl', (row) => ({ ...row, content: 'x'.repeat(1024 * 1024 + 1) })),
      /"content" must have 0 to 1048576 bytes/,
    ],
    'a message that names a file which never was': [
      () => line('messages.jsonl', (row) => ({ ...row, filenames: ['a.txt', 'b.txt'] })),
      /messages\.jsonl line 1 \/filenames\/1 must be the name of a file of this thread/,
    ],
    'a command that says something else': [
      () =>
        line('messages.jsonl', (row) => ({
          ...row,
          type: 'command',
          content: '/go',
          command: { name: 'stop', arguments: [], options: {} },
        })),
      /"command" does not match the content/,
    ],
    'a command that is no command': [
      () => line('messages.jsonl', (row) => ({ ...row, type: 'command', command: {} })),
      /\/content must begin with \/ and a name for a command/,
    ],
    'a schema that is none': [
      () => line('state_versions.jsonl', (row) => ({ ...row, json_schema: { type: 'x' } })),
      /state_versions\.jsonl line 1 \/json_schema/,
    ],
    'data that breaks its schema': [
      () => line('state_versions.jsonl', (row) => ({ ...row, json_schema: { type: 'array' } })),
      /state_versions\.jsonl line 1 \/data/,
    ],
    'data that is no document': [
      () => line('state_versions.jsonl', (row) => ({ ...row, data: 1 })),
      /"data" must be an object or an array/,
    ],
    'a role that there is not': [
      () => line('participants.jsonl', (row) => ({ ...row, role: 'root' })),
      /participants\.jsonl line 1 "role" has an unknown value/,
    ],
    'a permission that there is not': [
      () => line('participants.jsonl', (row) => ({ ...row, permission: 'all' })),
      /"permission" has an unknown value/,
    ],
    'a participant that is no principal': [
      () => line('participants.jsonl', (row) => ({ ...row, principal: 'user: ada' })),
      /"principal" must be user:NAME/,
    ],
    'a name of an agent that is too long': [
      () => line('agents.jsonl', (row) => ({ ...row, name: 'x'.repeat(201) })),
      /agents\.jsonl line 1 "name" must have 1 to 200 bytes/,
    ],
    'more rows than an import may have': [
      () => edited('events.jsonl', () => '\n'.repeat(5_000_000)),
      /the archive has more than 5000000 rows/,
    ],
    'more threads than an answer lists': [
      () => edited('threads.jsonl', () => '\n'.repeat(200_000)),
      /the archive has more than 200000 agents and threads/,
    ],
    'as many threads as an answer lists, without content': [
      () => edited('threads.jsonl', () => '\n'.repeat(199_999)),
      /threads\.jsonl line 1 byte 0/,
    ],
    'content that is missing': [
      () =>
        pack([...good].filter(([n]) => n !== [...good.keys()].find((k) => k.startsWith('blobs/')))),
      /manifest\.json does not match: the archive has 1 contents of 3 bytes in blobs\//,
    ],
    'a config of nobody': [
      () => line('states.jsonl', (row) => ({ ...row, kind: 'config', name: 'config' })),
      /a configuration must have "agent_id"/,
    ],
  };
  for (const [name, [make, rule]] of Object.entries(cases))
    await t.test(name, async () => refuse(make(), rule));
  assert.ok((await exportTenant(bob)).equals(empty), 'nothing has changed');
});
