import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import type { State } from '../../src/core/state/state.ts';
import { NODE_TIMERS } from '../../src/runtime/clock.ts';
import type { Membership } from '../../src/runtime/membership.ts';
import { RESTED } from '../../src/runtime/memo.ts';
import { Sleeper } from '../../src/runtime/sleep/sleeper.ts';
import { whyAwakeByGraveyard, whyAwakeByState, whyAwakeByTime, withWake } from '../../src/runtime/sleep/why-awake.ts';
import { alive, mainConfig, sidecarConfig } from '../core/helpers.ts';
import { Life } from '../core/life.ts';
import { SILENT } from './recorder.ts';

const MINUTE_MS = 60_000;
const WATCH = { own: '/graveyard/work', quiet: [], held: {} };

describe('the state of a member', () => {
  const life = new Life({ config: mainConfig({ gracePeriodMs: 10_000 }), child: {}, peers: [alive('proxy')] });
  const running = life.state;

  it('the state lets its supervisor sleep while the command runs and nothing else is under way', () => {
    assert.equal(running.child.is, 'alive');
    assert.equal(whyAwakeByState(mainConfig(), running), undefined);
  });

  const exit = { code: 0, signal: undefined };
  const ROOTS = { is: 'roots', id: 1, exit, sinceMs: 0, livedMs: 0, oom: false } as const;
  const not: Readonly<Record<string, Partial<State>>> = {
    'before the graveyard was looked at': { peers: undefined },
    'while a hook runs': { tasks: [{ key: 'postStart', id: 1, sinceMs: 0, untilMs: undefined, ending: false }] },
    'while what the command has left behind is ended': { child: ROOTS },
    'while a life that has failed is ended': { failing: { why: 'liveness', sinceMs: 0, since: '', killAtMs: 1 } },
    'when its life is over': { child: { is: 'gone', status: 0, code: 0, reason: 'completed', final: true } },
  };
  for (const [when, change] of Object.entries(not))
    it(`the state keeps its supervisor awake ${when}`, () =>
      assert.notEqual(whyAwakeByState(mainConfig(), { ...running, ...change }), undefined));

  it('the state keeps its supervisor awake in each part of a stop', () => {
    const stopped = new Life({ config: mainConfig(), child: { on: { 15: { afterMs: 5_000, code: 0 } } }, peers: [] });
    stopped.signal(15);
    const { stop, climb } = stopped.state;
    assert.ok(stop !== undefined && climb !== undefined);
    assert.equal(whyAwakeByState(mainConfig(), { ...running, stop }), 'a stop is under way');
    assert.equal(whyAwakeByState(mainConfig(), { ...running, climb }), 'a stop is under way');
  });

  it('the state keeps its supervisor awake while it is unclear whether a peer lives', () => {
    const { now } = running;
    const lost = { ...alive('work'), liveness: 'lost' as const, lostAt: now.mono, sinceMs: now.mono };
    assert.notEqual(whyAwakeByState(sidecarConfig(), { ...running, peers: { work: lost } }), undefined);
  });
});

it('a supervisor stays awake for what is due soon', () => {
  assert.equal(whyAwakeByTime(9_999, [], 0, 5_000), 'something is due soon');
  assert.equal(whyAwakeByTime(10_000, [], 0, 5_000), undefined);
});

describe('the graveyard of a member', () => {
  const quiet = { isLocal: true, isSettled: true, list: {}, isTooLarge: false };

  it('a supervisor may sleep where init can watch all that matters in the graveyard', () => {
    assert.equal(whyAwakeByGraveyard(quiet), undefined);
  });

  for (const change of [{ isLocal: false }, { isSettled: false }, { list: undefined }, { isTooLarge: true }])
    it(`a supervisor stays awake beside a graveyard with ${inspect(change)}`, () =>
      assert.notEqual(whyAwakeByGraveyard({ ...quiet, ...change }), undefined));
});

