/**
 * What one round is: a pod and the strikes on it, all drawn from the seed. The same seed gives the same plan, but the
 * machine decides at which instruction of a process a strike arrives.
 */
import { chance } from '../helpers/rounds.ts';
import { dice } from './dice.ts';
import { type MemberPlan, planMembers } from './members.ts';
import { planStrikes, type Strike } from './strikes.ts';

export type Policy = 'Never' | 'OnFailure' | 'Always';

export interface Plan {
  readonly seed: number;
  readonly policy: Policy;
  readonly graceMs: number;
  readonly declareGrace: boolean;
  readonly declareSession: boolean;
  /** All members run under this uid; undefined: as root, whom permissions do not stop. */
  readonly user: number | undefined;
  readonly members: readonly MemberPlan[];
  /** The mains' time counts from when all that is planned from the start on has happened: it finds them alive. */
  readonly isHeldOpen: boolean;
  /** The mains do not end by themselves: the deletion finds them at work. */
  readonly isEndless: boolean;
  readonly strikes: readonly Strike[];
}

export function planOf(seed: number, isRoot: boolean): Plan {
  const roll = dice(chance(seed));
  const policy = roll.weighted<Policy>([
    [45, 'Never'],
    [35, 'OnFailure'],
    [20, 'Always'],
  ]);
  const members = planMembers(roll, policy);
  const strikes = planStrikes(roll, policy, members, isRoot);
  const isEndless = roll.isTrue(0.5) && strikes.some((it) => it.kind === 'delete');
  return {
    seed,
    policy,
    graceMs: roll.between(2_000, 5_000),
    declareGrace: roll.isTrue(0.9),
    declareSession: roll.isTrue(0.95),
    user: roll.isTrue(0.5) && isRoot ? 12_345 : undefined,
    members,
    isHeldOpen: policy !== 'Always' && roll.isTrue(0.6),
    isEndless,
    strikes: isEndless ? strikes.map(later) : strikes,
  };
}

/** A deletion that all members have had the time to expect. */
function later(strike: Strike): Strike {
  return strike.kind === 'delete' ? { ...strike, atMs: strike.atMs + 1_200 } : strike;
}

export function isDeleted(plan: Plan): boolean {
  return plan.strikes.some((strike) => strike.kind === 'delete');
}
