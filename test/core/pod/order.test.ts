import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import { blockersOf, cycleThrough } from '../../../src/core/pod/order.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { MAINS_FINISHED, type Stop } from '../../../src/core/state/state.ts';
import { alive, dead, lost, mainConfig, peersOf, START, sidecarConfig, stateAt, waiting } from '../helpers.ts';

const after = (name: string) => ({ name, condition: 'started' as const, optional: false });

describe('who must be dead before whom', () => {
  it('a member stops after all who name it in StartAfter', () => {
    const config = mainConfig({ name: 'db' });
    const peers = [alive('app', { StartAfter: ['db'] }), alive('other', { StartAfter: ['cache'] })];
    assert.deepEqual(blockers(config, peers), ['app']);
    assert.deepEqual(blockers(config, [dead('app', 1, { StartAfter: ['db'] })]), []);
  });

  it('N18 a sidecar also stops after all mains, whether they name it or not', () => {
    const config = sidecarConfig({ name: 'proxy' });
    assert.deepEqual(blockers(config, [alive('a'), alive('b'), alive('log', { Role: 'sidecar' })]), ['a', 'b']);
    assert.deepEqual(blockers(config, [dead('a', 1, { Final: false }), dead('b', 0)]), []);
  });

  it('a main does not wait for other mains or for sidecars', () => {
    assert.deepEqual(blockers(mainConfig(), [alive('other'), alive('proxy', { Role: 'sidecar' })]), []);
  });

  it('a main does not wait for the sidecars that start after it: they end after the mains', () => {
    const config = mainConfig({ name: 'db' });
    assert.deepEqual(blockers(config, [alive('proxy', { Role: 'sidecar', StartAfter: ['db'] })]), []);
  });

  it('N22 who never started holds nobody up', () => {
    const config = sidecarConfig({ mains: ['a', 'b', 'ghost'] });
    assert.deepEqual(blockers(config, [waiting('a'), dead('b', 143, { Reason: 'never-started' })]), []);
  });

  it('who vanished holds the others up until it counts as lost, and no longer', () => {
    const config = sidecarConfig();
    const state = (at: number) => stateAt(at, { peers: peersOf(lost('a', START)) });
    assert.deepEqual(blockersOf(config, state(START + 1_999)), { names: ['a'], untilMs: START + 2_000 });
    assert.deepEqual(blockersOf(config, state(START + 2_000)), { names: [], untilMs: undefined });
  });

  it('with `any`, the mains that go on do not keep a sidecar that has decided, but those who started after it do', () => {
    const config = sidecarConfig({ name: 'proxy', when: 'any' });
    const peers = [
      dead('a', 0),
      alive('b', { StartAfter: ['proxy'] }),
      alive('log', { Role: 'sidecar', StartAfter: ['proxy'] }),
    ];
    assert.deepEqual(blockers(config, peers, MAINS_FINISHED), ['log']);
    assert.deepEqual(blockers(config, peers, 'signal TERM'), ['b', 'log']);
  });

  it('other sessions and boots hold nobody up', () => {
    const config = sidecarConfig({ name: 'proxy', session: 'ours' });
    const StartAfter = ['proxy'];
    assert.deepEqual(
      blockers(config, [alive('a', { Session: 'theirs', StartAfter }), alive('b', { Boot: 'x', StartAfter })]),
      [],
    );
  });

  it('a member may be called `constructor`', () => {
    assert.deepEqual(blockers(sidecarConfig({ mains: ['constructor'] }), []), []);
  });
});

describe('circles of start gates', () => {
  it('there is none in a chain, nor in a circle of others', () => {
    const config = mainConfig({ name: 'app', startAfter: [after('db')] });
    const state = stateAt(START, {
      peers: peersOf(alive('db', { StartAfter: ['x'] }), alive('x', { StartAfter: ['db'] })),
    });
    assert.equal(cycleThrough(config, state), undefined);
  });

  it('one that leads back to us is told name by name', () => {
    const config = mainConfig({ name: 'app', startAfter: [after('db')] });
    const state = stateAt(START, {
      peers: peersOf(waiting('db', { StartAfter: ['net'] }), waiting('net', { StartAfter: ['app'] })),
    });
    assert.deepEqual(cycleThrough(config, state), ['app', 'db', 'net', 'app']);
  });

  it('what another session or another boot has left makes no circle', () => {
    const config = mainConfig({ name: 'app', session: 'ours', startAfter: [after('db'), after('net')] });
    const left = [
      dead('db', 0, { Session: 'theirs', StartAfter: ['app'] }),
      dead('net', 0, { Boot: 'x', StartAfter: ['app'] }),
    ];
    assert.equal(cycleThrough(config, stateAt(START, { peers: peersOf(...left) })), undefined);
  });

  it('a gate on a member called `constructor` is no circle', () => {
    const config = mainConfig({ startAfter: [after('constructor')] });
    assert.equal(cycleThrough(config, stateAt(START, { peers: {} })), undefined);
  });
});

function blockers(config: MemberConfig, peers: readonly PeerView[], reason?: string): readonly string[] {
  const stop: Stop | undefined =
    reason === undefined
      ? undefined
      : { origin: 'self', reason, atMs: START, signal: 15, requests: 0, earliestMs: START, waitsFor: undefined };
  return blockersOf(config, stateAt(START, { peers: peersOf(...peers), stop })).names;
}
