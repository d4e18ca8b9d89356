/** The linger: the time between the end of the mains and the stop of a sidecar, whoever asks for the stop. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import type { Tombstone } from '../../../src/core/format/tombstone.ts';
import { RESTART } from '../../../src/core/state/state.ts';
import { ADAPTIVE_DRAIN, alive, dead, fixed, lost, START, sidecarConfig, stopping, waiting } from '../helpers.ts';
import { Life } from '../life.ts';

describe('a sidecar with --linger 3s', () => {
  const beside = (change: Partial<MemberConfig> = {}): Life =>
    new Life({ config: sidecarConfig({ lingerMs: 3_000, gracePeriodMs: 30_000, ...change }), peers: [alive('a')] });
  /** The main, dead since now. */
  const died = (life: Life, code = 0, more: Partial<Tombstone> = {}) =>
    dead('a', code, { DiedMonotonic: life.nowMs, ...more });
  const ASKED = { StopRequested: '2027-01-15T08:30:00.000000000Z', StopReason: 'signal TERM' };

  it('lingers when it was asked to stop before its main', () => {
    const life = beside().signal(15).pass(2_000);
    life.see(died(life, 143, { ...ASKED, Final: true }));
    assert.deepEqual([life.phase, life.state.stop?.waitsFor, life.signals], ['holding', 'linger', []]);
    assert.equal(life.pass(10_000).sent, '5000 TERM');
    assert.equal(life.logs.filter((line) => line.includes('lingering')).length, 1);
  });

  it('lingers when its main was asked first and has ended, final or not', () => {
    for (const restartPolicy of ['Never', 'OnFailure', 'Always'] as const) {
      const life = beside({ restartPolicy }).pass(1_000);
      life.see(died(life, 143, { ...ASKED, Final: restartPolicy === 'Never' }));
      assert.equal(life.pass(100).signal(15).pass(10_000).sent, '4000 TERM', restartPolicy);
    }
  });

  it('lingers after `sexton stop` of the pod', () => {
    const life = beside().askToStop().pass(1_000);
    assert.equal(life.see(died(life)).pass(10_000).sent, '4000 TERM');
  });

  it('does not linger when `sexton stop` names it alone', () => {
    assert.equal(beside().askToStop(undefined, ['self']).pass(10_000).sent, '0 TERM');
  });

  it('lingers in a restart in place, and after a stop that beats one', () => {
    for (const beats of [false, true]) {
      const life = beside().pass(1_000);
      const requestedMs = life.nowMs;
      const ask = { requestedMs, by: 'test', graceMs: undefined, among: undefined, byRule: undefined };
      life.feed({ type: 'restartAsked', ask }).pass(1_000);
      const ended = { StopReason: RESTART, RestartRequested: requestedMs, LastDied: '2027-01-15T08:30:01.000000000Z' };
      life.see(waiting('a', { ...ended, StopRequested: ended.LastDied, Incarnation: 'a-1' }));
      if (beats) life.signal(15);
      assert.deepEqual([life.state.stop?.waitsFor, life.signals], ['linger', []]);
      assert.equal(life.pass(10_000).sent, '5000 TERM', String(beats));
    }
  });

  it('lingers from the end of its main, however late that is noticed', () => {
    for (const [noticedMs, sentMs] of [
      [0, 3_000],
      [2_000, 3_000],
      [5_000, 5_000],
    ] as const) {
      const life = beside();
      const end = died(life);
      life.pass(noticedMs).see(end);
      assert.equal(life.pass(10_000).sent, `${sentMs} TERM`);
      const asked = beside().signal(15).pass(noticedMs).see(end);
      assert.equal(asked.pass(10_000).sent, `${sentMs} TERM`);
    }
  });

  it('lingers from the loss of a main that has recorded no end', () => {
    const life = beside().signal(15).pass(1_000);
    assert.equal(life.see(lost('a', life.nowMs)).pass(10_000).sent, '4000 TERM');
  });

  it('lingers beside its turn: another sidecar that ends later costs no further time', () => {
    const other = alive('other', { Role: 'sidecar', StartAfter: ['self'] });
    const life = beside().see(alive('a'), other).signal(15).pass(1_000);
    const end = died(life);
    life.see(end, other).pass(3_500);
    assert.deepEqual(life.signals, []);
    const gone = dead('other', 0, { Role: 'sidecar', StartAfter: ['self'], DiedMonotonic: life.nowMs });
    assert.equal(life.see(end, gone).pass(1).sent, '4500 TERM');
  });

  it('lingers beside its drain, and stops when both are over', () => {
    for (const [drain, sentMs] of [
      [fixed(500), 4_000],
      [fixed(6_000), 6_000],
      [{ ...ADAPTIVE_DRAIN, maxMs: 5_500 }, 5_500],
    ] as const) {
      const life = beside({ drain }).signal(15).pass(1_000);
      assert.equal(life.see(died(life)).pass(10_000).sent, `${sentMs} TERM`);
    }
  });

  it('stops 2 s before the deadline at the latest, also before an assumed one', () => {
    for (const [gracePeriodMs, sentMs] of [
      [6_000, 4_000],
      [undefined, 28_000],
    ] as const) {
      const life = beside({ gracePeriodMs, lingerMs: 60_000 }).signal(15).pass(1_000);
      assert.equal(life.see(died(life)).pass(60_000).sent, `${sentMs} TERM`);
    }
    const short = beside({ graceFloorMs: 4_000 }).signal(15).pass(1_000);
    assert.equal(short.see(died(short)).pass(10_000).sent, '3000 TERM');
    const hurried = beside({ gracePeriodMs: undefined }).signal(15).pass(1_000);
    assert.equal(hurried.see(died(hurried)).pass(500).signal(2).sent, '1500 TERM');
  });

  it('does not linger where no main has ended, or one ended long before', () => {
    assert.equal(
      beside({ hold: { kind: 'never' } })
        .signal(15)
        .pass(10_000).sent,
      '0 TERM',
    );
    const life = beside({ restartPolicy: 'Always' });
    assert.equal(life.see(died(life)).pass(20_000).signal(15).pass(10_000).sent, '21000 TERM');
  });

  it('does not believe a main that names a time to come', () => {
    const life = beside().signal(15).pass(1_000);
    assert.equal(life.see(dead('a', 0, { DiedMonotonic: START + 1e9 })).pass(10_000).sent, '4000 TERM');
  });

  it('is not started again when it ends by itself while it lingers', () => {
    const life = beside().signal(15).pass(1_000);
    life.see(died(life)).pass(500).endChild(1);
    assert.deepEqual([life.exits.length, life.spawns.length], [1, 1]);
  });

  it('keeps to its linger when its supervisor is lost', () => {
    const life = beside().signal(15).pass(1_000);
    const end = died(life);
    life.see(end).pass(1_000).loseSupervisor().feed({ type: 'booted' }).see(end);
    assert.equal(life.pass(10_000).sent, '4000 TERM');
  });

  it('outlives the mains that it holds for, and lingers after the last', () => {
    const life = beside().see(alive('a'), stopping('b')).signal(15).pass(1_000);
    const first = died(life);
    life.see(first, stopping('b')).pass(6_000);
    assert.deepEqual(life.signals, []);
    life.see(first, dead('b', 0, { ...ASKED, DiedMonotonic: life.nowMs }));
    assert.equal(life.pass(10_000).sent, '10000 TERM');
  });
});
