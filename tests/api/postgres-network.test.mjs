// SPDX-License-Identifier: Apache-2.0
// A bad network between node and database: connections that are cut, slow, silent or cut in two,
// also exactly at a COMMIT. A client with an idempotency key sends again, and nothing is doubled.
import assert from 'node:assert/strict';
import test, { describe, it } from 'node:test';
import { eventually, expectProblem, expectStatus, insist, onPostgres, pause, startServer, uuid }
  from './lib/server.mjs';
import { expectSeqs, followOn, followSse, followWs, readSse } from './lib/followers.mjs';
import { openSession, psql, startCluster } from './lib/postgres.mjs';
import { startProxy } from './lib/proxy.mjs';

const HERE = onPostgres('the network to the database');

/** A server whose database is behind a proxy, and what is needed to look at it from beside. */
async function behindProxy(t, args = []) {
  const cluster = await startCluster(t);
  const proxy = await startProxy(t, cluster.port);
  const db = cluster.url('cairn', 'cairn', { port: proxy.port });
  const server = await startServer(t, { db, args });
  return { cluster, proxy, server, client: server.open };
}

const newThread = async (client) => expectStatus(await client.post('/v1/threads', {}), 201);

const post = (client, id, text, key) => client.post(`/v1/threads/${id}/events`,
  { kind: 'progress', text }, key === undefined ? {} : { headers: { 'Idempotency-Key': key } });

const log = async (client, id) => {
  const { answer } = await insist(() => client.get(`/v1/threads/${id}/events?limit=1000`));
  return expectStatus(answer, 200).data;
};

test('the proxy of these tests does what it says', HERE, async (t) => {
  const cluster = await startCluster(t);
  const proxy = await startProxy(t, cluster.port);
  const url = cluster.url('cairn', 'cairn', { port: proxy.port });
  await psql(url, 'CREATE TABLE x (how text)');
  for (const [how, kept] of [['before', 0], ['half', 0], ['after', 1]]) {
    const struck = proxy.atCommit(how);
    const session = openSession(t, url);
    await session.sql('BEGIN');
    await session.sql(`INSERT INTO x VALUES ('${how}')`);
    await assert.rejects(session.sql('COMMIT'));
    await struck;
    assert.deepEqual(await psql(url, `SELECT count(*) FROM x WHERE how = '${how}'`), [[`${kept}`]]);
  }
  proxy.halve();
  await assert.rejects(psql(url, 'SELECT 1'));
  proxy.hole(true);
  const waiting = psql(url, 'SELECT 5');
  await pause(200);
  proxy.hole(false);
  assert.deepEqual(await waiting, [['5']]);
});

for (const how of ['before', 'half', 'after'])
  test(`a cut at COMMIT (${how}): sent again by its key, it is done once`, HERE, async (t) => {
    const { proxy, client } = await behindProxy(t);
    const thread = await newThread(client);
    for (let i = 0; i < 8; i++) {
      const key = uuid();
      const struck = proxy.atCommit(how);
      const { answer } = await insist(() => post(client, thread.id, `event ${i}`, key));
      expectStatus(answer, 201);
      await struck;
      const again = await post(client, thread.id, `event ${i}`, key);
      assert.deepEqual(expectStatus(again, 201), answer.body);
      assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
    }
    const events = await log(client, thread.id);
    expectSeqs(events, 1, 9);
    assert.deepEqual(events.slice(1).map((e) => e.text),
      Array.from({ length: 8 }, (_, i) => `event ${i}`));
  });

test('a cut at COMMIT without a key: told as unknown, and never done twice', HERE, async (t) => {
  const { proxy, client } = await behindProxy(t);
  const thread = await newThread(client);
  let unknown = 0;
  for (const how of ['after', 'before', 'half', 'after', 'before', 'after']) {
    const text = uuid();
    const struck = proxy.atCommit(how);
    const answer = await post(client, thread.id, text);
    await struck;
    const found = (await log(client, thread.id)).filter((e) => e.text === text).length;
    assert.ok(found <= 1, `${how}: ${found} times`);
    if (answer.status === 201) {
      assert.equal(found, 1, how);
    } else {
      expectProblem(answer, 503, 'outcome_unknown');
      unknown++;
    }
  }
  assert.ok(unknown > 0);
  const events = await log(client, thread.id);
  expectSeqs(events, 1, events.length);
});

