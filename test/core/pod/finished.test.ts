import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig, RestartPolicy } from '../../../src/core/config.ts';
import { mainsStateOf } from '../../../src/core/pod/finished.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { alive, dead, kubexit, lost, peersOf, START, sidecarConfig, stateAt, stopping, waiting } from '../helpers.ts';
import { Life, sidecar } from '../life.ts';

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

  const vanished = (RestartPolicy: RestartPolicy) => lost('work', START - 2_000, { RestartPolicy });
  const ALWAYS = { restartPolicy: 'Always' } as const;
  const ON_FAILURE = { restartPolicy: 'OnFailure' } as const;
  const OURS = { session: 'ours' };
  const theirs = alive('b', { Session: 'theirs' });
  const TWO = { mains: ['a', 'b'] };
  const CASES: readonly (readonly [title: string, Partial<MemberConfig>, readonly PeerView[], boolean])[] = [
    ['a death that calls itself not final is not one under Never', {}, [dead('work', 1, { Final: false })], false],
    ['a death that calls itself final is one under Always', ALWAYS, [dead('work', 0, { Final: true })], true],
    ['a failure that calls itself final is one under OnFailure', ON_FAILURE, [dead('work', 1, { Final: true })], true],
    ['J17 a vanished main that declared OnFailure is not over', {}, [vanished('OnFailure')], false],
    ['J17 a vanished main that declared Never is over', ON_FAILURE, [vanished('Never')], true],
    ['J01, J05 a running main has not finished', {}, [alive('work')], false],
    ['J01, J05 a waiting main has not finished', {}, [waiting('work')], false],
    ['J01, J05 a main between two lives has not finished', {}, [alive('work', { Phase: 'backoff' })], false],
    ['J10 one of two mains that runs is enough to go on', TWO, [dead('a', 0), alive('b')], false],
    ['two finished mains have finished', TWO, [dead('a', 0), dead('b', 1)], true],
    ['with `any` one finished main is enough', { ...TWO, when: 'any' }, [dead('a', 0), alive('b')], true],
    ['with `any` two running mains have not finished', { ...TWO, when: 'any' }, [alive('a'), alive('b')], false],
    ['without a roster a sidecar is no main', {}, [dead('a', 0), alive('proxy', { Role: 'sidecar' })], true],
    ['without a roster every main counts', {}, [dead('a', 0), alive('b')], false],
    ['without a roster and a main nothing has finished', {}, [], false],
    ['without a roster a dead sidecar finishes nothing', {}, [dead('proxy', 0, { Role: 'sidecar' })], false],
    ['a dead main of another session finishes nothing', OURS, [dead('a', 0, { Session: 'theirs' })], false],
    ['a live main of another session keeps no sidecar', OURS, [dead('a', 0, { Session: 'ours' }), theirs], true],
    ['J18 a name in the roster may be wrong', { mains: ['work', 'wrok'] }, [dead('work', 0)], false],
    ['a roster may name `constructor`', { mains: ['constructor'] }, [dead('work', 0)], false],
    ['a main called `constructor` finishes like any other', { mains: ['constructor'] }, [dead('constructor', 0)], true],
  ];
  for (const [title, change, peers, isFinished] of CASES)
    it(title, () => assert.equal(finished(sidecarConfig(change), ...peers), isFinished));

  it('an answer that time alone may change says when', () => {
    const peers = peersOf(lost('a', START + 1_000), dead('b', 0, { DiedMonotonic: START - 5 }, { foundAtStart: true }));
    const mains = mainsStateOf(sidecarConfig(), stateAt(START + 1_500, { peers }));
    assert.deepEqual(mains, { finished: false, untilMs: START + 3_000 });
  });
});

