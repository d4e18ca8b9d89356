import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import { fallbackOf } from '../../../src/core/lifecycle/prepared/fallback.ts';
import { SIGINT, SIGQUIT, SIGTERM } from '../../../src/core/signals.ts';
import { ADAPTIVE_DRAIN, alive, fixed, mainConfig, START, sidecarConfig } from '../helpers.ts';
import { Life } from '../life.ts';

const HELD = [alive('work')];

function fallbacksOf(config: MemberConfig): { readonly before: unknown; readonly after: unknown } {
  const life = new Life({ config, peers: config.role === 'sidecar' ? HELD : [alive('proxy', { Role: 'sidecar' })] });
  const before = fallbackOf(config, life.state);
  const after = fallbackOf(config, life.signal(SIGTERM).state);
  return {
    before: { waitMs: before.waitMs, atMs: before.atMs },
    after: { waitMs: after.waitMs, atMs: after.atMs === undefined ? undefined : after.atMs - START },
  };
}

test('a stop waits 5 s for a supervisor, at most half of the grace period, or 10 s without one', () => {
  const waitOf = (change: Partial<MemberConfig>): unknown => {
    const config = mainConfig(change);
    return fallbackOf(config, new Life({ config }).state).waitMs;
  };
  assert.equal(waitOf({}), 5_000);
  assert.equal(waitOf({ gracePeriodMs: 4_000 }), 2_000);
  assert.equal(waitOf({ gracePeriodMs: 1 }), 1);
  assert.equal(waitOf({ drain: fixed(8_000) }), 8_000);
  assert.equal(waitOf({ drain: fixed(60_000) }), 10_000);
  assert.equal(waitOf({ drain: fixed(60_000), gracePeriodMs: 90_000 }), 45_000);
});

test('an acknowledged stop lasts a fixed drain, or the least of an adaptive one', () => {
  const gracePeriodMs = 40_000;
  assert.deepEqual(fallbacksOf(mainConfig({ gracePeriodMs, drain: fixed(15_000) })), {
    before: { waitMs: 15_000, atMs: undefined },
    after: { waitMs: 15_000, atMs: 15_000 },
  });
  assert.deepEqual(
    fallbacksOf(mainConfig({ gracePeriodMs, drain: { ...ADAPTIVE_DRAIN, minMs: 1_000, maxMs: 30_000 } })),
    { before: { waitMs: 5_000, atMs: undefined }, after: { waitMs: 5_000, atMs: 1_000 } },
  );
});

test('a sidecar that holds gets its signal after 3/4 of the grace period, or after 15 s', () => {
  assert.deepEqual(fallbacksOf(sidecarConfig({ gracePeriodMs: 40_000 })), {
    before: { waitMs: 30_000, atMs: undefined },
    after: { waitMs: 30_000, atMs: 30_000 },
  });
  assert.deepEqual(fallbacksOf(sidecarConfig({})), {
    before: { waitMs: 15_000, atMs: undefined },
    after: { waitMs: 15_000, atMs: 15_000 },
  });
});

test('a grace floor ends the wait for a supervisor, too', () => {
  const change = { gracePeriodMs: 120_000, graceFloorMs: 15_000 };
  assert.deepEqual(fallbacksOf(mainConfig({ ...change, drain: fixed(60_000) })), {
    before: { waitMs: 13_000, atMs: undefined },
    after: { waitMs: 13_000, atMs: 13_000 },
  });
  assert.deepEqual(fallbacksOf(sidecarConfig(change)), {
    before: { waitMs: 14_000, atMs: undefined },
    after: { waitMs: 14_000, atMs: 14_000 },
  });
  // The platform has not asked.
  const life = new Life({ config: mainConfig({ ...change, drain: fixed(60_000) }) }).askToStop();
  assert.equal(fallbackOf(mainConfig({ ...change, drain: fixed(60_000) }), life.state).atMs, START + 60_000);
});

test('a command that has had its stop signal gets no other one', () => {
  const config = mainConfig({});
  const life = new Life({ config, peers: [], child: { on: { [SIGTERM]: 'ignores' } } }).signal(SIGTERM);
  assert.notEqual(life.state.climb, undefined);
  const { waitMs, atMs } = fallbackOf(config, life.state);
  assert.deepEqual([waitMs, atMs], [undefined, undefined]);
});

test('without a supervisor the host sends the first rung, or the signal that arrived', () => {
  const signalOf = (change: Partial<MemberConfig>): unknown => {
    const config = mainConfig(change);
    return fallbackOf(config, new Life({ config }).state).signal;
  };
  assert.equal(signalOf({}), undefined);
  assert.equal(signalOf({ signals: { [SIGTERM]: SIGQUIT } }), SIGQUIT);
  const ladder = [
    { signal: SIGTERM, forMs: 1_000 },
    { signal: SIGINT, forMs: undefined },
  ] as const;
  assert.equal(signalOf({ ladder }), SIGTERM);
});

test('a stop request in another stop has a wait by its own grace period', () => {
  const config = sidecarConfig({ gracePeriodMs: 8_000 });
  const { state } = new Life({ config, peers: HELD }).askToStop(60_000);
  const { waitMs, atMs } = fallbackOf(config, state);
  assert.deepEqual([waitMs, atMs], [6_000, START + 45_000]);
});
