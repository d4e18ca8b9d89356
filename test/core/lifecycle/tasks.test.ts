/** Actions that are overdue when a machine that stood still goes on, or when their child ends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mainConfig, probes } from '../helpers.ts';
import { Life } from '../life.ts';

/** Its readiness probe never ends by itself. */
function probed(run: 'never' | 'deaf'): Life {
  const config = mainConfig({ gracePeriodMs: 60_000, ...probes({ readiness: { timeoutMs: 1_000, failures: 1 } }) });
  return new Life({ config, peers: [], child: { actions: { readiness: [run] } } });
}

/** Time passes, and nothing is heard of it until then. */
function standStill(life: Life, ms: number): Life {
  life.nowMs += ms;
  return life.feed({ type: 'ticked' });
}

describe('an action that is overdue', () => {
  it('an overdue action is ordered to end once, also when its child ends first', () => {
    const life = probed('deaf').pass(1_000);
    assert.deepEqual(life.endsOf('readiness'), [1_000]);
    life.endChild(0);
    assert.notEqual(life.exitCode, undefined);
    assert.deepEqual(life.endsOf('readiness'), [1_000], 'told again');
  });

  it('an overdue action has 2 s to end from the order on', () => {
    const life = standStill(probed('deaf').pass(100), 10_000);
    const givenUp = (): boolean => life.logs.some((line) => line.includes('does not end'));
    assert.deepEqual([life.endsOf('readiness'), givenUp()], [[10_100], false]);
    assert.equal(life.pass(1_999) && givenUp(), false);
    assert.equal(life.pass(1) && givenUp(), true);
  });
});
