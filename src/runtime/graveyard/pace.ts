/**
 * How fast work may follow on work: what comes now and then is done at once, what never ends is done in steps with
 * pauses, so that a neighbour who changes files without end does not have all of our CPU.
 */

const BURST = 64;
const PAUSE_MS = 50;

export class Pace {
  #left = BURST;
  #last = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #resume: () => void = () => {};

  /** Resolves when the next step may begin. A step may be worth many. */
  async next(cost = 1): Promise<void> {
    const price = Math.min(cost, BURST);
    this.#refill();
    while (this.#left < price && !this.#isStopped) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
        this.#timer = setTimeout(resolve, (price - this.#left) * PAUSE_MS).unref();
      });
      this.#refill();
    }
    this.#left -= price;
  }

  /** All that wait go on at once. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#resume();
  }

  #refill(): void {
    const now = performance.now();
    this.#left = Math.min(BURST, this.#left + (now - this.#last) / PAUSE_MS);
    this.#last = now;
  }
}
