/** What the host does on its own equals what the rules do for the same events. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import { endWithMains, isUnchanged } from '../../../src/core/lifecycle/prepared/reflexes.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { alive, command, dead, fixed, instant, mainConfig, sidecarConfig } from '../helpers.ts';
import { Life } from '../life.ts';
import { differenceOf } from '../reflex.ts';

/** A life of the command under way, 5 s old. */
function lifeOf(config: MemberConfig, peers: readonly PeerView[] = []): Life {
  return new Life({ config, peers }).pass(5_000);
}

describe('a reflex', () => {
  it('a reflex holds as long as only time has passed', () => {
    const { state } = lifeOf(mainConfig());
    const known = { state, wakeAtMs: 7_000_000 };
    const later = { ...state, now: instant(state.now.mono + 1_000) };
    assert.ok(isUnchanged(known, { state: later, wakeAtMs: 7_000_000 }));
    assert.ok(!isUnchanged(known, { state: later, wakeAtMs: undefined }));
    assert.ok(!isUnchanged(known, { state: { ...state, peers: {} }, wakeAtMs: 7_000_000 }));
  });
});

describe('the end with the mains', () => {
  const [A, B] = ['a'.repeat(32), 'b'.repeat(32)];
  const a = alive('a', { Incarnation: `${A}-1` });
  const b = alive('b', { Incarnation: `${B}-1` });

  function endFor(change: Partial<MemberConfig>, ...peers: readonly PeerView[]): ReturnType<typeof endWithMains> {
    const config = sidecarConfig(change);
    const { state } = lifeOf(config, peers);
    const end = endWithMains(config, state);
    if (end === undefined || end.needed === 0) return undefined;
    const names = end.mains.map(({ name }) => name);
    const enough = end.needed === 1 ? names.map((name) => [name]) : [names];
    for (const mains of enough)
      assert.equal(
        differenceOf(config, state, { mains, signal: end.signal, at: instant(state.now.mono + 77) }),
        undefined,
      );
    return end;
  }

  it('a sidecar ends with all of its mains, or with any of them', () => {
    const mains = [
      { name: 'a', hostId: A },
      { name: 'b', hostId: B },
    ];
    assert.deepEqual(endFor({ mains: ['a', 'b'] }, a, b), { needed: 2, signal: 15, holds: true, mains });
    assert.deepEqual(endFor({}, a, b), { needed: 2, signal: 15, holds: true, mains });
    assert.deepEqual(endFor({ mains: ['a', 'b'], when: 'any' }, a, b), { needed: 1, signal: 15, holds: true, mains });
    assert.deepEqual(endFor({ mains: ['a', 'b'], when: 'any' }, a), {
      needed: 1,
      signal: 15,
      holds: false,
      mains: [mains[0]],
    });
    assert.deepEqual(endFor({ mains: ['a', 'b'] }, a, dead('b', 0)), {
      needed: 1,
      signal: 15,
      holds: true,
      mains: [mains[0]],
    });
  });

  it('the end with the mains sends the first rung of the ladder', () => {
    const ladder = [
      { signal: 3, forMs: 1_000 },
      { signal: 15, forMs: undefined },
    ];
    assert.equal(endFor({ mains: ['a'], ladder }, a)?.signal, 3);
    assert.equal(endFor({ mains: ['a'], ladder: [{ signal: 9, forMs: undefined }] }, a), undefined);
  });

  it('a reflex holds a stop request only if these mains are all that is waited for', () => {
    const holds = (change: Partial<MemberConfig>, ...peers: readonly PeerView[]): boolean | undefined => {
      const config = sidecarConfig({ mains: ['a'], restartPolicy: 'Always', ...change });
      return endWithMains(config, lifeOf(config, peers).state)?.holds;
    };
    assert.equal(holds({}, a), true);
    assert.equal(holds({ hold: { kind: 'never' } }, a), false);
    assert.equal(holds({ hold: { kind: 'for', ms: 2_000 } }, a), false);
    assert.equal(holds({ drain: fixed(5_000) }, a), false);
    assert.equal(holds({ preStop: command('pre-stop') }, a), false);
    assert.equal(holds({ mains: ['a', 'b'] }, a), undefined, 'one was not seen yet');
  });

  it('an end with the mains that has to wait is left to the supervisor', () => {
    for (const change of [{ lingerMs: 1_000 }, { preStop: command('pre-stop') }])
      assert.equal(endFor({ mains: ['a'], ...change }, a), undefined, JSON.stringify(change));
    assert.equal(endFor({ mains: ['a', 'b'] }, a), undefined, 'one was not seen yet');
    assert.equal(endFor({ mains: ['a'] }, alive('a', { Incarnation: `${A}-1` }, { liveness: 'none' })), undefined);
    assert.equal(endFor({ mains: ['a'] }, alive('a', { Incarnation: 'of another kind-1' })), undefined);
    const late = alive('late', { Incarnation: `${B}-1`, StartAfter: ['self'], Role: 'sidecar' });
    assert.equal(endFor({ mains: ['a'] }, a, late), undefined, 'one that started after it still lives');
  });

  it('the end with the mains is for a sidecar alone, and not beside a stop', () => {
    assert.equal(endWithMains(mainConfig(), lifeOf(mainConfig(), [a]).state), undefined);
    const config = sidecarConfig({ mains: ['a'] });
    const beside = endWithMains(config, lifeOf(config, [a]).signal(15).state);
    assert.deepEqual(beside, { needed: 0, signal: 15, holds: false, mains: [{ name: 'a', hostId: A }] });
  });

  it('a child that is stopped in the same moment gets no second signal', () => {
    const life = lifeOf(sidecarConfig({ mains: ['a'] }), [a]);
    const before = life.signal(15).state;
    life.feed({ type: 'ordered', id: 1, row: 'mains', signal: 0, as: 15, senderPid: 0, receiverPid: 101 });
    assert.equal(before.climb, undefined, 'it holds for its main');
    assert.equal(life.state.climb?.rung, 0);
    assert.deepEqual(life.signals, []);
  });
});
