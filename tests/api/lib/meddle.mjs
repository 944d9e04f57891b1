// SPDX-License-Identifier: Apache-2.0
// A server with a wrong wall clock or a failing disk, as set by a test; see tests/preload/meddle.c,
// which is loaded into the process.
//
//   const { server, meddle } = await startMeddled(t, options of startServer);
//   meddle.wall(24 * HOUR_MS)                     the wall clock from now on
//   meddle.fail('sync', { after: 3 })             the fourth call fails with EIO; also 'write',
//                                                 'read'; {error: 'ENOSPC', times: 5}
//   meddle.mend()                                 the disk works again
//   meddle.struck('sync')                         the number of calls that have failed
//   meddle.spool(3)                               after three writes to spooled archives the next
//                                                 ones wait; meddle.spool(): none waits
//   meddle.spoolWaits                             how many writes wait now
//   meddle.spoolLeft                              how many writes will not wait
//   meddle.holdClose(true)                        closing a spooled file waits until (false)
//   meddle.closeWaits                             how many of them wait now
//
// The settings survive a restart of the server.
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readSync, writeSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { atEnd } from './ending.mjs';
import { BINARY, startServer } from './server.mjs';

export const HOUR_MS = 3_600_000;
const LIBRARY = join(dirname(BINARY), '../../tests/preload/libmeddle.so');

// The order of struct orders: the clock, then each fault's left, more, error and struck.
const KINDS = ['sync', 'write', 'read'];
const SPOOL_LEFT = 8 * (1 + 4 * KINDS.length);
const SPOOL_WAITING = SPOOL_LEFT + 8;
const HOLDS_CLOSE = SPOOL_WAITING + 8;
const CLOSE_WAITING = HOLDS_CLOSE + 8;
const place = (kind, member) => 8 * (1 + 4 * KINDS.indexOf(kind) + member);

class Meddle {
  constructor(path) {
    this.path = path;
    this.fd = openSync(path, 'w+');
    this.#put(0, 0);
    this.#put(SPOOL_WAITING, 0);
    this.#put(CLOSE_WAITING, 0);
    this.holdClose(false);
    this.spool();
    this.mend();
  }

  #put(at, value) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    writeSync(this.fd, bytes, 0, 8, at);
  }

  #get(at) {
    const bytes = Buffer.alloc(8);
    readSync(this.fd, bytes, 0, 8, at);
    return Number(bytes.readBigInt64LE());
  }

  wall(ms) {
    this.#put(0, ms * 1000);
  }

  fail(kind, { after = 0, times = 1, error = 'EIO' } = {}) {
    this.#put(place(kind, 1), times - 1);
    this.#put(place(kind, 2), constants.errno[error]);
    this.#put(place(kind, 0), after); // last: from here on it counts
  }

  mend() {
    for (const kind of KINDS) {
      this.#put(place(kind, 0), -1);
      for (const member of [1, 2, 3])
        this.#put(place(kind, member), 0);
    }
  }

  spool(left = -1) {
    this.#put(SPOOL_LEFT, left);
  }

  get spoolLeft() {
    return this.#get(SPOOL_LEFT);
  }

  get spoolWaits() {
    return this.#get(SPOOL_WAITING);
  }

  holdClose(holds) {
    this.#put(HOLDS_CLOSE, holds ? 1 : 0);
  }

  get closeWaits() {
    return this.#get(CLOSE_WAITING);
  }

  struck(kind) {
    return this.#get(place(kind, 3));
  }
}

export async function startMeddled(t, options = {}) {
  assert.ok(existsSync(LIBRARY), `${LIBRARY} is missing: build with -Dtests=true`);
  const directory = mkdtempSync(join(tmpdir(), 'cairn-meddle-'));
  const meddle = new Meddle(join(directory, 'orders'));
  atEnd(t, () => {
    closeSync(meddle.fd);
    rmSync(directory, { recursive: true });
  });
  const env = { LD_PRELOAD: LIBRARY, CAIRN_MEDDLE: meddle.path };
  return { meddle, server: await startServer(t, { ...options, env }) };
}
