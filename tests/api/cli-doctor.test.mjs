// SPDX-License-Identifier: Apache-2.0
// cairn doctor: each finding is provoked, names what mends it, and nothing is changed by looking.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync,
  readdirSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { atEnd } from './lib/ending.mjs';
import { LOCKED_PASSWORD, freePort, startCluster } from './lib/postgres.mjs';
import { expectStatus, onPostgres, onSqlite, runCairn, startServer } from './lib/server.mjs';
import { sqliteRows } from './lib/sql.mjs';

const FILES = onSqlite('files of SQLite');
const CLUSTER = onPostgres('a cluster of its own');
const ROOT = { skip: FILES.skip || (process.getuid() === 0 ? false : 'only root may do it') };
const HERE = fileURLToPath(new URL('..', import.meta.url));
const BINARY = resolve(process.env.CAIRN_BIN ?? join(HERE, '../build/src/cli/cairn'));

/** The result of doctor: the exit code, all findings, and the findings of one check. */
async function doctor(args, env = {}) {
  const end = await runCairn(['doctor', '--jsonl', ...args], { env });
  return report(end.code, end.stdout, end.stderr);
}

function report(code, stdout, stderr) {
  assert.doesNotMatch(stderr, /Sanitizer|runtime error/);
  const findings = stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
  assert.ok(findings.length > 0, stderr);
  for (const { status, mend, finding } of findings) {
    assert.equal(mend === null, status === 'ok', `${finding}: what is wrong has its mend`);
    assert.ok(finding.length > 0 && !finding.includes('\n'));
  }
  const failed = findings.some(({ status }) => status === 'fail');
  assert.equal(code, failed ? 1 : 0, stderr + stdout);
  return { code, findings, of: (check) => findings.filter((one) => one.check === check) };
}

/** Asserts that one finding of the check is so. */
function expectFinding(found, check, status, words, mend = /./) {
  const hit = found.of(check).find((one) => one.status === status && words.test(one.finding));
  assert.ok(hit, `${check} ${status} ${words}: ${JSON.stringify(found.findings, null, 1)}`);
  if (status !== 'ok') assert.match(hit.mend, mend);
}

/** A server on SQLite or PostgreSQL, and the arguments by which doctor looks at it. */
const lookAt = (server) => server.db === null
  ? ['--data', server.dataDir, '--url', server.url]
  : ['--db', server.db, '--db-schema', server.schema, '--url', server.url];

