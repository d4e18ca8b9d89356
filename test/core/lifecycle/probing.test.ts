import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Probe, ProbeKind } from '../../../src/core/config.ts';
import { alive, command, dead, fixed, mainConfig, probes, sidecarConfig } from '../helpers.ts';
import type { Run } from '../host.ts';
import { Life, main } from '../life.ts';

const OK: Run = { afterMs: 0, ok: true };
const BAD: Run = { afterMs: 0, ok: false };

/** A main with one probe, whose runs end like that, the last one again and again. */
function probed(kind: ProbeKind, runs: readonly Run[], change: Partial<Probe> = {}): Life {
  const config = mainConfig({ ...probes({ [kind]: change }), restart: 'never' });
  return new Life({ config, peers: [], child: { actions: { [kind]: runs }, on: { 15: 'ignores' } } });
}

const isHealthy = (life: Life): boolean => life.tombstone.Healthy !== undefined;
const flips = (life: Life): readonly unknown[] =>
  (life.tombstone.History ?? []).flatMap(({ Event, Result }) => (Event === 'probe' ? [Result] : []));

describe('a probe', () => {
  it('a probe runs at once and every period after, from start to start', () => {
    assert.deepEqual(probed('readiness', [OK]).pass(3_500).runsOf('readiness'), [0, 1_000, 2_000, 3_000]);
    const slow = probed('readiness', [{ afterMs: 700, ok: true }]).pass(3_500);
    assert.deepEqual(slow.runsOf('readiness'), [0, 1_000, 2_000, 3_000]);
  });

  it('a probe that takes longer than its period runs again at once, one at a time', () => {
    const life = probed('readiness', [{ afterMs: 1_300, ok: true }], { timeoutMs: 5_000 }).pass(4_000);
    assert.deepEqual(life.runsOf('readiness'), [0, 1_300, 2_600, 3_900]);
  });

  it('a probe waits for its delay after the start of the child', () => {
    const life = probed('readiness', [OK], { delayMs: 2_500 }).pass(4_000);
    assert.deepEqual(life.runsOf('readiness'), [2_500, 3_500]);
  });

  it('a probe counts results in a row only', () => {
    const life = probed('readiness', [OK, BAD, BAD, OK, BAD, BAD, BAD, OK, BAD, OK, OK], { successes: 2 });
    const seen = Array.from({ length: 12 }, () => {
      const healthy = isHealthy(life);
      life.pass(1_000);
      return healthy;
    });
    assert.deepEqual(seen, [false, false, false, false, false, false, false, false, false, false, true, true]);
    const up = probed('readiness', [OK, BAD, BAD, OK, BAD, BAD, OK], {}).pass(8_000);
    assert.deepEqual([flips(up), isHealthy(up)], [['success'], true]);
  });

  it('a child without a verdict is alive but not ready', () => {
    const life = probed('readiness', ['never'], { timeoutMs: 60_000 }).pass(1);
    assert.deepEqual([life.phase, life.tombstone.Started !== undefined, isHealthy(life)], ['running', true, false]);
  });

  it('a ready child keeps the time since when, and has a new one after a failure', () => {
    const life = probed('readiness', [OK, OK, BAD, BAD, BAD, OK]);
    const since = life.tombstone.Healthy;
    assert.equal(life.pass(1_500).tombstone.Healthy, since);
    assert.equal(life.pass(3_000).tombstone.Healthy, undefined);
    assert.notEqual(life.pass(1_000).tombstone.Healthy, since);
    assert.equal(life.tombstone.History?.filter(({ Event }) => Event === 'probe').length, 3);
  });

  it('the log has the changes of a probe, and no other results', () => {
    const life = probed('readiness', [OK, OK, BAD, BAD, BAD, BAD]).pass(6_500);
    const said = life.logs.filter((line) => line.includes('readiness') && !line.startsWith('debug'));
    assert.deepEqual(said, ['info: readiness probe: success', 'warn: readiness probe: failure']);
  });
});

