// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectProblem, expectStatus, readAll } from '../server.mjs';
import { expectSeqs } from '../followers.mjs';
import { Actor } from './actor.mjs';

/** Appends to a thread and prunes it. */
export class Pruner extends Actor {
  static resource = 'pruning';
  static tenant = 'pruned';
  #last = 1; // the first event of a thread is its creation
  #pruned = 0;

  async setUp() {
    this.threadId = expectStatus(await this.post('/v1/threads'), 201).id;
  }

  async step() {
    const path = `/v1/threads/${this.threadId}/events`;
    const events = Array.from({ length: 5 }, (_, i) => ({ kind: 'progress', text: `${i}` }));
    this.#last = expectStatus(await this.post(path, { events }), 201).last_seq;
    const through = this.#last - 3;
    const answer = await this.post(`${path}/prune`, { through_seq: through });
    assert.equal(expectStatus(answer, 200).pruned, through - this.#pruned);
    this.#pruned = through;
    this.audited('events.pruned', this.threadId);
  }

  async check() {
    const thread = await this.get(`/v1/threads/${this.threadId}`);
    assert.deepEqual([thread.last_seq, thread.pruned_seq], [this.#last, this.#pruned]);
    const path = `/v1/threads/${this.threadId}/events`;
    expectSeqs(await readAll(this.client, path, this.#pruned), this.#pruned + 1, this.#last);
    if (this.#pruned > 0)
      expectProblem(await this.client.get(`${path}?after=${this.#pruned - 1}`), 410,
        'events_pruned');
  }
}
