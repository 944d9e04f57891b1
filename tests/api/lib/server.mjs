// SPDX-License-Identifier: Apache-2.0
// The harness: a real cairn process on a real database, and a client that speaks to it.
// CAIRN_TEST_ENGINE chooses the engine for all tests: sqlite (the default) or postgres.
//
//   test('a thread can be read back', async (t) => {
//     const server = await startServer(t);                 // stopped and judged when t ends
//     const made = await server.open.post('/v1/threads', { title: 'one' });
//     expectStatus(made, 201);                             // made.body, .headers, .text
//     await server.restart();                              // same data, same port
//     expectProblem(await server.open.get(`/v1/threads/${uuid()}`), 404, 'not_found');
//   });
//
// startServer(t, {args})   a server on 127.0.0.1, any free port, with a data directory or a schema
//                          of its own; {db: url} names another database than the shared one,
//                          {schema} a schema that is there, {viaEnvironment} CAIRN_DB,
//                          {engine} another engine than the tests', {dataDir} a directory of SQLite
//   .open                  a client without a key: it has all rights while no key exists
//   .client(secret)        a client with a key
//   .stop() .kill()        SIGTERM, SIGKILL; both wait for the end of the process
//   .restart() .start()    again on the same data and port, with the same arguments
//   .ending()              waits until it ends by itself: {code, signal}
//   .freeze() .thaw()      SIGSTOP, SIGCONT
//   .pid                   of the process
//   .cpuMs                 the CPU time that it has used
//   .join({args, db})      one more node on the same schema (PostgreSQL), stopped with this one
//   .sql(statement, ...params)   rows as arrays; ? is a parameter. .rows returns objects
//   .idLiteral(uuid)       an id as it is written in SQL
//   .url .port .dataDir .stderr .database (the SQLite file) .schema .db (its URL)
// runCairn(args)           for commands that end by themselves: {code, signal, stdout, stderr}
// expectSound(server)      asserts that 'cairn check' finds nothing in its database
// expectNoStart(db, rules) asserts that it does so at once, with words that match each rule
// onSqlite, onPostgres     options of a test that makes sense on one engine alone, with the reason:
//                          test('…', onSqlite('files of SQLite'), async (t) => …)
// client.get(path, opts) .head .post(path, body, opts) .patch .put .del(path, opts) .request
//   opts: headers, raw (body bytes as they are), type (Content-Type), signal
// client.ws(path, opts)    a WebSocket of the package ws;  client.sse(path, opts) an EventSource
// twoTenants(server)       {operator, alice, bob}: clients of the default tenant and of two others
// insist(send)             sends again until it is answered; readAll(client, path) page by page
//
// A test fails if its server exits with a code other than 0 after SIGTERM, or if a sanitizer
// reports an error. routes.test.mjs searches the sources of the tests for the method and path of
// every route, so write the whole path in each call: client.get(`/v1/threads/${id}`).
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EventSource } from 'eventsource';
import WebSocket from 'ws';
import { atEnd } from './ending.mjs';
import { newSchema, openSession, psql, psqlSync, sharedDatabase } from './postgres.mjs';
import { postgresRows, sqliteRows } from './sql.mjs';

const HERE = fileURLToPath(new URL('..', import.meta.url));
export const BINARY = resolve(process.env.CAIRN_BIN ?? join(HERE, '../../build/src/cli/cairn'));
// Only so that a test fails instead of hanging: far more than a busy machine needs.
const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 180_000;
const SANITIZER = /(Address|Leak|Thread|UndefinedBehavior|Memory)Sanitizer|runtime error:/;

export const ENGINE = process.env.CAIRN_TEST_ENGINE || 'sqlite';
assert.ok(['sqlite', 'postgres'].includes(ENGINE), 'CAIRN_TEST_ENGINE is sqlite or postgres');

export const onSqlite = (why) => ({ skip: ENGINE === 'sqlite' ? false : `SQLite only: ${why}` });
export const onPostgres = (why) => ({
  skip: ENGINE === 'postgres' ? false : `PostgreSQL only: ${why}`,
});

export const DEFAULT_TENANT = '018f0000-0000-7000-8000-000000000001';

/** A random id that nothing has. */
export const uuid = () => randomUUID();

/** Runs cairn until it ends by itself, which it must: {code, signal, stdout, stderr}. */
export function runCairn(args, { env = {} } = {}) {
  return new Promise((done, fail) => {
    execFile(
      BINARY,
      args,
      {
        env: { ...process.env, CAIRN_DB: '', ...env },
        timeout: STOP_TIMEOUT_MS,
        killSignal: 'SIGKILL',
      },
      (error, stdout, stderr) => {
        if (error?.killed) fail(new Error(`cairn ${args.join(' ')} goes on: ${stdout}${stderr}`));
        else done({ code: error?.code ?? 0, signal: error?.signal, stdout, stderr });
      },
    );
  });
}

