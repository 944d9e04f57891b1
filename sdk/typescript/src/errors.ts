// SPDX-License-Identifier: Apache-2.0
/**
 * What can go wrong, one class for each meaning. `ApiError` and its kinds are refusals by the
 * server; but for `OutcomeUnknown` a refusal has changed nothing. No message holds a key.
 */
import type { Problem as ProblemDocument } from "./generated/types.js";

/** The server's account of a refusal (RFC 9457), with what some kinds add to it. */
export interface Problem extends ProblemDocument {
  allowed?: string[];
  resume_cursor?: string;
  [member: string]: unknown;
}

/** Everything that this package throws, but for TypeErrors of wrong arguments. */
export class CairnError extends Error {
  override get name(): string {
    return "CairnError";
  }
}

// --- Refusals --------------------------------------------------------------------------------

export class ApiError extends CairnError {
  /** The HTTP status; 0 when the connection ended before there was one. */
  readonly status: number;
  /** Stable: `not_found`, `lease_lost` … */
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The faults of the input: where, and which rule. */
  readonly errors: Array<{ pointer: string; detail: string }>;
  readonly problem: Problem;
  /** Seconds to wait, when the server said so. */
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

/** The input breaks a rule; `errors` names the fields. */
export class InvalidInput extends ApiError {
  override get name(): string {
    return "InvalidInput";
  }
}

/** The body, or the answer that it would have, is over a limit. */
export class TooLarge extends ApiError {
  override get name(): string {
    return "TooLarge";
  }
}

/** The Idempotency-Key was used before, for something else. */
export class IdempotencyKeyReused extends ApiError {
  override get name(): string {
    return "IdempotencyKeyReused";
  }
}

/** There is no key, or it is not known, revoked or expired. */
export class Authentication extends ApiError {
  override get name(): string {
    return "Authentication";
  }
}

/** The key lacks a scope, or the principal the permission. */
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

/** It does not fit to what is there. */
export class Conflict extends ApiError {
  override get name(): string {
    return "Conflict";
  }
}

/** The status cannot become that one from where it is. */
export class TransitionRefused extends Conflict {
  /** What it can become. */
  get allowed(): string[] {
    return this.problem.allowed ?? [];
  }

  override get name(): string {
    return "TransitionRefused";
  }
}

/** Another run of the thread is unfinished, and its policy is to reject. */
export class RunActive extends Conflict {
  override get name(): string {
    return "RunActive";
  }
}

/** Another worker has the run by now. Stop: what is written is theirs to write. */
export class LeaseLost extends Conflict {
  override get name(): string {
    return "LeaseLost";
  }
}

/** The run is leased, and the write came without its token. */
export class LeaseRequired extends Conflict {
  override get name(): string {
    return "LeaseRequired";
  }
}

/** It was there, and is not any more. */
export class Gone extends ApiError {
  override get name(): string {
    return "Gone";
  }
}

/** Events after the cursor were removed before they were read. */
export class EventsPruned extends Gone {
  /** From here on everything is there. */
  get resumeCursor(): string {
    return this.problem.resume_cursor ?? "";
  }

  override get name(): string {
    return "EventsPruned";
  }
}

/** The object has changed since: read it again, and decide anew. */
export class StaleEtag extends ApiError {
  override get name(): string {
    return "StaleEtag";
  }
}

/** The route wants `ifMatch` or `ifNoneMatch`. */
export class PreconditionRequired extends ApiError {
  override get name(): string {
    return "PreconditionRequired";
  }
}

/** A read with `ifNoneMatch`: you have it already. */
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

/** The server cannot do it now. */
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

/** It was carried out whole or not at all, and nobody can say which. Read what is there. */
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

/** What is stored is not what was stored; it is not shown. */
export class DataDamaged extends InternalError {
  override get name(): string {
    return "DataDamaged";
  }
}

// --- Other ends ------------------------------------------------------------------------------

/** There was no answer: nothing listens, the name is not known, the connection broke. */
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

/** Your signal ended it; `cause` is the signal's reason. */
export class Aborted extends CairnError {
  override get name(): string {
    return "Aborted";
  }
}

/** What answered is no Cairn: another program, a proxy, a login page. */
export class NotCairn extends CairnError {
  override get name(): string {
    return "NotCairn";
  }
}

/** This package and the server do not fit together; the message says which to upgrade. */
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