function directory(t) {
  const path = mkdtempSync(join(tmpdir(), 'cairn-doctor-'));
  atEnd(t, () => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Every file with its mode, owner, content. */
const contents = (dir) => readdirSync(dir).sort().map((name) => {
  const { mode, uid, size } = statSync(join(dir, name));
  // The index of the log is shared memory, and readers have their marks in it.
  const bytes = name.endsWith('-shm') ? '' : readFileSync(join(dir, name));
  return [name, mode, uid, size, createHash('sha256').update(bytes).digest('hex')];
});

/** Nothing answers there. */
const nowhere = async () => ['--url', `http://127.0.0.1:${await freePort()}`];

// --- The server ----------------------------------------------------------------------------------

test('of a healthy server nothing fails', async (t) => {
  const server = await startServer(t);
  const found = await doctor(lookAt(server));
  assert.deepEqual(found.findings.filter(({ status }) => status === 'fail')
    .filter(({ check }) => check !== 'durability'), []); // the tests' PostgreSQL has no fsync
  expectFinding(found, 'server', 'ok', /0\.1\.0 answers at http:\/\/127\.0\.0\.1:\d+/);
  expectFinding(found, 'key', 'ok', /open/);
  expectFinding(found, 'clock', 'ok', /this machine's clock says 20/);
});

test('a missing reserve for a full disk is told, and how it comes back', FILES, async (t) => {
  const server = await startServer(t);
  expectFinding(await doctor(lookAt(server)), 'reserve', 'ok', /16\.0 MiB are reserved/);
  await server.stop();
  rmSync(join(server.dataDir, 'cairn.reserve'));
  expectFinding(await doctor(lookAt(server)), 'reserve', 'warn', /cairn\.reserve does not exist/,
    /cairn serve/);
  await server.start();
  expectFinding(await doctor(lookAt(server)), 'reserve', 'ok', /are reserved/);
});

test('for people each finding is one line, and the sum is on stderr', FILES, async (t) => {
  const server = await startServer(t);
  chmodSync(server.dataDir, 0o755);
  const { code, stdout, stderr } = await runCairn(['doctor', ...lookAt(server)]);
  assert.equal(code, 0);
  assert.match(stderr, /^\d+ ok, \d+ warnings, 0 failed\n$/);
  for (const line of stdout.trimEnd().split('\n')) assert.match(line, /^(ok|warn|fail) {2,4}\S/);
  assert.ok(stdout.includes(`can enter it → chmod 0700 ${server.dataDir}\n`), stdout);
  const { data } = JSON.parse((await runCairn(['doctor', '--json', ...lookAt(server)])).stdout);
  assert.equal(data.length, stdout.trimEnd().split('\n').length);
});

test('a server that is not there is told with how to start it', FILES, async (t) => {
  const found = await doctor(['--data', directory(t), ...await nowhere()]);
  expectFinding(found, 'server', 'fail', /127\.0\.0\.1:\d+/, /cairn serve/);
  expectFinding(found, 'database', 'ok', /none yet/);
});

test('a key that is wrong is told without the key', async (t) => {
  const server = await startServer(t);
  const { secret } = expectStatus(
    await server.open.post('/v1/keys', { name: 'k', scopes: ['operator'] }), 201);
  const good = await doctor(lookAt(server), { CAIRN_API_KEY: secret });
  expectFinding(good, 'key', 'ok', /accepted/);
  const wrong = `${secret.slice(0, -4)}aaaa`;
  const found = await doctor(lookAt(server), { CAIRN_API_KEY: wrong });
  expectFinding(found, 'key', 'fail', /./, /cairn key create/);
  assert.ok(!JSON.stringify(found.findings).includes(wrong));
  expectFinding(await doctor(lookAt(server)), 'key', 'fail', /no API key/, /CAIRN_API_KEY/);
});

test('another version, or something else at the URL, is told', FILES, async (t) => {
  let answer = JSON.stringify({ status: 'ok', version: '9.9.9' });
  const other = http.createServer((_, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(answer);
  });
  await new Promise((done) => other.listen(0, '127.0.0.1', done));
  atEnd(t, () => other.close());
  const args = ['--data', directory(t), '--url', `http://127.0.0.1:${other.address().port}`];
  expectFinding(await doctor(args), 'version', 'warn', /9\.9\.9.*0\.1\.0/, /install|restart/);
  answer = 'hello';
  expectFinding(await doctor(args), 'server', 'fail', /not Cairn/, /--url/);
});

// --- Configuration and secrets -------------------------------------------------------------------

test('a broken configuration is told with its line, the rest is looked at', FILES, async (t) => {
  const file = join(directory(t), 'cairn.toml');
  const bad = [
    ['[serve]\nlisten = \n', /cairn\.toml:2: /],
    ['[serve]\nlisten = "nowhere"\n', /cairn\.toml:2: listen must be HOST:PORT/],
    ['[serve]\n\nreders = 2\n', /cairn\.toml:3: .*reders.*readers/],
  ];
  for (const [text, words] of bad) {
    writeFileSync(file, text);
    const found = await doctor(['--config', file, ...await nowhere()]);
    expectFinding(found, 'configuration', 'fail', words, /--print-config/);
    assert.equal(found.of('database').length, 0, 'which one is not known');
    assert.equal(found.of('clock').length, 1);
  }
  const found = await doctor(['--config', join(file, 'none'), ...await nowhere()]);
  expectFinding(found, 'configuration', 'fail', /none/);
});

test('a file that is in force is named', FILES, async (t) => {
  const dir = directory(t);
  writeFileSync(join(dir, 'cairn.toml'), `[serve]\ndata = "${dir}/data"\n`);
  const found = await doctor(['--config', join(dir, 'cairn.toml'), ...await nowhere()]);
  expectFinding(found, 'configuration', 'ok', /cairn\.toml is valid/);
  expectFinding(found, 'data directory', 'warn', /data does not exist/, /cairn serve/);
});

test('the server is asked where the settings say that it listens', FILES, async (t) => {
  const server = await startServer(t);
  const file = join(directory(t), 'cairn.toml');
  writeFileSync(file,
    `[serve]\nlisten = "0.0.0.0:${server.port}"\ndata = "${server.dataDir}"\n`);
  const found = await doctor(['--config', file], { CAIRN_URL: '' });
  expectFinding(found, 'server', 'ok', new RegExp(`at http://127.0.0.1:${server.port}$`));
});

function makeCertificate(dir, name, subject) {
  const files = { cert: join(dir, `${name}.pem`), key: join(dir, `${name}.key`) };
  execFileSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-days', '2', '-subj', '/CN=cairn-test', '-addext', `subjectAltName=${subject}`],
    ...['-keyout', files.key, '-out', files.cert],
  ], { stdio: 'ignore' });
  return files;
}

test('a certificate that is refused is told from a server that is not there', FILES, async (t) => {
  const dir = directory(t);
  const { cert, key } = makeCertificate(dir, 'named', 'DNS:localhost');
  const server = https.createServer({ cert: readFileSync(cert), key: readFileSync(key) },
    (request, answer) => {
      answer.setHeader('Content-Type', 'application/json');
      answer.end(request.url === '/v1/whoami' ? '{"actor":"open"}' : '{"version":"0.1.0"}');
    });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  atEnd(t, () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  const { port } = server.address();
  const file = join(dir, 'cairn.toml');
  writeFileSync(file, `[serve]\nlisten = "127.0.0.1:${port}"\ndata = "${dir}/data"\n` +
    `tls_cert = "${cert}"\ntls_key = "${key}"\nallow_host = ["localhost"]\n`);
  const look = (...args) => doctor(['--config', file, ...args], { CAIRN_URL: '' });
  const guessed = await look('--ca-file', cert);
  expectFinding(guessed, 'server', 'warn', /reached, but its certificate is rejected: IP address/,
    new RegExp(`--url https://localhost:${port}`));
  assert.equal(guessed.code, 0);
  expectFinding(await look(), 'server', 'warn', /certificate is rejected/, /--ca-file FILE/);
  const named = await look('--ca-file', cert, '--url', `https://127.0.0.1:${port}`);
  expectFinding(named, 'server', 'fail', /IP address mismatch/, /--url https:\/\/NAME:/);
  expectFinding(await look('--url', `https://localhost:${port}`), 'server', 'fail',
    /certificate is rejected/, /--ca-file/);
  expectFinding(await look('--ca-file', cert, '--url', `https://localhost:${port}`), 'server', 'ok',
    /answers at https:\/\/localhost/);

  const old = makeCertificate(dir, 'old', 'IP:127.0.0.1');
  execFileSync('openssl', ['x509', '-in', old.cert, '-signkey', old.key, '-days', '-1', '-out',
    old.cert], { stdio: 'ignore' });
  server.setSecureContext({ cert: readFileSync(old.cert), key: readFileSync(old.key) });
  expectFinding(await look('--ca-file', old.cert), 'server', 'fail', /has expired/, /renew/);
});

test('a profile that is broken, or shows its key to everybody, is told', FILES, async (t) => {
  const home = directory(t);
  const file = join(home, 'cairn/config.toml');
  const env = { XDG_CONFIG_HOME: home, CAIRN_PROFILE: '', CAIRN_API_KEY: '', CAIRN_URL: '' };
  const args = ['--data', directory(t)];
  mkdirSync(join(home, 'cairn'));
  writeFileSync(file, '[profiles.mine]\nurl = "ftp://x"\n');
  const broken = await doctor([...args, '--profile', 'mine'], env);
  expectFinding(broken, 'configuration', 'fail', /config\.toml:2: .*must begin with http/);
  expectFinding(await doctor([...args, '--profile', 'yours'], env), 'configuration', 'fail',
    /"yours"/);
  writeFileSync(file, '[profiles.mine]\nurl = "http://127.0.0.1:1"\napi_key = "hush_hush"\n');
  const open = await doctor([...args, '--profile', 'mine'], env);
  expectFinding(open, 'secrets', 'warn', /users can read the API key/, /^chmod 600 .*config\.t/);
  assert.ok(!JSON.stringify(open.findings).includes('hush_hush'));

  const key = join(home, 'key');
  writeFileSync(key, 'hush_hush\n', { mode: 0o644 });
  const shown = await doctor([...args, '--api-key-file', key, ...await nowhere()], env);
  expectFinding(shown, 'secrets', 'warn', /the API key .*key \(mode 0644\)/, /^chmod o= /);
  chmodSync(key, 0o600);
  const hidden = await doctor([...args, ...await nowhere()], { ...env, CAIRN_API_KEY_FILE: key });
  expectFinding(hidden, 'secrets', 'ok', /the API key .* mode 0600/);

  chmodSync(key, 0o644);
  writeFileSync(file, `[profiles.mine]\nurl = "http://127.0.0.1:1"\napi_key_file = "${key}"\n`);
  const named = await doctor([...args, '--profile', 'mine'], env);
  expectFinding(named, 'secrets', 'warn', /the API key .*key \(mode 0644\)/, /^chmod o= /);
  rmSync(key);
  const gone = await doctor([...args, '--profile', 'mine'], env);
  expectFinding(gone, 'secrets', 'fail', /the API key .*key: No such file/, /^ls -l /);
  const other = await doctor([...args, '--profile', 'mine', ...await nowhere()], env);
  assert.deepEqual(other.of('secrets'), [], 'the key is not used there');
});

test('a password or a TLS key that everybody may read is told', FILES, async (t) => {
  const dir = directory(t);
  const file = join(dir, 'cairn.toml');
  const url = 'postgres://cairn:hush-hush@127.0.0.1:1/cairn?connect_timeout=2';
  writeFileSync(file, `[serve]\ndb = "${url}"\n`, { mode: 0o644 });
  const args = ['--config', file, ...await nowhere()];
  const open = await doctor(args);
  expectFinding(open, 'secrets', 'warn', /cairn\.toml \(mode 0644\)/, /chmod o= .*cairn\.toml/);
  expectFinding(open, 'database', 'fail', /cannot connect/);
  assert.ok(!JSON.stringify(open.findings).includes('hush-hush'));
  chmodSync(file, 0o640);
  expectFinding(await doctor(args), 'secrets', 'ok', /mode 0640/);

  const tls = ['cert', 'key'].map((name) => `tls_${name} = "${dir}/server.${name}"\n`).join('');
  writeFileSync(file, `[serve]\ndata = "${dir}/data"\n${tls}`);
  expectFinding(await doctor(args), 'secrets', 'fail', /server\.key: No such file/);
  writeFileSync(join(dir, 'server.key'), 'pem', { mode: 0o604 });
  expectFinding(await doctor(args), 'secrets', 'warn', /server\.key \(mode 0604\)/, /chmod o=/);
});

// --- The data directory, the disk, limits --------------------------------------------------------

test('looking changes nothing, whether the server runs, has ended or was killed', FILES,
  async (t) => {
    const server = await startServer(t);
    for (let i = 0; i < 20; i++)
      expectStatus(await server.open.post('/v1/threads', { title: `thread ${i}` }), 201);
    const unchanged = async (words, more = []) => {
      const before = contents(server.dataDir);
      const found = await doctor([...lookAt(server), ...more]);
      expectFinding(found, 'database', 'ok', words);
      assert.deepEqual(contents(server.dataDir), before);
    };
    assert.ok(statSync(`${server.database}-wal`).size > 0, 'there is a log to checkpoint');
    await unchanged(/served now/);
    await unchanged(/served now/, ['--full']);
    await server.kill();
    await unchanged(/not served now/);
    await unchanged(/not served now/, ['--full']);
    await server.start();
    expectStatus(await server.open.get('/readyz'), 200);
    await server.stop();
    assert.deepEqual(readdirSync(server.dataDir).sort(),
      ['cairn.db', 'cairn.lock', 'cairn.reserve']);
    await unchanged(/not served now/);
  });

test('a data directory that others may enter is told', FILES, async (t) => {
  const dir = directory(t);
  chmodSync(dir, 0o750);
  const found = await doctor(['--data', dir, ...await nowhere()]);
  expectFinding(found, 'data directory', 'warn', /mode 0750/, new RegExp(`chmod 0700 ${dir}`));
});

test('a data directory that is none is told', FILES, async (t) => {
  const file = join(directory(t), 'file');
  writeFileSync(file, '');
  const found = await doctor(['--data', file, ...await nowhere()]);
  expectFinding(found, 'data directory', 'fail', /is not a directory/, /--data DIR/);
});

test('what belongs to somebody else is told', ROOT, async (t) => {
  const server = await startServer(t);
  await server.stop();
  chownSync(server.database, 65534, 65534);
  const found = await doctor(lookAt(server));
  expectFinding(found, 'data directory', 'fail', /cairn\.db belongs to nobody/, /chown -R root: /);

  const dir = directory(t);
  expectFinding(asNobody(dir), 'data directory', 'fail',
    /belongs to root, and this is nobody/, /sudo -u root cairn doctor/);
  chownSync(dir, 65534, 65534);
  chmodSync(dir, 0o500);
  expectFinding(asNobody(dir), 'data directory', 'fail', /cannot be written/, /chmod u\+rwx/);
});

const AS_NOBODY = `
import json, subprocess, sys
end = subprocess.run([sys.argv[1], "doctor", "--jsonl", "--data", sys.argv[2],
                      "--url", "http://127.0.0.1:1"],
                     user=65534, group=65534, extra_groups=[], capture_output=True, text=True)
print(json.dumps({"code": end.returncode, "stdout": end.stdout, "stderr": end.stderr}))
`;

/** The findings of a user without rights. */
function asNobody(dir) {
  const end = JSON.parse(execFileSync('python3', ['-c', AS_NOBODY, BINARY, dir],
    { encoding: 'utf8', env: { ...process.env, CAIRN_DB: '', HOME: dir } }));
  return report(end.code, end.stdout, end.stderr);
}

test('a disk that is full, and one that goes with the machine, are told', ROOT, async (t) => {
  const dir = directory(t);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=0700', 'tmpfs', dir],
      { stdio: 'pipe' });
  } catch (error) {
    t.skip(`a tmpfs cannot be mounted here: ${error.message}`);
    return;
  }
  atEnd(t, () => execFileSync('umount', [dir]));
  const args = ['--data', dir, ...await nowhere()];
  const small = await doctor(args);
  expectFinding(small, 'disk', 'warn', /64\.0 MiB of 64\.0 MiB are free/, /df -h/);
  expectFinding(small, 'filesystem', 'warn', /tmpfs/, /--data DIR/);
  writeFileSync(join(dir, 'ballast'), Buffer.alloc(60 << 20));
  const full = await doctor(args);
  expectFinding(full, 'disk', 'fail', /is full: \d\.\d MiB of 64\.0 MiB/, /df -h/);
});

