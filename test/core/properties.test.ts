/**
 * What holds for every configuration, every child and every schedule. fast-check prints the seed of a run that fails.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_HISTORY } from '../../src/core/format/tombstone.ts';
import { longestDrainMs } from '../../src/core/lifecycle/drain.ts';
import { reduce } from '../../src/core/lifecycle/lifecycle.ts';
import { killAtMs } from '../../src/core/pod/deadline.ts';
import type { Peer } from '../../src/core/state/peer.ts';
import { writeMemo } from '../../src/runtime/memo.ts';
import { type Action, chaos, child, config, peers, perform, schedule } from './arbitraries.ts';
import { alive, asJson, dead, revived, sidecarConfig } from './helpers.ts';
import { Life, type LifeOptions, type Step } from './life.ts';
import '../helpers/seeded.ts';

const RUNS = { numRuns: 600 };

describe('in every life', () => {
  it('no event in any state throws, and the state stays data', () => {
    check(chaos, ({ after }) =>
      assert.deepEqual(revived(after), asJson({ ...after, peers: undefined, isAwake: false })),
    );
  });

  it('the container ends once, and after that nothing is done any more', () => {
    check(schedule, ({ before, event, effects }) => {
      if (before.child.is !== 'gone') return;
      const done = effects.filter((effect) => !(effect.type === 'log' && effect.message.includes('was started again')));
      assert.deepEqual(done, event.type === 'booted' ? [{ type: 'exit', code: before.child.code }] : []);
    });
    check(chaos, ({ before, event, effects }) => {
      const ends = effects.filter(({ type }) => type === 'exit').length;
      assert.ok(ends <= (before.child.is === 'gone' && event.type !== 'booted' ? 0 : 1));
    });
  });

  it('the memo gives back what the next step needs: the same effects, the same wish to wake', () => {
    check(schedule, ({ before, event, after, effects, wakeAtMs }, { config: member }) => {
      const peersBefore = JSON.parse(JSON.stringify(before.peers ?? null)) as Record<string, Peer> | null;
      const resumed = { ...revived(before), isAwake: before.isAwake, peers: peersBefore ?? undefined };
      const again = reduce(member, resumed, event);
      assert.deepEqual([again.effects, again.wakeAtMs], [effects, wakeAtMs]);
      assert.deepEqual(revived(again.state), revived(after));
    });
  });

  it('the memo stays under 64 KiB, the history at 64 entries', () => {
    check(chaos, ({ after }) => {
      assert.ok(Buffer.byteLength(writeMemo({ state: after, isHeld: true })) < 65_536);
      assert.ok(after.chronicle.history.length <= MAX_HISTORY);
    });
  });

  it('a deadline that counts never moves later and never goes away', () => {
    check(schedule, ({ before, after }) => {
      if (before.deadline === undefined) return;
      assert.ok(after.deadline !== undefined);
      if (before.deadline.kills) assert.ok(after.deadline.kills && after.deadline.atMs <= before.deadline.atMs);
      else assert.ok(after.deadline.kills || after.deadline.atMs <= before.deadline.atMs);
    });
  });

  it('KILL comes only when a rung, a deadline or the end of an own budget says so, or a third interrupt, and once', () => {
    check(schedule, ({ before, event, after, effects }, { config: member }) => {
      const kills = effects.filter((effect) => effect.type === 'kill' && effect.signal === 9);
      assert.ok(kills.length <= 1);
      if (kills.length === 0) return;
      assert.ok(before.climb?.killed !== true, 'KILL a second time');
      const { climb, deadline, now, stop } = after;
      const isRung = climb !== undefined && member.ladder?.[climb.rung]?.signal === 9;
      const isOverdue = deadline?.kills === true && now.mono >= killAtMs(deadline);
      const isOwnEnd = climb?.killAtMs !== undefined && now.mono >= climb.killAtMs;
      const isImpatient = event.type === 'signal' && event.fromTerminal && (stop?.requests ?? 0) >= 3;
      assert.ok(isRung || isOverdue || isOwnEnd || isImpatient);
    });
  });

  it('no rung is sent twice in one life of the child', () => {
    check(schedule, ({ effects, event }, { config: member }, memory) => {
      const passedOn = event.type === 'signal' && !member.stopSignals.includes(event.signal);
      for (const effect of effects) {
        if (effect.type !== 'kill' || passedOn) continue;
        const key = `${effect.id} ${effect.signal}`;
        assert.ok(!memory.has(key), `signal ${effect.signal} to child ${effect.id} again`);
        memory.add(key);
      }
    });
  });

  it('a stop beats every restart: after the stop request of a main, or a second one, nothing is started', () => {
    check(schedule, ({ before, effects }, { config: member }) => {
      const isOver = before.stop !== undefined && (member.role === 'main' || before.stop.requests >= 2);
      if (isOver) assert.ok(!effects.some(({ type }) => type === 'spawn'));
    });
  });

  it('never two children at a time', () => {
    check(schedule, ({ before, effects }) => {
      const starts = effects.filter(({ type }) => type === 'spawn').length;
      assert.ok(starts <= 1);
      if (starts === 1) assert.ok(['unstarted', 'backoff', 'leftovers'].includes(before.child.is), before.child.is);
    });
  });

  it('a wish to stop never goes away, and nobody but the platform counts requests', () => {
    check(schedule, ({ before, event, after }) => {
      if (before.stop === undefined) return;
      assert.ok(after.stop !== undefined && after.stop.reason === before.stop.reason);
      const isRequest = event.type === 'signal';
      assert.ok(after.stop.requests - before.stop.requests <= (isRequest ? 1 : 0));
    });
  });

  it('a main is stopped by the platform only', () => {
    check(schedule, ({ after }, { config: member }) => {
      if (member.role === 'main') assert.ok(after.stop === undefined || after.stop.origin === 'platform');
    });
  });
});

describe('in the end', () => {
  it('once all mains are dead and final a sidecar that nobody depends on is gone within linger, grace and a second', () => {
    fc.assert(
      fc.property(config, child, schedule, (change, script, actions) => {
        const member = sidecarConfig({ ...change, role: 'sidecar', mains: ['a', 'b'], startAfter: [] });
        const life = new Life({ config: member, child: script, peers: [alive('a'), alive('b')] });
        for (const action of actions) if (action.do !== 'see') perform(life, action);
        life.see(dead('a', 0, { Final: true }), dead('b', 1, { Final: true }));
        if (life.state.stop?.origin === 'platform' && life.state.deadline?.kills !== true) return;
        const rest = script.leaves === undefined ? 0 : 1 + (member.gracePeriodMs ?? 30_000);
        const drain = life.state.stop?.origin === 'platform' ? longestDrainMs(member) : 0;
        life.pass(Math.max(member.lingerMs, drain) + (member.gracePeriodMs ?? 30_000) + rest + 1_000);
        assert.notEqual(life.exitCode, undefined);
      }),
      RUNS,
    );
  });

  it('a sidecar under `Never` does not end before its mains unless it is asked to, fails to start, or may not be restarted', () => {
    fc.assert(
      fc.property(config, child, schedule, (change, { errno: _errno, ...script }, actions) => {
        const member = sidecarConfig({
          ...change,
          role: 'sidecar',
          mains: ['a'],
          startAfter: [],
          restartPolicy: 'Never',
        });
        const life = new Life({ config: { ...member, restart: 'auto' }, child: script, peers: [alive('a')] });
        for (const action of actions) if (action.do === 'pass' || action.do === 'end') perform(life, action);
        assert.equal(life.exitCode, undefined);
        assert.equal(life.state.stop, undefined);
      }),
      RUNS,
    );
  });

  it('whoever was asked to stop in a declared grace period is gone within it', () => {
    fc.assert(
      fc.property(config, child, peers, schedule, (member, script, found, actions) => {
        const life = new Life({ config: { ...member, gracePeriodMs: 10_007 }, child: script, peers: found });
        for (const action of actions) perform(life, action);
        life.feed({ type: 'signal', signal: 15, senderPid: 0, fromTerminal: false }).pass(10_007);
        assert.notEqual(life.exitCode, undefined);
      }),
      RUNS,
    );
  });
});

/** Every step of random lives. The memory is one life's. */
function check(
  actions: fc.Arbitrary<Action[]>,
  observe: (step: Step, life: Pick<LifeOptions, 'config'>, memory: Set<string>) => void,
): void {
  fc.assert(
    fc.property(config, child, fc.option(peers, { nil: undefined }), actions, (member, script, found, todo) => {
      const memory = new Set<string>();
      const life = new Life({
        config: member,
        child: script,
        peers: found,
        observe: (step) => observe(step, { config: member }, memory),
      });
      for (const action of todo) perform(life, action);
      life.pass(100_003);
    }),
    RUNS,
  );
}
