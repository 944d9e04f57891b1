// SPDX-License-Identifier: Apache-2.0
/** What one request may be told besides its arguments. A client has defaults for all of them. */
export interface RequestOptions {
  /** Ends the request, or the stream, with `Aborted`. */
  signal?: AbortSignal;
  /**
   * How long the whole call may take, tries and pauses between them together; 180,000 unless told.
   * Of a download it counts until its bytes begin to come; an upload has no limit unless told.
   */
  timeoutMs?: number;
  /** How long one try may take; 60,000 unless told. A long poll's `wait` comes on top. */
  tryTimeoutMs?: number;
  /** How often it is sent again after a failure that may pass; 4 unless told, 0: never. */
  maxRetries?: number;
  /** Of a POST; made unless told, and the same for every try. */
  idempotencyKey?: string;
  /** The version (or revision, or ETag) that the object must have, else `StaleEtag`. */
  ifMatch?: number | string;
  /** Of a read: `NotModified` when it has this version. Of a write: `"*"`, only what is new. */
  ifNoneMatch?: number | string;
  /** The `fence` of the claimed run that this write belongs to. */
  fencingToken?: number | string;
  /** `user:NAME` or `agent:UUID`: the request acts for this one alone. */
  principal?: string;
  /** `eventual` lets a replica answer that lags a little. */
  consistency?: "strong" | "eventual";
  /** The media type of uploaded bytes. */
  contentType?: string;
  /** SHA-256 of uploaded bytes, `sha-256=:BASE64:`; other bytes are refused. */
  contentDigest?: string;
  /** Of a download, `bytes=0-99`. */
  range?: string;
  /** The ETag under which the range is wanted. */
  ifRange?: string;
  /** Sent as they are, after those of the client. */
  headers?: Record<string, string>;
  /** Is shown every answer, also one that will be tried again: for logs and measurements. */
  onResponse?: (response: {
    status: number;
    headers: Headers;
    method: string;
    path: string;
  }) => void;
}

/** A constructor as browsers have it. */
export type WebSocketConstructor = new (url: string, protocols?: string[]) => WebSocketLike;

export interface WebSocketLike {
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  close(code?: number, reason?: string): void;
}

export interface ClientOptions extends Omit<RequestOptions, "signal" | "idempotencyKey" | "range"> {
  /** Where the server is; `CAIRN_URL` unless told, else http://127.0.0.1:7420. */
  baseUrl?: string;
  /** The key, or what gives it for each request; `CAIRN_API_KEY` unless told. */
  apiKey?: string | (() => string | Promise<string>);
  /** In the place of the platform's. */
  fetch?: typeof globalThis.fetch;
  /** In the place of the platform's. */
  webSocket?: WebSocketConstructor;
}

const etag = (value: number | string): string =>
  value === "*" || /^(W\/)?"/.test(String(value)) ? String(value) : `"${value}"`;

/** Of documents whose ETag is their revision with an r before it. */
export function byRevision(options: RequestOptions | undefined): RequestOptions | undefined {
  const of = (value: number | string | undefined) =>
    typeof value === "number" ? `r${value}` : value;
  return (
    options && { ...options, ifMatch: of(options.ifMatch), ifNoneMatch: of(options.ifNoneMatch) }
  );
}

/** Header values are bytes to fetch; names of principals are UTF-8. */
const utf8 = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");

/** The headers that these options ask for. */
export function headersOf(o: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (o.idempotencyKey !== undefined) headers["Idempotency-Key"] = o.idempotencyKey;
  if (o.ifMatch !== undefined) headers["If-Match"] = etag(o.ifMatch);
  if (o.ifNoneMatch !== undefined) headers["If-None-Match"] = etag(o.ifNoneMatch);
  if (o.fencingToken !== undefined) headers["Cairn-Fencing-Token"] = String(o.fencingToken);
  if (o.principal !== undefined) headers["Cairn-Principal"] = utf8(o.principal);
  if (o.consistency !== undefined) headers["Cairn-Consistency"] = o.consistency;
  if (o.contentDigest !== undefined) headers["Content-Digest"] = o.contentDigest;
  if (o.range !== undefined) headers["Range"] = o.range;
  if (o.ifRange !== undefined) headers["If-Range"] = etag(o.ifRange);
  return { ...headers, ...o.headers };
}
