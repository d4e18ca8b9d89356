/**
 * Whether new connections come as the probes of a kubelet do: all from one address to one port, each about as long after
 * the one before. The health check of a balancer and a single patient client look the same, so people have to judge.
 */
import type { SteadyPace } from '../../core/state/state.ts';
import type { Client } from './table.ts';

export class Pace {
  #first: { readonly from: string; readonly port: number; readonly atMs: number } | undefined;
  #isOther = false;
  #count = 0;
  #lastMs = 0;
  #leastMs = Number.POSITIVE_INFINITY;
  #mostMs = 0;

  take({ isV4, remote, localPort: port }: Client, atMs: number): void {
    // What is no pace stays none, and a flood need not be read.
    if (this.#isOther) return;
    const from = addressText(isV4, remote);
    this.#first ??= { from, port, atMs };
    this.#isOther = from !== this.#first.from || port !== this.#first.port;
    this.#count += 1;
    if (this.#count > 1) {
      const pauseMs = atMs - this.#lastMs;
      this.#leastMs = Math.min(this.#leastMs, pauseMs);
      this.#mostMs = Math.max(this.#mostMs, pauseMs);
    }
    this.#lastMs = atMs;
  }

  /** undefined: they come otherwise, or it is not known of all `connections`. */
  steady(connections: number): SteadyPace | undefined {
    if (this.#first === undefined || this.#isOther || this.#count < LEAST || this.#count !== connections)
      return undefined;
    const { from, port, atMs } = this.#first;
    const everyMs = Math.round((this.#lastMs - atMs) / (this.#count - 1));
    return this.#mostMs - this.#leastMs <= everyMs / 2 ? { from, port, everyMs } : undefined;
  }

  /** What was there before does not tell. */
  restart(): void {
    this.#first = undefined;
    this.#isOther = false;
    this.#count = 0;
    this.#leastMs = Number.POSITIVE_INFINITY;
    this.#mostMs = 0;
  }
}

/** Fewer are no pace. */
const LEAST = 5;

function addressText(isV4: boolean, words: Uint32Array): string {
  const [last = 0] = words.slice(3);
  if (isV4) return [24, 16, 8, 0].map((bits) => (last >>> bits) & 0xff).join('.');
  return [...words].flatMap((word) => [word >>> 16, word & 0xffff].map((half) => half.toString(16))).join(':');
}
