/**
 * KILL by sexton itself: a stop signal came before and its rung is over, or the grace period is.
 *
 * By the end of the container, which comes after the KILL: a little too early a KILL may pass, one without a reason
 * does not.
 */
import { reasonToStopMs } from './asks.ts';
import { type ApplicationLife, stopSignalsOf } from './lives.ts';
import type { MemberPlan } from './members.ts';
import { type ContainerLife, hitsOf, type RoundRecord } from './record.ts';

export function isKillDue(record: RoundRecord, member: MemberPlan, life: ApplicationLife): boolean {
  const { graceMs } = record.plan;
  const { untilMs } = life.container;
  const sinceMs = reasonToStopMs(record, member, life.container);
  const killMs = Math.min(graceMs, ...hitsOf(record, ['delete-again']).map((it) => it.value ?? graceMs));
  // Its own request counts. An earlier request to others only ends its waiting.
  if (untilMs >= sinceMs + killMs - Math.min(500, killMs / 20)) return true;
  if (!member.ladder.some((it) => it.signal === SIGKILL)) return false;
  const isHurried = hitsOf(record, ['stop-again'], member.name).length > 0;
  // It counts from when it was sent: on a busy machine the application logs it later, or never.
  return isHurried || untilMs >= sinceMs + member.ladder.reduce((sum, it) => sum + (it.forMs ?? 0), 0) - ROUNDING_MS;
}

const SIGKILL = 9;
/** The application's clock has microseconds, timers of Node have milliseconds. */
const ROUNDING_MS = 5;

/** The exit codes of a life; a KILL may also come between its last event and its end. */
export function statusesOf(record: RoundRecord, member: MemberPlan, life: ApplicationLife): number[] {
  return [...life.statuses, ...(isKillDue(record, member, life) ? [128 + SIGKILL] : [])];
}

/** A signal ended the command before it could take one: the first rung, or a foreign one. It has said nothing. */
export function silentStatuses(
  record: RoundRecord,
  member: MemberPlan,
  container: ContainerLife,
  last: ApplicationLife | undefined,
): number[] {
  const isStruck = hitsOf(record, ['kill-application', 'oom-application'], member.name).some(
    ({ fromMs }) => fromMs >= container.fromMs && fromMs <= container.untilMs,
  );
  const hungUp = [
    ...(last === undefined && mayHaveHungUp(record, container) ? [128 + SIGHUP] : []),
    ...(last === undefined && isStruck ? [128 + SIGKILL] : []),
  ];
  const isAsked = reasonToStopMs(record, member, container) <= container.untilMs;
  if (!isAsked || (last !== undefined && stopSignalsOf(last).length > 0)) return hungUp;
  return [...hungUp, ...[15, ...member.ladder.map((it) => it.signal)].map((signal) => 128 + signal)];
}

/** A HUP is passed on at once: a command that cannot take it yet, and so has said nothing, dies of it. */
export function mayHaveHungUp(record: RoundRecord, container: ContainerLife): boolean {
  return hitsOf(record, ['foreign-signals'], container.member).some(
    (it) => it.fromMs <= container.untilMs && it.untilMs >= container.fromMs,
  );
}

const SIGHUP = 1;
