// Crashes: a server that is killed at any moment has kept what it acknowledged, whole and in order.
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ENGINE, expectStatus, onSqlite, pause, readAll, startServer, token, uuid }
  from './lib/server.mjs';
import { expectSeqs } from './lib/followers.mjs';

const CYCLES = 10;
const TABLE = {
  queued: ['running', 'paused', 'failed', 'cancelled'],
  running: ['queued', 'waiting_for_input', 'paused', 'completed', 'failed', 'cancelled'],
  waiting_for_input: ['queued', 'running', 'paused', 'failed', 'cancelled'],
  paused: ['queued', 'running', 'waiting_for_input', 'failed', 'cancelled'],
  completed: [], failed: [], cancelled: [],
};

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);

/** The whole log of a thread, which must be without gaps. */
async function readLog(client, threadId) {
  const log = await readAll(client, `/v1/threads/${threadId}/events`);
  const { last_seq: last } = expectStatus(await client.get(`/v1/threads/${threadId}`), 200);
  expectSeqs(log, 1, last);
  return log;
}

/** Appends until the server dies. Knows what was acknowledged, and the one that was not. */
class Writer {
  acknowledged = new Map(); // text → event
  unsure = null;

  constructor(client, threadId) {
    this.client = client;
    this.threadId = threadId;
  }

  post({ key, text }) {
    return this.client.post(`/v1/threads/${this.threadId}/events`, { kind: 'progress', text },
      { headers: { 'Idempotency-Key': key } });
  }

  async work() {
    for (;;) {
      this.unsure = { key: uuid(), text: `event ${uuid()}` };
      const { text } = this.unsure;
      const answer = await this.post(this.unsure).catch(() => null);
      if (answer === null)
        return;
      this.acknowledged.set(text, expectStatus(answer, 201));
      this.unsure = null;
    }
  }

  /** What was acknowledged is there; what is sent again is there once. */
  async check() {
    if (this.unsure !== null) {
      const { text } = this.unsure;
      const first = expectStatus(await this.post(this.unsure), 201);
      const again = await this.post(this.unsure);
      assert.deepEqual(expectStatus(again, 201), first);
      assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
      this.acknowledged.set(text, first);
      this.unsure = null;
    }
    const byText = new Map();
    for (const event of await readLog(this.client, this.threadId)) {
      assert.equal(byText.has(event.text) && event.kind === 'progress', false, 'doubled');
      byText.set(event.text, event);
    }
    for (const [text, event] of this.acknowledged)
      assert.deepEqual(byText.get(text), event);
  }
}

/** Moves runs along the table until the server dies. Knows where each one stands or may stand. */
class Mover {
  runs = new Map(); // id → statuses that it may have

  constructor(client, threadId) {
    this.client = client;
    this.threadId = threadId;
  }

  async work() {
    for (;;) {
      const made = await this.client.post(`/v1/threads/${this.threadId}/runs`,
        { dispatch: 'direct', policy: 'interrupt' }).catch(() => null);
      if (made === null)
        return;
      const { id } = expectStatus(made, 201);
      // The start has interrupted all that were before.
      for (const before of this.runs.keys())
        this.runs.set(before, ['completed', 'failed', 'cancelled']);
      this.runs.set(id, ['running']);
      for (let status = 'running'; TABLE[status].length > 0;) {
        const ways = TABLE[status].filter((to) => to !== 'queued'); // it is a direct run
        const to = ways[Math.floor(Math.random() * ways.length)];
        this.runs.set(id, [status, to]);
        const moved = await this.client.patch(`/v1/runs/${id}`, { status: to }).catch(() => null);
        if (moved === null)
          return;
        status = expectStatus(moved, 200).status;
        this.runs.set(id, [status]);
      }
    }
  }

  async check() {
    for (const [id, possible] of this.runs) {
      const run = expectStatus(await this.client.get(`/v1/runs/${id}`), 200);
      // One start may have come through without an answer, and have interrupted it.
      assert.ok([...possible, 'cancelled'].includes(run.status),
        `${run.status}, not ${possible.join(' or ')}`);
    }
    const status = {};
    for (const { run_id: id, payload } of await readLog(this.client, this.threadId)) {
      if (payload?.change !== 'run.status')
        continue;
      assert.equal(payload.from, status[id] ?? 'queued');
      assert.ok(TABLE[payload.from].includes(payload.to), `${payload.from} → ${payload.to}`);
      status[id] = payload.to;
    }
    for (const [id, told] of Object.entries(status))
      assert.equal((await this.client.get(`/v1/runs/${id}`)).body.status, told);
    this.runs.clear();
  }
}

