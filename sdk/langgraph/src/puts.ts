// SPDX-License-Identifier: Apache-2.0
/** Builds the request for a checkpoint: if possible, only the difference from its parent. */
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
} from "@langchain/langgraph-checkpoint";
import { type Cairn, type CheckpointPut, DataDamaged, InvalidInput } from "cairn-client";
import type { KnownLists } from "./lists.js";
import { type Place, placeText } from "./places.js";
import { writeMetadata } from "./records.js";
import type { Values } from "./values.js";

export interface Put {
  place: Place;
  parentId: string | undefined;
  checkpoint: Checkpoint;
  metadata: CheckpointMetadata;
  newVersions: ChannelVersions;
}

interface Parts {
  set: Record<string, unknown>;
  append: Record<string, unknown>;
  /** The texts of the lists among the values. */
  lists: Map<string, string>;
}

/**
 * A fork has the values of a checkpoint that is not its parent; a state update also has the values
 * of finished tasks, with their previous versions.
 */
const NOT_BY_VERSIONS: unknown[] = ["fork", "update"];

const isAbout = (error: unknown, ...members: string[]): boolean =>
  error instanceof InvalidInput &&
  error.errors.some(({ pointer }) => members.some((member) => pointer.startsWith(member)));

export class Puts {
  readonly #client: Cairn;
  readonly #values: Values;
  readonly #known: KnownLists;

  constructor(client: Cairn, values: Values, known: KnownLists) {
    this.#client = client;
    this.#values = values;
    this.#known = known;
  }

  async send(threadId: string, put: Put): Promise<void> {
    if (NOT_BY_VERSIONS.includes(put.metadata?.source) || put.parentId === put.checkpoint.id)
      return this.#sendWhole(threadId, put);
    if (put.parentId === undefined) return this.#sendFirst(threadId, put);
    try {
      await this.#sendChanges(threadId, put, put.parentId);
    } catch (error) {
      if (!isAbout(error, "/parent_id", "/changes") && !(error instanceof DataDamaged)) throw error;
      this.#known.forget(placeText(put.place, put.parentId));
      await this.#sendWhole(threadId, put);
    }
  }

  /** Relative to its parent: the new values, and the parent's values with unchanged versions. */
  async #sendChanges(threadId: string, put: Put, parent_id: string): Promise<void> {
    const parent = placeText(put.place, parent_id);
    const { set, append, lists } = await this.#encode(put, this.#known.listsOf(parent));
    const changes = { set, append, inherit: "versions" as const };
    await this.#post(threadId, put, { parent_id, changes });
    const { id, channel_versions } = put.checkpoint;
    const own = new Set([...Object.keys(set), ...Object.keys(append)]);
    this.#known.keepUpon(parent, placeText(put.place, id), channel_versions, lists, own);
  }

  async #sendFirst(threadId: string, put: Put): Promise<void> {
    const { set, lists } = await this.#encode(put);
    await this.#post(threadId, put, { parent_id: null, channel_values: set });
    this.#keep(put, lists);
  }

  /** With all values. An existing checkpoint keeps its place; its parent may have been deleted. */
  async #sendWhole(threadId: string, put: Put): Promise<void> {
    const { parentId, checkpoint } = put;
    const { set, lists } = await this.#encode({ ...put, newVersions: checkpoint.channel_values });
    const parent = parentId === checkpoint.id ? {} : { parent_id: parentId ?? null };
    try {
      await this.#post(threadId, put, { ...parent, channel_values: set });
    } catch (error) {
      if (!isAbout(error, "/parent_id")) throw error;
      await this.#post(threadId, put, { parent_id: null, channel_values: set }, parentId);
    }
    this.#keep(put, lists);
  }

  async #post(
    threadId: string,
    { place, checkpoint, metadata }: Put,
    content: Partial<CheckpointPut>,
    unknownParent?: string,
  ): Promise<void> {
    await this.#client.threads.checkpoints.put(threadId, {
      id: checkpoint.id,
      namespace: place.namespace,
      ...content,
      channel_versions: checkpoint.channel_versions ?? {},
      versions_seen: checkpoint.versions_seen ?? {},
      metadata: await writeMetadata(this.#values, checkpoint, metadata, unknownParent),
      replace: true,
    });
  }

  /** Returns the channels of `channels` that have a value. `before`: the lists of the parent. */
  async #encode(
    put: { checkpoint: Checkpoint; newVersions: object },
    before?: ReadonlyMap<string, string>,
  ): Promise<Parts> {
    const { channel_values } = put.checkpoint;
    const set: [string, unknown][] = [];
    const append: [string, unknown][] = [];
    const lists = new Map<string, string>();
    for (const channel of Object.keys(put.newVersions)) {
      if (!Object.hasOwn(channel_values, channel)) continue;
      const encoded = await this.#values.encode(channel_values[channel], before?.get(channel));
      if (encoded.added === undefined) set.push([channel, encoded.json]);
      else append.push([channel, encoded.added]);
      if (encoded.list !== undefined) lists.set(channel, encoded.list);
    }
    return { set: Object.fromEntries(set), append: Object.fromEntries(append), lists };
  }

  #keep({ place, checkpoint }: Put, lists: Map<string, string>): void {
    this.#known.keep(placeText(place, checkpoint.id), checkpoint.channel_versions, lists);
  }
}
