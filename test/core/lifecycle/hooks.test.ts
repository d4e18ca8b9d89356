import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alive, command, dead, fixed, mainConfig, probes, sidecarConfig } from '../helpers.ts';
import type { ChildScript } from '../host.ts';
import { Life, main, sidecar } from '../life.ts';

const HI = { postStart: command('hi') };
const BYE = { preStop: command('bye') };
const takes = (afterMs: number, ok = true) => [{ afterMs, ok }] as const;

describe('post-start', () => {
  it('N03, N04 post-start runs beside the child from its start, and `Started` waits for it', () => {
    const life = new Life(main(HI, { actions: { hi: takes(700) } })).pass(699);
    assert.deepEqual([life.runsOf('hi'), life.phase, life.tombstone.Started], [[0], 'starting', undefined]);
    life.pass(1);
    assert.deepEqual([life.phase, life.tombstone.Started !== undefined], ['running', true]);
    assert.equal(life.tombstone.Healthy, life.tombstone.Started);
  });

  it('N15 `Started` waits for post-start and the startup probe, whichever is last', () => {
    for (const [hookMs, probeMs] of [
      [300, 900],
      [900, 300],
    ] as const) {
      const actions = { hi: takes(hookMs), startup: takes(probeMs) };
      const life = new Life(main({ ...HI, ...probes({ startup: {} }) }, { actions })).pass(899);
      assert.equal(life.tombstone.Started, undefined);
      assert.notEqual(life.pass(1).tombstone.Started, undefined);
    }
  });

  it('N36 post-start goes on after the stop request and ends with the child', () => {
    const child: ChildScript = { actions: { hi: ['never'] }, on: { 15: 'ignores' } };
    const life = new Life(main({ ...HI, gracePeriodMs: 10_000 }, child)).pass(1_000).signal(15).pass(9_499);
    assert.deepEqual([life.signals, life.endsOf('hi')], [[[1_000, 15]], []]);
    life.passUntilGone();
    assert.deepEqual([life.endsOf('hi'), life.exitCode], [[10_500], 137]);
  });

  it('a post-start hook that fails after the stop request ends nothing', () => {
    const life = new Life(main({ ...HI, drain: fixed(3_000) }, { actions: { hi: takes(500, false) } }))
      .signal(15)
      .pass(2_000);
    assert.deepEqual([life.phase, life.signals], ['draining', []]);
  });

  it('post-start runs in each life, and not for a child that cannot be started', () => {
    const life = new Life(main({ ...HI, restart: 'always' })).pass(500).endChild(1).pass(1_000);
    assert.deepEqual(life.runsOf('hi'), [0, 600]);
    assert.deepEqual(life.spawns, [0, 600]);
    assert.deepEqual(new Life(main(HI, { errno: 'ENOENT' })).pass(1_000).runs, []);
  });
});

