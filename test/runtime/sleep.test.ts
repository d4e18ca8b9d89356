/** When a supervisor may sleep, as far as that is a matter of what it knows. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { RESTART, type State } from '../../src/core/state/state.ts';
import type { HostCommand } from '../../src/runtime/host/host.ts';
import { Log } from '../../src/runtime/log.ts';
import type { SleepWatch } from '../../src/runtime/membership.ts';
import { RESTED } from '../../src/runtime/memo.ts';
import { isAtRest, isRestless, Sleeper, withWake } from '../../src/runtime/sleep.ts';
import { alive, mainConfig, START, sidecarConfig } from '../core/helpers.ts';
import { Life } from '../core/life.ts';

const MINUTE_MS = 60_000;

describe('isAtRest', () => {
  const life = new Life({ config: mainConfig({ gracePeriodMs: 10_000 }), child: {}, peers: [alive('proxy')] });
  const running = life.state;

  it('is a command that runs, and nothing else under way', () => {
    assert.equal(running.child.is, 'alive');
    assert.equal(isAtRest(mainConfig(), running), true);
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
    it(`is not ${when}`, () => assert.equal(isAtRest(mainConfig(), { ...running, ...change }), false));

  it('is not during a stop', () => {
    const stopped = new Life({ config: mainConfig(), child: { on: { 15: { afterMs: 5_000, code: 0 } } }, peers: [] });
    stopped.signal(15);
    assert.equal(isAtRest(mainConfig(), stopped.state), false);
  });

  it('is not while it is unsure whether a peer lives', () => {
    const { now } = running;
    const lost = { ...alive('work'), liveness: 'lost' as const, lostAt: now.mono, sinceMs: now.mono };
    assert.equal(isAtRest(sidecarConfig(), { ...running, peers: { work: lost } }), false);
  });

  it('is not while it is doubted whether a restart that was found at the start is under way', () => {
    const config = sidecarConfig({ mains: ['work'] });
    const restarting = { StopRequested: 'now', StopReason: RESTART, RestartRequested: START, RestartBy: 'work: exit' };
    const work = { ...alive('work', { Phase: 'waiting', ...restarting }), foundAtStart: true };
    const doubting = new Life({ config, peers: [work] });
    assert.equal(doubting.state.stop, undefined);
    assert.equal(isAtRest(config, doubting.state), false);
    assert.ok(doubting.pass(1_500).logs.includes('info: asked to restart in place'));
  });
});

describe('Sleeper', () => {
  const AFTER_MS = 10;

  it('makes one attempt at a time, however long a look at the graveyard takes', async (test: TestContext) => {
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

describe('isRestless', () => {
  const wakesEvery = (ms: number, times: number): readonly number[] => {
    let wakes: readonly number[] = [];
    for (let wake = 1; wake <= times; wake++) wakes = withWake(wakes, wake * ms);
    return wakes;
  };

  it('is whoever was woken more than three times a minute for five minutes, for half an hour', () => {
    const wakes = wakesEvery(18_000, 16);
    const last = wakes.at(-1) ?? 0;
    assert.equal(isRestless(wakes, last), true);
    assert.equal(isRestless(wakes, last + 29 * MINUTE_MS), true);
    assert.equal(isRestless(wakes, last + 30 * MINUTE_MS), false);
  });

  it('is not who was woken less often, or not so many times yet', () => {
    assert.equal(isRestless(wakesEvery(21_000, 40), 40 * 21_000), false);
    assert.equal(isRestless(wakesEvery(1_000, 15), 15_000), false);
    assert.equal(isRestless([], 0), false);
  });

  it('remembers no more wakes than it takes', () => {
    assert.deepEqual(withWake(wakesEvery(1_000, 99), 100_000.5).length, 16);
  });
});

describe('a supervisor that may sleep', () => {
  it('does so also when each look at the graveyard falls into the moment in which it would', async (t) => {
    const { state } = new Life({ config: mainConfig({ gracePeriodMs: 10_000 }), child: {}, peers: [] });
    const log = new Log({ level: 'silent', format: 'json', member: 'web' });
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    const commands: HostCommand[] = [];
    let isLooking = false;
    const looks = setInterval(() => {
      isLooking = true;
    }, 5_000);
    t.after(() => clearInterval(looks));
    const sleepWatch = async (): Promise<SleepWatch | undefined> =>
      isLooking ? undefined : { own: '/graveyard/work', quiet: [], sockets: [], held: {} };
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
