// SPDX-License-Identifier: Apache-2.0
import type { Connection } from "./connection.js";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** What every resource of the client is: methods over one connection. */
export class Resource {
  constructor(protected readonly connection: Connection) {}

  /** What console.log shows in Node: where it leads, and not the tree of all resources. */
  [INSPECT](): string {
    return `${this.constructor.name} at ${this.connection.baseUrl}`;
  }
}
