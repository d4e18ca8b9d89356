/** The idle check, the second condition of an adaptive drain. Times count from the stop request. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdaptiveDrain, FileAction, GaugeAction, IdleCheck, MemberConfig } from '../../../src/core/config.ts';
import { evidenceOf } from '../../../src/core/lifecycle/stop/record.ts';
import { ordersOf } from '../../../src/core/orders.ts';
import { SIGINT, SIGTERM } from '../../../src/core/signals.ts';
import { ADAPTIVE_DRAIN, alive, command, dead, mainConfig, probe, sidecarConfig } from '../helpers.ts';
import type { Run } from '../host.ts';
import { Life } from '../life.ts';

const CALL = { kind: 'http', method: 'GET', scheme: 'http', host: '127.0.0.1', port: 8000, headers: [] } as const;
const GAUGE: GaugeAction = {
  kind: 'gauge',
  call: { ...CALL, path: '/metrics' },
  metrics: [{ name: 'running', labels: [] }],
};
const FILE: FileAction = { kind: 'file', path: '/run/busy', idle: 'absent' };
const CHECK: IdleCheck = { action: GAUGE, periodMs: 1_000, timeoutMs: 1_000, forMs: 2_000, staleMs: 0 };
const NO_CONNECTIONS: AdaptiveDrain = { ...ADAPTIVE_DRAIN, quietMs: 0 };

const running = (sum: number, afterMs = 0): Run => ({ afterMs, ok: sum === 0, sum, detail: `${sum} running` });
const trouble = (detail: string): Run => ({ afterMs: 0, ok: false, detail });

interface Given {
  readonly check?: Partial<IdleCheck>;
  readonly drain?: Partial<AdaptiveDrain>;
  readonly config?: Partial<MemberConfig>;
}

/** A member that is asked to stop, and what its application answers from then on; the last answer repeats. */
function asked(runs: readonly Run[], { check, drain, config }: Given = {}): Life {
  const idleWhen = { ...CHECK, ...check };
  const all = mainConfig({ drain: { ...NO_CONNECTIONS, ...drain }, idleWhen, gracePeriodMs: 60_000, ...config });
  const actions = { '/metrics': runs, '/run/busy': runs, 'is-idle': runs };
  return new Life({ config: all, peers: [], child: { on: { 15: 'ignores' }, actions } }).pass(5_000).signal(SIGTERM);
}

/** When the drain ended and why; undefined: it goes on. */
function ended(life: Life): readonly [number, string] | undefined {
  const entry = life.state.chronicle.history.find(({ Event }) => Event === 'drained');
  return entry && [Number(entry.AfterMs), String(entry.Why)];
}

const warnings = (life: Life) => life.logs.filter((line) => line.startsWith('warn'));

