/**
 * What holds for every member with probes, hooks, reloads and quit calls, whatever happens. fast-check prints the seed
 * of a run that fails.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { reduce } from '../../src/core/lifecycle/lifecycle.ts';
import type { Peer } from '../../src/core/state/peer.ts';
import { writeMemo } from '../../src/runtime/memo.ts';
import { perform, schedule } from './arbitraries.ts';
import { anything, member, performAny, script } from './arbitraries-actions.ts';
import { alive, revived } from './helpers.ts';
import { isSoundStep } from './invariants.ts';
import { Life, type Step } from './life.ts';
import '../helpers/seeded.ts';

const RUNS = { numRuns: 1_000 };

describe('in every life with actions', () => {
  it('each step is sound: one end, KILL in time, starts and actions only where they may be, a deadline that only comes nearer', () => {
    check((step, config) => isSoundStep(config, step));
  });

  it('the memo gives back what the next step needs, and stays small', () => {
    check(({ before, event, after, effects, wakeAtMs }, config) => {
      const peers = JSON.parse(JSON.stringify(before.peers ?? null)) as Record<string, Peer> | null;
      const again = reduce(config, { ...revived(before), isAwake: before.isAwake, peers: peers ?? undefined }, event);
      assert.deepEqual([again.effects, again.wakeAtMs], [effects, wakeAtMs]);
      assert.ok(Buffer.byteLength(writeMemo({ state: after, isHeld: true })) < 65_536);
    });
  });

  it('no child gets a rung twice', () => {
    fc.assert(
      fc.property(member, script, anything, (random, child, todo) => {
        // A signal for a changed file, and one that is passed on, may come as often as it likes.
        const config = { ...random, reload: [] };
        const life = new Life({ config, child, peers: [alive('a')] });
        for (const action of todo) performAny(life, action);
        const sent = life.pass(100_003).done.flatMap(({ effect }) => {
          const isRung = effect.type === 'kill' && ![1, 10, 12, 37].includes(effect.signal);
          return isRung ? [`${effect.id} ${effect.signal}`] : [];
        });
        assert.equal(new Set(sent).size, sent.length, sent.join(', '));
      }),
      RUNS,
    );
  });

  it('whoever was asked to stop in a declared grace period is gone within it, whatever hooks and probes do', () => {
    fc.assert(
      fc.property(member, script, schedule, (random, child, todo) => {
        const config = { ...random, gracePeriodMs: 10_007, quit: [] };
        const life = new Life({ config, child, peers: [alive('a')] });
        for (const action of todo) perform(life, action);
        life.signal(15).pass(10_007);
        assert.notEqual(life.exitCode, undefined, life.phase);
      }),
      RUNS,
    );
  });

  it('after the end nothing is waited for but quit calls, and those not for ever', () => {
    fc.assert(
      fc.property(member, script, anything, (config, child, todo) => {
        const life = new Life({ config, child, peers: [alive('a')] });
        for (const action of todo) performAny(life, action);
        if (life.state.child.is !== 'gone') return;
        life.pass(15_000);
        assert.notEqual(life.exitCode, undefined);
        assert.deepEqual(life.state.tasks, []);
      }),
      RUNS,
    );
  });
});

function check(observe: (step: Step, config: Life['config']) => void): void {
  fc.assert(
    fc.property(member, script, anything, (config, child, todo) => {
      const life = new Life({ config, child, peers: [alive('a')], observe: (step) => observe(step, config) });
      for (const action of todo) performAny(life, action);
      life.pass(50_003);
    }),
    RUNS,
  );
}
