// SPDX-License-Identifier: Apache-2.0
// Frames of zstd, which Node 18 cannot write: https://www.rfc-editor.org/rfc/rfc8878
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const BLOCK_BYTES = 128 * 1024;

/** The head of a frame with a window of 2^log bytes. */
const frameHead = (log) => Buffer.concat([MAGIC, Buffer.from([0, (log - 10) << 3])]);

function block(kind, size, content, isLast) {
  const head = Buffer.alloc(3);
  head.writeUIntLE((size << 3) | (kind << 1) | (isLast ? 1 : 0), 0, 3);
  return Buffer.concat([head, content]);
}

/** The bytes as they are, in a frame. */
export function zstdStored(bytes, windowLog = 17) {
  const blocks = [];
  for (let at = 0; at === 0 || at < bytes.length; at += BLOCK_BYTES) {
    const part = bytes.subarray(at, at + BLOCK_BYTES);
    blocks.push(block(0, part.length, part, at + BLOCK_BYTES >= bytes.length));
  }
  return Buffer.concat([frameHead(windowLog), ...blocks]);
}

/** A frame of n times the same byte, with 4 bytes for each 128 KiB. */
export function zstdRepeated(byte, n) {
  const blocks = [];
  for (let left = n; left > 0; left -= BLOCK_BYTES)
    blocks.push(block(1, Math.min(left, BLOCK_BYTES), Buffer.from([byte]), left <= BLOCK_BYTES));
  return Buffer.concat([frameHead(17), ...blocks]);
}