/** Asserts that cairn does not start on this database, for a reason that matches; its words. */
export async function expectNoStart(db, rules, args = []) {
  const end = await runCairn(['serve', '--listen', '127.0.0.1:0', '--db', db, ...args]);
  assert.equal(end.code, 1, `${end.code ?? end.signal}: ${end.stderr}`);
  assert.equal(end.stdout, '', 'nothing was announced');
  for (const rule of rules) assert.match(end.stderr, rule);
  assert.ok(end.stderr.length < 2000 && !/assert|abort|Sanitizer/i.test(end.stderr), end.stderr);
  return end.stderr;
}

/**
 * Schemas of servers that have ended, emptied: making all tables for each server takes most of the
 * time that a short test has. PostgreSQL's own tests, and who changes tables, use none of them.
 */
const emptied = [];
const OF_POSTGRES = /^postgres-/.test(basename(process.argv[1] ?? ''));
const CHANGES_SCHEMA = /\b(CREATE|ALTER|DROP|GRANT|REVOKE|TRUNCATE|schema_versions)\b/i;
// A table that others refer to is emptied after them.
const EMPTY = `DO $$ DECLARE t text; todo text[]; later text[]; BEGIN
  todo := ARRAY(SELECT tablename FROM pg_tables WHERE schemaname = current_schema()
    AND tablename <> 'schema_versions');
  WHILE todo <> '{}' LOOP later := '{}';
    FOREACH t IN ARRAY todo LOOP BEGIN EXECUTE format('DELETE FROM %I', t);
      EXCEPTION WHEN foreign_key_violation OR restrict_violation THEN later := later || t; END;
    END LOOP;
    IF later = todo THEN RAISE EXCEPTION 'tables refer to each other: %', todo; END IF;
    todo := later; END LOOP;
  PERFORM setval(format('%I', sequencename), start_value, false) FROM pg_sequences
    WHERE schemaname = current_schema(); END $$`;
process.on('exit', () => {
  if (emptied.length > 0)
    psqlSync(process.env.CAIRN_TEST_POSTGRES,
      `SET client_min_messages = error; DROP SCHEMA ${emptied.join(', ')} CASCADE`, {});
});

// One session empties all of them, one after the other: a new one would read the catalogue again.
let sweeper = null;
let swept = Promise.resolve();

async function tryToEmpty(schema) {
  sweeper ??= openSession(null, process.env.CAIRN_TEST_POSTGRES);
  try {
    await sweeper.sql(`SET search_path = ${schema}; SET cairn.tenant = '*'; ${EMPTY}`);
    return true;
  } catch {
    sweeper = null;
    return false;
  }
}

/** Resolves with true if the schema could be emptied. */
function empty(schema) {
  swept = swept.then(() => tryToEmpty(schema));
  return swept;
}

export async function startServer(
  t,
  { args = [], env = {}, engine = ENGINE, dataDir, db, schema, viaEnvironment } = {},
) {
  const server = new Server(args, env, dataDir);
  atEnd(t, () => server.close());
  if (engine === 'postgres') {
    server.viaEnvironment = viaEnvironment === true;
    server.db = db ?? (await sharedDatabase());
    server.ownsSchema = schema === undefined;
    server.usesAgain = server.ownsSchema && db === undefined && !OF_POSTGRES;
    server.schema = schema ?? ((server.usesAgain ? emptied.pop() : undefined) ?? newSchema());
  }
  await server.start();
  return server;
}

class Server {
  #process = null;
  #ended = null;
  #args;
  #env;
  #clients = new Set();
  #nodes = [];

  constructor(args, env, dataDir = mkdtempSync(join(tmpdir(), 'cairn-test-'))) {
    this.#args = args;
    this.#env = env;
    this.dataDir = dataDir;
    this.port = 0;
    this.stderr = '';
    this.db = null;
    this.schema = null;
    this.ownsSchema = false;
    this.usesAgain = false;
    this.viaEnvironment = false;
  }

