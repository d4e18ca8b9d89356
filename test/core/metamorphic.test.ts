/** Pairs of lives that must come to the same end. fast-check prints the seed of a run that fails. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { PeerView } from '../../src/core/state/peer.ts';
import { child, config, peers, perform, schedule } from './arbitraries.ts';
import { revived } from './helpers.ts';
import { Life } from './life.ts';
import '../helpers/seeded.ts';

const RUNS = { numRuns: 600 };

describe('pairs of lives', () => {
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
      RUNS,
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
      RUNS,
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
      RUNS,
    );
  });
});

function outcome(life: Life): object {
  const { exits, signals, spawns, phase } = life;
  const { History: _history, ...tombstone } = life.tombstone;
  return { exits, signals, spawns, phase, tombstone };
}
