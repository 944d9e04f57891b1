// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus } from '../server.mjs';
import { readSse } from '../followers.mjs';
import { Actor } from './actor.mjs';

const PATH = '/v1/events/stream';
const MOST = 20;

/** Creates tickets, and uses each once: a used ticket stays used through every crash. */
export class Usher extends Actor {
  static resource = 'tickets';
  static tenant = 'pruned';
  #unused = []; // null where the answer with the ticket was lost
  #used = [];

  async step() {
    if (this.#unused.length < MOST) {
      const { ticket } = expectStatus(await this.post('/v1/tickets', { path: PATH, ttl_s: 300 }),
        201);
      this.#unused.push(ticket);
    } else {
      await this.scene.back;
      const ticket = this.#unused.shift();
      if (ticket !== null && await this.#open(ticket) === 200)
        this.#used.push(ticket);
    }
  }

  /** The status of an attempt; null if the server died, and the ticket may be used or not. */
  async #open(ticket) {
    const stream = readSse(this.scene.server.open, `${PATH}?ticket=${ticket}`);
    const answer = await stream.opened.catch(() => null);
    stream.close();
    return answer?.statusCode ?? null;
  }

  async check(whole) {
    const used = whole ? this.#used : this.#used.slice(-3);
    for (const ticket of used)
      assert.equal(await this.#open(ticket), 401, 'a used ticket was accepted');
    const kept = this.#unused.findLast((ticket) => ticket !== null);
    if (kept !== undefined) {
      assert.equal(await this.#open(kept), 200, 'an acknowledged ticket is lost');
      this.#unused.splice(this.#unused.indexOf(kept), 1);
      this.#used.push(kept);
    }
  }
}
