/**
 * Whether a pod must come to its end by itself. A sidecar learns of its mains' end by their tombstones, and where there
 * is none by their liveness handles. When a fault takes both away at the wrong moment, no member can know, and the pod
 * waits for its deletion.
 */
import type { ContainerState } from '../pods/kubelet-container.ts';
import { gateOf, type MemberPlan, mainsOf } from './members.ts';
import type { Plan } from './plan.ts';
import { type Happening, hitsOf, type RoundRecord } from './record.ts';

/** What makes it impossible to write, while it lasts. In place, over what is there, some may still write. */
export const UNWRITABLE = ['read-only', 'recreate'] as const;
export const ONLY_IN_PLACE = ['fill-volume', 'take-permission'] as const;
/** What destroys what was written before. */
export const DESTRUCTIVE = ['recreate', 'wipe', 'tear'] as const;

type Seen = Pick<RoundRecord, 'plan' | 'happenings' | 'events'>;

export function demandsAnEnd(seen: Seen): boolean {
  return mainsOf(seen.plan.members).every(({ name }) => !mayBeUnknown(seen, name));
}

/**
 * The main is restarted again and again and can never start, because its sidecar is over for good. The sidecar believed
 * the end of a main that was killed, went with the first of several mains, or ended by itself with 0. Whether it was
 * allowed to is checked separately.
 */
export function isLockedOut(
  { policy, members }: Pick<Plan, 'policy' | 'members'>,
  main: MemberPlan,
  stateOf: (name: string) => Pick<ContainerState, 'is' | 'exits'>,
): boolean {
  const gate = gateOf(main, members);
  if (policy !== 'OnFailure' || gate === undefined || stateOf(gate.name).is !== 'terminated') return false;
  return stateOf(main.name).exits.at(-1) === NEVER_STARTED;
}

const NEVER_STARTED = 125;

/** Whether a fault may have hidden this member's end from the others. */
export function mayBeUnknown(seen: Seen, name: string): boolean {
  const endedMs = lastMomentOf(seen, name);
  const isGone = (it: Happening): boolean => it.untilMs >= endedMs && (it.kind !== 'tear' || it.member === name);
  if (hitsOf(seen, DESTRUCTIVE).some(isGone) || hitsOf(seen, UNWRITABLE).some(isGone)) return true;
  if (hitsOf(seen, ONLY_IN_PLACE).some((it) => it.untilMs >= endedMs && !it.written.includes(name))) return true;
  if (supervisorKills(seen, name) >= MAX_FAILED_STARTS) return true;
  const kills = hitsOf(seen, ['kill-init'], name);
  if (kills.length === 0) return false;
  // Only its handle shows its death, and the others must have seen that handle.
  const damages = hitsOf(seen, [...DESTRUCTIVE, ...UNWRITABLE, ...ONLY_IN_PLACE]);
  return damages.length > 0 || kills.some((it) => !it.written.includes(name));
}

/** Init goes on alone after this many supervisors without a first commit, and writes and starts nothing then. */
export const MAX_FAILED_STARTS = 5;

export function supervisorKills(
  seen: Pick<RoundRecord, 'happenings'>,
  name: string,
  { fromMs, untilMs } = { fromMs: 0, untilMs: Number.POSITIVE_INFINITY },
): number {
  return hitsOf(seen, ['kill-supervisor', 'kill-supervisor-often', 'oom-supervisor'], name)
    .filter((it) => it.fromMs <= untilMs && it.untilMs >= fromMs)
    .reduce((sum, it) => sum + (it.value ?? 1), 0);
}

/** Before its death: the last thing that it said, or what ended its container. */
export function lastMomentOf(seen: Pick<RoundRecord, 'events' | 'happenings'>, name: string): number {
  const said = seen.events.filter((it) => it.name === name).map((it) => it.atMs);
  const hit = hitsOf(seen, ['kill-init', 'kill-application', 'oom-application'], name).map((it) => it.fromMs);
  return Math.max(0, ...said, ...hit);
}
