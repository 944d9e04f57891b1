// SPDX-License-Identifier: Apache-2.0
/** Events by WebSocket. */
import { CairnError, ConnectionFailed, EventsPruned } from "./errors.js";
import type { Attempt, Gap, Told } from "./follow.js";
import type { Event } from "./generated/types.js";
import { headersOf } from "./options.js";
import { queryText } from "./path.js";
import { webSockets } from "./socket/webSocket.js";
import type { OpenSocket, SocketOpener } from "./socket/types.js";
import { ownSockets } from "#platform";

/** A WebSocket sends whether its reader reads or not. Beyond this it is closed, and the reader
 * comes back for the rest when it has read what is here. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/** In the place of a message, which is never empty. */
const OPENED = "";

interface End {
  isOpen: boolean;
  code: number;
  reason: string;
  isSilent?: boolean; // nothing came for too long
}

/** What came, until it is asked for. */
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

  /** The next text, or how it ended once all texts are taken. */
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
      "a WebSocket of the platform cannot send the principal: " +
        'use a key that acts for it, or transport "sse"',
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

/** A refused handshake has no reason that a program can read; an ordinary request has. */
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
    `GET ${attempt.path}/ws: requests are answered, but no WebSocket could be opened ` +
      `(${reason}). Does a proxy stand between? Use transport "sse".`,
  );
}

/** The cursors of what comes: the same that Server-Sent Events name. */
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

  read(text: string): Told {
    const value = JSON.parse(text) as Event & Gap;
    if (value.kind !== "gap" || value.pruned_through === undefined)
      return { kind: "event", event: value, cursor: this.of(value) };
    this.#toldGap = value.pruned_through;
    return { kind: "gap", gap: value };
  }
}

export async function* overWebSocket(attempt: Attempt): AsyncGenerator<Told, void> {
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

/** An end in order is told as one; any other is thrown. */
async function ending(attempt: Attempt, end: End): Promise<Told> {
  const what = `GET ${attempt.path}/ws`;
  if (end.isSilent)
    throw new ConnectionFailed(`${what}: nothing came for ${attempt.silenceMs / 1000} s`);
  if (!end.isOpen) throw await whyNot(attempt, end.reason);
  if (end.code === 1006) throw new ConnectionFailed(`${what}: the connection broke`);
  return { kind: "closed", cursor: / cursor=(\S+)$/.exec(end.reason)?.[1] };
}