test('too few open files for the connections are told', FILES, async (t) => {
  const limited = (files, connections) => new Promise((done) => {
    const args = ['doctor', '--jsonl', '--data', t.dir, '--url', 'http://127.0.0.1:1',
      '--max-connections', String(connections)];
    const script = `ulimit -Sn ${files} && ulimit -Hn ${files} && exec "$@"`;
    let stdout = '';
    try {
      stdout = execFileSync('sh', ['-c', script, 'sh', BINARY, ...args],
        { encoding: 'utf8', stdio: 'pipe', env: { ...process.env, CAIRN_DB: '' } });
      done(report(0, stdout, ''));
    } catch (error) {
      done(report(error.status, error.stdout, error.stderr));
    }
  });
  t.dir = directory(t);
  expectFinding(await limited(256, 1000), 'open files', 'warn', /256 .* 10\d\d are needed/,
    /LimitNOFILE=10\d\d/);
  expectFinding(await limited(256, 100), 'open files', 'ok', /256/);
});

// --- The database --------------------------------------------------------------------------------

/** A data directory with content that no server uses. */
async function atRest(t) {
  const server = await startServer(t);
  for (let i = 0; i < 50; i++)
    expectStatus(await server.open.post('/v1/threads', { title: `thread ${i}` }), 201);
  await server.stop();
  return server;
}

