// SPDX-License-Identifier: Apache-2.0
/**
 * Follows live events in one iteration that survives its connections. The cursor is that of the
 * last returned event; a connection that starts with it receives every later event once and in
 * order. So whenever a connection ends, the next one starts at this cursor.
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
  /** Events up to this one were pruned; in the tenant-wide stream, some of them. */
  pruned_through: number;
  /** All events after this cursor exist. */
  cursor: string;
}

export interface FollowOptions extends Pick<
  RequestOptions,
  "signal" | "principal" | "headers" | "maxRetries"
> {
  /** The cursor of the last event seen; default: before the oldest event. */
  after?: string | number;
  kind?: string;
  run_id?: string;
  /** Default: `sse`. */
  transport?: "sse" | "websocket";
  /** Called when events were pruned before they were read. Without it, that is an error. */
  onGap?: (gap: Gap) => void | Promise<void>;
  /** Called with the reason when a connection ends, before the next one is opened. */
  onReconnect?: (reason: Error | undefined) => void;
  /** A connection without a byte for this time is considered dead; default: 30,000. */
  silenceMs?: number;
}

/** A message received over a connection. */
export type Received =
  | { kind: "open" }
  | { kind: "event"; event: Event; cursor: string }
  | { kind: "gap"; gap: Gap }
  | { kind: "closed"; cursor?: string | undefined };

export interface Attempt {
  connection: Connection;
  /** `/v1/events` or the path of a thread. */
  path: string;
  /** True for all threads: the cursor is then the event's id, otherwise its seq. */
  isTenantWide: boolean;
  query: { after?: string; kind?: string; run_id?: string };
  options: FollowOptions;
  silenceMs: number;
  /** Ends the attempt. */
  signal: AbortSignal;
}

const SILENCE_MS = 30_000;
const FIRST_TRIES = 4;
/** A connection that lasted this long was good, even without events. */
const STEADY_MS = 10_000;

/** Iterate it with `for await`. Leaving the loop, or `close()`, ends the connection. */
export class EventStream implements AsyncIterableIterator<Event> {
  /** The cursor of the last returned event: pass it as `after` to continue from there. */
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

  /** Ends the iteration, even if it is waiting for the next event. */
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
          for await (const received of this.#connect()) {
            if (received.kind === "closed") {
              // Skips the events that the filter excluded.
              this.cursor = received.cursor ?? this.cursor;
              break;
            }
            wasConnected = true;
            if (received.kind === "open") openedAt = Date.now();
            else failures = 0;
            if (received.kind === "gap") await this.#meetGap(received.gap);
            if (received.kind === "event") yield this.#handOut(received);
          }
        } catch (error) {
          reason = error;
        }
        if (this.#isClosed) return;
        if (Date.now() - openedAt > STEADY_MS) failures = 0;
        this.#judge(reason, wasConnected, failures);
        this.#options.onReconnect?.(reason as Error | undefined);
        // A server that closes in order is expected to return, unless it does so repeatedly.
        if (reason !== undefined || failures > 0) await this.#pause(reason, failures);
        failures++;
      }
    } finally {
      this.#limit.release();
    }
  }

  #connect(): AsyncIterable<Received> {
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

  #handOut(received: Received & { kind: "event" }): Event {
    this.cursor = received.cursor;
    return received.event;
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

  /** Throws permanent errors. */
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
    const request = reason instanceof ApiError ? (reason.retryAfter ?? 0) * 1000 : 0;
    try {
      await pause(Math.max(request, backoffMs(failures)), this.#limit.signal, "the pause");
    } catch {
      // close() or the caller's signal; the latter is an error.
      if (!this.#isClosed) this.#judge(undefined, true, 0);
    }
  }
}
