// SPDX-License-Identifier: Apache-2.0
/**
 * LangGraph's thread ids are keys of Cairn's threads. The ids of Cairn's threads are cached, and
 * looked up again if a thread no longer exists because another client deleted it.
 */
import { type Cairn, Conflict, NotFound } from "cairn-client";

const REMEMBERED = 10_000;

/** URLs resolve these two segments, even if they are percent-encoded. */
const isNoSegment = (key: string): boolean => key === "." || key === "..";

export class Threads {
  readonly #client: Cairn;
  readonly #ids = new Map<string, string>();

  constructor(client: Cairn) {
    this.#client = client;
  }

  /** Calls a function with the thread of this key; returns undefined if there is none. */
  async withFound<T>(key: string, work: (id: string) => Promise<T>): Promise<T | undefined> {
    const remembered = this.#ids.get(key);
    const id = remembered ?? (await this.#find(key));
    if (id === undefined) return undefined;
    try {
      return await work(id);
    } catch (error) {
      if (!(error instanceof NotFound) || remembered === undefined) throw error;
      this.#ids.delete(key);
      const now = await this.#find(key);
      if (now === remembered) throw error;
      return now === undefined ? undefined : work(now);
    }
  }

  /** The same, but creates the thread if it does not exist. */
  async withEnsured<T>(key: string, work: (id: string) => Promise<T>): Promise<T> {
    const remembered = this.#ids.get(key);
    try {
      return await work(remembered ?? (await this.#ensure(key)));
    } catch (error) {
      if (!(error instanceof NotFound) || remembered === undefined) throw error;
      this.#ids.delete(key);
      return work(await this.#ensure(key));
    }
  }

  async #find(key: string): Promise<string | undefined> {
    const { threads } = this.#client;
    const found = isNoSegment(key)
      ? (await threads.list({ key })).data[0]
      : await threads.byKey.get(key).catch((error: unknown) => {
          if (!(error instanceof NotFound)) throw error;
        });
    return found === undefined ? undefined : this.#remember(key, found.id);
  }

  async #ensure(key: string): Promise<string> {
    const { threads } = this.#client;
    if (!isNoSegment(key)) return this.#remember(key, (await threads.byKey.ensure(key)).id);
    try {
      return this.#remember(key, (await threads.create({ key })).id);
    } catch (error) {
      const found = error instanceof Conflict ? await this.#find(key) : undefined;
      if (found === undefined) throw error;
      return found;
    }
  }

  #remember(key: string, id: string): string {
    this.#ids.delete(key);
    this.#ids.set(key, id);
    if (this.#ids.size > REMEMBERED) {
      const [oldest] = this.#ids.keys();
      if (oldest !== undefined) this.#ids.delete(oldest);
    }
    return id;
  }
}
