/** When members were asked to stop, were killed, or finished: by what was really done, not by what tombstones say. */
import { MAX_FAILED_STARTS, supervisorKills } from './ending.ts';
import { type ApplicationLife, containersOf, livesOf } from './lives.ts';
import { type MemberPlan, mainsOf } from './members.ts';
import { type ContainerLife, type Happening, hitsOf, type RoundRecord } from './record.ts';

/** The kubelet's stops that reach this container; the time is before the first signal of each. */
export function asksTo(record: RoundRecord, container: ContainerLife): Happening[] {
  return record.happenings.filter((it) => {
    if (!it.isHit || it.fromMs > container.untilMs) return false;
    const isAlone = it.kind === 'stop-one' || it.kind === 'stop-again';
    return isPodStop(it) || (isAlone && it.member === container.member && it.fromMs >= container.fromMs);
  });
}

/** The second may come first: then it is the first. */
export function isPodStop({ kind }: Happening): boolean {
  return kind === 'delete' || kind === 'delete-again';
}

/** It was ended as a whole: by a strike, or by the kubelet when a grace period was over. */
export function wasKilled(record: RoundRecord, container: ContainerLife): boolean {
  // Also one that found PID 1 just gone: it may have ended the one that was about to report that.
  const strikes = record.happenings.filter((it) => it.kind === 'kill-init' && it.member === container.member);
  if (strikes.some((it) => it.fromMs <= container.untilMs && it.untilMs >= container.fromMs)) return true;
  const stops = record.happenings.filter(
    (it) => isPodStop(it) || (it.kind === 'stop-one' && it.member === container.member),
  );
  return stops.some((it) => container.untilMs >= it.fromMs + (it.value ?? 0));
}

/** Init may have gone on without a supervisor. */
export function mayHaveBeenAlone(record: RoundRecord, container: ContainerLife): boolean {
  return supervisorKills(record, container.member, container) >= MAX_FAILED_STARTS;
}

/** Its supervisor was paused from before the application ended until init had to leave with the command's code. */
export function stoodStill(record: RoundRecord, container: ContainerLife, last: ApplicationLife | undefined): boolean {
  const sinceMs = last?.lastMs ?? container.fromMs;
  const { member, untilMs } = container;
  const hadToLeave = asksTo(record, container).some((it) => untilMs >= it.fromMs + (it.value ?? 0) - AHEAD_MS);
  // A paused supervisor that is killed has a successor, which is not paused.
  const pauses = hitsOf(record, ['pause-supervisor'], member).filter((it) => supervisorKills(record, member, it) === 0);
  return hadToLeave && pauses.some((it) => it.fromMs <= sinceMs && it.untilMs >= untilMs);
}

/** Without a supervisor init leaves at most this long before the grace period ends. */
const AHEAD_MS = 500;

/** Before this moment the sidecar cannot have known its mains finished; infinite: they never did. */
export function earliestFinishFor(record: RoundRecord, sidecar: MemberPlan): number {
  const mains = mainsOf(record.plan.members);
  const each = mains.map((main) => finishOf(record, main));
  // Without a roster those count that it has seen so far.
  const needsAll = sidecar.when === 'all' && sidecar.mains.length > 0;
  return needsAll ? Math.max(...each) : Math.min(...each);
}

/** The earliest moment at which this main's end may have counted as final. */
function finishOf(record: RoundRecord, main: MemberPlan): number {
  const { policy } = record.plan;
  if (policy === 'Always') return Number.POSITIVE_INFINITY;
  const lives = livesOf(record, main);
  const finals = containersOf(record, main.name).flatMap((container) => {
    const last = lives.filter((it) => it.container === container).at(-1);
    const isFinal = policy === 'Never' || last?.statuses.includes(0) === true;
    if (!isFinal) return [];
    const kills = hitsOf(record, ['kill-init', 'kill-application', 'oom-application'], main.name);
    return [Math.min(last?.lastMs ?? container.fromMs, ...kills.map((it) => it.fromMs))];
  });
  return Math.min(Number.POSITIVE_INFINITY, ...finals);
}

/** From when on this container's application may get a stop signal; infinite: never. */
export function reasonToStopMs(record: RoundRecord, member: MemberPlan, container: ContainerLife): number {
  return Math.min(
    ...asksTo(record, container).map((it) => it.fromMs),
    member.role === 'sidecar' ? earliestFinishFor(record, member) : Number.POSITIVE_INFINITY,
  );
}

/** A main's application, born before a moment, lives at another. */
export function livesAt(record: RoundRecord, main: MemberPlan, bornBeforeMs: number, atMs: number): boolean {
  return livesOf(record, main).some((it) => it.fromMs < bornBeforeMs && it.said !== undefined && it.lastMs > atMs);
}
