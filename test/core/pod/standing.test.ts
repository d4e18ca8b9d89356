import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import { leftoversOfOtherSessions, type Standing, standingOf } from '../../../src/core/pod/standing.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { alive, dead, kubexit, lost, peersOf, START, sidecarConfig, stateAt, waiting } from '../helpers.ts';
import { Life } from '../life.ts';

describe('where another member stands', () => {
  it('a member that was never seen is absent', () => {
    assert.deepEqual(standingOf(sidecarConfig(), stateAt(START), undefined), { is: 'absent' });
  });

  it('a live one is alive in every phase but waiting', () => {
    for (const Phase of ['starting', 'running', 'holding', 'draining', 'stopping', 'backoff'] as const)
      assert.equal(standing(alive('work', { Phase })).is, 'alive', Phase);
    assert.equal(standing(waiting('work')).is, 'waiting');
  });

  it('another session does not exist, alive or dead, but an undeclared session on either side fits', () => {
    const config = sidecarConfig({ session: 'ours' });
    assert.equal(standing(alive('work', { Session: 'theirs' }), { config }).is, 'absent');
    assert.equal(standing(dead('work', 0, { Session: 'theirs' }), { config }).is, 'absent');
    assert.equal(standing(alive('work', { Session: 'ours' }), { config }).is, 'alive');
    assert.equal(standing(alive('work'), { config }).is, 'alive');
    assert.equal(standing(alive('work', { Session: 'theirs' })).is, 'alive');
  });

  it('another boot does not exist, and a format that does not say its boot does', () => {
    assert.equal(standing(dead('work', 0, { Boot: 'another' })).is, 'absent');
    assert.equal(standing(kubexit('work', 0)).is, 'dead');
  });

  it('J17 a writer that vanished is lost 2 s after its handle closed, not before', () => {
    const peer = lost('work', START + 5_000);
    assert.deepEqual(standing(peer, { at: START + 6_999 }), { is: 'unsure', untilMs: START + 7_000, waiting: false });
    const death = { is: 'dead', final: true, succeeded: false, started: true, lost: true };
    assert.deepEqual(standing(peer, { at: START + 7_000 }), death);
  });

  it('a writer that vanished behind its gate counts as never started', () => {
    const peer = waiting('work', {}, { liveness: 'lost', lostAt: START });
    const verdict = standing(peer, { at: START + 2_000 });
    assert.ok(verdict.is === 'dead' && !verdict.started && verdict.lost);
    assert.deepEqual(standing(peer), { is: 'unsure', untilMs: START + 2_000, waiting: true });
  });

  it('a format that has no liveness is never lost', () => {
    assert.equal(standing(kubexit('work'), { at: START + 3_600_000 }).is, 'alive');
  });

  it('a live tombstone whose socket nobody stands behind is lost after 10 s; without a socket nothing is known against it', () => {
    const refused = alive('work', {}, { liveness: 'none', refused: true });
    assert.deepEqual(standing(refused), { is: 'unsure', untilMs: START + 10_000, waiting: false });
    assert.equal(standing(refused, { at: START + 10_000 }).is, 'dead');
    assert.equal(standing(alive('work', {}, { liveness: 'none' }), { at: START + 3_600_000 }).is, 'alive');
  });

  it('a death in our lifetime counts at once', () => {
    assert.equal(standing(dead('work', 0)).is, 'dead');
    assert.equal(standing(dead('work', 0, { DiedMonotonic: START }, { foundAtStart: true })).is, 'dead');
  });

  it('a death from before our start that nothing ties to this pod counts only after 10 s', () => {
    const stale = dead('work', 0, { DiedMonotonic: START - 1 }, { foundAtStart: true });
    const unsure = { is: 'unsure', untilMs: START + 10_000, waiting: true };
    assert.deepEqual(standing(stale, { at: START + 9_999 }), unsure);
    assert.equal(standing(stale, { at: START + 10_000 }).is, 'dead');
  });

  it('a death from before our start in our own session, or one that is backed by a live writer, counts at once', () => {
    const config = sidecarConfig({ session: 'ours' });
    const before = { DiedMonotonic: START - 60_000 };
    assert.equal(
      standing(dead('work', 0, { ...before, Session: 'ours' }, { foundAtStart: true }), { config }).is,
      'dead',
    );
    assert.equal(standing(dead('work', 0, before, { foundAtStart: true, liveness: 'held' })).is, 'dead');
    assert.equal(standing(dead('work', 0, before, { foundAtStart: true }), { config }).is, 'unsure');
  });

  it('a death from before our start counts only after 10 s also when the first look could not find it (seed 70046064 of the simulator)', () => {
    assert.equal(standing(dead('work', 0, { DiedMonotonic: START - 1 })).is, 'unsure');
    assert.equal(standing(dead('work', 0, { DiedMonotonic: START })).is, 'dead');
  });

  it('a death of which nobody knows when, found at the start, counts only after 10 s', () => {
    const found = { ...kubexit('work', 0), foundAtStart: true };
    assert.equal(standing(found, { at: START + 9_999 }).is, 'unsure');
    assert.equal(standing(found, { at: START + 10_000 }).is, 'dead');
  });

  it('what other sessions left is cleared away unless somebody still holds it; another boot may be another node', () => {
    const config = sidecarConfig({ session: 'ours' });
    const peers = peersOf(
      dead('left', 0, { Session: 'theirs' }),
      alive('held', { Session: 'theirs' }),
      alive('mine', { Session: 'ours' }),
      dead('boot', 0, { Boot: 'another' }),
    );
    assert.deepEqual(leftoversOfOtherSessions(config, stateAt(START, { peers })), ['left']);
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
  it('stays until it can when its command ends early, or it would be started again for ever', () => {
    const life = crashing().passUntilGone();
    assert.deepEqual([life.exitCode, life.exitedAtMs], [0, 10_000]);
    assert.ok(life.spawns.length > 1);
  });

  it('leaves as declared when it was told not to restart', () => {
    assert.deepEqual(crashing({ restart: 'never' }).passUntilGone().exitedAtMs, 500);
  });

  it('leaves with the code of its command where no death is final', () => {
    const life = crashing({ restartPolicy: 'Always' }).passUntilGone();
    assert.deepEqual([life.exitCode, life.exitedAtMs], [1, 500]);
  });
});

describe('what came due while a supervisor stood still is not decided before it has looked again', () => {
  const config = sidecarConfig({ mains: ['work'] });
  const other = alive('logs', { Role: 'sidecar' });
  const stale = dead('work', 0, { DiedMonotonic: START - 60_000, Final: true }, { foundAtStart: true });
  const refused = alive('work', {}, { liveness: 'none', refused: true });
  const reborn = alive('work', { Incarnation: 'another-1' });

  /** What it hears first when it goes on is of others, or from before. */
  function afterPause(found: PeerView): Life {
    const life = new Life({ config, peers: [found] }).pass(100);
    life.nowMs += 14_000;
    return life.see(found, other);
  }

  it('a death of an earlier life (seed 3563490 of the simulator)', () => {
    assert.equal(afterPause(stale).phase, 'running');
    assert.deepEqual(afterPause(stale).see(reborn, other).pass(60_000).signals, []);
    assert.equal(afterPause(stale).pass(60_000).sent, '14101 TERM');
  });

  it('what the first look has found, when that was told late', () => {
    const life = new Life({ config });
    life.nowMs += 14_000;
    assert.deepEqual(life.see(stale, other).see(reborn, other).pass(60_000).spawns, [14_000]);
    assert.equal(life.phase, 'running');
  });

  it('a handle that nobody held (seed 3045209 of the simulator)', () => {
    assert.deepEqual(afterPause(refused).see(alive('work'), other).pass(60_000).signals, []);
    assert.equal(afterPause(refused).pass(60_000).sent, '14101 TERM');
  });

  it('a loss, whatever is heard first', () => {
    const life = new Life({ config, peers: [alive('work')] }).pass(100).see(lost('work', START + 100));
    life.nowMs += 14_000;
    assert.equal(life.signal(10).sent, '14100 USR1');
    assert.equal(life.see(reborn).pass(60_000).sent, '14100 USR1');
  });

  it('the old word of who is back at its handle opens no start gate', () => {
    const gated = sidecarConfig({ startAfter: [{ name: 'work', condition: 'started', optional: false }] });
    const life = new Life({ config: gated, peers: [lost('work', START)] }).pass(100).see(alive('work')).pass(100);
    life.nowMs += 14_000;
    assert.deepEqual(life.see(alive('work'), other).spawns, []);
    assert.deepEqual(life.pass(60_000).spawns, [14_201]);
  });
});
