/**
 * Writes tombstones as the store of the runtime does: one at a time, and of those that are requested meanwhile only the
 * last. A new file takes the place of the old one. Where no new file can be made, it writes in place, and a reader may
 * see the file half done.
 */
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import type { Actor, Agenda } from './agenda.ts';
import type { Count } from './coverage.ts';
import type { Dice } from './dice.ts';
import { Content, type Volume } from './volume.ts';

export interface WriterWorld {
  readonly agenda: Agenda;
  readonly volume: Volume;
  readonly dice: Dice;
  readonly count: Count;
  readonly latencyMs: number;
  readonly hasHistory: boolean;
  /** A whole tombstone is there to be read. */
  readonly onWritten: (tombstone: Tombstone) => void;
}

export class TombstoneWriter {
  readonly #world: WriterWorld;
  readonly #name: string;
  readonly #actor: Actor;
  #wanted: Tombstone | undefined;
  #written: Tombstone | undefined;
  #isWriting = false;
  #isAsked = false;
  #waiting: (() => void)[] = [];

  constructor(world: WriterWorld, name: string, actor: Actor) {
    this.#world = world;
    this.#name = name;
    this.#actor = actor;
  }

  write(tombstone: Tombstone): void {
    this.#wanted = tombstone;
    this.#written = undefined;
    this.#schedule();
  }

  tend(): void {
    if (this.#wanted === undefined || this.#isWriting) return;
    if (this.#written === this.#wanted && this.#world.volume.files.has(this.#name)) return;
    this.#schedule();
  }

  get isWritten(): boolean {
    return !this.#isWriting && this.#wanted !== undefined && this.#written === this.#wanted;
  }

  /** It is there already: an earlier supervisor wrote it, or init as a prepared end. */
  adopt(tombstone: Tombstone): void {
    if (this.#isWriting) return this.write(tombstone);
    this.#wanted = tombstone;
    this.#written = tombstone;
  }

  /** Calls back when nothing is left to be written, or what was left has failed. */
  settle(then: () => void): void {
    if (!this.#isWriting) return then();
    this.#waiting.push(then);
  }

  #schedule(): void {
    if (this.#isWriting) {
      this.#isAsked = true;
      return;
    }
    const tombstone = this.#wanted;
    if (tombstone === undefined) return;
    this.#isWriting = true;
    this.#after(() => this.#attempt(tombstone));
  }

  #after(then: () => void): void {
    const { agenda, dice, latencyMs, volume } = this.#world;
    const slowMs = volume.trouble === 'slow' ? dice.between(20, 900) : 0;
    agenda.in(dice.short(latencyMs) + slowMs, this.#actor, then);
  }

  #attempt(tombstone: Tombstone): void {
    const { volume, count } = this.#world;
    switch (volume.trouble) {
      case 'full':
      case 'denied': {
        count(`write ${volume.trouble}`);
        const old = volume.files.get(this.#name);
        return old === undefined ? this.#end() : this.#overwrite(old, tombstone);
      }
      case 'read-only':
        count('write read-only');
        return this.#end();
      default:
        this.#place(tombstone, this.#contentOf(tombstone));
    }
  }

  /** A reader that comes between sees a part of either. */
  #overwrite(old: Content, tombstone: Tombstone): void {
    const { volume, dice, count } = this.#world;
    const content = this.#contentOf(tombstone);
    const at = dice.chance(0.7) ? 4_096 : dice.int(1_600);
    volume.put(this.#name, new Content(content.text.slice(0, at) + old.text.slice(at)));
    count('write torn');
    this.#after(() => {
      // In place into a file that is gone by now.
      if (volume.files.has(this.#name)) this.#place(tombstone, content);
      else this.#end();
    });
  }

  /** No member reads the history, which is most of the work of laying out and parsing: only some runs write it. */
  #contentOf(tombstone: Tombstone): Content {
    if (this.#world.hasHistory) return new Content(tombstone);
    const { History: _history, ...rest } = tombstone;
    return new Content(rest);
  }

  #place(tombstone: Tombstone, content: Content): void {
    this.#written = tombstone;
    this.#world.volume.put(this.#name, content);
    this.#world.onWritten(tombstone);
    this.#end();
  }

  #end(): void {
    this.#isWriting = false;
    if (this.#isAsked) {
      this.#isAsked = false;
      return this.#schedule();
    }
    for (const then of this.#waiting.splice(0)) then();
  }
}
