// SPDX-License-Identifier: Apache-2.0
// PostgreSQL for tests: separate servers in temporary directories, deleted when the test ends.
//
//   const cluster = await startCluster(t);      // initdb, start; stopped and removed when t ends
//   await cluster.sql('SELECT 1');              // as the superuser; rows as arrays of text
//   const url = await cluster.database('shop'); // a database that the ordinary role `cairn` owns
//   await cluster.stop('immediate');            // or 'fast'; start(), restart(mode) bring it back
//   const standby = await cluster.standby(t);   // a streaming replica
//
// sharedDatabase()   the URL of the database that all tests share, each in a schema of its own:
//                    CAIRN_TEST_POSTGRES, or one that is started on first use and stopped at exit
// psql(url, text)    runs a script; rows as arrays of text
// openSession(t, url)  a session that stays open between statements: .sql(text), .end()
//
// Roles: postgres (superuser), cairn (ordinary, no password over TCP) and locked (ordinary, needs
// the password of LOCKED_PASSWORD). The programs are the newest of /usr/lib/postgresql.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync,
  writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import net from 'node:net';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { atEnd } from './ending.mjs';

const ROOT_OF_VERSIONS = '/usr/lib/postgresql';
const START_TIMEOUT_MS = 60_000;
export const LOCKED_PASSWORD = 'correct-horse-battery';

/** The directory with the programs of the newest PostgreSQL here. */
function programs() {
  let versions = [];
  try {
    versions = readdirSync(ROOT_OF_VERSIONS).map(Number).filter((v) => v > 0);
  } catch { /* the next line says it */ }
  assert.ok(versions.length > 0, `no PostgreSQL server in ${ROOT_OF_VERSIONS}: tools/deps test`);
  return join(ROOT_OF_VERSIONS, String(Math.max(...versions)), 'bin');
}

export const BIN = programs();

/** PostgreSQL refuses to run as root; then it runs as the user postgres. */
function owner() {
  if (process.getuid() !== 0)
    return {};
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

const OWNER = owner();

/** A command line that runs a program as that user, and ends it when we end, however we end. */
export function asOwner(program, args) {
  const user = OWNER.uid === undefined ? []
    : ['--reuid', String(OWNER.uid), '--regid', String(OWNER.gid), '--clear-groups'];
  return ['setpriv', ...user, '--pdeathsig', 'QUIT', '--', program, ...args];
}

/** Runs a program, as the owner of the clusters if so asked; gives what it says. */
export function run(program, args, { input, byOwner = false, ...options } = {}) {
  return new Promise((done, fail) => {
    const child = execFile(program, args,
      { maxBuffer: 64 << 20, ...(byOwner ? OWNER : {}), ...options }, (error, stdout, stderr) => {
        if (error !== null)
          fail(new Error(`${program} ${args.join(' ')}: ${stderr || error.message}`));
        else
          done(stdout);
      });
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
  });
}

function isFree(port) {
  return new Promise((done) => {
    const probe = net.createServer().on('error', () => done(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(true)));
  });
}

/** Below those that the kernel gives to connections: one of them could take it before we do. */
export async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if (await isFree(port))
      return port;
  }
}

// Unaligned tuples alone, fields apart by a character that no value has.
const PSQL = ['-X', '-q', '-A', '-t', '-F', '\u001f', '-v', 'ON_ERROR_STOP=1'];

const rowsOf = (text) =>
  text.split('\n').filter((line) => line !== '').map((line) => line.split('\u001f'));

/** Runs an SQL script; :'name' inserts a variable. Returns the rows as text. */
export async function psql(url, script, variables = {}) {
  const named = Object.entries(variables).flatMap(([name, value]) => ['-v', `${name}=${value}`]);
  return rowsOf(await run(join(BIN, 'psql'), [...PSQL, ...named, '-d', url, '-f', '-'],
    { input: script }));
}

/** The same, for those who cannot wait. */
export function psqlSync(url, script, variables = {}) {
  const named = Object.entries(variables).flatMap(([name, value]) => ['-v', `${name}=${value}`]);
  return execFileSync(join(BIN, 'psql'), [...PSQL, ...named, '-d', url, '-f', '-'],
    { input: script, encoding: 'utf8', maxBuffer: 64 << 20, stdio: ['pipe', 'pipe', 'pipe'] });
}

/**
 * A session that stays: what it locks or leaves open stays so until it says otherwise. Without a
 * test it ends with this process, which does not wait for it.
 */
export function openSession(t, url) {
  const child = spawn(join(BIN, 'psql'), [...PSQL, '-d', url], { stdio: 'pipe' });
  const handles = [child, child.stdin, child.stdout, child.stderr];
  const hold = (isHeld) => t || handles.forEach((h) => (isHeld ? h.ref() : h.unref()));
  let output = '';
  let errors = '';
  let answered = () => {};
  const ended = new Promise((done) => child.on('close', () => { done(); answered(); }));
  child.stdin.on('error', () => {});
  child.stdout.setEncoding('utf8').on('data', (text) => { output += text; answered(); });
  child.stderr.setEncoding('utf8').on('data', (text) => { errors += text; });
  const session = {
    async sql(text) {
      const marker = `-- ${randomBytes(8).toString('hex')} --`;
      output = '';
      const whole = new Promise((done) => {
        answered = () => (output.includes(marker) || child.exitCode !== null) && done();
      });
      hold(true);
      child.stdin.write(`${text};\n\\echo ${marker}\n`);
      await whole;
      hold(false);
      assert.ok(output.includes(marker), `psql has ended: ${errors}`);
      return rowsOf(output.slice(0, output.indexOf(marker)));
    },
    end() {
      child.stdin.end();
      return ended;
    },
  };
  if (t)
    atEnd(t, () => session.end());
  return session;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  max_connections: Math.max(300, cpus().length * 25),
  shared_buffers: '64MB',
  // Written data survives the process, but not the machine: tests kill only processes.
  fsync: 'off',
  max_wal_size: '256MB',
  logging_collector: 'off',
  log_min_messages: 'warning',
};

