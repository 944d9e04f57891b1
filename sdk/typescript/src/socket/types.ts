// SPDX-License-Identifier: Apache-2.0
/** A WebSocket as the follower of events needs it. */
import type { WebSocketConstructor } from "../options.js";

export interface SocketAsked {
  /** ws:// or wss:// */
  url: string;
  key: string | undefined;
  headers: Record<string, string>;
  webSocket: WebSocketConstructor | undefined;
}

export interface SocketListener {
  /** The handshake has succeeded. */
  open(): void;
  /** Something came: the connection lives. */
  alive(): void;
  message(text: string): void;
  /** The end, told once. `isOpen`: the handshake had succeeded. */
  end(end: { isOpen: boolean; code: number; reason: string }): void;
}

export interface OpenSocket {
  close(): void;
}

/** `seesPings`: what the server sends to keep the connection alive counts as alive. */
export interface SocketOpener {
  seesPings: boolean;
  canSendHeaders: boolean;
  open(asked: SocketAsked, listener: SocketListener): OpenSocket;
}
