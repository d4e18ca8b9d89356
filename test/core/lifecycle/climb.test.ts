/**
 * What a child leaves behind: the rest of its group, strays that have left the group, and processes that KILL cannot
 * end. And what killed it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import { alive, mainConfig, probes, sidecarConfig } from '../helpers.ts';
import type { ChildScript } from '../host.ts';
import { Life } from '../life.ts';

const LADDER = [
  { signal: 15, forMs: 400 },
  { signal: 2, forMs: 300 },
  { signal: 9, forMs: undefined },
];
function main(child: ChildScript, change: Partial<MemberConfig> = {}): Life {
  return new Life({ config: mainConfig(change), peers: [], child });
}

describe('strays', () => {
  it('that leave when they are asked to get the first rung, and the container ends with the child’s code', () => {
    const life = main({ stray: 'untilAsked' }, { ladder: LADDER }).pass(1_000).endChild(4).passUntilGone();
    assert.deepEqual([life.sweeps, life.signals], [[[1_020, 15]], []]);
    assert.deepEqual([life.exitCode, life.exitedAtMs, life.tombstone.Reason], [4, 1_020, 'error']);
  });

  it('that leave by themselves within a moment are sent nothing', () => {
    const life = main({ stray: 19 }).pass(1_000).endChild(0).passUntilGone();
    assert.deepEqual([life.sweeps, life.exitedAtMs], [[], 1_019]);
  });

  it('that do not leave get rung after rung, and KILL at the end', () => {
    const life = main({ stray: 'untilKilled' }, { ladder: LADDER }).endChild(0).passUntilGone();
    assert.deepEqual(life.sweeps, [
      [20, 15],
      [420, 2],
      [720, 9],
    ]);
    assert.deepEqual([life.signals, life.exitCode, life.exitedAtMs], [[], 0, 720]);
  });

  it('of a child that was stopped get the signal that its group got, once the group is empty', () => {
    const child: ChildScript = { stray: 'untilKilled', on: { 15: { afterMs: 200, code: 0 } }, leaves: 50 };
    const life = main(child, { gracePeriodMs: 10_000 }).pass(1_000).signal(15).passUntilGone();
    assert.deepEqual(life.signals, [[1_000, 15]]);
    assert.deepEqual(life.sweeps, [
      [1_250, 15],
      [10_500, 9],
    ]);
    assert.deepEqual([life.exitCode, life.exitedAtMs, life.tombstone.Reason], [0, 10_500, 'stopped']);
  });

  it('of a child that was killed are killed', () => {
    const child: ChildScript = { stray: 'untilKilled', on: { 15: 'ignores' } };
    const life = main(child, { gracePeriodMs: 10_000 }).signal(15).passUntilGone();
    assert.deepEqual([life.sweeps, life.exitCode, life.exitedAtMs], [[[9_500, 9]], 137, 9_500]);
  });

  it('that outlive KILL are left after 2 s', () => {
    const life = main({ stray: 'unkillable' }, { ladder: LADDER }).endChild(3).passUntilGone();
    assert.deepEqual([life.sweeps.at(-1), life.exitCode, life.exitedAtMs], [[720, 9], 3, 2_720]);
    assert.ok(life.logs.includes('warn: some of its processes survived KILL: they are waited for no longer'));
  });

  it('that outlive KILL are left in a pod’s stop so early that the death is still written', () => {
    const child: ChildScript = { stray: 'unkillable', on: { 15: 'ignores' } };
    const life = main(child, { gracePeriodMs: 10_000 }).signal(15).passUntilGone();
    assert.deepEqual([life.exitCode, life.exitedAtMs], [137, 9_900]);
  });

  it('that outlive KILL hold a restart of the pod up for 2 s, whatever is left until the deadline', () => {
    const child: ChildScript = { stray: 'unkillable', on: { 15: 'ignores' } };
    const ask = { by: 'a test', graceMs: undefined, among: undefined, byRule: undefined };
    const life = main(child, { gracePeriodMs: 5_000 });
    life.feed({ type: 'restartAsked', ask: { ...ask, requestedMs: life.nowMs } }).pass(10_000);
    assert.deepEqual([life.sweeps, life.spawns], [[[4_750, 9]], [0, 6_750]]);
  });

  it('do not keep the next life waiting for more than 2 s', () => {
    const life = main({ stray: 'untilKilled' }, { restart: 'always' }).endChild(1).pass(2_120);
    assert.deepEqual(life.sweeps, [
      [20, 15],
      [2_020, 9],
    ]);
    assert.deepEqual(life.spawns, [0, 2_120]);
  });

  it('are heard of by their own event only, and only while they are waited for', () => {
    const life = main({ leaves: 'untilKilled' }).endChild(0).pass(5);
    assert.equal(life.feed({ type: 'straysGone' }).exitCode, undefined);
    const late = main({ stray: 'untilKilled' }).endChild(0).pass(5);
    assert.equal(late.feed({ type: 'groupGone', id: 1, strays: 0 }).exitCode, undefined);
    assert.equal(late.feed({ type: 'straysGone' }).exitCode, 0);
  });

  it('get a second stop request’s next rung like everybody', () => {
    const child: ChildScript = { stray: 'untilKilled', on: { 15: { afterMs: 0, code: 0 } } };
    const ladder = [
      { signal: 15, forMs: 60_000 },
      { signal: 2, forMs: undefined },
    ];
    const life = main(child, { ladder }).signal(15).pass(1_000).signal(15);
    assert.deepEqual(life.sweeps, [
      [0, 15],
      [1_000, 2],
    ]);
  });
});

describe('the kill of a child', () => {
  const by = (life: Life): unknown => life.tombstone.History?.find(({ Event }) => Event === 'exited')?.By;

  it('J17 by the kernel for want of memory is told as such, with 137', () => {
    const life = main({}).pass(100).killChild({ oom: true });
    assert.deepEqual([by(life), life.tombstone.Reason, life.tombstone.Signal], ['OOM killer', 'oom', 'SIGKILL']);
    assert.equal(life.exitCode, 137);
    assert.ok(life.logs.some((line) => line.startsWith('error: exited')));
  });

  it('by somebody else is told apart from ours', () => {
    const life = main({}).pass(100).killChild({ oom: false });
    assert.deepEqual([by(life), life.tombstone.Reason, life.exitCode], ['an unknown sender', 'killed', 137]);
    const ours = main({ on: { 15: 'ignores' } }, { gracePeriodMs: 1_000 })
      .signal(15)
      .passUntilGone();
    assert.deepEqual([by(ours), ours.tombstone.Reason, ours.exitCode], ['sexton', 'killed', 137]);
  });

  it('by us stays ours though the OOM killer was at work at that time', () => {
    const life = main({ on: { 15: 'ignores' } }, { gracePeriodMs: 2_000, ladder: [{ signal: 9, forMs: undefined }] });
    const state = life.feed({ type: 'signal', signal: 15, senderPid: 0, fromTerminal: false }).state;
    assert.equal(state.child.is, 'gone');
    const other = main({ on: { 15: 'ignores' } }, { gracePeriodMs: 2_000 })
      .signal(15)
      .pass(1_899);
    other.state = {
      ...other.state,
      climb: { ...other.state.climb, why: 'stop', rung: 0, sinceMs: 0, killAtMs: undefined, killed: true },
    };
    other.killChild({ oom: true });
    assert.deepEqual([by(other), other.tombstone.Reason], ['sexton', 'killed']);
  });

  it('for want of memory while it was stopping is still told', () => {
    const life = main({ on: { 15: 'ignores' } }, { gracePeriodMs: 9_000 })
      .signal(15)
      .pass(100)
      .killChild({ oom: true });
    assert.deepEqual([life.tombstone.Reason, life.exitCode], ['oom', 137]);
  });

  it('for want of memory is followed by another life like every death', () => {
    const config = sidecarConfig(probes({}));
    const life = new Life({ config, peers: [alive('work')] }).pass(100).killChild({ oom: true }).pass(100);
    assert.deepEqual([life.spawns, life.tombstone.LastReason, life.tombstone.LastExitCode], [[0, 200], 'oom', 137]);
  });

  it('by init at the deadline, heard of late: nothing has survived it, and no other life begins before its group is gone', () => {
    const life = main({ on: { 15: 'ignores' } }, { gracePeriodMs: 5_000 });
    const ask = { requestedMs: life.nowMs, by: 'a test', graceMs: undefined, among: undefined, byRule: undefined };
    life.feed({ type: 'restartAsked', ask });
    life.nowMs += 9_000;
    life.feed({ type: 'overdue', id: 1 });
    life.nowMs += 1_500;
    life.feed({ type: 'exited', id: 1, pid: 101, code: undefined, signal: 9, core: false, oom: false });
    assert.deepEqual([life.spawns, life.logs.filter((line) => line.includes('survived'))], [[0], []]);
    life.feed({ type: 'groupGone', id: 1, strays: 0 });
    assert.deepEqual(life.spawns, [0, 10_500]);
  });

  it('with another signal says nothing of who did it', () => {
    assert.equal(by(main({}).signal(15)), undefined);
  });
});
