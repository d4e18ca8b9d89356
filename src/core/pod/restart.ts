/**
 * A restart in place as the pod sees it: each member that takes part says so in its tombstone. Members that could not
 * be asked, or started later, learn of it from the others, and each knows when all have ended.
 */
import type { MemberConfig } from '../config.ts';
import type { Tombstone } from '../format/tombstone.ts';
import type { Peer } from '../state/peer.ts';
import { RESTART, type Restart, type RestartAsk, type State } from '../state/state.ts';
import { isForeign, isPast, nextLookMs, STALE_AFTER_MS, standingOf } from './standing.ts';

/** Whether it stops, or has ended, for a restart, and no real stop was requested since. */
export function isRestarting({ stop }: Pick<State, 'stop'>): boolean {
  return stop?.reason === RESTART;
}

export function takesPart(among: readonly string[] | undefined, name: string): boolean {
  return among === undefined || among.includes(name);
}

/** Merges two restarts that are under way: the later one counts, for the members of both. */
export function merged(a: RestartAsk, b: RestartAsk): RestartAsk {
  const [last, first] = b.requestedMs > a.requestedMs ? [b, a] : [a, b];
  const among = a.among === undefined || b.among === undefined ? undefined : [...new Set([...a.among, ...b.among])];
  const isOfAll = (ask: RestartAsk): boolean =>
    ask.among === undefined || (among?.every((name) => ask.among?.includes(name)) ?? false);
  const graceMs = isOfAll(last) ? last.graceMs : longer(last.graceMs, first.graceMs);
  return { ...last, among, graceMs, byRule: last.byRule ?? first.byRule };
}

/** The longer grace period, so that no request is cut short. `undefined`: one of the two allows each member its own. */
function longer(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.max(a, b);
}

/** Whether this request asks for more than those before it. */
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

/** The restarts of others that include us, and when a doubtful one may be believed. */
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

/** Whether all had ended for it before we started, as another has started again. Those that wait will soon see it. */
function isOver(config: MemberConfig, state: State, { requestedMs }: RestartAsk): boolean {
  const hasStarted = (peer: Peer): boolean => {
    const { RestartRequested, StopRequested } = peer.tombstone;
    return RestartRequested === requestedMs && StopRequested === undefined && !isForeign(config, state, peer);
  };
  return requestedMs <= state.startedAtMs && Object.values(state.peers ?? {}).some(hasStarted);
}

/** Whether its time is in the future, where it would win over every other one. Times are rounded on the way. */
export function isAhead({ now }: State, { requestedMs }: RestartAsk): boolean {
  return requestedMs > now.mono + MAX_AHEAD_MS;
}

const MAX_AHEAD_MS = 1_000;
/** By then the new holder of the socket has replaced the old tombstone. */
const SETTLING_MS = 1_000;

/** The restart that its writer takes part in, or has completed and we have missed. */
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

/** Whether its writer seems alive. One from before our start may be dead, unless it names a restart since then. */
function isHeard({ startedAtMs }: State, { liveness, refused, foundAtStart, tombstone }: Peer): boolean {
  const isOfBefore = foundAtStart && (tombstone.RestartRequested ?? 0) <= startedAtMs;
  return liveness === 'held' || (liveness === 'none' && refused !== true && !isOfBefore);
}

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
