// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';

const AGENTS = 4;

/** Makes agents, and writes their documents, their configuration and their storage. */
export class Archivist extends Actor {
  static resource = 'agents';
  #agents = new Map(); // id → { agent, things: path → { version, body } }
  #thread = null;

  async setUp() {
    this.#thread = expectStatus(await this.post('/v1/threads', {}), 201).id;
  }

  async step() {
    const id = pick([...this.#agents.keys()]);
    if (id === undefined || (this.#agents.size < AGENTS && chance(0.3))) {
      const agent = expectStatus(await this.post('/v1/agents', { name: uuid() }), 201);
      this.#agents.set(agent.id, { agent, things: new Map() });
      this.audited('agent.created', agent.id);
    } else if (chance(0.1))
      await this.#delete(id);
    else if (chance(0.2))
      await this.#rename(id);
    else
      await this.#write(id);
    if (chance(0.2))
      await this.#threadDocument();
    if (chance(0.2))
      await this.#patchConfig();
  }

  /** The documents, and what is stored, of an agent. */
  #paths(id) {
    return [`/v1/agents/${id}/config`, `/v1/agents/${id}/states/x`,
      `/v1/threads/${this.#thread}/agents/${id}/states/x`, `/v1/agents/${id}/storage/x`];
  }

  /** The result of a change without a response: it is stored completely or not at all. */
  async #settle(things, path, before, wanted) {
    const { status, body } = await this.find(path);
    const isStored = path.includes('/storage/');
    if (status === 404) {
      assert.equal(before, undefined, 'it is gone');
      return;
    }
    const data = JSON.stringify(isStored ? body : body.data);
    assert.ok([before?.data, wanted].includes(data), 'half a change');
    const version = isStored ? (data === before?.data ? before.version : (before?.version ?? 0) + 1)
      : body.version;
    things.set(path, { version, data });
  }

  async #write(id) {
    const { things } = this.#agents.get(id);
    const path = pick(this.#paths(id));
    const before = things.get(path);
    const data = { note: uuid(), size: 'x'.repeat(pick([10, 5000])) };
    const isStored = path.includes('/storage/');
    const match = before ? { 'If-Match': `"${before.version}"` } : { 'If-None-Match': '*' };
    if (before && chance(0.3) && !path.endsWith('/config'))
      return this.#erase(things, path, before, match);
    if (before && !isStored && chance(0.3) && !path.endsWith('/config'))
      expectStatus(await this.post(`${path}/focus`), 204);
    const patches = before && !isStored && chance(0.4);
    const body = isStored ? data : { data };
    const answer = await this.change(patches ? 'PATCH' : 'PUT', path, body, match);
    if (answer === null)
      return this.#settle(things, path, before, JSON.stringify(data));
    assert.ok([200, 201].includes(answer.status), answer.text);
    things.set(path, { version: answer.body.version, data: JSON.stringify(data) });
    return null;
  }

  async #erase(things, path, before, match) {
    const answer = await this.change('DELETE', path, undefined, match);
    const isGone = answer !== null ? expectStatus(answer, 204) === null
      : (await this.find(path)).status === 404;
    if (isGone) things.delete(path);
  }

  async #rename(id) {
    const entry = this.#agents.get(id);
    const name = uuid();
    const answer = await this.change('PATCH', `/v1/agents/${id}`, { name });
    const now = answer === null ? await this.get(`/v1/agents/${id}`) : expectStatus(answer, 200);
    assert.ok([entry.agent.name, name].includes(now.name));
    entry.agent = now;
  }

  async #delete(id) {
    const answer = await this.change('DELETE', `/v1/agents/${id}`);
    const isGone = answer !== null ? expectStatus(answer, 204) === null
      : (await this.find(`/v1/agents/${id}`)).status === 404;
    if (!isGone) return;
    this.#agents.delete(id);
    this.audited('agent.deleted', id);
  }

  /** The thread's own document, so that each of its routes is written through as well. */
  async #threadDocument() {
    const path = `/v1/threads/${this.#thread}/states/${uuid()}`;
    const any = { 'If-Match': '*' };
    for (const [method, body] of [['PUT', { data: {} }], ['PATCH', { data: { x: 1 } }]])
      await this.change(method, path, body, any);
    await this.post(`${path}/focus`);
    await this.change('DELETE', path, undefined, any);
  }

  async #patchConfig() {
    const agent = expectStatus(await this.post('/v1/agents', { name: uuid() }), 201);
    const any = { 'If-Match': '*' };
    const path = `/v1/agents/${agent.id}/config`;
    const made = await this.change('PUT', path, { data: {} }, any);
    if (made !== null) await this.change('PATCH', path, { data: { x: 1 } }, any);
    await this.change('DELETE', `/v1/agents/${agent.id}`);
  }

  async check() {
    for (const [id, { agent, things }] of this.#agents) {
      assert.deepEqual(await this.get(`/v1/agents/${id}`), agent);
      for (const [path, { version, data }] of things) {
        const found = await this.find(path);
        const isStored = path.includes('/storage/');
        assert.equal(JSON.stringify(isStored ? found.body : found.body.data), data, path);
        // The tag of a compressed answer names its coding.
        const tag = found.headers.get('ETag').replace('-gzip', '');
        assert.equal(tag, `"${version}"`, path);
      }
    }
  }
}
