// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';

const MOST = 6;

/** Makes keys and revokes them. */
export class Locksmith extends Actor {
  static resource = 'keys';
  static tenant = 'pruned';
  #keys = new Map(); // id → {key, secret}; the secret is null where the answer with it was lost
  #revoked = [];

  async step() {
    const id = pick([...this.#keys.keys()]);
    if (id !== undefined && (this.#keys.size >= MOST || chance(0.3)))
      await this.#revoke(id);
    else
      await this.#make();
  }

  async #make() {
    const { secret, ...key } = expectStatus(await this.post('/v1/keys',
      { name: uuid(), scopes: ['threads:read'], rate_limit_per_minute: 1_000_000 }), 201);
    this.#keys.set(key.id, { key, secret });
    this.audited('key.created', key.id);
  }

  async #revoke(id) {
    const answer = await this.change('DELETE', `/v1/keys/${id}`);
    const now = answer === null ? await this.get(`/v1/keys/${id}`) : expectStatus(answer, 200);
    if (answer === null && now.revoked_at === null)
      return;
    assert.notEqual(now.revoked_at, null);
    this.#revoked.push({ ...this.#keys.get(id), key: now });
    this.#keys.delete(id);
    this.audited('key.revoked', id);
  }

  async #expect({ key, secret }, status) {
    assert.deepEqual(await this.get(`/v1/keys/${key.id}`), key);
    if (secret !== null)
      expectStatus(await this.scene.server.client(secret).get('/v1/whoami'), status);
  }

  async check(whole) {
    for (const known of this.#keys.values())
      await this.#expect(known, 200);
    this.#revoked = this.#revoked.slice(-100);
    for (const known of whole ? this.#revoked : this.#revoked.slice(-2))
      await this.#expect(known, 401);
  }
}
