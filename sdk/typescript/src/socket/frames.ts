// SPDX-License-Identifier: Apache-2.0
/** WebSocket frames (RFC 6455, section 5). */
import { randomBytes } from "node:crypto";

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** An event has at most a few hundred KiB; larger frames are invalid. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface Frame {
  opcode: number;
  payload: Buffer;
}

/** Encodes an unfragmented, masked client frame. */
export function frameOf(opcode: number, payload: Buffer): Buffer {
  if (payload.length > 125) throw new RangeError("the frame is too long to send");
  const mask = randomBytes(4);
  const masked = payload.map((byte, i) => byte ^ (mask[i % 4] as number));
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length]), mask, masked]);
}

/** Parses the frame header at the start of `bytes`; returns undefined if it is incomplete. */
function headerOf(
  bytes: Buffer,
): { opcode: number; isLast: boolean; start: number; size: number } | undefined {
  if (bytes.length < 2) return undefined;
  const [first, second] = [bytes[0] as number, bytes[1] as number];
  if ((first & 0x70) !== 0 || (second & 0x80) !== 0)
    throw new RangeError("not a valid frame from a server");
  const short = second & 0x7f;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start) return undefined;
  const size =
    short === 126
      ? bytes.readUInt16BE(2)
      : short === 127
        ? Number(bytes.readBigUInt64BE(2))
        : short;
  if (size > MAX_BYTES) throw new RangeError("the frame is too large");
  return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, start, size };
}

/** Consumes bytes and returns complete messages and control frames. */
export class FrameParser {
  #rest: Buffer[] = [];
  #held = 0;
  #needed = 2;
  #opcode = 0;
  #parts: Buffer[] = [];

  *push(bytes: Buffer): Generator<Frame, void> {
    this.#rest.push(bytes);
    this.#held += bytes.length;
    if (this.#held < this.#needed) return;
    let all = Buffer.concat(this.#rest);
    for (let header = headerOf(all); header !== undefined; header = headerOf(all)) {
      const end = header.start + header.size;
      this.#needed = end;
      if (all.length < end) break;
      const frame = this.#whole(header.opcode, header.isLast, all.subarray(header.start, end));
      all = all.subarray(end);
      this.#needed = 2;
      if (frame !== undefined) yield frame;
    }
    this.#rest = [all];
    this.#held = all.length;
  }

  /** Control frames are unfragmented and may arrive between the parts of a message. */
  #whole(opcode: number, isLast: boolean, payload: Buffer): Frame | undefined {
    if (opcode >= OPCODE.close) return { opcode, payload };
    if (opcode !== OPCODE.continuation) {
      this.#opcode = opcode;
      this.#parts = [];
    }
    this.#parts.push(payload);
    if (this.#parts.reduce((sum, part) => sum + part.length, 0) > MAX_BYTES)
      throw new RangeError("the message is too large");
    return isLast ? { opcode: this.#opcode, payload: Buffer.concat(this.#parts) } : undefined;
  }
}
