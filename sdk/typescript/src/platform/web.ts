// SPDX-License-Identifier: Apache-2.0
/** What browsers and others have in common. Nothing of Node is reached from here. */
export { webSockets as ownSockets } from "../socket/webSocket.js";
export { sha256 } from "../sha256.js";
