// SPDX-License-Identifier: Apache-2.0
/** Pauses and time limits. */
import { Aborted } from "./errors.js";

export const aborted = (signal: AbortSignal, what: string): Aborted =>
  new Aborted(`${what} was ended by its signal`, { cause: signal.reason });

/** Throws `Aborted` when the signal ends the pause. */
export function pause(ms: number, signal: AbortSignal | undefined, what: string): Promise<void> {
  return new Promise((done, fail) => {
    if (signal?.aborted) return fail(aborted(signal, what));
    const onAbort = () => {
      clearTimeout(timer);
      fail(aborted(signal as AbortSignal, what));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      done();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** How long to wait before the try after the n-th failure: doubling, and never all at once. */
export function backoffMs(failures: number, firstMs = 200, mostMs = 10_000): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(failures, 30));
  return full * (0.5 + Math.random() / 2);
}

/** A signal that follows another one and a clock. `release` when neither counts any more. */
export class Limit {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #onAbort = () => this.#controller.abort(this.#outer?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The clock ended it. */
  isExpired = false;
  /** Something still comes under it when the request has been answered. */
  isKept = false;

  constructor(outer: AbortSignal | undefined, ms = Infinity) {
    this.#outer = outer;
    if (outer?.aborted) this.#onAbort();
    outer?.addEventListener("abort", this.#onAbort, { once: true });
    this.restart(ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(ms: number): void {
    this.stopClock();
    if (ms === Infinity) return;
    const expire = () => {
      this.isExpired = true;
      this.#controller.abort();
    };
    this.#timer = setTimeout(expire, Math.min(Math.max(ms, 0), 2 ** 31 - 1));
  }

  /** The outer signal still counts. */
  stopClock(): void {
    clearTimeout(this.#timer);
  }

  abort(): void {
    this.release();
    this.#controller.abort();
  }

  release(): void {
    this.stopClock();
    this.#outer?.removeEventListener("abort", this.#onAbort);
  }
}