  /** One more node on the same database. It is stopped with this server. */
  async join({ args = [], env = {}, db = this.db } = {}) {
    const node = new Server([...this.#args, ...args], env);
    node.db = db;
    node.schema = this.schema;
    this.#nodes.push(node);
    await node.start();
    return node;
  }

  /** Rows of the database beside the server, as objects. */
  rows(statement, ...params) {
    this.usesAgain &&= !CHANGES_SCHEMA.test(statement);
    return this.db !== null
      ? postgresRows({ url: this.db, schema: this.schema }, statement, params)
      : sqliteRows(this.database, statement, params);
  }

  /** The same rows as arrays. */
  sql(statement, ...params) {
    return this.rows(statement, ...params).map(Object.values);
  }

  idLiteral(id) {
    return this.db !== null ? `'${id}'` : `x'${id.replaceAll('-', '')}'`;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  get database() {
    return join(this.dataDir, 'cairn.db');
  }

  /** Whether the process lives, and the last that it said. */
  get condition() {
    const child = this.#process;
    const state =
      child === null
        ? 'the server is stopped'
        : (child.exitCode ?? child.signalCode ?? 'the server runs');
    return `${state}; ${this.stderr.slice(-2000)}`;
  }

  get open() {
    return this.client(null);
  }

  client(secret) {
    const client = new Client(this, secret);
    this.#clients.add(client);
    return client;
  }

  /** While the server is down, a connection of another test may use its port for a moment. */
  async start() {
    for (let i = 0; ; i++) {
      const before = this.stderr;
      try {
        await this.#startOnce();
        return;
      } catch (error) {
        if (i === 100 || !this.stderr.slice(before.length).includes('Address already in use'))
          throw error;
        this.stderr = before;
        await pause(100);
      }
    }
  }

  async #startOnce() {
    assert.equal(this.#process, null, 'the server runs already');
    const store =
      this.db === null
        ? ['--data', this.dataDir]
        : [...(this.viaEnvironment ? [] : ['--db', this.db]), '--db-schema', this.schema];
    // The environment of the tests' shell must have no effect.
    const named = { CAIRN_DB: this.viaEnvironment ? this.db : '' };
    const child = spawn(
      BINARY,
      ['serve', '--listen', `127.0.0.1:${this.port}`, ...store, ...this.#args],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...named, ...this.#env } },
    );
    this.#process = child;
    child.stderr.setEncoding('utf8').on('data', (text) => {
      this.stderr += text;
    });
    this.#ended = new Promise((done) => {
      child.on('error', (error) => done({ error }));
      child.on('close', (code, signal) => done({ code, signal }));
    });
    this.port = await this.#readPort(child);
  }

  #readPort(child) {
    return new Promise((done, fail) => {
      let stdout = '';
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        fail(new Error(`cairn did not start: ${this.stderr}`));
      }, START_TIMEOUT_MS);
      child.stdout.setEncoding('utf8').on('data', (text) => {
        stdout += text;
        const line = /^cairn \S+ listens on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(stdout);
        if (line) {
          clearTimeout(timer);
          done(Number(line[1]));
        }
      });
      this.#ended.then(({ code, signal, error }) => {
        clearTimeout(timer);
        this.#process = null;
        fail(error ?? new Error(`cairn ended with ${code ?? signal}: ${this.stderr}`));
      });
    });
  }

  async #end(signal) {
    const child = this.#process;
    if (child === null) return null;
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGABRT'), STOP_TIMEOUT_MS);
    const end = await this.#ended;
    clearTimeout(timer);
    this.#process = null;
    // fetch keeps connections. It must have seen that these ended before they can be used again.
    for (let i = 0; i < 3; i++) await new Promise((turn) => setImmediate(turn));
    return end;
  }

  /** SIGTERM; the server must drain, end with 0 and have nothing to confess. */
  async stop() {
    const end = await this.#end('SIGTERM');
    this.#judge();
    if (end !== null)
      assert.equal(end.code, 0, `cairn ended with ${end.code ?? end.signal}: ${this.stderr}`);
  }

  /** SIGKILL: what was not durable is lost. */
  async kill() {
    await this.#end('SIGKILL');
    this.#judge();
  }

  /** Waits until the process ends by itself: {code, signal}. */
  async ending() {
    const timer = setTimeout(() => this.#process?.kill('SIGABRT'), STOP_TIMEOUT_MS);
    const end = await this.#ended;
    clearTimeout(timer);
    this.#process = null;
    this.#judge();
    return end;
  }

  get pid() {
    return this.#process.pid;
  }

  /** The CPU time that the process has used, which unlike time says nothing about the machine. */
  get cpuMs() {
    const stat = readFileSync(`/proc/${this.#process.pid}/stat`, 'latin1').replace(/.*\) /, '');
    const [user, system] = stat.split(' ').slice(11, 13).map(Number);
    return (user + system) * 10;
  }

  /**
   * Stops the process until thaw(), like a machine that swaps or a virtual machine that is moved.
   * Returns when all its threads have stopped.
   */
  freeze() {
    const tasks = `/proc/${this.#process.pid}/task`;
    const stands = (task) =>
      / T /.test(readFileSync(`${tasks}/${task}/stat`, 'latin1').replace(/.*\)/, ''));
    this.#process.kill('SIGSTOP');
    while (!readdirSync(tasks).every(stands))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }

  thaw() {
    this.#process?.kill('SIGCONT');
  }

  async restart() {
    await this.stop();
    await this.start();
  }

  #judge() {
    assert.doesNotMatch(this.stderr, SANITIZER);
  }

  /** The end of the test. */
  async close() {
    for (const client of this.#clients) client.close();
    this.thaw();
    try {
      for (const node of this.#nodes) await node.close();
      await this.stop();
    } finally {
      rmSync(this.dataDir, { recursive: true, force: true });
      if (this.ownsSchema) await this.#endSchema();
    }
  }

  async #endSchema() {
    if (this.usesAgain && process.env.CAIRN_TEST_POSTGRES && await empty(this.schema))
      return emptied.push(this.schema);
    const drop = `SET client_min_messages = warning; SET lock_timeout = '30s';
      DROP SCHEMA IF EXISTS ${this.schema} CASCADE`;
    return psql(this.db, drop).catch(() => {}); // a database that is gone has dropped it
  }
}

