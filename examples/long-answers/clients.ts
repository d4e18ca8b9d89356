/** A client every 200 ms, each of which asks for a long answer, and what has become of them. */
import { get } from 'node:http';

const EVERY_MS = 200;

export interface Result {
  readonly asked: number;
  /** Those that got no answer at all. */
  readonly refused: number;
  /** Those whose answer broke off. */
  readonly cut: number;
}

export class Clients {
  readonly #port: number;
  readonly #timer: NodeJS.Timeout;
  readonly #answers: Promise<void>[] = [];
  /** Of each answer that has begun and not ended: who sends it. */
  readonly #underWay = new Map<symbol, string>();
  #refused = 0;
  #cut = 0;

  /** The answers take between `ms` and one and a half times as long. */
  constructor(port: number, ms: number) {
    this.#port = port;
    this.#timer = setInterval(() => {
      const { length } = this.#answers;
      this.#answers.push(this.#ask(ms + (((length * ms) / 7) % (ms / 2))));
    }, EVERY_MS);
  }

  get asked(): number {
    return this.#answers.length;
  }

  answersOf(server: string): number {
    return [...this.#underWay.values()].filter((it) => it === server).length;
  }

  /** No more clients; the answers under way are waited for. */
  async end(): Promise<Result> {
    clearInterval(this.#timer);
    await Promise.all(this.#answers);
    return { asked: this.asked, refused: this.#refused, cut: this.#cut };
  }

  #ask(ms: number): Promise<void> {
    const key = Symbol();
    return new Promise((resolve) => {
      const outgoing = get({ host: '127.0.0.1', port: this.#port, path: `/?ms=${ms}`, agent: false }, (response) => {
        this.#underWay.set(key, String(response.headers['served-by']));
        response.once('error', () => {});
        response.once('close', () => {
          this.#underWay.delete(key);
          if (response.statusCode !== 200) this.#refused += 1;
          else if (!response.complete) this.#cut += 1;
          resolve();
        });
        response.resume();
      });
      outgoing.once('error', () => {
        // After an answer has begun, `close` counts it.
        if (!this.#underWay.has(key)) this.#refused += 1;
        resolve();
      });
    });
  }
}
