import type { Connection } from "./connection.js";

/** What every resource of the client is: methods over one connection. */
export class Resource {
  constructor(protected readonly connection: Connection) {}
}
