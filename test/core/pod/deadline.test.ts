import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import { earlier, endOfWaiting, killAtMs, lastTurnMs, platformDeadline } from '../../../src/core/pod/deadline.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import type { Deadline, Stop } from '../../../src/core/state/state.ts';
import {
  ADAPTIVE_DRAIN,
  alive,
  command,
  dead,
  fixed,
  mainConfig,
  peersOf,
  START,
  sidecarConfig,
  stateAt,
  stopping,
} from '../helpers.ts';
import { Life } from '../life.ts';

const of = (atMs: number, kills = true, sinceMs = 0): Deadline => ({ atMs, sinceMs, kills, shared: kills });

describe('the arithmetic of a deadline', () => {
  it('a declared grace period runs from the request, ends in our KILL and is shared', () => {
    const declared = platformDeadline(mainConfig({ gracePeriodMs: 5_000 }), 100);
    assert.deepEqual(declared, { atMs: 5_100, sinceMs: 100, kills: true, shared: true });
  });

  it('an undeclared grace period is assumed to be 30 s, and kills and binds no one', () => {
    const assumed = platformDeadline(mainConfig(), 100);
    assert.deepEqual(assumed, { atMs: 30_100, sinceMs: 100, kills: false, shared: false });
  });

  it('the last turn is 2 s before the deadline, or half of a short budget', () => {
    assert.equal(lastTurnMs(of(30_000)), 28_000);
    assert.equal(lastTurnMs(of(4_000)), 2_000);
    assert.equal(lastTurnMs(of(1_000)), 500);
    assert.equal(lastTurnMs(of(0)), 0);
  });

  it('our KILL is 500 ms before the platform’s, or a twentieth of a short budget', () => {
    assert.equal(killAtMs(of(30_000)), 29_500);
    assert.equal(killAtMs(of(2_000)), 1_900);
    assert.equal(killAtMs(of(0)), 0);
  });

  it('N32 the earlier of two deadlines counts, and one that counts beats an assumed one', () => {
    assert.equal(earlier(of(5), of(9)).atMs, 5);
    assert.equal(earlier(of(9), of(5)).atMs, 5);
    assert.equal(earlier(undefined, of(5)).atMs, 5);
    assert.deepEqual(earlier(of(5, false), of(9)), of(9));
    assert.deepEqual(earlier(of(9), of(5, false)), of(9));
  });
});

describe('a deadline that others have written', () => {
  it('the earliest deadline of living members that stop is adopted', () => {
    assert.equal(adopted(stopping('a', START + 9_000), stopping('b', START + 4_000), alive('c')), START + 4_000);
    assert.equal(adopted(stopping('a')), undefined);
  });

  it('a deadline of dead, foreign or lone members, or of the past, is not adopted', () => {
    const died = (DiedMonotonic: number): PeerView =>
      dead('a', 0, stopping('a', START + 9_000, { ...dead('a', 0).tombstone, DiedMonotonic }).tombstone);
    assert.equal(adopted({ ...stopping('a', START + 9_000), liveness: 'lost', lostAt: START }), undefined);
    assert.equal(adopted(died(START - 1)), undefined);
    assert.equal(adopted(died(START + 1)), START + 9_000);
    assert.equal(adopted(stopping('a', START + 9_000, { StopScope: 'container' })), undefined);
    assert.equal(adopted(stopping('a', START + 9_000, { Boot: 'another' })), undefined);
    assert.equal(adopted(stopping('a', START + 9_000, { Session: 'theirs' })), undefined);
    assert.equal(adopted(stopping('a', START - 1)), undefined);
  });

  it('a deadline of another does not matter to a member that does not stop', () => {
    const life = new Life({ config: sidecarConfig(), peers: [stopping('a', START + 4_000)] }).pass(60_000);
    assert.deepEqual([life.deadlineMs, life.signals, life.phase], [undefined, [], 'running']);
  });

  it('A1 N32 a shorter deadline of another ends the waiting, and no command', () => {
    const config = mainConfig({ gracePeriodMs: 10_000, drain: { kind: 'fixed', ms: 9_000 } });
    const life = new Life({ config, child: { on: { 15: 'ignores' } }, peers: [] }).signal(15);
    life.see(stopping('a', START + 20_000)).see(stopping('a', START + 5_000));
    assert.equal(life.deadlineMs, 10_000);
    life.passUntilGone();
    assert.deepEqual([life.sent, life.exitedAtMs, life.exitCode], ['3000 TERM, 9500 KILL', 9_500, 137]);
  });

  it('A1 a deadline of another never ends a command without a declared grace period', () => {
    const life = new Life({ config: mainConfig(), child: { on: { 15: 'ignores' } }, peers: [] }).signal(15);
    life.see(stopping('a', START + 4_000)).pass(100_000);
    assert.deepEqual([life.signals, life.phase], [[[0, 15]], 'stopping']);
  });

  it('A1 a deadline of another ends a hold and a pre-stop hook', () => {
    const holding = new Life({ config: sidecarConfig({ gracePeriodMs: 30_000 }), peers: [alive('work')] }).signal(15);
    holding.see(alive('work'), stopping('a', START + 5_000)).pass(20_000);
    assert.equal(holding.sent, '3000 TERM');
    const config = mainConfig({ gracePeriodMs: 30_000, preStop: command('/bin/flush') });
    const hooked = new Life({ config, child: { actions: { '/bin/flush': ['never'] } }, peers: [] }).signal(15);
    hooked.see(stopping('a', START + 5_000)).pass(20_000);
    assert.deepEqual([hooked.signals, hooked.endsOf('/bin/flush')], [[[3_000, 15]], [3_000]]);
  });

  it('A1 the deadline of a partial stop counts for its members alone', () => {
    const config = sidecarConfig({ gracePeriodMs: 30_000 });
    const named = new Life({ config, peers: [alive('work')] }).askToStop(4_000, ['self']);
    const [of, all] = [named.tombstone, new Life({ config, peers: [] }).askToStop(4_000).tombstone];
    assert.deepEqual([of.Deadline, of.StopScope], [START + 4_000, 'container']);
    assert.deepEqual([all.Deadline, all.StopScope], [START + 4_000, undefined]);
  });

  it('an assumed or adopted deadline is not written', () => {
    const life = new Life({ config: mainConfig(), child: { on: { 15: 'ignores' } }, peers: [] }).signal(15);
    assert.equal(life.tombstone.Deadline, undefined);
    assert.equal(life.see(stopping('a', START + 40_000)).tombstone.Deadline, undefined);
  });
});

