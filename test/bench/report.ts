/** The tables that a person reads. */
import { readFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import type { Aim, Figure, Measurement } from './measurement.ts';
import { ratioOf, type Spread, spreadOf } from './statistics.ts';

export function tableOf(measurement: Measurement): string {
  const { title, unit, figures, references = [], aims = [], notes = [] } = measurement;
  const known = references.filter((reference) => figures.some(({ subject }) => subject === reference));
  const header = ['', 'median', 'quartiles', ...known.flatMap((reference) => [`x ${reference}`, 'quartiles'])];
  const rows = figures.map(({ subject, samples }) => {
    const spread = spreadOf(samples);
    const ratios = known.map((reference) => ratioOf(samples, samplesOf(figures, reference)));
    return [
      subject,
      amount(spread.median, unit),
      range(spread, (value) => amount(value, unit)),
      ...ratios.flatMap(ratioCells),
    ];
  });
  const samples = Math.max(0, ...figures.map(({ samples }) => samples.length));
  const lines = [
    `${title} (${samples} samples of each)`,
    ...align([header, ...rows]),
    ...notes.map((note) => `  ${note}`),
  ];
  return [...lines, ...aims.flatMap((aim) => verdict(aim, measurement))].join('\n');
}

export function machineLine(): string {
  const all = cpus();
  const model = all[0]?.model.trim() ?? 'unknown';
  return `${all.length} CPUs (${model}), ${process.platform} ${release()} ${process.arch}, load ${load()}, Node ${process.version}`;
}

function verdict({ subject, reference, atMost }: Aim, { figures, unit }: Measurement): string[] {
  const own = samplesOf(figures, subject);
  const { median } = reference === undefined ? spreadOf(own) : ratioOf(own, samplesOf(figures, reference));
  if (Number.isNaN(median)) return [];
  const [limit, got] =
    reference === undefined
      ? [amount(atMost, unit), amount(median, unit)]
      : [`${atMost} x ${reference}`, median.toFixed(2)];
  return [`  aim: ${subject} at most ${limit}: ${got}, ${median <= atMost ? 'met' : 'missed'}`];
}

function samplesOf(figures: readonly Figure[], name: string): readonly number[] {
  return figures.find(({ subject }) => subject === name)?.samples ?? [];
}

function ratioCells(spread: Spread): [string, string] {
  return [short(spread.median), range(spread, short)];
}

function range({ low, high }: Spread, format: (value: number) => string): string {
  return `${format(low)} .. ${format(high)}`;
}

function amount(value: number, unit: Measurement['unit']): string {
  if (unit === 'KiB') return `${value.toFixed(0)} KiB`;
  return value < 1e6 ? `${(value / 1e3).toFixed(1)} us` : `${(value / 1e6).toFixed(2)} ms`;
}

function short(value: number): string {
  return value.toFixed(value < 10 ? 2 : 0);
}

function align(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')}`.trimEnd(),
  );
}

/** The load average; unknown where there is no /proc. */
function load(): string {
  try {
    return readFileSync('/proc/loadavg', 'utf8').split(' ')[0] ?? '?';
  } catch {
    return '?';
  }
}
