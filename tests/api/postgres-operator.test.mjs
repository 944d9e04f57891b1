// SPDX-License-Identifier: Apache-2.0
// Tasks of an operator on the database: gives an everyday role its rights, backs up, restores,
// watches over nodes, encrypts. The commands of docs/postgresql.md are run as printed there.
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { eventually, expectNoStart, expectProblem, expectStatus, onPostgres, pause, readAll,
  startServer, token, twoTenants, uuid } from './lib/server.mjs';
import { expectSeqs, followWs } from './lib/followers.mjs';
import { BIN, giveToOwner, psql, run, startCluster } from './lib/postgres.mjs';
import { startProxy } from './lib/proxy.mjs';

const HERE = onPostgres('its operation');
const DOCUMENT = readFileSync(new URL('../../docs/postgresql.md', import.meta.url), 'utf8');
const ANSWER_MS = 8000; // the requests that wait for the database have 10 s

/** The fenced block of the document that has these words in it. */
function printed(words) {
  const blocks = [...DOCUMENT.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
  return blocks.find((text) => text.includes(words)) ??
    assert.fail(`docs/postgresql.md has no block with "${words}"`);
}

const append = async (client, id, text) => expectStatus(
  await client.post(`/v1/threads/${id}/events`, { kind: 'progress', text }), 201);

test('an everyday role does all the work with the rights that the document gives it', HERE,
  async (t) => {
    const cluster = await startCluster(t);
    const owner = await startServer(t, { db: cluster.url(), schema: 'cairn' });
    await owner.stop();
    await cluster.sql('CREATE ROLE cairn_app LOGIN');
    await psql(cluster.url(), printed('GRANT USAGE ON SCHEMA'));

    const db = cluster.url('cairn', 'cairn_app');
    const server = await startServer(t, { db, schema: 'cairn' });
    const { operator, alice } = await twoTenants(server);
    const thread = expectStatus(await alice.post('/v1/threads', { metadata: { k: 'v' } }), 201);
    const stream = followWs(alice, '/v1/events/ws');
    await append(alice, thread.id, 'by the everyday role');
    await stream.hearsText('by the everyday role');
    const page = expectStatus(await alice.get('/v1/events'), 200);
    assert.equal(page.data.at(-1).text, 'by the everyday role');

    expectStatus(await alice.post(`/v1/threads/${thread.id}/runs`, {}), 201);
    const taken = expectStatus(await alice.post('/v1/runs/claim', { worker: 'w' }), 200);
    expectStatus(await alice.post(`/v1/runs/${taken.id}/heartbeat`, undefined, token(taken)), 200);
    expectStatus(
      await alice.patch(`/v1/runs/${taken.id}`, { status: 'completed' }, token(taken)), 200);
    const audit = expectStatus(await alice.get('/v1/audit'), 200);
    assert.ok(audit.data.length > 0);
    expectStatus(
      await alice.post(`/v1/threads/${thread.id}/events/prune`, { through_seq: 1 }), 200);
    expectStatus(await alice.del(`/v1/threads/${thread.id}`), 204);
    expectStatus(await operator.del(`/v1/tenants/${alice.tenantId}`), 204);
    await server.restart();
    expectStatus(await operator.get('/readyz'), 200);

    await assert.rejects(psql(db, 'CREATE TABLE cairn.own (x int)'), /permission denied/);
    await assert.rejects(psql(db, 'DROP TABLE cairn.events'), /must be owner/);
    assert.deepEqual(await psql(db, 'SELECT count(*) FROM cairn.threads'), [['0']],
      'row-level security binds it');
  });

test('the printed backup brings back every tenant, and cursors go on', HERE, async (t) => {
  const cluster = await startCluster(t);
  const first = await startServer(t, { db: cluster.url(), schema: 'cairn' });
  const tenants = await twoTenants(first);
  const threads = new Map();
  for (const client of [tenants.alice, tenants.bob]) {
    const made = expectStatus(await client.post('/v1/threads', { context: { of: 'it' } }), 201);
    for (let i = 0; i < 5; i++)
      await append(client, made.id, `ü ${i} 🪨`);
    threads.set(client, made.id);
  }
  const { alice } = tenants;
  const cursor = expectStatus(await alice.get('/v1/events?limit=3'), 200).next_cursor;
  const everything = async (client, id) => ({
    thread: expectStatus(await client.get(`/v1/threads/${id}`), 200),
    events: await readAll(client, '/v1/events'),
    audit: expectStatus(await client.get('/v1/audit'), 200).data,
  });
  const before = new Map();
  for (const [client, id] of threads)
    before.set(client, await everything(client, id));

  // The node serves on while it is backed up. The machine has another name than in the document.
  await cluster.sql('ALTER ROLE cairn CREATEDB');
  const script = printed('pg_dump').replaceAll('db.example.com', '127.0.0.1');
  await run('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd: first.dataDir,
    env: { PATH: `${BIN}:${process.env.PATH}`, PGPORT: String(cluster.port) },
  });
  const restored = /pg_restore.*\s(?:-d|--dbname)[ =]?(?:\S*\/)?(\w+)/.exec(script)?.[1];
  assert.ok(restored !== undefined && restored !== 'cairn', 'a restore into a new database');
  await append(alice, threads.get(alice), 'after the backup');
  await first.stop();

  const second = await startServer(t, { db: cluster.url(restored), schema: 'cairn' });
  for (const [client, id] of threads)
    assert.deepEqual(await everything(second.client(client.secret), id), before.get(client));
  const there = second.client(alice.secret);
  const stream = followWs(there, `/v1/events/ws?after=${cursor}`);
  await append(there, threads.get(alice), 'after the restore');
  await stream.hearsText('after the restore');
  expectSeqs(stream.heard, 4, 7);
});

