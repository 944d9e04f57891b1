// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';

const MOST = 6;

/** Lets people take part, changes what they may, shares, revokes, and lets them leave. */
export class Host extends Actor {
  static resource = 'participants';
  static tenant = 'kept';
  #thread;
  #people = new Map(); // id → as it was answered last
  #shares = new Map(); // id → {share, token}; the token is null where the answer with it was lost

  async setUp() {
    this.#thread = expectStatus(await this.post('/v1/threads', {}), 201).id;
  }

  get #at() {
    return `/v1/threads/${this.#thread}/participants`;
  }

  async step() {
    const id = pick([...this.#people.keys()]);
    if (id === undefined || (this.#people.size < MOST && chance(0.4)))
      await this.#join();
    else
      await pick([() => this.#change(id), () => this.#beat(id), () => this.#leave(id),
        () => this.#myself(), () => this.#share(), () => this.#redeem(),
        () => this.#revoke()])();
  }

  #keep(person) {
    this.#people.set(person.id, person);
  }

  async #join() {
    const principal = `user:${uuid()}`;
    const made = expectStatus(await this.post(this.#at, { principal, permission: 'read' }), 201);
    assert.deepEqual([made.principal, made.permission, made.active], [principal, 'read', true]);
    this.#keep(made);
    this.audited('participant.permission', made.id);
  }

  /** After a change with an unknown outcome, the participant is unchanged or completely changed. */
  async #settle(id, answer, isDone) {
    const before = this.#people.get(id);
    const now = answer !== null ? expectStatus(answer, 200) : await this.get(`${this.#at}/${id}`);
    if (answer !== null || now.version !== before.version)
      assert.ok(isDone(now), 'half a change');
    this.#keep(now);
  }

  async #change(id) {
    const status = uuid();
    const answer = await this.change('PATCH', `${this.#at}/${id}`,
      { status, permission: pick(['read', 'read_write']) });
    await this.#settle(id, answer, (now) => now.status === status);
  }

  async #beat(id) {
    if (!this.#people.get(id).active)
      return;
    const answer = await this.post(`${this.#at}/${id}/heartbeat`, { ttl_s: 3600 });
    this.#keep(expectStatus(answer, 200));
  }

  async #leave(id) {
    const answer = await this.change('DELETE', `${this.#at}/${id}`);
    await this.#settle(id, answer, (now) => !now.active && !now.online);
    if (!this.#people.get(id).active)
      this.#people.delete(id);
  }

  /** The requests of a participant about itself: join, heartbeat, set a status, leave. */
  async #myself() {
    const principal = `user:${uuid()}`;
    const as = { 'Cairn-Principal': principal };
    const { id } = expectStatus(await this.post(this.#at, { principal }), 201);
    expectStatus(await this.post(`${this.#at}/me/heartbeat`, {}, as), 200);
    const changed = await this.change('PATCH', `${this.#at}/me`, { status: 'here' }, as);
    if (changed !== null)
      expectStatus(changed, 200);
    const left = await this.change('DELETE', `${this.#at}/me`, undefined, as);
    if (left !== null)
      assert.equal((await this.get(`${this.#at}/${id}`)).active, false);
  }

  async #share() {
    const { token, ...share } = expectStatus(
      await this.post(`/v1/threads/${this.#thread}/shares`,
        { kind: pick(['participate', 'copy']), max_redemptions: 3 }), 201);
    this.#shares.set(share.id, { share, token });
    this.audited('share.created', share.id);
  }

  async #redeem() {
    const open = [...this.#shares.values()].filter(
      ({ share, token }) => token !== null && share.redemptions < 3);
    const one = pick(open);
    if (one === undefined)
      return;
    const as = { 'Cairn-Principal': `user:${uuid()}` };
    const done = expectStatus(
      await this.post('/v1/shares/redeem', { token: one.token }, as), 200);
    assert.equal(done.changed, true);
    one.share = await this.get(`/v1/threads/${this.#thread}/shares/${one.share.id}`);
    this.audited('share.redeemed', one.share.id);
  }

  async #revoke() {
    const id = pick([...this.#shares.keys()]);
    if (id === undefined)
      return;
    const answer = await this.change('DELETE', `/v1/threads/${this.#thread}/shares/${id}`);
    const now = await this.get(`/v1/threads/${this.#thread}/shares/${id}`);
    if (answer !== null)
      assert.notEqual(now.revoked_at, null);
    if (now.revoked_at === null)
      return;
    const { data } = await this.get(
      `/v1/threads/${this.#thread}/shares/${id}/redemptions`);
    for (const { participant_id: person } of data.filter((r) => r.participant_id !== null))
      assert.equal((await this.get(`${this.#at}/${person}`)).active, false, 'half revoked');
    this.#shares.delete(id);
    this.audited('share.revoked', id);
  }

  async check() {
    for (const [id, person] of this.#people) {
      const now = await this.get(`${this.#at}/${id}`);
      // The number of shares revoked by a removal is reported once.
      const { shares_revoked: _, ...before } = person;
      assert.deepEqual({ ...now, online: null }, { ...before, online: null });
    }
    for (const [id, { share }] of this.#shares)
      assert.deepEqual(await this.get(`/v1/threads/${this.#thread}/shares/${id}`), share);
  }
}
