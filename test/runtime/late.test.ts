/**
 * Waiting with a bound, also when the whole process, or the machine, stands still meanwhile.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isLate, mostCarvingMs } from '../../src/runtime/late.ts';

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

  it('leaves a graveyard that hangs a second before the platform’s KILL, but has it a second in any case', () => {
    const deadline = { atMs: 20_000, sinceMs: 8_000, kills: true, shared: true };
    assert.equal(mostCarvingMs(deadline, 8_000), 11_000);
    assert.equal(mostCarvingMs(deadline, 19_900), 1_000);
    assert.equal(mostCarvingMs(undefined, 8_000), 30_000);
  });
});
