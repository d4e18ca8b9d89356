/**
 * A tombstone: one member's record in the graveyard, in the words of the public format.
 *
 * The file is JSON with PascalCase keys, padded with blanks to `RESERVE_BYTES`, so that a later state of it
 * can be written in place when the volume is full.
 */
import type { RestartPolicy, Role, StartGate } from './config.ts';

export type Phase = 'waiting' | 'starting' | 'running' | 'holding' | 'draining' | 'stopping' | 'backoff' | 'dead';

export type DeathReason = 'completed' | 'error' | 'stopped' | 'killed' | 'oom' | 'never-started' | 'lost';

/** What happened, when. `At` is RFC 3339 with nanoseconds; the other keys depend on the event. */
export interface HistoryEntry {
  readonly At: string;
  readonly Event: string;
  readonly [detail: string]: string | number | boolean;
}

export interface Tombstone {
  /** 1 for sexton's own; 0 for a file in kubexit's format (only Born, Died, ExitCode). */
  readonly Version: number;
  readonly Name: string;
  readonly Role?: Role;
  readonly Session?: string;
  /** /proc/sys/kernel/random/boot_id of the writer. */
  readonly Boot?: string;
  /** Random per start of the writer's init, then `-` and how many children it has started: `5f0c…-2`. */
  readonly Incarnation?: string;
  readonly Phase?: Phase;
  readonly RestartPolicy?: RestartPolicy;
  readonly StartAfter?: readonly StartGate['name'][];
  readonly Restarts?: number;
  readonly Born?: string;
  readonly Started?: string;
  readonly Healthy?: string;
  readonly StopRequested?: string;
  readonly StopReason?: string;
  /** CLOCK_MONOTONIC milliseconds of `Boot`. Only a declared one is carved. */
  readonly Deadline?: number;
  readonly Died?: string;
  /** CLOCK_MONOTONIC milliseconds of `Boot`: tells a death that happened in our lifetime from a stale one. */
  readonly DiedMonotonic?: number;
  readonly ExitCode?: number;
  /** The name of the signal that ended the child, `SIGTERM`. */
  readonly Signal?: string;
  readonly Reason?: DeathReason;
  /** The writer's own judgement: no other life of this member will follow. */
  readonly Final?: boolean;
  readonly History?: readonly HistoryEntry[];
}

/** Bytes a tombstone always occupies. */
export const RESERVE_BYTES = 8192;
/** A larger file is not read. */
export const MAX_BYTES = 65_536;
/** Most entries of `History`; beyond, the oldest middle ones go first. */
export const MAX_HISTORY = 64;

export type Parsed = { readonly ok: true; readonly tombstone: Tombstone } | { readonly ok: false; readonly why: string };
