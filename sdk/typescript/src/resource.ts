// SPDX-License-Identifier: Apache-2.0
import type { Connection } from "./connection.js";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** The base class of all resources: methods over one connection. */
export class Resource {
  constructor(protected readonly connection: Connection) {}

  /** Makes console.log in Node show the address instead of the tree of all resources. */
  [INSPECT](): string {
    return `${this.constructor.name} at ${this.connection.baseUrl}`;
  }
}
