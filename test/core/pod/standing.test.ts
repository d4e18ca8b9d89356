import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import { leftoversOfOtherSessions, type Standing, standingOf } from '../../../src/core/pod/standing.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { alive, dead, kubexit, lost, peersOf, START, sidecarConfig, stateAt, waiting } from '../helpers.ts';
import { Life } from '../life.ts';

describe('where another member stands', () => {
  const OURS = sidecarConfig({ session: 'ours' });
  const FOUND = { foundAtStart: true };
  const refused = alive('work', {}, { liveness: 'none', refused: true });
  const gateLost = waiting('work', {}, { liveness: 'lost', lostAt: START });
  const before = { DiedMonotonic: START - 60_000 };
  const stale = dead('work', 0, { DiedMonotonic: START - 1 }, FOUND);
  const early = { ...before, Session: 'ours' };
  const undated = { ...kubexit('work', 0), ...FOUND };
  type Given = Parameters<typeof standing>[1];
  const TABLE: readonly (readonly [title: string, PeerView, is: Standing['is'], Given?])[] = [
    ['a member behind its start gate waits', waiting('work'), 'waiting'],
    ['a live member of another session is absent', alive('work', { Session: 'theirs' }), 'absent', { config: OURS }],
    ['a dead member of another session is absent', dead('work', 0, { Session: 'theirs' }), 'absent', { config: OURS }],
    ['a member of our session is alive', alive('work', { Session: 'ours' }), 'alive', { config: OURS }],
    ['a member without a session fits our session', alive('work'), 'alive', { config: OURS }],
    ['a member of any session fits where we have none', alive('work', { Session: 'theirs' }), 'alive'],
    ['a member of another boot is absent', dead('work', 0, { Boot: 'another' }), 'absent'],
    ['a death in a format without boots counts', kubexit('work', 0), 'dead'],
    ['a member of a format without liveness is never lost', kubexit('work'), 'alive', { at: START + 3_600_000 }],
    ['a socket without a holder makes its member unsure', refused, 'unsure'],
    ['a socket without a holder for 10 s makes its member lost', refused, 'dead', { at: START + 10_000 }],
    ['a missing socket proves nothing', alive('work', {}, { liveness: 'none' }), 'alive', { at: START + 3_600_000 }],
    ['a death in our lifetime counts at once', dead('work', 0), 'dead'],
    ['a death at our start counts at once', dead('work', 0, { DiedMonotonic: START }, FOUND), 'dead'],
    ['a death before our start counts after 10 s', stale, 'dead', { at: START + 10_000 }],
    ['a death before our start may be read late (seed 70046064)', { ...stale, foundAtStart: false }, 'unsure'],
    ['an old death in our session counts at once', dead('work', 0, early, FOUND), 'dead', { config: OURS }],
    ['an old death with a held socket counts', dead('work', 0, before, { ...FOUND, liveness: 'held' }), 'dead'],
    ['an old death without a session is unsure', dead('work', 0, before, FOUND), 'unsure', { config: OURS }],
    ['a found death without a time is unsure before 10 s', undated, 'unsure', { at: START + 9_999 }],
    ['a found death without a time counts after 10 s', undated, 'dead', { at: START + 10_000 }],
  ];
  for (const [title, peer, is, given] of TABLE) it(title, () => assert.equal(standing(peer, given).is, is));

  it('a member that was never seen is absent', () => {
    assert.deepEqual(standingOf(sidecarConfig(), stateAt(START), undefined), { is: 'absent' });
  });

  it('a live member is alive in every phase but waiting', () => {
    for (const Phase of ['starting', 'running', 'holding', 'draining', 'stopping', 'backoff'] as const)
      assert.equal(standing(alive('work', { Phase })).is, 'alive', Phase);
  });

  it('J17 a writer that vanished is lost 2 s after its socket closed', () => {
    const peer = lost('work', START + 5_000);
    assert.deepEqual(standing(peer, { at: START + 6_999 }), { is: 'unsure', untilMs: START + 7_000, waiting: false });
    const death = { is: 'dead', final: true, succeeded: false, started: true, lost: true };
    assert.deepEqual(standing(peer, { at: START + 7_000 }), death);
  });

  it('a writer that vanished behind its gate counts as never started', () => {
    const lostOne = standing(gateLost, { at: START + 2_000 });
    assert.ok(lostOne.is === 'dead' && !lostOne.started && lostOne.lost);
    assert.deepEqual(standing(gateLost), { is: 'unsure', untilMs: START + 2_000, waiting: true });
  });

  it('an unsure member says until when', () => {
    assert.deepEqual(standing(refused), { is: 'unsure', untilMs: START + 10_000, waiting: false });
    const unsure = { is: 'unsure', untilMs: START + 10_000, waiting: true };
    assert.deepEqual(standing(stale, { at: START + 9_999 }), unsure);
  });

  it('files of other sessions are removed unless their sockets are held', () => {
    const peers = peersOf(
      dead('left', 0, { Session: 'theirs' }),
      alive('held', { Session: 'theirs' }),
      alive('mine', { Session: 'ours' }),
      dead('boot', 0, { Boot: 'another' }),
    );
    assert.deepEqual(leftoversOfOtherSessions(OURS, stateAt(START, { peers })), ['left']);
  });
});

