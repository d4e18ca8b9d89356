/** When a supervisor may sleep, as far as its own state decides that. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { RESTART, type State } from '../../src/core/state/state.ts';
import type { HostCommand } from '../../src/runtime/host/host.ts';
import { Log } from '../../src/runtime/log.ts';
import type { SleepWatch } from '../../src/runtime/membership.ts';
import { RESTED } from '../../src/runtime/memo.ts';
import { Sleeper } from '../../src/runtime/sleep/sleeper.ts';
import { whyAwakeByState, whyAwakeByTime, withWake } from '../../src/runtime/sleep/why-awake.ts';
import { alive, mainConfig, START, sidecarConfig } from '../core/helpers.ts';
import { Life } from '../core/life.ts';

const MINUTE_MS = 60_000;

describe('the state of a member', () => {
  const life = new Life({ config: mainConfig({ gracePeriodMs: 10_000 }), child: {}, peers: [alive('proxy')] });
  const running = life.state;

  it('the state lets its supervisor sleep while the command runs and nothing else is under way', () => {
    assert.equal(running.child.is, 'alive');
    assert.equal(whyAwakeByState(mainConfig(), running), undefined);
  });

  const not: Readonly<Record<string, Partial<State>>> = {
    'before the graveyard was looked at': { peers: undefined },
    'while a hook runs': { tasks: [{ key: 'postStart', id: 1, sinceMs: 0, untilMs: undefined, ending: false }] },
    'while what the command has left behind is ended': {
      child: {
        is: 'leftovers',
        id: 1,
        exit: { code: 0, signal: undefined },
        sinceMs: 0,
        livedMs: 0,
        oom: false,
        strays: false,
      },
    },
    'when its life is over': { child: { is: 'gone', status: 0, code: 0, reason: 'completed', final: true } },
  };
  for (const [when, change] of Object.entries(not))
    it(`the state keeps its supervisor awake ${when}`, () =>
      assert.notEqual(whyAwakeByState(mainConfig(), { ...running, ...change }), undefined));

  it('the state keeps its supervisor awake during a stop', () => {
    const stopped = new Life({ config: mainConfig(), child: { on: { 15: { afterMs: 5_000, code: 0 } } }, peers: [] });
    stopped.signal(15);
    assert.notEqual(whyAwakeByState(mainConfig(), stopped.state), undefined);
  });

  it('the state keeps its supervisor awake while it is unclear whether a peer lives', () => {
    const { now } = running;
    const lost = { ...alive('work'), liveness: 'lost' as const, lostAt: now.mono, sinceMs: now.mono };
    assert.notEqual(whyAwakeByState(sidecarConfig(), { ...running, peers: { work: lost } }), undefined);
  });

  it('the state keeps its supervisor awake while a restart found at start-up may still run', () => {
    const config = sidecarConfig({ mains: ['work'] });
    const restarting = { StopRequested: 'now', StopReason: RESTART, RestartRequested: START, RestartBy: 'work: exit' };
    const work = { ...alive('work', { Phase: 'waiting', ...restarting }), foundAtStart: true };
    const doubting = new Life({ config, peers: [work] });
    assert.equal(doubting.state.stop, undefined);
    assert.notEqual(whyAwakeByState(config, doubting.state), undefined);
    assert.ok(doubting.pass(1_500).logs.includes('info: asked to restart in place'));
  });
});

describe('Sleeper', () => {
  const AFTER_MS = 10;

  it('Sleeper makes one attempt at a time, however long a look at the graveyard takes', async (test: TestContext) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { state } = new Life({ config: mainConfig(), peers: [] });
    const looks: (() => void)[] = [];
    const commands: string[] = [];
    const sleeper = new Sleeper({
      member: mainConfig(),
      afterMs: AFTER_MS,
      log: new Log({ level: 'silent', format: 'json', member: 'work' }),
      now: () => state.now.mono,
      state: () => state,
      rest: () => RESTED,
      membership: () => ({
        sleepWatch: () => Promise.resolve({ own: '/graveyard/work', quiet: [], sockets: [], held: {} }),
        handOver: () => new Promise<void>((resolve) => looks.push(resolve)),
      }),
      prepareStop: () => [],
      commit: (sent) => commands.push(...sent.map(({ type }) => type)),
    });
    sleeper.open();
    for (let turn = 0; turn < 5; turn++) {
      test.mock.timers.tick(AFTER_MS);
      await nextTurn();
    }
    assert.deepEqual([looks.length, commands], [1, []]);
    looks[0]?.();
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    assert.deepEqual(commands, ['asleepAt', 'sleep']);
    sleeper.close();
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

describe('a supervisor that may sleep', () => {
  it('a supervisor falls asleep even if each look at the graveyard comes in that moment', async (t) => {
    const { state } = new Life({ config: mainConfig({ gracePeriodMs: 10_000 }), child: {}, peers: [] });
    const log = new Log({ level: 'silent', format: 'json', member: 'web' });
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    const commands: HostCommand[] = [];
    let isLooking = false;
    const looks = setInterval(() => {
      isLooking = true;
    }, 5_000);
    t.after(() => clearInterval(looks));
    const sleepWatch = async (): Promise<SleepWatch | string> =>
      isLooking ? 'the graveyard is being read' : { own: '/graveyard/work', quiet: [], sockets: [], held: {} };
    const membership = { sleepWatch, handOver: async () => {} };
    const sleeper = new Sleeper({
      member: mainConfig({ solo: false }),
      afterMs: 5_000,
      log,
      now: () => state.now.mono,
      state: () => state,
      rest: () => RESTED,
      membership: () => membership,
      prepareStop: () => [],
      commit: (given) => commands.push(...given),
    });
    sleeper.open();
    for (let ms = 0; ms < MINUTE_MS; ms += 100) {
      t.mock.timers.tick(100);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      isLooking = false;
    }
    sleeper.close();
    assert.ok(commands.some(({ type }) => type === 'sleep'));
  });
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
