// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';

/** Logs the steps of a run, one or many at once, with messages that grow. Two share a run. */
export class Logger extends Actor {
  static resource = 'steps';
  static count = 2;
  #promised = []; // {number, log_id, mark, messages}
  #kept = [];
  #messages = [];

  async setUp() {
    if (!this.scene.shared.has('logged run')) {
      const thread = expectStatus(await this.post('/v1/threads'), 201).id;
      const run = await this.post(`/v1/threads/${thread}/runs`, { dispatch: 'direct' });
      this.scene.shared.set('logged run', expectStatus(run, 201).id);
    }
    this.runId = this.scene.shared.get('logged run');
  }

  #make() {
    const step = { action_type: pick(['tool_execution', 'compaction']), action_data: {} };
    step.action_data.mark = uuid();
    if (chance(0.2)) {
      if (this.#messages.length === 20) this.#messages = [];
      this.#messages = [...this.#messages, { role: 'user', content: `${uuid()} said` }];
      step.messages_snapshot = this.#messages;
    }
    if (chance(0.3))
      step.usage = { input_tokens: 1 };
    return step;
  }

  async step() {
    const path = `/v1/runs/${this.runId}/steps`;
    const steps = Array.from({ length: pick([1, 1, 2, 30]) }, () => this.#make());
    const body = steps.length === 1 ? steps[0] : { steps };
    const made = expectStatus(await this.post(path, body), 201);
    const refs = made.steps ?? [made];
    assert.equal(refs.length, steps.length);
    refs.forEach(({ number, log_id: logId }, i) => this.#promised.push({
      number, logId, mark: steps[i].action_data.mark, messages: steps[i].messages_snapshot,
    }));
  }

  /** Numbers have no gaps, ids rise with them, and the tokens are those of the steps. */
  async #checkRun() {
    let expected = 1;
    let lastId = 0;
    let tokens = 0;
    let query = 'limit=200';
    for (;;) {
      const page = await this.get(`/v1/runs/${this.runId}/steps?${query}`);
      for (const step of page.data) {
        assert.equal(step.number, expected++);
        assert.ok(step.log_id > lastId, 'log_id rises with the number');
        lastId = step.log_id;
        tokens += step.usage?.input_tokens ?? 0;
      }
      if (!page.has_more) break;
      query = `limit=200&cursor=${page.next_cursor}`;
    }
    assert.equal((await this.get(`/v1/runs/${this.runId}`)).usage.input_tokens, tokens);
  }

  async check(whole) {
    this.#kept.push(...this.#promised);
    const looked = whole ? this.#kept.slice(-200) : this.#promised.slice(-20);
    for (const { number, logId, mark, messages } of looked) {
      const step = await this.get(`/v1/runs/${this.runId}/steps/${number}`);
      assert.deepEqual([step.log_id, step.action_data.mark], [logId, mark], `lost: ${number}`);
      assert.deepEqual(step.messages_snapshot, messages);
    }
    this.#promised = [];
    if (whole) await this.#checkRun();
  }
}
