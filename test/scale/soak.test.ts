/**
 * The soak, short: after some dozen containers the descriptors of a long-lived member are as many as before, and its
 * memory has not grown with each of them. What grows slowly only the long form can tell: `node test/scale/soak.ts`.
 */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { whyNoCgroup } from '../helpers/cgroup.ts';
import { inRounds } from '../helpers/rounds.ts';
import { waitFor } from '../helpers/wait.ts';
import { withChurn } from './churn.ts';
import { type Footprint, footprintOf } from './footprint.ts';
import { isFlat, slopeOf } from './slope.ts';

const LIVES = 36;
/** A leak of one for each container would be more. */
const MORE_DESCRIPTORS = 8;
/** A heap that is new grows until it has found its size; 1 MiB for each container would be more. */
const MORE_KB = 32 * 1024;

test('a member that lives long has neither descriptors nor memory of those that came and went', {
  skip: whyNoCgroup('cpuacct') ?? false,
  timeout: 600_000,
}, async () => {
  await withChurn(async ({ pids, life }) => {
    const footprints = (): Map<string, Footprint> =>
      new Map(Object.entries(pids).map(([who, pid]) => [who, footprintOf(pid)]));
    for (let kind = 0; kind < 3; kind++) await life(kind);
    const before = footprints();
    await inRounds(LIVES, 2, (round) => life(round + 3));
    // Some are open for a moment: a probe, a file that is read.
    for (const [who, { descriptors }] of before)
      await waitFor(`${who} has its ${descriptors} descriptors again`, () => {
        return (footprints().get(who)?.descriptors ?? Number.NaN) <= descriptors + MORE_DESCRIPTORS;
      });
    for (const [who, { rssKb }] of before) {
      const now = footprints().get(who)?.rssKb ?? Number.NaN;
      assert.ok(now <= rssKb + MORE_KB, `${who}: ${rssKb} KiB before, ${now} KiB after`);
    }
  });
});

describe('the slope of a soak', () => {
  const samples = (value: (at: number) => number) =>
    Array.from({ length: 240 }, (_, at) => ({ atMs: at * 5_000, value: value(at) }));

  it('is what a line has, and grows', () => {
    const slope = slopeOf(samples((at) => 100 + at));
    assert.ok(Math.abs(slope.perHour - 720) < 1e-6, `${slope.perHour}`);
    assert.equal(isFlat(slope, 100), false);
  });

  it('is flat within its error where a value swings', () => {
    assert.equal(isFlat(slopeOf(samples((at) => 1_000 + (at % 17) * 10)), 0), true);
  });

  it('is flat below the bound that was set', () => {
    assert.equal(isFlat(slopeOf(samples((at) => at)), 721), true);
  });
});
