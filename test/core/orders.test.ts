import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { ordersOf, wordsOf } from '../../src/core/orders.ts';
import { SIGINT, SIGQUIT, SIGTERM } from '../../src/core/signals.ts';
import type { State } from '../../src/core/state/state.ts';
import { ADAPTIVE_DRAIN, alive, fixed, mainConfig, START, sidecarConfig } from './helpers.ts';
import { Life } from './life.ts';

const HELD = [alive('work')];

interface Waits {
  readonly waitMs: number | undefined;
  readonly atMs: number | undefined;
  readonly signal: number | undefined;
}

/** When the host sends the stop signal: so long after a request, and at that time. */
function waitsOf(config: MemberConfig, state: State): Waits {
  const { rows } = ordersOf(config, state);
  const unheard = rows.find((row) => row.when === 'unheard');
  const lost = rows.find((row) => row.when === 'lost');
  return { waitMs: unheard?.ms, atMs: lost?.atMs, signal: (lost ?? unheard)?.signal };
}

function waitsAround(config: MemberConfig): { readonly before: unknown; readonly after: unknown } {
  const life = new Life({ config, peers: config.role === 'sidecar' ? HELD : [alive('proxy', { Role: 'sidecar' })] });
  const before = waitsOf(config, life.state);
  const after = waitsOf(config, life.signal(SIGTERM).state);
  return {
    before: { waitMs: before.waitMs, atMs: before.atMs },
    after: { waitMs: after.waitMs, atMs: after.atMs === undefined ? undefined : after.atMs - START },
  };
}

test('a stop waits 5 s for a supervisor, at most half of the grace period, or 10 s without one', () => {
  const waitOf = (change: Partial<MemberConfig>): unknown => {
    const config = mainConfig(change);
    return waitsOf(config, new Life({ config }).state).waitMs;
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
  assert.deepEqual(waitsAround(mainConfig({ gracePeriodMs, drain: fixed(15_000) })), {
    before: { waitMs: 15_000, atMs: undefined },
    after: { waitMs: 15_000, atMs: 15_000 },
  });
  assert.deepEqual(
    waitsAround(mainConfig({ gracePeriodMs, drain: { ...ADAPTIVE_DRAIN, minMs: 1_000, maxMs: 30_000 } })),
    { before: { waitMs: 5_000, atMs: undefined }, after: { waitMs: 5_000, atMs: 1_000 } },
  );
});

test('a sidecar that holds gets its signal after 3/4 of the grace period, or after 15 s', () => {
  assert.deepEqual(waitsAround(sidecarConfig({ gracePeriodMs: 40_000 })), {
    before: { waitMs: 30_000, atMs: undefined },
    after: { waitMs: 30_000, atMs: 30_000 },
  });
  assert.deepEqual(waitsAround(sidecarConfig({})), {
    before: { waitMs: 15_000, atMs: undefined },
    after: { waitMs: 15_000, atMs: 15_000 },
  });
});

test('a grace floor ends the wait for a supervisor, too', () => {
  const change = { gracePeriodMs: 120_000, graceFloorMs: 15_000 };
  assert.deepEqual(waitsAround(mainConfig({ ...change, drain: fixed(60_000) })), {
    before: { waitMs: 13_000, atMs: undefined },
    after: { waitMs: 13_000, atMs: 13_000 },
  });
  assert.deepEqual(waitsAround(sidecarConfig(change)), {
    before: { waitMs: 14_000, atMs: undefined },
    after: { waitMs: 14_000, atMs: 14_000 },
  });
  // The platform has not asked.
  const life = new Life({ config: mainConfig({ ...change, drain: fixed(60_000) }) }).askToStop();
  assert.equal(waitsOf(mainConfig({ ...change, drain: fixed(60_000) }), life.state).atMs, START + 60_000);
});

test('a command that has had its stop signal gets no other one', () => {
  const config = mainConfig({});
  const life = new Life({ config, peers: [], child: { on: { [SIGTERM]: 'ignores' } } }).signal(SIGTERM);
  assert.notEqual(life.state.climb, undefined);
  const { waitMs, atMs } = waitsOf(config, life.state);
  assert.deepEqual([waitMs, atMs], [undefined, undefined]);
});

test('without a supervisor the host sends the first rung, or the signal that arrived', () => {
  const signalOf = (change: Partial<MemberConfig>): unknown => {
    const config = mainConfig(change);
    return waitsOf(config, new Life({ config }).state).signal;
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
  const { waitMs, atMs } = waitsOf(config, state);
  assert.deepEqual([waitMs, atMs], [6_000, START + 45_000]);
});

test('the rows of a stop say in words when a signal is sent and when KILL comes', () => {
  const config = sidecarConfig({ gracePeriodMs: 40_000 });
  const { state } = new Life({ config, peers: HELD }).signal(SIGTERM);
  assert.deepEqual(wordsOf(ordersOf(config, state), START + 1_000).slice(1), [
    'a stop request that no supervisor has acknowledged for 30 s: send TERM',
    'in 29 s, unless a supervisor acts: send TERM',
    'a stop request that no supervisor has acknowledged for 40 s: KILL',
    '41 s after the stop signal that follows the mains: KILL',
    'in 39 s: KILL',
    'in 29 s, if the command has ended and no supervisor acts: leave with exit code 0',
  ]);
});

test('init leaves early only where the platform has asked', () => {
  const config = mainConfig({ gracePeriodMs: 40_000, drain: fixed(60_000) });
  const leaves = ({ state }: Life): boolean => ordersOf(config, state).rows.some(({ when }) => when === 'leave');
  assert.equal(leaves(new Life({ config }).signal(SIGTERM)), true);
  assert.equal(leaves(new Life({ config }).askToStop(60_000)), false);
  assert.equal(leaves(new Life({ config }).askToStop(60_000).signal(SIGTERM)), true);
});

test('a sidecar that outlives its mains is killed, also without a declared grace period', () => {
  const graceOf = (change: Partial<MemberConfig>): unknown => {
    const config = sidecarConfig(change);
    const { rows } = ordersOf(config, new Life({ config, peers: HELD }).state);
    return rows.find((row) => row.when === 'mains-grace');
  };
  assert.deepEqual(graceOf({ gracePeriodMs: 8_000 }), { when: 'mains-grace', ms: 9_000 });
  assert.deepEqual(graceOf({}), { when: 'mains-grace', ms: 31_000 });
  const config = sidecarConfig({});
  const asked = new Life({ config, peers: HELD }).signal(SIGTERM).state;
  assert.ok(
    ordersOf(config, asked).rows.every(({ when }) => when !== 'mains-grace'),
    'the platform has asked',
  );
});

test('a stop has as many rows as init takes at most', () => {
  const config = sidecarConfig({ gracePeriodMs: 40_000 });
  const { state } = new Life({ config, peers: HELD }).signal(SIGTERM);
  assert.ok(ordersOf(config, state).rows.length <= 16);
});
