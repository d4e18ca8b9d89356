/**
 * What this member knows about another one: the last tombstone that could be read, and whether its writer lives.
 */
import type { Tombstone } from '../format/tombstone.ts';

/**
 * `held`: a connection to the holder of the peer's liveness socket is open. `lost`: it was, and was closed by the other
 * side. `none`: there never was one in this life of the peer, or it is not followed because its tombstone says it is
 * dead.
 */
export type PeerLiveness = 'held' | 'lost' | 'none';

export interface PeerView {
  readonly tombstone: Tombstone;
  readonly liveness: PeerLiveness;
  /** CLOCK_MONOTONIC milliseconds of our clock. Only with `lost`. */
  readonly lostAt?: number;
  /**
   * Only with `none`: its socket is there and no process holds it. Without this, `none` is no evidence against the
   * peer: not every volume can carry sockets, and connecting may be denied.
   */
  readonly refused?: true;
  /** The very first scan found it in this same state: same life, same death. */
  readonly foundAtStart: boolean;
  /** The file is gone; the tombstone is the last good view of it. */
  readonly vanished: boolean;
}

/** A peer as last seen, and since when it has been seen in just this life and death. */
export interface Peer extends PeerView {
  readonly sinceMs: number;
  /** Since when nothing speaks against it any more in a life whose handle was free before. */
  readonly backMs?: number;
  /** When the platform's request to it was seen first. */
  readonly askedSeenMs?: number;
}
