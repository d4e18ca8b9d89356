/** The simulator notices a broken rule. All of the list takes some minutes: `node test/sim/mutants.ts`. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { judge, MUTATIONS } from './mutants.ts';

const SRC = join(import.meta.dirname, '../../src');
/** The mutations that show at once. */
const QUICK: ReadonlySet<string> = new Set([
  'a sidecar does not stop before every main has finished',
  'under OnFailure a main that has failed will be born again',
  'a sidecar that is asked to stop serves on while mains live',
  'the ladder begins with its first rung, not with KILL',
  'the container exits with the command’s code',
  'the end of which init has sent a notice does not change',
  'init lets no supervisor sleep that has not heard of an event',
  'the exit waits for the last tombstone',
]);
const MAX_RUNS = 1_000;

describe('a broken rule', () => {
  it('is where the list says, each just once', () => {
    assert.ok(MUTATIONS.length >= 15);
    for (const { file, from, to, breaks } of MUTATIONS) {
      assert.equal(readFileSync(join(SRC, file), 'utf8').split(from).length - 1, 1, `${file}: ${breaks}`);
      assert.notEqual(from, to);
    }
  });

  it(`is noticed within ${MAX_RUNS} runs`, () => {
    const quick = MUTATIONS.filter(({ breaks }) => QUICK.has(breaks));
    assert.equal(quick.length, QUICK.size);
    for (const { mutation, runs } of judge(quick, MAX_RUNS)) assert.ok(runs !== undefined, mutation.breaks);
  });
});
