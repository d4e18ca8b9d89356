/**
 * The one deadline of a pod's stop, and what is reckoned back from it.
 *
 * Every stop that the platform asks for has a budget that runs from the request to the platform's SIGKILL. Members carve the
 * deadline when its length was declared; whoever is stopping takes the earliest one and never moves it later.
 */
import type { MemberConfig } from './config.ts';
import { isForeign } from './standing.ts';
import type { Deadline, Peer, State, Stop } from './state.ts';

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

/** What `sexton stop` means: the same for the whole pod, and nobody else will end it. */
export function requestDeadline(config: MemberConfig, atMs: number, graceMs: number | undefined): Deadline {
  return { atMs: atMs + (graceMs ?? graceOf(config)), sinceMs: atMs, kills: true, shared: true };
}

/** The end of a stop that sexton itself decided: nobody else will end it, so the budget runs from the first rung. */
export function ownKillAtMs(config: MemberConfig, nowMs: number): number {
  return nowMs + graceOf(config);
}

/** The earlier of two; a soft one that is merely assumed gives way to one that counts. */
export function earlier(a: Deadline | undefined, b: Deadline): Deadline {
  if (a === undefined) return b;
  if (a.kills !== b.kills) return a.kills ? a : b;
  return b.atMs < a.atMs ? b : a;
}

/** What the others carved, as far as it matters to a member that is stopping: of those who live and stop in this boot. */
export function peersDeadline(config: MemberConfig, state: State, stop: Stop): Deadline | undefined {
  const deadlines = Object.values(state.peers ?? {})
    .filter((peer) => isStopping(peer) && !isForeign(config, state, peer))
    .flatMap((peer) => (peer.tombstone.Deadline === undefined ? [] : [peer.tombstone.Deadline]))
    .filter((atMs) => atMs >= stop.atMs);
  if (deadlines.length === 0) return undefined;
  return { atMs: Math.min(...deadlines), sinceMs: stop.atMs, kills: true, shared: true };
}

/** Whoever still waits for its turn then, stops: 2 s before the deadline, or half of a short budget. */
export function lastTurnMs(budget: Budget): number {
  return budget.atMs - Math.min(2_000, lengthOf(budget) / 2);
}

/** Our own KILL comes a little before the platform's, so that the death is carved: 500 ms, or a twentieth. */
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

function isStopping(peer: Peer): boolean {
  return peer.tombstone.Died === undefined && peer.tombstone.StopRequested !== undefined && peer.liveness === 'held';
}
