/**
 * A restart in place, as the pod knows it: each member that takes part in one says so in its tombstone. So a member that
 * could not be asked, or that was started meanwhile, learns of it from the others; and each knows when all have ended.
 */
import type { MemberConfig } from '../config.ts';
import type { Tombstone } from '../format/tombstone.ts';
import type { Peer } from '../state/peer.ts';
import { RESTART, type Restart, type RestartAsk, type State } from '../state/state.ts';
import { isForeign, isPast, nextLookMs, STALE_AFTER_MS, standingOf } from './standing.ts';

/** It stops, or has ended, for a restart, and nobody has asked for a real stop since. */
export function isRestarting({ stop }: Pick<State, 'stop'>): boolean {
  return stop?.reason === RESTART;
}

export function takesPart(among: readonly string[] | undefined, name: string): boolean {
  return among === undefined || among.includes(name);
}

/** Of two that are under way the later one counts, for all that either was asked of. */
export function merged(a: RestartAsk, b: RestartAsk): RestartAsk {
  const [last, first] = b.requestedMs > a.requestedMs ? [b, a] : [a, b];
  const among = a.among === undefined || b.among === undefined ? undefined : [...new Set([...a.among, ...b.among])];
  const isOfAll = (ask: RestartAsk): boolean =>
    ask.among === undefined || (among?.every((name) => ask.among?.includes(name)) ?? false);
  const graceMs = isOfAll(last) ? last.graceMs : longer(last.graceMs, first.graceMs);
  return { ...last, among, graceMs, byRule: last.byRule ?? first.byRule };
}

/**
 * Nobody is killed earlier than the request that it was asked by allows: undefined is its own grace period, which one of
 * the two allows.
 */
function longer(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.max(a, b);
}

/** Whether it asks for more than was asked for before. */
export function isNews(state: State, ask: RestartAsk): boolean {
  const { restart, stop } = state;
  if (stop !== undefined && !isRestarting(state)) return false;
  if (restart === undefined || ask.requestedMs > restart.requestedMs) return true;
  const { among, passedMs = 0 } = restart;
  return (
    isRestarting(state) &&
    ask.requestedMs > passedMs &&
    among !== undefined &&
    !(ask.among?.every((name) => among.includes(name)) ?? false)
  );
}

/** What others are restarted for, and us with them; and when one that is doubted may be believed. */
export function restartsOfOthers(
  config: MemberConfig,
  state: State,
): { readonly asks: readonly RestartAsk[]; readonly untilMs: number | undefined } {
  const asks: RestartAsk[] = [];
  const doubts: number[] = [];
  for (const peer of Object.values(state.peers ?? {})) {
    const ask = askOf(peer.tombstone, state.startedAtMs);
    if (ask === undefined || !takesPart(ask.among, config.name) || !isNews(state, ask)) continue;
    if (isAhead(state, ask) || !isHeard(state, peer) || isForeign(config, state, peer)) continue;
    if (isOver(config, state, ask)) continue;
    const atMs = peer.foundAtStart ? peer.sinceMs + SETTLING_MS : 0;
    if (isPast(state, atMs)) asks.push(ask);
    else doubts.push(nextLookMs(state, atMs));
  }
  return { asks, untilMs: doubts.length === 0 ? undefined : Math.min(...doubts) };
}

/**
 * It was asked for before this container was started, and another has started again: all others had ended by then. Who
 * still rests is about to see that.
 */
function isOver(config: MemberConfig, state: State, { requestedMs }: RestartAsk): boolean {
  const hasStarted = (peer: Peer): boolean => {
    const { RestartRequested, StopRequested } = peer.tombstone;
    return RestartRequested === requestedMs && StopRequested === undefined && !isForeign(config, state, peer);
  };
  return requestedMs <= state.startedAtMs && Object.values(state.peers ?? {}).some(hasStarted);
}

/** Its moment has not come, and would keep any other from being the later one. Times are rounded on the way. */
export function isAhead({ now }: State, { requestedMs }: RestartAsk): boolean {
  return requestedMs > now.mono + MAX_AHEAD_MS;
}

const MAX_AHEAD_MS = 1_000;
/** By then who holds the handle anew has written over the tombstone of the life before. */
const SETTLING_MS = 1_000;

/** The restart that its writer is in the midst of, or that it has gone through and we have missed. */
function askOf(tombstone: Tombstone, startedAtMs: number): RestartAsk | undefined {
  const { Name, StopReason, StopRequested, Died, RestartRequested } = tombstone;
  const { RestartBy, RestartAmong, RestartGraceMs, RestartByRule } = tombstone;
  if (RestartRequested === undefined || Died !== undefined) return undefined;
  const isMissed = StopRequested === undefined && RestartRequested > startedAtMs;
  if (StopReason !== RESTART && !isMissed) return undefined;
  return {
    requestedMs: RestartRequested,
    by: RestartBy ?? Name,
    graceMs: RestartGraceMs,
    among: RestartAmong,
    byRule: RestartByRule,
  };
}

/**
 * Its writer lives, as far as can be told: a tombstone that was there before us may be that of the dead, unless it tells
 * of a restart that was asked for since this container was started.
 */
function isHeard({ startedAtMs }: State, { liveness, refused, foundAtStart, tombstone }: Peer): boolean {
  const isOfBefore = foundAtStart && (tombstone.RestartRequested ?? 0) <= startedAtMs;
  return liveness === 'held' || (liveness === 'none' && refused !== true && !isOfBefore);
}

/** It was started before, and is started again when all have ended. */
export function hasEndedForRestart({ tombstone }: Peer): boolean {
  return tombstone.StopReason === RESTART && tombstone.Phase === 'waiting';
}

/**
 * It tells of a restart that we have gone through: its writer is about to start again, or has started, and the next
 * word of it says so.
 */
export function tellsOfPassed(
  { restart }: Pick<State, 'restart'>,
  { StopReason, RestartRequested }: Tombstone,
): boolean {
  if (StopReason !== RESTART || RestartRequested === undefined || restart === undefined) return false;
  const passedMs = restart.againSinceMs === undefined ? restart.passedMs : restart.requestedMs;
  return passedMs !== undefined && RestartRequested <= passedMs;
}

/** The members whose commands have not ended for it yet, and when that may change by time alone. */
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
  return {
    names: waited.map(({ name }) => name),
    untilMs: moments.length === 0 ? undefined : Math.min(...moments),
  };
}

/** Where no file events come each looks every 5 s. */
const LOOK_MS = 6_000;

/** Until when it is waited for at most; undefined: not at all. */
function endOfWaitMs(config: MemberConfig, state: State, restart: Restart, peer: Peer): number | undefined {
  const standing = standingOf(config, state, peer);
  const { Version, Phase, StopRequested, RestartRequested = 0, Died, Deadline = 0 } = peer.tombstone;
  if (standing.is === 'unsure') return Died !== undefined || standing.waiting ? undefined : standing.untilMs;
  // Whoever is not run by sexton hears of no restart.
  if ((standing.is !== 'alive' && standing.is !== 'waiting') || Version === 0) return undefined;
  const ownMs = state.deadline?.atMs ?? 0;
  // It is asked as we were, or hears of it from us.
  if (RestartRequested < restart.requestedMs) return Math.max(ownMs, restart.requestedMs + LOOK_MS);
  const hasEnded = StopRequested === undefined || Phase === 'waiting';
  return hasEnded ? undefined : Math.max(ownMs, Deadline) + STALE_AFTER_MS;
}
