/**
 * Holding: a member that is asked to stop serves on while others need it.
 *
 * A member that is asked to stop at the very start of a pod knows too little: a main's tombstone may be on its way, or
 * say `waiting` although its command has just been started. So a sidecar that sees no main to serve waits a moment
 * before it believes that.
 */
import type { MemberConfig } from '../config.ts';
import { type Draft, isDue, wakeAt } from '../state/draft.ts';
import type { Peer } from '../state/peer.ts';
import type { FailingWhy, State, Stop } from '../state/state.ts';
import { graceOf } from './deadline.ts';
import { holdsUp, rosterOf } from './finished.ts';
import { blockersOf } from './order.ts';
import { hasEndedForRestart, tellsOfPassed } from './restart.ts';
import { peerNamed, standingOf } from './standing.ts';

/**
 * How long a main may take to show itself, at most a tenth of the grace period: 1 s, or 5 s where none has shown itself
 * yet and this container is young, since then its mains are as young and the node is busy with starting them.
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

/** What `--hold` says; a duration holds on only if a main is asked to stop, too, within it. */
function checkHoldPolicy(draft: Draft, stop: Stop): boolean {
  const { hold } = draft.config;
  switch (hold.kind) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'for': {
      if (isAnyMainStopping(draft.config, draft.state)) return true;
      const endMs = stop.atMs + hold.ms;
      wakeAt(draft, endMs);
      return !isDue(draft, endMs);
    }
    default:
      return hold satisfies never;
  }
}

function isAnyMainStopping(config: MemberConfig, state: State): boolean {
  const mains = rosterOf(config, state).map((name) => peerNamed(state, name));
  const isAsked = (peer: Peer): boolean => isAskedWithPod(peer) && !tellsOfPassed(state, peer.tombstone);
  return mains.some((peer) => peer !== undefined && isAsked(peer) && holdsUp(standingOf(config, state, peer)));
}

/** A life that has failed is ended alone, and so may be a container: that is not the pod's stop. */
function isAskedWithPod({ tombstone }: Peer): boolean {
  const { StopRequested, StopScope, StopReason } = tombstone;
  return StopRequested !== undefined && StopScope !== 'container' && !FAILURES.has(StopReason ?? '');
}

const FAILURES: ReadonlySet<string> = new Set<FailingWhy>(['startup', 'liveness', 'post-start']);

/** Its container is not started again: one that had crashed before the request may be about to start. */
function isStoppedWithUs(main: Peer | undefined, { atMs }: Stop): boolean {
  return (main?.tombstone.DiedMonotonic ?? Number.NEGATIVE_INFINITY) >= atMs;
}

function checkFirstSight(draft: Draft, stop: Stop): boolean {
  const { config, state } = draft;
  if (stop.origin === 'self' || stop.among !== undefined || config.solo) return false;
  const mains = rosterOf(config, state).map((name) => peerNamed(state, name));
  const isOver = (main: Peer | undefined): boolean => {
    const standing = standingOf(config, state, main);
    if (standing.is === 'dead' && (standing.final || isStoppedWithUs(main, stop))) return true;
    return main !== undefined && hasEndedForRestart(main) && !tellsOfPassed(state, main.tombstone);
  };
  if (mains.length > 0 && mains.every(isOver)) return false;
  const isFirstSight =
    stop.atMs - state.startedAtMs < YOUNG_MS &&
    mains.every((main) => main === undefined || main.tombstone.Phase === 'waiting');
  const momentMs = Math.min(isFirstSight ? FIRST_SIGHT_MS : FIRST_MOMENT_MS, graceOf(config) / 10);
  wakeAt(draft, stop.atMs + momentMs);
  return !isDue(draft, stop.atMs + momentMs);
}
