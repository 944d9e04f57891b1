// SPDX-License-Identifier: Apache-2.0
// Problems that prevent a start on PostgreSQL: each ends it with code 1 and a message that says
// what to do, and none prints the password.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { expectNoStart, expectStatus, onPostgres, runCairn, startServer } from './lib/server.mjs';
import { LOCKED_PASSWORD, freePort, newSchema, startCluster } from './lib/postgres.mjs';

const HERE = onPostgres('its start');
const PASSWORD = 'Tr0ub4dor-and-3';

let cluster = null;
test.before(async () => {
  if (!HERE.skip)
    cluster = await startCluster(null);
});
test.after(() => cluster?.remove());

const serve = (db, args = []) =>
  runCairn(['serve', '--listen', '127.0.0.1:0', '--db', db, ...args]);

/** Asserts that the start fails, with a text that matches each of `rules` and has no password. */
async function expectRefused(db, rules, args) {
  const words = await expectNoStart(db, rules, args);
  for (const secret of [PASSWORD, LOCKED_PASSWORD])
    assert.ok(!words.includes(secret), `the password is in: ${words}`);
}

test('nobody listens there', HERE, async () => {
  const port = await freePort();
  const url = `postgres://cairn:${PASSWORD}@127.0.0.1:${port}/cairn`;
  await expectRefused(url, [/127\.0\.0\.1/, new RegExp(String(port)), /refused|reach/i]);
});

test('a name that nobody has', HERE, async () => {
  await expectRefused(`postgres://cairn:${PASSWORD}@nobody.invalid/cairn`, [/nobody\.invalid/]);
});

test('somebody listens there who never answers', HERE, async (t) => {
  const sockets = [];
  const silent = net.createServer((socket) => sockets.push(socket.on('error', () => {})));
  await new Promise((done) => silent.listen(0, '127.0.0.1', done));
  t.after(() => { sockets.forEach((s) => s.destroy()); silent.close(); });
  const url = `postgres://cairn:${PASSWORD}@127.0.0.1:${silent.address().port}/cairn`;
  await expectRefused(url, [/time|timed/i]);
});

test('a wrong password, and none', HERE, async () => {
  await expectRefused(cluster.url('cairn', 'locked', { password: PASSWORD }),
    [/password/i, /locked/]);
  await expectRefused(cluster.url('cairn', 'locked'), [/password/i]);
});

test('a role and a database that do not exist', HERE, async () => {
  await expectRefused(cluster.url('nowhere'), [/nowhere/, /exist/]);
  await expectRefused(cluster.url('cairn', 'nobody', { password: PASSWORD }), [/nobody/, /exist/]);
});

test('a URL that is none', HERE, async () => {
  for (const bad of ['', 'cairn', 'mysql://x', `postgres://u:${PASSWORD}@host:port:1/x`,
    `postgres://u:${PASSWORD}@[::1/x`, `postgres://u:${PASSWORD}@h/x?colour=red`]) {
    const { code, stderr } = await serve(bad);
    assert.ok(code === 1 || code === 2, `${bad}: ${code} ${stderr}`);
    assert.match(stderr, /--db|postgres:\/\/|"port"|"colour"/, bad);
    assert.ok(!stderr.includes(PASSWORD), stderr);
  }
});

test('a schema that cannot be a name', HERE, async () => {
  for (const bad of ['', 'a"b', 'pg_catalog', 'x'.repeat(64), 'a;b', "a'b"]) {
    const { code, stderr } = await serve(cluster.url(), ['--db-schema', bad]);
    assert.ok(code === 1 || code === 2, `${bad}: ${code} ${stderr}`);
    assert.match(stderr, /schema/, bad);
  }
});

