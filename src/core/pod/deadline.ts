/**
 * The deadline of a stop, and the times reckoned back from it.
 *
 * Every stop by the platform has a budget from its request to the platform's SIGKILL. A member's own deadline follows
 * from its request and the grace period that it declared or that the request named. It never moves later, but an
 * assumed one gives way to a named one. It is written into the tombstone. Other stopping members wait no longer than
 * the earliest written one: a deadline of others ends waiting, never a command.
 *
 * KILL comes from here, each time once, unless `--signals` translates a signal to KILL or init leaves.
 *
 * | ends by KILL | when | decided in |
 * |---|---|---|
 * | a ladder | at its rung KILL | `climb.ts`, `sendRung` |
 * | a stop with a deadline that `kills`, also for a restart | `killAtMs` of the deadline | `climb.ts`, `climbInTime` |
 * | a stop that sexton decided on | a grace period after its pre-stop or first rung | `hooks.ts`, `ownBudget` |
 * | a failed life | a grace period, or that of its probe, after the failure | `failing.ts` |
 * | what a command has left behind | a grace period after its first signal, or 2 s | `climb.ts`, `stopRoots` |
 * | a stop in a terminal | at the third interrupt | `request.ts`, `onFurtherRequest` |
 * | any of these whose supervisor is late | at the deadline itself, or 1 s later | `orders.ts`, by the host |
 * | a stop that no supervisor acknowledges | a grace period after the request | `orders.ts`, by the host |
 *
 * A platform's stop without a declared grace period ends only in the platform's own SIGKILL.
 */
import type { MemberConfig } from '../config.ts';
import type { Event } from '../state/events.ts';
import type { Peer } from '../state/peer.ts';
import type { Deadline, State, Stop } from '../state/state.ts';
import { earliest } from '../time.ts';
import { tellsOfPassed } from './restart.ts';
import { isForeign } from './standing.ts';

type Asked = Event & { readonly type: 'stopAsked' };

/** The assumed grace period where none is declared: the default of Kubernetes. */
export const ASSUMED_GRACE_MS = 30_000;

export type Budget = Pick<Deadline, 'sinceMs' | 'atMs'>;

export function graceOf(config: MemberConfig): number {
  return config.gracePeriodMs ?? ASSUMED_GRACE_MS;
}

/** The deadline of the platform's stop request at `atMs`. */
export function platformDeadline(config: MemberConfig, atMs: number): Deadline {
  const isDeclared = config.gracePeriodMs !== undefined;
  return { atMs: atMs + graceOf(config), sinceMs: atMs, kills: isDeclared, shared: isDeclared };
}

/** The deadline of `sexton stop`, which only sexton itself ends. A request without names is for the whole pod. */
export function requestDeadline(config: MemberConfig, atMs: number, ask: Pick<Asked, 'graceMs' | 'among'>): Deadline {
  const isThePods = ask.among === undefined;
  return { atMs: atMs + (ask.graceMs ?? graceOf(config)), sinceMs: atMs, kills: true, shared: isThePods };
}

/** When sexton ends a stop that it began itself, as the platform will not: one grace period after `nowMs`. */
export function ownKillAtMs(config: MemberConfig, nowMs: number): number {
  return nowMs + graceOf(config);
}

/** The earlier of two deadlines; one that is merely assumed gives way to one that counts. */
export function earlier(a: Deadline | undefined, b: Deadline): Deadline {
  if (a === undefined) return b;
  if (a.kills !== b.kills) return a.kills ? a : b;
  return b.atMs < a.atMs ? b : a;
}

/** The end of all waiting: the own declared deadline, or an earlier one that others have written. */
export function endOfWaiting(config: MemberConfig, state: State): Budget | undefined {
  const { deadline, stop } = state;
  const own = deadline?.kills === true ? deadline : undefined;
  const adopted = stop === undefined ? undefined : peersBudget(config, state, stop);
  if (own === undefined || adopted === undefined) return own ?? adopted;
  return adopted.atMs < own.atMs ? adopted : own;
}

/** The last moment for another start; an assumed deadline counts, too. */
export function lastMomentMs(config: MemberConfig, state: State): number | undefined {
  return earliest(state.deadline?.atMs, endOfWaiting(config, state)?.atMs);
}

/** The earliest deadline of peers that stop, too, or have died since; that of a restart that we completed is over. */
function peersBudget(config: MemberConfig, state: State, stop: Stop): Budget | undefined {
  const deadlines = Object.values(state.peers ?? {})
    .filter(
      (peer) => isStopping(peer, stop) && !isForeign(config, state, peer) && !tellsOfPassed(state, peer.tombstone),
    )
    .flatMap((peer) => (peer.tombstone.Deadline === undefined ? [] : [peer.tombstone.Deadline]))
    .filter((atMs) => atMs >= stop.atMs);
  const atMs = earliest(...deadlines);
  return atMs === undefined ? undefined : { atMs, sinceMs: stop.atMs };
}

/** When a waiting member stops at the latest: 2 s before the deadline, or half of a short budget. */
export function lastTurnMs(budget: Budget): number {
  return budget.atMs - Math.min(2_000, lengthOf(budget) / 2);
}

/** When our own KILL comes: 500 ms or a twentieth before the platform's, to leave time to write the death. */
export function killAtMs(budget: Budget): number {
  return budget.atMs - Math.min(500, lengthOf(budget) / 20);
}

function lengthOf({ sinceMs, atMs }: Budget): number {
  return Math.max(0, atMs - sinceMs);
}

function isStopping({ tombstone, liveness }: Peer, stop: Stop): boolean {
  if (tombstone.StopRequested === undefined || tombstone.StopScope === 'container') return false;
  return tombstone.Died === undefined ? liveness === 'held' : (tombstone.DiedMonotonic ?? 0) >= stop.atMs;
}

/**
 * When all waiting ends because of the grace floor; undefined: no floor is declared, or the platform has not asked.
 *
 * The floor is the shortest time that the platform may leave between its stop request and its KILL. TERM does not carry
 * it: a node shutdown, an eviction or `kubectl delete --grace-period` may leave less than the pod declares. A command
 * whose member still waits then is killed without its stop signal. All waiting therefore ends before the floor, that of
 * a main a little earlier than that of its sidecars. The rest of the declared grace period belongs to the command.
 */
export function floorTurnMs(config: MemberConfig, { asked }: Stop): number | undefined {
  const waitMs = floorWaitMs(config);
  return asked === undefined || waitMs === undefined ? undefined : asked.atMs + waitMs;
}

/** From the platform's request to that end; undefined: no floor is declared. */
export function floorWaitMs({ graceFloorMs, role }: MemberConfig): number | undefined {
  if (graceFloorMs === undefined) return undefined;
  const turnMs = lastTurnMs({ sinceMs: 0, atMs: graceFloorMs });
  return role === 'main' ? turnMs : (turnMs + graceFloorMs) / 2;
}
