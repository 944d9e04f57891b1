// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { Follower } from '../actors.mjs';
import { eventually, pause, readAll } from '../server.mjs';
import { Actor } from './actor.mjs';

/**
 * Subscribes to a whole tenant, by SSE and by WebSocket, and reconnects with its cursor after each
 * crash. Nothing is pruned in this tenant, so it receives each event of each thread once.
 */
export class Listener extends Actor {
  static resource = 'streams';
  #cursor = 0;
  #last = { id: 0, seqs: new Map() };

  async setUp() {
    this.followers = [new Follower(this.client, 'sse', '/v1/events/stream'),
      new Follower(this.client, 'ws', '/v1/events/ws')];
    for (const follower of this.followers)
      follower.follow();
  }

  async step() {
    await pause(5);
  }

  end() {
    for (const follower of this.followers)
      follower.stop();
  }

  async check(whole) {
    const events = await readAll(this.client, '/v1/events', this.#cursor);
    this.#cursor = events.at(-1)?.id ?? this.#cursor;
    for (const { id, seq, thread_id: thread } of events) {
      assert.ok(id > this.#last.id, 'ids do not rise');
      const before = this.#last.seqs.get(thread) ?? (seq > 1 ? await this.#begin(thread) : 0);
      assert.equal(seq, before + 1, 'one is missing from the stream');
      this.#last.id = id;
      this.#last.seqs.set(thread, seq);
    }
    for (const follower of this.followers) {
      await eventually(() => follower.heard.length >= events.length,
        () => `heard ${follower.heard.length} of ${events.length}; ${follower.condition}`);
      assert.deepEqual(follower.heard.splice(0), events, follower.path);
    }
    if (whole)
      for (const [thread, seq] of this.#last.seqs)
        assert.equal((await this.get(`/v1/threads/${thread}`)).last_seq, seq);
  }

  /** The log of a copy begins where the messages that were copied end. */
  async #begin(thread) {
    return (await this.get(`/v1/threads/${thread}`)).pruned_seq;
  }

  get reconnects() {
    return this.followers.reduce((sum, follower) => sum + follower.reconnects, 0);
  }
}
