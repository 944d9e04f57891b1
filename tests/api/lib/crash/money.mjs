// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor } from './actor.mjs';

const COST = 0.000018; // of a token in and a token out, at 3 and 15 for a million
const CALL = { model: 'crash-model', input_tokens: 1, output_tokens: 1 };

/** Tells what a run used, prices models, judges and binds notebooks; counts every call itself. */
export class Bookkeeper extends Actor {
  static resource = 'usage';
  #calls = 0;
  #notebooks = new Map(); // id → title
  #evals = new Map(); // id → name

  async setUp() {
    const agent = expectStatus(await this.post('/v1/agents', { name: uuid() }), 201).id;
    this.thread = expectStatus(await this.post('/v1/threads', {}), 201).id;
    const body = { dispatch: 'direct', agent_id: agent };
    const run = expectStatus(await this.post(`/v1/threads/${this.thread}/runs`, body), 201).id;
    this.paths = [`/v1/runs/${run}/usage`, `/v1/agents/${agent}/runs/${run}/usage`];
    await this.#settle('PUT', '/v1/prices/crash-model', { input: 3, output: 15 });
  }

  /** Repeats the request until there is a response. */
  async #settle(method, path, body) {
    let answer = null;
    while (answer === null) answer = await this.change(method, path, body);
    return answer;
  }

  async step() {
    for (const path of this.paths) {
      const { total_cost: cost } = expectStatus(await this.post(path, CALL), 201);
      assert.equal(cost, COST);
      this.#calls++;
    }
    const spare = '/v1/prices/crash-spare';
    await this.#settle('PUT', spare, { input: 1, output: 1 });
    assert.ok([204, 404].includes((await this.#settle('DELETE', spare)).status));
    await this.#judge();
    await this.#bind();
  }

  async #judge() {
    const body = { name: uuid(), eval_type: 'crash', score: 0.5 };
    const { id } = expectStatus(await this.post('/v1/evals', body), 201);
    const name = uuid();
    expectStatus(await this.#settle('PATCH', `/v1/evals/${id}`, { name }), 200);
    this.#evals.set(id, name);
    const [first] = this.#evals.keys();
    if (this.#evals.size < 10) return;
    assert.ok([204, 404].includes((await this.#settle('DELETE', `/v1/evals/${first}`)).status));
    this.#evals.delete(first);
  }

  async #bind() {
    const { id } = expectStatus(await this.post('/v1/notebooks', { title: 'new' }), 201);
    const title = uuid();
    const path = `/v1/notebooks/${id}`;
    expectStatus(await this.#settle('PATCH', path, { title }), 200);
    expectStatus(await this.post(`${path}/sessions`, { thread_id: this.thread }), 201);
    const session = `${path}/sessions/${this.thread}`;
    assert.ok([204, 404].includes((await this.#settle('DELETE', session)).status));
    this.#notebooks.set(id, title);
    const [first] = this.#notebooks.keys();
    if (this.#notebooks.size < 10) return;
    assert.ok([204, 404].includes((await this.#settle('DELETE', `/v1/notebooks/${first}`)).status));
    this.#notebooks.delete(first);
  }

  async check() {
    const { total } = await this.get(this.paths[0]);
    assert.equal(total.llm_calls, this.#calls, 'calls are lost or doubled');
    assert.equal(total.unpriced_calls, 0);
    const days = await this.get('/v1/usage?group_by=model&model=crash-model');
    assert.equal(days.totals.llm_calls, this.#calls, 'the days tell of other calls than the run');
    assert.equal(days.totals.cost_usd, total.total_cost);
    for (const [id, title] of this.#notebooks)
      assert.equal((await this.get(`/v1/notebooks/${id}`)).title, title);
    for (const [id, name] of this.#evals)
      assert.equal((await this.get(`/v1/evals/${id}`)).name, name);
  }
}
