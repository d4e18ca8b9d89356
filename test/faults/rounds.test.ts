/** Pods of real processes under faults, in short: the same seeds each time. `node test/faults/run.ts` plays more. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { playRounds } from './rounds.ts';
import { Tally } from './tally.ts';

const ROUNDS = Number(process.env.TEST_ROUNDS ?? 40);
const FIRST_SEED = Number(process.env.TEST_SEED ?? 1);
const MINUTES = 60_000;

test(`no pod of ${ROUNDS} hangs or loses anything under random faults`, {
  timeout: 25 * MINUTES,
}, async (t) => {
  const tally = new Tally();
  const failures: string[] = [];
  const seeds = Array.from({ length: ROUNDS }, (_, index) => FIRST_SEED + index);
  await playRounds(seeds, { jobs: 3, isStrict: false }, (result) => {
    tally.add(result);
    if (result.violations.length === 0) return;
    const story = result.artefacts === undefined ? '' : readFileSync(join(result.artefacts, 'timeline'), 'utf8');
    failures.push(`seed ${result.seed}: ${result.violations.join('; ')} (${result.artefacts})\n${story}`);
  });
  t.diagnostic(String(tally));
  assert.deepEqual(failures.join('\n'), '');
  assert.equal(tally.passed, ROUNDS);
  assert.ok(ROUNDS > 0 && tally.struck.length >= Math.min(10, Math.floor(ROUNDS / 4)), `${tally}`);
});
