/**
 * Where another member stands, by its tombstone, its liveness socket and the clock.
 *
 * A tombstone of another session, boot or generation does not exist. A member that vanished without a death is `lost`
 * after 2 s. Without a session or a generation, a death or silence found at the first look counts only after 10 s
 * without a new life. Until then it may be of a reused volume, or of a pod whose containers a rule has restarted.
 */
import type { MemberConfig } from '../config.ts';
import type { Tombstone } from '../format/tombstone.ts';
import { isFinalUnder, restartsAll } from '../restart.ts';
import { type Draft, wakeAt } from '../state/draft.ts';
import type { Peer } from '../state/peer.ts';
import type { State } from '../state/state.ts';

export type Standing =
  /** Not seen in this pod's life. */
  | { readonly is: 'absent' }
  /** It waits at its start gate and holds up no other member. */
  | { readonly is: 'waiting' }
  | { readonly is: 'alive' }
  /** It counts as alive until that moment. */
  | { readonly is: 'unsure'; readonly untilMs: number; readonly waiting: boolean }
  | {
      readonly is: 'dead';
      readonly final: boolean;
      readonly succeeded: boolean;
      readonly started: boolean;
      readonly lost: boolean;
    };

const LOST_AFTER_MS = 2_000;
/** How long records that may be of an earlier life are doubted. */
export const STALE_AFTER_MS = 10_000;

export function standingOf(config: MemberConfig, state: State, peer: Peer | undefined): Standing {
  if (peer === undefined || isForeign(config, state, peer)) return { is: 'absent' };
  const { tombstone } = peer;
  const dead = tombstone.Died === undefined ? undefined : deathOf(config, peer);
  const settledAtMs = mayBeStale(config, state, peer) ? (state.firstLookMs ?? state.now.mono) + STALE_AFTER_MS : 0;
  if (dead !== undefined) return isPast(state, settledAtMs) ? dead : unsure(state, settledAtMs, true);
  const waiting = tombstone.Phase === 'waiting';
  const vanishedAtMs = vanishing(peer);
  if (vanishedAtMs === undefined) return waiting ? { is: 'waiting' } : { is: 'alive' };
  if (!isPast(state, vanishedAtMs)) return unsure(state, vanishedAtMs, waiting);
  return { is: 'dead', final: isFinal(config, tombstone, false), succeeded: false, started: !waiting, lost: true };
}

/** Whether it was past when the graveyard was last read. After a pause the clock is ahead of news not yet heard. */
export function isPast(state: State, atMs: number): boolean {
  return state.lookedMs >= atMs;
}

/** The next read decides about it; for a time already past, that is due now. */
export function nextLookMs(state: State, atMs: number): number {
  return Math.max(atMs, state.now.mono + 1);
}

/** Whether that moment is still to come, as far as was read. The next look decides. */
export function isAhead(draft: Draft, atMs: number): boolean {
  if (isPast(draft.state, atMs)) return false;
  wakeAt(draft, nextLookMs(draft.state, atMs));
  return true;
}

function unsure(state: State, untilMs: number, waiting: boolean): Standing {
  return { is: 'unsure', untilMs: nextLookMs(state, untilMs), waiting };
}

/** Whether a member counts as alive only until a moment: the graveyard is then read again before a decision. */
export function hasUnsurePeer(config: MemberConfig, state: State): boolean {
  return Object.values(state.peers ?? {}).some((peer) => standingOf(config, state, peer).is === 'unsure');
}

/** A member by name. Others choose their names, and `constructor` is a name: only own properties count. */
export function peerNamed(state: State, name: string): Peer | undefined {
  return state.peers !== undefined && Object.hasOwn(state.peers, name) ? state.peers[name] : undefined;
}

/** When a member without a `Died` counts as lost; undefined: it lives as far as is known. */
function vanishing(peer: Peer): number | undefined {
  // The format of kubexit has no liveness to lose.
  if (peer.tombstone.Version === 0 || peer.liveness === 'held') return undefined;
  if (peer.liveness === 'lost') return (peer.lostAt ?? peer.sinceMs) + LOST_AFTER_MS;
  // Only a socket without a process is evidence: without a socket, the volume may just not support them.
  return peer.refused === true ? peer.sinceMs + STALE_AFTER_MS : undefined;
}

function deathOf(config: MemberConfig, { tombstone }: Peer): Standing {
  const { ExitCode, Final, Reason } = tombstone;
  const succeeded = ExitCode === 0;
  const final = Final ?? isFinal(config, tombstone, succeeded);
  return { is: 'dead', final, succeeded, started: Reason !== 'never-started', lost: Reason === 'lost' };
}

/** Decides for a death without `Final`: by the policy declared in its life, else by the own one. */
function isFinal(config: MemberConfig, { RestartPolicy, RestartsIfKilled }: Tombstone, succeeded: boolean): boolean {
  return RestartsIfKilled !== true && isFinalUnder(RestartPolicy ?? config.restartPolicy, succeeded);
}

/** Other sessions' members whose socket no process holds: their files can go. (Another boot may be another node.) */
export function leftoversOfOtherSessions(config: MemberConfig, state: State): readonly string[] {
  return Object.values(state.peers ?? {})
    .filter(({ liveness, tombstone }) => liveness !== 'held' && isOfAnotherSession(config, tombstone))
    .map((peer) => peer.tombstone.Name);
}

/** Whether it is of another session or boot, or from before the init containers ran again. */
export function isForeign(config: MemberConfig, state: State, { tombstone }: Peer): boolean {
  return (
    isOfAnotherBoot(state, tombstone) ||
    isOfAnotherGeneration(state, tombstone) ||
    isOfAnotherSession(config, tombstone)
  );
}

function isOfAnotherBoot({ bootId, boots }: State, { Boot }: Tombstone): boolean {
  return Boot !== undefined && Boot !== bootId && !boots.includes(Boot);
}

function isOfAnotherGeneration({ generation }: State, { Generation }: Tombstone): boolean {
  return generation !== undefined && Generation !== undefined && Generation !== generation;
}

/** Why the tombstone of an absent member is ignored; undefined: there is none. */
export function whyIgnored(config: MemberConfig, state: State, name: string): string | undefined {
  const peer = peerNamed(state, name);
  if (peer === undefined) return undefined;
  if (isOfAnotherSession(config, peer.tombstone)) return 'of another session';
  if (isOfAnotherBoot(state, peer.tombstone)) return 'of another boot of the kernel';
  return 'from before the init containers have run again';
}

export function isOfAnotherSession(config: MemberConfig, { Session }: Tombstone): boolean {
  return config.session !== undefined && Session !== undefined && Session !== config.session;
}

/**
 * Whether a death from before our start, or already there at our first read, may be of an earlier life. The first read
 * may have found an unreadable volume.
 */
function mayBeStale(config: MemberConfig, state: State, peer: Peer): boolean {
  const { Session, Generation, DiedMonotonic } = peer.tombstone;
  if (peer.liveness === 'held') return false;
  if (DiedMonotonic === undefined ? !peer.foundAtStart : DiedMonotonic >= state.startedAtMs) return false;
  if (config.session === undefined || Session !== config.session) return true;
  return state.generation === undefined ? mayAllBeRestarted(config, state) : Generation === undefined;
}

/** Whether a rule of some member restarts all containers in the same pod. */
function mayAllBeRestarted(config: MemberConfig, state: State): boolean {
  const declare = ({ tombstone }: Peer): boolean =>
    tombstone.RestartsAll === true && !isOfAnotherSession(config, tombstone);
  return restartsAll(config) || Object.values(state.peers ?? {}).some(declare);
}
