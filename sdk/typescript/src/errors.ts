// SPDX-License-Identifier: Apache-2.0
/**
 * The errors of this package. `ApiError` and its subclasses are errors that the server returned;
 * except for `OutcomeUnknown`, the failed request has changed nothing. No message contains a key.
 */
import type { Problem as ProblemDocument } from "./generated/types.js";

/** A problem document of the server (RFC 9457), with the additional members of some kinds. */
export interface Problem extends ProblemDocument {
  allowed?: string[];
  resume_cursor?: string;
  [member: string]: unknown;
}

/** The base class of all errors of this package, except TypeErrors for wrong arguments. */
export class CairnError extends Error {
  override get name(): string {
    return "CairnError";
  }
}

// --- Errors from the server ------------------------------------------------------------------

export class ApiError extends CairnError {
  /** The HTTP status; 0 if the connection ended before the status line. */
  readonly status: number;
  /** A stable code: `not_found`, `lease_lost` … */
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** The faults of the input: position and violated rule. */
  readonly errors: Array<{ pointer: string; detail: string }>;
  readonly problem: Problem;
  /** Seconds to wait, if the server sent them. */
  readonly retryAfter: number | undefined;

  constructor(message: string, problem: Problem, options?: ErrorOptions & { retryAfter?: number }) {
    super(message, options);
    this.status = problem.status;
    this.code = problem.code;
    this.detail = problem.detail;
    this.requestId = problem.request_id;
    this.retryable = problem.retryable;
    this.errors = problem.errors ?? [];
    this.problem = problem;
    this.retryAfter = options?.retryAfter;
  }

  override get name(): string {
    return "ApiError";
  }
}

/** The input violates a rule; `errors` names the fields. */
export class InvalidInput extends ApiError {
  override get name(): string {
    return "InvalidInput";
  }
}

/** The body or the response exceeds a limit. */
export class TooLarge extends ApiError {
  override get name(): string {
    return "TooLarge";
  }
}

/** The Idempotency-Key was used before for another request. */
export class IdempotencyKeyReused extends ApiError {
  override get name(): string {
    return "IdempotencyKeyReused";
  }
}

/** The key is missing, unknown, revoked or expired. */
export class Authentication extends ApiError {
  override get name(): string {
    return "Authentication";
  }
}

/** The key lacks a scope, or the principal lacks the permission. */
export class PermissionDenied extends ApiError {
  override get name(): string {
    return "PermissionDenied";
  }
}

export class NotFound extends ApiError {
  override get name(): string {
    return "NotFound";
  }
}

/** The request conflicts with the current state. */
export class Conflict extends ApiError {
  override get name(): string {
    return "Conflict";
  }
}

/** The status transition is not allowed. */
export class TransitionRefused extends Conflict {
  /** The allowed statuses. */
  get allowed(): string[] {
    return this.problem.allowed ?? [];
  }

  override get name(): string {
    return "TransitionRefused";
  }
}

/** Another run of the thread is unfinished, and the policy is `reject`. */
export class RunActive extends Conflict {
  override get name(): string {
    return "RunActive";
  }
}

/** The lease has ended, and another worker may have claimed the run. Stop working on it. */
export class LeaseLost extends Conflict {
  override get name(): string {
    return "LeaseLost";
  }
}

/** The run is leased, and the write has no fencing token. */
export class LeaseRequired extends Conflict {
  override get name(): string {
    return "LeaseRequired";
  }
}

/** The resource existed and has been removed. */
export class Gone extends ApiError {
  override get name(): string {
    return "Gone";
  }
}

/** Events after the cursor were pruned before they were read. */
export class EventsPruned extends Gone {
  /** All events after this cursor exist. */
  get resumeCursor(): string {
    return this.problem.resume_cursor ?? "";
  }

  override get name(): string {
    return "EventsPruned";
  }
}

/** The object has changed: read it again before you write. */
export class StaleEtag extends ApiError {
  override get name(): string {
    return "StaleEtag";
  }
}

/** The route requires `ifMatch` or `ifNoneMatch`. */
export class PreconditionRequired extends ApiError {
  override get name(): string {
    return "PreconditionRequired";
  }
}

/** A read with `ifNoneMatch`: the object has not changed. */
export class NotModified extends ApiError {
  override get name(): string {
    return "NotModified";
  }
}

/** Too many requests with this key; see `retryAfter`. */
export class RateLimited extends ApiError {
  override get name(): string {
    return "RateLimited";
  }
}

/** The server is temporarily unavailable. */
export class Unavailable extends ApiError {
  override get name(): string {
    return "Unavailable";
  }
}

export class StorageFull extends ApiError {
  override get name(): string {
    return "StorageFull";
  }
}

/** The request was performed completely or not at all. Read the resource to find out. */
export class OutcomeUnknown extends ApiError {
  override get name(): string {
    return "OutcomeUnknown";
  }
}

/** A fault of the server. */
export class InternalError extends ApiError {
  override get name(): string {
    return "InternalError";
  }
}

/** The stored data is damaged and is not returned. */
export class DataDamaged extends InternalError {
  override get name(): string {
    return "DataDamaged";
  }
}

// --- Other errors ----------------------------------------------------------------------------

/** No response: no server listens, the name is unknown, or the connection broke. */
export class ConnectionFailed extends CairnError {
  override get name(): string {
    return "ConnectionFailed";
  }
}

export class TimedOut extends CairnError {
  override get name(): string {
    return "TimedOut";
  }
}

/** Your signal ended the request; `cause` is the signal's reason. */
export class Aborted extends CairnError {
  override get name(): string {
    return "Aborted";
  }
}

/** The response is not from Cairn but from another program, a proxy or a login page. */
export class NotCairn extends CairnError {
  override get name(): string {
    return "NotCairn";
  }
}

/** This package and the server are incompatible; the message says which to upgrade. */
export class VersionMismatch extends CairnError {
  readonly serverVersion: string;

  constructor(message: string, serverVersion: string) {
    super(message);
    this.serverVersion = serverVersion;
  }

  override get name(): string {
    return "VersionMismatch";
  }
}
