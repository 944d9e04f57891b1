// SPDX-License-Identifier: Apache-2.0
/** The parts for browsers and other platforms. This file imports nothing from Node. */
export { webSockets as ownSockets } from "../socket/webSocket.js";
export { sha256 } from "../sha256.js";
