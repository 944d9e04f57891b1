// SPDX-License-Identifier: Apache-2.0
/** The parts specific to Node. package.json selects this file or web.ts. */
import { createHash } from "node:crypto";
import type { Hash } from "./types.js";

export { nodeSockets as ownSockets } from "../socket/nodeSocket.js";

export function sha256(): Hash {
  const hash = createHash("sha256");
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("base64") };
}
