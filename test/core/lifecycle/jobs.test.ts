import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { alive, dead, kubexit, lost, START, sidecarConfig, waiting } from '../helpers.ts';
import { Life } from '../life.ts';

const DEAF = { on: { 15: 'ignores' } } as const;
const twoMains = { mains: ['a', 'b'] } as const;

describe('a job with sidecars', () => {
  it('J01, J05, J10, J15 nothing ends a sidecar while a main runs', () => {
    for (const restartPolicy of ['Never', 'OnFailure', 'Always'] as const) {
      const config = sidecarConfig({ restartPolicy, ...twoMains });
      const life = new Life({ config, peers: [alive('a'), alive('b')] }).see(dead('a', 0)).pass(3_600_000);
      assert.deepEqual([life.phase, life.signals], ['running', []], restartPolicy);
    }
  });

  it('J02, J04, J07 a finished main ends the sidecar: at once, by one TERM, with 0', () => {
    for (const code of [0, 1]) {
      const life = new Life({ config: sidecarConfig(), peers: [alive('work')] }).pass(7_000).see(dead('work', code));
      assert.deepEqual([life.signals, life.exitCode], [[[7_000, 15]], 0]);
      assert.deepEqual([life.tombstone.StopReason, life.tombstone.Deadline], ['mains finished', undefined]);
    }
  });

  it('J03, J06, J09 nothing happens to a sidecar that has ended already', () => {
    const config = sidecarConfig({ restartPolicy: 'OnFailure', restart: 'never' });
    const life = new Life({ config, peers: [alive('work')] }).endChild(0).see(dead('work', 1)).pass(60_000);
    assert.deepEqual([life.exits.length, life.exitCode, life.signals, life.spawns.length], [1, 0, [], 1]);
  });

  it('K06, J06 under OnFailure a sidecar stays through a failure and ends after the success', () => {
    const config = sidecarConfig({ restartPolicy: 'OnFailure' });
    const life = new Life({ config, peers: [alive('work')] }).pass(1_000).see(dead('work', 1, { Final: false }));
    assert.deepEqual([life.pass(60_000).phase, life.signals], ['running', []]);
    life
      .see(waiting('work', { Incarnation: 'again-0' }))
      .see(alive('work', { Incarnation: 'again-1' }))
      .pass(1_000);
    assert.deepEqual(life.signals, []);
    assert.equal(life.see(dead('work', 0, { Incarnation: 'again-1', Final: true })).exitCode, 0);
  });

  it('J08 two finished mains end a sidecar that runs and one that has not started yet', () => {
    const config = sidecarConfig(twoMains);
    const running = new Life({ config, peers: [alive('a'), alive('b')] }).see(dead('a', 0), dead('b', 0));
    assert.deepEqual([running.exitCode, running.spawns.length], [0, 1]);
    const gate = { name: 'db', condition: 'started', optional: false } as const;
    const gated = new Life({ config: { ...config, startAfter: [gate] }, peers: [alive('a'), alive('b')] }).pass(100);
    gated.see(dead('a', 0), dead('b', 0));
    assert.deepEqual([gated.exitCode, gated.spawns.length], [0, 0]);
  });

  it('J11 a main that is born again after the decision is an error in the log, once per rebirth', () => {
    const again = alive('work', { Incarnation: 'again-1' });
    for (const end of [dead('work', 0), lost('work', START - 2_000)]) {
      const life = new Life({ config: sidecarConfig(), child: DEAF, peers: [alive('work')] })
        .see(end)
        .pass(1)
        .see(again)
        .see(again);
      const errors = life.logs.filter((line) => line.startsWith('error'));
      assert.equal(errors.length, 1);
      assert.match(errors[0] ?? '', /main work was started again .* check that --restart-policy/);
    }
  });

  it('J11 a rebirth whose whole life was over before anything of it was seen is told as well', () => {
    const over = (Reason: 'completed' | 'never-started') => dead('work', 0, { Incarnation: 'again-1', Reason });
    const errorsAfter = (Reason: 'completed' | 'never-started') =>
      new Life({ config: sidecarConfig(), child: DEAF, peers: [alive('work')] })
        .see(dead('work', 0))
        .see(over(Reason))
        .logs.filter((line) => line.startsWith('error'));
    assert.deepEqual([errorsAfter('completed').length, errorsAfter('never-started').length], [1, 0]);
  });

  it('J11 a rebirth before the decision, or of one who is no main of ours, is nothing to be said', () => {
    const config = sidecarConfig({ restartPolicy: 'OnFailure', mains: ['work'] });
    const life = new Life({ config, child: DEAF, peers: [alive('work'), alive('other')] });
    life.see(dead('work', 1), dead('other', 0)).see(alive('work', { Incarnation: 'again-1' }));
    life.see(dead('work', 0)).see(alive('other', { Incarnation: 'again-1' }));
    assert.deepEqual(
      life.logs.filter((line) => line.startsWith('error')),
      [],
    );
  });

  it('J16 a sidecar that is started after the end exits 0 without starting its child', () => {
    const found = dead('work', 0, { DiedMonotonic: START + 1 }, { foundAtStart: true });
    const life = new Life({ config: sidecarConfig(), peers: [found] });
    assert.deepEqual([life.spawns, life.exitCode, life.tombstone.Reason], [[], 0, 'never-started']);
  });

  it('J17 a main killed with its whole container counts after 2 s, as its policy says', () => {
    const vanished = (RestartPolicy: 'Never' | 'OnFailure') => lost('work', START + 1_000, { RestartPolicy });
    const final = new Life({ config: sidecarConfig(), peers: [alive('work')] }).pass(1_000).see(vanished('Never'));
    assert.equal(final.passUntilGone().exitedAtMs, 3_000);
    const retried = new Life({ config: sidecarConfig(), peers: [alive('work')] })
      .pass(1_000)
      .see(vanished('OnFailure'));
    assert.deepEqual([retried.pass(60_000).phase, retried.signals], ['running', []]);
  });

  it('a main whose socket nobody stands behind is lost 10 s after it was first seen so, however often it is seen', () => {
    const refused = alive('work', {}, { liveness: 'none', refused: true });
    const life = new Life({ config: sidecarConfig(), peers: [refused] });
    for (let second = 1; second < 10; second += 1) life.pass(1_000).see(refused);
    assert.deepEqual([life.signals, life.passUntilGone().exitedAtMs], [[], 10_000]);
  });

  it('a main that vanished and is back within 2 s has not finished', () => {
    const life = new Life({ config: sidecarConfig(), peers: [alive('work')] }).see(lost('work', START)).pass(1_999);
    assert.deepEqual(life.see(alive('work')).pass(60_000).signals, []);
  });

  it('J18 a name that nobody carries is named in the log after 10 s, each name once', () => {
    const config = sidecarConfig({ mains: ['work', 'wrok'] });
    const life = new Life({ config, peers: [alive('work')] }).pass(9_999);
    const named = () => life.logs.filter((line) => line.includes('no main named wrok has been seen'));
    assert.equal(named().length, 0);
    life.pass(1).see(alive('work')).pass(60_000);
    assert.equal(named().length, 1);
    assert.equal(
      life.logs.some((line) => line.includes('no main named work ')),
      false,
    );
  });

  it('J18 a name that only another session carries is missing too, and named as such', () => {
    const config = sidecarConfig({ mains: ['work'], session: 'ours' });
    const life = new Life({ config, peers: [dead('work', 0, { Session: 'theirs' })] }).pass(20_000);
    assert.ok(life.logs.some((line) => line.includes('the tombstone of main work is of another session')));
  });

  it('C01 a death in the format of kubexit ends a sidecar', () => {
    const life = new Life({ config: sidecarConfig(), peers: [kubexit('work')] }).pass(3_600_000);
    assert.equal(life.phase, 'running');
    assert.equal(life.see(kubexit('work', 0)).exitCode, 0);
  });

  it('a stale death neither stops a new sidecar nor keeps it from starting; after 10 s without a rebirth it counts', () => {
    const stale = dead('work', 0, { DiedMonotonic: START - 5 }, { foundAtStart: true });
    const life = new Life({ config: sidecarConfig(), peers: [stale] });
    assert.deepEqual([life.spawns, life.phase], [[0], 'running']);
    const reborn = life.fork().pass(5_000).see(alive('work')).pass(60_000);
    assert.deepEqual([reborn.phase, reborn.signals], ['running', []]);
    assert.equal(life.passUntilGone().exitedAtMs, 10_000);
  });
});