test('many at once, while COMMITs are cut: each key once, each answer true', HERE, async (t) => {
  const { proxy, client } = await behindProxy(t);
  const threads = [await newThread(client), await newThread(client), await newThread(client)];
  const acknowledged = new Map();
  let stop = false;
  const writers = Array.from({ length: 12 }, async (_, n) => {
    for (let i = 0; i < 15; i++) {
      const key = uuid();
      const { answer } = await insist(() => post(client, threads[n % 3].id, key, key));
      acknowledged.set(key, expectStatus(answer, 201));
    }
  });
  const strikes = (async () => {
    for (let i = 0; !stop; i++) {
      await Promise.race([proxy.atCommit(['after', 'before', 'half'][i % 3]),
        pause(300)]);
      await pause(30);
    }
  })();
  await Promise.all(writers);
  stop = true;
  await strikes;
  proxy.orders.length = 0;
  for (const { id } of threads) {
    const events = await log(client, id);
    expectSeqs(events, 1, 61);
    for (const event of events.slice(1))
      assert.deepEqual(event, acknowledged.get(event.text));
  }
});

test('cut again and again: streams miss nothing and see nothing twice', HERE, async (t) => {
  const { proxy, client } = await behindProxy(t);
  const thread = await newThread(client);
  const streams = [followOn(client, `/v1/threads/${thread.id}/events/ws`),
    followSse(client, '/v1/events/stream')];
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < 5; i++)
      expectStatus((await insist(() => post(client, thread.id, `${round} ${i}`, uuid()))).answer,
        201);
    if (round % 2)
      proxy.halve();
    else
      proxy.cut();
  }
  const { answer } = await insist(() => post(client, thread.id, 'the last', uuid()));
  for (const stream of streams) {
    await stream.hearsText('the last');
    expectSeqs(stream.heard, 1, answer.body.seq);
  }
});

test('a slow database is slow, and nothing else', HERE, async (t) => {
  const { proxy, client } = await behindProxy(t);
  const thread = await newThread(client);
  const stream = followWs(client, `/v1/threads/${thread.id}/events/ws`);
  await stream.hears(1);
  proxy.delay(40);
  await Promise.all(Array.from({ length: 20 }, async (_, i) =>
    expectStatus(await post(client, thread.id, `${i}`), 201)));
  await stream.hears(21);
  expectSeqs(stream.heard, 1, 21);
});

for (const how of ['hold', 'stall'])
  test(`a node that stands still at its COMMIT (${how}) holds up no other`, HERE, async (t) => {
    const { cluster, proxy, server, client } = await behindProxy(t);
    const other = await server.join({ db: cluster.url() });
    const thread = await newThread(client);
    const stream = followWs(other.open, '/v1/events/ws');
    await stream.hears(1);
    const held = proxy.atCommit(how);
    const stuck = post(client, thread.id, 'stuck', uuid());
    await held;
    // It has the row of the thread and a place in the order of events, until the database ends it.
    const key = uuid();
    const postThere = () => post(other.open, thread.id, 'the other', key);
    await eventually(async () => (await postThere()).status === 201, 'it is held up');
    await stream.hearsText('the other');
    proxy.cut();
    await stuck;
  });

