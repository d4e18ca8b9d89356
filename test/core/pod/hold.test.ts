import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alive, dead, fixed, lost, mainConfig, START, sidecarConfig, stopping, waiting } from '../helpers.ts';
import { Life, main } from '../life.ts';

describe('a sidecar that is asked to stop while mains live', () => {
  it('a sidecar serves on until every main is dead, then stops at once', () => {
    const life = new Life({ config: sidecarConfig(), peers: [alive('a'), alive('b')] }).signal(15).pass(5_000);
    assert.deepEqual([life.phase, life.signals], ['holding', []]);
    life.see(dead('a', 0)).pass(5_000);
    assert.deepEqual(life.signals, []);
    life.see(dead('b', 1, { Final: false }));
    assert.deepEqual([life.signals, life.exitCode], [[[10_000, 15]], 0]);
  });

  it('a sidecar logs once that it holds', () => {
    const life = new Life({ config: sidecarConfig(), peers: [alive('a')] }).signal(15).pass(5_000).pass(5_000);
    assert.equal(life.logs.filter((it) => it.startsWith('info: holding')).length, 1);
  });

  it('a sidecar stops 2 s before the deadline, at 28 s without a grace period', () => {
    const declared = new Life({ config: sidecarConfig({ gracePeriodMs: 20_000 }), peers: [alive('a')] });
    assert.equal(declared.signal(15).pass(20_000).sent, '18000 TERM');
    const assumed = new Life({ config: sidecarConfig(), peers: [alive('a')] }).signal(15).pass(60_000);
    assert.equal(assumed.sent, '28000 TERM');
  });

  it('a sidecar does not hold for waiting, lost or unseen members', () => {
    const config = sidecarConfig({ mains: ['a', 'b', 'c'] });
    const life = new Life({ config, peers: [waiting('a'), lost('b', START)] }).signal(15).pass(5_000);
    assert.equal(life.sent, '2000 TERM');
  });

  describe('that sees no main to serve', () => {
    it('a sidecar without a main waits 5 s in a young container, later 1 s, at most a tenth', () => {
      for (const [gracePeriodMs, ageMs, momentMs] of [
        [undefined, 0, 3_000],
        [120_000, 0, 5_000],
        [120_000, 9_999, 5_000],
        [120_000, 10_000, 1_000],
        [30_000, 0, 3_000],
        [30_000, 10_000, 1_000],
        [4_000, 0, 400],
        [4_000, 10_000, 400],
      ] as const) {
        const life = new Life({ config: sidecarConfig({ gracePeriodMs }), peers: [waiting('a')] })
          .pass(ageMs)
          .signal(15)
          .pass(8_000);
        assert.deepEqual(life.signals, [[ageMs + momentMs, 15]]);
      }
    });

    it('a sidecar waits 1 s in a young container, too, when a main has shown itself before', () => {
      const life = new Life({ config: sidecarConfig({ restartPolicy: 'OnFailure' }), peers: [alive('a')] });
      life.see(dead('a', 1)).pass(100).signal(15).pass(8_000);
      assert.equal(life.sent, '1100 TERM');
    });

    it('a sidecar holds when a main shows itself', () => {
      const life = new Life({ config: sidecarConfig(), peers: [] }).signal(15).pass(900).see(alive('a')).pass(20_000);
      assert.deepEqual([life.signals, life.phase], [[], 'holding']);
    });

    it('a sidecar with a misspelt roster holds for the mains that it sees, and warns once', () => {
      const config = sidecarConfig({ mains: ['wrok'], gracePeriodMs: 30_000 });
      for (const hold of [{ kind: 'always' }, { kind: 'for', ms: 2_000 }] as const) {
        const beside = [alive('work'), alive('other', { Role: 'sidecar' })];
        const life = new Life({ config: { ...config, hold }, peers: beside }).signal(15).pass(500);
        life.see(stopping('work'), alive('other', { Role: 'sidecar' })).pass(9_000);
        assert.deepEqual([life.phase, life.signals], ['holding', []], hold.kind);
        const warnings = life.logs.filter((line) => line.startsWith('warn'));
        assert.deepEqual(warnings, [
          "warn: no main named wrok, only work, has been seen; check --mains and that main's --name",
        ]);
        assert.equal(life.see(dead('work', 0, { DiedMonotonic: life.nowMs })).pass(1).sent, '9501 TERM');
      }
    });

    it('a sidecar that sees one main of its roster holds for no other main', () => {
      const config = sidecarConfig({ mains: ['a', 'b'], gracePeriodMs: 30_000 });
      const life = new Life({ config, peers: [alive('a'), alive('c')] }).signal(15).pass(1_000);
      assert.deepEqual(life.signals, []);
      const end = dead('a', 0, { DiedMonotonic: life.nowMs });
      assert.equal(life.see(end, alive('c')).pass(5_000).sent, '1001 TERM');
      assert.deepEqual(
        life.logs.filter((line) => line.startsWith('warn')),
        [],
      );
    });

    it('a main outside of the roster ends no sidecar that was not asked to stop', () => {
      const config = sidecarConfig({ mains: ['wrok'] });
      const life = new Life({ config, peers: [alive('work')] }).see(dead('work', 0)).pass(60_000);
      assert.deepEqual([life.phase, life.signals], ['running', []]);
    });

    it('a main that was asked to stop at most 500 ms before its sidecar has ended with the pod', () => {
      const asked = { StopRequested: '2027-01-15T08:30:00.000000000Z', StopReason: 'signal TERM', Final: false };
      for (const [more, agoMs, sentMs] of [
        [asked, 500, 1],
        [asked, 501, 1_000],
        [{ ...asked, StopReason: 'liveness' }, 500, 1_000],
        [{ ...asked, StopScope: 'container' }, 500, 1_000],
        [{ Final: false }, 10, 1_000],
      ] as const) {
        const life = new Life({ config: sidecarConfig(), peers: [alive('a')] }).pass(20_000);
        life.see(dead('a', 0, { DiedMonotonic: START + 20_000, ...more }));
        life.pass(agoMs).signal(15).pass(5_000);
        assert.deepEqual(life.signals, [[20_000 + agoMs + sentMs, 15]], JSON.stringify(more));
      }
    });

    it('a sidecar reads once more before it believes that its main, asked just before, is not back', () => {
      const life = new Life({ config: sidecarConfig({ restartPolicy: 'Always' }), peers: [alive('a')] }).pass(20_000);
      const asked = { StopRequested: '2027-01-15T08:30:00.000000000Z', StopReason: 'signal TERM' };
      life
        .see(dead('a', 0, { ...asked, Final: false, DiedMonotonic: life.nowMs }))
        .pass(100)
        .signal(15);
      assert.deepEqual(life.signals, []);
      assert.deepEqual(life.see(alive('a', { Incarnation: 'b-1' })).pass(5_000).signals, []);
    });

    it('after a pause a sidecar reads the graveyard before it believes that no main lives', () => {
      for (const hold of [{ kind: 'always' }, { kind: 'for', ms: 1_000 }] as const) {
        const config = sidecarConfig({ restartPolicy: 'Always', hold });
        const life = new Life({ config, peers: [alive('a')] }).see(dead('a', 1)).pass(20_000).signal(15);
        life.nowMs += 1_500;
        life.see(alive('proxy', { Role: 'sidecar' }));
        assert.deepEqual(life.signals, [], hold.kind);
        assert.deepEqual(life.see(stopping('a')).pass(5_000).signals, [], hold.kind);
      }
    });

    it('a sidecar does not wait when its mains are over, alone, or by its own decision', () => {
      const atOnce = [[0, 15]];
      const over = new Life({ config: sidecarConfig({ lingerMs: 60_000 }), peers: [alive('a')] }).see(dead('a', 0));
      assert.deepEqual(over.signal(15).signal(2).signals, atOnce);
      assert.deepEqual(new Life({ config: sidecarConfig({ solo: true }) }).signal(15).signals, atOnce);
      assert.deepEqual(new Life({ config: sidecarConfig(), peers: [alive('a')] }).see(dead('a', 0)).signals, atOnce);
      const born = dead('a', 1, { Final: false });
      assert.deepEqual(new Life({ config: sidecarConfig(), peers: [born] }).pass(100).signal(15).signals, []);
    });
  });

  it('a sidecar with --hold 2s does not hold for a main whose life has failed', () => {
    const config = sidecarConfig({ hold: { kind: 'for', ms: 2_000 } });
    for (const [StopReason, signals] of [
      ['liveness', [[2_000, 15]]],
      ['signal TERM', []],
    ] as const) {
      const life = new Life({ config, peers: [stopping('a', undefined, { StopReason })] }).signal(15).pass(5_000);
      assert.deepEqual(life.signals, signals, StopReason);
    }
  });

  it('a sidecar with --hold never drains, and does not hold', () => {
    const config = sidecarConfig({ hold: { kind: 'never' }, drain: fixed(500) });
    const life = new Life({ config, peers: [alive('a')] }).signal(15);
    assert.equal(life.phase, 'draining');
    assert.equal(life.pass(5_000).sent, '500 TERM');
  });

  describe('with a duration holds only if a main writes its own stop request within it', () => {
    const config = sidecarConfig({ hold: { kind: 'for', ms: 2_000 }, session: 'ours' });

    it('a sidecar with --hold 2s stops when no main is asked to stop', () => {
      assert.equal(new Life({ config, peers: [alive('a')] }).signal(15).pass(5_000).sent, '2000 TERM');
    });

    it('a sidecar with --hold 2s holds when a main is asked to stop', () => {
      const life = new Life({ config, peers: [alive('a')] }).signal(15).pass(1_000).see(stopping('a')).pass(10_000);
      assert.deepEqual([life.signals, life.phase], [[], 'holding']);
      assert.equal(life.see(dead('a', 0)).sent, '11000 TERM');
    });

    it('a stop request of dead or foreign mains or of a sidecar does not count', () => {
      const asked = { StopRequested: '2027-01-15T08:30:00.000000000Z' };
      const others = [
        dead('b', 0, asked),
        stopping('c', undefined, { Session: 'theirs' }),
        stopping('d', undefined, { Role: 'sidecar' }),
      ];
      const life = new Life({ config, peers: [alive('a'), ...others] }).signal(15).pass(5_000);
      assert.equal(life.sent, '2000 TERM');
    });
  });

  it('a stop request before the graveyard was read waits for that read', () => {
    const life = new Life({ config: sidecarConfig(), peers: [alive('a')] });
    life.state = { ...life.state, peers: undefined };
    assert.deepEqual(life.signal(15).pass(1_000).signals, []);
    assert.deepEqual(life.see(alive('a')).pass(1_000).signals, []);
    assert.equal(life.see(dead('a', 0)).sent, '2000 TERM');
  });
});