describe('between the last main’s end and the sidecar’s own', () => {
  it('it lingers', () => {
    const life = new Life({ config: sidecarConfig({ lingerMs: 2_000 }), peers: [alive('work')] }).see(dead('work', 0));
    assert.deepEqual([life.signals, life.phase], [[], 'holding']);
    assert.equal(life.passUntilGone().exitedAtMs, 2_000);
  });

  it('it waits for those who started after it', () => {
    const log = (view: (name: string, tombstone: object) => PeerView) =>
      view('log', { Role: 'sidecar', StartAfter: ['self'] });
    const life = new Life({ config: sidecarConfig(), peers: [alive('work'), log(alive)] })
      .see(dead('work', 0))
      .pass(4_000);
    assert.deepEqual(life.signals, []);
    assert.equal(life.see(log((name, tombstone) => dead(name, 0, tombstone))).exitedAtMs, 4_000);
  });

  it('K13 the platform’s TERM then counts as the first: it moves the deadline, the child gets no signal twice', () => {
    const config = sidecarConfig({ gracePeriodMs: 20_000 });
    const life = new Life({ config, child: DEAF, peers: [alive('work')] }).see(dead('work', 0)).pass(15_000).signal(15);
    assert.deepEqual([life.signals, life.deadlineMs], [[[0, 15]], 35_000]);
    life.passUntilGone();
    assert.deepEqual(life.signals, [
      [0, 15],
      [20_000, 9],
    ]);
  });

  it('K13 the platform’s first TERM goes to no further rung of a stop under way, its second does', () => {
    const ladder = [
      { signal: 15, forMs: 20_000 },
      { signal: 2, forMs: undefined },
    ];
    const child = { on: { 15: 'ignores', 2: 'ignores' } } as const;
    const life = new Life({ config: sidecarConfig({ ladder }), child, peers: [alive('work')] }).see(dead('work', 0));
    assert.deepEqual(life.pass(1_000).signal(15).signals, [[0, 15]]);
    assert.deepEqual(life.pass(1_000).signal(15).signals.at(-1), [2_000, 2]);
  });

  it('the platform’s first TERM does not cut the linger short, its second does', () => {
    const config = sidecarConfig({ lingerMs: 9_000 });
    const life = new Life({ config, peers: [alive('work')] }).see(dead('work', 0)).pass(1_000).signal(15).pass(1_000);
    assert.deepEqual(life.signals, []);
    assert.deepEqual(life.signal(15).signals, [[2_000, 15]]);
  });
});
