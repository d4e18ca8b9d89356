import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { command, mainConfig, probes, sidecarConfig } from './helpers.ts';
import type { ChildScript } from './life.ts';
import { type MemberScript, Pod } from './pod.ts';

const after = (...names: readonly string[]) =>
  names.map((name) => ({ name, condition: 'started', optional: false }) as const);
const main = (name: string, change: Partial<MemberConfig> = {}, child: ChildScript = {}): MemberScript => ({
  config: mainConfig({ name, ...change }),
  child,
});
const sidecar = (name: string, change: Partial<MemberConfig> = {}, child: ChildScript = {}): MemberScript => ({
  config: sidecarConfig({ name, ...change }),
  child,
});
const trapsFor = (afterMs: number, code = 0): ChildScript => ({ on: { 15: { afterMs, code } } });

describe('a pod', () => {
  it('N10 a pod starts in the order of its gates and ends in the reverse', () => {
    const pod = new Pod([
      sidecar('s1', {}, trapsFor(300)),
      sidecar('s2', { startAfter: after('s1') }, trapsFor(300)),
      main('work', { startAfter: after('s1', 's2') }, { endsAfterMs: 5_000 }),
    ]).pass(60_000);
    assert.deepEqual(pod.ends, ['work 0', 's2 0', 's1 0']);
    assert.deepEqual([pod.of('s2').exitedAtMs, pod.of('s1').exitedAtMs], [5_300, 5_600]);
  });

  it('N18 sidecars of a deleted pod end in reverse order after all mains, with 0', () => {
    const grace = { gracePeriodMs: 60_000 };
    const pod = new Pod([
      sidecar('s1', grace, trapsFor(5_000)),
      sidecar('s2', { ...grace, startAfter: after('s1') }, trapsFor(5_000)),
      sidecar('s3', { ...grace, startAfter: after('s2') }, trapsFor(5_000)),
      main('a', { ...grace, startAfter: after('s3') }, trapsFor(2_000)),
      main('b', { ...grace, startAfter: after('s3') }, trapsFor(4_000)),
    ]);
    pod.pass(1_000).delete().pass(60_000);
    assert.deepEqual(pod.ends, ['a 0', 'b 0', 's3 0', 's2 0', 's1 0']);
    assert.equal(pod.of('s1').exitedAtMs, 20_000);
    for (const life of pod.lives.values()) assert.equal(life.signals.length, 1);
  });

  it('N25, N26 members that exceed the common deadline exit 137, the others 0', () => {
    const grace = { gracePeriodMs: 10_000 };
    const pod = new Pod([
      sidecar('good', grace, trapsFor(1_000)),
      sidecar('deaf', grace, { on: { 15: 'ignores' } }),
      main('work', grace, { on: { 15: 'ignores' } }),
    ]);
    pod.pass(1_000).delete().pass(20_000);
    assert.deepEqual(pod.ends.toSorted(), ['deaf 137', 'good 0', 'work 137']);
    assert.equal(pod.of('good').exitedAtMs, 10_000);
  });

  it('K18, N32 a shorter grace period of one member counts for the whole pod', () => {
    const pod = new Pod([
      sidecar('proxy', { gracePeriodMs: 60_000 }, trapsFor(100)),
      main('work', { gracePeriodMs: 6_000 }, { on: { 15: 'ignores' } }),
    ]);
    pod.pass(1_000).delete().pass(60_000);
    assert.deepEqual(pod.ends, ['proxy 0', 'work 137']);
    assert.equal(pod.of('proxy').signals[0]?.[0], 5_000);
  });

  it('case 6: sidecars stay for the second main when the first one fails', () => {
    const pod = new Pod([
      sidecar('proxy', { mains: ['a', 'b'] }),
      main('a', {}, { endsAfterMs: 1_000, code: 1 }),
      main('b', {}, { endsAfterMs: 9_000 }),
    ]).pass(60_000);
    assert.deepEqual(pod.ends, ['a 1', 'b 0', 'proxy 0']);
  });

  it('case 7: a main killed with its whole container ends its sidecar 2 s later', () => {
    const pod = new Pod([sidecar('proxy'), main('work')]).pass(5_000).kill('work').pass(60_000);
    assert.deepEqual([pod.ends, pod.of('proxy').exitedAtMs], [['proxy 0'], 7_000]);
  });

  it('N13 a gate that can never open starts no member behind it', () => {
    const pod = new Pod([
      main('init', {}, { errno: 'ENOENT' }),
      sidecar('proxy', { startAfter: after('init'), mains: ['work'] }),
      main('work', { startAfter: after('proxy') }),
    ]).pass(60_000);
    assert.deepEqual(pod.ends, ['init 127', 'proxy 125', 'work 125']);
    assert.deepEqual([pod.of('proxy').spawns, pod.of('work').spawns], [[], []]);
  });

  it('N20, N38 pre-stop hooks run in stop order, and take time as a slow child does', () => {
    const grace = { gracePeriodMs: 30_000 };
    const hooked = { ...grace, preStop: command('bye') };
    const slow: ChildScript = { actions: { bye: [{ afterMs: 2_000, ok: true }] } };
    const pod = new Pod([
      sidecar('s1', hooked, slow),
      sidecar('s2', { ...grace, startAfter: after('s1') }, { on: { 15: { afterMs: 2_000, code: 0 } } }),
      main('work', { ...hooked, startAfter: after('s2') }, slow),
    ]);
    pod.pass(1_000).delete().pass(29_000);
    assert.deepEqual(pod.ends, ['work 143', 's2 0', 's1 0']);
    assert.equal(pod.of('work').exitedAtMs, 3_000);
    assert.equal(pod.of('s2').exitedAtMs, 5_000);
    assert.equal(pod.of('s1').exitedAtMs, 7_000);
  });

  it('N09, N31 a sidecar that fails in the main’s pre-stop restarts, and the pod ends in time', () => {
    const grace = { gracePeriodMs: 30_000 };
    const proxy = sidecar(
      'proxy',
      { ...grace, ...probes({ liveness: { failures: 1 } }) },
      { actions: { liveness: [true, true, true, false, true].map((ok) => ({ afterMs: 0, ok })) } },
    );
    const work = main(
      'work',
      { ...grace, preStop: command('bye') },
      { actions: { bye: [{ afterMs: 8_000, ok: true }] } },
    );
    const pod = new Pod([proxy, work]).pass(500).delete().pass(29_500);
    assert.deepEqual(pod.of('proxy').spawns, [0, 3_100]);
    assert.deepEqual(pod.ends, ['work 143', 'proxy 0']);
    assert.equal(pod.of('proxy').exitedAtMs, 8_500);
  });
});
