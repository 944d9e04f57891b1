// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, token, uuid } from '../server.mjs';
import { Actor, chance } from './actor.mjs';
import { Log } from './log.mjs';

// Longer than any crash: no lease may end here.
const LEASE_MS = 600_000;

/** Queues runs, claims them, keeps the lease, writes under it, gives them back, completes them. */
export class Worker extends Actor {
  static resource = 'claimed runs';
  static count = 2;
  #completed = new Map(); // id → as it was answered
  #kept = new Map();
  #fence = 0;

  async setUp(number) {
    this.name = `worker ${number}`;
    this.threadId = expectStatus(await this.post('/v1/threads', { run_policy: 'enqueue' }), 201).id;
    this.log = new Log(this.client, this.threadId);
  }

  async #claim(id) {
    const run = expectStatus(await this.post('/v1/runs/claim',
      { worker: this.name, thread_id: this.threadId, lease_ms: LEASE_MS }), 200);
    assert.deepEqual([run.id, run.status], [id, 'running']);
    assert.ok(run.fence > this.#fence, 'a token of before');
    this.#fence = run.fence;
    return run;
  }

  async step() {
    const { id } = expectStatus(await this.post(`/v1/threads/${this.threadId}/runs`, {}), 201);
    let run = await this.#claim(id);
    const { headers } = token(run);
    if (chance(0.4))
      expectStatus(await this.post(`/v1/runs/${id}/heartbeat`, { lease_ms: LEASE_MS }, headers),
        200);
    expectStatus(await this.post(`/v1/threads/${this.threadId}/events`,
      { kind: 'progress', text: uuid(), run_id: id }, headers), 201);
    if (chance(0.3)) {
      const error = chance(0.5) ? { error: { code: 'busy' } } : undefined;
      const { failed_attempts: failed } = run;
      expectStatus(await this.post(`/v1/runs/${id}/release`, error, headers), 200);
      run = await this.#claim(id);
      assert.deepEqual([run.attempt_count, run.failed_attempts],
        [2, failed + (error === undefined ? 0 : 1)]);
    }
    await this.#complete(run);
  }

  /** A PATCH has no idempotency key: what is unknown is asked. */
  async #complete(run) {
    const wanted = { status: 'completed', final_output: uuid() };
    for (;;) {
      const answer = await this.change('PATCH', `/v1/runs/${run.id}`, wanted, token(run).headers);
      const now = answer === null ? await this.get(`/v1/runs/${run.id}`)
        : expectStatus(answer, 200);
      if (now.status === 'running')
        continue;
      assert.deepEqual({ ...now, ...wanted }, now, 'half a change');
      this.#completed.set(run.id, now);
      return;
    }
  }

  async check(whole) {
    const { moved, events } = await this.log.follow(whole);
    const ends = events.filter(({ payload }) =>
      payload?.change === 'run.status' && payload.to === 'completed');
    for (const [id, run] of this.#completed)
      this.#kept.set(id, run);
    const promised = whole ? this.#kept : this.#completed;
    for (const [id, run] of promised) {
      assert.deepEqual(await this.get(`/v1/runs/${id}`), run, 'lost');
      const { data } = await this.get(`/v1/runs/${id}/attempts`);
      assert.deepEqual([data.length, data.at(-1).outcome], [run.attempt_count, 'completed']);
      assert.equal(moved.get(id), 'completed');
    }
    assert.equal(ends.length, promised.size, 'completed twice, or by nobody');
    assert.equal(moved.size, promised.size, 'runs that nobody started');
    assert.ok(events.every((event) => event.payload?.reason !== 'lease_expired'));
    this.#completed.clear();
  }
}
