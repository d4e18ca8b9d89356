/**
 * Of the naive opinion: what follows from a deadline, and when there is another life.
 */
import type { Plan } from './plan.ts';

export interface Budget {
  readonly at: number;
  readonly since: number;
}
/** A hard one was declared; the other is merely assumed. */
export type Deadline = Budget & { readonly hard: boolean };

/** Only earlier; one that is merely assumed gives way to one that counts. */
export function earlierOf(old: Deadline | undefined, next: Deadline): Deadline {
  const isEarlier = old === undefined || (next.hard && !old.hard) || (next.hard === old.hard && next.at < old.at);
  return isEarlier ? next : old;
}

/** Whoever still waits stops now: 2 s before the end, or at half of a short budget. */
export function isLastTurn(budget: Budget | undefined, now: number): boolean {
  return budget !== undefined && now >= budget.at - Math.min(2_000, (budget.at - budget.since) / 2);
}

/** A little before the platform's own KILL. */
export function isKillTime(deadline: Deadline | undefined, now: number): boolean {
  if (deadline?.hard !== true) return false;
  return now >= deadline.at - Math.min(500, (deadline.at - deadline.since) / 20);
}

export function isMainDead({ mainEndsAt }: Plan, now: number): boolean {
  return mainEndsAt !== undefined && now >= mainEndsAt;
}

/** Dead, and no other life of it will follow. */
export function isMainFinished(plan: Plan, now: number): boolean {
  const { policy, mainEndsWith } = plan;
  return isMainDead(plan, now) && (policy === 'Never' || (policy === 'OnFailure' && mainEndsWith === 0));
}

/** `auto`: only where the platform would not do it, that is while the pod stops, and where this end would be final. */
export function wantsAnother({ policy, restart }: Plan, status: number, failed: boolean, podStops: boolean): boolean {
  if (restart === 'never') return false;
  if (restart === 'always') return true;
  if (restart === 'on-failure') return status !== 0 || failed;
  return podStops || policy === 'Never' || (policy === 'OnFailure' && status === 0);
}