test('a database that cannot hold every text is refused', HERE, async (t) => {
  const cluster = await startCluster(t);
  for (const encoding of ['LATIN1', 'SQL_ASCII']) {
    const db = await cluster.database(`in_${encoding.toLowerCase()}`,
      `TEMPLATE template0 ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C'`);
    await expectNoStart(db, [/UTF8/, new RegExp(encoding)]);
    assert.deepEqual(await psql(db, "SELECT 1 FROM pg_namespace WHERE nspname = 'cairn'"), [],
      'nothing was made there');
  }
});

/** Asks until the node is ready or not; it must answer soon, and be alive all the time. */
async function untilReadyz(client, status, withinMs) {
  const soon = () => ({ signal: AbortSignal.timeout(ANSWER_MS) });
  await eventually(async () => {
    const [ready, alive] = await Promise.all(
      [client.get('/readyz', soon()), client.get('/healthz', soon())]);
    expectStatus(alive, 200);
    assert.ok([200, 503].includes(ready.status), ready.text);
    return ready.status === status;
  }, `/readyz was never ${status}`, withinMs);
}

for (const [what, begin, end] of [
  ['stopped', ({ cluster }) => cluster.stop('immediate'), ({ cluster }) => cluster.start()],
  ['silent', ({ proxy }) => proxy.hole(true), ({ proxy }) => proxy.hole(false)],
])
  test(`/readyz tells soon that the database is ${what}, and that it is back`, HERE, async (t) => {
    const cluster = await startCluster(t);
    const proxy = await startProxy(t, cluster.port);
    const { open: client } = await startServer(t,
      { db: cluster.url('cairn', 'cairn', { port: proxy.port }) });
    await untilReadyz(client, 200);
    await begin({ cluster, proxy });
    // More than there are connections: requests for readiness must not wait for them.
    const stuck = Array.from({ length: 12 }, (_, i) =>
      (i % 2 ? client.get('/v1/threads') : client.post('/v1/threads', {})));
    await untilReadyz(client, 503);
    for (let i = 0; i < 20; i++) {
      await untilReadyz(client, 503, 0);
      await pause(100);
    }
    await end({ cluster, proxy });
    await untilReadyz(client, 200);
    for (const answer of await Promise.all(stuck))
      assert.ok([200, 201, 503].includes(answer.status), answer.text);
    expectStatus(await client.post('/v1/threads', {}), 201);
  });

