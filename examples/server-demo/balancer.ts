/**
 * A balancer as a Service is one: it sends each request to the next of the endpoints that it has been told are ready,
 * and it hears of every change late. It tries nothing again, so that each request that fails is seen.
 */
import { get } from 'node:http';

/** From a change of a pod to the last node that has heard of it. */
const PROPAGATION_MS = 1_000;
const EVERY_MS = 50;
const TIMEOUT_MS = 30_000;

export interface Traffic {
  readonly total: number;
  readonly failed: number;
  /** The longest time from one answer to the next. */
  readonly gapMs: number;
}

export class Balancer {
  readonly #endpoints: number[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #answeredAt: number[] = [];
  #timer: NodeJS.Timeout | undefined;
  #next = 0;
  #total = 0;
  #failed = 0;

  /** Resolves when the balancer has heard of it. */
  add(port: number): Promise<void> {
    return later(() => this.#endpoints.push(port));
  }

  remove(port: number): Promise<void> {
    return later(() => this.#endpoints.splice(this.#endpoints.indexOf(port), 1));
  }

  /** Constant load, whatever the answers are. */
  open(ports: readonly number[]): void {
    this.#endpoints.push(...ports);
    this.#timer = setInterval(() => {
      const request = this.#request().finally(() => this.#running.delete(request));
      this.#running.add(request);
    }, EVERY_MS);
  }

  async close(): Promise<Traffic> {
    clearInterval(this.#timer);
    await Promise.all(this.#running);
    const times = [...this.#answeredAt, performance.now()];
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at));
    return { total: this.#total, failed: this.#failed, gapMs: Math.round(Math.max(0, ...gaps)) };
  }

  async #request(): Promise<void> {
    this.#total += 1;
    const port = this.#endpoints[this.#next++ % this.#endpoints.length];
    if (port !== undefined && (await answers(port))) this.#answeredAt.push(performance.now());
    else this.#failed += 1;
  }
}

function later(change: () => void): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => {
      change();
      resolve();
    }, PROPAGATION_MS);
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, agent: false, timeout: TIMEOUT_MS }, (response) => {
      response.once('end', () => resolve(response.statusCode === 200));
      response.once('error', () => resolve(false));
      response.resume();
    });
    request.once('error', () => resolve(false));
    request.once('timeout', () => request.destroy(new Error('no answer')));
  });
}
