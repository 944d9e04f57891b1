// SPDX-License-Identifier: Apache-2.0
/** What resources offer besides single requests; generated classes build on these. */
import { EventStream, type FollowOptions } from "./follow.js";
import type { File, Run } from "./generated/types.js";
import { path } from "./path.js";
import { Resource } from "./resource.js";
import { type ResumableOptions, type ResumableSource, uploadResumable } from "./upload.js";
import { type WaitOptions, waitForRun } from "./wait.js";
import { type Handler, type WorkOptions, workOnRuns } from "./worker.js";

export class FollowableEvents extends Resource {
  /**
   * The events of all threads, as they happen, in one iteration that outlives disconnects and
   * restarts of the server: none is lost, none comes twice. `GET /v1/events/stream` or `/ws`.
   */
  follow(options?: FollowOptions): EventStream {
    return new EventStream(this.connection, "/v1/events", options);
  }
}

export class FollowableThreadEvents extends Resource {
  /**
   * The events of a thread, as they happen, in one iteration that outlives disconnects and restarts
   * of the server: none is lost, none comes twice. `GET /v1/threads/{thread_id}/events/stream` or
   * `/ws`.
   */
  follow(threadId: string, options?: FollowOptions): EventStream {
    return new EventStream(this.connection, path`/v1/threads/${threadId}/events`, options);
  }
}

export class WorkableRuns extends Resource {
  /** The run, once it is finished or waits for input. */
  wait(runId: string, options?: WaitOptions): Promise<Run> {
    return waitForRun(this.connection.client, runId, options);
  }

  /**
   * Works on runs: claims one after the other, keeps its lease while `handler` works, and completes
   * it with what the handler returned, or fails it with what it threw. A run whose handler could not
   * reach the server goes back to the queue. Ends with its signal.
   */
  work(options: WorkOptions, handler: Handler): Promise<void> {
    return workOnRuns(this.connection.client, options, handler);
  }
}

export class ResumableFiles extends Resource {
  /** Uploads a file in pieces, and goes on where it was when the connection breaks. */
  uploadResumable(
    threadId: string,
    name: string,
    source: ResumableSource,
    options?: ResumableOptions,
  ): Promise<File> {
    return uploadResumable(this.connection.client, threadId, name, source, options);
  }
}
