// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';
import { Log } from './log.mjs';

const TURNS = 10;

/** Conversations over the workflow façade. */
export class Memoria extends Actor {
  static resource = 'workflows';
  #id = null;
  #said = [];
  #log = null;
  #ended = []; // conversations since the last check

  async step() {
    const begins = this.#id === null || this.#said.length >= TURNS;
    const user_input = uuid();
    const started = expectStatus(await this.post('/workflow/start',
      begins ? { user_input } : { workflow_id: this.#id, user_input }), 201);
    if (begins) {
      if (this.#id !== null)
        this.#ended.push({ id: this.#id, said: this.#said, log: this.#log });
      this.#id = started.workflow_id;
      this.#said = [];
      this.#log = new Log(this.client, this.#id);
    }
    this.#said.push(user_input);
    await this.#ask(started.run_id);
    for (const verb of chance(0.5) ? ['pause', 'resume'] : [])
      expectStatus(await this.post(`/workflow/${verb}/${this.#id}`), 200);
    if (chance(0.3))
      expectStatus(await this.post(`/workflow/cancel/${this.#id}`), 200);
    else
      await this.#patch(started.run_id, { status: pick(['completed', 'failed']) });
  }

  async #ask(run) {
    await this.#patch(run, { status: 'waiting_for_input', state: { pending_input: 'which?' } });
    const answered = expectStatus(await this.post(`/workflow/input/${this.#id}`, { input: 'all' }),
      200);
    assert.deepEqual([answered.run_id, answered.run.input, answered.run_status],
      [run, 'all', 'running']);
    assert.equal(answered.context.tail.length, this.#said.length);
  }

  async #patch(run, wanted) {
    let now;
    do {
      const answer = await this.change('PATCH', `/v1/runs/${run}`, wanted);
      now = answer === null ? await this.get(`/v1/runs/${run}`) : expectStatus(answer, 200);
    } while (now.status === 'running');
    assert.deepEqual({ ...now, ...wanted }, now, 'half a change');
  }

  async #expect({ id, said, log }, whole) {
    const { context } = await this.get(`/v1/threads/${id}`);
    assert.deepEqual(context.tail.map(({ seq, content }) => [seq, content]),
      said.map((content, i) => [i + 1, content]));
    const { moved } = await log.follow(whole);
    for (const [run, status] of moved)
      assert.equal((await this.get(`/v1/runs/${run}`)).status, status);
  }

  async check(whole) {
    for (const ended of this.#ended)
      await this.#expect(ended, true);
    this.#ended = [];
    if (this.#id !== null)
      await this.#expect({ id: this.#id, said: this.#said, log: this.#log }, whole);
  }
}
