/**
 * KILL by sexton itself: a stop signal came before and its rung is over, or the grace period is.
 *
 * By the end of the container, which comes after the KILL: a little too early a KILL may pass, one without a reason does not.
 */
import { reasonToStopMs } from './asks.ts';
import { type ApplicationLife, stopSignalsOf } from './lives.ts';
import type { MemberPlan } from './members.ts';
import { hitsOf, type RoundRecord } from './record.ts';

export function isKillDue(record: RoundRecord, member: MemberPlan, life: ApplicationLife): boolean {
  const { graceMs } = record.plan;
  const { untilMs } = life.container;
  const [first] = stopSignalsOf(life);
  const killMs = Math.min(graceMs, ...hitsOf(record, ['delete-again']).map((it) => it.value ?? graceMs));
  if (untilMs >= reasonToStopMs(record, member, life.container) + killMs - Math.min(500, killMs / 20)) return true;
  if (first === undefined || !member.ladder.some((it) => it.signal === SIGKILL)) return false;
  const isHurried = hitsOf(record, ['stop-again'], member.name).length > 0;
  return isHurried || untilMs >= first.atMs + member.ladder.reduce((sum, it) => sum + (it.forMs ?? 0), 0) - ROUNDING_MS;
}

const SIGKILL = 9;
/** The application's clock has microseconds, timers of Node have milliseconds. */
const ROUNDING_MS = 5;

/** KILL may also come between its last word and its end. */
export function statusesOf(record: RoundRecord, member: MemberPlan, life: ApplicationLife): number[] {
  return [...life.statuses, ...(isKillDue(record, member, life) ? [128 + SIGKILL] : [])];
}
