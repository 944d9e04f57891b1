// SPDX-License-Identifier: Apache-2.0
/** Delays and time limits. */
import { Aborted } from "./errors.js";

export const aborted = (signal: AbortSignal, what: string): Aborted =>
  new Aborted(`${what} was aborted by its signal`, { cause: signal.reason });

/** Throws `Aborted` if the signal ends the delay. */
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

/** Returns the delay after the n-th failure: exponential, with jitter. */
export function backoffMs(failures: number, firstMs = 200, mostMs = 10_000): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(failures, 30));
  return full * (0.5 + Math.random() / 2);
}

/** A signal that follows another signal and a timer. Call `release` when neither is needed. */
export class Limit {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #onAbort = () => this.#controller.abort(this.#outer?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** True if the timer ended it. */
  isExpired = false;
  /** True if a body is still being read after the response has arrived. */
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

  /** Stops only the timer; the outer signal still applies. */
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
