// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';
import { isFinal } from './log.mjs';

const ANY = { 'If-Match': '*' };
const TOOLS = 3;

/** Runs that wait for tools and get their results at once; their messages become history. */
export class Engine extends Actor {
  static resource = 'resumption';
  #entries = []; // of the history, oldest first: { run, messages, extras }
  #messages = []; // of the resumption
  #step = 0;

  async setUp() {
    this.thread = expectStatus(await this.post('/v1/threads', {}), 201).id;
    this.agent = expectStatus(await this.post('/v1/agents', { name: uuid() }), 201).id;
    this.audited('agent.created', this.agent);
    this.path = `/v1/threads/${this.thread}/resumption`;
    const made = await this.change('PUT', this.path, { system_prompt: 'x', model: 'm' }, ANY);
    if (made === null && (await this.find(this.path)).status === 404) await this.setUp();
  }

  async step() {
    const run = expectStatus(await this.post(`/v1/threads/${this.thread}/runs`,
      { dispatch: 'direct', agent_id: this.agent, user_input: uuid() }), 201);
    const said = [{ role: 'user', content: uuid() }, { role: 'assistant', content: uuid() }];
    expectStatus(await this.post(`${this.path}/messages`, { append: said, append_history: said }),
      200);
    this.#messages.push(...said);
    if (chance(0.7)) await this.#waitForTools(run);
    await this.#finish(run);
    this.#entries.push({ run: run.id, messages: said, extras: {} });
    if (chance(0.5)) await this.#note(this.#entries.length);
    if (chance(0.3)) await this.#compact();
  }

  async #waitForTools(run) {
    const path = pick([`/v1/runs/${run.id}`, `/v1/agents/${this.agent}/runs/${run.id}`]);
    const ids = Array.from({ length: TOOLS }, () => uuid());
    this.#step += 1;
    expectStatus(await this.post(`${path}/tools`, { current_step: this.#step,
      tools: ids.map((id) => ({ tool_use_id: id, name: 'x', side: 'frontend' })) }), 200);
    const answers = await Promise.all(ids.map((id) =>
      this.post(`${path}/tool-results`, { results: [{ tool_use_id: id, content: id }] })));
    const resumed = answers.filter((answer) => expectStatus(answer, 200).resumed);
    assert.equal(resumed.length, 1, 'the run goes on exactly once');
    const now = await this.get(`/v1/runs/${run.id}`);
    assert.deepEqual(now.input.tool_results.map((r) => r.content), ids, 'every result is there');
  }

  async #finish(run) {
    for (;;) {
      const answer = await this.change('PATCH', `/v1/runs/${run.id}`, { status: 'completed' });
      const now = answer === null ? await this.get(`/v1/runs/${run.id}`)
        : expectStatus(answer, 200);
      if (isFinal(now.status)) return;
    }
  }

  async #note(number) {
    const [entry, extras] = [this.#entries[number - 1], { note: uuid() }];
    const path = `/v1/threads/${this.thread}/history/${number}`;
    const answer = await this.change('PATCH', path, { extras });
    const now = answer === null ? await this.get(path) : expectStatus(answer, 200);
    const known = [JSON.stringify(extras), JSON.stringify(entry.extras)];
    assert.ok(known.includes(JSON.stringify(now.extras)), 'half a change');
    entry.extras = now.extras;
  }

  async #compact() {
    const messages = this.#messages.slice(-2);
    const whole = chance(0.5);
    const body = { messages, current_step: this.#step,
      ...(whole ? { system_prompt: 'x', model: 'm' } : {}) };
    const answer = await this.change(whole ? 'PUT' : 'PATCH', this.path, body, ANY);
    if (answer !== null) expectStatus(answer, 200);
    const now = await this.get(this.path);
    assert.ok([messages.length, this.#messages.length].includes(now.messages.length));
    this.#messages = now.messages;
  }

  async check() {
    const { messages, conversation_history: kept } = await this.get(this.path);
    assert.deepEqual(messages, this.#messages);
    assert.deepEqual(kept, [], 'it went to the entry');
    const page = await this.get(`/v1/threads/${this.thread}/history?limit=20&include=messages`);
    const last = this.#entries.slice(-20).reverse();
    assert.deepEqual(page.data.map((h) => [h.sequence_number, h.run_id, h.messages, h.extras]),
      last.map((entry, i) =>
        [this.#entries.length - i, entry.run, entry.messages, entry.extras]));
  }
}
