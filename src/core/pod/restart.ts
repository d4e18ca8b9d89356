/**
 * A restart in place: a round that each named member goes through once. It is known by the time of its request. Each
 * member says in its tombstone that it stops for it, waits, or has started again. From the others it learns of a round
 * that it was not asked for, and when all have ended.
 */
import type { MemberConfig } from '../config.ts';
import type { Tombstone } from '../format/tombstone.ts';
import type { Peer } from '../state/peer.ts';
import { RESTART, type Restart, type RestartAsk, type State } from '../state/state.ts';
import { isForeign, isPast, nextLookMs, STALE_AFTER_MS, standingOf } from './standing.ts';

/**
 * What a request makes of a member's restart; undefined: nothing, as a later one covers it, or a stop beats it. A
 * member that is born after a request counts as started again. During a round the latest request waits.
 */
export function hear(
  name: string,
  { startedAtMs, restart, stop }: Pick<State, 'startedAtMs' | 'restart' | 'stop'>,
  ask: RestartAsk,
): Restart | undefined {
  const lastMs = restart?.next?.requestedMs ?? restart?.requestedMs ?? Number.NEGATIVE_INFINITY;
  if (!takesPart(ask.among, name) || ask.requestedMs <= lastMs) return undefined;
  if (stop === undefined)
    return ask.requestedMs < startedAtMs
      ? { ...ask, againSinceMs: startedAtMs }
      : { ...ask, passedMs: restart?.requestedMs };
  if (!isRestarting({ stop }) || restart === undefined) return undefined;
  return replaces(ask, restart) ? follow(restart, ask) : { ...restart, next: ask };
}

/** Whether it asks all members of this round for the same, so that it can take its place while the round goes on. */
function replaces(ask: RestartAsk, { among, byRule }: Restart): boolean {
  const isOfAll = ask.among === undefined || (among?.every((name) => takesPart(ask.among, name)) ?? false);
  return isOfAll && (byRule === undefined || byRule === ask.byRule);
}

/** The next round of a member that is stopping, or has stopped, for this one. */
export function follow(restart: Restart, ask: RestartAsk): Restart {
  return { ...restart, ...ask, next: undefined };
}

/** Whether it stops, or has ended, for a restart, and no real stop was requested since. */
export function isRestarting({ stop }: Pick<State, 'stop'>): boolean {
  return stop?.reason === RESTART;
}

export function takesPart(among: readonly string[] | undefined, name: string): boolean {
  return among === undefined || among.includes(name);
}

/** The requests in the tombstones of others: from our life, or from before it where they wait for us. */
export function restartsOfOthers(config: MemberConfig, state: State): readonly RestartAsk[] {
  return Object.values(state.peers ?? {}).flatMap((peer) => {
    const { Name, StopReason, Died, RestartRequested, RestartBy, ...told } = peer.tombstone;
    if (RestartRequested === undefined || isForeign(config, state, peer)) return [];
    if (RestartRequested < state.startedAtMs && (StopReason !== RESTART || Died !== undefined)) return [];
    const { RestartAmong: among, RestartGraceMs: graceMs, RestartByRule: byRule } = told;
    const ask = { requestedMs: RestartRequested, by: RestartBy ?? Name, graceMs, among, byRule };
    return isAhead(state, ask) ? [] : [ask];
  });
}

/** Whether its time is in the future, where it would win over every other one. Times are rounded on the way. */
export function isAhead({ now }: Pick<State, 'now'>, { requestedMs }: RestartAsk): boolean {
  return requestedMs > now.mono + MAX_AHEAD_MS;
}

const MAX_AHEAD_MS = 1_000;

/** Whether its command has ended for a restart and starts again when all have ended. */
export function hasEndedForRestart({ tombstone }: Peer): boolean {
  return tombstone.StopReason === RESTART && tombstone.Phase === 'waiting';
}

/** Whether it reports a restart that we completed: its writer starts again too, and its next tombstone says so. */
export function tellsOfPassed(
  { restart }: Pick<State, 'restart'>,
  { StopReason, RestartRequested }: Tombstone,
): boolean {
  if (StopReason !== RESTART || RestartRequested === undefined || restart === undefined) return false;
  const passedMs = restart.againSinceMs === undefined ? restart.passedMs : restart.requestedMs;
  return passedMs !== undefined && RestartRequested <= passedMs;
}

/** The members whose commands have not ended for it yet, and when time alone may change that. */
export function unendedIn(
  config: MemberConfig,
  state: State,
  restart: Restart,
): { readonly names: readonly string[]; readonly untilMs: number | undefined } {
  const waited = Object.values(state.peers ?? {}).flatMap((peer) => {
    const { Name } = peer.tombstone;
    if (!takesPart(restart.among, Name)) return [];
    const untilMs = endOfWaitMs(config, state, restart, peer);
    return untilMs === undefined || isPast(state, untilMs) ? [] : [{ name: Name, untilMs: nextLookMs(state, untilMs) }];
  });
  const moments = waited.map(({ untilMs }) => untilMs);
  return { names: waited.map(({ name }) => name), untilMs: moments.length === 0 ? undefined : Math.min(...moments) };
}

/** Longer than the 5 s between two reads where no file events come. */
const LOOK_MS = 6_000;

/** How long this peer is waited for; undefined: not at all. */
function endOfWaitMs(config: MemberConfig, state: State, restart: Restart, peer: Peer): number | undefined {
  const standing = standingOf(config, state, peer);
  const { Version, Phase, StopRequested, RestartRequested = 0, Died, Deadline = 0 } = peer.tombstone;
  if (standing.is === 'unsure') return Died !== undefined || standing.waiting ? undefined : standing.untilMs;
  // A member that sexton does not run hears of no restart.
  if ((standing.is !== 'alive' && standing.is !== 'waiting') || Version === 0) return undefined;
  const ownMs = state.deadline?.atMs ?? 0;
  // It is asked as we were, or reads of it in our tombstone.
  if (RestartRequested < restart.requestedMs) return Math.max(ownMs, restart.requestedMs + LOOK_MS);
  const hasEnded = StopRequested === undefined || Phase === 'waiting';
  return hasEnded ? undefined : Math.max(ownMs, Deadline) + STALE_AFTER_MS;
}
