// SPDX-License-Identifier: Apache-2.0
// Three nodes behind HAProxy, under load, while nodes are killed and frozen, PostgreSQL crashes,
// and the connections between them are cut, also at COMMIT. In the end: every acknowledged write is
// there once, every sequence is gapless, every run was completed once, and every subscriber heard
// every event once and in order. CAIRN_CHAOS_CYCLES says how often it is disturbed,
// CAIRN_CHAOS_SEED by what and in which order; the seed of each run is in what it prints.
import assert from 'node:assert/strict';
import test from 'node:test';
import { atEnd } from './lib/ending.mjs';
import { eventually, expectStatus, onPostgres, pause, readAll, startServer }
  from './lib/server.mjs';
import { expectSeqs } from './lib/followers.mjs';
import { Follower, RunWorker, Starter, Writer } from './lib/actors.mjs';
import { startHaproxy } from './lib/middlemen.mjs';
import { startCluster } from './lib/postgres.mjs';
import { startProxy } from './lib/proxy.mjs';

const CYCLES = Number(process.env.CAIRN_CHAOS_CYCLES || 20);
const SEED = Number(process.env.CAIRN_CHAOS_SEED || Math.floor(Math.random() * 2 ** 32));
const LEASE_MS = 3000;
const WRITERS = 6;
const WORKERS = 4;

/** Numbers of 0 to 1 that the seed decides (mulberry32); for the disturbances alone. */
const random = ((state) => () => {
  state = (state + 0x6d2b79f5) | 0;
  let x = Math.imul(state ^ (state >>> 15), state | 1);
  x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
  return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
})(SEED);

const pick = (list) => list[Math.floor(random() * list.length)];

/** Each disturbs, and is over when it returns. */
const DISTURBANCES = {
  async 'a node is killed'({ nodes }) {
    const node = pick(nodes);
    await node.kill();
    await pause(random() * 500);
    await node.start();
  },
  async 'a node is frozen past its leases'({ nodes }) {
    const node = pick(nodes);
    node.freeze();
    await pause(LEASE_MS + 1000);
    node.thaw();
  },
  async 'PostgreSQL crashes'({ cluster }) {
    await cluster.stop('immediate');
    await pause(random() * 300);
    await cluster.start();
  },
  async 'connections are cut'({ proxies }) {
    pick(proxies).cut();
    pick(proxies).halve();
  },
  async 'a COMMIT is cut'({ proxies }) {
    const how = pick(['before', 'half', 'after']);
    await Promise.race(proxies.map((proxy) => proxy.atCommit(how)));
    for (const proxy of proxies)
      proxy.orders.length = 0;
  },
};

async function setUp(t) {
  const cluster = await startCluster(t);
  const proxies = [];
  for (let i = 0; i < 3; i++)
    proxies.push(await startProxy(t, cluster.port));
  const url = (proxy) => cluster.url('cairn', 'cairn', { port: proxy.port });
  const nodes = [await startServer(t, { db: url(proxies[0]) })];
  for (const proxy of proxies.slice(1))
    nodes.push(await nodes[0].join({ db: url(proxy) }));
  const front = await startHaproxy(t, nodes);
  await eventually(async () => (await front.client().get('/readyz')).status === 200);
  return { cluster, proxies, nodes, front };
}

async function disturb(scene, told) {
  let names = [];
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    if (names.length === 0) // each as often as the others, in any order
      names = Object.keys(DISTURBANCES);
    const [name] = names.splice(Math.floor(random() * names.length), 1);
    told[name] = (told[name] ?? 0) + 1;
    await DISTURBANCES[name](scene);
    await pause(300 + random() * 700);
  }
}

/** The writes: acknowledged ones are there as they were answered, others once or not at all. */
async function checkWrites(client, threads, writers) {
  const logs = new Map();
  for (const { id } of threads) {
    const log = await readAll(client, `/v1/threads/${id}/events`);
    expectSeqs(log, 1, log.length);
    logs.set(id, log);
  }
  const byText = new Map();
  for (const event of [...logs.values()].flat().filter((e) => e.text?.startsWith('write '))) {
    assert.equal(byText.has(event.text), false, `doubled: ${event.text}`);
    byText.set(event.text, event);
  }
  for (const writer of writers)
    for (const [text, event] of writer.acknowledged)
      assert.deepEqual(byText.get(text), event, `lost: ${text}`);
  return logs;
}

