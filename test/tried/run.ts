/**
 * `node test/tried/run.ts [--only REGEX] [--under bare,tini,dumb-init,sexton] [--rounds N] [--at-once N] [--record FILE]`
 * stops real programs and scripts under several inits, and prints the tables "What was tried" of docs/servers.md. Below
 * them stand the rows in which sexton is worse than no init or tini, or not the best. It needs root.
 *
 * Rows whose programs are not installed are named and left out. FILE keeps all cells from run to run, so that the inits
 * can be measured one after the other. `--verbose` adds what the containers wrote.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { whatLacks } from './row.ts';
import { RELOAD_ROWS, ROWS } from './rows/index.ts';
import { isThere, SUBJECTS, type Subject } from './subjects.ts';
import { type Cell, comparisonOf, markdownTable, reloadCell, stopCell } from './table.ts';
import { tryReload, tryStop } from './trial.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    under: { type: 'string', default: SUBJECTS.join(',') },
    rounds: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '6' },
    record: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
const only = new RegExp(values.only);
const subjects = SUBJECTS.filter((it) => values.under.split(',').includes(it) && isThere(it));
const columns = readRecord(values.record);
const failures: string[] = [];
const stops = ROWS.filter(isWanted);
const reloads = RELOAD_ROWS.filter(isWanted);

for (const { title } of [...stops, ...reloads]) for (const subject of subjects) columns.get(title)?.delete(subject);

const steps: (() => Promise<void>)[] = [];
for (let round = 0; round < Number(values.rounds); round += 1)
  for (const subject of subjects) {
    for (const row of stops)
      steps.push(() =>
        measure(row.title, subject, async () => {
          const { result, output } = await tryStop(row, subject);
          return { cell: stopCell(row, result), output };
        }),
      );
    for (const row of reloads)
      steps.push(() =>
        measure(row.title, subject, async () => {
          const { result, output } = await tryReload(row, subject);
          return { cell: reloadCell(result), output };
        }),
      );
  }
await Promise.all(Array.from({ length: Number(values['at-once']) }, work));

if (values.record !== undefined) {
  const cells = [...columns].map(([title, column]) => [title, Object.fromEntries(column)]);
  writeFileSync(values.record, `${JSON.stringify(Object.fromEntries(cells), undefined, 2)}\n`);
}
const shown = SUBJECTS.filter((subject) => [...columns.values()].some((column) => column.has(subject)));
for (const rows of [stops, reloads]) {
  if (rows.length === 0) continue;
  process.stdout.write(`${markdownTable(rows, columns, shown)}\n`);
  for (const line of comparisonOf(rows, columns)) process.stdout.write(`${line}\n`);
}
for (const failure of failures) process.stdout.write(`\nFAILED: ${failure}\n`);
process.exitCode = failures.length > 0 ? 1 : 0;

function isWanted(row: { readonly kind: string; readonly title: string } & Parameters<typeof whatLacks>[0]): boolean {
  if (!only.test(row.title) && !only.test(row.kind)) return false;
  const lack = whatLacks(row);
  if (lack !== false) process.stderr.write(`left out: ${row.title}: ${lack}\n`);
  return lack === false;
}

/** The cells of earlier runs. */
function readRecord(file: string | undefined): Map<string, Map<Subject, Cell[]>> {
  if (file === undefined || !existsSync(file)) return new Map();
  const record = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<Subject, Cell[]>>;
  return new Map(
    Object.entries(record).map(([title, cells]) => [title, new Map(Object.entries(cells) as [Subject, Cell[]][])]),
  );
}

async function work(): Promise<void> {
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) await step();
}

async function measure(
  title: string,
  subject: Subject,
  trial: () => Promise<{ readonly cell: Cell; readonly output: string }>,
): Promise<void> {
  try {
    const { cell, output } = await trial();
    const column = columns.get(title) ?? new Map<Subject, Cell[]>();
    columns.set(title, column.set(subject, [...(column.get(subject) ?? []), cell]));
    process.stderr.write(`${title} (${subject}): ${cell.text}\n${values.verbose ? output : ''}`);
  } catch (error) {
    failures.push((error as Error).message);
    process.stderr.write(`${title} (${subject}): ${(error as Error).message}\n`);
  }
}