/** An authority that signs certificates, in files of a directory. */
async function newAuthority(directory, name) {
  const openssl = (...args) => run('openssl', args, { cwd: directory });
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout'];
  await openssl('req', '-x509', ...key, `${name}.key`, '-out', `${name}.pem`, '-days', '2',
    '-subj', `/CN=${name}`);
  return {
    file: join(directory, `${name}.pem`),
    /** A certificate for this host; gives the name of its files, without .key and .crt. */
    async certify(host) {
      writeFileSync(join(directory, 'extensions'), `subjectAltName = DNS:${host}\n`);
      await openssl('req', ...key, `${host}.key`, '-out', `${host}.csr`, '-subj', `/CN=${host}`);
      await openssl('x509', '-req', '-in', `${host}.csr`, '-CA', `${name}.pem`,
        '-CAkey', `${name}.key`, '-CAcreateserial', '-days', '2', '-extfile', 'extensions',
        '-out', `${host}.crt`);
      return join(directory, host);
    },
  };
}

/** From now on the cluster uses this certificate for TLS. */
async function present(cluster, certificate) {
  for (const [from, to] of [['key', 'server.key'], ['crt', 'server.crt']]) {
    const path = join(cluster.data, to);
    copyFileSync(`${certificate}.${from}`, path);
    chmodSync(path, 0o600);
    giveToOwner(path);
  }
  await cluster.sql('ALTER SYSTEM SET ssl = on');
  await cluster.restart();
}

test('over TLS a node talks to its own database and to no other', HERE, async (t) => {
  const cluster = await startCluster(t);
  const authority = await newAuthority(cluster.directory, 'authority');
  const stranger = await newAuthority(cluster.directory, 'stranger');
  const url = (ca) => `postgres://cairn@localhost:${cluster.port}/cairn?sslmode=verify-full` +
    `&sslrootcert=${encodeURIComponent(ca)}`;
  await expectNoStart(url(authority.file), [/SSL|TLS/]);
  await present(cluster, await authority.certify('localhost'));

  const server = await startServer(t, { db: url(authority.file) });
  expectStatus(await server.open.post('/v1/threads', {}), 201);
  const open = await cluster.sql(`SELECT s.ssl, count(*) FROM pg_stat_ssl AS s
    JOIN pg_stat_activity AS a USING (pid) WHERE a.usename = 'cairn' GROUP BY 1`);
  assert.deepEqual(open.map(([ssl]) => ssl), ['t'], 'every connection is encrypted');

  await expectNoStart(url(stranger.file), [/certificate verify failed/]);
  await expectNoStart(url(join(cluster.directory, 'nothing.pem')), [/nothing\.pem/]);
  await present(cluster, await authority.certify('db.example.com'));
  await expectNoStart(url(authority.file), [/db\.example\.com/, /localhost/]);
  await eventually(async () => (await server.open.get('/readyz')).status === 503,
    'it went on with a server that is not the one it was');
});

test('an unknown outcome is worth a retry with an idempotency key alone', HERE, async (t) => {
  const cluster = await startCluster(t);
  const proxy = await startProxy(t, cluster.port);
  const { open: client } = await startServer(t,
    { db: cluster.url('cairn', 'cairn', { port: proxy.port }) });
  const thread = expectStatus(await client.post('/v1/threads', {}), 201);
  const post = async (headers) => {
    const struck = proxy.atCommit('after');
    const answer = await client.post(`/v1/threads/${thread.id}/events`,
      { kind: 'progress', text: 'once' }, { headers });
    await struck;
    return answer;
  };

  const blind = await post({});
  assert.equal(expectProblem(blind, 503, 'outcome_unknown').retryable, false, blind.text);
  assert.equal(blind.headers.get('Retry-After'), null);

  const keyed = { 'Idempotency-Key': uuid() };
  const safe = await post(keyed);
  assert.equal(expectProblem(safe, 503, 'outcome_unknown').retryable, true, safe.text);
  assert.match(safe.headers.get('Retry-After') ?? '', /^\d+$/);
  const again = await client.post(`/v1/threads/${thread.id}/events`,
    { kind: 'progress', text: 'once' }, { headers: keyed });
  expectStatus(again, 201);
  assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
  const texts = (await readAll(client, `/v1/threads/${thread.id}/events`)).map((e) => e.text);
  assert.equal(texts.filter((text) => text === 'once').length, 2, 'one of each');
});
