/**
 * What was last seen of each other member, bounded: any container that mounts the graveyard can make any number of
 * tombstones, one after the other or all at once. Kept are 128 that are there, 128 of those that are gone, and beyond
 * that those that the configuration names and those whose handle is held.
 */
import type { Tombstone } from '../../core/format/tombstone.ts';
import { MAX_MEMBERS, type Unreadable } from './read.ts';

export interface View {
  /** Without its history, which is nothing to the other members. The same object as long as the file says the same. */
  readonly tombstone: Tombstone;
  readonly vanished: boolean;
  /** Of the content of the file; empty when vanished: that nothing has changed is of use only for a file. */
  readonly mark: string;
}

export interface Snapshot {
  /** All other members ever seen, by name; of very many only some. */
  readonly members: readonly View[];
  readonly ignored: readonly Unreadable[];
}

export interface ViewsOptions {
  /** Those that the configuration names. */
  readonly named: ReadonlySet<string>;
  /** Whether the life that this tombstone tells of has ended, or was not in this boot. */
  readonly isOver: (tombstone: Tombstone) => boolean;
  readonly isHeld: (name: string) => boolean;
  /** Nothing depends on this one now. */
  readonly isFar: (tombstone: Tombstone) => boolean;
}

export class Views {
  readonly #options: ViewsOptions;
  readonly #views = new Map<string, View>();
  #there = 0;

  constructor(options: ViewsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#views.size;
  }

  all(): readonly View[] {
    return [...this.#views.values()];
  }

  markOf(name: string): string | undefined {
    return this.#views.get(name)?.mark;
  }

  isFar(name: string): boolean {
    const view = this.#views.get(name);
    return view?.vanished === false && this.#options.isFar(view.tombstone);
  }

  /** Says whether it was taken: there may be too many already. */
  see(name: string, tombstone: Tombstone, mark: string): boolean {
    if (this.#views.get(name)?.vanished !== false) {
      if (this.#there >= MAX_MEMBERS && !this.#options.named.has(name)) return false;
      this.#there++;
    }
    const { History, ...rest } = tombstone;
    // A copy: a text that was cut out of another one keeps the whole of it in memory.
    this.#views.set(name, { tombstone: structuredClone(rest), vanished: false, mark });
    return true;
  }

  /** Its file is gone. Those that went last stand last. Says whether it was there. */
  lose(name: string): boolean {
    const view = this.#views.get(name);
    if (view === undefined || view.vanished) return false;
    this.#there--;
    this.#views.delete(name);
    this.#views.set(name, { ...view, vanished: true, mark: '' });
    return true;
  }

  /** The oldest of those that are gone, first those whose life is over. */
  forget(): void {
    const { named, isOver, isHeld } = this.#options;
    const gone = this.all().filter(
      ({ vanished, tombstone: { Name } }) => vanished && !named.has(Name) && !isHeld(Name),
    );
    if (gone.length <= MAX_MEMBERS) return;
    const { over = [], open = [] } = Object.groupBy(gone, ({ tombstone }) => (isOver(tombstone) ? 'over' : 'open'));
    for (const { tombstone } of [...over, ...open].slice(0, gone.length - MAX_MEMBERS))
      this.#views.delete(tombstone.Name);
  }
}