/** Says that it is PostgreSQL 9.6, and answers everything with a syntax error. */
async function oldServer(t) {
  const message = (letter, ...parts) => {
    const body = Buffer.concat(parts.map((p) => (typeof p === 'number'
      ? Buffer.from([p >>> 24, (p >>> 16) & 255, (p >>> 8) & 255, p & 255]) : Buffer.from(p))));
    const head = Buffer.alloc(5);
    head.write(letter);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const parameters = { server_version: '9.6.24', server_encoding: 'UTF8', client_encoding: 'UTF8',
    standard_conforming_strings: 'on', integer_datetimes: 'on', DateStyle: 'ISO, MDY' };
  const sockets = [];
  const listener = net.createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    let started = false;
    socket.on('data', (bytes) => {
      if (started && bytes.includes('SHOW transaction_read_only')) { // libpq asks this by itself
        socket.write(Buffer.concat([
          message('T', '\0\x01transaction_read_only\0', 0, '\0\0', 25, '\0\0', 0, '\0\0'),
          message('D', '\0\x01', 3, 'off'), message('C', 'SHOW\0'), message('Z', 'I')]));
      } else if (started) {
        socket.write(message('E', 'SERROR\0C42601\0Msyntax error\0\0'));
        socket.write(message('Z', 'I'));
      } else if (bytes.readInt32BE(4) >>> 16 === 3) {
        started = true;
        socket.write(Buffer.concat([message('R', 0),
          ...Object.entries(parameters).map(([k, v]) => message('S', `${k}\0${v}\0`)),
          message('K', 1, 2), message('Z', 'I')]));
      } else {
        socket.write('N');
      }
    });
  });
  await new Promise((done) => listener.listen(0, '127.0.0.1', done));
  t.after(() => { sockets.forEach((s) => s.destroy()); listener.close(); });
  return listener.address().port;
}

test('a server that is too old', HERE, async (t) => {
  const port = await oldServer(t);
  await expectRefused(`postgres://cairn:${PASSWORD}@127.0.0.1:${port}/cairn`,
    [/9\.6/, /1[2-9]/, /older|old|newer|least|needs/i]);
});

test('a role that may not make the schema', HERE, async () => {
  await cluster.sql(`CREATE ROLE poor LOGIN PASSWORD '${PASSWORD}'`);
  await expectRefused(cluster.url('cairn', 'poor', { password: PASSWORD }),
    [/permission|GRANT|right/i, /CREATE|schema/i], ['--db-schema', newSchema()]);
});

test('a role that may only read', HERE, async (t) => {
  const server = await startServer(t, { db: cluster.url() });
  await server.stop();
  await cluster.sql('CREATE ROLE reader LOGIN');
  server.sql(`GRANT USAGE ON SCHEMA ${server.schema} TO reader`);
  server.sql(`GRANT SELECT ON ALL TABLES IN SCHEMA ${server.schema} TO reader`);
  await expectRefused(cluster.url('cairn', 'reader'), [/permission|owner|GRANT|right|read/i],
    ['--db-schema', server.schema]);
  await cluster.sql(`CREATE ROLE still LOGIN; GRANT cairn TO still;
    ALTER ROLE still SET default_transaction_read_only = on`);
  await expectRefused(cluster.url('cairn', 'still'), [/read.?only/i],
    ['--db-schema', server.schema]);
});

test('a standby is no place to write', HERE, async (t) => {
  const standby = await cluster.standby(t);
  await expectRefused(standby.url(), [/read.?only|standby|replica|recovery/i]);
});

test('the environment names the database, and its password is in no log', HERE, async (t) => {
  await cluster.sql('GRANT CREATE ON DATABASE cairn TO locked');
  const url = cluster.url('cairn', 'locked', { password: LOCKED_PASSWORD });
  const server = await startServer(t,
    { db: url, viaEnvironment: true, args: ['--log-level', 'debug'] });
  expectStatus(await server.open.post('/v1/threads', {}), 201);
  await server.stop();
  assert.ok(server.stderr.includes('/v1/threads'));
  assert.ok(!server.stderr.includes(LOCKED_PASSWORD), server.stderr);
});

test('a password in the command line is in no log either', HERE, async (t) => {
  const url = cluster.url('cairn', 'locked', { password: LOCKED_PASSWORD });
  const server = await startServer(t, { db: url, args: ['--log-level', 'debug'] });
  await cluster.restart('fast');
  expectStatus(await server.open.get('/healthz'), 200);
  await server.stop();
  assert.ok(!server.stderr.includes(LOCKED_PASSWORD), server.stderr);
});