describe('pre-stop', () => {
  it('N38 pre-stop comes before the first rung, while the child serves on', () => {
    const hooked = new Life(main({ ...BYE, gracePeriodMs: 30_000 }, { actions: { bye: takes(4_000) } })).signal(15);
    assert.deepEqual([hooked.phase, hooked.signals], ['draining', []]);
    hooked.passUntilGone();
    const traps: ChildScript = { on: { 15: { afterMs: 4_000, code: 143 } } };
    const trapping = new Life(main({ gracePeriodMs: 30_000 }, traps)).signal(15).passUntilGone();
    assert.deepEqual([hooked.signals, hooked.exitedAtMs, hooked.exitCode], [[[4_000, 15]], 4_000, 143]);
    assert.deepEqual([trapping.exitedAtMs, trapping.exitCode], [4_000, 143]);
  });

  it('N20 the pre-stop hook of a sidecar comes when its turn has come', () => {
    const config = sidecarConfig({ ...BYE, gracePeriodMs: 60_000, lingerMs: 700 });
    const asked = new Life({ config, peers: [alive('work')] }).signal(15).pass(8_000).see(dead('work', 0));
    assert.deepEqual([asked.runsOf('bye'), asked.signals, asked.exitCode], [[8_000], [[8_000, 15]], 0]);
    const done = new Life({ config, peers: [alive('work')] }).see(dead('work', 0)).passUntilGone();
    assert.deepEqual([done.runsOf('bye'), done.signals, done.exitCode], [[700], [[700, 15]], 0]);
  });

  it('N06, N19, N27 an endless pre-stop hook ends 2 s before the deadline, or at half of it', () => {
    for (const [gracePeriodMs, turn, kill] of [
      [10_000, 8_000, 9_500],
      [2_000, 1_000, 1_900],
    ] as const) {
      const child: ChildScript = { actions: { bye: ['never'] }, on: { 15: 'ignores' } };
      const life = new Life(main({ ...BYE, gracePeriodMs }, child)).signal(15).passUntilGone();
      assert.deepEqual([life.endsOf('bye'), life.exitCode, life.exitedAtMs], [[turn], 137, kill]);
      const expected = [[turn, 15], [kill, 9]]; // biome-ignore format: two signals
      assert.deepEqual(life.signals, expected);
    }
  });

  it('N28 a sidecar that decided itself has one grace period for hook and ladder', () => {
    const child: ChildScript = { actions: { bye: ['never'] }, on: { 15: 'ignores' } };
    const config = sidecarConfig({ ...BYE, gracePeriodMs: 10_000 });
    const life = new Life({ config, peers: [alive('work')], child }).pass(5_000).see(dead('work', 0)).passUntilGone();
    assert.deepEqual(life.endsOf('bye'), [13_000]);
    assert.equal(life.sent, '13000 TERM, 15000 KILL');
    assert.equal(life.exitedAtMs, 15_000);
    assert.equal(life.exitCode, 0);
  });

  it('a pre-stop hook without a declared grace period has no time limit', () => {
    const life = new Life(main(BYE, { actions: { bye: ['never'] } })).signal(15).pass(200_000);
    assert.deepEqual([life.signals, life.endsOf('bye'), life.phase], [[], [], 'draining']);
  });

  it('a second stop request ends pre-stop, and none begins after one', () => {
    const life = new Life(main({ ...BYE, gracePeriodMs: 30_000 }, { actions: { bye: ['never'] } }));
    life.signal(15).pass(1_700).signal(2);
    assert.deepEqual([life.endsOf('bye'), life.signals, life.exitCode], [[1_700], [[1_700, 15]], 143]);
    const drained = new Life(main({ ...BYE, drain: fixed(5_000) })).signal(15).pass(1_000).signal(15);
    assert.deepEqual([drained.runs, drained.signals], [[], [[1_000, 15]]]);
  });

  it('N24 a pre-stop hook that fails is logged and ignored', () => {
    const life = new Life(main(BYE, { actions: { bye: takes(300, false) } })).signal(15).passUntilGone();
    assert.deepEqual([life.signals, life.exitCode], [[[300, 15]], 143]);
    assert.ok(life.logs.includes('warn: the pre-stop hook failed'));
  });

  it('N34 pre-stop does not run for a child that never started, nor between two lives', () => {
    const gated = mainConfig({ ...BYE, startAfter: [{ name: 'db', condition: 'started', optional: false }] });
    const shut = new Life({ config: gated, peers: [] }).signal(15);
    assert.deepEqual([shut.runs, shut.exitCode, shut.tombstone.Reason], [[], 143, 'never-started']);
    const between = new Life(main({ ...BYE, restart: 'always' })).endChild(1).signal(15);
    assert.deepEqual([between.runs, between.exitCode], [[], 1]);
    assert.deepEqual(new Life(main(BYE, { errno: 'EACCES' })).signal(15).runs, []);
  });

  it('N35 pre-stop runs although post-start still runs', () => {
    const life = new Life(main({ ...HI, ...BYE }, { actions: { hi: ['never'], bye: takes(500) } }))
      .pass(100)
      .signal(15);
    assert.deepEqual([life.runsOf('hi'), life.runsOf('bye'), life.phase], [[0], [100], 'draining']);
    assert.deepEqual([life.passUntilGone().signals, life.endsOf('hi')], [[[600, 15]], [600]]);
  });

  it('N37 pre-stop does not run for a child that has ended, by itself or by the OOM killer', () => {
    assert.deepEqual(new Life(main(BYE)).killChild({ oom: true }).runs, []);
    const drained = new Life(main({ ...BYE, drain: fixed(5_000) })).signal(15).pass(100).endChild(0);
    assert.deepEqual([drained.runs, drained.exitCode], [[], 0]);
  });

  it('N38 pre-stop is over with its child, which counts as stopped', () => {
    const life = new Life(main({ ...BYE, gracePeriodMs: 30_000 }, { actions: { bye: ['never'] } }))
      .signal(15)
      .pass(200);
    life.endChild(5);
    assert.deepEqual([life.endsOf('bye'), life.exitCode, life.exitedAtMs], [[200], 5, 200]);
    assert.equal(life.tombstone.Reason, 'stopped');
  });

  it('pre-stop does not begin when there is no time left for it', () => {
    const life = new Life(sidecar({ ...BYE, gracePeriodMs: 10_000 })).signal(15).passUntilGone();
    assert.deepEqual([life.runs, life.signals], [[], [[8_000, 15]]]);
    assert.ok(life.logs.includes('warn: not running the pre-stop hook: its time is over'));
    const drained = new Life(main({ ...BYE, gracePeriodMs: 10_000, drain: fixed(60_000) })).signal(15).passUntilGone();
    assert.deepEqual([drained.runs, drained.signals], [[], [[8_000, 15]]]);
  });
});
