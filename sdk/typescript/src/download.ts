// SPDX-License-Identifier: Apache-2.0
/** Downloads. */
import type { Opened } from "./connection.js";
import type { CairnError } from "./errors.js";
import { errorOf, problemOf } from "./problems.js";
import { sha256 } from "#platform";

/** The maximum number of consecutive failures without a received byte. */
const MAX_BREAKS = 4;

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Requests the rest from an offset; returns undefined if the content has changed. */
export type Resume = (offset: number, etag: string) => Promise<Opened | undefined>;

/**
 * A response of bytes. Read `body` or iterate to process the bytes as they arrive, or read all at
 * once. If the connection breaks, the download continues at the same position, unless the content
 * has changed. The complete content is compared with its digest; a mismatch throws `DataDamaged`.
 */
export class Download implements AsyncIterable<Uint8Array> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array>;

  constructor(opened: Opened, failed: (cause: unknown) => CairnError, resume?: Resume) {
    this.status = opened.response.status;
    this.headers = opened.response.headers;
    this.body = lasting(opened, failed, resume);
  }

  /** The media type. */
  get contentType(): string {
    return this.headers.get("Content-Type") ?? "application/octet-stream";
  }

  /** The size in bytes, if the server sent it. Of a compressed response it is not known. */
  get size(): number | undefined {
    if (this.headers.has("Content-Encoding")) return undefined;
    const text = this.headers.get("Content-Length");
    return text === null ? undefined : Number(text);
  }

  get etag(): string | undefined {
    return this.headers.get("ETag") ?? undefined;
  }

  /** `sha-256=:BASE64:` of the complete content. */
  get digest(): string | undefined {
    return this.headers.get("Repr-Digest") ?? undefined;
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await new Response(this.body).arrayBuffer());
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  async json<T = unknown>(): Promise<T> {
    return JSON.parse(await this.text()) as T;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    const reader = this.body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel();
    }
  }
}

/** The SHA-256 of the received bytes, if they are the complete content. */
function expectedDigest(response: Response): string | undefined {
  if (response.status !== 200) return undefined;
  return /sha-256=:([^:]+):/.exec(response.headers.get("Repr-Digest") ?? "")?.[1];
}

function damaged(url: string): CairnError {
  const { pathname } = new URL(url);
  return errorOf(
    `GET ${pathname}`,
    problemOf(0, "data_damaged", "the received bytes differ from the stored ones"),
  );
}

/** The body of the response, which survives broken connections. */
function lasting(
  opened: Opened,
  failed: (cause: unknown) => CairnError,
  resume: Resume | undefined,
): ReadableStream<Uint8Array> {
  const etag = opened.response.headers.get("ETag");
  let { limit } = opened;
  let reader: Reader | undefined = opened.response.body?.getReader();
  let offset = 0;
  const digest = expectedDigest(opened.response);
  const hash = digest === undefined ? undefined : sha256();

  let [breaks, brokeAt] = [0, -1];
  const goOn = async (cause: unknown): Promise<void> => {
    limit.release();
    breaks = offset > brokeAt ? 0 : breaks + 1;
    brokeAt = offset;
    const mayGoOn = etag !== null && breaks < MAX_BREAKS;
    const rest = mayGoOn ? await resume?.(offset, etag) : undefined;
    if (rest === undefined) throw failed(cause);
    limit = rest.limit;
    reader = rest.response.body?.getReader();
  };
  const next = async (): Promise<Uint8Array | undefined> => {
    for (;;)
      try {
        return (await reader?.read())?.value;
      } catch (cause) {
        await goOn(cause);
      }
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(out) {
        const value = await next();
        if (value !== undefined) {
          offset += value.byteLength;
          hash?.update(value);
          return out.enqueue(value);
        }
        limit.release();
        if (hash !== undefined && hash.digest() !== digest) throw damaged(opened.response.url);
        return out.close();
      },
      async cancel(reason) {
        await reader?.cancel(reason);
        limit.release();
      },
    },
    { highWaterMark: 0 },
  );
}