describe('a probe that takes too long', () => {
  it('a probe is ordered to end when its time is over, which is a failure', () => {
    const life = probed('readiness', [OK, 'never'], { failures: 1, timeoutMs: 400 }).pass(1_399);
    assert.deepEqual([life.endsOf('readiness'), isHealthy(life)], [[], true]);
    life.pass(1);
    assert.deepEqual([life.endsOf('readiness'), isHealthy(life)], [[1_400], false]);
  });

  it('a result counts by when it ended, not by when that was heard', () => {
    for (const [endedAt, healthy] of [
      [1_400, true],
      [1_401, false],
    ] as const) {
      const life = probed('readiness', ['deaf'], { failures: 1, timeoutMs: 1_400 })
        .pass(2_000)
        .feed({ type: 'ticked' });
      const { state } = life;
      const id = state.tasks[0]?.id ?? 0;
      const nowMs = life.nowMs;
      // As after a pause, the host reports late what happened in time.
      life.nowMs = nowMs - 2_000 + endedAt;
      life.feed({ type: 'taskEnded', id, ok: true, detail: '', output: '' });
      assert.equal(isHealthy(life), healthy, `ended at ${endedAt}`);
    }
  });

  it('a probe that does not end is given up after 2 s, and runs again', () => {
    const life = probed('readiness', ['deaf', OK], { failures: 1, timeoutMs: 500 }).pass(2_499);
    assert.deepEqual([life.runsOf('readiness'), life.endsOf('readiness')], [[0], [500]]);
    life.pass(1);
    assert.deepEqual([life.runsOf('readiness'), isHealthy(life)], [[0, 2_500], true]);
    assert.ok(life.logs.includes('warn: the readiness action does not end: continuing without it'));
  });

  it('a probe that ends after it was given up changes nothing', () => {
    const life = probed('readiness', ['deaf', 'never'], { timeoutMs: 500 }).pass(2_500);
    const before = life.state;
    life.feed({ type: 'taskEnded', id: 1, ok: true, detail: '', output: '' });
    assert.deepEqual(life.state, before);
  });
});

describe('a startup probe', () => {
  const config = mainConfig(probes({ startup: { failures: 5 }, readiness: {}, liveness: {} }));

  it('a startup probe comes first and alone, and is over with its success', () => {
    const life = new Life({ config, peers: [], child: { actions: { startup: [BAD, BAD, OK] } } }).pass(1_999);
    assert.deepEqual(life.runs, [
      [0, 'startup'],
      [1_000, 'startup'],
    ]);
    life.pass(1_001);
    assert.deepEqual(life.runsOf('startup'), [0, 1_000, 2_000]);
    assert.deepEqual(life.runsOf('readiness'), [2_000, 3_000]);
    assert.deepEqual(life.runsOf('liveness'), [2_000, 3_000]);
  });

  it('N15 a member is starting until its startup probe succeeds', () => {
    const life = new Life({ config, peers: [], child: { actions: { startup: [BAD, OK], readiness: [BAD] } } });
    assert.deepEqual([life.phase, life.tombstone.Started], ['starting', undefined]);
    life.pass(1_000);
    assert.deepEqual([life.phase, life.tombstone.Started !== undefined, isHealthy(life)], ['running', true, false]);
  });

  it('a startup probe makes a child without a readiness probe healthy', () => {
    const only = mainConfig(probes({ startup: {} }));
    const life = new Life({ config: only, peers: [], child: { actions: { startup: [BAD, OK] } } });
    assert.equal(isHealthy(life), false);
    assert.equal(isHealthy(life.pass(1_000)), true);
  });
});

describe('probes and the end of the child', () => {
  it('all probes end with the child, running ones too', () => {
    const life = probed('liveness', ['never'], { timeoutMs: 60_000 }).pass(100).endChild(0).pass(5_000);
    assert.deepEqual([life.runsOf('liveness'), life.endsOf('liveness'), life.exitCode], [[0], [100], 0]);
    assert.deepEqual(life.state.tasks, []);
  });

  it('no probe begins for a child that cannot be started', () => {
    const life = new Life(main(probes({ liveness: {} }), { errno: 'ENOENT' }));
    assert.deepEqual([life.pass(60_000).runs, life.exitCode], [[], 127]);
  });
});

