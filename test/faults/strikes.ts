/** What hits the pod of a round, and when: faults, and what the kubelet and an operator do. */
import type { Dice } from './dice.ts';
import type { MemberPlan } from './members.ts';
import type { Policy } from './plan.ts';

/** Each with the weight of its being drawn, and whether it needs root (mounts, cgroups, other uids). */
export const FAULTS = {
  'kill-supervisor': { weight: 14, needsRoot: false },
  'kill-supervisor-often': { weight: 6, needsRoot: false },
  'kill-init': { weight: 8, needsRoot: false },
  'kill-application': { weight: 8, needsRoot: false },
  'pause-supervisor': { weight: 8, needsRoot: false },
  'pause-init': { weight: 5, needsRoot: false },
  'pause-container': { weight: 5, needsRoot: false },
  'oom-application': { weight: 5, needsRoot: true },
  'oom-supervisor': { weight: 3, needsRoot: true },
  'fill-volume': { weight: 6, needsRoot: true },
  'read-only': { weight: 5, needsRoot: true },
  'take-permission': { weight: 6, needsRoot: true },
  recreate: { weight: 6, needsRoot: false },
  wipe: { weight: 5, needsRoot: false },
  tear: { weight: 4, needsRoot: false },
  flood: { weight: 6, needsRoot: false },
  'foreign-signals': { weight: 5, needsRoot: false },
} as const satisfies Record<string, { readonly weight: number; readonly needsRoot: boolean }>;

export type FaultKind = keyof typeof FAULTS;
/** What is no fault but belongs to a pod's life. */
export type StopKind = 'delete' | 'delete-again' | 'stop-again' | 'stop-one';
export type StrikeKind = FaultKind | StopKind;

export interface Strike {
  readonly kind: StrikeKind;
  /** The member that it hits, where it does not hit all. */
  readonly member: string;
  /** `end`: since the pod's deletion or the first main's end. `signal`: since its member's stop signal. */
  readonly from: 'start' | 'end' | 'signal';
  readonly atMs: number;
  /** How long it lasts, for what does. */
  readonly forMs: number;
  /** A number for whatever it needs one. */
  readonly chance: number;
}

const LATEST_MS = 1_800;

export function planStrikes(roll: Dice, policy: Policy, members: readonly MemberPlan[], isRoot: boolean): Strike[] {
  const names = members.map((it) => it.name) as [string, ...string[]];
  const make = (kind: StrikeKind, from: Strike['from'], atMs: number): Strike => ({
    kind,
    member: roll.oneOf(names),
    from,
    atMs,
    forMs: roll.between(50, roll.isTrue(0.1) ? 3_000 : 700),
    chance: roll.between(0, 999_999),
  });
  const kinds = Object.entries(FAULTS)
    .filter(([, { needsRoot }]) => isRoot || !needsRoot)
    .map(([kind, { weight }]) => [weight, kind as FaultKind] as const);
  const count = roll.weighted([
    [40, 1],
    [35, 2],
    [15, 3],
    [10, 5],
  ]);
  const strikes: Strike[] = [];
  for (let n = 0; n < count; n += 1) {
    const from = roll.weighted<Strike['from']>([
      [55, 'start'],
      [25, 'end'],
      [20, 'signal'],
    ]);
    strikes.push(make(roll.weighted(kinds), from, momentOf(roll, from)));
  }
  const alone = make('stop-one', 'start', roll.between(100, LATEST_MS));
  // Under OnFailure a main that leaves with 0 says that it is over. A kubelet that was replacing it starts it again all
  // the same.
  const isSafe = policy !== 'OnFailure' || members.some((it) => it.name === alone.member && it.role === 'sidecar');
  if (roll.isTrue(0.15) && isSafe) strikes.push(alone);
  if (policy === 'Always' || roll.isTrue(0.35)) {
    strikes.push(make('delete', 'start', roll.between(0, LATEST_MS + 700)));
    if (roll.isTrue(0.2)) strikes.push(make('delete-again', 'end', roll.between(0, 600)));
    if (roll.isTrue(0.2)) strikes.push(make('stop-again', 'end', roll.between(0, 600)));
  }
  return strikes;
}

/** Half of those at the end fall into its first moments. */
function momentOf(roll: Dice, from: Strike['from']): number {
  if (from === 'start') return roll.between(0, LATEST_MS);
  return roll.isTrue(0.5) ? roll.between(0, 40) : roll.between(0, 600);
}
