/** What the tests of a cluster measure, collected from their processes and printed at the end of the run. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { formatTable } from '../../../src/text/table.ts';

export interface Figure {
  readonly sexton: string;
  /** The same with a native sidecar. */
  readonly native?: string;
}

export function recordFigure(what: string, figure: Figure): void {
  const file = process.env.TEST_CLUSTER_FIGURES;
  if (file) appendFileSync(file, `${JSON.stringify([what, figure.sexton, figure.native ?? ''])}\n`);
}

/** Of all that was recorded in `file`; empty when nothing was. */
export function formatFigures(file: string): string {
  if (!existsSync(file)) return '';
  const rows = readFileSync(file, 'utf8').trim().split('\n');
  const table = formatTable(
    ['OBSERVED', 'SEXTON', 'NATIVE SIDECAR'],
    rows.map((row) => JSON.parse(row)),
    200,
  );
  return `${table}\n`;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
}
