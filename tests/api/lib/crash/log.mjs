// SPDX-License-Identifier: Apache-2.0
// The log of a thread up to the last read, and the status changes of the thread's runs in it.
import assert from 'node:assert/strict';
import { expectSeqs } from '../followers.mjs';
import { expectStatus, readAll } from '../server.mjs';

const TABLE = {
  queued: ['running', 'paused', 'failed', 'cancelled'],
  running: ['queued', 'waiting_for_input', 'paused', 'completed', 'failed', 'cancelled'],
  waiting_for_input: ['queued', 'running', 'paused', 'failed', 'cancelled'],
  paused: ['queued', 'running', 'waiting_for_input', 'failed', 'cancelled'],
  completed: [], failed: [], cancelled: [],
};

export const isFinal = (status) => TABLE[status].length === 0;

export class Log {
  #seq = 0;
  #statuses = new Map(); // run → what the log says of it

  constructor(client, threadId) {
    this.client = client;
    this.threadId = threadId;
  }

  /** Reads the events since the last call, or all: without gaps, up to the thread's last_seq. */
  async read(whole) {
    const { last_seq: last } = expectStatus(
      await this.client.get(`/v1/threads/${this.threadId}`), 200);
    const after = whole ? 0 : this.#seq;
    const events = await readAll(this.client, `/v1/threads/${this.threadId}/events`, after);
    expectSeqs(events, after + 1, last);
    this.#seq = last;
    return events;
  }

  /**
   * Reads the log and checks each run against the transition table. Returns the status of changed
   * runs.
   */
  async follow(whole) {
    if (whole)
      this.#statuses.clear();
    const moved = new Map();
    const events = await this.read(whole);
    for (const { run_id: id, payload } of events) {
      if (payload?.change !== 'run.status')
        continue;
      this.#move(id, payload);
      moved.set(id, payload.to);
    }
    return { moved, events };
  }

  #move(id, { from, to }) {
    const isFirst = !this.#statuses.has(id);
    if (isFirst && from === undefined)
      assert.equal(to, 'queued'); // it waits for a worker; a direct one runs at once
    else {
      assert.equal(from, isFirst ? 'queued' : this.#statuses.get(id));
      assert.ok(TABLE[from].includes(to), `${from} → ${to}`);
    }
    this.#statuses.set(id, to);
  }
}
