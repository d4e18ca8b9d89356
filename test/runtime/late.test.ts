/**
 * Waiting with a bound, also when the whole process, or the machine, stands still meanwhile.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isLate } from '../../src/runtime/late.ts';

/** Nothing else runs for so long, like in a container that is frozen. */
function standStill(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

describe('waiting with a bound', () => {
  it('takes work that is done for done after a standstill, though the time was over first', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = isLate(promise, 10);
    standStill(1_200);
    // Like the end of a write: told only in the turn after the timers.
    setTimeout(() => setImmediate(() => setImmediate(resolve)), 0);
    assert.equal(await late, false);
  });

  it('gives up what does not end', async () => {
    assert.equal(await isLate(new Promise(() => {}), 10), true);
  });
});
