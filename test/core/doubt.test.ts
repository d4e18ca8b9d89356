/**
 * A sidecar without a session finds that its mains are dead and cannot tell for 10 s whether that is of this pod.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberConfig } from '../../src/core/config.ts';
import { dead, START, sidecarConfig } from './helpers.ts';
import { Life } from './life.ts';

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
