// SPDX-License-Identifier: Apache-2.0
// A small file system that a test may fill.
//
//   const disk = smallDisk(t, 64);          // MiB; null where we may not mount one
//   disk.data                               // a directory in it, for startServer's dataDir
//   disk.fill(4)                            // leaves so many MiB free, or what there is, by a file
//   disk.empty()                            // and takes the file away again
//   disk.free                               // bytes
import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, rmSync, rmdirSync, statfsSync,
  writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './ending.mjs';

const CHUNK = Buffer.alloc(64 * 1024, 'x');

class SmallDisk {
  constructor(root) {
    this.root = root;
    this.data = join(root, 'data');
    this.filler = join(root, 'filler');
    mkdirSync(this.data, { mode: 0o700 });
  }

  get free() {
    const { bavail, bsize } = statfsSync(this.root);
    return bavail * bsize;
  }

  fill(leftMib) {
    const file = openSync(this.filler, 'a');
    try {
      while (this.free > leftMib * 1024 * 1024)
        writeSync(file, CHUNK, 0, Math.min(CHUNK.length, this.free - leftMib * 1024 * 1024));
    } finally {
      closeSync(file);
    }
  }

  empty() {
    const file = openSync(this.filler, 'a');
    ftruncateSync(file, 0);
    closeSync(file);
  }
}

export function smallDisk(t, sizeMib) {
  const root = mkdtempSync(join(tmpdir(), 'cairn-small-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'tmpfs', root],
      { stdio: 'pipe' });
  } catch {
    rmSync(root, { recursive: true });
    return null;
  }
  atEnd(t, () => {
    execFileSync('umount', ['-l', root], { stdio: 'pipe' });
    rmdirSync(root);
  });
  return new SmallDisk(root);
}
