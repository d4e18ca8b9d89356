import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NODE } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { MAX_UNSTEADY, type Outcome } from './attempts.ts';

/** Fails in its first run, which it marks by a file beside it. */
const UNSTEADY = `import { existsSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
test('sound', () => {});
test('unsteady', () => {
  const marker = import.meta.filename + '.ran';
  if (existsSync(marker)) return;
  writeFileSync(marker, '');
  throw new Error('the first time');
});
`;
const BROKEN = `import { test } from 'node:test';
test('broken', () => { throw new Error('each time'); });
`;
/** Skips in its second run what fails in its first. */
const SKIPPING = UNSTEADY.replace("'unsteady', () =>", "'unsteady', (t) =>").replace(
  'return;',
  "return t.skip('odd');",
);

test('a file that passes at its second attempt counts as passed and is named', () => {
  const { outcome, stdout } = run({ 'unsteady.test.ts': UNSTEADY, 'broken.test.ts': BROKEN }, true);
  assert.deepEqual(outcome.totals, { passed: 2, failed: 1, skipped: 0 });
  assert.deepEqual(outcome.unsteady, ['unsteady.test.ts']);
  assert.match(stdout, /^FAILED unsteady\.test\.ts: 1 passed, 1 failed/m);
  assert.match(stdout, /the first time/);
  assert.match(stdout, /^ok {5}unsteady\.test\.ts, second attempt: 2 passed, 0 failed/m);
  assert.match(stdout, /^FAILED broken\.test\.ts, second attempt: 0 passed, 1 failed/m);
});

test('there is no second attempt where tests were named, nor where many files failed', () => {
  const named = run({ 'unsteady.test.ts': UNSTEADY }, false);
  assert.deepEqual([named.outcome.totals.failed, named.outcome.unsteady], [1, []]);
  const files = Array.from({ length: MAX_UNSTEADY + 1 }, (_, index) => [`unsteady-${index}.test.ts`, UNSTEADY]);
  const many = run(Object.fromEntries(files), true);
  assert.deepEqual([many.outcome.totals.failed, many.outcome.unsteady], [MAX_UNSTEADY + 1, []]);
});

test('what is skipped at the second attempt only is named as well', () => {
  const { outcome } = run({ 'skipping.test.ts': SKIPPING }, true);
  assert.deepEqual(outcome.skips, { odd: 1 });
});

type Shown = Omit<Outcome, 'skips'> & { readonly skips: Record<string, number> };

/** In a process of its own: node:test runs no files from within a test. */
function run(
  files: Readonly<Record<string, string>>,
  retries: boolean,
): { readonly outcome: Shown; readonly stdout: string } {
  const dir = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  const script = `
    import { basename } from 'node:path';
    import { runTwice } from ${JSON.stringify(join(import.meta.dirname, 'attempts.ts'))};
    const files = ${JSON.stringify(Object.keys(files).map((name) => join(dir, name)))};
    const shorten = (file) => basename(file);
    const { skips, ...rest } = await runTwice(files, { shorten, concurrency: 2, retries: ${retries} });
    console.error(JSON.stringify({ ...rest, skips: Object.fromEntries(skips) }));`;
  writeFileSync(join(dir, 'run.mjs'), script);
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const { stdout, stderr } = spawnSync(NODE, [join(dir, 'run.mjs')], { env, encoding: 'utf8' });
  return { outcome: JSON.parse(stderr) as Shown, stdout };
}
