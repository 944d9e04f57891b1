// SPDX-License-Identifier: Apache-2.0
/** The platform's WebSocket, or one passed by the caller; the key is sent as a subprotocol. */
import { CairnError } from "../errors.js";
import type { WebSocketConstructor } from "../options.js";
import type { SocketOpener } from "./types.js";

export const webSockets: SocketOpener = {
  seesPings: false,
  canSendHeaders: false,
  open(request, listener) {
    const given = request.webSocket ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
    if (given === undefined)
      throw new CairnError(
        'this platform has no WebSocket: pass one as `webSocket`, or use transport "sse"',
      );
    const protocols = ["cairn.v1", ...(request.key === undefined ? [] : [`bearer.${request.key}`])];
    const socket = new given(request.url, protocols);
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
