/** A container that the platform stops alone: told apart from a stop of the pod where another member can tell. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RestartPolicy } from '../../../src/core/config.ts';
import { alive, mainConfig, START, sidecarConfig, stopping } from '../helpers.ts';
import { Life } from '../life.ts';

const WORK = 'work';
const GRACE = { gracePeriodMs: 30_000 };
const says = (PodStopNotBefore: number): ReturnType<typeof alive> => alive(WORK, { PodStopNotBefore });

describe('a member that is not asked to stop', () => {
  const unasked = (platformPreStopMs: number | undefined): Life =>
    new Life({ config: mainConfig({ ...GRACE, platformPreStopMs }), peers: [alive('proxy', { Role: 'sidecar' })] });
  const asked = stopping('proxy', undefined, { Role: 'sidecar' });

  it('A2 a member that is not asked publishes after 3 s that the pod had not been stopped', () => {
    const life = unasked(0).pass(60_000).see(asked).pass(2_999);
    assert.equal(life.tombstone.PodStopNotBefore, undefined);
    assert.equal(life.pass(1).tombstone.PodStopNotBefore, START + 60_000);
  });

  it('A2 a member that is not asked waits for its own hook of the platform first', () => {
    const life = unasked(20_000).see(asked).pass(22_999);
    assert.equal(life.tombstone.PodStopNotBefore, undefined);
    assert.equal(life.pass(1).tombstone.PodStopNotBefore, START);
  });

  it('A2 a member without a declared hook, or after another kind of stop, publishes nothing', () => {
    assert.equal(unasked(undefined).see(asked).pass(90_000).tombstone.PodStopNotBefore, undefined);
    for (const StopReason of ['request', 'liveness', 'mains finished']) {
      const life = unasked(0).see(stopping('proxy', 0, { StopReason }));
      assert.equal(life.pass(9_000).tombstone.PodStopNotBefore, undefined);
    }
    const known = stopping('proxy', undefined, { StopScope: 'container' });
    assert.equal(unasked(0).see(known).pass(9_000).tombstone.PodStopNotBefore, undefined);
  });

  it('A2 a member that is asked, however late, publishes nothing', () => {
    for (const afterMs of [0, 1_999, 2_000, 2_999]) {
      const life = unasked(0).see(asked).pass(afterMs).signal(15).pass(20_000);
      assert.equal(life.tombstone.PodStopNotBefore, undefined, `${afterMs} ms`);
    }
  });

  it('A2 a member reads twice, a second apart, before it publishes', () => {
    const life = unasked(0).see(asked);
    life.nowMs += 10_000;
    assert.equal(life.feed({ type: 'ticked' }).tombstone.PodStopNotBefore, undefined);
    assert.equal(life.pass(999).tombstone.PodStopNotBefore, undefined);
    assert.equal(life.pass(1).tombstone.PodStopNotBefore, START + 8_000);
  });

  it('A2 a member waits for its hook again after the whole machine stood still', () => {
    const life = unasked(2_000).see(asked).pass(500);
    life.nowMs += 4_000;
    life.feed({ type: 'ticked' });
    assert.equal(life.pass(2_999).tombstone.PodStopNotBefore, undefined);
    assert.equal(life.pass(1).tombstone.PodStopNotBefore, START + 2_500);
  });

  it('A2 a member publishes again for the next one that is asked', () => {
    const life = unasked(0)
      .see(asked)
      .pass(10_000)
      .see(asked, stopping('logs', undefined, { Role: 'sidecar' }));
    assert.equal(life.tombstone.PodStopNotBefore, START);
    assert.equal(life.pass(3_000).tombstone.PodStopNotBefore, START + 10_000);
  });

  it('A2 a member publishes again when the same one restarts and is asked again', () => {
    const again = stopping('proxy', undefined, { Role: 'sidecar', Incarnation: `${'c'.repeat(32)}-1` });
    const life = unasked(0).see(asked).pass(10_000).see(again).pass(3_000);
    assert.equal(life.tombstone.PodStopNotBefore, START + 10_000);
  });
});

describe('a member that is stopped alone', () => {
  const sidecar = (change: Parameters<typeof sidecarConfig>[0] = {}): Life =>
    new Life({
      config: sidecarConfig({ ...GRACE, mains: [WORK], ...change }),
      child: { on: { 15: { afterMs: 100, code: 143 } } },
      peers: [alive(WORK)],
    }).signal(15);

  it('A2 a sidecar that is stopped alone does not hold', () => {
    const life = sidecar().pass(3_000);
    assert.deepEqual([life.phase, life.signals], ['holding', []]);
    life.see(says(START));
    assert.equal(life.sent, '3000 TERM');
    assert.deepEqual([life.tombstone.StopScope, life.tombstone.Deadline], ['container', START + 30_000]);
    assert.ok(life.logs.some((line) => /info: only this container is being stopped, not the pod: work/.test(line)));
    assert.equal(life.passUntilGone().exitedAtMs, 3_100);
  });

  it('A2 an older record, or one of another boot or session, is no proof', () => {
    const others = [
      says(START - 1),
      alive(WORK, { PodStopNotBefore: START + 1, Boot: 'another' }),
      alive(WORK, { PodStopNotBefore: START + 1, Session: 'theirs' }),
    ];
    for (const other of others) {
      const life = sidecar({ session: 'ours', mains: ['db'] })
        .see(alive('db'), other)
        .pass(9_000);
      assert.deepEqual([life.phase, life.tombstone.StopScope], ['holding', undefined]);
    }
  });

  it('A2 a member that is stopped alone keeps its own grace period, and waits for no other', () => {
    const next = alive('next', { StartAfter: ['self'], PodStopNotBefore: START + 1 });
    const life = new Life({ config: mainConfig(GRACE), child: { on: { 15: 'ignores' } }, peers: [next] }).signal(15);
    assert.equal(life.passUntilGone().sent, '0 TERM, 29500 KILL');
  });

  it('A2 a member that is stopped alone drains', () => {
    const config = mainConfig({ ...GRACE, drain: { kind: 'fixed', ms: 5_000 } });
    assert.equal(new Life({ config, peers: [says(START + 1)] }).signal(15).passUntilGone().sent, '5000 TERM');
  });

  it('A2 a member that is stopped alone is not restarted in place', () => {
    assert.equal(sidecar().pass(50).see(says(START)).passUntilGone().spawns.length, 1);
  });

  it('A2 a member that is stopped alone hides its code only where it is not restarted', () => {
    const codeUnder = (restartPolicy: RestartPolicy): number | undefined =>
      sidecar({ restartPolicy }).see(says(START)).passUntilGone().exitCode;
    assert.deepEqual([codeUnder('OnFailure'), codeUnder('Always'), codeUnder('Never')], [143, 143, 0]);
  });

  it('A2 a main that is stopped alone is no stop of the pod for a sidecar with --hold 2s', () => {
    const config = sidecarConfig({ ...GRACE, mains: [WORK], hold: { kind: 'for', ms: 2_000 } });
    const phaseWith = (StopScope: 'container' | undefined): string =>
      new Life({
        config,
        child: { on: { 15: 'ignores' } },
        peers: [stopping(WORK, undefined, { ...(StopScope && { StopScope }) })],
      })
        .signal(15)
        .pass(2_001).phase;
    assert.deepEqual([phaseWith(undefined), phaseWith('container')], ['holding', 'stopping']);
  });

  it('A2 the next supervisor knows that the member is stopped alone', () => {
    const life = sidecar({ drain: { kind: 'fixed', ms: 9_000 } }).see(says(START));
    life.loseSupervisor().feed({ type: 'booted' }).see(alive(WORK));
    assert.equal(life.pass(9_000).sent, '9000 TERM');
  });
});