describe('a main that is asked to stop', () => {
  it('a main publishes the request, drains while it serves, then gets its signal', () => {
    const config = mainConfig({ drain: fixed(3_000), gracePeriodMs: 30_000 });
    const life = new Life({ config, peers: [alive('proxy', { Role: 'sidecar' })] }).pass(500).signal(15);
    const { StopRequested, StopReason, Deadline, Phase } = life.tombstone;
    assert.ok(StopRequested !== undefined);
    assert.deepEqual([StopReason, Deadline, Phase], ['signal TERM', START + 30_500, 'draining']);
    assert.equal(life.pass(10_000).sent, '3500 TERM');
  });

  it('a drain gives way to a declared deadline, not to an assumed one', () => {
    const short = new Life(main({ drain: fixed(60_000), gracePeriodMs: 10_000 })).signal(15);
    assert.equal(short.pass(60_000).sent, '8000 TERM');
    assert.equal(new Life(main({ drain: fixed(60_000) })).signal(15).pass(61_000).sent, '60000 TERM');
  });

  it('a main waits for members that started after it', () => {
    const config = mainConfig({ name: 'db' });
    const life = new Life({ config, peers: [alive('app', { StartAfter: ['db'] })] }).signal(15).pass(4_000);
    assert.deepEqual([life.signals, life.phase], [[], 'holding']);
    assert.equal(life.see(dead('app', 0, { StartAfter: ['db'] })).sent, '4000 TERM');
  });

  it('the stop of one main neither ends nor is ended by others', () => {
    const life = new Life({ config: mainConfig(), peers: [stopping('b', START + 5_000), dead('c', 1)] }).pass(60_000);
    assert.deepEqual([life.phase, life.signals], ['running', []]);
  });

  it('a main whose child is being started gets its signal after the start', () => {
    const queued = new Life(main());
    queued.state = { ...queued.state, child: { is: 'spawning', id: 1 } };
    assert.deepEqual(queued.signal(15).signals, []);
    queued.feed({ type: 'spawned', id: 1, pid: 101 });
    assert.deepEqual([queued.signals, queued.exitCode], [[[0, 15]], 143]);
  });

  it('a member without a graveyard stops at once', () => {
    const life = new Life({ config: mainConfig({ solo: true }) }).signal(15);
    assert.deepEqual([life.signals, life.exitCode], [[[0, 15]], 143]);
  });
});
