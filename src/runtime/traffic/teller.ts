/**
 * Tells what was seen: not each single connection, which is work for the core, the memo and the tombstone, but at once
 * when it may be over.
 */

import type { SteadyPace } from '../../core/state/state.ts';

/** As the core wants it: since the drain began. */
export interface Seen {
  readonly lastMs: number;
  readonly connections: number;
  readonly ignored: number;
  readonly open: number | undefined;
  readonly byAddress: number;
  readonly steady: SteadyPace | undefined;
}

export class Teller {
  readonly #onSeen: (seen: Seen) => void;
  #told = { atMs: 0, text: '' };

  constructor(onSeen: (seen: Seen) => void) {
    this.#onSeen = onSeen;
  }

  tell(seen: Seen, atMs: number, isQuiet: boolean): void {
    const text = JSON.stringify(seen);
    const isNews = text !== this.#told.text && atMs >= this.#told.atMs + TELL_MS;
    if (!isNews && !isQuiet) return;
    this.#told = { atMs, text };
    this.#onSeen(seen);
  }
}

const TELL_MS = 500;
