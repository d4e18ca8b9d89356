/**
 * The files of the graveyard that are not read, and why; each is told once. Bounded, as anybody can make them.
 */
import { MAX_MEMBERS, type Unreadable } from './read.ts';

export class PassedOver {
  readonly #why = new Map<string, string>();

  all(): readonly Unreadable[] {
    return [...this.#why].map(([name, why]) => ({ name, why }));
  }

  names(): readonly string[] {
    return [...this.#why.keys()];
  }

  /** Says whether that is news. */
  add({ name, why }: Unreadable): boolean {
    if (this.#why.get(name) === why || this.#why.size >= MAX_MEMBERS) return false;
    this.#why.set(name, why);
    return true;
  }

  /** Says whether it was one of them. */
  remove(name: string): boolean {
    return this.#why.delete(name);
  }
}
