/** The figures of many rounds: how many passed, and how often each fault found a living target. */
import type { RoundResult } from './round.ts';
import { FAULTS, type StrikeKind } from './strikes.ts';

export class Tally {
  passed = 0;
  failed = 0;
  /** Pods that a fault kept from ending by themselves, so that an operator deleted them. */
  helped = 0;
  members = 0;
  readonly #hits = new Map<StrikeKind, number>();
  readonly #misses = new Map<StrikeKind, number>();

  add(result: RoundResult): void {
    if (result.violations.length === 0) this.passed += 1;
    else this.failed += 1;
    if (result.wasHelped && result.violations.length === 0) this.helped += 1;
    this.members += result.members;
    for (const kind of result.hits) this.#hits.set(kind, (this.#hits.get(kind) ?? 0) + 1);
    for (const kind of result.misses) this.#misses.set(kind, (this.#misses.get(kind) ?? 0) + 1);
  }

  /** The kinds of faults that found a living target. */
  get struck(): readonly StrikeKind[] {
    return [...this.#hits.keys()].filter((kind) => kind in FAULTS);
  }

  toString(): string {
    const kinds = new Set<StrikeKind>([...(Object.keys(FAULTS) as StrikeKind[]), ...this.#hits.keys()]);
    const rows = [...kinds].map((kind) => {
      const [hit, missed] = [this.#hits.get(kind) ?? 0, this.#misses.get(kind) ?? 0];
      return `  ${kind.padEnd(24)}${String(hit).padStart(6)}${missed > 0 ? `   (${missed} found nobody)` : ''}\n`;
    });
    const pods = `${this.passed + this.failed} pods with ${this.members} members`;
    return `${pods}; ${this.helped} had lost what their end hangs on and were deleted\nstrikes that hit:\n${rows.join('')}`;
  }
}
