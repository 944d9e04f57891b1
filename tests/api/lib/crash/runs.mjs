// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';
import { Log, isFinal } from './log.mjs';

/** How a run that its starter works on gets on: by a verb of people, or by an engine's PATCH. */
const WAYS = {
  running: ['waiting_for_input', 'pause', 'cancel', 'paused', 'completed', 'failed', 'cancelled'],
  waiting_for_input: ['input', 'running', 'pause', 'cancel', 'failed'],
  paused: ['resume', 'cancel', 'cancelled'],
};
const VERBS = { input: { input: 'yes' }, pause: undefined, resume: undefined,
  cancel: { reason: 'enough' } };

/**
 * Moves direct runs along the table, and retries some that failed or were cancelled; each start
 * interrupts the run that was left unfinished. A run has its reply if and only if it is completed.
 */
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
    for (let moves = 0; moves < 6 && run.status !== 'completed'; moves++) {
      if (!isFinal(run.status))
        run = await this.#move(run, pick(WAYS[run.status]));
      else if (chance(0.3))
        run = await this.#retry(run);
      this.#promised.set(run.id, run);
    }
    this.#unfinished = isFinal(run.status) ? null : run.id;
  }

  async #move(run, way) {
    return way in VERBS
      ? expectStatus(await this.post(`/v1/runs/${run.id}/${way}`, VERBS[way]), 200)
      : this.#patch(run, way);
  }

  async #retry({ id, user_input }) {
    const again = expectStatus(await this.post(`/v1/runs/${id}/retry`, {}), 201);
    assert.deepEqual([again.retry_of_run_id, again.user_input, again.status],
      [id, user_input, 'running']);
    return again;
  }

  async #patch(run, status) {
    const wanted = { status, state: { step: uuid() },
      ...(status === 'completed' ? { final_output: { text: uuid() } } : {}) };
    const answer = await this.change('PATCH', `/v1/runs/${run.id}`,
      { ...wanted, ...(status === 'completed' ? { reply: true } : {}) });
    const now = answer === null ? await this.get(`/v1/runs/${run.id}`) : expectStatus(answer, 200);
    if (answer === null && now.version === run.version)
      assert.equal(now.status, run.status, 'half a change');
    else
      assert.deepEqual({ ...now, ...wanted }, now, 'half a change');
    return now;
  }

  /** The texts that the assistant said in the run. */
  async #replies(id) {
    const { data } = await this.get(`/v1/threads/${this.threadId}/messages?run_id=${id}`);
    return data.filter((m) => m.sender_role === 'assistant').map((m) => m.content);
  }

  async check(whole) {
    const { moved } = await this.log.follow(whole);
    for (const [id, run] of this.#promised)
      this.#kept.set(id, run);
    for (const [id, run] of whole ? this.#kept : this.#promised) {
      const now = await this.get(`/v1/runs/${id}`);
      assert.deepEqual({ ...now, ...run }, now, 'lost');
      assert.deepEqual(await this.#replies(id),
        now.status === 'completed' ? [now.final_output.text] : [], 'a reply is lost or repeated');
      assert.ok(moved.get(id) === now.status || !moved.has(id), 'the log tells another story');
      moved.delete(id);
    }
    assert.deepEqual([...moved], [], 'runs that nobody started');
    this.#promised.clear();
  }
}
