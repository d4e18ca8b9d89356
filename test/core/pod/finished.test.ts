import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig, RestartPolicy } from '../../../src/core/config.ts';
import { mainsStateOf } from '../../../src/core/pod/finished.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { alive, dead, kubexit, lost, peersOf, START, sidecarConfig, stateAt, stopping, waiting } from '../helpers.ts';
import { Life } from '../life.ts';

/** The pod's policy, how the main ended, whether it has finished. */
const TABLE: readonly (readonly [RestartPolicy, string, PeerView, boolean])[] = [
  ['Never', 'exit 0', dead('work', 0), true],
  ['Never', 'exit 1', dead('work', 1), true],
  ['Never', 'a signal', dead('work', 143, { Signal: 'SIGTERM', Reason: 'killed' }), true],
  ['Never', 'vanishing', lost('work', START - 2_000), true],
  ['Never', 'never having started', dead('work', 125, { Reason: 'never-started' }), true],
  ['OnFailure', 'exit 0', dead('work', 0), true],
  ['OnFailure', 'exit 1', dead('work', 1), false],
  ['OnFailure', 'a signal', dead('work', 137, { Signal: 'SIGKILL', Reason: 'killed' }), false],
  ['OnFailure', 'vanishing', lost('work', START - 2_000, { RestartPolicy: 'OnFailure' }), false],
  ['OnFailure', 'never having started', dead('work', 125, { Reason: 'never-started' }), false],
  ['Always', 'exit 0', dead('work', 0), false],
  ['Always', 'exit 1', dead('work', 1), false],
  ['Always', 'a signal', dead('work', 143, { Signal: 'SIGTERM' }), false],
  ['Always', 'vanishing', lost('work', START - 2_000, { RestartPolicy: 'Always' }), false],
  ['Never', 'an exit 0 in the format of kubexit', kubexit('work', 0), true],
  ['Never', 'an exit -1 in the format of kubexit', kubexit('work', -1), true],
  ['OnFailure', 'an exit 0 in the format of kubexit', kubexit('work', 0), true],
  ['OnFailure', 'an exit -1 in the format of kubexit', kubexit('work', -1), false],
  ['Always', 'an exit 0 in the format of kubexit', kubexit('work', 0), false],
];

