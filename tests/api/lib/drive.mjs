// SPDX-License-Identifier: Apache-2.0
// A program with libcairn inside (tests/lib/drive.c), and where the build keeps what is embedded.
//
//   const drive = startDrive(t, placeOf(server));     // the same database, by the library
//   const { status, headers, body } = await drive.call('GET', '/v1/threads', { headers });
//   const { events } = await drive.subscribe('/v1/events/stream', { limit: 3 });
//   await drive.close();                              // cairn_close; ends with 0
//   await drive.kill();                               // SIGKILL
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { atEnd } from './ending.mjs';
import { BINARY } from './server.mjs';

/** The directory of the build that is tested. */
export const BUILD = dirname(dirname(dirname(BINARY)));
export const SHARED_LIBRARY = join(BUILD, 'src/lib/libcairn.so.0');
export const STATIC_LIBRARY = join(BUILD, 'src/lib/libcairn.a');

/** The database of a server, in the form of cairn_open's parameters: [where, schema]. */
export const placeOf = (server) =>
  server.db === null ? [`sqlite:${server.dataDir}`] : [server.db, server.schema];

class Drive {
  #child;
  #ended;
  #answers = [];
  #rest = '';
  stderr = '';

  constructor(place) {
    this.#child = spawn(join(BUILD, 'tests/lib/drive'), place, { stdio: 'pipe' });
    this.#ended = new Promise((done) =>
      this.#child.on('close', (code, signal) => {
        done({ code, signal });
        for (const { fail } of this.#answers)
          fail(new Error(`drive ended with ${code ?? signal}: ${this.stderr}`));
      }));
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.setEncoding('utf8').on('data', (text) => { this.stderr += text; });
    this.#child.stdout.setEncoding('utf8').on('data', (text) => this.#take(text));
  }

  #take(text) {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop();
    for (const line of lines)
      this.#answers.shift().done(JSON.parse(line));
  }

  #send(request) {
    return new Promise((done, fail) => {
      this.#answers.push({ done, fail });
      this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    });
  }

  /** {status, headers: [[name, value], …], body: text} */
  async call(method, target, { headers = [], body } = {}) {
    const answer = await this.#send({ method, target, headers,
      ...(body === undefined ? {} : { body: Buffer.from(body).toString('base64url') }) });
    return { ...answer, body: Buffer.from(answer.body, 'base64url').toString() };
  }

  /** {events: [[kind, cursor, data], …]}, or the answer that refuses it. */
  subscribe(target, { headers = [], limit = 100, timeoutMs = 500 } = {}) {
    return this.#send({ subscribe: target, headers, limit, timeout_ms: timeoutMs });
  }

  get ended() {
    return this.#ended;
  }

  /** The end of its input: it closes, and has nothing to confess. */
  async close() {
    this.#child.stdin.end();
    const end = await this.#ended;
    assert.deepEqual(end, { code: 0, signal: null }, this.stderr);
    assert.equal(this.stderr, '', 'a library writes nothing unasked');
  }

  async kill() {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

export function startDrive(t, place) {
  const drive = new Drive(place);
  atEnd(t, () => drive.kill());
  return drive;
}
