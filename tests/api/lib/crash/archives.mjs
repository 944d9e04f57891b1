// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, readAll, uuid } from '../server.mjs';
import { Actor } from './actor.mjs';

const EVENTS = 30;

/** Imports the same archive repeatedly: each time a whole thread is created, or none. */
export class Courier extends Actor {
  static resource = 'archives';
  static tenant = 'pruned';
  #mark = uuid();
  #came = []; // ids of threads
  #checked = 0;

  async setUp() {
    const client = this.client;
    const thread = expectStatus(
      await client.post('/v1/threads', { metadata: { courier: this.#mark } }), 201).id;
    const path = `/v1/threads/${thread}`;
    await client.post(`${path}/participants`, { principal: 'user:courier' });
    await client.put(`${path}/files/letter.txt`, undefined,
      { raw: this.#mark, type: 'text/plain' });
    for (let n = 0; n < EVENTS; n++)
      await client.post(`${path}/events`, { kind: 'progress', text: `${n}` });
    const { last_seq: last } = expectStatus(await client.get(path), 200);
    this.events = last;
    this.archive = (await client.get(`${path}/export`)).bytes;
    this.#came.push(thread);
  }

  async step() {
    const answer = await this.post('/v1/imports?ids=remap', this.archive,
      { 'Content-Type': 'application/x-tar' });
    const { objects } = expectStatus(answer, 201);
    this.#came.push(objects.at(-1).to);
    this.audited('archive.imported', objects.at(-1).to);
  }

  async check(whole) {
    const fresh = this.#came.slice(whole ? 0 : this.#checked).slice(-20);
    this.#checked = this.#came.length;
    for (const id of fresh) {
      const events = await readAll(this.client, `/v1/threads/${id}/events`);
      assert.deepEqual(events.map((e) => e.seq), events.map((_, i) => i + 1), 'no gap');
      assert.equal(events.length, this.events);
      const participants = await this.get(`/v1/threads/${id}/participants`);
      assert.equal(participants.data.length, 1);
      assert.equal((await this.find(`/v1/threads/${id}/files/letter.txt`)).text, this.#mark);
    }
    const seen = new Set();
    for (let cursor = ''; cursor !== null;) {
      const page = await this.get(
        `/v1/threads?limit=200&metadata.courier=${this.#mark}${cursor && `&cursor=${cursor}`}`);
      for (const { id } of page.data) seen.add(id);
      cursor = page.next_cursor;
    }
    assert.deepEqual([...seen].sort(), [...this.#came].sort(), 'as many as were acknowledged');
  }
}
