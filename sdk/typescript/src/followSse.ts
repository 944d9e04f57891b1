// SPDX-License-Identifier: Apache-2.0
/** Events by Server-Sent Events. */
import { ConnectionFailed } from "./errors.js";
import type { Attempt, Gap, Told } from "./follow.js";
import type { Event } from "./generated/types.js";
import { type Message, SseParser } from "./sse.js";
import { Limit } from "./timing.js";

function toldBy(message: Message): Told | undefined {
  if (message.event === "closed")
    return { kind: "closed", cursor: (JSON.parse(message.data) as Gap).cursor };
  if (message.event === "gap") return { kind: "gap", gap: JSON.parse(message.data) as Gap };
  if (message.event !== "message") return undefined; // of a newer server
  return { kind: "event", event: JSON.parse(message.data) as Event, cursor: message.id ?? "" };
}

const silent = (attempt: Attempt): ConnectionFailed =>
  new ConnectionFailed(
    `GET ${attempt.path}/stream: nothing came for ${attempt.silenceMs / 1000} s`,
  );

/** Ends without a word when the server cuts the connection. */
export async function* overSse(attempt: Attempt): AsyncGenerator<Told, void> {
  const { connection, options, silenceMs } = attempt;
  const life = new Limit(attempt.signal);
  const { response, limit } = await connection
    .open(`${attempt.path}/stream`, {
      query: attempt.query,
      options: {
        signal: life.signal,
        principal: options.principal,
        maxRetries: 0,
        tryTimeoutMs: silenceMs,
        headers: { Accept: "text/event-stream", ...options.headers },
      },
    })
    .catch((error) => {
      life.release();
      throw error;
    });
  const parser = new SseParser();
  const decoder = new TextDecoder();
  const reader = response.body!.getReader();
  try {
    yield { kind: "open" };
    for (;;) {
      // Only while it waits: who is slow to ask for more is no dead connection.
      life.restart(silenceMs);
      const { done, value } = await reader.read();
      life.stopClock();
      if (done)
        throw new ConnectionFailed(
          `GET ${attempt.path}/stream: the server ended it without a word`,
        );
      for (const message of parser.push(decoder.decode(value, { stream: true }))) {
        const told = toldBy(message);
        if (told !== undefined) yield told;
      }
    }
  } catch (cause) {
    if (life.isExpired) throw silent(attempt);
    if (cause instanceof Error && cause.name === "ConnectionFailed") throw cause;
    throw new ConnectionFailed(`GET ${attempt.path}/stream: the connection broke`, { cause });
  } finally {
    limit.release();
    life.abort();
    reader.cancel().catch(() => {});
  }
}
