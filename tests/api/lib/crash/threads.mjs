// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';
import { Log } from './log.mjs';

const MOST = 8;
const GONE = 500; // how many that were deleted are asked for again
const VERBS = { active: ['pause', 'cancel'], paused: ['resume', 'cancel'], cancelled: ['resume'] };
const JSON_PATCH = { 'Content-Type': 'application/json-patch+json' };

/** Makes threads, changes their documents, moves them, deletes them. */
export class Librarian extends Actor {
  static resource = 'threads';
  static tenant = 'pruned';
  #threads = new Map(); // id → as it was answered last
  #gone = [];

  async step() {
    const [id] = [pick([...this.#threads.keys()])];
    if (id === undefined || (this.#threads.size < MOST && chance(0.3)))
      await this.#make();
    else if (chance(0.15))
      await this.#delete(id);
    else if (chance(0.3))
      await this.#move(id);
    else
      await this.#patch(id);
  }

  async #make() {
    const wanted = { title: uuid(), agent: 'scribe', metadata: { shelf: uuid() },
      context: { tail: [uuid()] }, preferences: { language: 'en' } };
    const made = chance(0.5)
      ? expectStatus(await this.post('/v1/threads', wanted), 201)
      : await this.#ensure(uuid(), wanted);
    assert.deepEqual({ ...made, ...wanted }, made);
    this.#threads.set(made.id, made);
  }

  /** There is one thread with the key, however often the request is sent. */
  async #ensure(key, wanted) {
    for (let tries = 0; ; tries++) {
      const answer = await this.change('PUT', `/v1/threads/by-key/${key}`, wanted);
      if (answer === null) continue;
      assert.ok(answer.status === 201 || (tries > 0 && answer.status === 200), answer.text);
      assert.equal(answer.body.key, key);
      return answer.body;
    }
  }

  async #move(id) {
    const verb = pick(VERBS[this.#threads.get(id).status]);
    this.#threads.set(id, expectStatus(await this.post(`/v1/threads/${id}/${verb}`), 200));
  }

  async #patch(id) {
    const before = this.#threads.get(id);
    const member = pick(['context', 'preferences', 'important_steps', 'metadata']);
    const value = { note: uuid(), size: 'x'.repeat(pick([10, 5000])) };
    const match = { 'If-Match': `"${before.version}"` };
    const answer = chance(0.5)
      ? await this.change('PATCH', `/v1/threads/${id}`, { title: uuid(), [member]: value }, match)
      : await this.change('PATCH', `/v1/threads/${id}`,
        [{ op: 'replace', path: `/${member}`, value }], { ...match, ...JSON_PATCH });
    if (answer !== null) {
      const after = expectStatus(answer, 200);
      assert.deepEqual({ ...after[member], ...value }, after[member]);
      this.#threads.set(id, after);
      return;
    }
    const now = await this.get(`/v1/threads/${id}`);
    if (now.version === before.version)
      assert.deepEqual(now, before, 'half a change');
    else {
      assert.equal(now.version, before.version + 1);
      assert.deepEqual({ ...now[member], ...value }, now[member], 'half a change');
    }
    this.#threads.set(id, now);
  }

  async #delete(id) {
    const before = this.#threads.get(id);
    const answer = await this.change('DELETE', `/v1/threads/${id}`);
    const isGone = answer !== null ? expectStatus(answer, 204) === null
      : (await this.find(`/v1/threads/${id}`)).status === 404;
    if (!isGone) {
      assert.deepEqual(await this.get(`/v1/threads/${id}`), before, 'half deleted');
      return;
    }
    this.#threads.delete(id);
    this.#gone.push(id);
    this.audited('thread.deleted', id);
  }

  async check(whole) {
    for (const [id, thread] of this.#threads) {
      assert.deepEqual(await this.get(`/v1/threads/${id}`), thread);
      if (thread.key !== null)
        assert.equal((await this.get(`/v1/threads/by-key/${thread.key}`)).id, id);
    }
    for (const id of whole ? this.#threads.keys() : [...this.#threads.keys()].slice(0, 1))
      await new Log(this.client, id).read(true);
    this.#gone = this.#gone.slice(-GONE);
    for (const id of whole ? this.#gone : this.#gone.slice(-5))
      for (const path of ['', '/events', '/runs'])
        await this.get(`/v1/threads/${id}${path}`, 404);
  }
}
