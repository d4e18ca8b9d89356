/** What was exercised, and how often: no fault counts as simulated that never happened. */

export type Count = (what: string) => void;

export class Coverage {
  readonly counts = new Map<string, number>();

  readonly count: Count = (what) => {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  };

  add(other: Iterable<readonly [string, number]>): void {
    for (const [what, times] of other) this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  lines(): readonly string[] {
    return [...this.counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([what, times]) => `${what}: ${times}`);
  }
}
