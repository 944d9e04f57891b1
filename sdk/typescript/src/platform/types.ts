// SPDX-License-Identifier: Apache-2.0
/** A hash that is fed bit by bit. */
export interface Hash {
  update(bytes: Uint8Array): void;
  /** Base64; nothing is fed after it. */
  digest(): string;
}
