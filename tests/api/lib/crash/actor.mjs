// SPDX-License-Identifier: Apache-2.0
// The clients of the crash test. Each works on one resource, repeats requests that got no response
// because the server was killed, and records the acknowledged writes. A resource is added with one
// file here and one line in index.mjs: a class that extends Actor with
//
//   static resource   the name under which its acknowledged writes are counted
//   static tenant     'kept' (nothing is ever pruned or deleted there), 'pruned' or 'operator'
//   static count      the number of instances that work at once; 1 by default
//   setUp(number)     called once, before the first crash; end() after the last
//   step()            some work, through any number of crashes; called repeatedly
//   check(whole)      called after a restart, while no actor works: the writes acknowledged since
//                     the last check are present; if `whole`, all writes ever acknowledged
//
// this.post         a POST with an Idempotency-Key, repeated until there is a response. A request
//                   that was repeated is sent once more: the response must equal the first one.
// this.change       PATCH, DELETE: null if the server died and the outcome is unknown
// this.get          a read that must have this status; this.find accepts any status
// this.audited      adds an entry that must be in the tenant's audit log from now on
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { expectStatus, uuid } from '../server.mjs';

export const pick = (list) => list[Math.floor(Math.random() * list.length)];
export const chance = (part) => Math.random() < part;

const SECRETS = new Set(['secret', 'token', 'ticket']);

/** The response without the members that are shown only once. */
const withoutSecrets = ({ status, body }) =>
  [status, JSON.stringify(body, (name, value) => (SECRETS.has(name) ? null : value))];

export class Actor {
  static tenant = 'kept';
  static count = 1;
  steps = 0;

  constructor(scene) {
    this.scene = scene;
    this.client = scene.clients[this.constructor.tenant];
  }

  async setUp() {}

  end() {}

  async work() {
    for (; !this.scene.resting; this.steps++)
      await this.step();
  }

  /** One sending; null when the server died before it answered. */
  async #send(method, path, body, headers, raw) {
    for (;;) {
      await this.scene.back;
      const { kills } = this.scene;
      const sent = this.client.request(method, path, { body, raw, headers });
      const answer = await sent.catch((error) => {
        if (this.scene.kills === kills && !this.scene.mayBreak(error))
          throw error; // the test did not kill it
        return pause(5, null);
      });
      if (answer?.body?.code === 'outcome_unknown')
        return null;
      if (!['unavailable', 'storage_full'].includes(answer?.body?.code))
        return answer;
      await pause(10); // nothing has happened
    }
  }

  #acknowledge(method, path, answer) {
    if (answer.status < 300)
      this.scene.acknowledge(this.constructor.resource, method, path);
  }

  async post(path, body, headers = {}) {
    const keyed = { ...headers, 'Idempotency-Key': uuid() };
    let answer = await this.#send('POST', path, body, keyed);
    const unanswered = answer === null;
    while (answer === null)
      answer = await this.#send('POST', path, body, keyed);
    this.#acknowledge('POST', path, answer);
    if (unanswered) {
      this.scene.resent++;
      const again = await this.#send('POST', path, body, keyed);
      if (again !== null && answer.status < 300) {
        assert.deepEqual(withoutSecrets(again), withoutSecrets(answer), 'doubled');
        assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
      }
    }
    return answer;
  }

  async change(method, path, body, headers = {}) {
    const answer = await this.#send(method, path, body, headers);
    if (answer === null)
      this.scene.unknown++;
    else
      this.#acknowledge(method, path, answer);
    return answer;
  }

  /** Bytes of an upload, from this offset on; null as of `change`. */
  async append(path, offset, text) {
    const headers = { 'Upload-Offset': String(offset) };
    const answer = await this.#send('PATCH', path, undefined, headers, text);
    if (answer === null)
      this.scene.unknown++;
    else
      this.#acknowledge('PATCH', path, answer);
    return answer;
  }

  /** The response to a GET with any status. */
  async find(path) {
    let answer = null;
    while (answer === null)
      answer = await this.#send('GET', path);
    return answer;
  }

  async get(path, status = 200) {
    return expectStatus(await this.find(path), status);
  }

  audited(action, objectId) {
    this.scene.audited.push({ tenant: this.constructor.tenant, action, objectId });
  }
}