/** A client of a server, or of any object with a url, a port and a condition. */
export class Client {
  #streams = new Set();

  constructor(server, secret) {
    this.server = server;
    this.secret = secret;
  }

  get(path, opts) {
    return this.request('GET', path, opts);
  }
  head(path, opts) {
    return this.request('HEAD', path, opts);
  }
  del(path, opts) {
    return this.request('DELETE', path, opts);
  }
  post(path, body, opts) {
    return this.request('POST', path, { ...opts, body });
  }
  patch(path, body, opts) {
    return this.request('PATCH', path, { ...opts, body });
  }
  put(path, body, opts) {
    return this.request('PUT', path, { ...opts, body });
  }

  async request(method, path, { body, raw, type = 'application/json', headers = {}, signal } = {}) {
    const isPlain = body === undefined || Buffer.isBuffer(body);
    const payload = raw ?? (isPlain ? body : JSON.stringify(body));
    const answer = await this.#fetch(this.server.url + path, {
      method,
      body: payload,
      headers: {
        ...this.#authorization(),
        ...(payload === undefined ? {} : { 'Content-Type': type }),
        ...headers,
      },
      redirect: 'manual',
      signal,
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const text = bytes.toString();
    const isJson = /^application\/(problem\+)?json/.test(answer.headers.get('Content-Type') ?? '');
    return {
      status: answer.status,
      headers: answer.headers,
      bytes,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : null,
    };
  }

