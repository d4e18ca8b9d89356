/**
 * Pods whose members have probes and hooks: who starts after what of whom, and who ends when.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GateCondition, MemberConfig } from '../../../src/core/config.ts';
import { command, mainConfig, probes, sidecarConfig } from '../helpers.ts';
import type { ChildScript, Run } from '../host.ts';
import { type MemberScript, Pod } from '../pod.ts';

const OK: Run = { afterMs: 0, ok: true };
const BAD: Run = { afterMs: 0, ok: false };
const takes = (afterMs: number, ok = true): readonly Run[] => [{ afterMs, ok }];
const after = (name: string, condition: GateCondition = 'started') => [{ name, condition, optional: false }] as const;
function main(name: string, change: Partial<MemberConfig> = {}, child: ChildScript = {}): MemberScript {
  return { config: mainConfig({ name, ...change }), child };
}
function sidecar(name: string, change: Partial<MemberConfig> = {}, child: ChildScript = {}): MemberScript {
  return { config: sidecarConfig({ name, mains: ['work'], ...change }), child };
}
const startOf = (pod: Pod, name: string): number | undefined => pod.of(name).spawns[0];

describe('the start of a pod', () => {
  it('N03 a member is not started before the post-start hook of the one it starts after is done', () => {
    const proxy = sidecar('proxy', { postStart: command('hi') }, { actions: { hi: takes(3_000) } });
    const pod = new Pod([proxy, main('work', { startAfter: after('proxy') })]).pass(10_000);
    assert.equal(startOf(pod, 'work'), 3_000);
  });

  it('N04 one that completes before its post-start hook is done has completed', () => {
    const init = main('init', { postStart: command('hi') }, { endsAfterMs: 500, actions: { hi: ['never'] } });
    const pod = new Pod([init, main('work', { startAfter: after('init', 'completed') })]).pass(10_000);
    assert.equal(startOf(pod, 'work'), 500);
  });

  it('N15 sidecars start one after the other, each when the startup probe of the one before has succeeded', () => {
    const declared = probes({ startup: { failures: 9 } });
    const actions = { startup: [BAD, BAD, OK] };
    const pod = new Pod([
      sidecar('s1', declared, { actions }),
      sidecar('s2', { ...declared, startAfter: after('s1') }, { actions }),
      main('work', { startAfter: after('s2') }),
    ]).pass(10_000);
    assert.deepEqual([startOf(pod, 's1'), startOf(pod, 's2'), startOf(pod, 'work')], [0, 2_000, 4_000]);
  });

  it('a gate of health waits for readiness', () => {
    const proxy = sidecar('proxy', probes({ readiness: {} }), { actions: { readiness: [BAD, OK] } });
    const pod = new Pod([proxy, main('work', { startAfter: after('proxy', 'healthy') })]).pass(10_000);
    assert.equal(startOf(pod, 'work'), 1_000);
  });

  it('N16 a startup probe that always fails: pre-stop, restart, again and again; the next member is never started', () => {
    const declared = { ...probes({ startup: {} }), preStop: command('bye') };
    const proxy = sidecar('proxy', declared, { actions: { startup: [BAD] } });
    const pod = new Pod([proxy, main('work', { startAfter: after('proxy'), startTimeoutMs: 600_000 })]).pass(10_000);
    assert.deepEqual([startOf(pod, 'work'), pod.of('work').phase], [undefined, 'waiting']);
    assert.ok(pod.of('proxy').spawns.length >= 3);
    assert.equal(pod.of('proxy').runsOf('bye').length, pod.of('proxy').signals.length);
  });

  it('N17 a liveness probe that fails once: pre-stop and a restart of the sidecar, and the main starts all the same', () => {
    const declared = { ...probes({ liveness: { failures: 1 }, startup: {} }), preStop: command('bye') };
    const proxy = sidecar('proxy', declared, { actions: { startup: takes(100), liveness: [BAD, OK] } });
    const pod = new Pod([proxy, main('work', { startAfter: after('proxy') }, { endsAfterMs: 5_000 })]).pass(30_000);
    assert.deepEqual([pod.of('proxy').spawns.length, pod.ends], [2, ['work 0', 'proxy 0']]);
  });

  it('N29 a sidecar that fails its startup probe first and recovers lets the main start', () => {
    const proxy = sidecar('proxy', probes({ startup: { failures: 2 } }), { actions: { startup: [BAD, BAD, OK] } });
    const pod = new Pod([proxy, main('work', { startAfter: after('proxy') }, { endsAfterMs: 100 })]).pass(30_000);
    assert.deepEqual([pod.of('proxy').spawns, startOf(pod, 'work')], [[0, 1_100], 1_100]);
    assert.deepEqual(pod.ends, ['work 0', 'proxy 0']);
  });
});

describe('the end of a pod', () => {
  const grace = { gracePeriodMs: 30_000 };

  it('N20, N38 pre-stop hooks run in the order of the stops, and a hook is like a child that takes as long', () => {
    const hooked = { ...grace, preStop: command('bye') };
    const slow: ChildScript = { actions: { bye: takes(2_000) } };
    const pod = new Pod([
      sidecar('s1', hooked, slow),
      sidecar('s2', { ...grace, startAfter: after('s1') }, { on: { 15: { afterMs: 2_000, code: 0 } } }),
      main('work', { ...hooked, startAfter: after('s2') }, slow),
    ]);
    pod.pass(1_000).delete().pass(29_000);
    assert.deepEqual(pod.ends, ['work 143', 's2 0', 's1 0']);
    assert.deepEqual(
      [pod.of('work').exitedAtMs, pod.of('s2').exitedAtMs, pod.of('s1').exitedAtMs],
      [3_000, 5_000, 7_000],
    );
  });

  it('N09, N31 a sidecar whose liveness fails while the main runs its pre-stop hook is restarted, and the pod ends in time', () => {
    const proxy = sidecar(
      'proxy',
      { ...grace, ...probes({ liveness: { failures: 1 } }) },
      {
        actions: { liveness: [OK, OK, OK, BAD, OK] },
      },
    );
    const work = main('work', { ...grace, preStop: command('bye') }, { actions: { bye: takes(8_000) } });
    const pod = new Pod([proxy, work]).pass(500).delete().pass(29_500);
    assert.deepEqual(
      [pod.of('proxy').spawns, pod.ends],
      [
        [0, 3_100],
        ['work 143', 'proxy 0'],
      ],
    );
    assert.equal(pod.of('proxy').exitedAtMs, 8_500);
  });

  it('N27, N28 hooks that never end keep nobody beyond the grace period', () => {
    const hooked = { ...grace, preStop: command('bye') };
    const endless: ChildScript = { actions: { bye: ['never'] } };
    const pod = new Pod([sidecar('proxy', hooked, endless), main('work', hooked, endless)]).pass(500).delete();
    pod.pass(30_000);
    assert.deepEqual(pod.ends.toSorted(), ['proxy 0', 'work 143']);
    assert.deepEqual([pod.of('work').exitedAtMs, pod.of('proxy').exitedAtMs], [28_500, 28_500]);
  });
});
