import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { editDistance, nearest } from '../../../src/config/notation/nearest.ts';
import '../../helpers/seeded.ts';

/** By definition, without any table: slow and plain. */
function naiveDistance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const same = a.at(-1) === b.at(-1) ? 0 : 1;
  const costs = [
    naiveDistance(a.slice(0, -1), b) + 1,
    naiveDistance(a, b.slice(0, -1)) + 1,
    naiveDistance(a.slice(0, -1), b.slice(0, -1)) + same,
  ];
  const isSwap = a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1);
  if (isSwap) costs.push(naiveDistance(a.slice(0, -2), b.slice(0, -2)) + 1);
  return Math.min(...costs);
}

describe('the nearest word', () => {
  it('the nearest word is found by the same distance as its definition gives', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 });
    fc.assert(fc.property(word, word, (a, b) => assert.equal(editDistance(a, b), naiveDistance(a, b))));
  });

  const WORDS = ['drain', 'grace-period', 'stop', 'stop-signals', 'warn'] as const;
  const FOUND: Readonly<Record<string, string | undefined>> = {
    drian: 'drain',
    gracePeriod: 'grace-period',
    grace_period: 'grace-period',
    grace: 'grace-period',
    '--stop': 'stop',
    stp: 'stop',
    warning: 'warn',
    'stop-signal': 'stop-signals',
    grce: 'grace-period',
    off: undefined,
    volume: undefined,
    g: undefined,
    '': undefined,
    '--': undefined,
  };
  for (const [wrong, right] of Object.entries(FOUND)) {
    it(`the nearest word to ${JSON.stringify(wrong)} is ${right ?? 'none of them'}`, () =>
      assert.equal(nearest(wrong, WORDS), right));
  }
});
