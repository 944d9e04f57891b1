// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor } from './actor.mjs';

const at = (key) => `/v1/store/items?namespace=crash.kept&key=${key}`;

/** Puts, replaces and deletes items of the store, one by one and in batches. */
export class Collector extends Actor {
  static resource = 'store';
  #items = new Map(); // key → value, or null once it is deleted
  #since = new Set(); // keys that were changed after the last check

  #note(key, value) {
    this.#items.set(key, value);
    this.#since.add(key);
  }

  /** Repeats the request until there is a response. */
  async #settle(method, path, body) {
    let answer = null;
    while (answer === null) answer = await this.change(method, path, body);
    return answer;
  }

  async #put(key) {
    const value = { word: `w${uuid().replaceAll('-', '')}` };
    const body = { namespace: ['crash', 'kept'], key, value };
    const item = expectStatus(await this.#settle('PUT', '/v1/store/items', body),
      this.#items.get(key) ? 200 : 201);
    assert.deepEqual(item.value, value);
    this.#note(key, value);
  }

  async step() {
    const key = uuid();
    const body = { namespace: ['crash', 'kept'], key, value: { word: 'first' } };
    // A server that died before it answered may have put it: then this one is not the first.
    assert.ok([200, 201].includes((await this.#settle('PUT', '/v1/store/items', body)).status));
    this.#note(key, body.value);
    await this.#put(key);
    const [one, two] = [uuid(), uuid()];
    const operations = [one, two].map((k) => ({ op: 'put', namespace: body.namespace, key: k,
      value: { word: k } }));
    const { results } = expectStatus(await this.post('/v1/store/batch', {
      operations: [...operations, { op: 'delete', namespace: body.namespace, key }] }), 200);
    assert.deepEqual(results.map((r) => r?.key ?? null), [one, two, null]);
    this.#note(key, null);
    for (const k of [one, two]) this.#note(k, { word: k });
    assert.ok([204, 404].includes((await this.#settle('DELETE', at(two))).status));
    this.#note(two, null);
  }

  async check(whole) {
    for (const key of whole ? this.#items.keys() : this.#since) {
      const value = this.#items.get(key);
      const item = await this.get(at(key), value === null ? 404 : 200);
      if (value !== null) assert.deepEqual(item.value, value);
    }
    this.#since.clear();
  }
}
