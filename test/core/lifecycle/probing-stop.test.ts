/**
 * Probes while a member stops: readiness goes on, liveness and startup go on only for a sidecar, and only until its own
 * turn.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alive, command, dead, fixed, mainConfig, probes, sidecarConfig } from '../helpers.ts';
import type { Run } from '../host.ts';
import { Life } from '../life.ts';

const OK: Run = { afterMs: 0, ok: true };
const BAD: Run = { afterMs: 0, ok: false };
const LIVE = probes({ readiness: {}, liveness: {} });
const SLOW = { 15: { afterMs: 3_000, code: 0 } };

describe('a main that is asked to stop', () => {
  it('N08 is probed for readiness during drain, pre-stop and ladder, and for liveness no more', () => {
    const config = mainConfig({ ...LIVE, drain: fixed(2_000), preStop: command('bye'), gracePeriodMs: 60_000 });
    const child = { on: SLOW, actions: { bye: [{ afterMs: 2_500, ok: true }] } };
    const life = new Life({ config, peers: [], child }).pass(1_500).signal(15).passUntilGone();
    assert.deepEqual(life.runsOf('liveness'), [0, 1_000]);
    assert.deepEqual(life.runsOf('bye'), [3_500]);
    assert.deepEqual(life.signals, [[6_000, 15]]);
    assert.deepEqual(life.runsOf('readiness'), [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000]);
    assert.deepEqual([life.exitCode, life.exitedAtMs], [0, 9_000]);
  });

  it('N08 that fails its readiness while it drains is not healthy and drains on', () => {
    const config = mainConfig({ ...probes({ readiness: { failures: 1 } }), drain: fixed(3_000) });
    const life = new Life({ config, peers: [], child: { actions: { readiness: [OK, BAD] } } }).signal(15).pass(1_500);
    assert.deepEqual([life.phase, life.tombstone.Healthy, life.signals], ['draining', undefined, []]);
  });

  it('has its liveness and startup probes ended that run just then', () => {
    for (const kind of ['liveness', 'startup'] as const) {
      const config = mainConfig({ ...probes({ [kind]: { timeoutMs: 60_000, failures: 1 } }), drain: fixed(5_000) });
      const life = new Life({ config, peers: [], child: { actions: { [kind]: ['never'] } } }).pass(300).signal(15);
      assert.deepEqual(life.endsOf(kind), [300]);
      assert.deepEqual([life.pass(4_000).runsOf(kind), life.phase, life.tombstone.Restarts], [[0], 'draining', 0]);
    }
  });

  it('ends its liveness probe also while it waits for one that started after it', () => {
    const config = mainConfig({ ...LIVE, gracePeriodMs: 60_000 });
    const life = new Life({ config, peers: [alive('report', { StartAfter: ['self'] })] }).pass(500).signal(15);
    assert.deepEqual([life.pass(5_000).phase, life.runsOf('liveness')], ['holding', [0]]);
  });

  it('does not fail any more by what a probe says a moment later', () => {
    const config = mainConfig({ ...probes({ liveness: { failures: 1, timeoutMs: 60_000 } }), drain: fixed(5_000) });
    const life = new Life({ config, peers: [], child: { actions: { liveness: ['deaf'] } } }).signal(15);
    life.feed({ type: 'taskEnded', id: 1, ok: false, detail: 'exit code 1', output: '' }).pass(1_000);
    assert.deepEqual([life.phase, life.state.failing], ['draining', undefined]);
  });
});

describe('a sidecar that holds', () => {
  const config = sidecarConfig({ ...LIVE, gracePeriodMs: 60_000, preStop: command('bye') });

  it('N09 is probed for liveness on until its own turn', () => {
    const child = { actions: { bye: [{ afterMs: 2_000, ok: true }] } };
    const life = new Life({ config, peers: [alive('work')], child }).pass(500).signal(15).pass(3_000);
    assert.deepEqual([life.phase, life.runsOf('liveness')], ['holding', [0, 1_000, 2_000, 3_000]]);
    life.see(dead('work', 0)).passUntilGone();
    assert.deepEqual(life.runsOf('liveness'), [0, 1_000, 2_000, 3_000]);
    assert.deepEqual(life.runsOf('readiness'), [0, 1_000, 2_000, 3_000, 4_000, 5_000]);
    assert.deepEqual([life.exitCode, life.exitedAtMs], [0, 5_500]);
  });

  it('N09 is restarted when its liveness fails while the mains drain, and holds on', () => {
    const child = { actions: { liveness: [OK, OK, BAD, BAD, BAD, OK] } };
    const life = new Life({ config, peers: [alive('work')], child }).pass(500).signal(15).pass(5_000);
    assert.deepEqual([life.spawns, life.signals, life.phase], [[0, 4_100], [[4_000, 15]], 'holding']);
    assert.deepEqual(life.runsOf('bye'), [4_000]);
    assert.deepEqual([life.tombstone.LastReason, life.tombstone.Restarts], ['stopped', 1]);
    life.see(dead('work', 0)).passUntilGone();
    assert.deepEqual([life.runsOf('bye'), life.exitCode], [[4_000, 5_500], 0]);
  });

  it('N09 starts up again under its startup probe after a restart in the hold', () => {
    const member = sidecarConfig({ ...probes({ startup: {} }), gracePeriodMs: 60_000 });
    const child = { actions: { startup: [OK, BAD, OK] } };
    const life = new Life({ config: member, peers: [alive('work')], child }).signal(15).pass(2_000).endChild(1);
    assert.deepEqual(life.pass(1_500).runsOf('startup'), [0, 2_100, 3_100]);
    assert.equal(life.tombstone.Started !== undefined, true);
  });

  it('whose turn comes while its failed life is being ended is ended once, and has no other life', () => {
    const child = { actions: { liveness: [BAD] }, on: SLOW };
    const life = new Life({ config, peers: [alive('work')], child }).signal(15).pass(3_000);
    assert.deepEqual([life.phase, life.signals], ['stopping', [[2_000, 15]]]);
    life.see(dead('work', 0)).passUntilGone();
    assert.deepEqual([life.signals, life.spawns, life.exitCode], [[[2_000, 15]], [0], 0]);
    assert.deepEqual([life.runsOf('bye'), life.exitedAtMs], [[2_000], 5_000]);
  });

  it('does not fail any more after a second stop request', () => {
    const child = { actions: { liveness: ['deaf'] as const }, on: SLOW };
    const hasty = sidecarConfig({ ...probes({ liveness: { failures: 1, timeoutMs: 60_000 } }) });
    const life = new Life({ config: hasty, peers: [alive('work')], child }).signal(15).pass(1_000).signal(15);
    life.feed({ type: 'taskEnded', id: 1, ok: false, detail: 'exit code 1', output: '' }).passUntilGone();
    assert.deepEqual([life.state.failing, life.spawns, life.exitCode], [undefined, [0], 0]);
  });
});
