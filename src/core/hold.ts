/**
 * Holding: a member that is asked to stop serves on while others need it.
 *
 * Whoever is asked to stop at the very start of a pod knows too little: a main's tombstone may be on its way, or say
 * `waiting` although its command has just been started. So a sidecar that sees nobody to serve waits a moment before it believes that.
 */
import type { MemberConfig } from './config.ts';
import { graceOf } from './deadline.ts';
import { type Draft, reached } from './draft.ts';
import { holdsUp, rosterOf } from './finished.ts';
import { blockersOf } from './order.ts';
import { peerNamed, standingOf } from './standing.ts';
import type { FailingWhy, Peer, State, Stop } from './state.ts';

/** How long a main may take to show itself: 1 s, or a tenth of a short budget. */
const MOMENT_MS = 1_000;

export function holdsBack(draft: Draft, stop: Stop): boolean {
  const { config, state } = draft;
  if (stop.alone === true) return false;
  if (state.peers === undefined) return true;
  if (config.role === 'sidecar' && stop.origin === 'platform' && !holds(draft, stop)) return false;
  const blockers = blockersOf(config, state);
  if (blockers.untilMs !== undefined) reached(draft, blockers.untilMs);
  return blockers.names.length > 0 || (config.role === 'sidecar' && mayNotHaveSeenAll(draft, stop));
}

/** What `--hold` says; a duration holds on only if a main is asked to stop, too, within it. */
function holds(draft: Draft, stop: Stop): boolean {
  const { hold } = draft.config;
  switch (hold.kind) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'for':
      return isAnyMainStopping(draft.config, draft.state) || !reached(draft, stop.atMs + hold.ms);
    default:
      return hold satisfies never;
  }
}

function isAnyMainStopping(config: MemberConfig, state: State): boolean {
  const mains = rosterOf(config, state).map((name) => peerNamed(state, name));
  return mains.some((peer) => peer !== undefined && isAsked(peer) && holdsUp(standingOf(config, state, peer)));
}

/** A life that has failed is ended alone, and so may be a container: that is not the pod's stop. */
function isAsked({ tombstone }: Peer): boolean {
  const { StopRequested, StopScope, StopReason } = tombstone;
  return StopRequested !== undefined && StopScope !== 'container' && !FAILURES.has(StopReason ?? '');
}

const FAILURES: ReadonlySet<string> = new Set<FailingWhy>(['startup', 'liveness', 'post-start']);

function mayNotHaveSeenAll(draft: Draft, stop: Stop): boolean {
  const { config, state } = draft;
  if (stop.origin === 'self' || stop.among !== undefined || config.solo) return false;
  const standings = rosterOf(config, state).map((name) => standingOf(config, state, peerNamed(state, name)));
  const areAllDead = standings.length > 0 && standings.every((standing) => standing.is === 'dead' && standing.final);
  const moment = Math.min(MOMENT_MS, graceOf(config) / 10);
  return !areAllDead && !reached(draft, stop.atMs + moment);
}
