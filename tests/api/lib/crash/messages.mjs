// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';

/** Sends messages, one or many at once, edits and deletes them, and looks for their words. */
export class Correspondent extends Actor {
  static resource = 'messages';
  #messages = new Map(); // id → as it was answered last
  #changed = new Set();

  async setUp() {
    this.path = `/v1/threads/${expectStatus(await this.post('/v1/threads'), 201).id}/messages`;
  }

  async step() {
    const id = pick([...this.#messages.keys()].slice(-20));
    if (id === undefined || chance(0.6))
      await this.#send();
    else if (this.#messages.get(id).deleted_at === null)
      await (chance(0.7) ? this.#edit(id) : this.#delete(id));
  }

  #keep(message) {
    const { responses, ...rest } = message;
    this.#messages.set(message.id, rest);
    this.#changed.add(message.id);
  }

  async #send() {
    const words = () => ({ content: `word ${uuid()}`, metadata: { debug: { id: uuid() } } });
    if (chance(0.7)) {
      this.#keep(expectStatus(await this.post(this.path, words()), 201));
      return;
    }
    const messages = [words(), words(), words()];
    const made = expectStatus(await this.post(this.path, { messages }), 201);
    assert.deepEqual([made.count, made.last_seq - made.first_seq + 1 >= 3], [3, true]);
    for (const [i, id] of made.ids.entries()) {
      const message = await this.get(`${this.path}/${id}`);
      assert.equal(message.content, messages[i].content);
      this.#keep(message);
    }
  }

  async #edit(id) {
    const before = this.#messages.get(id);
    const content = `other ${uuid()}`;
    const answer = await this.change('PATCH', `${this.path}/${id}`, { content },
      { 'If-Match': `"${before.version}"` });
    const after = answer === null ? await this.get(`${this.path}/${id}`)
      : expectStatus(answer, 200);
    if (after.version !== before.version)
      assert.deepEqual([after.version, after.content], [before.version + 1, content],
        'half a change');
    else
      assert.equal(after.content, before.content, 'half a change');
    this.#keep(after);
  }

  async #delete(id) {
    const before = this.#messages.get(id);
    await this.change('DELETE', `${this.path}/${id}`);
    const after = await this.get(`${this.path}/${id}`);
    if (after.version !== before.version)
      assert.deepEqual([after.version, after.content], [before.version + 1, ''], 'half deleted');
    else
      assert.equal(after.content, before.content, 'half deleted');
    this.#keep(after);
  }

  /** It is found by its own word, and what was deleted is not. */
  async #find(message) {
    const word = message.content.split(' ').at(-1);
    if (message.deleted_at !== null)
      return;
    const hits = await this.get(`${this.path}/search?q=${encodeURIComponent(`"${word}"`)}`);
    assert.deepEqual(hits.data.map((hit) => hit.id), [message.id], 'lost to search');
  }

  async #readAll() {
    const all = [];
    for (let cursor = '0', more = true; more; ) {
      const page = await this.get(`${this.path}?limit=200&after=${cursor}`);
      all.push(...page.data);
      ({ has_more: more, next_cursor: cursor } = page);
    }
    return all;
  }

  async check(whole) {
    for (const id of whole ? this.#messages.keys() : this.#changed) {
      const { responses, ...message } = await this.get(`${this.path}/${id}`);
      assert.deepEqual(message, this.#messages.get(id));
      await this.#find(message);
      const versions = await this.get(`${this.path}/${id}/versions`);
      assert.equal(versions.data.length, message.version - 1, 'the history is whole');
    }
    this.#changed.clear();
    if (!whole)
      return;
    const all = await this.#readAll();
    assert.deepEqual(all, [...this.#messages.values()].sort((a, b) => a.seq - b.seq),
      'lost or doubled');
  }
}
