/** The list of the examples names them all, and what it links to is there. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/paths.ts';

test('the README of the examples lists every folder once', () => {
  const text = readFileSync(join(ROOT, 'examples', 'README.md'), 'utf8');
  const listed = [...text.matchAll(/^\| \[(.*?)\]\(\1\/README\.md\) \|/gm)].map(([, folder]) => folder);
  const folders = globSync('*/README.md', { cwd: join(ROOT, 'examples') }).map((it) => dirname(it));
  assert.deepEqual(listed.sort(), folders.sort());
});
