/**
 * The fallback: what the host does about a stop when no supervisor acts in time, because it hangs, dies again and again
 * or cannot be started. Each commit leaves it behind, so the host needs to decide nothing: a command gets its stop signal
 * before any KILL, and what remains of a drain or a hold is kept as well as the host alone can keep it.
 */
import type { MemberConfig } from '../config.ts';
import { isStopRequest, ladderOf } from '../ladder.ts';
import { SIGTERM } from '../signals.ts';
import { MAINS_FINISHED, type State, type Stop } from '../state/state.ts';

export interface Fallback {
  /** The signals that are stop requests. */
  readonly stopSignals: readonly number[];
  /** What the child gets; undefined: the signal that arrived. */
  readonly signal: number | undefined;
  /** From a stop request that is not acknowledged to that signal; undefined: the child has had it. */
  readonly waitMs: number | undefined;
  /** From such a request to KILL; undefined: there is none. */
  readonly graceMs: number | undefined;
  /** When the child of an acknowledged stop gets the signal at the earliest, CLOCK_MONOTONIC; undefined: never. */
  readonly atMs: number | undefined;
}

/** A supervisor that is there in time needs less, also on a busy node. */
const PATIENCE_MS = 5_000;
/** Without a declared grace period: that of `docker stop`, twice. Half of it is for the command. */
const ASSUMED_MS = 20_000;

export function fallbackOf(
  config: MemberConfig,
  { stop, climb, deadline }: Pick<State, 'stop' | 'climb' | 'deadline'>,
): Fallback {
  const stopSignals = config.stopSignals.filter((signal) => isStopRequest(config, signal));
  const [{ signal: first }] = ladderOf(config, stop?.signal ?? SIGTERM);
  const graceMs = config.gracePeriodMs;
  const common = { stopSignals, signal: first, graceMs };
  if (climb !== undefined) return { ...common, waitMs: undefined, atMs: undefined };
  const mostMs = Math.min(mostOf(config, graceMs ?? ASSUMED_MS), Math.max(PATIENCE_MS, ownWaitMs(config)));
  // Also of a request that comes in a stop, which may have a longer grace period than the request.
  const waitMs = Math.max(1, Math.floor(mostMs));
  if (stop !== undefined) {
    const budgetMs = deadline?.kills === true ? deadline.atMs - stop.atMs : ASSUMED_MS;
    const waitedMs = Math.min(mostOf(config, budgetMs), ownWaitMs(config, stop));
    return { ...common, waitMs, atMs: Math.floor(stop.atMs + waitedMs) };
  }
  const signal = config.ladder === undefined && first === SIGTERM ? undefined : first;
  return { ...common, signal, waitMs, atMs: undefined };
}

/** A sidecar gives its mains time to end before it. */
function mostOf({ role }: MemberConfig, budgetMs: number): number {
  return budgetMs * (role === 'sidecar' ? 0.75 : 0.5);
}

/** What the member itself wants to wait for, as far as it can be known without looking at anything. */
function ownWaitMs({ role, hold, drain, lingerMs }: MemberConfig, stop?: Stop): number {
  if (stop?.reason === MAINS_FINISHED) return lingerMs;
  if (role === 'sidecar' && hold.kind !== 'never') return hold.kind === 'for' ? hold.ms : Number.POSITIVE_INFINITY;
  if (drain === undefined) return 0;
  return drain.kind === 'fixed' ? drain.ms : drain.minMs;
}
