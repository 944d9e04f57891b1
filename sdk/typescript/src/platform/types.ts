// SPDX-License-Identifier: Apache-2.0
/** An incremental hash. */
export interface Hash {
  update(bytes: Uint8Array): void;
  /** Returns the digest in base64 and ends the hash. */
  digest(): string;
}
