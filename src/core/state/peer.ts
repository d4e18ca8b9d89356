/** What this member knows about another one: its last readable tombstone, and whether its writer is alive. */
import type { Tombstone } from '../format/tombstone.ts';

export interface PeerView {
  readonly tombstone: Tombstone;
  /**
   * `held`: a connection to the holder of the peer's liveness socket is open. `lost`: the other side has closed it.
   * `none`: there was none in this life of the peer, or its tombstone says it is dead.
   */
  readonly liveness: 'held' | 'lost' | 'none';
  /** CLOCK_MONOTONIC milliseconds of our clock. Only with `lost`. */
  readonly lostAt?: number;
  /** Only with `none`: no process holds its socket. `none` alone proves nothing: a volume may carry no sockets. */
  readonly refused?: true;
  /** The first scan found it in this same life and death. */
  readonly foundAtStart: boolean;
  /** The file is gone; the tombstone is its last readable content. */
  readonly vanished: boolean;
}

/** A peer as last seen, and since when its life and death have been the same. */
export interface Peer extends PeerView {
  readonly sinceMs: number;
  /** Since when it seems alive again, in a life whose socket had no holder before. */
  readonly backMs?: number;
  /** When we first saw the platform's stop request to it. */
  readonly askedSeenMs?: number;
}
