// SPDX-License-Identifier: Apache-2.0
/** The WebSocket interface used by the event follower. */
import type { WebSocketConstructor } from "../options.js";

export interface SocketRequest {
  /** ws:// or wss:// */
  url: string;
  key: string | undefined;
  headers: Record<string, string>;
  webSocket: WebSocketConstructor | undefined;
}

export interface SocketListener {
  /** The handshake has succeeded. */
  open(): void;
  /** Data was received, so the connection is alive. */
  alive(): void;
  message(text: string): void;
  /** Called once at the end. `isOpen`: the handshake had succeeded. */
  end(end: { isOpen: boolean; code: number; reason: string }): void;
}

export interface OpenSocket {
  close(): void;
}

/** `seesPings`: pings of the server are visible and count as signs of life. */
export interface SocketOpener {
  seesPings: boolean;
  canSendHeaders: boolean;
  open(request: SocketRequest, listener: SocketListener): OpenSocket;
}
