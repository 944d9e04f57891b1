// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, pick } from './actor.mjs';
import { Log, isFinal } from './log.mjs';

/** How a run that its starter works on gets on: by a verb of people, or by an engine's PATCH. */
const WAYS = {
  running: ['waiting_for_input', 'pause', 'cancel', 'paused', 'completed', 'failed', 'cancelled'],
  waiting_for_input: ['input', 'running', 'pause', 'cancel', 'failed'],
  paused: ['resume', 'cancel', 'cancelled'],
};
const VERBS = { input: { input: 'yes' }, pause: undefined, resume: undefined,
  cancel: { reason: 'enough' } };

/** Moves direct runs along the table; each start interrupts what was left unfinished. */
export class Mover extends Actor {
  static resource = 'runs';
  #promised = new Map(); // id → the run as it was answered last, or as much as is known of it
  #kept = new Map();
  #unfinished = null;

  async setUp() {
    this.threadId = expectStatus(await this.post('/v1/threads'), 201).id;
    this.log = new Log(this.client, this.threadId);
  }

  async step() {
    const user_input = uuid();
    let run = expectStatus(await this.post(`/v1/threads/${this.threadId}/runs`,
      { dispatch: 'direct', policy: 'interrupt', user_input }), 201);
    if (this.#unfinished !== null)
      this.#promised.set(this.#unfinished, { status: 'cancelled' });
    this.#promised.set(run.id, run);
    for (let moves = 0; moves < 6 && !isFinal(run.status); moves++) {
      const way = pick(WAYS[run.status]);
      run = way in VERBS
        ? expectStatus(await this.post(`/v1/runs/${run.id}/${way}`, VERBS[way]), 200)
        : await this.#patch(run, way);
      this.#promised.set(run.id, run);
    }
    this.#unfinished = isFinal(run.status) ? null : run.id;
  }

  async #patch(run, status) {
    const wanted = { status, state: { step: uuid() },
      ...(status === 'completed' ? { final_output: { text: uuid() } } : {}) };
    const answer = await this.change('PATCH', `/v1/runs/${run.id}`, wanted);
    const now = answer === null ? await this.get(`/v1/runs/${run.id}`) : expectStatus(answer, 200);
    if (answer === null && now.version === run.version)
      assert.equal(now.status, run.status, 'half a change');
    else
      assert.deepEqual({ ...now, ...wanted }, now, 'half a change');
    return now;
  }

  async check(whole) {
    const { moved } = await this.log.follow(whole);
    for (const [id, run] of this.#promised)
      this.#kept.set(id, run);
    for (const [id, run] of whole ? this.#kept : this.#promised) {
      const now = await this.get(`/v1/runs/${id}`);
      assert.deepEqual({ ...now, ...run }, now, 'lost');
      assert.ok(moved.get(id) === now.status || !moved.has(id), 'the log tells another story');
      moved.delete(id);
    }
    assert.deepEqual([...moved], [], 'runs that nobody started');
    this.#promised.clear();
  }
}
