/** Laws for every configuration, child and schedule. fast-check prints the seed of a failed run. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_HISTORY } from '../../src/core/format/tombstone.ts';
import { reduce } from '../../src/core/lifecycle/lifecycle.ts';
import { longestDrainMs } from '../../src/core/lifecycle/stop/drain.ts';
import type { Peer, PeerView } from '../../src/core/state/peer.ts';
import { writeMemo } from '../../src/runtime/memo.ts';
import { chaos, child, config, peers, perform, schedule } from './arbitraries.ts';
import { type AnyAction, anything, member, performAny, script } from './arbitraries-actions.ts';
import { alive, asJson, dead, revived, sidecarConfig } from './helpers.ts';
import { isSoundStep } from './invariants.ts';
import { Life, type Step } from './life.ts';
import '../helpers/seeded.ts';

const RUNS = { numRuns: 1_000 };

describe('in every life', () => {
  it('no event in any state throws, and state, memo and history stay data and small', () => {
    check(chaos, ({ before, event, after, effects }) => {
      assert.deepEqual(revived(after), asJson({ ...after, peers: undefined, hasCaughtUp: false }));
      assert.ok(Buffer.byteLength(writeMemo({ state: after, isHeld: true })) < 65_536);
      assert.ok(after.chronicle.history.length <= MAX_HISTORY);
      const ends = effects.filter(({ type }) => type === 'exit').length;
      const mayEnd = before.child.is !== 'gone' || event.type === 'booted' || before.tasks.length > 0;
      assert.ok(ends <= (mayEnd ? 1 : 0));
    });
  });

  it('each step is sound: one end, KILL in time, starts and actions in their place', () => {
    check(anything, (step, life) => isSoundStep(life, step));
  });

  it('the memo gives back what the next step needs, and stays small', () => {
    check(anything, ({ before, event, after, effects, wakeAtMs }, life) => {
      const known = JSON.parse(JSON.stringify(before.peers ?? null)) as Record<string, Peer> | null;
      const again = reduce(
        life,
        { ...revived(before), hasCaughtUp: before.hasCaughtUp, peers: known ?? undefined },
        event,
      );
      assert.deepEqual([again.effects, again.wakeAtMs], [effects, wakeAtMs]);
      assert.deepEqual(revived(again.state), revived(after));
      assert.ok(Buffer.byteLength(writeMemo({ state: after, isHeld: true })) < 65_536);
    });
  });

  it('a stop never goes away, only requests of the platform count, and a main stops for it alone', () => {
    check(anything, ({ before, event, after }, { role }) => {
      if (role === 'main') assert.ok(after.stop === undefined || after.stop.origin === 'platform');
      if (before.stop === undefined) return;
      assert.ok(after.stop !== undefined && after.stop.reason === before.stop.reason);
      assert.ok(after.stop.requests - before.stop.requests <= (event.type === 'signal' ? 1 : 0));
    });
  });

  it('no child gets a rung twice', () => {
    fc.assert(
      fc.property(member, script, fc.option(peers, { nil: undefined }), anything, (random, host, found, todo) => {
        // A reload signal and a forwarded one may come as often as they like.
        const life = new Life({ config: { ...random, reload: [] }, child: host, peers: found });
        for (const action of todo) performAny(life, action);
        const sent = life.pass(100_003).done.flatMap(({ effect }) => {
          const isRung = (effect.type === 'stop' || effect.type === 'kill') && ![1, 10, 12, 37].includes(effect.signal);
          return isRung ? [`${effect.id} ${effect.signal}`] : [];
        });
        assert.equal(new Set(sent).size, sent.length, sent.join(', '));
      }),
      RUNS,
    );
  });

  it('a member that is asked to stop is gone within its declared grace period', () => {
    fc.assert(
      fc.property(member, script, peers, schedule, (random, host, found, todo) => {
        const life = new Life({ config: { ...random, gracePeriodMs: 10_007, quit: [] }, child: host, peers: found });
        for (const action of todo) perform(life, action);
        life.signal(15).pass(10_007);
        assert.notEqual(life.exitCode, undefined, life.phase);
      }),
      RUNS,
    );
  });

  it('after the end only quit calls are waited for, and not forever', () => {
    fc.assert(
      fc.property(member, script, anything, (random, host, todo) => {
        const life = new Life({ config: random, child: host, peers: [alive('a')] });
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

describe('every sidecar', () => {
  it('a sidecar is gone within linger, grace and a second once all mains are dead for good', () => {
    fc.assert(
      fc.property(config, child, schedule, (change, host, actions) => {
        const own = sidecarConfig({ ...change, role: 'sidecar', mains: ['a', 'b'], startAfter: [] });
        const life = new Life({ config: own, child: host, peers: [alive('a'), alive('b')] });
        for (const action of actions) if (action.do !== 'see') perform(life, action);
        life.see(dead('a', 0, { Final: true }), dead('b', 1, { Final: true }));
        if (life.state.stop?.origin === 'platform' && life.state.deadline?.kills !== true) return;
        const graceMs = own.gracePeriodMs ?? 30_000;
        const rootsMs = host.leaves === undefined ? 0 : 1 + graceMs;
        const drainMs = life.state.stop?.origin === 'platform' ? longestDrainMs(own) : 0;
        life.pass(Math.max(own.lingerMs, drainMs) + graceMs + rootsMs + 1_000);
        assert.notEqual(life.exitCode, undefined);
      }),
      RUNS,
    );
  });

  it('a sidecar under `Never` outlives its mains unless it is stopped or may not start', () => {
    fc.assert(
      fc.property(config, child, schedule, (change, { errno: _errno, ...host }, actions) => {
        const own = { role: 'sidecar', mains: ['a'], startAfter: [], restartPolicy: 'Never', restart: 'auto' } as const;
        const life = new Life({ config: sidecarConfig({ ...change, ...own }), child: host, peers: [alive('a')] });
        for (const action of actions) if (action.do === 'pass' || action.do === 'end') perform(life, action);
        assert.deepEqual([life.exitCode, life.state.stop], [undefined, undefined]);
      }),
      RUNS,
    );
  });
});

function check(
  actions: fc.Arbitrary<readonly AnyAction[]>,
  observe: (step: Step, config: Life['config']) => void,
): void {
  fc.assert(
    fc.property(member, script, fc.option(peers, { nil: undefined }), actions, (random, host, found, todo) => {
      const life = new Life({ config: random, child: host, peers: found, observe: (step) => observe(step, random) });
      for (const action of todo) performAny(life, action);
      life.pass(50_003);
    }),
    RUNS,
  );
}

const PAIRS = { numRuns: 600 };

describe('two lives that must come to the same end', () => {
  it('late and doubled ticks and reads of the graveyard change nothing', () => {
    fc.assert(
      fc.property(config, child, peers, schedule, fc.nat(3), (member, script, found, actions, every) => {
        const plain = new Life({ config: member, child: script, peers: found });
        const noisy = new Life({ config: member, child: script, peers: found });
        let seen: readonly PeerView[] = found;
        for (const [index, action] of actions.entries()) {
          perform(plain, action);
          if (action.do === 'see') seen = action.peers;
          perform(noisy, action);
          if (index % (every + 1) === 0)
            noisy
              .feed({ type: 'ticked' })
              .see(...seen)
              .feed({ type: 'ticked' });
        }
        plain.pass(200_000);
        for (let step = 0; step < 20; step += 1) noisy.pass(10_000).feed({ type: 'ticked' });
        assert.deepEqual(outcome(noisy), outcome(plain));
      }),
      PAIRS,
    );
  });

  it('the order of members in a read changes nothing', () => {
    fc.assert(
      fc.property(config, child, peers, schedule, (member, script, found, actions) => {
        const forth = new Life({ config: member, child: script, peers: found });
        const back = new Life({ config: member, child: script, peers: found.toReversed() });
        for (const action of actions) {
          perform(forth, action);
          perform(back, action.do === 'see' ? { ...action, peers: action.peers.toReversed() } : action);
        }
        assert.deepEqual(outcome(back.pass(100_000)), outcome(forth.pass(100_000)));
      }),
      PAIRS,
    );
  });

  it('a supervisor that was away comes to the same end as one that was not', () => {
    fc.assert(
      fc.property(config, child, peers, schedule, fc.nat(13), (member, script, found, actions, when) => {
        const plain = new Life({ config: member, child: script, peers: found });
        const resumed = new Life({ config: member, child: script, peers: found });
        let seen = new Map(found.map((view) => [view.tombstone.Name, view]));
        for (const [index, action] of actions.entries()) {
          perform(plain, action);
          perform(resumed, action);
          if (action.do === 'see')
            seen = new Map([...seen, ...action.peers.map((v) => [v.tombstone.Name, v] as const)]);
          if (index !== when || resumed.exitCode !== undefined) continue;
          const isKnown = resumed.state.peers;
          resumed.state = { ...revived(resumed.state), peers: isKnown };
          resumed.feed({ type: 'booted' }).see(...seen.values());
        }
        assert.deepEqual(outcome(resumed.pass(100_000)), outcome(plain.pass(100_000)));
      }),
      PAIRS,
    );
  });
});

function outcome(life: Life): object {
  const { exits, signals, spawns, phase } = life;
  const { History: _history, ...tombstone } = life.tombstone;
  return { exits, signals, spawns, phase, tombstone };
}