describe('Sleeper', () => {
  it('makes one attempt at a time, however long a look at the graveyard takes', async (test: TestContext) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { state } = new Life({ config: mainConfig(), peers: [] });
    const looks: (() => void)[] = [];
    const commands: string[] = [];
    const handOver = () => new Promise<void>((resolve) => looks.push(resolve));
    const sleeper = sleeperOf({ state, commands, afterMs: 10 }, { sleepWatch: async () => WATCH, handOver });
    sleeper.open();
    for (let turn = 0; turn < 5; turn++) {
      test.mock.timers.tick(10);
      await nextTurn();
    }
    assert.deepEqual([looks.length, commands], [1, ['prepare']]);
    looks[0]?.();
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    assert.deepEqual(commands, ['prepare', 'sleep']);
    sleeper.close();
  });

  it('tries later and later where it may sleep after a short time and cannot', async (test: TestContext) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { state } = new Life({ config: mainConfig(), peers: [] });
    let attempts = 0;
    const sleepWatch = async (): Promise<string> => `not yet, ${++attempts}`;
    const sleeper = sleeperOf({ state, commands: [], afterMs: 1 }, { sleepWatch, handOver: async () => {} });
    sleeper.open();
    for (let ms = 0; ms < 3_000; ms++) {
      test.mock.timers.tick(1);
      await nextTurn();
    }
    sleeper.close();
    assert.ok(attempts > 10 && attempts < 15, `${attempts} attempts`);
  });

  it('sleeps also when each look at the graveyard falls into the moment in which it would', async (t) => {
    const { state } = new Life({ config: mainConfig({ gracePeriodMs: 10_000 }), child: {}, peers: [] });
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    const commands: string[] = [];
    let isLooking = false;
    const looks = setInterval(() => {
      isLooking = true;
    }, 5_000);
    t.after(() => clearInterval(looks));
    const sleepWatch = async () => (isLooking ? 'the graveyard is being read' : WATCH);
    const sleeper = sleeperOf({ state, commands, afterMs: 5_000 }, { sleepWatch, handOver: async () => {} });
    sleeper.open();
    for (let ms = 0; ms < MINUTE_MS; ms += 100) {
      t.mock.timers.tick(100);
      for (let turn = 0; turn < 5; turn++) await nextTurn();
      isLooking = false;
    }
    sleeper.close();
    assert.ok(commands.includes('sleep'));
  });
});

describe('a supervisor that is woken often', () => {
  const wakesEvery = (ms: number, times: number): readonly number[] => {
    let wakes: readonly number[] = [];
    for (let wake = 1; wake <= times; wake++) wakes = withWake(wakes, wake * ms);
    return wakes;
  };

  it('a supervisor stays awake for half an hour after over three wakes a minute for five minutes', () => {
    const wakes = wakesEvery(18_000, 16);
    const last = wakes.at(-1) ?? 0;
    assert.notEqual(whyAwakeByTime(undefined, wakes, last, 5_000), undefined);
    assert.notEqual(whyAwakeByTime(undefined, wakes, last + 29 * MINUTE_MS, 5_000), undefined);
    assert.equal(whyAwakeByTime(undefined, wakes, last + 30 * MINUTE_MS, 5_000), undefined);
  });

  it('a supervisor sleeps again after fewer wakes', () => {
    assert.equal(whyAwakeByTime(undefined, wakesEvery(21_000, 40), 40 * 21_000, 5_000), undefined);
    assert.equal(whyAwakeByTime(undefined, wakesEvery(1_000, 15), 15_000, 5_000), undefined);
    assert.equal(whyAwakeByTime(undefined, [], 0, 5_000), undefined);
  });

  it('a supervisor remembers no more wakes than it takes', () => {
    assert.deepEqual(withWake(wakesEvery(1_000, 99), 100_000.5).length, 16);
  });
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

interface Sleeping {
  readonly state: State;
  readonly commands: string[];
  readonly afterMs: number;
}

function sleeperOf(
  { state, commands, afterMs }: Sleeping,
  membership: Pick<Membership, 'sleepWatch' | 'handOver'>,
): Sleeper {
  return new Sleeper({
    member: mainConfig(),
    afterMs,
    log: SILENT,
    clock: { timers: NODE_TIMERS, now: () => state.now },
    state: () => state,
    rest: () => RESTED,
    membership: () => membership,
    prepare: async () => void commands.push('prepare'),
    commit: (sent) => commands.push(...sent.map(({ type }) => type)),
  });
}
