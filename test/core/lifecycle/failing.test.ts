import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig, RestartMode } from '../../../src/core/config.ts';
import { alive, command, probes, sidecarConfig } from '../helpers.ts';
import type { ChildScript, Run } from '../host.ts';
import { Life, type LifeOptions, main } from '../life.ts';

const OK: Run = { afterMs: 0, ok: true };
const BAD: Run = { afterMs: 0, ok: false };

function always(change: Partial<MemberConfig>, child: ChildScript): LifeOptions {
  return main({ restart: 'always', ...change }, child);
}

describe('a child whose liveness probe fails', () => {
  it('N17 a failed liveness probe leads to pre-stop, ladder, and another life after a backoff', () => {
    const child = { actions: { liveness: [OK, BAD, BAD, BAD, OK], bye: [{ afterMs: 400, ok: true }] as const } };
    const life = new Life(always({ ...probes({ liveness: {} }), preStop: command('bye') }, child)).pass(2_999);
    assert.deepEqual([life.phase, life.signals], ['running', []]);
    life.pass(1);
    assert.deepEqual([life.phase, life.runsOf('bye'), life.signals], ['stopping', [3_000], []]);
    assert.equal(life.pass(400).sent, '3400 TERM');
    assert.deepEqual([life.phase, life.tombstone.LastReason, life.tombstone.LastExitCode], ['backoff', 'stopped', 143]);
    life.pass(5_000);
    assert.deepEqual([life.spawns, life.phase, life.tombstone.Restarts], [[0, 3_500], 'running', 1]);
    assert.deepEqual(life.runsOf('liveness'), [0, 1_000, 2_000, 3_000, 3_500, 4_500, 5_500, 6_500, 7_500]);
  });

  it('the tombstone of a failed life says why, and that of the next one does not', () => {
    const child = { actions: { liveness: [BAD] }, on: { 15: { afterMs: 1_000, code: 0 } } };
    const life = new Life(always(probes({ liveness: { failures: 1 } }), child));
    const { StopReason, StopRequested, Phase, Deadline } = life.tombstone;
    assert.deepEqual(
      [StopReason, StopRequested !== undefined, Phase, Deadline],
      ['liveness', true, 'stopping', undefined],
    );
    assert.deepEqual([life.pass(1_000).tombstone.StopReason, life.tombstone.StopRequested], [undefined, undefined]);
  });

  it('a failed life is KILLed after the probe’s grace period, else the pod’s, else 30 s', () => {
    for (const [graceMs, gracePeriodMs, killAt] of [
      [4_000, 9_000, 4_000],
      [undefined, 9_000, 9_000],
      [undefined, undefined, 30_000],
    ] as const) {
      const child = { actions: { liveness: [BAD] }, on: { 15: 'ignores' } } as const;
      const life = new Life(main({ ...probes({ liveness: { failures: 1, graceMs } }), gracePeriodMs }, child));
      const expected = [[0, 15], [killAt, 9]]; // biome-ignore format: two signals
      assert.deepEqual([life.passUntilGone().signals, life.exitCode], [expected, 137]);
    }
  });

  it('N07 a pre-stop hook of a failed life ends 2 s before its budget, or at half of it', () => {
    for (const [graceMs, at] of [
      [10_000, 8_000],
      [3_000, 1_500],
    ] as const) {
      const child: ChildScript = { actions: { liveness: [BAD], bye: ['never'] } };
      const config = { ...probes({ liveness: { failures: 1, graceMs } }), preStop: command('bye') };
      const life = new Life(always(config, child)).pass(at);
      assert.deepEqual([life.runsOf('bye'), life.endsOf('bye'), life.signals], [[0], [at], [[at, 15]]]);
    }
  });

  it('a life that is being ended does not fail a second time', () => {
    const child = { actions: { liveness: [BAD] }, on: { 15: { afterMs: 9_000, code: 0 } } };
    const life = new Life(always(probes({ liveness: { failures: 1 }, readiness: {} }), child)).pass(8_000);
    assert.deepEqual([life.runsOf('liveness'), life.signals], [[0], [[0, 15]]]);
    assert.equal(life.runsOf('readiness').length, 9);
    assert.equal(life.tombstone.History?.filter(({ Event }) => Event === 'failing').length, 1);
  });
});

describe('a child whose startup probe fails', () => {
  it('N16, N07 a failed startup probe leads to life after life with growing pauses', () => {
    const child = { actions: { startup: [BAD] } };
    const config = { ...probes({ startup: { failures: 2 } }), preStop: command('bye') };
    const life = new Life(always(config, child)).pass(5_000);
    assert.deepEqual(life.spawns, [0, 1_100, 2_300, 3_700]);
    assert.deepEqual(life.runsOf('bye'), [1_000, 2_100, 3_300, 4_700]);
    assert.deepEqual([life.tombstone.Started, life.tombstone.LastReason], [undefined, 'stopped']);
  });

  it('N29 a failed startup probe that succeeds in the next life counts as any other', () => {
    const life = new Life(always(probes({ startup: {} }), { actions: { startup: [BAD, BAD, BAD, OK] } })).pass(2_500);
    assert.deepEqual([life.spawns, life.phase, life.tombstone.Started !== undefined], [[0, 2_100], 'running', true]);
  });
});

