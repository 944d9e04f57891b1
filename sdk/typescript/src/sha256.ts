// SPDX-License-Identifier: Apache-2.0
/**
 * Incremental SHA-256 (FIPS 180-4); the implementation of the platform is not incremental.
 */
import type { Hash } from "./platform/types.js";

const BLOCK = 64;

/** The first 32 bits of the fractional parts of a root of the first primes. */
function fractions(count: number, root: (n: number) => number): Int32Array {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) if (primes.every((p) => n % p !== 0)) primes.push(n);
  return Int32Array.from(primes, (p) => ((root(p) % 1) * 2 ** 32) | 0);
}

const rotated = (x: number, by: number): number => (x >>> by) | (x << (32 - by));

class Sha256 implements Hash {
  readonly #constants = fractions(64, Math.cbrt);
  readonly #state = fractions(8, Math.sqrt);
  readonly #words = new Int32Array(64);
  readonly #rest = new Uint8Array(BLOCK);
  #held = 0;
  #total = 0;

  update(bytes: Uint8Array): void {
    this.#total += bytes.byteLength;
    let at = 0;
    if (this.#held > 0) {
      at = Math.min(BLOCK - this.#held, bytes.byteLength);
      this.#rest.set(bytes.subarray(0, at), this.#held);
      this.#held += at;
      if (this.#held < BLOCK) return;
      this.#block(this.#rest, 0);
    }
    for (; at + BLOCK <= bytes.byteLength; at += BLOCK) this.#block(bytes, at);
    this.#rest.set(bytes.subarray(at));
    this.#held = bytes.byteLength - at;
  }

  digest(): string {
    const length = new DataView(new ArrayBuffer(8));
    length.setBigUint64(0, BigInt(this.#total) * 8n);
    const padding = new Uint8Array(((119 - (this.#total % BLOCK)) % BLOCK) + 1);
    padding[0] = 0x80;
    this.update(padding);
    this.update(new Uint8Array(length.buffer));
    const bytes = Array.from(this.#state, (w) => [
      (w >>> 24) & 255,
      (w >>> 16) & 255,
      (w >>> 8) & 255,
      w & 255,
    ]);
    return btoa(String.fromCharCode(...bytes.flat()));
  }

  #block(bytes: Uint8Array, at: number): void {
    const w = this.#words;
    for (let i = 0, j = at; i < 16; i++, j += 4)
      w[i] = (bytes[j]! << 24) | (bytes[j + 1]! << 16) | (bytes[j + 2]! << 8) | bytes[j + 3]!;
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      const s0 = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
      const s1 = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
    }
    this.#compress(w, this.#constants, this.#state);
  }

  /** Unrolled, because most of the time is spent here. */
  #compress(w: Int32Array, k: Int32Array, state: Int32Array): void {
    let a = state[0]!,
      b = state[1]!,
      c = state[2]!,
      d = state[3]!;
    let e = state[4]!,
      f = state[5]!,
      g = state[6]!,
      h = state[7]!;
    for (let i = 0; i < 64; i++) {
      const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0;
      const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    state[0]! += a;
    state[1]! += b;
    state[2]! += c;
    state[3]! += d;
    state[4]! += e;
    state[5]! += f;
    state[6]! += g;
    state[7]! += h;
  }
}

export const sha256 = (): Hash => new Sha256();
