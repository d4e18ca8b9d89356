/**
 * What happens to one member and how its child, its probes and its hooks behave: the input of the naive opinion, and
 * random ones.
 */
import fc from 'fast-check';
import type { ProbeKind, RestartMode, RestartPolicy, Role } from '../../../src/core/config.ts';

export interface NaiveProbe {
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly failures: number;
  readonly successes: number;
  readonly delayMs: number;
  readonly graceMs: number | undefined;
  readonly takesMs: number;
  /** What it would say first, and when that turns round. */
  readonly isOkAtFirst: boolean;
  readonly flips: readonly number[];
}
export interface NaiveHook {
  readonly takesMs: number | undefined;
  readonly ok: boolean;
}
export interface Plan {
  readonly role: Role;
  readonly policy: RestartPolicy;
  readonly restart: RestartMode;
  readonly graceMs: number | undefined;
  readonly drainMs: number;
  readonly lingerMs: number;
  readonly endsAfterMs: number | undefined;
  readonly endsWith: number;
  readonly termMs: number | undefined;
  readonly termCode: number;
  readonly mainEndsAt: number | undefined;
  readonly mainEndsWith: number;
  readonly asked: readonly number[];
  readonly sextonStops: readonly { readonly at: number; readonly graceMs: number | undefined }[];
  readonly probes: Readonly<Record<ProbeKind, NaiveProbe | undefined>>;
  readonly postStart: NaiveHook | undefined;
  readonly preStop: NaiveHook | undefined;
}

/** What a probe that begins then will say. */
export function saysOk(probe: NaiveProbe, atMs: number): boolean {
  return probe.isOkAtFirst === (probe.flips.filter((flip) => flip <= atMs).length % 2 === 0);
}

const time = fc.integer({ min: 50, max: 30_000 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
const naiveProbe: fc.Arbitrary<NaiveProbe> = fc.record({
  periodMs: fc.constantFrom(1_003, 2_501, 4_999),
  timeoutMs: fc.constantFrom(997, 3_011),
  failures: fc.constantFrom(1, 2, 3),
  successes: fc.constant(1),
  delayMs: fc.constantFrom(0, 0, 1_709),
  graceMs: maybe(fc.constantFrom(1_960, 6_020)),
  takesMs: fc.constantFrom(7, 307, 1_511),
  isOkAtFirst: fc.constantFrom(true, true, true, false),
  flips: fc.uniqueArray(time, { maxLength: 4 }),
});
const hook: fc.Arbitrary<NaiveHook> = fc.record({
  takesMs: maybe(fc.constantFrom(13, 1_409, 6_211)),
  ok: fc.constantFrom(true, true, true, false),
});
export const plan: fc.Arbitrary<Plan> = fc
  .record({
    role: fc.constantFrom('main' as const, 'sidecar' as const),
    policy: fc.constantFrom('Never' as const, 'OnFailure' as const, 'Always' as const),
    restart: fc.constantFrom('auto' as const, 'never' as const, 'on-failure' as const, 'always' as const),
    graceMs: fc.constantFrom(undefined, 1_340, 7_940, 20_180),
    drainMs: fc.constantFrom(0, 0, 2_311, 9_221),
    lingerMs: fc.constantFrom(0, 1_171),
    endsAfterMs: fc.constantFrom(undefined, undefined, 643, 5_879, 17_011),
    endsWith: fc.constantFrom(0, 1, 3),
    termMs: fc.constantFrom(undefined, 1, 431, 3_719),
    termCode: fc.constantFrom(0, 0, 5),
    mainEndsAt: maybe(time),
    mainEndsWith: fc.constantFrom(0, 1),
    asked: fc.uniqueArray(time, { maxLength: 2 }),
    sextonStops: fc.uniqueArray(fc.record({ at: time, graceMs: maybe(fc.constantFrom(2_120, 5_060, 14_180)) }), {
      maxLength: 2,
      selector: ({ at }) => at,
    }),
    startup: maybe(naiveProbe),
    readiness: maybe(fc.tuple(naiveProbe, fc.constantFrom(1, 2))),
    liveness: maybe(naiveProbe),
    postStart: maybe(hook),
    preStop: maybe(hook),
  })
  .map(({ startup, readiness, liveness, ...rest }) => ({
    ...rest,
    drainMs: rest.role === 'main' ? rest.drainMs : 0,
    asked: rest.asked.toSorted((a, b) => a - b),
    probes: { startup, liveness, readiness: readiness && { ...readiness[0], successes: readiness[1] } },
  }));
