// SPDX-License-Identifier: Apache-2.0
/** Resumable uploads: acknowledged pieces are kept if a later piece fails. */
import { chunksOf, leave } from "./body.js";
import type { Cairn } from "./client.js";
import { Aborted, ApiError, CairnError, Conflict, ConnectionFailed, TimedOut } from "./errors.js";
import type { File, Upload } from "./generated/types.js";
import { backoffMs, pause } from "./timing.js";

/** A stream needs `size`; restarting the upload needs a new stream. */
export type ResumableSource =
  string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

export interface ResumableOptions {
  signal?: AbortSignal;
  contentType?: string;
  /** The number of bytes; required for a stream. */
  size?: number;
  /** SHA-256 of the content in hexadecimal; the server verifies it. */
  sha256?: string;
  /** The version that the file must have at the end; 0: it must not exist. */
  expectedVersion?: number;
  /** The id of an upload that another process started, to continue it. */
  uploadId?: string;
  /** The size of a piece; default: 8 MiB. */
  pieceBytes?: number;
  /** The maximum time without progress; default: 120,000. */
  patienceMs?: number;
  /** Called with the progress; `upload.id` identifies the upload for later continuation. */
  onProgress?: (upload: Upload) => void;
}

const PIECE_BYTES = 8 * 1024 * 1024;
const PATIENCE_MS = 120_000;
/** The time limit of one piece; a slower connection is considered dead. */
const PIECE_MS = 600_000;

/** Returns the bytes from an offset; a piece can be requested again until the next one is. */
interface Pieces {
  size: number;
  read(offset: number, length: number): Promise<Blob | Uint8Array>;
  /** Ends reading. */
  close(): void;
}

function piecesOfWhole(source: string | Uint8Array | Blob): Pieces {
  if (source instanceof Blob)
    return {
      size: source.size,
      read: async (offset, length) => source.slice(offset, offset + length),
      close: () => {},
    };
  const bytes = typeof source === "string" ? new TextEncoder().encode(source) : source;
  return {
    size: bytes.byteLength,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
    close: () => {},
  };
}

/** Buffers the unacknowledged bytes. */
class StreamedPieces implements Pieces {
  readonly #chunks: AsyncIterator<Uint8Array | string>;
  #held: Uint8Array[] = [];
  #start = 0; // of the buffer
  #end = 0;

  constructor(
    source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>,
    readonly size: number,
  ) {
    this.#chunks = chunksOf(source);
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    if (offset < this.#start)
      throw new CairnError("the server lacks earlier bytes of the stream: start a new upload");
    while (this.#end < offset + length) {
      const { done, value } = await this.#chunks.next();
      if (done) throw new CairnError(`the stream ended after ${this.#end} of ${this.size} bytes`);
      const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
      this.#held.push(bytes);
      this.#end += bytes.byteLength;
      this.#drop(offset);
    }
    this.#drop(offset);
    return joined(this.#held, offset - this.#start, length);
  }

  close(): void {
    leave(this.#chunks);
  }

  #drop(offset: number): void {
    for (let first = this.#held[0]; first !== undefined; first = this.#held[0]) {
      if (this.#start + first.byteLength > offset) return;
      this.#start += first.byteLength;
      this.#held.shift();
    }
  }
}

function joined(parts: Uint8Array[], skip: number, length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = -skip;
  for (const part of parts) {
    const from = Math.max(0, -at);
    const room = length - Math.max(at, 0);
    if (room > 0) whole.set(part.subarray(from, from + room), Math.max(at, 0));
    at += part.byteLength;
  }
  return whole;
}

function piecesOf(source: ResumableSource, size: number | undefined): Pieces {
  const isWhole =
    typeof source === "string" || source instanceof Uint8Array || source instanceof Blob;
  if (isWhole) return piecesOfWhole(source);
  if (size === undefined) throw new TypeError("set the `size` of the stream in bytes");
  return new StreamedPieces(source, size);
}

/** Returns true if a retry may succeed. A conflict: an old connection of ours still writes. */
const mayPass = (error: unknown): boolean =>
  error instanceof ConnectionFailed ||
  error instanceof TimedOut ||
  error instanceof Conflict ||
  (error instanceof ApiError && (error.retryable || error.code === "outcome_unknown"));

export async function uploadResumable(
  client: Cairn,
  threadId: string,
  name: string,
  source: ResumableSource,
  options: ResumableOptions = {},
): Promise<File> {
  const pieces = piecesOf(source, options.size);
  try {
    return pieces.size === 0
      ? await client.threads.files.upload(threadId, name, "", wholeOptions(options))
      : await uploadPieces(client, threadId, name, pieces, options);
  } finally {
    pieces.close();
  }
}

async function uploadPieces(
  client: Cairn,
  threadId: string,
  name: string,
  pieces: Pieces,
  options: ResumableOptions,
): Promise<File> {
  const { signal, pieceBytes = PIECE_BYTES, patienceMs = PATIENCE_MS, onProgress } = options;
  let upload = await begin(client, threadId, name, pieces.size, options);
  onProgress?.(upload);

  const look = () => client.threads.uploads.get(threadId, upload.id, { signal });
  const sendPiece = async () => {
    const { offset_bytes: offset } = upload;
    const piece = await pieces.read(offset, Math.min(pieceBytes, pieces.size - offset));
    const asked = { signal, maxRetries: 0, timeoutMs: Math.max(patienceMs, PIECE_MS) };
    return client.threads.uploads.append(threadId, upload.id, piece, { offset }, asked);
  };
  for (let failures = 0, since = Date.now(); upload.offset_bytes < pieces.size;) {
    const before = upload.offset_bytes;
    try {
      upload = await (failures === 0 ? sendPiece() : look());
      if (failures > 0 && upload.offset_bytes === before) upload = await sendPiece();
    } catch (error) {
      if (error instanceof Aborted || !mayPass(error) || Date.now() - since > patienceMs)
        throw error;
      await pause(backoffMs(failures++), signal, `the upload of ${name}`);
      continue;
    }
    if (upload.offset_bytes > before) [failures, since] = [0, Date.now()];
    onProgress?.(upload);
  }
  return client.threads.uploads.complete(threadId, upload.id, {
    signal,
    timeoutMs: patienceMs,
    maxRetries: 20,
  });
}

/** A piece must not be empty; a file may be. */
function wholeOptions({ signal, contentType, expectedVersion }: ResumableOptions) {
  const condition = expectedVersion === 0 ? { ifNoneMatch: "*" } : { ifMatch: expectedVersion };
  return { signal, contentType, ...(expectedVersion === undefined ? {} : condition) };
}

async function begin(
  client: Cairn,
  threadId: string,
  name: string,
  size: number,
  options: ResumableOptions,
): Promise<Upload> {
  const { signal, uploadId } = options;
  if (uploadId === undefined)
    return client.threads.uploads.create(
      threadId,
      {
        name,
        size_bytes: size,
        content_type: options.contentType,
        sha256: options.sha256,
        expected_version: options.expectedVersion,
      },
      { signal },
    );
  const upload = await client.threads.uploads.get(threadId, uploadId, { signal });
  if (upload.size_bytes === size && upload.name === name) return upload;
  throw new CairnError(
    `upload ${uploadId} is for ${upload.name} with ${upload.size_bytes} bytes, ` +
      `not for ${name} with ${size}`,
  );
}