/** The runs: all completed, each by one worker, once. */
async function checkRuns(client, logs, starters, workers) {
  const started = starters.flatMap((starter) => starter.started);
  const completed = workers.flatMap((worker) => worker.completed);
  assert.equal(new Set(completed).size, completed.length, 'completed twice');
  const finals = new Map();
  for (const event of [...logs.values()].flat())
    if (event.payload?.change === 'run.status' && event.payload.to === 'completed')
      finals.set(event.run_id, (finals.get(event.run_id) ?? 0) + 1);
  for (const id of started) {
    const run = expectStatus(await client.get(`/v1/runs/${id}`), 200);
    assert.equal(run.status, 'completed', `stranded: ${JSON.stringify(run)}`);
    assert.equal(finals.get(id), 1);
  }
  for (const id of completed)
    assert.ok(finals.has(id));
  return started;
}

const CHAOS = onPostgres('many nodes');

test(`disturbed ${CYCLES} times, nothing acknowledged is lost or doubled`, CHAOS, async (t) => {
  const say = (...figures) => t.diagnostic(`chaos: ${figures.join('; ')}`);
  say(`CAIRN_CHAOS_SEED=${SEED}`);
  const began = Date.now();
  const scene = await setUp(t);
  const client = () => scene.front.client();
  const threads = [];
  for (let i = 0; i < 4; i++)
    threads.push(expectStatus(await client().post('/v1/threads', { run_policy: 'enqueue' }), 201));
  const writers = Array.from({ length: WRITERS },
    (_, i) => new Writer(client(), threads[i % threads.length].id));
  const starters = threads.map(({ id }) => new Starter(client(), id));
  const workers = Array.from({ length: WORKERS }, (_, i) => new RunWorker(client(), i, LEASE_MS));
  const followers = [
    ...threads.map(({ id }) => new Follower(client(), 'sse', `/v1/threads/${id}/events/stream`)),
    ...threads.map(({ id }) => new Follower(client(), 'ws', `/v1/threads/${id}/events/ws`)),
    new Follower(client(), 'sse', '/v1/events/stream'),
    new Follower(client(), 'ws', '/v1/events/ws'),
  ];
  atEnd(t, () => [...writers, ...starters, ...workers, ...followers].forEach((a) => a.stop()));
  const working = [...writers, ...starters].map((actor) => actor.work());
  const claiming = workers.map((worker) => worker.work());
  for (const follower of followers)
    follower.follow();

  const told = {};
  await disturb(scene, told);
  const strikes = scene.proxies.reduce((n, proxy) => n + proxy.strikes, 0);
  assert.ok(strikes > 0 || !told['a COMMIT is cut'], 'no COMMIT was ever cut');
  for (const actor of [...writers, ...starters])
    actor.stop();
  await Promise.all(working);

  // The workers continue until no run is left.
  const reader = scene.nodes[0].open;
  const unfinished = async () => {
    const counts = await Promise.all(['queued', 'running'].map(async (status) =>
      (await reader.get(`/v1/runs?status=${status}&limit=1`)).body?.data?.length));
    return counts.every((count) => count === 0);
  };
  await eventually(unfinished, 'runs are stranded', 300_000);
  for (const worker of workers)
    worker.stop();
  await Promise.all(claiming);

  const logs = await checkWrites(reader, threads, writers);
  const started = await checkRuns(reader, logs, starters, workers);
  const all = await readAll(reader, '/v1/events');
  for (const follower of followers) {
    const log = logs.get(follower.threadId) ?? all;
    await eventually(() => follower.heard.length >= log.length,
      () => `${follower.path}: ${follower.heard.length} of ${log.length}; ${follower.condition}`);
    follower.stop();
    assert.deepEqual(follower.heard.map((e) => e.id), log.map((e) => e.id), follower.path);
    assert.deepEqual(follower.heard, log, follower.path);
  }

  const sum = (list, name) => list.reduce((total, actor) => total + actor[name], 0);
  const senders = [...writers, ...starters, ...workers];
  say(Object.entries(told).map(([what, times]) => `${times} × ${what}`).join(', '),
    `COMMITs really cut ${strikes}`);
  say(`writes acknowledged ${writers.reduce((n, w) => n + w.acknowledged.size, 0)}`,
    `runs completed ${started.length}`, `sent again ${sum(senders, 'retried')}`,
    `outcome unknown ${sum(senders, 'unknown')}`, `leases lost ${sum(workers, 'lost')}`);
  say(`events ${all.length}`, `heard ${sum(followers, 'count')} by ${followers.length} subscribers`,
    `reconnected ${sum(followers, 'reconnects')} times`,
    `${Math.round((Date.now() - began) / 1000)} s`);
});