describe('an idle check', () => {
  const cases: readonly (readonly [title: string, runs: readonly Run[], end: readonly [number, string], Given?])[] = [
    ['a gauge of 0 ends the drain after `for`', [running(0)], [2_000, 'idle']],
    ['a gauge that falls to 0 ends the drain `for` later', [9, 5, 2, 0].map((sum) => running(sum)), [5_000, 'idle']],
    ['a gauge that never is 0 lasts until `max`', [running(7)], [15_000, 'max']],
    ['an error is busy', [trouble('status 503')], [15_000, 'max']],
    ['no answer is busy', ['never'], [15_000, 'max']],
    ['a check that cannot be ended is busy', ['deaf'], [15_000, 'max']],
    [
      'an error between two idle answers restarts `for`',
      [running(0), trouble('timed out after 1s'), running(0)],
      [4_000, 'idle'],
    ],
    ['work between two idle answers restarts `for`', [0, 1, 0].map((sum) => running(sum)), [4_000, 'idle']],
    ['`for` of 0 needs one idle answer', [running(3), running(0)], [1_000, 'idle'], { check: { forMs: 0 } }],
    ['`min` holds also for an idle application', [running(0)], [6_000, 'idle'], { drain: { minMs: 5_500 } }],
    ['`period` is the time between questions', [running(0)], [2_100, 'idle'], { check: { periodMs: 700 } }],
    [
      '`stale` counts from the last change',
      [2, 0].map((sum) => running(sum)),
      [9_000, 'idle'],
      { check: { staleMs: 8_000 } },
    ],
    ['`stale` counts from the first answer', [running(0)], [8_000, 'idle'], { check: { staleMs: 8_000 } }],
    [
      'an error does not restart `stale`',
      [running(0), trouble('status 500'), running(0)],
      [5_000, 'idle'],
      { check: { staleMs: 5_000 } },
    ],
    [
      'a file counts as any answer',
      [trouble('the file is there'), { afterMs: 0, ok: true }],
      [3_000, 'idle'],
      { check: { action: FILE } },
    ],
    [
      'a command counts as any answer',
      [
        { afterMs: 0, ok: false },
        { afterMs: 0, ok: true },
      ],
      [3_000, 'idle'],
      { check: { action: command('is-idle') } },
    ],
  ];
  for (const [title, runs, end, given] of cases) {
    it(title, () => {
      const life = asked(runs, given);
      assert.deepEqual(ended(life.pass(end[0] - 1)), undefined);
      assert.deepEqual(ended(life.pass(1)), end);
      assert.deepEqual([life.state.phase, life.state.tasks], ['stopping', []]);
    });
  }

  it('an idle application serves on while connections come, and a busy one while none do', () => {
    const quiet = (life: Life, lastMs?: number) =>
      life.feed({ type: 'trafficSeen', lastMs, connections: 1, ignored: 0, open: 0, byAddress: 0 });
    const idle = asked([running(0)], { drain: { quietMs: 2_000 } }).pass(4_000);
    assert.equal(ended(quiet(idle, idle.nowMs - 100)), undefined);
    assert.deepEqual(ended(quiet(idle.pass(1_900), idle.nowMs - 2_000)), [5_900, 'idle']);
    const busy = asked([running(1)], { drain: { quietMs: 2_000 } });
    assert.equal(ended(quiet(busy.pass(9_000))), undefined);
  });

  it('a second stop request ends the drain of a busy application at once', () => {
    const life = asked(['never']).pass(4_200).signal(SIGINT);
    assert.deepEqual(ended(life), [4_200, 'asked again']);
    assert.deepEqual([life.state.phase, life.state.tasks], ['stopping', []]);
  });

  it('a drain ends with the command, whatever was refused before', () => {
    const life = asked([trouble('connection refused')]).pass(3_100);
    life.feed({ type: 'exited', id: 1, pid: 0, code: 0, signal: undefined, core: false, oom: false });
    life.feed({ type: 'rootsGone', id: 1 });
    assert.deepEqual(ended(life), [3_100, 'command ended']);
  });

  it('a command that has ended is not asked, and its last answer does not count for the next', () => {
    const life = asked([running(0)]).pass(1_500);
    life.feed({ type: 'exited', id: 1, pid: 0, code: 0, signal: undefined, core: false, oom: false }).pass(5_000);
    assert.deepEqual([life.runsOf('/metrics').length, life.state.idle?.idleSinceMs], [2, undefined]);
    assert.equal(ended(life), undefined);
  });

  it('a sidecar that was idle while it held is asked on, and must be idle when its turn comes', () => {
    const config = sidecarConfig({
      drain: { ...NO_CONNECTIONS, maxMs: 50_000 },
      idleWhen: CHECK,
      gracePeriodMs: 60_000,
    });
    const runs = [...[0, 0, 0, 0].map((sum) => running(sum)), running(5), running(0)];
    const child = { on: { 15: 'ignores' as const }, actions: { '/metrics': runs } };
    const life = new Life({ config, peers: [alive('work')], child }).pass(5_000).signal(SIGTERM).pass(4_500);
    assert.equal(ended(life), undefined);
    assert.equal(ended(life.see(dead('work', 0))), undefined);
    assert.deepEqual(ended(life.pass(2_500)), [7_000, 'idle']);
  });

  it('the deadline ends the drain of a busy application in time for the ladder', () => {
    const life = asked([running(1)], { drain: { maxMs: 59_000 } }).pass(57_999);
    assert.equal(ended(life), undefined);
    assert.deepEqual(ended(life.pass(1)), [58_000, 'deadline']);
  });

  it('the log tells the number at the start, at every halving and at the end', () => {
    const life = asked([9, 8, 5, 4, 4, 3, 2, 1, 0].map((sum) => running(sum))).pass(12_000);
    const told = life.done.flatMap(({ effect }) =>
      effect.type === 'log' && effect.level === 'info' && effect.details.busy !== undefined
        ? [effect.details.busy]
        : [],
    );
    assert.deepEqual(told, ['9', '4', '2', '1', 'idle', 'idle']);
    assert.ok(life.logs.includes('info: the drain is over: the application is idle'), life.logs.join('\n'));
  });

  it('a drain that ended at `max` says in log, tombstone and evidence how much still runs', () => {
    const life = asked([running(9), running(7)]).pass(3_500);
    assert.equal(life.tombstone.Busy, '7');
    life.pass(11_500);
    assert.ok(life.logs.includes('info: the drain is over: its longest time has passed, 7 still running'));
    assert.equal(life.tombstone.Busy, undefined);
    assert.equal(life.state.chronicle.history.find(({ Event }) => Event === 'drained')?.Busy, '7');
    const { Busy, Summary } = evidenceOf(life.config, life.passUntilGone().state);
    assert.deepEqual(Busy, { BusyFrom: '9', BusyTo: '7', BusyMs: 14_000 });
    assert.match(Summary, /drain 15 s \(7 still running\)/);
  });

  it('a metric without a sum brings one warning when the drain starts', () => {
    const life = asked([trouble('no metric running')]).pass(20_000);
    assert.deepEqual(warnings(life), [
      'warn: cannot tell whether self is idle: no metric running; until it is known it counts as busy; check the address and the names in --idle-when',
    ]);
    assert.deepEqual(warnings(asked([running(3)]).pass(20_000)), []);
    assert.deepEqual(warnings(asked([trouble('status 503')], { check: { action: FILE } }).pass(20_000)), []);
  });

  it('a member that becomes ready by its probe is asked once, and then not until its drain', () => {
    const readiness = probe(command('ready'), { periodMs: 1_000 });
    const config = { probes: { startup: undefined, readiness, liveness: undefined } };
    const life = asked([trouble('no metric running'), running(0)], { config });
    assert.equal(warnings(life).length, 1);
    assert.deepEqual(life.runsOf('/metrics'), [0, 5_000]);
    assert.equal(asked([running(0)]).runsOf('/metrics').length, 1);
    assert.deepEqual(ended(life.pass(2_000)), [2_000, 'idle']);
  });

  it('the next supervisor goes on asking, and restarts `for`', () => {
    const life = asked([running(3), running(0)]).pass(2_900);
    assert.ok(life.state.idle?.idleSinceMs !== undefined);
    life.loseSupervisor().pass(1_000).feed({ type: 'booted' }).see();
    assert.equal(ended(life.pass(1_999)), undefined);
    assert.deepEqual(ended(life.pass(1)), [5_900, 'idle']);
    assert.equal(life.state.idle?.first, '3');
  });

  it('an application that says by itself whether it is idle is busy until it has said so', () => {
    const check = { action: { kind: 'notify' } } as const;
    const config = { notifies: true };
    const tell = (life: Life, text: string) => life.feed({ type: 'notified', id: 1, dropped: 0, text });
    const silent = asked([], { check, config }).pass(15_000);
    assert.deepEqual(ended(silent), [15_000, 'max']);
    assert.ok(
      silent.logs.includes('info: the drain is over: its longest time has passed, still busy (no X_SEXTON_IDLE yet)'),
    );
    const life = tell(asked([], { check, config }).pass(1_300), 'X_SEXTON_IDLE=1');
    assert.equal(life.tombstone.Busy, 'idle');
    tell(life.pass(1_900), 'STATUS=x\nX_SEXTON_IDLE=0');
    assert.deepEqual([ended(life.pass(3_000)), life.tombstone.Busy], [undefined, 'X_SEXTON_IDLE=0']);
    tell(life, 'X_SEXTON_IDLE=1').pass(1_999);
    assert.deepEqual([ended(life), warnings(life)], [undefined, []]);
    assert.deepEqual(ended(life.pass(1)), [8_200, 'idle']);
  });

  it('what an application has said before the stop request counts, but not for its next life', () => {
    const idleWhen = { ...CHECK, action: { kind: 'notify' } } as const;
    const config = mainConfig({
      notifies: true,
      drain: NO_CONNECTIONS,
      idleWhen,
      gracePeriodMs: 60_000,
      restart: 'always',
    });
    const begin = () => {
      const life = new Life({ config, peers: [], child: { on: { 15: 'ignores' } } }).pass(1_000);
      return life.feed({ type: 'notified', id: 1, dropped: 0, text: 'X_SEXTON_IDLE=1' }).pass(60_000);
    };
    assert.deepEqual(
      ended(begin().loseSupervisor().pass(1_000).feed({ type: 'booted' }).see().signal(SIGTERM).pass(2_000)),
      [2_000, 'idle'],
    );
    assert.deepEqual(ended(begin().endChild(1).pass(60_000).signal(SIGTERM).pass(15_000)), [15_000, 'max']);
  });

  it('a supervisor that stood still begins `for` again', () => {
    const life = asked([running(0)]).pass(1_500);
    life.nowMs += 4_000;
    life.wakeAtMs = undefined;
    assert.equal(ended(life.feed({ type: 'ticked' })), undefined);
    assert.deepEqual(ended(life.pass(2_000)), [7_500, 'idle']);
  });

  it('a host without a supervisor waits for a busy application as long as it may', () => {
    const { config, state } = asked([running(1)]);
    const rowsOf = (of: MemberConfig) => ordersOf(of, state).rows;
    const lost = rowsOf(config).find((row) => row.when === 'lost');
    const unheard = rowsOf(config).find((row) => row.when === 'unheard');
    assert.deepEqual([(lost?.atMs ?? 0) - (state.stop?.atMs ?? 0), unheard?.ms], [15_000, 15_000]);
    assert.equal(rowsOf({ ...config, idleWhen: undefined }).find((row) => row.when === 'unheard')?.ms, 5_000);
  });
});