const LIVE = probes({ readiness: {}, liveness: {} });
const SLOW = { 15: { afterMs: 3_000, code: 0 } };

describe('a main that is asked to stop', () => {
  it('N08 a stopping main is probed for readiness, and no more for liveness', () => {
    const config = mainConfig({ ...LIVE, drain: fixed(2_000), preStop: command('bye'), gracePeriodMs: 60_000 });
    const child = { on: SLOW, actions: { bye: [{ afterMs: 2_500, ok: true }] } };
    const life = new Life({ config, peers: [], child }).pass(1_500).signal(15).passUntilGone();
    assert.deepEqual(life.runsOf('liveness'), [0, 1_000]);
    assert.deepEqual(life.runsOf('bye'), [3_500]);
    assert.equal(life.sent, '6000 TERM');
    assert.deepEqual(life.runsOf('readiness'), [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000]);
    assert.deepEqual([life.exitCode, life.exitedAtMs], [0, 9_000]);
  });

  it('N08 a main that fails its readiness while it drains drains on', () => {
    const config = mainConfig({ ...probes({ readiness: { failures: 1 } }), drain: fixed(3_000) });
    const life = new Life({ config, peers: [], child: { actions: { readiness: [OK, BAD] } } }).signal(15).pass(1_500);
    assert.deepEqual([life.phase, life.tombstone.Healthy, life.signals], ['draining', undefined, []]);
  });

  it('a stop request ends running liveness and startup probes of a main', () => {
    for (const kind of ['liveness', 'startup'] as const) {
      const config = mainConfig({ ...probes({ [kind]: { timeoutMs: 60_000, failures: 1 } }), drain: fixed(5_000) });
      const life = new Life({ config, peers: [], child: { actions: { [kind]: ['never'] } } }).pass(300).signal(15);
      assert.deepEqual(life.endsOf(kind), [300]);
      assert.deepEqual([life.pass(4_000).runsOf(kind), life.phase, life.tombstone.Restarts], [[0], 'draining', 0]);
    }
  });

  it('a main that waits for a later member has no liveness probe', () => {
    const config = mainConfig({ ...LIVE, gracePeriodMs: 60_000 });
    const life = new Life({ config, peers: [alive('report', { StartAfter: ['self'] })] }).pass(500).signal(15);
    assert.deepEqual([life.pass(5_000).phase, life.runsOf('liveness')], ['holding', [0]]);
  });

  it('a late probe does not fail a stopping main', () => {
    const config = mainConfig({ ...probes({ liveness: { failures: 1, timeoutMs: 60_000 } }), drain: fixed(5_000) });
    const life = new Life({ config, peers: [], child: { actions: { liveness: ['deaf'] } } }).signal(15);
    life.feed({ type: 'taskEnded', id: 1, ok: false, detail: 'exit code 1', output: '' }).pass(1_000);
    assert.deepEqual([life.phase, life.state.failing], ['draining', undefined]);
  });
});

