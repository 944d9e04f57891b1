// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, pick } from './actor.mjs';
import { isFinal } from './log.mjs';

const LIFE = ['initializing', 'planning', 'executing', 'reflecting', 'completed'];

/** Runs of an agent that pass through their phases, with turns; reported on both paths. */
export class Player extends Actor {
  static resource = 'turns';
  #promised = []; // {run, turns: [{id, message}]}
  #kept = [];

  async setUp() {
    this.agent = expectStatus(await this.post('/v1/agents', { name: uuid() }), 201).id;
    this.audited('agent.created', this.agent);
  }

  async step() {
    const started = await this.post(`/v1/agents/${this.agent}/runs`,
      { input: { message: uuid() }, dispatch: 'direct' });
    const run = expectStatus(started, 201).run_id;
    const paths = [`/v1/runs/${run}`, `/v1/agents/${this.agent}/runs/${run}`];
    const turns = [];
    for (const to of LIFE) {
      if (to === 'reflecting')
        turns.push(await this.#play(pick(paths)), await this.#play(pick(paths)));
      expectStatus(await this.post(`${pick(paths)}/phase`, { to }), 200);
    }
    this.#promised.push({ run, turns });
  }

  async #play(path) {
    const message = uuid();
    const body = { input: { message: 'go' }, usage: { tokens_in: 3, tokens_out: 1 } };
    const turn = expectStatus(await this.post(`${path}/turns`, body), 201);
    for (;;) {
      const answer = await this.change('PATCH', `${path}/turns/${turn.turn_id}`,
        { status: 'complete', output: { message } });
      const now = answer === null ? await this.get(`${path}/turns/${turn.turn_id}`)
        : expectStatus(answer, 200);
      if (now.status === 'complete') return { id: turn.turn_id, message };
    }
  }

  async #checkRun({ run, turns }) {
    const now = await this.get(`/v1/runs/${run}`);
    assert.ok(isFinal(now.status), `lost: ${run} is ${now.status}`);
    assert.deepEqual([now.phase, now.turn_count, now.usage.input_tokens], ['completed', 2, 6]);
    const log = await this.get(`/v1/runs/${run}/phases`);
    assert.deepEqual(log.data.map((p) => p.to), LIFE);
    const page = await this.get(`/v1/runs/${run}/turns?include=documents`);
    assert.deepEqual(
      page.data.map((t) => [t.number, t.turn_id, t.output.message]),
      turns.map(({ id, message }, i) => [i + 1, id, message]));
  }

  async check(whole) {
    this.#kept.push(...this.#promised);
    for (const promise of whole ? this.#kept.slice(-50) : this.#promised.slice(-5))
      await this.#checkRun(promise);
    this.#promised = [];
  }
}
