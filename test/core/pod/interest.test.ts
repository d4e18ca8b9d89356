/** Members that do not matter change nothing: a member does the same whether it knows them or not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { MemberConfig } from '../../../src/core/config.ts';
import { reduce } from '../../../src/core/lifecycle/lifecycle.ts';
import { isQuiet, mattersTo } from '../../../src/core/pod/interest.ts';
import { leftoversOfOtherSessions } from '../../../src/core/pod/standing.ts';
import type { Event } from '../../../src/core/state/events.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import type { State } from '../../../src/core/state/state.ts';
import { child, config, peers, perform, schedule } from '../arbitraries.ts';
import { alive, mainConfig, revived, sidecarConfig } from '../helpers.ts';
import { Life, type Step } from '../life.ts';
import '../../helpers/seeded.ts';

describe('mattersTo', () => {
  it('without members that do not matter each step has the same effects', () => {
    let leftOut = 0;
    const worlds = [config, child, fc.option(peers, { nil: undefined }), schedule] as const;
    fc.assert(
      fc.property(...worlds, (member, script, found, actions) => {
        const observe = (step: Step): void => {
          leftOut += compare(member, step);
        };
        const life = new Life({ config: member, child: script, peers: found, observe });
        for (const action of actions) perform(life, action);
        life.pass(100_003);
      }),
      { numRuns: 600 },
    );
    assert.ok(leftOut > 600, `only ${leftOut} steps had somebody to leave out`);
  });

  it('members that started after it matter to a main, and mains to a sidecar', () => {
    const matters = (member: MemberConfig, { tombstone }: PeerView): boolean => mattersTo(member, 'own', tombstone);
    const [main, sidecar] = [alive('work', { Role: 'main' }), alive('other', { Role: 'sidecar' })];
    assert.equal(matters(mainConfig(), main), false);
    assert.equal(matters(mainConfig(), sidecar), false);
    assert.equal(matters(mainConfig(), alive('other', { Role: 'main', StartAfter: ['self'] })), true);
    assert.equal(matters(sidecarConfig(), main), true);
    assert.equal(matters(sidecarConfig({ mains: ['else'] }), main), false);
    assert.equal(matters(sidecarConfig(), sidecar), false);
    // Links of a circle of start gates: us after `other`, `other` after `third`.
    const waits = mainConfig({ startAfter: [{ name: 'other', condition: 'started', optional: false }] });
    assert.equal(matters(waits, alive('third', { Role: 'sidecar', StartAfter: ['self'] })), true);
    assert.equal(matters(waits, alive('second', { Role: 'sidecar', StartAfter: ['third'] })), true);
  });
});

/** Returns 1 if there was a member to leave out, else 0. */
function compare(member: MemberConfig, { before, event, after, effects, wakeAtMs }: Step): number {
  const business = before.stop !== undefined || after.stop !== undefined ? 'stop' : 'own';
  const told = event.type === 'peersSeen' ? event.peers : [];
  const known = Object.values(before.peers ?? {});
  const near = new Set(
    [...known, ...told]
      .filter(({ tombstone }) => mattersTo(member, business, tombstone))
      .map(({ tombstone }) => tombstone.Name),
  );
  const isNear = ({ tombstone }: PeerView): boolean => near.has(tombstone.Name);
  if (known.every(isNear) && told.every(isNear)) return 0;
  const left = before.peers && Object.fromEntries(Object.entries(before.peers).filter(([, peer]) => isNear(peer)));
  const without: State = { ...before, peers: left };
  const less: Event = event.type === 'peersSeen' ? { ...event, peers: told.filter(isNear) } : event;
  const again = reduce(member, without, less);
  assert.deepEqual([again.effects, again.wakeAtMs], [effects, wakeAtMs]);
  assert.deepEqual(revived(again.state), revived(after));
  assert.deepEqual(leftoversOfOtherSessions(member, again.state), leftoversOfOtherSessions(member, after));
  return 1;
}

describe('isQuiet', () => {
  const quiet = (member: MemberConfig, { tombstone }: PeerView): boolean => isQuiet(member, tombstone);

  it('a quiet member does not matter, whatever it may still write', () => {
    assert.equal(quiet(mainConfig(), alive('other', { Role: 'main' })), true);
    assert.equal(quiet(sidecarConfig({ mains: ['else'] }), alive('other', { Role: 'sidecar' })), true);
    assert.equal(quiet(sidecarConfig(), alive('other', { Role: 'main' })), false);
  });

  it('a sidecar is not quiet for a main, which is warned when it leaves', () => {
    assert.equal(quiet(mainConfig(), alive('other', { Role: 'sidecar' })), false);
  });

  it('a member that may need an answer about the stop is not quiet', () => {
    assert.equal(quiet(mainConfig({ platformPreStopMs: 1_000 }), alive('other', { Role: 'main' })), false);
  });

  it('a dead member is not quiet: its next tombstone is that of another life', () => {
    assert.equal(quiet(mainConfig(), alive('other', { Role: 'main', Died: '2026-01-02T03:04:05Z' })), false);
  });
});
