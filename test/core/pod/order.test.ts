import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import { blockersOf, cycleThrough } from '../../../src/core/pod/order.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { MAINS_FINISHED, type Stop } from '../../../src/core/state/state.ts';
import { alive, dead, lost, mainConfig, peersOf, START, sidecarConfig, stateAt, waiting } from '../helpers.ts';

const after = (name: string) => ({ name, condition: 'started' as const, optional: false });

describe('the order of a stop', () => {
  const DB = mainConfig({ name: 'db' });
  const PROXY = sidecarConfig({ name: 'proxy' });
  const StartAfter = ['proxy'];
  const ANY = [dead('a', 0), alive('b', { StartAfter }), alive('log', { Role: 'sidecar', StartAfter })];
  const ANY_OF = { ...PROXY, when: 'any' } as const;
  const log = alive('log', { Role: 'sidecar' });
  const late = alive('proxy', { Role: 'sidecar', StartAfter: ['db'] });
  const other = alive('other', { StartAfter: ['cache'] });
  const foreign = [alive('a', { Session: 'theirs', StartAfter }), alive('b', { Boot: 'x', StartAfter })];
  const unstarted = [waiting('a'), dead('b', 143, { Reason: 'never-started' })];
  const TABLE: readonly (readonly [title: string, MemberConfig, PeerView[], names: string[], reason?: string])[] = [
    ['a member stops after all that name it in StartAfter', DB, [alive('app', { StartAfter: ['db'] }), other], ['app']],
    ['a member does not wait for the dead', DB, [dead('app', 1, { StartAfter: ['db'] })], []],
    ['N18 a sidecar stops after all mains', PROXY, [alive('a'), alive('b'), log], ['a', 'b']],
    ['a sidecar does not wait for dead mains', PROXY, [dead('a', 1, { Final: false }), dead('b', 0)], []],
    ['a main waits for no other main or sidecar', mainConfig(), [alive('x'), alive('proxy', { Role: 'sidecar' })], []],
    ['a main waits for no sidecar that started after it', DB, [late], []],
    ['N22 a member that never started holds up no other', sidecarConfig({ mains: ['a', 'b', 'ghost'] }), unstarted, []],
    ['with `any` running mains do not keep a sidecar that has decided', ANY_OF, ANY, ['log'], MAINS_FINISHED],
    ['with `any` running mains keep a sidecar that is asked', ANY_OF, ANY, ['b', 'log'], 'signal TERM'],
    ['members of other sessions and boots hold up no other', { ...PROXY, session: 'ours' }, foreign, []],
  ];
  for (const [title, config, peers, names, reason] of TABLE)
    it(title, () => assert.deepEqual(blockers(config, peers, reason), names));

  it('a member that vanished holds up others until it counts as lost', () => {
    const state = (at: number) => stateAt(at, { peers: peersOf(lost('a', START)) });
    const config = sidecarConfig();
    assert.deepEqual(blockersOf(config, state(START + 1_999)), { names: ['a'], untilMs: START + 2_000 });
    assert.deepEqual(blockersOf(config, state(START + 2_000)), { names: [], untilMs: undefined });
  });
});

describe('circles of start gates', () => {
  const APP = mainConfig({ name: 'app', startAfter: [after('db')] });
  const theirs = dead('db', 0, { Session: 'theirs', StartAfter: ['app'] });
  const chain = [alive('db', { StartAfter: ['x'] }), alive('x', { StartAfter: ['db'] })];
  const circle = [waiting('db', { StartAfter: ['net'] }), waiting('net', { StartAfter: ['app'] })];
  const TABLE: readonly (readonly [title: string, MemberConfig, PeerView[], names: string[] | undefined])[] = [
    ['a chain, and a circle of others, are no circle of ours', APP, chain, undefined],
    ['a circle back to us is named member by member', APP, circle, ['app', 'db', 'net', 'app']],
    ['leftovers of another session make no circle', { ...APP, session: 'ours' }, [theirs], undefined],
    ['leftovers of another boot make no circle', APP, [dead('db', 0, { Boot: 'x', StartAfter: ['app'] })], undefined],
    ['a gate on `constructor` is no circle', mainConfig({ startAfter: [after('constructor')] }), [], undefined],
  ];
  for (const [title, config, peers, names] of TABLE)
    it(title, () => assert.deepEqual(cycleThrough(config, stateAt(START, { peers: peersOf(...peers) })), names));
});

function blockers(config: MemberConfig, peers: readonly PeerView[], reason?: string): readonly string[] {
  const stop: Stop | undefined =
    reason === undefined
      ? undefined
      : { origin: 'self', reason, atMs: START, signal: 15, requests: 0, earliestMs: START, waitsFor: undefined };
  return blockersOf(config, stateAt(START, { peers: peersOf(...peers), stop })).names;
}