  /** fetch says little about why it failed. */
  async #fetch(url, init) {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (init.signal?.aborted) throw error;
      const why = error.cause?.code ?? error.cause?.message ?? error.message;
      throw new Error(`${init.method} ${url}: ${why}; ${this.server.condition}`, { cause: error });
    }
  }

  ws(path, { headers = {}, protocols = [], ...more } = {}) {
    const socket = new WebSocket(`ws://127.0.0.1:${this.server.port}${path}`, protocols, {
      ...more,
      headers: { ...this.#authorization(), ...headers },
    });
    this.#streams.add(() => socket.terminate());
    return socket;
  }

  sse(path, { headers = {} } = {}) {
    const source = new EventSource(this.server.url + path, {
      fetch: (url, init) =>
        fetch(url, { ...init, headers: { ...init.headers, ...this.#authorization(), ...headers } }),
    });
    this.#streams.add(() => source.close());
    return source;
  }

  #authorization() {
    return this.secret === null ? {} : { Authorization: `Bearer ${this.secret}` };
  }

  close() {
    for (const end of this.#streams) end();
    this.#streams.clear();
  }
}

// --- Common requests and assertions ----------------------------------------------------------

/** Asserts the status of an answer, and shows the answer when it is another. Returns its body. */
export function expectStatus(answer, status) {
  assert.equal(answer.status, status, `expected ${status}: ${answer.status} ${answer.text}`);
  return answer.body;
}

/** Asserts a problem document (RFC 9457) with this status and code. Returns it. */
export function expectProblem(answer, status, code) {
  expectStatus(answer, status);
  const problem = answer.body;
  assert.equal(answer.headers.get('Content-Type'), 'application/problem+json');
  assert.equal(problem.code, code, answer.text);
  assert.equal(problem.status, status);
  assert.equal(problem.type, `urn:cairn:error:${code}`);
  assert.ok(problem.title.length > 0 && problem.detail.length > 0, answer.text);
  assert.equal(typeof problem.retryable, 'boolean');
  assert.equal(problem.request_id, answer.headers.get('X-Request-Id'));
  for (const { pointer, detail } of problem.errors ?? []) {
    assert.equal(typeof pointer, 'string');
    assert.ok(detail.length > 0);
  }
  return problem;
}

/** Asserts a refusal that names this field, with a rule that matches. Returns the problem. */
export function expectFault(answer, status, code, pointer, rule = /./) {
  const problem = expectProblem(answer, status, code);
  const fault = (problem.errors ?? []).find((e) => e.pointer === pointer);
  assert.ok(fault, `no fault of ${pointer}: ${answer.text}`);
  assert.match(fault.detail, rule);
  return problem;
}

/** Makes the first key (an operator's) and two tenants. */
export async function twoTenants(server) {
  const key = expectStatus(
    await server.open.post('/v1/keys', { name: 'operator', scopes: ['operator'] }),
    201,
  );
  const operator = server.client(key.secret);
  const join = async (name) => {
    const made = expectStatus(await operator.post('/v1/tenants', { name }), 201);
    const client = server.client(made.key.secret);
    client.tenantId = made.tenant.id;
    client.keyId = made.key.id;
    return client;
  };
  return { operator, alice: await join('alice'), bob: await join('bob') };
}

/** A client of the same tenant with a new key of these scopes (and rate limit, expiry …). */
export async function withKey(admin, scopes, more = {}) {
  const key = expectStatus(await admin.post('/v1/keys', { name: 'test', scopes, ...more }), 201);
  const client = admin.server.client(key.secret);
  client.keyId = key.id;
  return client;
}

/** `cairn check` finds nothing in the database that the server had. */
export async function expectSound(server) {
  const database = server.db === null ? ['--data', server.dataDir]
    : ['--db', server.db, '--db-schema', server.schema];
  const end = await runCairn(['check', ...database]);
  assert.equal(end.code, 0, end.stdout + end.stderr);
}

/** Asks again until `probe` gives something true; for what happens soon, at no known moment. */
export async function eventually(probe, what = 'it did not happen', timeoutMs = 180_000) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > deadline) assert.fail(typeof what === 'function' ? what() : what);
    await pause(20);
  }
}

/** Waits until the server has begun and completed a sweep after this call. */
export async function sweepPasses(client) {
  const count = async () =>
    Number(/^cairn_sweeps_total (\d+)$/m.exec((await client.get('/metrics')).text)[1]);
  const before = await count(); // a sweep may be running: the second one from now is a new one
  await eventually(async () => await count() >= before + 2, 'no sweep');
}

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** All events of a list, or those after a cursor, page by page. */
export async function readAll(client, path, after = 0) {
  const all = [];
  for (let cursor = after, more = true; more; ) {
    const page = expectStatus(await client.get(`${path}?after=${cursor}&limit=1000`), 200);
    all.push(...page.data);
    ({ has_more: more, next_cursor: cursor } = page);
  }
  return all;
}

/** Claims a run, which must be there to claim. */
export const claim = async (client, body = {}, query = '') =>
  expectStatus(await client.post(`/v1/runs/claim${query}`, { worker: 'w', ...body }), 200);

/** The header that the worker of a claimed run sends with a write. */
export const token = (run) => ({ headers: { 'Cairn-Fencing-Token': String(run.fence) } });

/** A retryable rejection with a Retry-After; or one of HAProxy, which has neither. */
function expectComeAgain(answer) {
  assert.ok([502, 503, 504].includes(answer.status), `${answer.status} ${answer.text}`);
  if (answer.body === null) return;
  assert.equal(answer.body.retryable, true, answer.text);
  assert.match(answer.headers.get('Retry-After') ?? '', /^\d+$/, answer.text);
}

/** Sends the same again, as clients do, until it is done; the answer and how often it took. */
export async function insist(send) {
  for (let tries = 1; tries < 3000; tries++) {
    const answer = await send().catch((error) => {
      if (error instanceof assert.AssertionError) throw error;
      return null;
    });
    if (answer !== null && answer.status < 500) return { answer, tries };
    if (answer !== null) expectComeAgain(answer);
    await pause(20 + Math.random() * 80);
  }
  return assert.fail('it never came through');
}
