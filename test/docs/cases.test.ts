/**
 * test/CASES.md lists the ids that test titles cite, and no others.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/paths.ts';

const SERIES = 'ABCDEFJKLNPR';
/** The ids at the beginning of a title; before them may stand what a template fills in. */
const LEADING_IDS = new RegExp(`['"\`](?:\\$\\{\\w+\\} )?((?:[${SERIES}]\\d{1,2}[,:]? )+)`, 'g');

test('every case id in a test title is listed in test/CASES.md, and every listed one is cited', () => {
  const listed = [...readFileSync(join(ROOT, 'test', 'CASES.md'), 'utf8').matchAll(/^\| ([A-Z]\d+) \| \S/gm)];
  const cited = globSync('test/**/*.ts', { cwd: ROOT }).flatMap((file) =>
    idsOf(readFileSync(join(ROOT, file), 'utf8')),
  );
  const ids = listed.map(([, id]) => id);
  assert.deepEqual(ids, [...new Set(ids)]);
  assert.deepEqual([...ids].sort(), [...new Set(cited)].sort());
});

test('ids are read from titles of one id, of several, and behind a template; other words are none', () => {
  const source = `it('N18 K13 a', f); it(\`\${id} A6 b\`, f); it('A5, K03 c', f); it('C1: d', f); it('V8 e', f);`;
  assert.deepEqual(idsOf(source), ['N18', 'K13', 'A6', 'A5', 'K03', 'C1']);
});

function idsOf(source: string): string[] {
  return [...source.matchAll(LEADING_IDS)].flatMap(([, ids = '']) => ids.match(/[A-Z]\d+/g) ?? []);
}