function overwrite(file, at, bytes) {
  const fd = openSync(file, 'r+');
  writeSync(fd, bytes, 0, bytes.length, at);
  closeSync(fd);
}

test('a damaged database is told', FILES, async (t) => {
  const server = await atRest(t);
  const whole = readFileSync(server.database);
  const args = ['--data', server.dataDir, ...await nowhere()];
  expectFinding(await doctor([...args, '--full']), 'integrity', 'ok', /\d+ rows obey every rule/);
  // Overwrites every page but the first.
  for (let page = 1; page < whole.length / 4096; page++)
    overwrite(server.database, page * 4096, Buffer.alloc(64, 0x5a));
  expectFinding(await doctor(args), 'database', 'fail', /is damaged/, /cairn check.*cairn restore/);
  overwrite(server.database, 0, Buffer.from('this is no database at all'));
  expectFinding(await doctor(args), 'database', 'fail', /is not a database/, /cairn restore/);
});

test('an index that lost its entries is found by --full', FILES, async (t) => {
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201);
  expectStatus(await server.open.post(`/v1/threads/${thread.id}/runs`, {}), 201);
  await server.stop();
  execFileSync('python3', ['-c', EMPTY_INDEX, server.database]);
  const args = ['--data', server.dataDir, ...await nowhere()];
  expectFinding(await doctor(args), 'database', 'ok', /is intact/);
  const found = await doctor([...args, '--full']);
  expectFinding(found, 'integrity', 'fail', /missing from index runs_by_status/, /cairn check/);
});

