// SPDX-License-Identifier: Apache-2.0
/**
 * Sends requests to the server and repeats them safely. A temporary failure is retried if that is
 * harmless: a rejected request has changed nothing; if the outcome is unknown, only a request that
 * may be performed twice is repeated.
 */
import { failureIn } from "./answer.js";
import {
  NO_PAYLOAD,
  type Payload,
  payloadOfJson,
  payloadOfSource,
  type UploadSource,
} from "./body.js";
import type { Cairn } from "./client.js";
import { baseUrlOf, keyOf } from "./config.js";
import { Download } from "./download.js";
import { ApiError, CairnError, NotFound, TimedOut } from "./errors.js";
import { type Failure, failureOfFetch, hopeless } from "./failure.js";
import { type ClientOptions, headersOf, type RequestOptions } from "./options.js";
import { PagePromise, type PageReader } from "./page.js";
import { queryText } from "./path.js";
import { errorOf, problemOf } from "./problems.js";
import { aborted, backoffMs, Limit, pause } from "./timing.js";

const TOTAL_MS = 180_000;
const TRY_MS = 60_000;
const MAX_RETRIES = 4;

/** A request of a resource method. */
export interface Asked {
  body?: unknown;
  source?: UploadSource;
  query?: object | undefined;
  options?: RequestOptions | undefined;
}

interface Request {
  method: string;
  what: string; // "GET /v1/threads", for messages
  path: string;
  url: string;
  headers: Headers;
  payload: Payload;
  options: RequestOptions;
  waitMs: number; // additional time that the server may wait intentionally
  isUpload: boolean; // uploads have no time limit
}

/** A response whose body has not been read. The owner ends and then releases it. */
export interface Opened {
  response: Response;
  limit: Limit;
}

/** Reads a successful response for the caller; the attempt lasts until it returns. */
type Read<T> = (response: Response, limit: Limit) => Promise<T>;

interface Tried<T> {
  value?: T;
  failure?: Failure;
}

/** `If-Match: *` names no version, so it also holds for a repeated request. */
const isConditional = (r: Request): boolean =>
  (r.headers.get("If-Match") ?? "*") !== "*" || r.headers.has("If-None-Match");

/** Returns true if the request may be performed twice. */
const isRepeatable = (r: Request): boolean =>
  r.method === "GET" || r.method === "POST" || (r.method !== "PATCH" && !isConditional(r));

const readNothing = (response: Response): Promise<unknown> => response.text();

/** After a repeated DELETE, 404 means that an earlier attempt has deleted the resource. */
const isGone = (method: string, { error }: Failure): boolean =>
  method === "DELETE" && error instanceof NotFound;

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

export class Connection {
  readonly baseUrl: string;
  // Truly private, so that printing a client never shows the key.
  readonly #options: ClientOptions;
  readonly #defaults: RequestOptions;
  readonly #key: () => Promise<string | undefined>;
  #client: Cairn | undefined;

  constructor(options: ClientOptions = {}) {
    const { baseUrl: _url, apiKey: _key, fetch: _fetch, webSocket: _socket, ...defaults } = options;
    this.baseUrl = baseUrlOf(options);
    this.#defaults = defaults;
    this.#options = options;
    this.#key = keyOf(options);
  }

  get defaults(): RequestOptions {
    return this.#defaults;
  }

  /** The client that uses this connection. */
  get client(): Cairn {
    return this.#client as Cairn;
  }

  set client(client: Cairn) {
    this.#client = client;
  }