describe('what counts as finished', () => {
  for (const [restartPolicy, how, peer, isFinished] of TABLE)
    it(`under ${restartPolicy} ${how} of a main is ${isFinished ? '' : 'not '}its finish`, () => {
      assert.equal(finished(sidecarConfig({ restartPolicy, mains: ['work'] }), peer), isFinished);
    });

  it('the judgement of the member that died beats our own policy, both ways', () => {
    assert.equal(finished(sidecarConfig({ restartPolicy: 'Never' }), dead('work', 1, { Final: false })), false);
    assert.equal(finished(sidecarConfig({ restartPolicy: 'Always' }), dead('work', 0, { Final: true })), true);
    assert.equal(finished(sidecarConfig({ restartPolicy: 'OnFailure' }), dead('work', 1, { Final: true })), true);
  });

  it('J17 a main that vanished is judged by the policy it had declared while it lived', () => {
    const vanished = (RestartPolicy: RestartPolicy) => lost('work', START - 2_000, { RestartPolicy });
    assert.equal(finished(sidecarConfig({ restartPolicy: 'Never' }), vanished('OnFailure')), false);
    assert.equal(finished(sidecarConfig({ restartPolicy: 'OnFailure' }), vanished('Never')), true);
  });

  it('J01, J05 a main that runs, waits or is restarted in place has not finished', () => {
    for (const peer of [alive('work'), waiting('work'), alive('work', { Phase: 'backoff' })])
      assert.equal(finished(sidecarConfig(), peer), false);
  });

  it('J10 with `all`, one of two mains that still runs keeps the sidecars', () => {
    assert.equal(finished(sidecarConfig({ mains: ['a', 'b'] }), dead('a', 0), alive('b')), false);
    assert.equal(finished(sidecarConfig({ mains: ['a', 'b'] }), dead('a', 0), dead('b', 1)), true);
  });

  it('with `any`, one finished main is enough', () => {
    const config = sidecarConfig({ mains: ['a', 'b'], when: 'any' });
    assert.equal(finished(config, dead('a', 0), alive('b')), true);
    assert.equal(finished(config, alive('a'), alive('b')), false);
  });

  it('with no roster every member that was seen with role main counts, sidecars do not', () => {
    assert.equal(finished(sidecarConfig(), dead('a', 0), alive('proxy', { Role: 'sidecar' })), true);
    assert.equal(finished(sidecarConfig(), dead('a', 0), alive('b')), false);
  });

  it('with no roster and no main seen yet nothing has finished', () => {
    assert.equal(finished(sidecarConfig()), false);
    assert.equal(finished(sidecarConfig(), dead('proxy', 0, { Role: 'sidecar' })), false);
  });

  it('a main of another session is no main of ours', () => {
    const config = sidecarConfig({ session: 'ours' });
    assert.equal(finished(config, dead('a', 0, { Session: 'theirs' })), false);
    assert.equal(finished(config, dead('a', 0, { Session: 'ours' }), alive('b', { Session: 'theirs' })), true);
  });

  it('J18 a name in the roster that nobody carries has not finished', () => {
    assert.equal(finished(sidecarConfig({ mains: ['work', 'wrok'] }), dead('work', 0)), false);
  });

  it('a roster may name what no object should: `constructor` is a member like any other', () => {
    assert.equal(finished(sidecarConfig({ mains: ['constructor'] }), dead('work', 0)), false);
    assert.equal(finished(sidecarConfig({ mains: ['constructor'] }), dead('constructor', 0)), true);
  });

  it('a judgement that time alone may change says when', () => {
    const peers = peersOf(lost('a', START + 1_000), dead('b', 0, { DiedMonotonic: START - 5 }, { foundAtStart: true }));
    const verdict = mainsStateOf(sidecarConfig(), stateAt(START + 1_500, { peers }));
    assert.deepEqual(verdict, { finished: false, untilMs: START + 3_000 });
  });
});

describe('in a restart in place', () => {
  const config = sidecarConfig({ mains: ['work'] });
  const asked = {
    StopRequested: 'now',
    StopReason: 'restart requested',
    RestartRequested: START + 1,
    RestartBy: 'a test',
  };
  const inMidst = stopping('other', START + 60_000, asked);

  it('a sidecar whose mains finish meanwhile leaves, and waits for no other member', () => {
    const life = new Life({ config, peers: [alive('work'), alive('other')] }).pass(1_000);
    life.see(alive('work', { ...asked, Phase: 'waiting' }), inMidst).pass(1_000);
    assert.deepEqual([life.phase, life.spawns.length, life.exitCode], ['waiting', 1, undefined]);
    life.see(dead('work', 0, { Final: true }), inMidst).pass(1_000);
    assert.deepEqual([life.exitCode, life.spawns.length, life.tombstone.StopReason], [0, 1, 'mains finished']);
  });

  it('a sidecar that still stops when its mains finish gets its signal once, and is not started again', () => {
    const child = { on: { 15: { afterMs: 3_000, code: 0 } } } as const;
    const life = new Life({ config, child, peers: [alive('work'), alive('other')] }).pass(1_000);
    life.see(alive('work', { ...asked, Phase: 'waiting' }), inMidst).pass(1_000);
    life.see(dead('work', 0, { Final: true }), inMidst).pass(10_000);
    assert.deepEqual([life.signals.length, life.exitCode, life.spawns.length], [1, 0, 1]);
  });
});

function finished(config: MemberConfig, ...peers: readonly PeerView[]): boolean {
  return mainsStateOf(config, stateAt(START, { peers: peersOf(...peers) })).finished;
}
