/**
 * Finds out whether new connections come as a kubelet's probes do: from one address to one port, at even intervals. A
 * balancer's health check and a single patient client look the same.
 */
import type { SteadyPace } from '../../core/state/state.ts';
import type { Connection } from './informant.ts';

export class Pace {
  #first: { readonly from: string; readonly port: number; readonly atMs: number } | undefined;
  #isOther = false;
  #count = 0;
  #lastMs = 0;
  #leastMs = Number.POSITIVE_INFINITY;
  #mostMs = 0;

  take({ address: from, localPort: port }: Pick<Connection, 'address' | 'localPort'>, atMs: number): void {
    this.#first ??= { from, port, atMs };
    this.#isOther ||= from !== this.#first.from || port !== this.#first.port;
    this.#count += 1;
    if (this.#count > 1) {
      const pauseMs = atMs - this.#lastMs;
      this.#leastMs = Math.min(this.#leastMs, pauseMs);
      this.#mostMs = Math.max(this.#mostMs, pauseMs);
    }
    this.#lastMs = atMs;
  }

  /** undefined: they come otherwise, or some of all `connections` are not known. */
  steady(connections: number): SteadyPace | undefined {
    if (this.#first === undefined || this.#isOther || this.#count < LEAST || this.#count !== connections)
      return undefined;
    const { from, port, atMs } = this.#first;
    const everyMs = Math.round((this.#lastMs - atMs) / (this.#count - 1));
    return this.#mostMs - this.#leastMs <= everyMs / 2 ? { from, port, everyMs } : undefined;
  }
}

const LEAST = 5;