  /** Returns a connection to the same server and key with other defaults. */
  with(options: ClientOptions): Connection {
    const headers = { ...this.#options.headers, ...options.headers };
    return new Connection({ ...this.#options, ...options, headers });
  }

  get webSocket(): ClientOptions["webSocket"] {
    return this.#options.webSocket;
  }

  /** Returns the key for transports that do not send it as a header. */
  key(): Promise<string | undefined> {
    return this.#key();
  }

  // --- Requests of resources -------------------------------------------------------------------

  json<T = any>(method: string, path: string, asked: Asked): Promise<T> {
    const read = async (response: Response): Promise<T> => {
      if (response.status === 204) return null as T;
      const isJson = /json/.test(response.headers.get("Content-Type") ?? "");
      return isJson ? await response.json() : ((await response.text()) as T);
    };
    return this.send(method, path, asked, read);
  }

  text(method: string, path: string, asked: Asked): Promise<string> {
    return this.send(method, path, asked, (response) => response.text());
  }

  async none(method: string, path: string, asked: Asked): Promise<void> {
    await this.send(method, path, asked, readNothing);
  }

  /** `cursor` is the parameter for `next_cursor`. */
  page<T, More>(
    path: string,
    query: object = {},
    options?: RequestOptions,
    cursor = "cursor",
  ): PagePromise<T, More> {
    // Messages are read backwards by default, forwards if the caller gives `after`.
    const { after } = query as { after?: unknown };
    const isForwards = after !== undefined && after !== null;
    const name = cursor === "before" && isForwards ? "after" : cursor;
    const read: PageReader = (next) =>
      this.json("GET", path, {
        query: next === undefined ? query : { ...query, [name]: next },
        options,
      });
    return new PagePromise<T, More>(read);
  }

  /** For searches, whose body contains the cursor. */
  postedPage<T>(path: string, body: object, options?: RequestOptions): PagePromise<T> {
    const read: PageReader = (next) => {
      if (next === undefined) return this.json("POST", path, { body, options });
      const { offset: _, ...rest } = body as { offset?: number };
      const again = { ...options, idempotencyKey: undefined };
      return this.json("POST", path, { body: { ...rest, cursor: next }, options: again });
    };
    return new PagePromise<T>(read);
  }

  /** `canResume`: the route supports Range. */
  download(
    path: string,
    query?: object,
    options?: RequestOptions,
    canResume = false,
  ): Promise<Download> {
    const what = `GET ${path}`;
    const failed = (cause: unknown): CairnError => {
      const signal = options?.signal;
      return signal?.aborted
        ? aborted(signal, what)
        : failureOfFetch(what, this.baseUrl, cause).error;
    };
    const resume = async (offset: number, etag: string): Promise<Opened | undefined> => {
      if (options?.signal?.aborted) return undefined;
      const more = { ...options, range: `bytes=${offset}-`, ifRange: etag, ifNoneMatch: undefined };
      const rest = await this.open(path, { query, options: more });
      if (rest.response.status === 206) return rest;
      rest.limit.abort();
      return undefined;
    };
    const goesOn = canResume && options?.range === undefined ? resume : undefined;
    return this.open(path, { query, options }).then((o) => new Download(o, failed, goesOn));
  }

  open(path: string, asked: Asked): Promise<Opened> {
    return this.send("GET", path, asked, async (response, limit) => {
      limit.isKept = true;
      return { response, limit };
    });
  }

  // --- Sending ---------------------------------------------------------------------------------

  async send<T>(method: string, path: string, asked: Asked, read: Read<T>): Promise<T> {
    const request = await this.#prepare(method, path, asked);
    try {
      return await this.#send(request, read);
    } finally {
      request.payload.close();
    }
  }

  async #send<T>(request: Request, read: Read<T>): Promise<T> {
    const total = request.isUpload ? Infinity : TOTAL_MS + request.waitMs;
    const deadline = Date.now() + (request.options.timeoutMs ?? total);
    const most = request.options.maxRetries ?? MAX_RETRIES;
    let wasUnknown = false;
    for (let retries = 0; ; retries++) {
      const { failure, value } = await this.#try(request, deadline, read);
      if (failure === undefined) return value as T;
      if (wasUnknown && isGone(request.method, failure) && read === (readNothing as Read<unknown>))
        return null as T;
      wasUnknown ||= failure.isUnknown;
      const pauseMs = Math.max(backoffMs(retries), failure.retryAfterMs ?? 0);
      const mayGoOn = retries < most && Date.now() + pauseMs < deadline;
      if (!mayGoOn || !mayTryAgain(request, failure, wasUnknown))
        throw finalError(request, failure, wasUnknown);
      await pause(pauseMs, request.options.signal, request.what);
    }
  }

  async #prepare(method: string, path: string, asked: Asked): Promise<Request> {
    const given = Object.entries(asked.options ?? {}).filter(([, v]) => v !== undefined);
    const options: RequestOptions = { ...this.defaults, ...Object.fromEntries(given) };
    options.headers = { ...this.defaults.headers, ...asked.options?.headers };
    if (method === "POST") options.idempotencyKey ??= newKey();
    const payload = payloadOf(method, asked, options);
    const headers = new Headers(headersOf(options));
    const key = await this.#key();
    if (key !== undefined && !headers.has("Authorization"))
      headers.set("Authorization", `Bearer ${key}`);
    if (payload.type !== undefined && !headers.has("Content-Type"))
      headers.set("Content-Type", payload.type);
    const url = this.baseUrl + path + queryText(asked.query);
    const waitMs = 1000 * (Number((asked.query as { wait?: number } | undefined)?.wait) || 0);
    const isUpload = asked.source !== undefined;
    return {
      method,
      what: `${method} ${path}`,
      path,
      url,
      headers,
      payload,
      options,
      waitMs,
      isUpload,
    };
  }

  async #try<T>(request: Request, deadline: number, read: Read<T>): Promise<Tried<T>> {
    const { signal, tryTimeoutMs } = request.options;
    const tryMs = tryTimeoutMs ?? (request.isUpload ? Infinity : TRY_MS + request.waitMs);
    const limit = new Limit(signal, Math.min(tryMs, deadline - Date.now()));
    try {
      const response = await this.#fetch(request, limit);
      show(request, response);
      const failure = await failureIn(request.what, this.baseUrl, response);
      if (failure !== undefined) return { failure };
      return { value: await read(response, limit) };
    } catch (cause) {
      if (cause instanceof CairnError) throw cause;
      const fault = cause instanceof CallerFault ? cause : request.payload.fault();
      if (fault !== undefined) throw fault.error;
      return { failure: this.#failureOf(request, limit, cause) };
    } finally {
      if (limit.isKept) limit.stopClock();
      else limit.release();
    }
  }

  #fetch(request: Request, limit: Limit): Promise<Response> {
    const fetch = this.#options.fetch ?? globalThis.fetch;
    const init: RequestInit & { duplex?: "half" } = {
      method: request.method,
      headers: request.headers,
      body: request.payload.body() ?? null,
      signal: limit.signal,
      redirect: "manual",
    };
    if (request.payload.isStream) init.duplex = "half";
    return fetch(request.url, init);
  }

