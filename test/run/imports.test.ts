import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { importCircles, roomCircles } from './imports.ts';

const ROOT = join(import.meta.dirname, '../..');

test('files that import each other are found, by types and dynamic imports as well', () => {
  const sources = new Map([
    ['a.ts', "import type {\n  B,\n} from './room/b.ts';"],
    ['room/b.ts', "import { x } from 'x';\nexport * from '../c.ts';"],
    ['c.ts', "const a = import('./a.ts');"],
    ['alone.ts', "import './a.ts';\nimport { c } from './c.ts';"],
    ['itself.ts', "export { a } from './itself.ts';"],
  ]);
  assert.deepEqual(importCircles(sources), [['a.ts', 'c.ts', 'room/b.ts'], ['itself.ts']]);
});

test('folders that import each other are found, although no two files of theirs do', () => {
  const sources = new Map([
    ['a/one.ts', "import '../b/deep/one.ts';"],
    ['a/two.ts', ''],
    ['b/deep/one.ts', ''],
    ['b/two.ts', "import '../a/two.ts';\nimport './deep/one.ts';"],
  ]);
  assert.deepEqual(importCircles(sources), []);
  assert.deepEqual(roomCircles(sources), [['a', 'b']]);
});

test('no files of the source import each other in a circle, and no folders', () => {
  const names = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const paths = names.filter((name) => name.endsWith('.ts')).map((name) => `src/${name}`);
  const sources = new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
  assert.deepEqual(importCircles(sources), []);
  assert.deepEqual(roomCircles(sources), []);
});
