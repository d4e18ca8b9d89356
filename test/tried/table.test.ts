import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Outcome, rankOf } from './row.ts';
import { ROWS } from './rows/index.ts';
import type { Subject } from './subjects.ts';
import { type Cell, comparisonOf, markdownTable, stopCell } from './table.ts';

const [first] = ROWS;
assert.ok(first);
const row = { ...first, title: 'a | b', workMs: 2_000 };
const clean: Outcome = { whole: 2, of: 2, text: '2 of 2', isKilled: false, code: 0, ms: 2_100 };

test('work that is lost is worse than a KILL after all of it, and that is worse than a late end', () => {
  const ranks = [
    { ...clean, whole: 0 },
    { ...clean, whole: 1 },
    { ...clean, isKilled: true, code: 137, ms: 10_000 },
    { ...clean, ms: 5_100 },
    clean,
  ].map((outcome) => rankOf(row, outcome));
  assert.deepEqual(ranks, ['lost', 'cut', 'killed', 'late', 'clean']);
});

test('a cell has the worst of several rounds, and how often it came', () => {
  const cells = [clean, { ...clean, whole: 0, text: '0 of 2', code: 143 }, clean].map((it) => stopCell(row, it));
  const table = markdownTable([row], columnsOf({ bare: cells }), ['bare']);
  assert.match(table, /^\| a \\\| b \| 0 of 2, 143, 2\.1 s \(1 of 3 times\) \|$/m);
});

test('the comparison names what is better than sexton, and nothing that is as good', () => {
  const lost = [stopCell(row, { ...clean, whole: 0, text: '0 of 2' })];
  const good = [stopCell(row, clean)];
  assert.deepEqual(comparisonOf([row], columnsOf({ bare: good, tini: lost, 'dumb-init': good, sexton: good })), []);
  assert.deepEqual(comparisonOf([row], columnsOf({ bare: good, tini: lost, 'dumb-init': good, sexton: lost })), [
    'WORSE: a | b: sexton 0 of 2, 0, 2.1 s; bare 2 of 2, 0, 2.1 s',
    'not the best: a | b: sexton 0 of 2, 0, 2.1 s; dumb-init 2 of 2, 0, 2.1 s',
  ]);
});

test('no two rows have the same title', () => {
  const titles = ROWS.map(({ title }) => title);
  assert.deepEqual(titles, [...new Set(titles)]);
});

function columnsOf(cells: Partial<Record<Subject, readonly Cell[]>>): Map<string, Map<Subject, readonly Cell[]>> {
  return new Map([[row.title, new Map(Object.entries(cells) as [Subject, readonly Cell[]][])]]);
}
