// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, pick } from './actor.mjs';
import { Log } from './log.mjs';

/** Appends events, one or many at once. The first two share a thread. */
export class Appender extends Actor {
  static resource = 'events';
  static count = 3;
  #promised = new Map(); // text → event, or the known members of it
  #kept = new Map();

  async setUp(number) {
    const make = async () => expectStatus(await this.post('/v1/threads'), 201).id;
    if (number < 2 && !this.scene.shared.has('thread'))
      this.scene.shared.set('thread', await make());
    this.threadId = number < 2 ? this.scene.shared.get('thread') : await make();
    this.log = new Log(this.client, this.threadId);
  }

  async step() {
    const path = `/v1/threads/${this.threadId}/events`;
    const count = pick([1, 1, 1, 2, 30]);
    const events = Array.from({ length: count },
      () => ({ kind: 'progress', text: `event ${uuid()}`, payload: { size: 'x'.repeat(200) } }));
    if (count === 1) {
      const event = expectStatus(await this.post(path, events[0]), 201);
      this.#promised.set(event.text, event);
      return;
    }
    const made = expectStatus(await this.post(path, { events }), 201);
    assert.deepEqual([made.count, made.last_seq - made.first_seq + 1], [count, count]);
    events.forEach((event, i) => this.#promised.set(event.text,
      { ...event, seq: made.first_seq + i }));
  }

  async check(whole) {
    const byText = new Map();
    for (const event of await this.log.read(whole)) {
      assert.equal(byText.has(event.text) && event.kind === 'progress', false, 'doubled');
      byText.set(event.text, event);
    }
    for (const [text, event] of this.#promised)
      this.#kept.set(text, event);
    for (const [text, event] of whole ? this.#kept : this.#promised)
      assert.deepEqual({ ...byText.get(text), ...event }, byText.get(text), `lost: ${text}`);
    this.#promised.clear();
  }
}