describe('in a restart in place', () => {
  const config = sidecarConfig({ mains: ['work'] });
  const told = { RestartRequested: START + 1, RestartBy: 'a test' };
  const asked = { StopRequested: 'now', StopReason: 'restart requested', ...told };
  const inMidst = stopping('other', START + 60_000, asked);

  it('a sidecar whose mains finish in a restart leaves, and waits for no other', () => {
    const life = new Life({ config, peers: [alive('work'), alive('other')] }).pass(1_000);
    life.see(alive('work', { ...asked, Phase: 'waiting' }), inMidst).pass(1_000);
    assert.deepEqual([life.phase, life.spawns.length, life.exitCode], ['waiting', 1, undefined]);
    life.see(dead('work', 0, { Final: true }), inMidst).pass(1_000);
    assert.deepEqual([life.exitCode, life.spawns.length, life.tombstone.StopReason], [0, 1, 'mains finished']);
  });

  it('a sidecar that stops in a restart when its mains finish gets its signal once', () => {
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

const DEAF = { on: { 15: 'ignores' } } as const;
const twoMains = { mains: ['a', 'b'] } as const;

describe('a job with sidecars', () => {
  it('J01, J05, J10, J15 nothing ends a sidecar while a main runs', () => {
    for (const restartPolicy of ['Never', 'OnFailure', 'Always'] as const) {
      const config = sidecarConfig({ restartPolicy, ...twoMains });
      const life = new Life({ config, peers: [alive('a'), alive('b')] }).see(dead('a', 0)).pass(3_600_000);
      assert.deepEqual([life.phase, life.signals], ['running', []], restartPolicy);
    }
  });

  it('J02, J04, J07 a finished main ends the sidecar at once, by one TERM, with 0', () => {
    for (const code of [0, 1]) {
      const life = new Life(sidecar()).pass(7_000).see(dead('work', code));
      assert.deepEqual([life.signals, life.exitCode], [[[7_000, 15]], 0]);
      assert.deepEqual([life.tombstone.StopReason, life.tombstone.Deadline], ['mains finished', undefined]);
    }
  });

  it('J03, J06, J09 nothing happens to a sidecar that has ended already', () => {
    const config = sidecarConfig({ restartPolicy: 'OnFailure', restart: 'never' });
    const life = new Life({ config, peers: [alive('work')] }).endChild(0).see(dead('work', 1)).pass(60_000);
    assert.deepEqual([life.exits.length, life.exitCode, life.signals, life.spawns.length], [1, 0, [], 1]);
  });

  it('K06, J06 under OnFailure a sidecar stays through a failure and ends after the success', () => {
    const life = new Life(sidecar({ restartPolicy: 'OnFailure' })).pass(1_000).see(dead('work', 1, { Final: false }));
    assert.deepEqual([life.pass(60_000).phase, life.signals], ['running', []]);
    life
      .see(waiting('work', { Incarnation: 'again-0' }))
      .see(alive('work', { Incarnation: 'again-1' }))
      .pass(1_000);
    assert.deepEqual(life.signals, []);
    assert.equal(life.see(dead('work', 0, { Incarnation: 'again-1', Final: true })).exitCode, 0);
  });

  it('J08 two finished mains end a sidecar that runs and one that has not started yet', () => {
    const config = sidecarConfig(twoMains);
    const running = new Life({ config, peers: [alive('a'), alive('b')] }).see(dead('a', 0), dead('b', 0));
    assert.deepEqual([running.exitCode, running.spawns.length], [0, 1]);
    const gate = { name: 'db', condition: 'started', optional: false } as const;
    const gated = new Life({ config: { ...config, startAfter: [gate] }, peers: [alive('a'), alive('b')] }).pass(100);
    gated.see(dead('a', 0), dead('b', 0));
    assert.deepEqual([gated.exitCode, gated.spawns.length], [0, 0]);
  });

  it('J11 a main that restarts after the decision is one error in the log', () => {
    const again = alive('work', { Incarnation: 'again-1' });
    for (const end of [dead('work', 0), lost('work', START - 2_000)]) {
      const life = new Life(sidecar({}, DEAF)).see(end).pass(1).see(again).see(again);
      const errors = life.logs.filter((line) => line.startsWith('error'));
      assert.equal(errors.length, 1);
      assert.match(errors[0] ?? '', /main work was started again .* check that --restart-policy/);
    }
  });

  it('J11 a main that restarted and ended before it was seen is an error, too', () => {
    const over = (Reason: 'completed' | 'never-started') => dead('work', 0, { Incarnation: 'again-1', Reason });
    const errorsAfter = (Reason: 'completed' | 'never-started') =>
      new Life(sidecar({}, DEAF))
        .see(dead('work', 0))
        .see(over(Reason))
        .logs.filter((line) => line.startsWith('error'));
    assert.deepEqual([errorsAfter('completed').length, errorsAfter('never-started').length], [1, 0]);
  });

  it('J11 a restart before the decision, or of another main, is no error', () => {
    const config = sidecarConfig({ restartPolicy: 'OnFailure', mains: ['work'] });
    const life = new Life({ config, child: DEAF, peers: [alive('work'), alive('other')] });
    life.see(dead('work', 1), dead('other', 0)).see(alive('work', { Incarnation: 'again-1' }));
    life.see(dead('work', 0)).see(alive('other', { Incarnation: 'again-1' }));
    assert.ok(life.logs.every((line) => !line.startsWith('error')));
  });

  it('J16 a sidecar that is started after the end exits 0 without starting its child', () => {
    const found = dead('work', 0, { DiedMonotonic: START + 1 }, { foundAtStart: true });
    const life = new Life({ config: sidecarConfig(), peers: [found] });
    assert.deepEqual([life.spawns, life.exitCode, life.tombstone.Reason], [[], 0, 'never-started']);
  });

  it('J18 a name without a member is named once in the log after 10 s', () => {
    const life = new Life(sidecar({ mains: ['work', 'wrok'] })).pass(9_999);
    const named = () => life.logs.filter((line) => line.includes('no main named wrok has been seen'));
    assert.equal(named().length, 0);
    life.pass(1).see(alive('work')).pass(60_000);
    assert.equal(named().length, 1);
    assert.ok(life.logs.every((line) => !line.includes('no main named work ')));
  });

  it('J18 a name that only another session has is named as such', () => {
    const config = sidecarConfig({ mains: ['work'], session: 'ours' });
    const life = new Life({ config, peers: [dead('work', 0, { Session: 'theirs' })] }).pass(20_000);
    assert.ok(life.logs.some((line) => line.includes('the tombstone of main work is of another session')));
  });

  it('C01 a death in the format of kubexit ends a sidecar', () => {
    const life = new Life({ config: sidecarConfig(), peers: [kubexit('work')] }).pass(3_600_000);
    assert.equal(life.phase, 'running');
    assert.equal(life.see(kubexit('work', 0)).exitCode, 0);
  });
});

describe('between the last main’s end and the sidecar’s own', () => {
  it('a sidecar waits for members that started after it', () => {
    const log = (view: (name: string, tombstone: object) => PeerView) =>
      view('log', { Role: 'sidecar', StartAfter: ['self'] });
    const life = new Life({ config: sidecarConfig(), peers: [alive('work'), log(alive)] })
      .see(dead('work', 0))
      .pass(4_000);
    assert.deepEqual(life.signals, []);
    assert.equal(life.see(log((name, tombstone) => dead(name, 0, tombstone))).exitedAtMs, 4_000);
  });

  it('K13 the platform’s TERM after the mains moves the deadline, and is not sent on', () => {
    const life = new Life(sidecar({ gracePeriodMs: 20_000 }, DEAF)).see(dead('work', 0)).pass(15_000).signal(15);
    assert.deepEqual([life.signals, life.deadlineMs], [[[0, 15]], 35_000]);
    life.passUntilGone();
    assert.equal(life.sent, '0 TERM, 20000 KILL');
  });

  it('K13 only the platform’s second TERM after the mains goes to the next rung', () => {
    const ladder = [
      { signal: 15, forMs: 20_000 },
      { signal: 2, forMs: undefined },
    ];
    const child = { on: { 15: 'ignores', 2: 'ignores' } } as const;
    const life = new Life({ config: sidecarConfig({ ladder }), child, peers: [alive('work')] }).see(dead('work', 0));
    assert.equal(life.pass(1_000).signal(15).sent, '0 TERM');
    assert.deepEqual(life.pass(1_000).signal(15).signals.at(-1), [2_000, 2]);
  });

  it('only the platform’s second TERM cuts the linger short', () => {
    const life = new Life(sidecar({ lingerMs: 9_000 })).see(dead('work', 0)).pass(1_000).signal(15).pass(1_000);
    assert.deepEqual(life.signals, []);
    assert.equal(life.signal(15).sent, '2000 TERM');
  });
});
