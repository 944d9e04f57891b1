// SPDX-License-Identifier: Apache-2.0
/** What became of one try that did not succeed, and whether another one may be made. */
import {
  ApiError,
  type CairnError,
  ConnectionFailed,
  DataDamaged,
  NotCairn,
  TimedOut,
} from "./errors.js";

export interface Failure {
  error: CairnError;
  /** It may be otherwise the next time. */
  mayPass: boolean;
  /** The server may have carried the request out. */
  isUnknown: boolean;
  /** What the server asked for. */
  retryAfterMs?: number;
}

export const hopeless = (error: CairnError): Failure => ({
  error,
  mayPass: false,
  isUnknown: false,
});

const NEVER_SENT = new Set([
  "ECONNREFUSED",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENOENT",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** A browser does not say that the server refused the page. */
const IS_NODE = "process" in globalThis;
const TLS = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO)/;

interface Cause {
  code?: string;
  message?: string;
  errors?: Cause[];
  cause?: Cause;
}

/** The innermost reason: fetch wraps it, and a name with several addresses wraps it again. */
function reasonOf(error: Cause): Cause {
  const inner = error.cause ?? error.errors?.[0];
  return inner === undefined ? error : reasonOf(inner);
}

function connectionFailed(what: string, url: string, why: string, advice: string, cause: unknown) {
  return new ConnectionFailed(`${what}: ${url} ${why}. ${advice}`, { cause });
}

function adviceFor(sendsStream: boolean): string {
  if (IS_NODE) return "Does the server run, and is it http:// or https://?";
  // A browser gives one reason for all of these.
  const page = "Does the server run, and does it allow this page (--allow-origin)?";
  return sendsStream ? `${page} Browsers send streams over HTTP/2 only: upload a Blob.` : page;
}

/** Of a request that got no answer, or only a part of one. */
export function failureOfFetch(
  what: string,
  url: string,
  cause: unknown,
  sendsStream = false,
): Failure {
  const { code = "", message = "" } = reasonOf((cause ?? {}) as Cause);
  const failed = (why: string, advice: string) => connectionFailed(what, url, why, advice, cause);
  if (code === "ENOTFOUND")
    return hopeless(failed("has a name that nobody knows", "Is `baseUrl` (CAIRN_URL) right?"));
  if (message === "bad port")
    return hopeless(
      failed("has a port that fetch never asks", "Let the server listen on another one."),
    );
  if (TLS.test(code))
    return hopeless(
      failed(
        `cannot be trusted or speaks no TLS (${code})`,
        "Is it http:// or https://? Give a private authority with NODE_EXTRA_CA_CERTS.",
      ),
    );
  if (code.startsWith("HPE_"))
    return hopeless(
      new NotCairn(`${what}: ${url} does not speak HTTP. Is the port of \`baseUrl\` right?`, {
        cause,
      }),
    );
  if (NEVER_SENT.has(code)) {
    const why = code === "ECONNREFUSED" ? "refuses connections" : `cannot be reached (${code})`;
    const error = failed(why, "Does the server run (`cairn serve`), and is `baseUrl` right?");
    return { error, mayPass: true, isUnknown: false };
  }
  const why = `broke the connection or could not be reached (${code || message || "no reason"})`;
  return { error: failed(why, adviceFor(sendsStream)), mayPass: true, isUnknown: true };
}

/**
 * Whether who goes on for long may go on after this: what the server says of the request itself
 * does not change. `wasConnected`: it was answered before.
 */
export function canHeal(error: unknown, wasConnected: boolean): boolean {
  if (error instanceof DataDamaged) return false;
  if (error instanceof ApiError)
    return error.status === 0 || error.status >= 500 || [408, 429].includes(error.status);
  // While servers change places, a proxy may answer for a moment.
  if (error instanceof NotCairn) return wasConnected;
  return error instanceof ConnectionFailed || error instanceof TimedOut;
}
