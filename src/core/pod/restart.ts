/**
 * A restart in place: a round that each named member goes through once. It is known by the time of its request. Each
 * member says in its tombstone that it stops for it, waits, or has started again. From the others it learns of a round
 * that it was not asked for, and when all have ended.
 */
import type { MemberConfig } from '../config.ts';
import { MAX_PASSED, type Tombstone } from '../format/tombstone.ts';
import type { Peer } from '../state/peer.ts';
import { RESTART, type Restart, type RestartAsk, type Round, type State } from '../state/state.ts';
import { earliest } from '../time.ts';
import { isForeign, isPast, nextLookMs, STALE_AFTER_MS, standingOf } from './standing.ts';

/**
 * What a request makes of a member's restart; undefined: nothing, as a later one covers it, or a stop beats it. A
 * member that is born after a request counts as started again. During a round the earlier of two goes first, and the
 * latest waits.
 */
export function hear(
  name: string,
  { startedAtMs, restart, stop }: Pick<State, 'startedAtMs' | 'restart' | 'stop'>,
  ask: RestartAsk,
): Restart | undefined {
  if (!takesPart(ask.among, name) || hasPassed(restart, ask)) return undefined;
  if (stop !== undefined && !isRestarting({ stop })) return undefined;
  const known = [restart, restart?.next];
  if (known.some((round) => round !== undefined && covers(round, ask))) return undefined;
  if (ask.requestedMs < startedAtMs)
    return restart === undefined
      ? { ...ask, againSinceMs: startedAtMs }
      : { ...restart, passed: passedWith(restart.passed, ask) };
  if (restart === undefined) return ask;
  if (stop === undefined) return { ...ask, passed: passedWith(restart.passed, restart) };
  const { next } = restart;
  if (covers(ask, restart))
    return { ...follow(restart, ask), next: next !== undefined && covers(ask, next) ? undefined : next };
  if (ask.requestedMs < restart.requestedMs) return { ...follow(restart, ask), next: next ?? askOf(restart) };
  return next === undefined || ask.requestedMs > next.requestedMs ? { ...restart, next: ask } : undefined;
}

/** Whether a round is not earlier and asks all members of the other for the same: it stands for both. */
function covers(round: Round, { requestedMs, among, byRule }: Round): boolean {
  const isOfAll = round.among === undefined || (among?.every((name) => takesPart(round.among, name)) ?? false);
  return round.requestedMs >= requestedMs && isOfAll && (byRule === undefined || byRule === round.byRule);
}

/** The next round of a member that is stopping, or has stopped, for this one. */
function follow(restart: Restart, ask: RestartAsk): Restart {
  return { ...restart, ...askOf(ask), next: undefined };
}

/** The round behind this one, once all have ended. */
export function passOn(restart: Restart, next: RestartAsk): Restart {
  return { ...follow(restart, next), passed: passedWith(restart.passed, restart) };
}

/** Each key stands here: the memo leaves out what is undefined. */
function askOf({ requestedMs, by, graceMs, among, byRule }: RestartAsk): RestartAsk {
  return { requestedMs, by, graceMs, among, byRule };
}

/** Whether a member has gone through this round. What is older than all that it remembers counts as passed. */
function hasPassed(restart: Restart | undefined, round: Round): boolean {
  const passed = restart?.passed ?? [];
  const isForgotten = passed.length === MAX_PASSED && passed.every((it) => round.requestedMs < it.requestedMs);
  return isForgotten || passed.some((it) => it.requestedMs === round.requestedMs || covers(it, round));
}

/** Many names would not fit into the memo: such a round stands for itself alone. */
function passedWith(passed: Restart['passed'], { requestedMs, among, byRule }: Round): readonly Round[] {
  const round = { requestedMs, among: (among?.length ?? 0) > MAX_PASSED_NAMES ? [] : among, byRule };
  return [...(passed ?? []), round].toSorted((one, other) => one.requestedMs - other.requestedMs).slice(-MAX_PASSED);
}

const MAX_PASSED_NAMES = 16;

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
    const { Name, StopReason, Died, RestartRequested, RestartBy, RestartAmong: among } = peer.tombstone;
    if (RestartRequested === undefined || isForeign(config, state, peer)) return [];
    if (RestartRequested < state.startedAtMs && (StopReason !== RESTART || Died !== undefined)) return [];
    const { RestartGraceMs: graceMs, RestartByRule: byRule } = peer.tombstone;
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
export function tellsOfPassed({ restart }: Pick<State, 'restart'>, tombstone: Tombstone): boolean {
  const told = toldBy(tombstone);
  if (tombstone.StopReason !== RESTART || told === undefined || restart === undefined) return false;
  return hasPassed(restart, told) || (restart.againSinceMs !== undefined && covers(restart, told));
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
  return { names: waited.map(({ name }) => name), untilMs: earliest(...waited.map(({ untilMs }) => untilMs)) };
}

/** Longer than the 5 s between two reads where no file events come. */
const LOOK_MS = 6_000;

/** How long this peer is waited for; undefined: not at all. */
function endOfWaitMs(config: MemberConfig, state: State, restart: Restart, peer: Peer): number | undefined {
  const standing = standingOf(config, state, peer);
  const { Version, Phase, Died, Deadline = 0 } = peer.tombstone;
  if (standing.is === 'unsure') return Died !== undefined || standing.waiting ? undefined : standing.untilMs;
  // A member that sexton does not run hears of no restart.
  if ((standing.is !== 'alive' && standing.is !== 'waiting') || Version === 0) return undefined;
  if (hasGoneThrough(peer.tombstone, restart)) return undefined;
  const ownMs = state.deadline?.atMs ?? 0;
  // It is asked as we were, or reads of it in our tombstone.
  if (!hasHeard(peer.tombstone, restart)) return Math.max(ownMs, restart.requestedMs + LOOK_MS);
  return Phase === 'waiting' ? undefined : Math.max(ownMs, Deadline) + STALE_AFTER_MS;
}

/** Whether the writer of this tombstone has started again in this round, or in one that stands for it. */
export function hasGoneThrough(tombstone: Tombstone, round: Round): boolean {
  const { StopRequested, RestartsPassed } = tombstone;
  return RestartsPassed?.includes(round.requestedMs) || (StopRequested === undefined && hasHeard(tombstone, round));
}

function hasHeard(tombstone: Tombstone, round: Round): boolean {
  const told = toldBy(tombstone);
  return told !== undefined && covers(told, round);
}

function toldBy({ RestartRequested: requestedMs, RestartAmong: among, RestartByRule: byRule }: Tombstone) {
  return requestedMs === undefined ? undefined : { requestedMs, among, byRule };
}
