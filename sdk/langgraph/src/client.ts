// SPDX-License-Identifier: Apache-2.0
import { Cairn, type ClientOptions } from "cairn-client";

/** Returns the given client (even from another copy of the package), or creates one. */
export function clientOf(client: Cairn | ClientOptions | undefined): Cairn {
  return client !== undefined && "threads" in client ? client : new Cairn(client);
}
