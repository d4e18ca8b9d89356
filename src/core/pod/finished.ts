/**
 * Whether the mains have finished, so that their sidecars stop.
 *
 * | the pod's policy | a main's exit 0 | a main's failure (code, signal, lost) |
 * |---|---|---|
 * | `Never` | finished | finished |
 * | `OnFailure` | finished | not finished: it will be started again |
 * | `Always` | not finished | not finished: only a stop of the pod ends a sidecar |
 *
 * A dying member decides by its own policy (`Final`); without that, its reader does.
 */
import type { MemberConfig } from '../config.ts';
import type { Peer } from '../state/peer.ts';
import type { State } from '../state/state.ts';
import { earliest } from '../time.ts';
import { peerNamed, type Standing, standingOf } from './standing.ts';

export interface MainsState {
  readonly finished: boolean;
  /** When time alone may change the answer. */
  readonly untilMs: number | undefined;
}

export function mainsStateOf(config: MemberConfig, state: State): MainsState {
  const standings = rosterOf(config, state).map((name) => standingOf(config, state, peerNamed(state, name)));
  const finished = standings.filter((standing) => standing.is === 'dead' && standing.final).length;
  const unsure = standings.flatMap((standing) => (standing.is === 'unsure' ? [standing.untilMs] : []));
  return {
    finished: standings.length > 0 && finished >= (config.when === 'all' ? standings.length : 1),
    untilMs: earliest(...unsure),
  };
}

/** The names of the mains: as declared, else all members seen with role main. */
export function rosterOf(config: MemberConfig, state: State): readonly string[] {
  return config.mains.length > 0 ? config.mains : mainsSeen(config, state);
}

/** Those that a sidecar serves in a stop. Where none of its roster was seen, its names are wrong, and all mains count. */
export function mainsServed(config: MemberConfig, state: State): readonly string[] {
  const isSeen = (name: string): boolean => standingOf(config, state, peerNamed(state, name)).is !== 'absent';
  return config.mains.some(isSeen) ? config.mains : mainsSeen(config, state);
}

function mainsSeen(config: MemberConfig, state: State): readonly string[] {
  return Object.values(state.peers ?? {})
    .filter((peer) => isMain(peer) && standingOf(config, state, peer).is !== 'absent')
    .map((peer) => peer.tombstone.Name);
}

/** The last end of a main that does not live now, CLOCK_MONOTONIC; undefined: none was seen, or all live. */
export function mainsEndMs(config: MemberConfig, state: State): number | undefined {
  const ends = mainsServed(config, state).flatMap((name) => {
    const peer = peerNamed(state, name);
    const standing = standingOf(config, state, peer);
    if (peer === undefined || standing.is === 'absent' || holdsUp(standing)) return [];
    const { tombstone, lostAt, sinceMs } = peer;
    // Another container may write a time to come.
    return [Math.min(tombstone.DiedMonotonic ?? lostAt ?? sinceMs, sinceMs)];
  });
  return ends.length === 0 ? undefined : Math.max(...ends);
}

/** Whether members that must outlive this one still wait for it. A member that never started holds up no other. */
export function holdsUp(standing: Standing): boolean {
  return standing.is === 'alive' || (standing.is === 'unsure' && !standing.waiting);
}

/** A tombstone without a role is of kubexit, and one of a main unless the roster says otherwise. */
function isMain(peer: Peer): boolean {
  return (peer.tombstone.Role ?? 'main') === 'main';
}
