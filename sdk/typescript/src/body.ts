// SPDX-License-Identifier: Apache-2.0
/** Request bodies. */

/** Bytes to upload. A stream can be read only once: if the connection breaks after reading began,
 * the request is not repeated; `threads.files.uploadResumable` continues by itself. */
export type UploadSource =
  | string
  | Uint8Array
  | ArrayBuffer
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

export interface Payload {
  /** Returns the body for fetch; called for each attempt. */
  body(): RequestInit["body"] | undefined;
  type: string | undefined;
  /** True if a part of the stream has been read. */
  isSpent(): boolean;
  /** The error that the source of the stream threw. */
  fault(): { error: unknown } | undefined;
  /** Ends reading, so that a partly read stream releases its resources. */
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

/** Iterates over the chunks of a stream or an iterable. */
export function chunksOf(
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>,
): AsyncIterator<Uint8Array | string> {
  if (isIterable(source)) return source[Symbol.asyncIterator]();
  // Streams of some browsers are not iterable.
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

/** Does not wait, because the source may still be busy with a pending read. */
export function leave(chunks: AsyncIterator<unknown> | undefined): void {
  chunks?.return?.().catch(() => {}); // the source has failed before, or is no longer needed
}

function bytesOf(chunk: Uint8Array | string): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === "string") return new TextEncoder().encode(chunk);
  throw new TypeError("a stream to upload must consist of bytes or strings");
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
    // Nothing is read ahead, so an attempt that never connected has consumed nothing.
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
    throw new TypeError("the body must be a string, bytes, a Blob, a stream or an async iterable");
  const own = source instanceof Blob && source.type !== "" ? source.type : undefined;
  // Without a type fetch would choose one; the server ignores this one.
  const mediaType = type ?? own ?? "application/octet-stream";
  if (!isWhole) return { ...streamed(source), type: mediaType };
  return { ...NO_PAYLOAD, body: () => source as RequestInit["body"], type: mediaType };
}

export function payloadOfJson(value: unknown, method: string): Payload {
  const text = JSON.stringify(value);
  const isJsonPatch = method === "PATCH" && Array.isArray(value);
  const type = isJsonPatch ? "application/json-patch+json" : "application/json";
  return { ...NO_PAYLOAD, body: () => text, type };
}
