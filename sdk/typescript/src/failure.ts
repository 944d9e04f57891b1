// SPDX-License-Identifier: Apache-2.0
/** The result of a failed attempt, and whether another attempt is useful. */
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
  /** True if the next attempt may succeed. */
  mayPass: boolean;
  /** True if the server may have performed the request. */
  isUnknown: boolean;
  /** The delay that the server requested. */
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
/** A browser does not report that the server rejected the origin of the page. */
const IS_NODE = "process" in globalThis;
const TLS = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO)/;

interface Cause {
  code?: string;
  message?: string;
  errors?: Cause[];
  cause?: Cause;
}

/** Returns the innermost cause: fetch wraps it, once more for a name with several addresses. */
function reasonOf(error: Cause): Cause {
  const inner = error.cause ?? error.errors?.[0];
  return inner === undefined ? error : reasonOf(inner);
}

function connectionFailed(what: string, url: string, why: string, advice: string, cause: unknown) {
  return new ConnectionFailed(`${what}: ${url} ${why}. ${advice}`, { cause });
}

function adviceFor(sendsStream: boolean): string {
  if (IS_NODE) return "Is the server running, and is it http:// or https://?";
  // A browser reports the same reason for all of these.
  const page = "Is the server running, and does it allow this page (--allow-origin)?";
  return sendsStream ? `${page} Browsers send streams only over HTTP/2: upload a Blob.` : page;
}

/** For a request without a response, or with a partial one. */
export function failureOfFetch(
  what: string,
  url: string,
  cause: unknown,
  sendsStream = false,
): Failure {
  const { code = "", message = "" } = reasonOf((cause ?? {}) as Cause);
  const failed = (why: string, advice: string) => connectionFailed(what, url, why, advice, cause);
  if (code === "ENOTFOUND")
    return hopeless(failed("has an unknown host name", "Is `baseUrl` (CAIRN_URL) correct?"));
  if (message === "bad port")
    return hopeless(
      failed("has a port that fetch blocks", "Use another port for the server."),
    );
  if (TLS.test(code))
    return hopeless(
      failed(
        `is not trusted or does not support TLS (${code})`,
        "Is it http:// or https://? For a private authority, set NODE_EXTRA_CA_CERTS.",
      ),
    );
  if (code.startsWith("HPE_"))
    return hopeless(
      new NotCairn(`${what}: ${url} does not speak HTTP. Is the port of \`baseUrl\` correct?`, {
        cause,
      }),
    );
  if (NEVER_SENT.has(code)) {
    const why = code === "ECONNREFUSED" ? "refuses connections" : `cannot be reached (${code})`;
    const error = failed(why, "Is the server running (`cairn serve`), and is `baseUrl` correct?");
    return { error, mayPass: true, isUnknown: false };
  }
  const why = `closed the connection or could not be reached (${code || message || "no reason"})`;
  return { error: failed(why, adviceFor(sendsStream)), mayPass: true, isUnknown: true };
}

/**
 * Returns true if a long-running operation may continue after this error. Errors about the request
 * itself are permanent. `wasConnected`: an earlier request succeeded.
 */
export function canHeal(error: unknown, wasConnected: boolean): boolean {
  if (error instanceof DataDamaged) return false;
  if (error instanceof ApiError)
    return error.status === 0 || error.status >= 500 || [408, 429].includes(error.status);
  // During a failover a proxy may respond for a moment.
  if (error instanceof NotCairn) return wasConnected;
  return error instanceof ConnectionFailed || error instanceof TimedOut;
}
