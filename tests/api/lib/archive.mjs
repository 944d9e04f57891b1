// SPDX-License-Identifier: Apache-2.0
// Archives by hand: tar files as they should be, and as they should not.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

const BLOCK = 512;
const octal = (value, digits) => value.toString(8).padStart(digits, '0');

function header(name, size, { type = '0', uid = 0 }) {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100);
  block.write(octal(0o644, 7), 100);
  block.write(octal(uid, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write(' '.repeat(8), 148);
  block.write(type, 156);
  block.write('ustar\0' + '00', 257);
  block.write(octal(0, 7), 329);
  block.write(octal(0, 7), 337);
  const sum = block.reduce((a, b) => a + b, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

/** A tar file of [name, bytes], in this order; {type: {NAME: '2'}, uid} make it a bad one. */
export function pack(members, { type = {}, uid } = {}) {
  const parts = [];
  for (const [name, bytes] of members) {
    parts.push(header(name, bytes.length, { type: type[name], uid }), bytes);
    parts.push(Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK));
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

/** Its members by name, in their order. */
export function unpack(archive) {
  const members = new Map();
  let at = 0;
  while (archive[at] !== 0) {
    const name = archive.toString('utf8', at, archive.indexOf(0, at));
    const size = parseInt(archive.toString('latin1', at + 124, at + 135), 8);
    assert.equal(archive.toString('latin1', at + 257, at + 262), 'ustar');
    assert.ok(!members.has(name), name);
    members.set(name, archive.subarray(at + BLOCK, at + BLOCK + size));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  assert.equal(archive.length, at + 2 * BLOCK);
  return members;
}

const hash = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** A tar file of the members, with the manifest that fits them. */
export function packed(members) {
  const rows = [...members].filter(([name]) => name !== 'manifest.json');
  const blobs = rows.filter(([name]) => name.startsWith('blobs/'));
  const manifest = {
    members: rows
      .filter(([name]) => !name.startsWith('blobs/'))
      .map(([name, bytes]) => ({
        name,
        size_bytes: bytes.length,
        ...(name === 'cairn.json' ? {} : { rows: bytes.toString().split('\n').length - 1 }),
        sha256: hash(bytes),
      })),
    blobs: {
      count: blobs.length,
      size_bytes: blobs.reduce((sum, [, bytes]) => sum + bytes.length, 0),
      sha256: hash(Buffer.concat(blobs.map(([name]) => Buffer.from(name.slice(6), 'hex')))),
    },
  };
  return pack([...rows, ['manifest.json', Buffer.from(`${JSON.stringify(manifest)}\n`)]]);
}

/** The text with every id replaced by its rank of first occurrence. */
export function ids(text) {
  const names = new Map();
  return text.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
    if (!names.has(id)) names.set(id, `id ${names.size}`);
    return names.get(id);
  });
}
