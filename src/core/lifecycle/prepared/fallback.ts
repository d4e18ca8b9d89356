/**
 * The fallback: how the host carries out a stop when no supervisor acts in time, because it hangs, keeps dying or
 * cannot start. Every commit renews it, so the host decides nothing. A command gets its stop signal before any KILL,
 * and waits are kept as far as the host alone can.
 */
import type { MemberConfig } from '../../config.ts';
import { isStopRequest, ladderOf } from '../../ladder.ts';
import { floorTurnMs, floorWaitMs } from '../../pod/deadline.ts';
import { SIGTERM } from '../../signals.ts';
import { MAINS_FINISHED, type State, type Stop } from '../../state/state.ts';

export interface Fallback {
  /** The signals that are stop requests. */
  readonly stopSignals: readonly number[];
  /** The signal for the child; undefined: the one that arrived. */
  readonly signal: number | undefined;
  /** The time from an unacknowledged stop request to that signal; undefined: the child has had it. */
  readonly waitMs: number | undefined;
  /** The time from such a request to KILL; undefined: none. */
  readonly graceMs: number | undefined;
  /** The earliest time of the signal in an acknowledged stop, CLOCK_MONOTONIC; undefined: never. */
  readonly atMs: number | undefined;
}

/** A running supervisor needs less than this, also on a busy node. */
const PATIENCE_MS = 5_000;
/** Assumed without a declared grace period: twice the 10 s of `docker stop`. */
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
  const patienceMs = Math.max(PATIENCE_MS, ownWaitMs(config));
  const mostMs = Math.min(mostOf(config, graceMs ?? ASSUMED_MS), patienceMs, floorWaitMs(config) ?? patienceMs);
  // Holds also for a request within a stop, whose grace period may be longer than that of the request.
  const waitMs = Math.max(1, Math.floor(mostMs));
  if (stop !== undefined) {
    const budgetMs = deadline?.kills === true ? deadline.atMs - stop.atMs : ASSUMED_MS;
    const waitedMs = Math.min(mostOf(config, budgetMs), ownWaitMs(config, stop));
    const ownMs = stop.atMs + waitedMs;
    return { ...common, waitMs, atMs: Math.floor(Math.min(ownMs, floorTurnMs(config, stop) ?? ownMs)) };
  }
  const signal = config.ladder === undefined && first === SIGTERM ? undefined : first;
  return { ...common, signal, waitMs, atMs: undefined };
}

/** A sidecar gives its mains time to end before it. */
function mostOf({ role }: MemberConfig, budgetMs: number): number {
  return budgetMs * (role === 'sidecar' ? 0.75 : 0.5);
}

/** How long the member wants to wait, as far as that is known without looking at anything. */
function ownWaitMs({ role, hold, drain, idleWhen, lingerMs }: MemberConfig, stop?: Stop): number {
  if (stop?.reason === MAINS_FINISHED) return lingerMs;
  if (role === 'sidecar' && hold.kind !== 'never') return hold.kind === 'for' ? hold.ms : Number.POSITIVE_INFINITY;
  if (drain === undefined) return 0;
  if (drain.kind === 'fixed') return drain.ms;
  // The host cannot ask: as long as it is unknown whether the application is idle, it is busy.
  return idleWhen === undefined ? drain.minMs : drain.maxMs;
}