  #failureOf(request: Request, limit: Limit, cause: unknown): Failure {
    const { what, options } = request;
    if (options.signal?.aborted) return hopeless(aborted(options.signal, what));
    const { isStream, isSpent } = request.payload;
    if (!limit.isExpired) {
      const failure = failureOfFetch(what, this.baseUrl, cause, isStream);
      // If the body was not read, the server has not received a complete request.
      return isStream && !isSpent() ? { ...failure, isUnknown: false } : failure;
    }
    const error = new TimedOut(
      `${what}: ${this.baseUrl} did not respond in time. ` +
        "Is it overloaded? Increase `timeoutMs` and `tryTimeoutMs`.",
    );
    return { error, mayPass: true, isUnknown: true };
  }
}

/** An error thrown by a function of the caller, not a failure of the connection. */
class CallerFault {
  constructor(readonly error: unknown) {}
}

function show({ method, path, options }: Request, { status, headers }: Response): void {
  try {
    options.onResponse?.({ status, headers, method, path });
  } catch (error) {
    throw new CallerFault(error);
  }
}

function payloadOf(method: string, asked: Asked, options: RequestOptions): Payload {
  if (asked.source !== undefined) return payloadOfSource(asked.source, options.contentType);
  return asked.body === undefined ? NO_PAYLOAD : payloadOfJson(asked.body, method);
}

function mayTryAgain(request: Request, failure: Failure, wasUnknown: boolean): boolean {
  return failure.mayPass && !request.payload.isSpent() && (!wasUnknown || isRepeatable(request));
}

/** If an attempt of a write may have been performed, the error is `OutcomeUnknown`. */
function finalError(request: Request, failure: Failure, wasUnknown: boolean): CairnError {
  const { error } = failure;
  if (!wasUnknown || !failure.mayPass || request.method === "GET") return error;
  if (error instanceof ApiError && error.code === "outcome_unknown") return error;
  const spent = request.payload.isSpent()
    ? "; its body is a stream that was partly sent, so the request cannot be repeated"
    : "";
  const why = error.message.slice(request.what.length + 2).split(". ")[0];
  const detail = `the request may have been performed, but there was no response: ${why}${spent}`;
  return errorOf(request.what, problemOf(0, "outcome_unknown", detail), { cause: error });
}
