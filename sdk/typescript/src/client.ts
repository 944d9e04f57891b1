// SPDX-License-Identifier: Apache-2.0
import { Connection } from "./connection.js";
import { ApiResource } from "./generated/resources.js";
import type { ClientOptions, RequestOptions } from "./options.js";

export interface RequestAsked {
  /** JSON. */
  body?: unknown;
  query?: object;
  options?: RequestOptions;
}

/**
 * A client of a Cairn server. Its members are the resources of the API; each method is one
 * operation.
 *
 *     const client = new Cairn({ baseUrl: "http://127.0.0.1:7420", apiKey: "cairn_…" });
 *     const thread = await client.threads.create({ title: "Q3 report" });
 *     for await (const event of client.threads.events.follow(thread.id)) console.log(event.text);
 */
export class Cairn extends ApiResource {
  constructor(options: ClientOptions | Connection = {}) {
    super(options instanceof Connection ? options : new Connection(options));
    this.connection.client = this;
  }

  get baseUrl(): string {
    return this.connection.baseUrl;
  }

  /** Calls any route, even one unknown to this version, with the same retries and errors. */
  request<T = unknown>(method: string, path: string, asked: RequestAsked = {}): Promise<T> {
    if (!path.startsWith("/")) throw new TypeError("the path must begin with a slash");
    return this.connection.json<T>(method, path, asked);
  }

  /** Returns a client of the same server with other defaults, such as `principal`. */
  withOptions(options: ClientOptions): Cairn {
    return new Cairn(this.connection.with(options));
  }
}
