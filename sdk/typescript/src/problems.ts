// SPDX-License-Identifier: Apache-2.0
/** Maps a problem document to its error: by the code, or by the status if the code is unknown. */
import * as E from "./errors.js";

type Kind = new (
  message: string,
  problem: E.Problem,
  options?: ErrorOptions & { retryAfter?: number },
) => E.ApiError;
type Meaning = [kind: Kind, advice: string];

const KEY = "Pass the key as `apiKey` or CAIRN_API_KEY.";
const INPUT: Meaning = [E.InvalidInput, ""];
const LARGE: Meaning = [E.TooLarge, "Send or request less at once; docs/api.md lists the limits."];
const GONE: Meaning = [E.Gone, "Request a new one."];
const CONFLICT: Meaning = [E.Conflict, ""];
const LATER: Meaning = [E.Unavailable, "Try again later; GET /readyz reports its state."];
const UNKNOWN: Meaning = [E.OutcomeUnknown, "Read the resource before you send the request again."];

const BY_CODE: Record<string, Meaning> = {
  unauthenticated: [E.Authentication, KEY],
  key_expired: [E.Authentication, "Create a new key (POST /v1/keys)."],
  forbidden: [E.PermissionDenied, "Use a key with this scope."],
  host_refused: [E.PermissionDenied, "Start the server with --allow-host or --allow-origin."],
  not_found: [E.NotFound, "It does not exist, or this key may not see it."],
  no_route: [E.NotFound, "Is the path of `baseUrl` correct?"],
  transition_refused: [E.TransitionRefused, "`allowed` lists the possible statuses."],
  run_active: [E.RunActive, "Wait for the run, or set a `policy`."],
  lease_lost: [E.LeaseLost, "Stop working on the run: another worker may have claimed it."],
  lease_required: [E.LeaseRequired, "Pass the run's `fence` as `fencingToken`."],
  events_pruned: [E.EventsPruned, "Continue from `resumeCursor` to accept the gap."],
  share_expired: GONE,
  share_revoked: GONE,
  stale_etag: [E.StaleEtag, "Read the object again before you write."],
  precondition_required: [E.PreconditionRequired, 'Set `ifMatch` (or `ifNoneMatch: "*"`).'],
  body_too_large: LARGE,
  answer_too_large: LARGE,
  idempotency_key_reused: [E.IdempotencyKeyReused, "Use a new key for another request."],
  rate_limited: [E.RateLimited, "Send fewer requests with this key; see `retryAfter`."],
  quota_exceeded: [E.RateLimited, "A quota of the tenant is used up; see `retryAfter` and GET /v1/tenant."],
  quota_full: [E.StorageFull, "Delete something, or ask the operator for a larger quota."],
  storage_full: [E.StorageFull, "Free space; deletes still work."],
  outcome_unknown: UNKNOWN,
  data_damaged: [E.DataDamaged, "Restore from a backup; `cairn check` finds all damage."],
};

const BY_STATUS: Record<number, Meaning> = {
  304: [E.NotModified, "The object has not changed."],
  401: [E.Authentication, KEY],
  403: [E.PermissionDenied, ""],
  404: [E.NotFound, ""],
  408: LATER,
  409: CONFLICT,
  410: GONE,
  412: [E.StaleEtag, "Read the object again before you write."],
  413: LARGE,
  428: [E.PreconditionRequired, ""],
  429: [E.RateLimited, ""],
  502: LATER,
  503: LATER,
  504: LATER,
  507: [E.StorageFull, ""],
};

const byStatus = (status: number): Meaning =>
  BY_STATUS[status] ?? (status >= 500 ? [E.InternalError, "See the log of the server."] : INPUT);

/** `what` is the method and path of the request. */
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

/** Creates a problem document on behalf of the server. */
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