function adopted(...peers: readonly PeerView[]): number | undefined {
  const stop: Stop = {
    origin: 'platform',
    reason: 'signal TERM',
    atMs: START,
    signal: 15,
    requests: 1,
    earliestMs: START,
    waitsFor: undefined,
  };
  const config = mainConfig({ session: 'ours' });
  return endOfWaiting(config, stateAt(START, { stop, peers: peersOf(...peers) }))?.atMs;
}

const DEAF = { on: { 15: 'ignores' as const } };

function asked(change: Partial<MemberConfig>): Life {
  const config = mainConfig({ gracePeriodMs: 60_000, graceFloorMs: 10_000, ...change });
  return new Life({ config, peers: [], child: DEAF }).pass(5_000).signal(15);
}

function heldBy(change: Partial<MemberConfig> = {}): Life {
  const config = sidecarConfig({ gracePeriodMs: 60_000, graceFloorMs: 10_000, ...change });
  return new Life({ config, peers: [alive('a')], child: DEAF }).pass(5_000).signal(15);
}

const signals = ({ done }: Life): readonly number[] =>
  done.flatMap(({ effect }) => ('signal' in effect ? [effect.signal] : []));

describe('C3: a declared grace floor', () => {
  it('C3: a grace floor ends a drain 2 s before the KILL, and the command keeps the rest', () => {
    const life = asked({ drain: fixed(30_000) }).pass(7_999);
    assert.deepEqual(signals(life), []);
    assert.deepEqual(signals(life.pass(1)), [15]);
    assert.deepEqual(signals(life.pass(51_000)), [15]);
    assert.deepEqual(signals(life.pass(1_000)), [15, 9]);
  });

  it('C3: a grace floor ends an adaptive drain, which says so', () => {
    const life = asked({ drain: { ...ADAPTIVE_DRAIN, maxMs: 30_000 } }).pass(8_000);
    assert.deepEqual([signals(life), life.state.traffic?.ended], [[15], 'grace floor']);
  });

  it('C3: a grace floor ends the hold of a sidecar 1 s before the KILL', () => {
    const life = heldBy().pass(8_999);
    assert.deepEqual([signals(life), life.state.phase], [[], 'holding']);
    assert.deepEqual(signals(life.pass(1)), [15]);
  });

  it('C3: a short grace floor leaves a main half of it, and a sidecar a quarter', () => {
    assert.deepEqual(signals(asked({ drain: fixed(5_000), graceFloorMs: 2_000 }).pass(999)), []);
    assert.deepEqual(signals(asked({ drain: fixed(5_000), graceFloorMs: 2_000 }).pass(1_000)), [15]);
    assert.deepEqual(signals(heldBy({ graceFloorMs: 2_000 }).pass(1_499)), []);
    assert.deepEqual(signals(heldBy({ graceFloorMs: 2_000 }).pass(1_500)), [15]);
  });

  it('C3: a grace floor ends a pre-stop hook, and begins none after it', () => {
    const preStop = { kind: 'sleep', ms: 30_000 } as const;
    const begun = ({ state }: Life): number => state.chronicle.history.filter(({ Event }) => Event === 'hook').length;
    const hook = asked({ preStop });
    assert.deepEqual([signals(hook.pass(7_999)), begun(hook)], [[], 1]);
    assert.deepEqual(signals(hook.pass(1)), [15]);
    const late = asked({ preStop, drain: fixed(30_000) }).pass(8_000);
    assert.deepEqual([signals(late), begun(late)], [[15], 0]);
  });

  it('C3: a grace floor counts from the request of the platform', () => {
    const config = mainConfig({ gracePeriodMs: 60_000, graceFloorMs: 10_000, drain: fixed(50_000) });
    const life = new Life({ config, peers: [], child: DEAF }).pass(5_000);
    life.feed({ type: 'stopAsked', graceMs: undefined, among: undefined });
    assert.deepEqual(signals(life.pass(20_000)), []);
    assert.deepEqual(signals(life.signal(15).pass(7_999)), []);
    assert.deepEqual(signals(life.pass(1)), [15]);
  });

  it('C3: without a grace floor a drain takes its time', () => {
    assert.deepEqual(signals(asked({ drain: fixed(30_000), graceFloorMs: undefined }).pass(29_999)), []);
  });
});
