// SPDX-License-Identifier: Apache-2.0
/** Events over a WebSocket. */
import { CairnError, ConnectionFailed, EventsPruned } from "./errors.js";
import type { Attempt, Gap, Received } from "./follow.js";
import type { Event } from "./generated/types.js";
import { headersOf } from "./options.js";
import { queryText } from "./path.js";
import { webSockets } from "./socket/webSocket.js";
import type { OpenSocket, SocketOpener } from "./socket/types.js";
import { ownSockets } from "#platform";

/** A WebSocket has no flow control. Above this limit it is closed, and the reader reconnects for
 * the rest when it has consumed the buffered messages. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/** Marks the successful handshake in the queue; a message is never empty. */
const OPENED = "";

interface End {
  isOpen: boolean;
  code: number;
  reason: string;
  isSilent?: boolean; // silent for too long
}

/** A queue of received messages. */
class Inbox {
  #texts: string[] = [];
  #bytes = 0;
  #end: End | undefined;
  #wake: (() => void) | undefined;
  #clock: ReturnType<typeof setTimeout> | undefined;

  get isFull(): boolean {
    return this.#bytes > MAX_QUEUED_BYTES;
  }

  put(text: string): void {
    this.#texts.push(text);
    this.#bytes += text.length;
    this.#wake?.();
  }

  end(end: End): void {
    this.#end ??= end;
    this.stopClock();
    this.#wake?.();
  }

  restartClock(ms: number): void {
    this.stopClock();
    const silence = { isOpen: true, code: 1006, reason: "", isSilent: true };
    if (this.#end === undefined) this.#clock = setTimeout(() => this.end(silence), ms);
  }

  stopClock(): void {
    clearTimeout(this.#clock);
  }

  /** Returns the next text, or the end after all texts have been consumed. */
  async take(): Promise<string | End> {
    for (;;) {
      const text = this.#texts.shift();
      if (text !== undefined) {
        this.#bytes -= text.length;
        return text;
      }
      if (this.#end !== undefined) return this.#end;
      await new Promise<void>((wake) => (this.#wake = wake));
    }
  }
}

function openerFor(attempt: Attempt): SocketOpener {
  const opener = attempt.connection.webSocket === undefined ? ownSockets : webSockets;
  const { principal } = { ...attempt.connection.defaults, ...attempt.options };
  if (principal !== undefined && !opener.canSendHeaders)
    throw new CairnError(
      "the platform's WebSocket cannot send the principal: " +
        'use a key of that principal, or transport "sse"',
    );
  return opener;
}

async function openSocket(
  attempt: Attempt,
  opener: SocketOpener,
  inbox: Inbox,
): Promise<OpenSocket> {
  const { connection, options } = attempt;
  const { principal, headers } = { ...connection.defaults, ...options };
  const silenceMs = attempt.silenceMs * (opener.seesPings ? 1 : 2);
  const key = await connection.key();
  const socket: OpenSocket = opener.open(
    {
      url:
        connection.baseUrl.replace(/^http/, "ws") + `${attempt.path}/ws` + queryText(attempt.query),
      key,
      headers: headersOf({ principal, headers }),
      webSocket: connection.webSocket,
    },
    {
      open: () => inbox.put(OPENED),
      alive: () => inbox.restartClock(silenceMs),
      message: (text) => {
        inbox.put(text);
        if (!inbox.isFull) return;
        inbox.end({ isOpen: true, code: 1000, reason: "full" });
        socket.close();
      },
      end: (end) => inbox.end(end),
    },
  );
  inbox.restartClock(silenceMs);
  return socket;
}

/** A failed handshake exposes no reason to a program; an ordinary request does. */
async function whyNot(attempt: Attempt, reason: string): Promise<Error> {
  const { principal, headers } = attempt.options;
  try {
    await attempt.connection.json("GET", attempt.path, {
      query: { ...attempt.query, limit: 1 },
      options: { principal, headers, maxRetries: 0, signal: attempt.signal },
    });
  } catch (error) {
    if (!(error instanceof EventsPruned)) return error as Error;
  }
  return new ConnectionFailed(
    `GET ${attempt.path}/ws: requests succeed, but no WebSocket could be opened ` +
      `(${reason}). Is there a proxy in between? Use transport "sse".`,
  );
}

/** Computes the cursors of messages, the same as those of Server-Sent Events. */
class Cursors {
  #toldGap = 0;

  constructor(
    readonly isTenantWide: boolean,
    after = "",
  ) {
    this.#toldGap = Number(after.split("~")[1] ?? 0);
  }

  of(event: Event): string {
    if (!this.isTenantWide) return String(event.seq);
    return event.id < this.#toldGap ? `${event.id}~${this.#toldGap}` : String(event.id);
  }

  read(text: string): Received {
    const value = JSON.parse(text) as Event & Gap;
    if (value.kind !== "gap" || value.pruned_through === undefined)
      return { kind: "event", event: value, cursor: this.of(value) };
    this.#toldGap = value.pruned_through;
    return { kind: "gap", gap: value };
  }
}

export async function* overWebSocket(attempt: Attempt): AsyncGenerator<Received, void> {
  const inbox = new Inbox();
  const cursors = new Cursors(attempt.isTenantWide, attempt.query.after);
  const socket = await openSocket(attempt, openerFor(attempt), inbox);
  const stop = () => inbox.end({ isOpen: true, code: 1000, reason: "closed" });
  attempt.signal.addEventListener("abort", stop, { once: true });
  if (attempt.signal.aborted) stop();
  try {
    for (;;) {
      const taken = await inbox.take();
      if (typeof taken !== "string") return yield await ending(attempt, taken);
      yield taken === OPENED ? { kind: "open" } : cursors.read(taken);
    }
  } finally {
    attempt.signal.removeEventListener("abort", stop);
    inbox.stopClock();
    socket.close();
  }
}

/** Returns an orderly end as a message; throws on any other end. */
async function ending(attempt: Attempt, end: End): Promise<Received> {
  const what = `GET ${attempt.path}/ws`;
  if (end.isSilent)
    throw new ConnectionFailed(`${what}: nothing was received for ${attempt.silenceMs / 1000} s`);
  if (!end.isOpen) throw await whyNot(attempt, end.reason);
  if (end.code === 1006) throw new ConnectionFailed(`${what}: the connection broke`);
  return { kind: "closed", cursor: / cursor=(\S+)$/.exec(end.reason)?.[1] };
}
