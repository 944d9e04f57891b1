// SPDX-License-Identifier: Apache-2.0
import { Cairn, type ClientOptions } from "cairn-client";

/** A client as it is, also one of another copy of the package; or one that is made. */
export function clientOf(client: Cairn | ClientOptions | undefined): Cairn {
  return client !== undefined && "threads" in client ? client : new Cairn(client);
}