const HBA = `
local all         all               trust
host  all         locked 127.0.0.1/32 scram-sha-256
host  all         all    127.0.0.1/32 trust
local replication all               trust
`;

class Cluster {
  #process = null;
  #ended = null;

  constructor(directory, port) {
    this.directory = directory;
    this.data = join(directory, 'data');
    this.port = port;
  }

  /** The URL of a database for a role, over TCP. */
  url(database = 'cairn', role = 'cairn', { port = this.port, password } = {}) {
    const secret = password === undefined ? '' : `:${encodeURIComponent(password)}`;
    return `postgres://${role}${secret}@127.0.0.1:${port}/${database}`;
  }

  /** The superuser's way in, over the socket. */
  get adminUrl() {
    return `postgres://postgres@/postgres?host=${encodeURIComponent(this.directory)}` +
      `&port=${this.port}`;
  }

  sql(text, variables) {
    return psql(this.adminUrl, text, variables);
  }

  get log() {
    return readFileSync(join(this.directory, 'log'), 'utf8');
  }

  async init({ settings = {}, initdb = [] } = {}) {
    await run(join(BIN, 'initdb'), ['-D', this.data, '-U', 'postgres', '-A', 'trust',
      '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync', ...initdb],
    { byOwner: true, cwd: this.directory });
    const all = { ...SETTINGS, ...settings, port: this.port,
      unix_socket_directories: this.directory };
    writeFileSync(join(this.data, 'postgresql.auto.conf'),
      Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`).join(''));
    writeFileSync(join(this.data, 'pg_hba.conf'), HBA);
    await this.start();
    await this.sql(`CREATE ROLE cairn LOGIN;
      CREATE ROLE locked LOGIN PASSWORD '${LOCKED_PASSWORD}';`);
    await this.database('cairn');
  }

  /** Makes a database that `cairn` owns; gives its URL. */
  async database(name, more = '') {
    await this.sql(`CREATE DATABASE ${name} OWNER cairn ${more}`);
    return this.url(name);
  }

  async start() {
    assert.equal(this.#process, null, 'PostgreSQL runs already');
    const log = openSync(join(this.directory, 'log'), 'a');
    const [command, ...args] = asOwner(join(BIN, 'postgres'), ['-D', this.data]);
    const child = spawn(command, args,
      { cwd: this.directory, stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    child.unref();
    this.#process = child;
    this.#ended = new Promise((done) => child.on('exit', done));
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      try {
        await this.sql('SELECT 1');
        return;
      } catch (error) {
        assert.ok(child.exitCode === null && Date.now() < deadline,
          `PostgreSQL did not start: ${error.message}; ${this.log.slice(-2000)}`);
      }
      await new Promise((again) => setTimeout(again, 50));
    }
  }

  /** `immediate` is a crash: nothing is written out, the next start recovers from the log. */
  async stop(mode = 'fast') {
    if (this.#process === null)
      return;
    this.#process.kill(mode === 'immediate' ? 'SIGQUIT' : 'SIGINT');
    this.#process.ref();
    await this.#ended;
    this.#process = null;
  }

  async restart(mode = 'fast') {
    await this.stop(mode);
    await this.start();
  }

  /** A streaming replica of this one. */
  async standby(t) {
    const replica = new Cluster(newDirectory(), await freePort());
    atEnd(t, () => replica.remove());
    await run(join(BIN, 'pg_basebackup'), ['-h', this.directory, '-p', String(this.port),
      '-U', 'postgres', '-D', replica.data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'],
    { byOwner: true, cwd: replica.directory });
    const conf = join(replica.data, 'postgresql.auto.conf');
    writeFileSync(conf, `${readFileSync(conf, 'utf8')}port = '${replica.port}'\n` +
      `unix_socket_directories = '${replica.directory}'\n`);
    await replica.start();
    return replica;
  }

  async remove() {
    await this.stop('immediate');
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** The end of the process: no time to wait. */
  abandon() {
    this.#process?.kill('SIGQUIT');
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export function giveToOwner(path) {
  if (OWNER.uid !== undefined)
    chownSync(path, OWNER.uid, OWNER.gid);
}

/** A directory of the clusters' owner. */
export function newDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-pg-'));
  giveToOwner(directory);
  return directory;
}

/** A cluster of this test alone: one that it may stop, break and fill. */
export async function startCluster(t, options) {
  const cluster = new Cluster(newDirectory(), await freePort());
  if (t)
    atEnd(t, () => cluster.remove());
  await cluster.init(options);
  return cluster;
}

let shared = null;

/** The URL of the database that tests share. */
export async function sharedDatabase() {
  if (process.env.CAIRN_TEST_POSTGRES)
    return process.env.CAIRN_TEST_POSTGRES;
  shared ??= startCluster(null).then((cluster) => {
    process.on('exit', () => cluster.abandon());
    return cluster.url();
  });
  return shared;
}

/** The name of an unused schema. */
export const newSchema = () => `t_${randomBytes(6).toString('hex')}`;
