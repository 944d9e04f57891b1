// SPDX-License-Identifier: Apache-2.0
/** A checkpoint saver for LangGraph that stores its data in Cairn. */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type DeltaChannelHistory,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { type Cairn, type ClientOptions, NotFound, type Checkpoint as Stored } from "cairn-client";
import { clientOf } from "./client.js";
import { type AnySaver, type CopyOptions, copyFrom } from "./copy.js";
import { readDeltas } from "./deltas.js";
import { type Filter, isAskedWhole, matches, metadataQuery } from "./filter.js";
import { KnownLists } from "./lists.js";
import { type Place, placeOf, placeText } from "./places.js";
import { Puts } from "./puts.js";
import { readMetadata } from "./records.js";
import { Threads } from "./threads.js";
import { Values } from "./values.js";

const PAGE = 20;
const KNOWN_CHARACTERS = 16 * 1024 * 1024;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

interface StoredWrite {
  task_id: string;
  index: number;
  channel: string;
  value: unknown;
}

export interface CairnSaverOptions {
  /** A client, or its options; default: CAIRN_URL and CAIRN_API_KEY. */
  client?: Cairn | ClientOptions;
  /** The serializer of values; default: LangGraph's own JSON. */
  serde?: SerializerProtocol;
  /**
   * The number of characters of lists to cache, so that only the added part of a list is sent.
   * Default: 16 Mi; 0: every list is sent completely.
   */
  knownCharacters?: number;
}

export interface PruneOptions {
  /** The number of checkpoints to keep in each namespace; default: 1. */
  keepLatest?: number;
  /** Removes only checkpoints put before this time. */
  olderThan?: Date;
}

export class CairnSaver extends BaseCheckpointSaver {
  readonly client: Cairn;
  readonly #threads: Threads;
  readonly #values: Values;
  readonly #lists: KnownLists;
  readonly #puts: Puts;

  constructor(options: CairnSaverOptions = {}) {
    super(options.serde);
    this.client = clientOf(options.client);
    this.#threads = new Threads(this.client);
    this.#values = new Values(this.serde);
    this.#lists = new KnownLists(options.knownCharacters ?? KNOWN_CHARACTERS);
    this.#puts = new Puts(this.client, this.#values, this.#lists);
  }

