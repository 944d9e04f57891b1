// SPDX-License-Identifier: Apache-2.0
/** What a request sends. */

/** Bytes to upload. A stream is read once: when the connection breaks after that began, it is not
 * sent again; `threads.files.uploadResumable` goes on by itself. */
export type UploadSource =
  | string
  | Uint8Array
  | ArrayBuffer
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

export interface Payload {
  /** What fetch is given, anew for each try. */
  body(): RequestInit["body"] | undefined;
  type: string | undefined;
  /** A stream, of which something has been read. */
  isSpent(): boolean;
  /** What the source of a stream threw by itself. */
  fault(): { error: unknown } | undefined;
  /** Nothing more is read: what a stream that was begun holds open is let go. */
  close(): void;
  isStream: boolean;
}

export const NO_PAYLOAD: Payload = {
  body: () => undefined,
  type: undefined,
  isSpent: () => false,
  fault: () => undefined,
  close: () => {},
  isStream: false,
};

const isIterable = (source: object): source is AsyncIterable<Uint8Array | string> =>
  Symbol.asyncIterator in source;

/** The chunks of a stream or an iterable, one after the other. */
export function chunksOf(
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>,
): AsyncIterator<Uint8Array | string> {
  if (isIterable(source)) return source[Symbol.asyncIterator]();
  // Some browsers' streams cannot be iterated.
  const reader = (source as ReadableStream<Uint8Array>).getReader();
  return {
    next: async () => {
      const { done, value } = await reader.read();
      return done ? { done: true, value: undefined } : { done: false, value };
    },
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

/** Does not wait: a source that is asked for more right now answers that first. */
export function leave(chunks: AsyncIterator<unknown> | undefined): void {
  chunks?.return?.().catch(() => {}); // it failed before, or nobody needs it any more
}

function bytesOf(chunk: Uint8Array | string): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === "string") return new TextEncoder().encode(chunk);
  throw new TypeError("a stream to upload must be of bytes or texts");
}

function streamed(
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>,
): Payload {
  let chunks: AsyncIterator<Uint8Array | string> | undefined;
  let fault: { error: unknown } | undefined;
  const next = async (): Promise<Uint8Array | undefined> => {
    try {
      chunks ??= chunksOf(source);
      const { done, value } = await chunks.next();
      return done ? undefined : bytesOf(value);
    } catch (error) {
      fault = { error };
      throw error;
    }
  };
  const pull = async (out: ReadableStreamDefaultController<Uint8Array>) => {
    const bytes = await next();
    if (bytes === undefined) out.close();
    else out.enqueue(bytes);
  };
  const close = () => leave(chunks);
  return {
    // Nothing is read ahead, so that a try that never got through has spent nothing.
    body: () => new ReadableStream<Uint8Array>({ pull, cancel: close }, { highWaterMark: 0 }),
    type: undefined,
    isSpent: () => chunks !== undefined,
    fault: () => fault,
    close,
    isStream: true,
  };
}

export function payloadOfSource(source: UploadSource, type: string | undefined): Payload {
  const isWhole =
    typeof source === "string" ||
    source instanceof Uint8Array ||
    source instanceof ArrayBuffer ||
    source instanceof Blob;
  if (
    !isWhole &&
    (typeof source !== "object" ||
      source === null ||
      !(isIterable(source) || "getReader" in source))
  )
    throw new TypeError("give a string, bytes, a Blob, a stream or an async iterable to upload");
  const own = source instanceof Blob && source.type !== "" ? source.type : undefined;
  // Without a type fetch would make one up; of this one the server knows that it tells nothing.
  const told = type ?? own ?? "application/octet-stream";
  if (!isWhole) return { ...streamed(source), type: told };
  return { ...NO_PAYLOAD, body: () => source as RequestInit["body"], type: told };
}

export function payloadOfJson(value: unknown, method: string): Payload {
  const text = JSON.stringify(value);
  const isJsonPatch = method === "PATCH" && Array.isArray(value);
  const type = isJsonPatch ? "application/json-patch+json" : "application/json";
  return { ...NO_PAYLOAD, body: () => text, type };
}
