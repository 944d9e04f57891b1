// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';

const MOST = 6;
const hashOf = (content) =>
  createHash('sha256').update(JSON.stringify(content)).digest('hex');

/** Uploads files whole and in pieces, changes, restores, copies and deletes them. */
export class FileClerk extends Actor {
  static resource = 'files';
  static tenant = 'pruned';
  #files = new Map(); // name → what is known of it, as it was answered last
  #contents = new Map(); // SHA-256 → what has it
  #gone = new Set();

  async setUp() {
    this.thread = `/v1/threads/${expectStatus(await this.post('/v1/threads'), 201).id}`;
  }

  #at(name, rest = '') {
    return `${this.thread}/files/${name}${rest}`;
  }

  async step() {
    const name = pick([...this.#files.keys()]);
    if (name === undefined || (this.#files.size < MOST && chance(0.3)))
      await (chance(0.5) ? this.#put(uuid()) : this.#upload(uuid()));
    else
      await pick([
        () => this.#put(name),
        () => this.#upload(name),
        () => this.#describe(name),
        () => this.#restore(name),
        () => this.#copy(name),
        () => this.#deleteVersion(name),
        () => this.#delete(name),
      ])();
  }

  #newContent() {
    const content = { text: `${uuid()} ${'x'.repeat(pick([10, 5000, 300_000]))}` };
    this.#contents.set(hashOf(content), content);
    return content;
  }

  /** The result of a change with an unknown outcome: the old file, or the intended one. */
  async #settle(name, answer, isDone) {
    const before = this.#files.get(name);
    if (answer !== null)
      assert.ok(answer.status < 300, answer.text);
    const now = await this.find(this.#at(name, '/info'));
    if (now.status === 404) {
      assert.ok(answer === null ? before === undefined || isDone(null) : isDone(null), 'lost');
      this.#files.delete(name);
      return;
    }
    const file = expectStatus(now, 200);
    if (answer !== null || before === undefined || file.revision !== before.revision)
      assert.ok(isDone(file), `half a change: ${JSON.stringify(file)}`);
    else
      assert.deepEqual(file, before, 'half a change');
    this.#files.set(name, file);
  }

  async #put(name) {
    const content = this.#newContent();
    const before = this.#files.get(name);
    const condition = before === undefined ? { 'If-None-Match': '*' }
      : { 'If-Match': `"${before.version}"` };
    const answer = await this.change('PUT', this.#at(name), content, condition);
    await this.#settle(name, answer, (file) => file?.sha256 === hashOf(content));
  }

  async #describe(name) {
    const metadata = { note: uuid() };
    const answer = await this.change('PATCH', this.#at(name, '/info'), { metadata });
    await this.#settle(name, answer, (file) => file?.metadata.note === metadata.note);
  }

  async #versions(name) {
    return (await this.get(this.#at(name, '/versions?limit=200'))).data;
  }

  async #restore(name) {
    const { version, sha256 } = pick(await this.#versions(name));
    const answer = await this.post(this.#at(name, '/restore'), { version });
    assert.ok(expectStatus(answer, 200).version > this.#files.get(name).version);
    await this.#settle(name, answer, (file) => file.sha256 === sha256);
  }

  async #copy(name) {
    const to = uuid();
    const body = { thread_id: this.thread.split('/').at(-1), name: to, history: chance(0.5) };
    const answer = await this.post(this.#at(name, '/copy'), body);
    await this.#settle(to, answer, (file) => file.sha256 === this.#files.get(name).sha256);
  }

  async #deleteVersion(name) {
    const { version } = pick(await this.#versions(name));
    const before = this.#files.get(name);
    const answer = await this.change('DELETE', this.#at(name, `/versions/${version}`));
    await this.#settle(name, answer, (file) =>
      file === null || (file.revision === before.revision + 1 && file.version !== version));
  }

  async #delete(name) {
    const answer = await this.change('DELETE', this.#at(name));
    await this.#settle(name, answer, (file) => file === null);
    if (!this.#files.has(name))
      this.#gone.add(name);
  }

  /**
   * In two pieces; after the server died, the client asks for the offset and continues there. On
   * PostgreSQL, the upload may still be leased to the dead server: it is abandoned then.
   */
  async #upload(name) {
    const content = this.#newContent();
    const text = JSON.stringify(content);
    const wanted = { name, size_bytes: text.length, sha256: hashOf(content) };
    const made = expectStatus(await this.post(`${this.thread}/uploads`, wanted), 201);
    const path = `${this.thread}/uploads/${made.id}`;
    if (chance(0.2)) {
      await this.change('DELETE', path);
      return;
    }
    for (let offset = 0; offset < text.length; ) {
      const end = offset === 0 ? Math.ceil(text.length / 2) : text.length;
      const answer = await this.append(path, offset, text.slice(offset, end));
      if (answer?.status === 409 && /another request is writing/.test(answer.body.detail)) {
        await this.change('DELETE', path);
        return;
      }
      const now = (await this.get(path)).offset_bytes;
      assert.ok(answer === null ? now >= offset && now <= end : now === end,
        `acknowledged bytes: ${now} of ${end}, ${answer?.status} ${answer?.text}`);
      offset = now;
    }
    const answer = await this.post(`${path}/complete`);
    await this.#settle(name, answer, (file) => file.sha256 === hashOf(content));
  }

  async check(whole) {
    const names = (await this.get(`${this.thread}/files?limit=200`)).data.map((f) => f.name);
    assert.deepEqual(new Set(names), new Set(this.#files.keys()), 'lost or come back');
    for (const [name, file] of this.#files) {
      assert.deepEqual(await this.get(this.#at(name, '/info')), file);
      const { text } = await this.find(this.#at(name));
      assert.deepEqual(JSON.parse(text), this.#contents.get(file.sha256), 'content');
    }
    for (const name of whole ? this.#gone : [])
      await this.get(this.#at(name), 404);
  }
}
