// SPDX-License-Identifier: Apache-2.0
/**
 * Events as they happen, in one iteration that outlives its connections. The cursor is that of the
 * last event that was handed out; whoever comes back with it gets everything after it, once and in
 * order. So whenever a connection ends, for whatever reason, the next one begins there.
 */
import type { Connection } from "./connection.js";
import { ApiError } from "./errors.js";
import { canHeal } from "./failure.js";
import type { Event } from "./generated/types.js";
import type { RequestOptions } from "./options.js";
import { errorOf, problemOf } from "./problems.js";
import { overSse } from "./followSse.js";
import { overWebSocket } from "./followSocket.js";
import { aborted, backoffMs, Limit, pause } from "./timing.js";

export interface Gap {
  /** Events up to this one are gone, of all threads together: some of them. */
  pruned_through: number;
  /** From here on everything is there. */
  cursor: string;
}

export interface FollowOptions extends Pick<
  RequestOptions,
  "signal" | "principal" | "headers" | "maxRetries"
> {
  /** The cursor of the last event that was seen; without one it begins with the oldest event. */
  after?: string | number;
  kind?: string;
  run_id?: string;
  /** `sse` unless told. */
  transport?: "sse" | "websocket";
  /** Is told of events that were pruned before they were read. Without it that is an error. */
  onGap?: (gap: Gap) => void | Promise<void>;
  /** Is told why a connection ended, before the next one is made. */
  onReconnect?: (reason: Error | undefined) => void;
  /** A connection on which nothing comes for so long is dead; 30,000 unless told. */
  silenceMs?: number;
}

/** What comes over a connection. */
export type Told =
  | { kind: "open" }
  | { kind: "event"; event: Event; cursor: string }
  | { kind: "gap"; gap: Gap }
  | { kind: "closed"; cursor?: string | undefined };

export interface Attempt {
  connection: Connection;
  /** `/v1/events` or that of a thread. */
  path: string;
  /** Of all threads: the cursor is the event's id, else its seq. */
  isTenantWide: boolean;
  query: { after?: string; kind?: string; run_id?: string };
  options: FollowOptions;
  silenceMs: number;
  /** Ends it. */
  signal: AbortSignal;
}

const SILENCE_MS = 30_000;
const FIRST_TRIES = 4;
/** A connection that lasted so long was a good one, also when nothing happened. */
const STEADY_MS = 10_000;

/** Iterate it with `for await`. Leaving the loop, or `close()`, ends the connection. */
export class EventStream implements AsyncIterableIterator<Event> {
  /** Of the last event that was handed out: give it as `after` to go on from there. */
  cursor: string | undefined;
  readonly #connection: Connection;
  readonly #path: string;
  readonly #options: FollowOptions;
  readonly #limit: Limit;
  readonly #events: AsyncGenerator<Event, void>;
  #isClosed = false;

  constructor(connection: Connection, path: string, options: FollowOptions = {}) {
    this.#connection = connection;
    this.#path = path;
    this.#options = options;
    this.cursor = options.after === undefined ? undefined : String(options.after);
    this.#limit = new Limit(options.signal);
    this.#events = this.#follow();
  }

  next(): Promise<IteratorResult<Event, void>> {
    return this.#events.next();
  }

  async return(): Promise<IteratorResult<Event, void>> {
    this.#isClosed = true;
    this.#limit.abort();
    return this.#events.return();
  }

  /** Ends the iteration, also one that waits for the next event. */
  async close(): Promise<void> {
    await this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async *#follow(): AsyncGenerator<Event, void> {
    let failures = 0;
    let wasConnected = false;
    try {
      while (!this.#isClosed) {
        let reason: unknown;
        let openedAt = Infinity;
        try {
          for await (const told of this.#connect()) {
            if (told.kind === "closed") {
              // Behind what a filter has left out.
              this.cursor = told.cursor ?? this.cursor;
              break;
            }
            wasConnected = true;
            if (told.kind === "open") openedAt = Date.now();
            else failures = 0;
            if (told.kind === "gap") await this.#meetGap(told.gap);
            if (told.kind === "event") yield this.#handOut(told);
          }
        } catch (error) {
          reason = error;
        }
        if (this.#isClosed) return;
        if (Date.now() - openedAt > STEADY_MS) failures = 0;
        this.#judge(reason, wasConnected, failures);
        this.#options.onReconnect?.(reason as Error | undefined);
        // A server that ends in order is expected back; one that does so all the time is not.
        if (reason !== undefined || failures > 0) await this.#pause(reason, failures);
        failures++;
      }
    } finally {
      this.#limit.release();
    }
  }

  #connect(): AsyncIterable<Told> {
    const { kind, run_id, transport, silenceMs } = this.#options;
    const attempt: Attempt = {
      connection: this.#connection,
      path: this.#path,
      isTenantWide: this.#path === "/v1/events",
      query: { after: this.cursor, kind, run_id },
      options: this.#options,
      silenceMs: silenceMs ?? SILENCE_MS,
      signal: this.#limit.signal,
    };
    return transport === "websocket" ? overWebSocket(attempt) : overSse(attempt);
  }

  #handOut(told: Told & { kind: "event" }): Event {
    this.cursor = told.cursor;
    return told.event;
  }

  async #meetGap(gap: Gap): Promise<void> {
    if (this.#options.onGap !== undefined) {
      await this.#options.onGap(gap);
      this.cursor = gap.cursor;
      return;
    }
    const detail = `events up to ${gap.pruned_through} were pruned before they were read`;
    const problem = { ...problemOf(410, "events_pruned", detail), resume_cursor: gap.cursor };
    throw errorOf(`GET ${this.#path}/stream`, problem);
  }

  /** Throws what cannot heal. */
  #judge(reason: unknown, wasConnected: boolean, failures: number): void {
    const { signal, maxRetries } = this.#options;
    if (signal?.aborted) throw aborted(signal, `GET ${this.#path}/stream`);
    if (reason === undefined) return;
    const most = wasConnected
      ? Infinity
      : (maxRetries ?? this.#connection.defaults.maxRetries ?? FIRST_TRIES);
    if (!canHeal(reason, wasConnected) || failures >= most) throw reason;
  }

  async #pause(reason: unknown, failures: number): Promise<void> {
    const asked = reason instanceof ApiError ? (reason.retryAfter ?? 0) * 1000 : 0;
    try {
      await pause(Math.max(asked, backoffMs(failures)), this.#limit.signal, "the pause");
    } catch {
      // close() or the caller's signal; the latter is an error.
      if (!this.#isClosed) this.#judge(undefined, true, 0);
    }
  }
}
