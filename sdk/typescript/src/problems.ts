// SPDX-License-Identifier: Apache-2.0
/** From a refusal to its error: by the code, or by the status when the code is a new one. */
import * as E from "./errors.js";

type Kind = new (
  message: string,
  problem: E.Problem,
  options?: ErrorOptions & { retryAfter?: number },
) => E.ApiError;
type Meaning = [kind: Kind, advice: string];

const KEY = "Give the key as `apiKey` or CAIRN_API_KEY.";
const INPUT: Meaning = [E.InvalidInput, ""];
const LARGE: Meaning = [E.TooLarge, "Send or ask for less at once; docs/api.md has the limits."];
const GONE: Meaning = [E.Gone, "Ask for a new one."];
const CONFLICT: Meaning = [E.Conflict, ""];
const LATER: Meaning = [E.Unavailable, "Try again later; GET /readyz tells how the server is."];
const UNKNOWN: Meaning = [E.OutcomeUnknown, "Read what is there before you send it again."];

const BY_CODE: Record<string, Meaning> = {
  unauthenticated: [E.Authentication, KEY],
  key_expired: [E.Authentication, "Create a new key (POST /v1/keys)."],
  forbidden: [E.PermissionDenied, "Use a key with this scope, or ask who may."],
  host_refused: [E.PermissionDenied, "Start the server with --allow-host or --allow-origin."],
  not_found: [E.NotFound, "It does not exist, or this key may not see it."],
  no_route: [E.NotFound, "Is the path of `baseUrl` right?"],
  transition_refused: [E.TransitionRefused, "`allowed` names what is possible."],
  run_active: [E.RunActive, "Wait for it, or give a `policy`."],
  lease_lost: [E.LeaseLost, "Stop working on the run: somebody else has it."],
  lease_required: [E.LeaseRequired, "Give the run's `fence` as `fencingToken`."],
  events_pruned: [E.EventsPruned, "Go on from `resumeCursor` to accept the gap."],
  share_expired: GONE,
  share_revoked: GONE,
  stale_etag: [E.StaleEtag, "Read it again, and decide anew."],
  precondition_required: [E.PreconditionRequired, 'Give `ifMatch` (or `ifNoneMatch: "*"`).'],
  body_too_large: LARGE,
  answer_too_large: LARGE,
  idempotency_key_reused: [E.IdempotencyKeyReused, "Use a new key for another request."],
  rate_limited: [E.RateLimited, "Send fewer requests with this key; see `retryAfter`."],
  storage_full: [E.StorageFull, "Deletes still work; the server needs space."],
  outcome_unknown: UNKNOWN,
  data_damaged: [E.DataDamaged, "Restore it from a backup; `cairn check` finds all damage."],
};

const BY_STATUS: Record<number, Meaning> = {
  304: [E.NotModified, "You have it already."],
  401: [E.Authentication, KEY],
  403: [E.PermissionDenied, ""],
  404: [E.NotFound, ""],
  408: LATER,
  409: CONFLICT,
  410: GONE,
  412: [E.StaleEtag, "Read it again, and decide anew."],
  413: LARGE,
  428: [E.PreconditionRequired, ""],
  429: [E.RateLimited, ""],
  502: LATER,
  503: LATER,
  504: LATER,
  507: [E.StorageFull, ""],
};

const byStatus = (status: number): Meaning =>
  BY_STATUS[status] ?? (status >= 500 ? [E.InternalError, "The server's log says more."] : INPUT);

/** `what`: method and path of the request. */
export function errorOf(
  what: string,
  problem: E.Problem,
  more?: ErrorOptions & { retryAfter?: number },
): E.ApiError {
  const [Kind, advice] = BY_CODE[problem.code] ?? byStatus(problem.status);
  const about = [problem.status || "", problem.code].filter(Boolean).join(" ");
  const request = problem.request_id ? `, request ${problem.request_id}` : "";
  const end = /[.!?]$/.test(problem.detail) ? "" : ".";
  const message = `${what}: ${problem.detail}${end} (${about}${request})${advice && ` ${advice}`}`;
  return new Kind(message, problem, more);
}

/** A problem that the server did not write itself. */
export function problemOf(status: number, code: string, detail: string, requestId = ""): E.Problem {
  return {
    type: `urn:cairn:error:${code}`,
    title: detail,
    status,
    code,
    detail,
    request_id: requestId,
    retryable: false,
  };
}
