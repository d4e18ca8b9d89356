/** The soak in short: a member keeps its memory and descriptors. Only `node test/scale/soak.ts` finds slow growth. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNoCgroup } from '../helpers/cgroup.ts';
import { inRounds } from '../helpers/rounds.ts';
import { waitFor } from '../helpers/wait.ts';
import { withChurn } from './churn.ts';
import { type Footprint, footprintOf } from './footprint.ts';
import { isFlat, type Slope, slopeOf } from './slope.ts';

const LIVES = 36;
/** One leaked descriptor for each container would be more. */
const MORE_DESCRIPTORS = 8;
/** A new heap grows until it has found its size; 1 MiB for each container would be more. */
const MORE_KB = 32 * 1024;

test('a long-lived member keeps neither descriptors nor memory of containers that came and went', {
  skip: whyNoCgroup('cpuacct') ?? false,
  timeout: 600_000,
}, async () => {
  await withChurn(async ({ pids, life }) => {
    const footprints = (): Map<string, Footprint> =>
      new Map(Object.entries(pids).map(([who, pid]) => [who, footprintOf(pid)]));
    for (let kind = 0; kind < 3; kind++) await life(kind);
    const before = footprints();
    await inRounds(LIVES, 2, (round) => life(round + 3));
    // Probes and files are open for a moment.
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

test('the slope of a soak is that of the line, and flat within its error or below the bound', () => {
  const slopeOfLine = (value: (at: number) => number): Slope =>
    slopeOf(Array.from({ length: 240 }, (_, at) => ({ atMs: at * 5_000, value: value(at) })));
  const line = slopeOfLine((at) => 100 + at);
  assert.ok(Math.abs(line.perHour - 720) < 1e-6, `${line.perHour}`);
  assert.deepEqual([isFlat(line, 100), isFlat(line, 721)], [false, true]);
  const swinging = slopeOfLine((at) => 1_000 + (at % 17) * 10);
  assert.equal(isFlat(swinging, 0), true);
});
