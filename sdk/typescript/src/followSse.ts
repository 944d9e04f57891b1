// SPDX-License-Identifier: Apache-2.0
/** Events over Server-Sent Events. */
import { ConnectionFailed } from "./errors.js";
import type { Attempt, Gap, Received } from "./follow.js";
import type { Event } from "./generated/types.js";
import { type Message, SseParser } from "./sse.js";
import { Limit } from "./timing.js";

function parseMessage(message: Message): Received | undefined {
  if (message.event === "closed")
    return { kind: "closed", cursor: (JSON.parse(message.data) as Gap).cursor };
  if (message.event === "gap") return { kind: "gap", gap: JSON.parse(message.data) as Gap };
  if (message.event !== "message") return undefined; // from a newer server
  return { kind: "event", event: JSON.parse(message.data) as Event, cursor: message.id ?? "" };
}

const silent = (attempt: Attempt): ConnectionFailed =>
  new ConnectionFailed(
    `GET ${attempt.path}/stream: nothing was received for ${attempt.silenceMs / 1000} s`,
  );

/** Ends without a final message if the server drops the connection. */
export async function* overSse(attempt: Attempt): AsyncGenerator<Received, void> {
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
      // Only while waiting: a slow consumer does not mean a dead connection.
      life.restart(silenceMs);
      const { done, value } = await reader.read();
      life.stopClock();
      if (done)
        throw new ConnectionFailed(
          `GET ${attempt.path}/stream: the server ended the stream without a reason`,
        );
      for (const message of parser.push(decoder.decode(value, { stream: true }))) {
        const received = parseMessage(message);
        if (received !== undefined) yield received;
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