describe('a sidecar that holds', () => {
  const config = sidecarConfig({ ...LIVE, gracePeriodMs: 60_000, preStop: command('bye') });

  it('N09 a holding sidecar is probed for liveness until its own turn', () => {
    const child = { actions: { bye: [{ afterMs: 2_000, ok: true }] } };
    const life = new Life({ config, peers: [alive('work')], child }).pass(500).signal(15).pass(3_000);
    assert.deepEqual([life.phase, life.runsOf('liveness')], ['holding', [0, 1_000, 2_000, 3_000]]);
    life.see(dead('work', 0)).passUntilGone();
    assert.deepEqual(life.runsOf('liveness'), [0, 1_000, 2_000, 3_000]);
    assert.deepEqual(life.runsOf('readiness'), [0, 1_000, 2_000, 3_000, 4_000, 5_000]);
    assert.deepEqual([life.exitCode, life.exitedAtMs], [0, 5_500]);
  });

  it('N09 a holding sidecar whose liveness fails restarts and holds on', () => {
    const child = { actions: { liveness: [OK, OK, BAD, BAD, BAD, OK] } };
    const life = new Life({ config, peers: [alive('work')], child }).pass(500).signal(15).pass(5_000);
    assert.deepEqual([life.spawns, life.signals, life.phase], [[0, 4_100], [[4_000, 15]], 'holding']);
    assert.deepEqual(life.runsOf('bye'), [4_000]);
    assert.deepEqual([life.tombstone.LastReason, life.tombstone.Restarts], ['stopped', 1]);
    life.see(dead('work', 0)).passUntilGone();
    assert.deepEqual([life.runsOf('bye'), life.exitCode], [[4_000, 5_500], 0]);
  });

  it('N09 a holding sidecar starts up again under its startup probe', () => {
    const member = sidecarConfig({ ...probes({ startup: {} }), gracePeriodMs: 60_000 });
    const child = { actions: { startup: [OK, BAD, OK] } };
    const life = new Life({ config: member, peers: [alive('work')], child }).signal(15).pass(2_000).endChild(1);
    assert.deepEqual(life.pass(1_500).runsOf('startup'), [0, 2_100, 3_100]);
    assert.equal(life.tombstone.Started !== undefined, true);
  });

  it('a sidecar whose turn comes while it fails ends once, without another life', () => {
    const child = { actions: { liveness: [BAD] }, on: SLOW };
    const life = new Life({ config, peers: [alive('work')], child }).signal(15).pass(3_000);
    assert.deepEqual([life.phase, life.signals], ['stopping', [[2_000, 15]]]);
    life.see(dead('work', 0)).passUntilGone();
    assert.deepEqual([life.signals, life.spawns, life.exitCode], [[[2_000, 15]], [0], 0]);
    assert.deepEqual([life.runsOf('bye'), life.exitedAtMs], [[2_000], 5_000]);
  });

  it('a sidecar does not fail any more after a second stop request', () => {
    const child = { actions: { liveness: ['deaf'] as const }, on: SLOW };
    const hasty = sidecarConfig({ ...probes({ liveness: { failures: 1, timeoutMs: 60_000 } }) });
    const life = new Life({ config: hasty, peers: [alive('work')], child }).signal(15).pass(1_000).signal(15);
    life.feed({ type: 'taskEnded', id: 1, ok: false, detail: 'exit code 1', output: '' }).passUntilGone();
    assert.deepEqual([life.state.failing, life.spawns, life.exitCode], [undefined, [0], 0]);
  });
});

/** Time passes, and nothing is heard of it until then. */
function standStill(life: Life, ms: number): Life {
  life.nowMs += ms;
  return life.feed({ type: 'ticked' });
}

describe('an action that is overdue', () => {
  const overdue = () => probed('readiness', ['deaf'], { timeoutMs: 1_000, failures: 1 });

  it('the supervisor ends an overdue action once, even if the command exits first', () => {
    const life = overdue().pass(1_000);
    assert.deepEqual(life.endsOf('readiness'), [1_000]);
    life.endChild(0);
    assert.notEqual(life.exitCode, undefined);
    assert.deepEqual(life.endsOf('readiness'), [1_000], 'told again');
  });

  it('an action that the supervisor ends has 2 s to exit', () => {
    const life = standStill(overdue().pass(100), 10_000);
    const givenUp = (): boolean => life.logs.some((line) => line.includes('does not end'));
    assert.deepEqual([life.endsOf('readiness'), givenUp()], [[10_100], false]);
    assert.equal(life.pass(1_999) && givenUp(), false);
    assert.equal(life.pass(1) && givenUp(), true);
  });
});
