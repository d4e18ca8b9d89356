/** The figures of many rounds, a line for each fault, way and member. */
import type { Fault } from './faults.ts';
import type { End, MemberName, Way } from './pod.ts';

interface Row {
  readonly labels: readonly string[];
  readonly ends: End[];
}

const HEAD = [
  'what stands against Node',
  'was',
  'grace',
  'by',
  'member',
  'runs',
  'good',
  'TERM ran',
  'TERM after s',
  'PID 1 ended after s',
];

const MEMBERS: readonly MemberName[] = ['main', 'sidecar'];

export class Table {
  readonly #rows = new Map<string, Row>();

  /** The rows stand in this order. */
  constructor(rounds: readonly { readonly fault: Fault; readonly way: Way }[]) {
    for (const { fault, way } of rounds)
      for (const name of MEMBERS) {
        const labels = labelsOf(fault, way, name);
        this.#rows.set(labels.join(), { labels, ends: [] });
      }
  }

  add(fault: Fault, way: Way, ends: readonly End[]): void {
    for (const end of ends) this.#rows.get(labelsOf(fault, way, end.name).join())?.ends.push(end);
  }

  toString(): string {
    const lines = [...this.#rows.values()]
      .filter(({ ends }) => ends.length > 0)
      .map(({ labels, ends }) => {
        const good = ends.filter(({ violations }) => violations.length === 0).length;
        const told = ends.filter(({ violations, termMs }) => termMs !== undefined && !violations.some(isCut)).length;
        const figures = [ends.map(({ termMs }) => termMs), ends.map(({ endedMs }) => endedMs)].map(spread);
        return [...labels, `${ends.length}`, `${good}`, `${told}`, ...figures];
      });
    const all = [HEAD, HEAD.map(() => '---'), ...lines];
    const widths = HEAD.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
    return all
      .map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`)
      .join('');
  }
}

function labelsOf({ name }: Fault, { was, declares, by }: Way, member: MemberName): string[] {
  return [name, was, declares ? 'declared' : 'none', by, member];
}

function isCut(violation: string): boolean {
  return violation.includes('killed in its handler');
}

/** Least, median and most in seconds, and how many never came. */
function spread(all: readonly (number | undefined)[]): string {
  const known = all.filter((it) => it !== undefined).sort((a, b) => a - b);
  const missing = all.length - known.length;
  const never = missing === 0 ? '' : `never ${missing}`;
  if (known.length === 0) return never;
  const seconds = [known[0], known[Math.floor(known.length / 2)], known.at(-1)].map((it) =>
    ((it ?? 0) / 1000).toFixed(1),
  );
  return `${seconds.join(' / ')}${never && `, ${never}`}`;
}
