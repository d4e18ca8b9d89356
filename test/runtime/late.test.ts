import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxWritingMs } from '../../src/core/lifecycle/stop/quitting.ts';
import { mustRescanFirst, withTimeout } from '../../src/runtime/timeouts.ts';
import { alive, lost, mainConfig, peersOf, sidecarConfig, stateAt } from '../core/helpers.ts';

/** Nothing else runs for so long, like in a container that is frozen. */
function standStill(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

describe('waiting with a bound', () => {
  it('work that is done counts as done after a standstill, though its time was over first', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = withTimeout(promise, 10);
    standStill(1_200);
    // Like the end of a write, which is reported only in the turn after the timers.
    setTimeout(() => setImmediate(() => setImmediate(resolve)), 0);
    assert.equal(await late, false);
  });

  it('a wait for what does not end is given up', async () => {
    assert.equal(await withTimeout(new Promise(() => {}), 10), true);
  });

  it('the last tombstone has until a quarter of the grace period is left, and at least a second', () => {
    const deadline = { atMs: 20_000, sinceMs: 8_000, kills: true, shared: true };
    assert.equal(maxWritingMs(deadline, 8_000), 9_000);
    assert.equal(maxWritingMs({ ...deadline, sinceMs: 18_000 }, 18_000), 1_000);
    assert.equal(maxWritingMs(deadline, 19_900), 1_000);
    assert.equal(maxWritingMs(undefined, 8_000), 30_000);
  });
});

describe('a sidecar looks again before it decides', () => {
  const NOW = 50_000;

  it('a sidecar looks again after a silence that is longer than the time between rescans', () => {
    // The machine may have stood still.
    const state = stateAt(NOW, { peers: peersOf(alive('work')) });
    assert.equal(mustRescanFirst(sidecarConfig(), state, NOW + 5_500), false);
    assert.equal(mustRescanFirst(sidecarConfig(), state, NOW + 6_500), true);
    assert.equal(mustRescanFirst(mainConfig(), state, NOW + 6_500), true, 'a start gate');
    const running = { ...state, child: { is: 'alive', id: 1, pid: 17, sinceMs: NOW } } as const;
    assert.equal(mustRescanFirst(mainConfig(), running, NOW + 6_500), false, 'a main that runs decides nothing by it');
  });

  it('a sidecar looks again when it doubts a member, as news of it may be on the way', () => {
    const state = stateAt(NOW, { peers: peersOf(lost('work', NOW - 500)) });
    assert.equal(mustRescanFirst(sidecarConfig(), state, NOW + 1_000), true);
  });
});
