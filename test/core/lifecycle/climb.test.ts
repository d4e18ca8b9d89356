/** What a child leaves behind: the rest of its group, strays, processes that KILL cannot end. And what killed it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { probes } from '../helpers.ts';
import type { ChildScript } from '../host.ts';
import { Life, main, sidecar } from '../life.ts';
import { restartAsked } from '../table/columns.ts';

const LADDER = [
  { signal: 15, forMs: 400 },
  { signal: 2, forMs: 300 },
  { signal: 9, forMs: undefined },
];

/** Others of its group, and one that has left the group, that end only by KILL, by themselves, or not at all. */
const UNTIL_KILLED: readonly ChildScript[] = [{ leaves: 'untilKilled' }, { stray: 'untilKilled' }];
const BRIEF: readonly ChildScript[] = [{ leaves: 19 }, { stray: 19 }];
const UNKILLABLE: readonly ChildScript[] = [{ leaves: 'unkillable' }, { stray: 'unkillable' }];
const DEAF = { on: { 2: 'ignores', 15: 'ignores' } } as const;

describe('leftovers of an ended command', () => {
  const all = (life: Life): string => [life.sent, life.swept].filter((text) => text !== '').join(', ');

  it('leftovers that end by themselves within 20 ms are sent nothing', () => {
    for (const left of BRIEF) {
      const life = new Life(main({}, left)).pass(1_000).endChild(0).passUntilGone();
      assert.deepEqual([all(life), life.exitedAtMs], ['', 1_019]);
    }
  });

  it('leftovers get rung after rung and then KILL, and the code of the child stays', () => {
    for (const left of UNTIL_KILLED) {
      const life = new Life(main({ ladder: LADDER }, { ...DEAF, ...left })).endChild(4).passUntilGone();
      assert.deepEqual([all(life), life.exitCode, life.exitedAtMs], ['20 TERM, 420 INT, 720 KILL', 4, 720]);
      const plain = new Life(main({}, { ...DEAF, ...left })).endChild(4).passUntilGone();
      assert.equal(all(plain), '20 TERM, 30020 KILL');
    }
  });

  it('leftovers that survive KILL are given up after 2 s, in a stop before the deadline', () => {
    for (const left of UNKILLABLE) {
      const life = new Life(main({ gracePeriodMs: 5_000 }, { ...DEAF, ...left }));
      const alone = life.fork().endChild(0).passUntilGone();
      assert.deepEqual([alone.exitedAtMs, alone.exitCode], [20 + 5_000 + 2_000, 0]);
      assert.ok(alone.logs.includes('warn: some of its processes survived KILL: they are waited for no longer'));
      const stopped = life.signal(15).passUntilGone();
      assert.deepEqual([stopped.exitedAtMs, stopped.exitCode], [5_000 - 100, 137]);
    }
  });
});

describe('strays', () => {
  it('strays of a group that survives KILL for long get 2 s of their own', () => {
    const life = new Life(main({ gracePeriodMs: 5_000 }, { ...DEAF, leaves: 'unkillable', stray: 'unkillable' }));
    life.endChild(0).pass(7_000).feed({ type: 'groupGone', id: 1, strays: 1 }).passUntilGone();
    assert.deepEqual(life.sweeps, [[7_000, 9]]);
    assert.equal(life.exitedAtMs, 7_000 + 2_000);
  });

  it('strays that leave when asked get the first rung, and the child’s code stays', () => {
    const life = new Life(main({ ladder: LADDER }, { stray: 'untilAsked' })).pass(1_000).endChild(4).passUntilGone();
    assert.deepEqual([life.sweeps, life.signals], [[[1_020, 15]], []]);
    assert.deepEqual([life.exitCode, life.exitedAtMs, life.tombstone.Reason], [4, 1_020, 'error']);
  });

  it('strays of a stopped child get its signal once the group is empty', () => {
    const child: ChildScript = { stray: 'untilKilled', on: { 15: { afterMs: 200, code: 0 } }, leaves: 50 };
    const life = new Life(main({ gracePeriodMs: 10_000 }, child)).pass(1_000).signal(15).passUntilGone();
    assert.equal(life.sent, '1000 TERM');
    assert.equal(life.swept, '1250 TERM, 10500 KILL');
    assert.deepEqual([life.exitCode, life.exitedAtMs, life.tombstone.Reason], [0, 10_500, 'stopped']);
  });

  it('strays of a killed child are killed', () => {
    const child: ChildScript = { stray: 'untilKilled', on: { 15: 'ignores' } };
    const life = new Life(main({ gracePeriodMs: 10_000 }, child)).signal(15).passUntilGone();
    assert.deepEqual([life.sweeps, life.exitCode, life.exitedAtMs], [[[9_500, 9]], 137, 9_500]);
  });

  it('strays that outlive KILL hold up a restart of the pod for 2 s', () => {
    const life = new Life(main({ gracePeriodMs: 5_000 }, { stray: 'unkillable', on: { 15: 'ignores' } }));
    life.feed(restartAsked(life.nowMs)).pass(10_000);
    assert.deepEqual([life.sweeps, life.spawns], [[[4_750, 9]], [0, 6_750]]);
  });

  it('strays do not keep the next life waiting for more than 2 s', () => {
    const life = new Life(main({ restart: 'always' }, { stray: 'untilKilled' })).endChild(1).pass(2_120);
    assert.equal(life.swept, '20 TERM, 2020 KILL');
    assert.deepEqual(life.spawns, [0, 2_120]);
  });

  it('the end of strays counts only while they are waited for', () => {
    const life = new Life(main({}, { leaves: 'untilKilled' })).endChild(0).pass(5);
    assert.equal(life.feed({ type: 'straysGone' }).exitCode, undefined);
    const late = new Life(main({}, { stray: 'untilKilled' })).endChild(0).pass(5);
    assert.equal(late.feed({ type: 'groupGone', id: 1, strays: 0 }).exitCode, undefined);
    assert.equal(late.feed({ type: 'straysGone' }).exitCode, 0);
  });

  it('strays get the next rung of a second stop request', () => {
    const child: ChildScript = { stray: 'untilKilled', on: { 15: { afterMs: 0, code: 0 } } };
    const ladder = [
      { signal: 15, forMs: 60_000 },
      { signal: 2, forMs: undefined },
    ];
    assert.equal(new Life(main({ ladder }, child)).signal(15).pass(1_000).signal(15).swept, '0 TERM, 1000 INT');
  });
});