  // --- Write -------------------------------------------------------------------------------

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const place = placeOf(config, "put a checkpoint");
    const parentId = getCheckpointId(config) || undefined;
    const put = { place, parentId, checkpoint, metadata: metadata ?? {}, newVersions };
    await this.#threads.withEnsured(place.thread, (id) => this.#puts.send(id, put));
    return configOf(place.thread, place.namespace, checkpoint.id);
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
  ): Promise<void> {
    const place = placeOf(config, "put writes");
    const checkpointId = getCheckpointId(config);
    if (!checkpointId)
      throw new Error('To put writes, the config needs a "checkpoint_id" in "configurable".');
    if (writes.length === 0) return;
    const byIndex = new Map<number, PendingWrite>(); // the last of two special writes counts
    for (const [i, write] of writes.entries()) byIndex.set(indexOf(write[0], i), write);
    const encoded = await Promise.all(
      [...byIndex].map(async ([index, [channel, value]]) => {
        const { json } = await this.#values.encode(value);
        return { index, channel, value: json };
      }),
    );
    const body = { task_id: taskId, ahead: true, writes: encoded };
    const query = { namespace: place.namespace };
    await this.#threads.withEnsured(place.thread, (id) =>
      this.client.threads.checkpoints.writes.put(id, checkpointId, body, query),
    );
  }

  /** Deletes the checkpoints and writes. Cairn's thread stays, with its other data. */
  override async deleteThread(threadId: string): Promise<void> {
    await this.#threads.withFound(threadId, async (id) => {
      while ((await this.client.threads.checkpoints.deleteAll(id)).more);
    });
  }

  /** Removes the oldest checkpoints of a thread, and returns their number. */
  async prune(threadId: string, options: PruneOptions = {}): Promise<number> {
    const body = {
      keep_latest: options.keepLatest ?? 1,
      ...(options.olderThan === undefined ? {} : { older_than: options.olderThan.toISOString() }),
    };
    const pruned = await this.#threads.withFound(threadId, async (id) => {
      for (let count = 0; ; ) {
        const answer = await this.client.threads.checkpoints.prune(id, body);
        count += answer.pruned;
        if (!answer.more) return count;
      }
    });
    return pruned ?? 0;
  }

  /** Copies missing checkpoints and writes to another thread, and returns their number. */
  async copyThread(fromThreadId: string, toThreadId: string): Promise<number> {
    const copied = await this.#threads.withFound(fromThreadId, (from) =>
      this.#threads.withEnsured(toThreadId, async (to_thread_id) => {
        for (let count = 0; ; ) {
          const answer = await this.client.threads.checkpoints.copy(from, { to_thread_id });
          count += answer.copied;
          if (!answer.more) return count;
        }
      }),
    );
    return copied ?? 0;
  }

  /** Copies all checkpoints and writes of another saver's threads; see copy.ts. */
  copyFrom(from: AnySaver, options: CopyOptions = {}): Promise<number> {
    return copyFrom(from, this, options);
  }

  // --- Read --------------------------------------------------------------------------------

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.["thread_id"] === undefined) return undefined;
    const place = placeOf(config, "read a checkpoint");
    const stored = await this.#find(place, getCheckpointId(config));
    if (stored === undefined) return undefined;
    const lists = new Map<string, string>();
    const tuple = await this.#tupleOf(place.thread, stored, lists);
    this.#lists.keep(placeText(place, stored.id), tuple.checkpoint.channel_versions, lists);
    return tuple;
  }

  async #find({ thread, namespace }: Place, checkpointId: string): Promise<Stored | undefined> {
    const { checkpoints } = this.client.threads;
    const query = { namespace };
    if (checkpointId && !UUID.test(checkpointId)) return undefined;
    return this.#ifThere(thread, (id) =>
      checkpointId ? checkpoints.get(id, checkpointId, query) : checkpoints.latest(id, query),
    );
  }

  /** Reads from a thread; returns undefined if the thread or the checkpoint does not exist. */
  async #ifThere<T>(thread: string, read: (id: string) => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#threads.withFound(thread, read);
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    if (left <= 0) return;
    const page = isAskedWhole(options.filter) ? Math.min(left, PAGE) : PAGE;
    for await (const [thread, stored] of this.#rows(config, options, page)) {
      const tuple = await this.#tupleOf(thread, stored);
      if (!matches(options.filter as Filter | undefined, tuple.metadata ?? {})) continue;
      yield tuple;
      left -= 1;
      if (left <= 0) return;
    }
  }

  /** Returns the results of the server, with the thread of each. */
  async *#rows(
    config: RunnableConfig,
    { before, filter }: CheckpointListOptions,
    limit: number,
  ): AsyncGenerator<[string, Stored]> {
    const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
    const namespace = checkpoint_ns === undefined ? {} : { namespace: checkpoint_ns as string };
    if (checkpoint_id && !UUID.test(checkpoint_id as string)) return;
    const id_before = before?.configurable?.["checkpoint_id"] as string | undefined;
    const query = {
      limit,
      include: "all" as const,
      metadata: metadataQuery(filter),
      ...namespace,
      ...(id_before !== undefined && UUID.test(id_before) ? { id_before } : {}),
    };
    const isWanted = ({ id }: Stored) =>
      (!checkpoint_id || id === checkpoint_id) && (id_before === undefined || id < id_before);
    if (thread_id === undefined) {
      for await (const row of this.client.checkpoints.list(query))
        if (row.thread_key !== null && isWanted(row)) yield [row.thread_key, row];
      return;
    }
    const { thread } = placeOf(config, "list checkpoints");
    const { checkpoints } = this.client.threads;
    const rows = await this.#ifThere(thread, async (id) =>
      checkpoint_id
        ? [await checkpoints.get(id, checkpoint_id, namespace)]
        : checkpoints.list(id, query),
    );
    for await (const row of rows ?? []) if (isWanted(row)) yield [thread, row];
  }

  /** `lists` receives the texts of the lists among the values. */
  async #tupleOf(
    thread: string,
    stored: Stored,
    lists?: Map<string, string>,
  ): Promise<CheckpointTuple> {
    const read = await readMetadata(this.#values, stored.metadata, stored.created_at);
    const checkpoint = {
      ...read.rest,
      id: stored.id,
      channel_values: await this.#values.decodeAll(stored.channel_values ?? {}, lists),
      channel_versions: stored.channel_versions ?? {},
      versions_seen: stored.versions_seen ?? {},
    } as Checkpoint;
    const parentId = stored.parent_id ?? read.parent;
    const tuple: CheckpointTuple = {
      config: configOf(thread, stored.namespace, stored.id),
      checkpoint,
      metadata: read.metadata,
      pendingWrites: await this.#writesOf(stored.pending_writes ?? []),
    };
    if (parentId !== undefined) tuple.parentConfig = configOf(thread, stored.namespace, parentId);
    if (checkpoint.v < 4 && parentId !== undefined)
      await this.#migrateSends(checkpoint, stored, parentId);
    return tuple;
  }

  #writesOf(writes: unknown[]): Promise<CheckpointPendingWrite[]> {
    return Promise.all(
      (writes as StoredWrite[]).map(
        async ({ task_id, channel, value }): Promise<CheckpointPendingWrite> => [
          task_id,
          channel,
          await this.#values.decode(value),
        ],
      ),
    );
  }

  /** Before version 4, pending sends were in the writes of the parent, not in a channel. */
  async #migrateSends(checkpoint: Checkpoint, stored: Stored, parentId: string): Promise<void> {
    const writes = await this.#writesOfParent(stored, parentId);
    const sends = writes.filter(({ channel }) => channel === TASKS);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = await Promise.all(
      sends.map(({ value }) => this.#values.decode(value)),
    );
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  /** Returns none if the parent does not exist: it was pruned or never copied. */
  async #writesOfParent(stored: Stored, parentId: string): Promise<StoredWrite[]> {
    if (!UUID.test(parentId)) return [];
    try {
      const { namespace, thread_id } = stored;
      const answer = this.client.threads.checkpoints.writes.get(thread_id, parentId, { namespace });
      return (await answer).writes as StoredWrite[];
    } catch (error) {
      if (error instanceof NotFound) return [];
      throw error;
    }
  }

  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const channels = [...new Set(options.channels)];
    if (channels.length === 0) return {};
    const place = placeOf(options.config, "read the history of channels");
    const { namespace } = place;
    const found = await this.#ifThere(place.thread, async (threadId) => {
      const { checkpoints } = this.client.threads;
      const checkpointId =
        getCheckpointId(options.config) || (await checkpoints.latest(threadId, { namespace })).id;
      return readDeltas(this.client, this.#values, { threadId, namespace, checkpointId }, channels);
    });
    return found ?? Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]));
  }
}

/** LangGraph's special writes have fixed indexes, so that they can be overwritten. */
const indexOf = (channel: string, place: number): number =>
  (Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel] : undefined) ?? place;

function configOf(thread_id: string, checkpoint_ns: string, checkpoint_id: string): RunnableConfig {
  return { configurable: { thread_id, checkpoint_ns, checkpoint_id } };
}
