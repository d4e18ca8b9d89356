/**
 * Waiting with a bound, also when the whole process, or the machine, stands still meanwhile.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxWritingMs } from '../../src/core/lifecycle/quitting.ts';
import { mustRescanFirst, withTimeout } from '../../src/runtime/timeouts.ts';
import { alive, lost, mainConfig, peersOf, sidecarConfig, stateAt, stopping } from '../core/helpers.ts';

/** Nothing else runs for so long, like in a container that is frozen. */
function standStill(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

describe('waiting with a bound', () => {
  it('takes work that is done for done after a standstill, though the time was over first', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = withTimeout(promise, 10);
    standStill(1_200);
    // Like the end of a write: told only in the turn after the timers.
    setTimeout(() => setImmediate(() => setImmediate(resolve)), 0);
    assert.equal(await late, false);
  });

  it('gives up what does not end', async () => {
    assert.equal(await withTimeout(new Promise(() => {}), 10), true);
  });

  it('leaves a graveyard that hangs a second before the platform’s KILL, but has it a second in any case', () => {
    const deadline = { atMs: 20_000, sinceMs: 8_000, kills: true, shared: true };
    assert.equal(maxWritingMs(deadline, 8_000), 11_000);
    assert.equal(maxWritingMs(deadline, 19_900), 1_000);
    assert.equal(maxWritingMs(undefined, 8_000), 30_000);
  });
});

describe('a sidecar looks again before it decides', () => {
  const NOW = 50_000;

  it('when it has heard of nothing for longer than a rescan takes to come round: the machine may have stood still', () => {
    const state = stateAt(NOW, { peers: peersOf(alive('work')) });
    assert.equal(mustRescanFirst(sidecarConfig(), state, NOW + 5_500), false);
    assert.equal(mustRescanFirst(sidecarConfig(), state, NOW + 6_500), true);
    assert.equal(mustRescanFirst(mainConfig(), state, NOW + 6_500), true, 'a start gate');
    const running = { ...state, child: { is: 'alive', id: 1, pid: 17, sinceMs: NOW } } as const;
    assert.equal(mustRescanFirst(mainConfig(), running, NOW + 6_500), false, 'a main that runs decides nothing by it');
  });

  it('and a main, too, before it believes in a restart in place that it found at its start', () => {
    const asked = { StopReason: 'restart requested', RestartRequested: NOW - 3_000, RestartBy: 'a test' };
    const found = stopping('proxy', undefined, asked);
    const state = stateAt(NOW, { peers: { proxy: { ...found, foundAtStart: true, sinceMs: NOW } } });
    const running = { ...state, child: { is: 'alive', id: 1, pid: 17, sinceMs: NOW } } as const;
    assert.equal(mustRescanFirst(mainConfig(), running, NOW + 1_000), true);
    assert.equal(mustRescanFirst(sidecarConfig(), running, NOW + 1_000), true);
  });

  it('when it doubts somebody: word of a life may be on its way', () => {
    const state = stateAt(NOW, { peers: peersOf(lost('work', NOW - 500)) });
    assert.equal(mustRescanFirst(sidecarConfig(), state, NOW + 1_000), true);
  });
});
