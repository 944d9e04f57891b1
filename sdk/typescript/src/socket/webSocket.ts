// SPDX-License-Identifier: Apache-2.0
/** The WebSocket that the platform has, or one that was given: its key goes as a subprotocol. */
import { CairnError } from "../errors.js";
import type { WebSocketConstructor } from "../options.js";
import type { SocketOpener } from "./types.js";

export const webSockets: SocketOpener = {
  seesPings: false,
  canSendHeaders: false,
  open(asked, listener) {
    const given = asked.webSocket ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
    if (given === undefined)
      throw new CairnError(
        'this platform has no WebSocket: give one as `webSocket`, or use transport "sse"',
      );
    const protocols = ["cairn.v1", ...(asked.key === undefined ? [] : [`bearer.${asked.key}`])];
    const socket = new given(asked.url, protocols);
    let isOpen = false;
    let isEnded = false;
    const end = (code: number, reason: string) => {
      if (!isEnded) listener.end({ isOpen, code, reason });
      isEnded = true;
    };
    socket.onopen = () => {
      isOpen = true;
      listener.open();
    };
    socket.onmessage = ({ data }) => {
      listener.alive();
      listener.message(String(data));
    };
    socket.onerror = () => {
      if (!isOpen) end(1006, "the handshake failed");
    };
    socket.onclose = ({ code, reason }) => end(code, String(reason ?? ""));
    return { close: () => socket.close() };
  },
};
