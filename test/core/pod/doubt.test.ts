/**
 * A sidecar without a session finds that its mains are dead and cannot tell for 10 s whether that is of this pod. And
 * whatever is doubted, it is decided by a look, not by the time alone.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../../src/core/config.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { alive, dead, lost, START, sidecarConfig } from '../helpers.ts';
import { Life } from '../life.ts';

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
    assert.deepEqual(afterPause(stale).pass(60_000).signals, [[14_101, 15]]);
  });

  it('what the first look has found, when that was told late', () => {
    const life = new Life({ config });
    life.nowMs += 14_000;
    assert.deepEqual(life.see(stale, other).see(reborn, other).pass(60_000).spawns, [14_000]);
    assert.equal(life.phase, 'running');
  });

  it('a handle that nobody held (seed 3045209 of the simulator)', () => {
    assert.deepEqual(afterPause(refused).see(alive('work'), other).pass(60_000).signals, []);
    assert.deepEqual(afterPause(refused).pass(60_000).signals, [[14_101, 15]]);
  });

  it('a loss, whatever is heard first', () => {
    const life = new Life({ config, peers: [alive('work')] }).pass(100).see(lost('work', START + 100));
    life.nowMs += 14_000;
    assert.deepEqual(life.signal(10).signals, [[14_100, 10]]);
    assert.deepEqual(life.see(reborn).pass(60_000).signals, [[14_100, 10]]);
  });

  it('the old word of who is back at its handle opens no start gate', () => {
    const gated = sidecarConfig({ startAfter: [{ name: 'work', condition: 'started', optional: false }] });
    const life = new Life({ config: gated, peers: [lost('work', START)] }).pass(100).see(alive('work')).pass(100);
    life.nowMs += 14_000;
    assert.deepEqual(life.see(alive('work'), other).spawns, []);
    assert.deepEqual(life.pass(60_000).spawns, [14_201]);
  });
});
