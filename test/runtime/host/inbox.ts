/**
 * Things that come one after another, and whoever waits for them. What was not asked for stays.
 */
import { within } from '../../helpers/wait.ts';

export class Inbox<T> {
  /** Everything that ever came. */
  readonly all: T[] = [];
  readonly #what: string;
  #waiting: T[] = [];
  #wake: (() => void) | undefined;

  constructor(what: string) {
    this.#what = what;
  }

  put(thing: T): void {
    this.all.push(thing);
    this.#waiting.push(thing);
    this.#wake?.();
  }

  /** Takes out the first that fits, when it comes. */
  async next(fits: (thing: T) => boolean): Promise<T> {
    const index = await this.#indexOf(fits);
    return this.#waiting.splice(index, 1)[0] as T;
  }

  /** The same, and drops what came before it. */
  async skipTo(fits: (thing: T) => boolean): Promise<T> {
    const index = await this.#indexOf(fits);
    return this.#waiting.splice(0, index + 1)[index] as T;
  }

  async #indexOf(fits: (thing: T) => boolean): Promise<number> {
    for (;;) {
      const index = this.#waiting.findIndex(fits);
      if (index >= 0) return index;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await within(this.#what, promise);
    }
  }
}