// Made over no rows, then declared to be over all of them, behind SQLite's back.
const EMPTY_INDEX = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
[sql] = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'runs_by_status'").fetchone()
db.execute("DROP INDEX runs_by_status")
db.execute(f"{sql} WHERE status = 'nothing'")
db.execute("PRAGMA writable_schema = ON")
db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'runs_by_status'", [sql])
db.commit()
`;

test('a schema of another version is told, and a database from the future', FILES, async (t) => {
  const server = await atRest(t);
  const args = ['--data', server.dataDir, ...await nowhere()];
  const sql = (text) => sqliteRows(server.database, text, []);
  expectFinding(await doctor(args), 'schema', 'ok', /version \d+/);
  sql('UPDATE schema_versions SET applied_at = applied_at + 3600000000');
  expectFinding(await doctor(args), 'clock', 'warn', /in the future/, /timedatectl/);
  sql('DELETE FROM schema_versions WHERE version = (SELECT max(version) FROM schema_versions)');
  expectFinding(await doctor(args), 'schema', 'warn', /schema version \d+, this/, /cairn serve/);
  sql("INSERT INTO schema_versions VALUES (999, 'later', '9.9.9', 0)");
  expectFinding(await doctor(args), 'schema', 'fail', /999/, /newer cairn/);
});

// --- PostgreSQL ----------------------------------------------------------------------------------

test('a PostgreSQL that keeps what it says is in order, with its replica', CLUSTER, async (t) => {
  const cluster = await startCluster(t, { settings: { fsync: 'on', full_page_writes: 'on' } });
  const standby = await cluster.standby(t);
  const server = await startServer(t, { db: cluster.url() });
  const args = [...lookAt(server), '--db-replica'];
  const found = await doctor([...args, standby.url()]);
  assert.equal(found.code, 0, JSON.stringify(found.findings));
  expectFinding(found, 'database', 'ok', /PostgreSQL \d+.* answers/);
  expectFinding(found, 'schema', 'ok', /version \d+/);
  expectFinding(found, 'durability', 'ok', /fsync/);
  expectFinding(found, 'rights', 'ok', /row-level security/);
  expectFinding(found, 'clock', 'ok', /the database's clock agrees/);
  expectFinding(found, 'replica', 'ok', /\d+ KiB behind/);
  expectFinding(await doctor([...lookAt(server), '--full']), 'integrity', 'ok', /\d+ rows obey/);
  assert.equal(found.of('data directory').length, 0, 'there is none');

  expectFinding(await doctor([...args, cluster.url()]), 'replica', 'warn', /not a standby/);
  await standby.sql('SELECT pg_wal_replay_pause()');
  await cluster.sql('CREATE TABLE ballast AS SELECT repeat(md5(i::text), 30) FROM ' +
    'generate_series(1, 30000) AS i');
  expectFinding(await doctor([...args, standby.url()]), 'replica', 'warn', /\d{5,} KiB behind/,
    /pg_stat_replication/);
  await standby.stop('immediate');
  expectFinding(await doctor([...args, standby.url()]), 'replica', 'warn', /cannot connect/);
});

test('a PostgreSQL that may lose what it says, or is away, is told', CLUSTER, async (t) => {
  const cluster = await startCluster(t, { settings: { fsync: 'off' } });
  const server = await startServer(t, { db: cluster.url() });
  const files = join(server.dataDir, 'files');
  expectFinding(await doctor([...lookAt(server), '--files-dir', files]), 'files', 'fail',
    /is not a directory/, /mount or create/);
  writeFileSync(files, '');
  expectFinding(await doctor([...lookAt(server), '--files-dir', files]), 'files', 'fail',
    /is not a directory/, /mount or create/);
  rmSync(files);
  mkdirSync(files, { mode: 0o700, recursive: true });
  const found = await doctor([...lookAt(server), '--files-dir', files]);
  expectFinding(found, 'files', 'ok', /mode 0700/);
  expectFinding(found, 'durability', 'fail', /fsync is off/, /fsync = on/);
  await server.stop();
  await cluster.stop();
  expectFinding(await doctor(lookAt(server)), 'database', 'fail', /cannot connect/, /--db/);
});

test('a role with too many rights, or too few, is told', CLUSTER, async (t) => {
  const cluster = await startCluster(t);
  const server = await startServer(t, { db: cluster.url(), schema: 'cairn' });
  const look = (db) => doctor(['--db', db, '--db-schema', 'cairn', '--url', server.url]);
  expectFinding(await look(cluster.url('cairn', 'postgres')), 'rights', 'warn',
    /row-level security/, /NOBYPASSRLS/);
  const found = await look(cluster.url('cairn', 'locked', { password: LOCKED_PASSWORD }));
  assert.ok(!JSON.stringify(found.findings).includes(LOCKED_PASSWORD));
  assert.ok(found.findings.some(({ status, finding }) =>
    status === 'fail' && /lacks rights|permission denied/.test(finding)),
  JSON.stringify(found.findings));
});
