/**
 * A constant load, one request every 25 ms whatever became of those before, and how each went. A response counts only
 * when all of it came.
 */
import { get } from 'node:http';

const EVERY_MS = 25;

export interface Result {
  readonly asked: number;
  readonly failed: number;
}

export class Load {
  readonly #port: number;
  readonly #timer: NodeJS.Timeout;
  readonly #requests = new Set<Promise<void>>();
  /** Of each response that has begun and not ended: who sends it. */
  readonly #underway = new Map<symbol, string>();
  #failed = 0;
  #ended = 0;

  constructor(port: number) {
    this.#port = port;
    this.#timer = setInterval(() => this.#requests.add(this.#request()), EVERY_MS);
  }

  /** How many have ended, well or not. */
  get ended(): number {
    return this.#ended;
  }

  isServing(server: string): boolean {
    return [...this.#underway.values()].includes(server);
  }

  /** No more requests; those under way are waited for. */
  async end(): Promise<Result> {
    clearInterval(this.#timer);
    await Promise.all(this.#requests);
    return { asked: this.#requests.size, failed: this.#failed };
  }

  async #request(): Promise<void> {
    const key = Symbol();
    const ok = await new Promise<boolean>((resolve) => {
      const outgoing = get({ host: '127.0.0.1', port: this.#port, agent: false }, (response) => {
        this.#underway.set(key, String(response.headers['served-by']));
        response.once('error', () => {});
        response.once('close', () => resolve(response.complete && response.statusCode === 200));
        response.resume();
      });
      outgoing.once('error', () => resolve(false));
    });
    this.#underway.delete(key);
    this.#ended += 1;
    if (!ok) this.#failed += 1;
  }
}