function standing(peer: PeerView, given: { readonly at?: number; readonly config?: MemberConfig } = {}): Standing {
  const { at = START, config = sidecarConfig() } = given;
  return standingOf(config, stateAt(at), { ...peer, sinceMs: START });
}

/** Its command ends with 1, half a second after each start. */
function crashing(change: Partial<MemberConfig> = {}): Life {
  const config = sidecarConfig({ mains: ['work'], restartPolicy: 'OnFailure', ...change });
  const found = dead('work', 0, { DiedMonotonic: START - 60_000, Final: true }, { foundAtStart: true });
  return new Life({ config, peers: [found], child: { endsAfterMs: 500, code: 1 } });
}

describe('a sidecar that cannot tell yet whether its mains have finished', () => {
  it('an unsure sidecar stays until it is sure when its command ends early', () => {
    const life = crashing().passUntilGone();
    assert.deepEqual([life.exitCode, life.exitedAtMs], [0, 10_000]);
    assert.ok(life.spawns.length > 1);
  });

  it('an unsure sidecar leaves at once where it may not restart', () => {
    assert.deepEqual(crashing({ restart: 'never' }).passUntilGone().exitedAtMs, 500);
  });

  it('an unsure sidecar leaves with its own code where no death is final', () => {
    const life = crashing({ restartPolicy: 'Always' }).passUntilGone();
    assert.deepEqual([life.exitCode, life.exitedAtMs], [1, 500]);
  });
});

describe('after a pause of the supervisor', () => {
  const config = sidecarConfig({ mains: ['work'] });
  const other = alive('logs', { Role: 'sidecar' });
  const stale = dead('work', 0, { DiedMonotonic: START - 60_000, Final: true }, { foundAtStart: true });
  const refused = alive('work', {}, { liveness: 'none', refused: true });
  const reborn = alive('work', { Incarnation: 'another-1' });

  /** What it hears first after the pause is of others, or from before. */
  function afterPause(found: PeerView): Life {
    const life = new Life({ config, peers: [found] }).pass(100);
    life.nowMs += 14_000;
    return life.see(found, other);
  }

  it('after a pause a death of an earlier life is read again first (seed 3563490)', () => {
    assert.equal(afterPause(stale).phase, 'running');
    assert.deepEqual(afterPause(stale).see(reborn, other).pass(60_000).signals, []);
    assert.equal(afterPause(stale).pass(60_000).sent, '14101 TERM');
  });

  it('after a pause a late first read is repeated first', () => {
    const life = new Life({ config });
    life.nowMs += 14_000;
    assert.deepEqual(life.see(stale, other).see(reborn, other).pass(60_000).spawns, [14_000]);
    assert.equal(life.phase, 'running');
  });

  it('a supervisor that boots late doubts an old death for 10 s from its first look', () => {
    const life = new Life({ config });
    life.nowMs += 14_000;
    assert.deepEqual(life.see(stale, other).pass(9_999).signals, []);
    assert.equal(life.pass(60_000).sent, '24000 TERM');
  });

  it('a supervisor that was replaced goes on with the doubt of the one before', () => {
    const life = new Life({ config, peers: [stale, other] }).pass(6_000).loseSupervisor().feed({ type: 'booted' });
    assert.equal(life.see(stale, other).pass(60_000).sent, '10000 TERM');
  });

  it('after a pause a socket without a holder is read again first (seed 3045209)', () => {
    assert.deepEqual(afterPause(refused).see(alive('work'), other).pass(60_000).signals, []);
    assert.equal(afterPause(refused).pass(60_000).sent, '14101 TERM');
  });

  it('after a pause a lost member is read again first', () => {
    const life = new Life({ config, peers: [alive('work')] }).pass(100).see(lost('work', START + 100));
    life.nowMs += 14_000;
    assert.equal(life.signal(10).sent, '14100 USR1');
    assert.equal(life.see(reborn).pass(60_000).sent, '14100 USR1');
  });

  it('after a pause an old tombstone opens no start gate', () => {
    const gated = sidecarConfig({ startAfter: [{ name: 'work', condition: 'started', optional: false }] });
    const life = new Life({ config: gated, peers: [lost('work', START)] }).pass(100).see(alive('work')).pass(100);
    life.nowMs += 14_000;
    assert.deepEqual(life.see(alive('work'), other).spawns, []);
    assert.deepEqual(life.pass(60_000).spawns, [14_201]);
  });
});
