// SPDX-License-Identifier: Apache-2.0
/**
 * A bounded cache of the lists in recently read or put checkpoints, as texts. If a list has only
 * grown, only the added part is sent; a list that is not in the cache is sent completely. The
 * content of a checkpoint id never changes, unless the checkpoint is put again.
 */
import type { ChannelVersions } from "@langchain/langgraph-checkpoint";

/** Sending a shorter list completely is cheaper than caching it. */
const SHORT = 256;

interface Known {
  versions: ChannelVersions;
  lists: Map<string, string>;
  size: number;
}

export class KnownLists {
  readonly #known = new Map<string, Known>();
  readonly #max: number;
  #size = 0;

  /** `max`: the total number of characters. */
  constructor(max: number) {
    this.#max = max;
  }

  listsOf(place: string): ReadonlyMap<string, string> | undefined {
    return this.#known.get(place)?.lists;
  }

  /** Stores all lists of a checkpoint that was read. */
  keep(place: string, versions: ChannelVersions, lists: Map<string, string>): void {
    this.forget(place);
    for (const [channel, text] of lists) if (text.length < SHORT) lists.delete(channel);
    const size = [...lists.values()].reduce((sum, text) => sum + text.length, 0);
    if (size === 0 || size > this.#max) return;
    this.#known.set(place, { versions: { ...versions }, lists, size });
    this.#size += size;
    for (const oldest of this.#known.keys()) {
      if (this.#size <= this.#max) break;
      this.forget(oldest);
    }
  }

  /** Stores the lists of a new checkpoint: its own, and those taken over from its parent. */
  keepUpon(
    parent: string | undefined,
    place: string,
    versions: ChannelVersions,
    own: Map<string, string>,
    put: ReadonlySet<string>,
  ): void {
    const before = parent === undefined ? undefined : this.#known.get(parent);
    const lists = new Map(own);
    for (const [channel, text] of before?.lists ?? [])
      if (!put.has(channel) && before?.versions[channel] === versions[channel])
        lists.set(channel, text);
    if (parent !== undefined) this.forget(parent); // history rarely forks
    this.keep(place, versions, lists);
  }

  forget(place: string): void {
    const known = this.#known.get(place);
    if (known === undefined) return;
    this.#known.delete(place);
    this.#size -= known.size;
  }
}
