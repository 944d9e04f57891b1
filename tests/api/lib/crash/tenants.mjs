// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';

const MOST = 4;

/** Makes tenants with something in them, renames them, gives them keys, deletes them; and
 * changes the settings of its own tenant. */
export class Landlord extends Actor {
  static resource = 'tenants';
  static tenant = 'operator';
  #tenants = new Map(); // id → {tenant, secrets}
  #gone = [];
  #settings = {};

  async step() {
    const id = pick([...this.#tenants.keys()]);
    if (id === undefined || (this.#tenants.size < MOST && chance(0.4)))
      await this.#make();
    else if (chance(0.3))
      await this.#delete(id);
    else if (chance(0.4))
      await this.#giveKey(id);
    else if (chance(0.5))
      await this.#rename(id);
    else
      await this.#configure();
  }

  /** Changes the settings of the operator's own tenant. */
  async #configure() {
    const settings = { written: uuid() };
    const answer = await this.change('PATCH', '/v1/tenant', { settings });
    const now = answer === null ? await this.get('/v1/tenant') : expectStatus(answer, 200);
    if (answer !== null || now.settings.written === settings.written)
      this.#settings = now.settings;
    assert.deepEqual(now.settings, this.#settings);
  }

  async #make() {
    const { tenant, key } = expectStatus(await this.post('/v1/tenants', { name: uuid() }), 201);
    this.#tenants.set(tenant.id, { tenant, secrets: [key.secret].filter(Boolean) });
    this.audited('tenant.created', tenant.id);
    if (key.secret !== null)
      expectStatus(await this.post('/v1/threads', { title: 'inside' },
        { Authorization: `Bearer ${key.secret}` }), 201);
  }

  async #giveKey(id) {
    const { secret } = expectStatus(await this.post(`/v1/tenants/${id}/keys`,
      { name: 'another', scopes: ['threads:read', 'threads:write'] }), 201);
    if (secret !== null)
      this.#tenants.get(id).secrets.push(secret);
  }

  async #rename(id) {
    const known = this.#tenants.get(id);
    const name = uuid();
    const answer = await this.change('PATCH', `/v1/tenants/${id}`,
      { name, plan_tier: pick(['free', 'pro']), quotas: { threads: 1000 } });
    const now = answer === null ? await this.get(`/v1/tenants/${id}`) : expectStatus(answer, 200);
    assert.ok(now.name === name || (answer === null && now.name === known.tenant.name));
    known.tenant = now;
    if (now.name === name)
      this.audited('tenant.renamed', id);
  }

  async #delete(id) {
    const answer = await this.change('DELETE', `/v1/tenants/${id}`);
    if (answer !== null)
      expectStatus(answer, 204);
    else if ((await this.find(`/v1/tenants/${id}`)).status === 200)
      return;
    this.#gone.push(this.#tenants.get(id));
    this.#tenants.delete(id);
    this.audited('tenant.deleted', id);
  }

  async #expect({ tenant, secrets }, isThere) {
    const found = await this.get(`/v1/tenants/${tenant.id}`, isThere ? 200 : 404);
    if (isThere)
      assert.deepEqual(found, tenant);
    for (const secret of secrets)
      expectStatus(await this.scene.server.client(secret).get('/v1/whoami'), isThere ? 200 : 401);
  }

  async check(whole) {
    assert.deepEqual((await this.get('/v1/tenant')).settings, this.#settings);
    for (const known of this.#tenants.values())
      await this.#expect(known, true);
    this.#gone = this.#gone.slice(-100);
    for (const known of whole ? this.#gone : this.#gone.slice(-2))
      await this.#expect(known, false);
  }
}
