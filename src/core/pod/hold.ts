/**
 * Holding: a member that is asked to stop serves on while others need it.
 *
 * When a pod starts, the tombstone of a main may not be there yet, or still say `waiting` although its command has
 * started. A sidecar without a main to serve therefore waits a moment before it stops.
 */
import type { MemberConfig } from '../config.ts';
import { type Draft, wakeAt } from '../state/draft.ts';
import type { Peer } from '../state/peer.ts';
import type { FailingWhy, State, Stop } from '../state/state.ts';
import { graceOf } from './deadline.ts';
import { holdsUp, mainsServed, rosterOf } from './finished.ts';
import { blockersOf } from './order.ts';
import { hasEndedForRestart, tellsOfPassed } from './restart.ts';
import { isAhead, peerNamed, standingOf } from './standing.ts';

/**
 * How long a main may take to appear, at most a tenth of the grace period: usually 1 s. In a young container that has
 * seen none it is 5 s, as the node is then busy with starting the mains, too.
 */
const FIRST_MOMENT_MS = 1_000;
const FIRST_SIGHT_MS = 5_000;
const YOUNG_MS = 10_000;

export function checkHold(draft: Draft, stop: Stop): boolean {
  const { config, state } = draft;
  if (stop.alone === true) return false;
  if (state.peers === undefined) return true;
  if (config.role === 'sidecar' && stop.origin === 'platform' && !checkHoldPolicy(draft, stop)) return false;
  const blockers = blockersOf(config, state);
  wakeAt(draft, blockers.untilMs);
  return blockers.names.length > 0 || (config.role === 'sidecar' && checkFirstSight(draft, stop));
}

/** Applies `--hold`; a duration holds on only if a main is asked to stop within it. */
function checkHoldPolicy(draft: Draft, stop: Stop): boolean {
  const { hold } = draft.config;
  if (hold.kind !== 'for') return hold.kind === 'always';
  if (isAnyMainStopping(draft.config, draft.state)) return true;
  return isAhead(draft, stop.atMs + hold.ms);
}

function isAnyMainStopping(config: MemberConfig, state: State): boolean {
  const mains = mainsServed(config, state).map((name) => peerNamed(state, name));
  const isAsked = (peer: Peer): boolean => isAskedWithPod(peer) && !tellsOfPassed(state, peer.tombstone);
  return mains.some((peer) => peer !== undefined && isAsked(peer) && holdsUp(standingOf(config, state, peer)));
}

/** Whether its stop is that of the pod: a failed life ends alone, and so may a container. */
function isAskedWithPod({ tombstone }: Peer): boolean {
  const { StopRequested, StopScope, StopReason } = tombstone;
  return StopRequested !== undefined && StopScope !== 'container' && !FAILURES.has(StopReason ?? '');
}

const FAILURES: ReadonlySet<string> = new Set<FailingWhy>(['startup', 'liveness', 'post-start']);

/**
 * Whether it died in this stop, so that no platform restarts it: one that crashed earlier may be about to start. The
 * platform may have asked it just before us. It may also have stopped it alone, and it is back: another read shows that.
 */
function isStoppedWithUs(draft: Draft, main: Peer | undefined, { atMs }: Stop): boolean {
  const diedMs = main?.tombstone.DiedMonotonic ?? Number.NEGATIVE_INFINITY;
  if (main === undefined || diedMs >= atMs) return diedMs >= atMs;
  return isAskedWithPod(main) && diedMs >= atMs - JUST_BEFORE_MS && !isAhead(draft, atMs);
}

/**
 * A kubelet of 1.36 asked the containers of a pod up to 40 ms apart. It starts a main that was stopped alone again after
 * about 1 s, so this is shorter. Init waits as long: REQUEST_MS in `src/init/orders/ends.c`.
 */
const JUST_BEFORE_MS = 500;

function checkFirstSight(draft: Draft, stop: Stop): boolean {
  const { config, state } = draft;
  if (stop.origin === 'self' || stop.among !== undefined || config.solo) return false;
  const mains = rosterOf(config, state).map((name) => peerNamed(state, name));
  const isOver = (main: Peer | undefined): boolean => {
    const standing = standingOf(config, state, main);
    if (standing.is === 'dead' && (standing.final || isStoppedWithUs(draft, main, stop))) return true;
    return main !== undefined && hasEndedForRestart(main) && !tellsOfPassed(state, main.tombstone);
  };
  if (mains.length > 0 && mains.every(isOver)) return false;
  const isFirstSight =
    stop.atMs - state.startedAtMs < YOUNG_MS &&
    mains.every((main) => main === undefined || main.tombstone.Phase === 'waiting');
  const momentMs = Math.min(isFirstSight ? FIRST_SIGHT_MS : FIRST_MOMENT_MS, graceOf(config) / 10);
  return isAhead(draft, stop.atMs + momentMs);
}