describe('the kill of a child', () => {
  const by = (life: Life): unknown => life.tombstone.History?.find(({ Event }) => Event === 'exited')?.By;

  it('J17 a KILL because memory ran out is reported as such, with 137', () => {
    const life = new Life(main()).pass(100).killChild({ oom: true });
    assert.deepEqual([by(life), life.tombstone.Reason, life.tombstone.Signal], ['OOM killer', 'oom', 'SIGKILL']);
    assert.equal(life.exitCode, 137);
    assert.ok(life.logs.some((line) => line.startsWith('error: exited')));
  });

  it('a KILL by an unknown sender is distinguished from ours', () => {
    const life = new Life(main()).pass(100).killChild({ oom: false });
    assert.deepEqual([by(life), life.tombstone.Reason, life.exitCode], ['an unknown sender', 'killed', 137]);
    const ours = new Life(main({ gracePeriodMs: 1_000 }, { on: { 15: 'ignores' } })).signal(15).passUntilGone();
    assert.deepEqual([by(ours), ours.tombstone.Reason, ours.exitCode], ['sexton', 'killed', 137]);
  });

  it('a KILL of ours stays ours though the OOM killer was at work at that time', () => {
    const life = new Life(main({ gracePeriodMs: 2_000 }, { on: { 15: 'ignores' } })).signal(15).pass(1_899);
    const climb = { why: 'stop', rung: 0, sinceMs: 0, killAtMs: undefined, killed: true } as const;
    life.state = { ...life.state, climb };
    life.killChild({ oom: true });
    assert.deepEqual([by(life), life.tombstone.Reason], ['sexton', 'killed']);
  });

  it('a KILL because memory ran out in a stop is reported as such', () => {
    const life = new Life(main({ gracePeriodMs: 9_000 }, { on: { 15: 'ignores' } }))
      .signal(15)
      .pass(100)
      .killChild({ oom: true });
    assert.deepEqual([life.tombstone.Reason, life.exitCode], ['oom', 137]);
  });

  it('a KILL because memory ran out is followed by another life', () => {
    const life = new Life(sidecar(probes({}))).pass(100).killChild({ oom: true }).pass(100);
    assert.deepEqual([life.spawns, life.tombstone.LastReason, life.tombstone.LastExitCode], [[0, 200], 'oom', 137]);
  });

  it('a KILL by init that is heard late starts no other life before its group is gone', () => {
    const life = new Life(main({ gracePeriodMs: 5_000 }, { on: { 15: 'ignores' } }));
    life.feed(restartAsked(life.nowMs));
    life.nowMs += 9_000;
    life.feed({ type: 'overdue', id: 1 });
    life.nowMs += 1_500;
    life.feed({ type: 'exited', id: 1, pid: 101, code: undefined, signal: 9, core: false, oom: false });
    assert.deepEqual([life.spawns, life.logs.filter((line) => line.includes('survived'))], [[0], []]);
    life.feed({ type: 'groupGone', id: 1, strays: 0 });
    assert.deepEqual(life.spawns, [0, 10_500]);
  });

  it('an end by another signal names no sender', () => {
    assert.equal(by(new Life(main()).signal(15)), undefined);
  });
});