/** Claims and finishes runs until the server dies; none may be finished twice. */
class Worker {
  finished = new Set();

  constructor(client, threadId) {
    this.client = client;
    this.threadId = threadId;
  }

  async work() {
    const call = (answer) => answer.catch(() => null);
    for (;;) {
      const made = await call(this.client.post(`/v1/threads/${this.threadId}/runs`,
        { policy: 'enqueue' }));
      const claimed = await call(this.client.post('/v1/runs/claim',
        { worker: 'w', thread_id: this.threadId, lease_ms: 1000 }));
      if (made === null || claimed === null)
        return;
      if (claimed.status === 204)
        continue; // one from before the crash is still leased
      const { id } = expectStatus(claimed, 200);
      const done = await call(this.client.patch(`/v1/runs/${id}`, { status: 'completed' },
        token(claimed.body)));
      if (done === null)
        return;
      if (done.status === 409)
        continue; // a slow machine: the lease has ended meanwhile
      expectStatus(done, 200);
      assert.equal(this.finished.has(id), false, 'finished twice');
      this.finished.add(id);
    }
  }

  async check() {
    for (const id of this.finished)
      assert.equal((await this.client.get(`/v1/runs/${id}`)).body.status, 'completed');
    await readLog(this.client, this.threadId);
    expectStatus(await this.client.post(`/v1/threads/${this.threadId}/cancel`), 200);
    expectStatus(await this.client.post(`/v1/threads/${this.threadId}/resume`), 200);
  }
}

test('ten times killed under load, nothing acknowledged is lost and nothing doubled', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  const shared = await newThread(client);
  const actors = [new Mover(client, (await newThread(client)).id),
    new Worker(client, (await newThread(client)).id)];
  for (let i = 0; i < 6; i++)
    actors.push(new Writer(client, i < 4 ? shared.id : (await newThread(client)).id));
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const work = actors.map((actor) => actor.work());
    await pause(30 + Math.random() * 250);
    await server.kill();
    await Promise.all(work);
    await server.start();
    for (const actor of actors)
      await actor.check();
  }
  const writers = actors.filter((actor) => actor instanceof Writer);
  assert.ok(writers.every((writer) => writer.acknowledged.size > 0));
  await server.stop();
  if (ENGINE === 'sqlite') {
    assert.deepEqual(server.sql('PRAGMA integrity_check'), [['ok']]);
    assert.deepEqual(server.sql('PRAGMA foreign_key_check'), []);
  }
});

/** As if the server had never been. */
function forget(server) {
  if (ENGINE === 'postgres')
    server.sql(`DROP SCHEMA IF EXISTS ${server.schema} CASCADE`);
  for (const file of readdirSync(server.dataDir))
    rmSync(join(server.dataDir, file));
}

test('a server killed while it makes its database starts all the same', async (t) => {
  const server = await startServer(t);
  await server.stop();
  for (let i = 0; i < 10; i++) {
    if (i % 2 === 0)
      forget(server);
    const starting = server.start().catch(() => {});
    await pause(Math.random() * 40);
    await server.kill();
    await starting;
  }
  await server.start();
  await newThread(server.open);
});

const FILES = onSqlite('any number of nodes share a PostgreSQL');

test('a second server on the same directory is refused', FILES, async (t) => {
  const server = await startServer(t);
  const thread = await newThread(server.open);
  await assert.rejects(startServer(t, { args: ['--data', server.dataDir] }),
    /another cairn process is using the data directory/);
  expectStatus(await server.open.get(`/v1/threads/${thread.id}`), 200);
  await server.restart();
});

test('a database of a newer Cairn is refused and left as it is', async (t) => {
  const server = await startServer(t);
  await newThread(server.open);
  await server.stop();
  const [row] = server.rows('SELECT * FROM schema_versions LIMIT 1');
  const rest = Object.keys(row).filter((name) => name !== 'version').map((name) => `, ${name}`);
  server.sql(`INSERT INTO schema_versions (version${rest.join('')})
    SELECT 999${rest.join('')} FROM schema_versions WHERE version = ${row.version}`);
  await assert.rejects(server.start(), /newer/);
  assert.deepEqual(server.sql('SELECT count(*) FROM threads'), [[1]]);
  server.sql('DELETE FROM schema_versions WHERE version = 999');
  await server.start();
});

test('without a key nobody may listen beyond this machine', async (t) => {
  for (const listen of ['0.0.0.0:0', '[::]:0'])
    await assert.rejects(startServer(t, { args: ['--listen', listen] }), /no API key exists/);
});
