// SPDX-License-Identifier: Apache-2.0
/**
 * What this process knows of the lists in the checkpoints that it read or put last: their texts,
 * so that a list that has only grown is sent as what was added. Bounded; what is not known here is
 * sent whole. A checkpoint's content stands under its id for good, unless it is put anew.
 */
import type { ChannelVersions } from "@langchain/langgraph-checkpoint";

/** To send a short list whole costs no more than to remember it. */
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

  /** `max`: characters of text in all. */
  constructor(max: number) {
    this.#max = max;
  }

  listsOf(place: string): ReadonlyMap<string, string> | undefined {
    return this.#known.get(place)?.lists;
  }

  /** Of a checkpoint that was read: all its lists. */
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

  /** Of one that was put upon its parent: what it has of its own, and what it took over. */
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
    if (parent !== undefined) this.forget(parent); // a line seldom forks
    this.keep(place, versions, lists);
  }

  forget(place: string): void {
    const known = this.#known.get(place);
    if (known === undefined) return;
    this.#known.delete(place);
    this.#size -= known.size;
  }
}
