/**
 * Connections that were gone before anybody could see whose they were count, but for as many as the user has said probes make. A bucket:
 * so many in so long, and one more, as probes do not come like clockwork.
 */
import type { AdaptiveDrain } from '../../core/config.ts';

export class Tolerance {
  readonly #rate: AdaptiveDrain['unseen'];
  #left: number;
  #atMs: number;

  constructor(rate: AdaptiveDrain['unseen'], nowMs: number) {
    this.#rate = rate;
    this.#left = rate === undefined ? 0 : rate.count + 1;
    this.#atMs = nowMs;
  }

  /** How many of so many do not count; all or none, as more than expected is something else. */
  take(gone: number, nowMs: number): number {
    if (this.#rate === undefined || gone === 0) return 0;
    const { count, perMs } = this.#rate;
    this.#left = Math.min(count + 1, this.#left + ((nowMs - this.#atMs) / perMs) * count);
    this.#atMs = nowMs;
    if (gone > this.#left) return 0;
    this.#left -= gone;
    return gone;
  }
}
