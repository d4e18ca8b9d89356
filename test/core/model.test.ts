import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { alive, dead, fixed, mainConfig, sidecarConfig } from './helpers.ts';
import { Life } from './life.ts';
import { type End, foretell, type Scene } from './model.ts';
import '../helpers/seeded.ts';

const UNTIL_MS = 120_000;
/** Fractions of a millisecond add up over restarts. */
const TOLERANCE_MS = 20;

const scene: fc.Arbitrary<Scene> = fc
  .record({
    role: fc.constantFrom('main' as const, 'sidecar' as const),
    policy: fc.constantFrom('Never' as const, 'OnFailure' as const, 'Always' as const),
    graceMs: fc.constantFrom(undefined, 1_300, 7_900, 30_100),
    drainMs: fc.constantFrom(0, 2_310, 11_230),
    lingerMs: fc.constantFrom(0, 1_170, 6_070),
    endsAfterMs: fc.option(fc.constantFrom(640, 5_870, 61_530), { nil: undefined }),
    endsWith: fc.constantFrom(0, 1, 3),
    termMs: fc.option(fc.constantFrom(0, 430, 3_710), { nil: undefined }),
    mainEndsAt: fc.option(fc.integer({ min: 100, max: 80_000 }), { nil: undefined }),
    mainEndsWith: fc.constantFrom(0, 1),
    asked: fc.uniqueArray(fc.integer({ min: 100, max: 80_000 }), { maxLength: 3 }),
  })
  .map((random) => ({ ...random, asked: random.asked.toSorted((a, b) => a - b) }));

describe('the core and a naive second opinion', () => {
  it('agree on when and how a member ends, how often its child is started and what it is sent', () => {
    fc.assert(
      fc.property(scene, (random) => {
        fc.pre(!isClose(random));
        const lived = live(random);
        const foretold = foretell(random, UNTIL_MS);
        if (agrees(lived, foretold)) return;
        // A restart may fall together with something from outside: then either order is right.
        const shifted = SHIFTS.flatMap((asked) => SHIFTS.map((main) => foretell(shift(random, asked, main), UNTIL_MS)));
        if (!shifted.some((other) => agrees(lived, other))) assert.deepEqual(lived, foretold);
      }),
      { numRuns: 600 },
    );
  });
});

const SHIFTS = [-4, 0, 4] as const;

function shift(random: Scene, askedMs: number, mainMs: number): Scene {
  const { asked, mainEndsAt } = random;
  return {
    ...random,
    asked: asked.map((at) => at + askedMs),
    mainEndsAt: mainEndsAt === undefined ? undefined : mainEndsAt + mainMs,
  };
}

function agrees({ at: livedAt, ...lived }: End, { at: foretoldAt, ...foretold }: End): boolean {
  const isInTime =
    livedAt === foretoldAt ||
    (livedAt !== undefined && foretoldAt !== undefined && Math.abs(livedAt - foretoldAt) <= TOLERANCE_MS);
  return isInTime && isDeepStrictEqual(lived, foretold);
}

function live(random: Scene): End {
  const { role, policy, graceMs, drainMs, lingerMs, endsAfterMs, endsWith, termMs, mainEndsAt, mainEndsWith } = random;
  const base = { restartPolicy: policy, gracePeriodMs: graceMs, drain: fixed(drainMs), lingerMs };
  const life = new Life({
    config: role === 'main' ? mainConfig(base) : sidecarConfig(base),
    child: {
      ...(endsAfterMs !== undefined && { endsAfterMs }),
      code: endsWith,
      on: { 15: termMs === undefined ? 'ignores' : { afterMs: termMs, code: 0 } },
    },
    peers: [alive('work')],
  });
  const todo = [
    ...random.asked.map((at) => ({ at, run: () => life.signal(15) })),
    ...(mainEndsAt === undefined ? [] : [{ at: mainEndsAt, run: () => life.see(dead('work', mainEndsWith)) }]),
  ].sort((a, b) => a.at - b.at);
  let now = 0;
  for (const { at, run } of todo) {
    life.pass(at - now);
    run();
    now = at;
  }
  life.pass(UNTIL_MS - now);
  const sent = (wanted: number) => life.signals.filter(([, signal]) => signal === wanted).length;
  return { at: life.exitedAtMs, code: life.exitCode, starts: life.spawns.length, terms: sent(15), kills: sent(9) };
}

/** Whether two things that come from outside, or the last moment for a restart, fall together. */
function isClose({ asked, mainEndsAt, graceMs }: Scene): boolean {
  const tooLate = asked.slice(0, 1).map((first) => first + (graceMs ?? 30_000) - 1_000);
  const moments = [...asked, ...tooLate, ...(mainEndsAt === undefined ? [] : [mainEndsAt])];
  return moments.some((a, index) => moments.slice(index + 1).some((b) => Math.abs(a - b) <= TOLERANCE_MS));
}
