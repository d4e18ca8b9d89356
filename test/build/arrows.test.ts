/** The folders of `src` depend on each other in one direction only. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { it } from 'node:test';
import { ROOT } from '../helpers/paths.ts';

/** What each folder may import beside itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  text: [],
  config: ['core', 'text'],
  runtime: ['core', 'text', 'config'],
  report: ['core', 'text'],
  check: ['core', 'text', 'config', 'report'],
  inject: ['core', 'config', 'check'],
  cli: ['core', 'text', 'config', 'runtime', 'report', 'check', 'inject'],
  init: [],
  delivery: ['core', 'text', 'config', 'runtime', 'report', 'check', 'inject', 'cli', 'init'],
};
const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

for (const [folder, allowed] of Object.entries(MAY_IMPORT)) {
  it(`src/${folder} imports ${allowed.length === 0 ? 'no other folder' : `only ${allowed.join(', ')}`}`, () => {
    const files = globSync(`src/${folder}/**/*.ts`, { cwd: ROOT });
    assert.notEqual(files.length, 0);
    const wrong = files.flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)]
        .map(([, path = '']) => normalize(join(dirname(file), path)))
        .filter((target) => ![folder, ...allowed].includes(target.split('/')[1] ?? ''))
        .map((target) => `${file} imports ${target}`),
    );
    assert.deepEqual(wrong, []);
  });
}