// Each waits long for its database, so they wait together.
describe('a database that is away', { ...HERE, concurrency: 4 }, () => {
  it('without its database a node says so, and comes back by itself', async (t) => {
    const { cluster, proxy, client } = await behindProxy(t);
    const thread = await newThread(client);
    const stream = followOn(client, `/v1/threads/${thread.id}/events/ws`);
    await stream.hears(1);
    const cut = () => { proxy.refuse(true); proxy.cut(); };
    for (const [what, begin, end] of [
      ['the network is gone', cut, () => proxy.refuse(false)],
      ['PostgreSQL has crashed', () => cluster.stop('immediate'), () => cluster.start()],
    ]) {
      await begin();
      const answers = await Promise.all([post(client, thread.id, 'lost'),
        client.get(`/v1/threads/${thread.id}`), client.get('/v1/threads')]);
      for (const answer of answers) {
        assert.equal(answer.status, 503, `${what}: ${answer.text}`);
        assert.match(answer.headers.get('Retry-After') ?? '', /^\d+$/);
      }
      assert.equal((await client.get('/readyz')).status, 503, what);
      expectStatus(await client.get('/healthz'), 200);
      await end();
      const { answer } = await insist(() => post(client, thread.id, what, uuid()));
      expectStatus(answer, 201);
      await stream.hearsText(what);
      await eventually(async () => (await client.get('/readyz')).status === 200, 'never ready');
    }
    expectSeqs(stream.heard, 1, stream.heard.length);
  });

  it('a stream of a node that is cut off is closed, and its cursor serves elsewhere', async (t) => {
    const { cluster, proxy, server, client } = await behindProxy(t);
    const other = await server.join({ db: cluster.url() });
    const thread = await newThread(client);
    const path = `/v1/threads/${thread.id}/events`;
    const [ws, sse] = [followWs(client, `${path}/ws`), readSse(client, `${path}/stream`)];
    for (const stream of [ws, sse])
      await stream.hears(1);
    proxy.refuse(true);
    proxy.cut();
    expectStatus(await post(other.open, thread.id, 'said elsewhere'), 201);
    const { code, reason } = await ws.ended;
    assert.deepEqual([code, reason], [1013, 'unavailable cursor=1']);
    assert.deepEqual(await sse.ended, { reason: 'unavailable', cursor: '1' });
    const again = followWs(other.open, `${path}/ws?after=1`);
    await again.hearsText('said elsewhere');
    proxy.refuse(false);
  });

  it('a silent database is given up, and asked again when it speaks', async (t) => {
    const { proxy, client } = await behindProxy(t);
    const thread = await newThread(client);
    proxy.hole(true);
    const answer = await post(client, thread.id, 'into the void');
    assert.equal(answer.status, 503, answer.text);
    proxy.hole(false);
    proxy.cut();
    expectStatus((await insist(() => post(client, thread.id, 'heard', uuid()))).answer, 201);
    const texts = (await log(client, thread.id)).map((e) => e.text);
    assert.equal(texts.filter((text) => text === 'heard').length, 1);
    assert.ok(texts.filter((text) => text === 'into the void').length <= 1);
  });

  it('who stands still while it receives does not hold up the streams', async (t) => {
    const cluster = await startCluster(t);
    const proxy = await startProxy(t, cluster.port);
    const server = await startServer(t, { db: cluster.url() });
    const thread = await newThread(server.open);
    const stream = followWs(server.open, '/v1/events/ws');
    await stream.hears(1);
    const session = openSession(t, cluster.url('cairn', 'cairn', { port: proxy.port }));
    await session.sql(`BEGIN; SET LOCAL search_path = ${server.schema}; SELECT event_register()`);
    const much = "SELECT repeat('x', 1000) FROM pg_sleep(2), generate_series(1, 100000000)";
    const received = session.sql(`COPY (${much}) TO STDOUT`).catch(() => {});
    await eventually(async () => (await cluster.sql(
      "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'COPY%'")).length > 0);
    proxy.hole(true);
    expectStatus(await post(server.open, thread.id, 'behind it'), 201);
    await stream.hearsText('behind it');
    proxy.cut();
    await received;
  });

  it('SIGTERM ends a node that has lost its database', async (t) => {
    const { proxy, server } = await behindProxy(t);
    await newThread(server.open);
    proxy.refuse(true);
    proxy.cut();
    await server.stop();
    proxy.refuse(false);
    await server.start();
  });
});
