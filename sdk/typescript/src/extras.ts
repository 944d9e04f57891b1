// SPDX-License-Identifier: Apache-2.0
/** Hand-written methods of resources; generated classes extend these classes. */
import { EventStream, type FollowOptions } from "./follow.js";
import type { File, Run } from "./generated/types.js";
import { path } from "./path.js";
import { Resource } from "./resource.js";
import { type ResumableOptions, type ResumableSource, uploadResumable } from "./upload.js";
import { type WaitOptions, waitForRun } from "./wait.js";
import { type Handler, type WorkOptions, workOnRuns } from "./worker.js";

export class FollowableEvents extends Resource {
  /**
   * Follows the events of all threads. The iteration survives disconnects and restarts of the
   * server, and returns each event exactly once. `GET /v1/events/stream` or `/ws`.
   */
  follow(options?: FollowOptions): EventStream {
    return new EventStream(this.connection, "/v1/events", options);
  }
}

export class FollowableThreadEvents extends Resource {
  /**
   * Follows the events of a thread. The iteration survives disconnects and restarts of the server,
   * and returns each event exactly once. `GET /v1/threads/{thread_id}/events/stream` or `/ws`.
   */
  follow(threadId: string, options?: FollowOptions): EventStream {
    return new EventStream(this.connection, path`/v1/threads/${threadId}/events`, options);
  }
}

export class WorkableRuns extends Resource {
  /** Returns the run when it has finished or waits for input. */
  wait(runId: string, options?: WaitOptions): Promise<Run> {
    return waitForRun(this.connection.client, runId, options);
  }

  /**
   * Works on runs: claims one after another, extends the lease while `handler` runs, and completes
   * the run with the return value of the handler, or fails it with the thrown error. If the handler
   * cannot reach the server, its run returns to the queue. Stops with its signal.
   */
  work(options: WorkOptions, handler: Handler): Promise<void> {
    return workOnRuns(this.connection.client, options, handler);
  }
}

export class ResumableFiles extends Resource {
  /** Uploads a file in pieces, and continues at the same position if the connection breaks. */
  uploadResumable(
    threadId: string,
    name: string,
    source: ResumableSource,
    options?: ResumableOptions,
  ): Promise<File> {
    return uploadResumable(this.connection.client, threadId, name, source, options);
  }
}