describe('a child whose post-start hook fails', () => {
  it('a failed post-start hook leads to pre-stop, ladder and another life', () => {
    const child = { actions: { hi: [{ afterMs: 200, ok: false }, OK] } };
    const life = new Life(always({ postStart: command('hi'), preStop: command('bye') }, child)).pass(1_000);
    assert.equal(life.sent, '200 TERM');
    assert.deepEqual([life.runsOf('hi'), life.runsOf('bye'), life.spawns], [[0, 300], [200], [0, 300]]);
    assert.equal(life.phase, 'running');
    assert.ok(life.logs.includes('error: the post-start hook failed'));
  });

  it('a failed post-start hook without a restart gives the container the child’s code', () => {
    const child = { actions: { hi: [BAD] }, on: { 15: { afterMs: 10, code: 3 } } };
    const life = new Life(always({ postStart: command('hi'), restart: 'never' }, child)).passUntilGone();
    assert.deepEqual([life.exitCode, life.tombstone.Reason, life.tombstone.StopReason], [3, 'stopped', 'post-start']);
  });
});

describe('what follows a failed life', () => {
  const after = (restart: RestartMode, code: number, restartPolicy: MemberConfig['restartPolicy'] = 'Never') => {
    const child = { actions: { liveness: [BAD] }, on: { 15: { afterMs: 0, code } } };
    const config = { ...probes({ liveness: { failures: 1 } }), restart, restartPolicy };
    return new Life(always(config, child)).pass(100).exitCode ?? 'again';
  };

  it('what follows a failed life is as --restart says, and it is no success', () => {
    assert.deepEqual([after('never', 0), after('never', 3)], [0, 3]);
    assert.deepEqual([after('always', 0), after('always', 3)], ['again', 'again']);
    assert.deepEqual([after('on-failure', 0), after('on-failure', 3)], ['again', 'again']);
    assert.deepEqual([after('auto', 0), after('auto', 3)], ['again', 'again']);
    assert.deepEqual([after('auto', 0, 'OnFailure'), after('auto', 3, 'OnFailure')], ['again', 3]);
    assert.deepEqual([after('auto', 0, 'Always'), after('auto', 3, 'Always')], [0, 3]);
  });

  it('the next life starts thresholds, delays and hooks over', () => {
    const child = { actions: { readiness: [OK], liveness: [BAD, BAD, BAD, BAD, OK], hi: [OK] } };
    const declared = probes({ readiness: { delayMs: 300 }, liveness: { failures: 3 } });
    const life = new Life(always({ ...declared, postStart: command('hi') }, child)).pass(1_500).endChild(1);
    assert.deepEqual([life.state.vitals, life.state.hooks, life.state.tasks], [{}, {}, []]);
    life.pass(100);
    assert.deepEqual([life.runsOf('hi').at(-1), life.tombstone.Healthy], [1_600, undefined]);
    assert.notEqual(life.pass(300).tombstone.Healthy, undefined);
    assert.deepEqual([life.pass(9_000).spawns, life.phase], [[0, 1_600], 'running']);
  });

  it('a stop request while a life fails sends no second signal and starts no other life', () => {
    const child = { actions: { liveness: [BAD] }, on: { 15: { afterMs: 2_000, code: 0 } } };
    const life = new Life(always({ ...probes({ liveness: { failures: 1 } }), gracePeriodMs: 30_000 }, child));
    life.pass(500).signal(15).pass(10_000);
    assert.deepEqual([life.signals, life.spawns, life.exitCode], [[[0, 15]], [0], 0]);
    assert.equal(life.tombstone.StopReason, 'signal TERM');
  });

  it('a stop request in the pre-stop of a failed life does not begin it again', () => {
    const child = { actions: { liveness: [BAD], bye: [{ afterMs: 1_000, ok: true }] as const } };
    const config = { ...probes({ liveness: { failures: 1 } }), preStop: command('bye'), gracePeriodMs: 30_000 };
    const life = new Life(always(config, child)).pass(400).signal(15).pass(10_000);
    assert.deepEqual([life.runsOf('bye'), life.signals, life.exitedAtMs], [[0], [[1_000, 15]], 1_000]);
  });

  it('a failed life ends within the nearer deadline of the pod', () => {
    const child = { actions: { liveness: [BAD] }, on: { 15: 'ignores' } } as const;
    const config = sidecarConfig({ ...probes({ liveness: { failures: 1 } }), gracePeriodMs: 10_000 });
    const life = new Life({ config, peers: [alive('work')], child }).pass(1_000).signal(15);
    assert.equal(life.passUntilGone().sent, '0 TERM, 10000 KILL');
    assert.ok((life.exitedAtMs ?? 0) <= 11_000);
  });
});
