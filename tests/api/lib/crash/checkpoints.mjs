// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';

const KEPT = 5;

/** Stores checkpoints of one line, forks from some, prunes, copies, and deletes branches. */
export class Cartographer extends Actor {
  static resource = 'checkpoints';
  #line = []; // {id, values, writes} in the order in which they were put
  #copies = new Map(); // id → values, in the other thread

  async setUp() {
    this.agent = expectStatus(await this.post('/v1/agents', { name: uuid() }), 201).id;
    this.thread = expectStatus(await this.post('/v1/threads', {}), 201).id;
    this.other = expectStatus(await this.post('/v1/threads', {}), 201).id;
    const run = { agent_id: this.agent, dispatch: 'direct' };
    this.run = expectStatus(await this.post(`/v1/threads/${this.thread}/runs`, run), 201).id;
    await this.#finish(this.run);
    this.path = `/v1/threads/${this.thread}/checkpoints`;
  }

  async #finish(run) {
    for (;;) {
      const answer = await this.change('PATCH', `/v1/runs/${run}`, { status: 'completed' });
      if (answer !== null && [200, 409].includes(answer.status)) return;
    }
  }

  async step() {
    if (this.#line.length < 2 || chance(0.5)) await this.#put();
    else if (chance(0.4)) await this.#write();
    else if (chance(0.3)) await this.#replay();
    else if (chance(0.3)) await this.#prune();
    else if (chance(0.5)) await this.#copy();
    else await this.#discard();
  }

  async #put() {
    const last = this.#line.at(-1);
    const said = { role: 'user', content: `${uuid()} said` };
    const messages = [...(last?.values.messages ?? []), said].slice(-30);
    const isGrown = last !== undefined && messages.length === last.values.messages.length + 1;
    const n = (last?.values.n ?? 0) + 1;
    const values = { messages, kept: 'as it was', n };
    const body = {
      id: uuid(), expected_latest: last?.id ?? null, run_id: this.run,
      channel_versions: { messages: n, kept: 1, n },
    };
    if (isGrown && chance(0.5))
      body.changes = {
        append: { messages: [said] }, set: { n }, inherit: pick(['all', 'versions']),
      };
    else
      body.channel_values = values;
    expectStatus(await this.post(this.path, body), 201);
    this.#line.push({ id: body.id, values, writes: new Map() });
  }

  async #write() {
    const checkpoint = pick(this.#line);
    const task = pick(['a', 'b']);
    const value = uuid();
    const path = `${this.path}/${checkpoint.id}/writes`;
    const body = { task_id: task, writes: [{ channel: 'messages', value }] };
    const answer = await this.change('PUT', path, body);
    if (answer !== null)
      assert.equal(expectStatus(answer, 200).written, checkpoint.writes.has(task) ? 0 : 1);
    const { writes } = await this.get(path);
    for (const write of writes) {
      assert.ok([checkpoint.writes.get(write.task_id) ?? value, value].includes(write.value));
      if (!checkpoint.writes.has(write.task_id)) checkpoint.writes.set(write.task_id, write.value);
    }
    assert.ok(answer === null || checkpoint.writes.has(task), 'an acknowledged write is gone');
  }

  async #replay() {
    const source = pick(this.#line.filter((k) => !k.isReplayed));
    if (source === undefined) return;
    const base = pick([`/v1/runs/${this.run}`, `/v1/agents/${this.agent}/runs/${this.run}`]);
    const made = expectStatus(await this.post(`${base}/replay`,
      { checkpoint_id: source.id, modified_state: { n: 0 }, dispatch: 'direct' }), 201);
    this.#line.push({
      id: made.checkpoint_id, values: { ...source.values, n: 0 }, writes: new Map(),
      isReplayed: true,
    });
    await this.#finish(made.new_run_id);
  }

  async #prune() {
    const { pruned } = expectStatus(
      await this.post(`${this.path}/prune`, { keep_latest: KEPT }), 200);
    assert.equal(pruned, Math.max(0, this.#line.length - KEPT));
    this.#line = this.#line.slice(-KEPT);
    if (pruned > 0) this.audited('checkpoints.pruned', this.thread);
  }

  async #copy() {
    const { copied } = expectStatus(
      await this.post(`${this.path}/copy`, { to_thread_id: this.other }), 200);
    const fresh = this.#line.filter(({ id }) => !this.#copies.has(id));
    assert.equal(copied, fresh.length);
    for (const { id, values } of fresh) this.#copies.set(id, values);
  }

  /** Creates and deletes a namespace. */
  async #discard() {
    const body = { namespace: 'scratch', channel_values: { x: uuid() } };
    expectStatus(await this.post(this.path, body), 201);
    for (;;)
      if (await this.change('DELETE', `${this.path}?namespace=scratch`) !== null) break;
    assert.deepEqual((await this.get(`${this.path}?namespace=scratch`)).data, []);
    this.audited('checkpoints.pruned', this.thread);
  }

  async check() {
    const { data } = await this.get(`${this.path}?namespace=&limit=200&include=all`);
    const newest = this.#line.slice(-data.length).reverse();
    assert.deepEqual(data.map((k) => k.id), newest.map((k) => k.id));
    data.forEach((k, i) => {
      assert.deepEqual(k.channel_values, newest[i].values);
      const writes = k.pending_writes.map((w) => [w.task_id, w.value]);
      assert.deepEqual(new Map(writes), newest[i].writes);
    });
    for (const [id, values] of [...this.#copies].slice(-10)) {
      const copy = await this.get(`/v1/threads/${this.other}/checkpoints/${id}`);
      assert.deepEqual(copy.channel_values, values);
    }
  }
}
