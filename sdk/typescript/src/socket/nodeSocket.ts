// SPDX-License-Identifier: Apache-2.0
/**
 * A WebSocket (RFC 6455) on Node's own http. Unlike the platform's, it can send headers and detects
 * dead connections by the server's pings. It requests no extensions.
 */
import { createHash, randomBytes } from "node:crypto";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { FrameParser, frameOf, OPCODE } from "./frames.js";
import type { OpenSocket, SocketRequest, SocketListener, SocketOpener } from "./types.js";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const HANDSHAKE_MS = 30_000;

class NodeSocket implements OpenSocket {
  readonly #listener: SocketListener;
  readonly #request: ClientRequest;
  readonly #parser = new FrameParser();
  #stream: Duplex | undefined;
  #isEnded = false;
  #code = 1006;
  #reason = "";

  constructor(request: SocketRequest, listener: SocketListener) {
    this.#listener = listener;
    const nonce = randomBytes(16).toString("base64");
    const authorization = request.key === undefined ? {} : { Authorization: `Bearer ${request.key}` };
    const send = request.url.startsWith("wss:") ? httpsRequest : httpRequest;
    this.#request = send(request.url.replace(/^ws/, "http"), {
      timeout: HANDSHAKE_MS,
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": nonce,
        ...authorization,
        ...request.headers,
      },
    });
    const expected = createHash("sha1")
      .update(nonce + GUID)
      .digest("base64");
    this.#request
      .on("upgrade", (answer, stream, head) => this.#opened(answer, stream, head, expected))
      .on("response", (answer) => {
        answer.resume();
        this.#end(`the server returned ${answer.statusCode}`);
      })
      .on("timeout", () => this.#end("the handshake took too long"))
      .on("error", (error) => this.#end(error.message))
      .end();
  }

  close(): void {
    if (this.#isEnded) return;
    this.#code = 1000;
    if (this.#stream === undefined) this.#end("closed");
    else this.#finish(1000);
  }

  #opened(answer: IncomingMessage, stream: Duplex, head: Buffer, expected: string): void {
    if (this.#isEnded || answer.headers["sec-websocket-accept"] !== expected) {
      stream.destroy();
      return this.#end("the response to the handshake is invalid");
    }
    this.#request.setTimeout(0);
    this.#stream = stream;
    this.#listener.open();
    stream
      .on("data", (bytes: Buffer) => this.#take(bytes))
      .on("error", () => this.#end("the connection broke"))
      .on("close", () => this.#end(this.#reason));
    if (head.length > 0) this.#take(head);
  }

  #take(bytes: Buffer): void {
    if (this.#isEnded) return;
    this.#listener.alive();
    try {
      for (const { opcode, payload } of this.#parser.push(bytes)) this.#frame(opcode, payload);
    } catch {
      this.#finish(1002);
    }
  }

  #frame(opcode: number, payload: Buffer): void {
    if (this.#isEnded) return;
    if (opcode === OPCODE.text) this.#listener.message(payload.toString("utf8"));
    else if (opcode === OPCODE.ping) this.#stream?.write(frameOf(OPCODE.pong, payload));
    else if (opcode === OPCODE.close) {
      this.#code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
      this.#reason = payload.subarray(2).toString("utf8");
      this.#finish(1000);
    }
  }

  /** Sends a close frame without waiting for a response. */
  #finish(code: number): void {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    this.#stream?.end(frameOf(OPCODE.close, payload));
    this.#end(this.#reason);
  }

  #end(reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const isOpen = this.#stream !== undefined;
    if (!isOpen) this.#request.destroy();
    // Further data is not read; the socket is destroyed.
    this.#stream?.resume().on("error", () => {});
    setTimeout(() => this.#stream?.destroy(), 1000).unref();
    this.#listener.end({ isOpen, code: this.#code, reason });
  }
}

export const nodeSockets: SocketOpener = {
  seesPings: true,
  canSendHeaders: true,
  open: (request, listener) => new NodeSocket(request, listener),
};
