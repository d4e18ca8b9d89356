/** When the rest of a tree gets the stop signal: what is predicted is what a climb does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { predictLateMs } from '../../../src/core/lifecycle/stop/untold.ts';
import { START } from '../helpers.ts';
import { Life, main } from '../life.ts';

const DEAF = { on: { 2: 'ignores', 3: 'ignores', 15: 'ignores' } } as const;
const ASKED = { type: 'signal', signal: 15, senderPid: 0, fromTerminal: false } as const;

const rung = (signal: number, forMs?: number) => ({ signal, forMs });
const CASES = {
  'one signal': { gracePeriodMs: 30_000 },
  'two rungs, the second before the first is late': { gracePeriodMs: 30_000, ladder: [rung(15, 15_000), rung(2)] },
  'two rungs, the first of which is late before': { gracePeriodMs: 30_000, ladder: [rung(15, 25_000), rung(2)] },
  'three rungs': { gracePeriodMs: 30_000, ladder: [rung(3, 5_000), rung(15, 5_000), rung(2)] },
  'a KILL before the end of the grace period': { gracePeriodMs: 30_000, ladder: [rung(15, 6_000), rung(9)] },
  'a KILL without a grace period': { ladder: [rung(15, 6_000), rung(2, 3_000), rung(9)] },
  'no KILL': { ladder: [rung(15, 6_000), rung(2, 3_000)] },
  'one signal without a grace period': {},
} as const;

/** The first late time that is over before the next stop signal. */
function firstLateMs(life: Life): number | undefined {
  const sent = life.done.flatMap(({ atMs, effect }) =>
    effect.type === 'stop' ? [{ atMs, lateMs: effect.lateMs }] : [],
  );
  const late = sent.flatMap(({ lateMs }, index) => {
    const nextMs = sent[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
    return lateMs !== undefined && lateMs - START <= nextMs ? [lateMs - START] : [];
  });
  return late[0];
}

describe('the late time of a stop', () => {
  for (const [what, settings] of Object.entries(CASES))
    it(`the late time of a stop with ${what} is predicted as the climb sets it`, () => {
      const options = main(settings, DEAF);
      const life = new Life(options).feed(ASKED).pass(29_000);
      assert.deepEqual(predictLateMs(options.config, 15, 0), firstLateMs(life));
    });

  it('the late time of a stop counts from the first signal', () => {
    assert.equal(predictLateMs(main({ gracePeriodMs: 30_000 }).config, 15, 3_000), 20_667);
  });
});
