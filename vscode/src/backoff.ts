/** How often and how soon a server that ended by itself is started again. */

const DELAYS_MS = [500, 2_000, 4_000, 8_000];
const FORGOTTEN_AFTER_MS = 180_000;

/** Counts the ends of a server that come close to each other. */
export class Backoff {
  #ends: number[] = [];

  /** How many ends are remembered. */
  get count(): number {
    return this.#ends.length;
  }

  /** Notes an end; returns the milliseconds to wait before the next start, or undefined when it is time to give up. */
  next(now: number): number | undefined {
    this.#ends = [...this.#ends.filter((end) => now - end < FORGOTTEN_AFTER_MS), now];
    return DELAYS_MS[this.#ends.length - 1];
  }

  /** Forgets everything, because the user asks for a new start. */
  reset(): void {
    this.#ends = [];
  }
}
