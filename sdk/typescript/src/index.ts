// SPDX-License-Identifier: Apache-2.0
export { Cairn } from "./client.js";
export type { RequestAsked } from "./client.js";
export type {
  ClientOptions,
  RequestOptions,
  WebSocketConstructor,
  WebSocketLike,
} from "./options.js";
export type { UploadSource } from "./body.js";
export { Download } from "./download.js";
export { Page, PagePromise } from "./page.js";
export type { PageWith } from "./page.js";
export { EventStream } from "./follow.js";
export type { FollowOptions, Gap } from "./follow.js";
export type { WaitOptions } from "./wait.js";
export type { Handler, WorkContext, WorkOptions } from "./worker.js";
export type { ResumableOptions, ResumableSource } from "./upload.js";
export { VERSION } from "./version.js";
export {
  Aborted,
  ApiError,
  Authentication,
  CairnError,
  Conflict,
  ConnectionFailed,
  DataDamaged,
  EventsPruned,
  Gone,
  IdempotencyKeyReused,
  InternalError,
  InvalidInput,
  LeaseLost,
  LeaseRequired,
  NotCairn,
  NotFound,
  NotModified,
  OutcomeUnknown,
  PermissionDenied,
  PreconditionRequired,
  RateLimited,
  RunActive,
  StaleEtag,
  StorageFull,
  TimedOut,
  TooLarge,
  TransitionRefused,
  Unavailable,
  VersionMismatch,
} from "./errors.js";
export type { Problem } from "./errors.js";
export type * from "./generated/types.js";
