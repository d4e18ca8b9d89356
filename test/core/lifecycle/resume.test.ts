/**
 * A supervisor that died and its successor: what happened meanwhile is told first, and nothing is done before all of it
 * is known.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { child, config, peers, perform, schedule } from '../arbitraries.ts';
import { alive, dead, fixed, mainConfig, START, sidecarConfig } from '../helpers.ts';
import { Life } from '../life.ts';
import '../../helpers/seeded.ts';

const DEAF = { on: { 15: 'ignores' } } as const;

describe('a supervisor that comes back', () => {
  it('N33 keeps the deadline of a stop under way, and sends nothing again', () => {
    const life = new Life({ config: mainConfig({ gracePeriodMs: 10_000 }), child: DEAF, peers: [] }).signal(15);
    back(life.pass(4_000).loseSupervisor().pass(1_000));
    assert.equal(life.deadlineMs, 10_000);
    life.passUntilGone();
    assert.deepEqual(life.signals, [
      [0, 15],
      [9_500, 9],
    ]);
  });

  it('after the deadline has passed meanwhile, KILLs at once', () => {
    const life = new Life({ config: mainConfig({ gracePeriodMs: 10_000 }), child: DEAF, peers: [] }).signal(15);
    back(life.pass(4_000).loseSupervisor().pass(20_000));
    assert.deepEqual(life.signals.at(-1), [24_000, 9]);
    assert.equal(life.exitCode, 137);
  });

  it('takes a stop request that came meanwhile from when it came', () => {
    const life = new Life({
      config: mainConfig({ gracePeriodMs: 10_000, drain: fixed(3_000) }),
      child: DEAF,
      peers: [],
    });
    life.pass(1_000).loseSupervisor().signal(15);
    assert.deepEqual(life.pass(2_000).signals, []);
    back(life);
    assert.equal(life.deadlineMs, 11_000);
    assert.deepEqual(life.pass(2_000).signals, [[4_000, 15]]);
  });

  it('does not start a child again between two lives when a stop request came meanwhile', () => {
    const life = new Life({ config: mainConfig({ restart: 'always' }), peers: [] }).endChild(1);
    back(life.loseSupervisor().pass(500).signal(15));
    assert.deepEqual([life.spawns.length, life.exitCode], [1, 1]);
  });

  it('starts nothing again though three interrupts were typed between two lives', () => {
    const life = new Life({ config: mainConfig({ restart: 'always' }), peers: [] }).endChild(1).loseSupervisor();
    for (let count = 0; count < 3; count += 1) life.signal(2, { terminal: true });
    back(life).pass(60_000);
    assert.deepEqual([life.spawns.length, life.exitCode], [1, 1]);
  });

  it('buries a child that ended meanwhile, with its own code', () => {
    const life = new Life({ config: mainConfig(), peers: [] });
    back(life.pass(100).loseSupervisor().endChild(42).pass(1_000));
    assert.equal(life.exitCode, 42);
  });

  it('restarts a held sidecar’s child that died meanwhile once it has seen that mains live', () => {
    const life = new Life({ config: sidecarConfig(), peers: [alive('work')] }).signal(15).pass(1_000);
    life.loseSupervisor().endChild(1).pass(3_000);
    assert.equal(life.spawns.length, 1);
    back(life, [alive('work')]).pass(1_000);
    assert.deepEqual([life.spawns.length, life.phase], [2, 'holding']);
    assert.equal(back(life.loseSupervisor(), [dead('work', 0)]).exitCode, 0);
  });

  it('sees a main’s end that happened meanwhile', () => {
    const life = new Life({ config: sidecarConfig(), peers: [alive('work')] });
    back(life.loseSupervisor().pass(7_000), [
      dead('work', 0, { DiedMonotonic: START + 3_000 }, { foundAtStart: true }),
    ]);
    assert.deepEqual([life.signals, life.exitCode], [[[7_000, 15]], 0]);
  });

  it('says a thing once in the whole life of the container', () => {
    const life = new Life({ config: sidecarConfig({ mains: ['wrok'] }), peers: [] }).pass(20_000);
    back(life.loseSupervisor().pass(1_000), []).pass(20_000);
    assert.equal(life.logs.filter((line) => line.includes('no main named wrok')).length, 1);
  });

  it('does nothing that it may not do, whenever it was away and whatever happened meanwhile', () => {
    fc.assert(
      fc.property(
        config,
        child,
        peers,
        schedule,
        schedule,
        schedule,
        (member, script, found, first, meanwhile, then) => {
          const life = new Life({ config: { ...member, gracePeriodMs: 10_007 }, child: script, peers: found });
          let seen = new Map(found.map((view) => [view.tombstone.Name, view]));
          for (const action of first) {
            perform(life, action);
            if (action.do === 'see')
              seen = new Map([...seen, ...action.peers.map((view) => [view.tombstone.Name, view] as const)]);
          }
          if (life.exitCode !== undefined) return;
          life.loseSupervisor();
          for (const action of meanwhile) if (action.do !== 'see') perform(life, action);
          const wasGone = life.exitCode !== undefined;
          const asked = life.state.stop;
          const starts = life.spawns.length;
          back(life, [...seen.values()]);
          for (const action of then) perform(life, action);
          life.signal(15).pass(10_007);
          assert.equal(life.exits.length, wasGone ? 2 : 1);
          assert.ok(life.exits.every(({ code }) => code === life.exitCode));
          if (asked !== undefined && member.role === 'main')
            assert.equal(life.spawns.length, starts, 'a start after the stop');
          const kills = life.signals.filter(([, signal]) => signal === 9).length;
          assert.ok(kills <= life.spawns.length, 'more KILLs than children');
        },
      ),
      { numRuns: 600 },
    );
  });
});

/** The next one is there: it hears what was queued, boots, and looks at the graveyard. */
function back(life: Life, found: readonly PeerView[] = []): Life {
  return life.feed({ type: 'booted' }).see(...found);
}
