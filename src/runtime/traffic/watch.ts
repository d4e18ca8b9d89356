/**
 * Watches the connections of this network namespace, for a drain that ends when new ones and requests over kept ones
 * have stopped coming. Whenever there is doubt the drain is longer.
 */
import { type Seen, Tally, type TallyOptions } from './tally.ts';

export interface WatchOptions extends TallyOptions {
  readonly onSeen: (seen: Seen) => void;
  /** Connections cannot be counted here; nothing follows. */
  readonly onUnseen: (why: string) => void;
}

export class TrafficWatch {
  readonly #options: WatchOptions;
  #tally: Tally | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #told = { atMs: 0, text: '' };

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    return this.#try(async () => {
      this.#tally = new Tally(this.#options);
      await this.#tally.start();
      this.#tell(this.#tally.seen);
    });
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#tally?.close();
    this.#tally = undefined;
  }

  /** A step that the watch was closed in fails, which is of no interest. */
  async #try(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (this.#isOver) return;
      this.close();
      return this.#options.onUnseen(error instanceof Error ? error.message : String(error));
    }
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#try(() => this.#turn()), TURN_MS);
  }

  async #turn(): Promise<void> {
    const tally = this.#tally;
    if (tally === undefined) return;
    const { inflight, newOnly } = this.#options.drain;
    await tally.update();
    const isAll = inflight && tally.seen.open !== 0;
    // Only a look shows requests over kept connections, so what may end the drain is reported only after one.
    const hasLooked = this.#isQuiet(tally.seen) && ((newOnly && !isAll) || (await tally.look(isAll)));
    if (hasLooked || isAll || !this.#isQuiet(tally.seen, TURN_MS)) this.#tell(tally.seen, hasLooked);
  }

  #isQuiet({ lastMs }: Seen, aheadMs = 0): boolean {
    return this.#options.now() + aheadMs >= lastMs + this.#options.drain.quietMs;
  }

  /** Not each connection, which is work for the core, the memo and the tombstone; but at once what may end the drain. */
  #tell(seen: Seen, isUrgent = false): void {
    const text = JSON.stringify(seen);
    const atMs = this.#options.now();
    const isNews = text !== this.#told.text && atMs >= this.#told.atMs + TELL_MS;
    if (this.#isOver || (!isNews && !isUrgent)) return;
    this.#told = { atMs, text };
    this.#options.onSeen(seen);
  }
}

const TURN_MS = 100;
const TELL_MS = 500;
