/**
 * The deadline of a stop, and what is reckoned back from it.
 *
 * Every stop that the platform asks for has a budget that runs from the request to the platform's SIGKILL. A member's
 * own deadline comes from its own request and the grace period that it has declared, or that the request named, and
 * only this one ends in our own KILL. It never moves later. It is written into the tombstone, and a member that is
 * stopping, too, waits no longer than the earliest that others have written: a deadline of others ends waiting, never a
 * command.
 */
import type { MemberConfig } from '../config.ts';
import type { Event } from '../state/events.ts';
import type { Peer } from '../state/peer.ts';
import type { Deadline, State, Stop } from '../state/state.ts';
import { tellsOfPassed } from './restart.ts';
import { isForeign } from './standing.ts';

type Asked = Event & { readonly type: 'stopAsked' };

/** Assumed where no grace period was declared: what Kubernetes gives a pod that declares none. */
export const ASSUMED_GRACE_MS = 30_000;

/** Since when a time runs, and when it is over. */
export type Budget = Pick<Deadline, 'sinceMs' | 'atMs'>;

export function graceOf(config: MemberConfig): number {
  return config.gracePeriodMs ?? ASSUMED_GRACE_MS;
}

/** What the platform's stop request at `atMs` means. */
export function platformDeadline(config: MemberConfig, atMs: number): Deadline {
  const isDeclared = config.gracePeriodMs !== undefined;
  return { atMs: atMs + graceOf(config), sinceMs: atMs, kills: isDeclared, shared: isDeclared };
}

/** What `sexton stop` means; only sexton itself will end it. A request without names is for the whole pod. */
export function requestDeadline(config: MemberConfig, atMs: number, ask: Pick<Asked, 'graceMs' | 'among'>): Deadline {
  const isThePods = ask.among === undefined;
  return { atMs: atMs + (ask.graceMs ?? graceOf(config)), sinceMs: atMs, kills: true, shared: isThePods };
}

/**
 * The end of a stop that sexton itself decided: the platform will not end it, so the budget runs from the first rung.
 */
export function ownKillAtMs(config: MemberConfig, nowMs: number): number {
  return nowMs + graceOf(config);
}

/** The earlier of two; a soft one that is merely assumed gives way to one that counts. */
export function earlier(a: Deadline | undefined, b: Deadline): Deadline {
  if (a === undefined) return b;
  if (a.kills !== b.kills) return a.kills ? a : b;
  return b.atMs < a.atMs ? b : a;
}

/** When nothing may be waited for any more: its own deadline, if that is declared, or one that others have written. */
export function endOfWaiting(config: MemberConfig, state: State): Budget | undefined {
  const { deadline, stop } = state;
  const own = deadline?.kills === true ? deadline : undefined;
  const adopted = stop === undefined ? undefined : peersBudget(config, state, stop);
  if (own === undefined || adopted === undefined) return own ?? adopted;
  return adopted.atMs < own.atMs ? adopted : own;
}

/** With no more time than this left the child is not started again; a soft deadline counts, too. */
export function lastMomentMs(config: MemberConfig, state: State): number | undefined {
  const moments = [state.deadline?.atMs, endOfWaiting(config, state)?.atMs].filter((atMs) => atMs !== undefined);
  return moments.length === 0 ? undefined : Math.min(...moments);
}

/**
 * The deadline that the peers of this boot have written, as far as it matters to a member that is stopping: peers that
 * stop too, or have died since then. The deadline of a restart is over when we have gone through it.
 */
function peersBudget(config: MemberConfig, state: State, stop: Stop): Budget | undefined {
  const deadlines = Object.values(state.peers ?? {})
    .filter(
      (peer) => isStopping(peer, stop) && !isForeign(config, state, peer) && !tellsOfPassed(state, peer.tombstone),
    )
    .flatMap((peer) => (peer.tombstone.Deadline === undefined ? [] : [peer.tombstone.Deadline]))
    .filter((atMs) => atMs >= stop.atMs);
  return deadlines.length === 0 ? undefined : { atMs: Math.min(...deadlines), sinceMs: stop.atMs };
}

/**
 * A member that still waits for its turn then stops all the same: 2 s before the deadline, or half of a short budget.
 */
export function lastTurnMs(budget: Budget): number {
  return budget.atMs - Math.min(2_000, lengthOf(budget) / 2);
}

/** Our own KILL comes a little before the platform's, so that the death is written: 500 ms, or a twentieth. */
export function killAtMs(budget: Budget): number {
  return budget.atMs - Math.min(500, lengthOf(budget) / 20);
}

/** When the host KILLs if we have not: without less, at the end of a budget that our own KILL ends. */
export function hostKillAtMs({ deadline }: Pick<State, 'deadline'>): number | undefined {
  return deadline?.kills === true ? deadline.atMs : undefined;
}

function lengthOf({ sinceMs, atMs }: Budget): number {
  return Math.max(0, atMs - sinceMs);
}

function isStopping({ tombstone, liveness }: Peer, stop: Stop): boolean {
  if (tombstone.StopRequested === undefined || tombstone.StopScope === 'container') return false;
  return tombstone.Died === undefined ? liveness === 'held' : (tombstone.DiedMonotonic ?? 0) >= stop.atMs;
}

/**
 * The grace floor: the shortest time that the platform may leave between its stop request and its KILL.
 *
 * TERM does not carry how long it is: the shutdown of a node, an eviction or `kubectl delete --grace-period` may leave
 * less than the pod declares. A command whose member still waits then is killed without its stop signal. So where a
 * floor is declared all waiting ends before it, a main's a little earlier than that of the sidecars it needs; what is
 * left of the declared grace period then is the command's.
 *
 * When nothing is waited for any more; undefined: no floor is declared, or the platform has not asked.
 */
export function floorTurnMs({ graceFloorMs, role }: MemberConfig, { asked }: Stop): number | undefined {
  if (graceFloorMs === undefined || asked === undefined) return undefined;
  const atMs = asked.atMs + graceFloorMs;
  const turnMs = lastTurnMs({ sinceMs: asked.atMs, atMs });
  return role === 'main' ? turnMs : (turnMs + atMs) / 2;
}
