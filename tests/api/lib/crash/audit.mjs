// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, pause } from '../server.mjs';
import { Actor } from './actor.mjs';

/** How often each occurs. */
function tally(words) {
  const times = new Map();
  for (const word of words)
    times.set(word, (times.get(word) ?? 0) + 1);
  return times;
}

/** Writes nothing itself: the audit log is written by what the others do. */
export class Auditor extends Actor {
  static resource = 'audit';
  #seen = {}; // tenant → its newest record of the last check

  async step() {
    await pause(5);
  }

  /** The records since the last check, newest first; they lead back to the last one of then. */
  async #readNew(client, seen) {
    const records = [];
    for (let cursor = '', more = true; more;) {
      const page = expectStatus(await client.get(`/v1/audit?limit=200${cursor}`), 200);
      records.push(...page.data);
      more = page.has_more && page.data.at(-1).seq > seen.seq;
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
    }
    const top = records[0]?.seq ?? 0;
    const kept = records.find(({ seq }) => seq === seen.seq);
    assert.ok(kept === undefined ? seen.seq === 0 : kept.hash === seen.hash, 'a record is gone');
    const fresh = records.filter(({ seq }) => seq > seen.seq);
    assert.deepEqual(fresh.map(({ seq }) => seq), fresh.map((_, i) => top - i));
    return fresh;
  }

  async check(whole) {
    for (const [tenant, client] of Object.entries(this.scene.clients)) {
      const fresh = await this.#readNew(client, this.#seen[tenant] ?? { seq: 0 });
      const told = tally(fresh.map((record) => `${record.action} ${record.object_id}`));
      const promised = tally(this.scene.audited.filter((a) => a.tenant === tenant)
        .map(({ action, objectId }) => `${action} ${objectId}`));
      for (const [what, times] of promised)
        assert.ok((told.get(what) ?? 0) >= times, `not recorded ${times} times: ${what}`);
      this.#seen[tenant] = fresh[0] ?? this.#seen[tenant];
      if (whole) {
        const verdict = expectStatus(await client.get('/v1/audit/verify'), 200);
        assert.deepEqual([verdict.intact, verdict.first_broken], [true, null]);
      }
    }
    this.scene.audited = [];
  }
}
