/** Init's own stops, as in `src/init/stop/grace.c` and the end of `alone.c`. CLOCK_MONOTONIC; infinity is never. */
import type { MemberConfig } from '../../src/core/config.ts';
import { fallbackOf } from '../../src/core/lifecycle/prepared/fallback.ts';
import { hostKillAtMs, hostLeaveAtMs } from '../../src/core/pod/deadline.ts';
import type { State } from '../../src/core/state/state.ts';
import type { Queued } from './container.ts';

/** Since a sound supervisor was heard, and since any was there. */
const PATIENCE_MS = 5_000;
const GAP_MS = 500;
/** What the supervisor gets to record an end at the very end of the grace period. */
const LATE_MS = 2_000;
/** Before the platform's KILL. */
const AHEAD_MS = 300;

export interface Stopping {
  readonly config: MemberConfig;
  /** As the last commit has left it. */
  readonly state: Pick<State, 'stop' | 'climb' | 'deadline'>;
  readonly queue: readonly Queued[];
  /** The end of a stop whose reason is that the mains have ended; undefined: there is none. */
  readonly mainsEndMs?: number | undefined;
}

/** `goneAtMs`: since when no supervisor acts. `lostAtMs`: since when init has not heard from a sound one. */
export type Lost = Stopping & { readonly goneAtMs: number; readonly lostAtMs: number; readonly hasFailed: boolean };

/** The oldest stop request that is not acknowledged. */
export function oldestStop({ config, state, queue }: Stopping): Queued | undefined {
  const { stopSignals } = fallbackOf(config, state);
  return queue.find(({ event, isOnce }) => isOnce || (event.type === 'signal' && stopSignals.includes(event.signal)));
}

/** When the command that lives gets its stop signal, and which. */
export function stopOf(stopping: Lost): { readonly atMs: number; readonly signal: number | undefined } {
  const { config, state, goneAtMs, lostAtMs } = stopping;
  const { signal, waitMs = NEVER, atMs = NEVER } = fallbackOf(config, state);
  const stop = oldestStop(stopping);
  if (stop?.isOnce) return { atMs: NEVER, signal };
  const asked = stop?.event.type === 'signal' ? stop.event.signal : undefined;
  const waitsUntilMs = (stop?.atMs ?? NEVER) + waitMs;
  const patience = (sinceMs: number, mostMs: number): number =>
    sinceMs === NEVER ? NEVER : sinceMs + Math.min(mostMs, Math.max(0, endsAtMs(stopping) - sinceMs) / 2);
  const plannedMs = Math.max(atMs, patience(lostAtMs, PATIENCE_MS), patience(goneAtMs, GAP_MS));
  return { atMs: Math.min(waitsUntilMs, plannedMs), signal: signal ?? asked };
}

/** When the grace period of the stop is over. */
export function endsAtMs(stopping: Stopping): number {
  return Math.min(hostKillAtMs(stopping.state) ?? NEVER, requestEndsAtMs(stopping), stopping.mainsEndMs ?? NEVER);
}

function requestEndsAtMs(stopping: Stopping): number {
  const { graceMs = NEVER } = fallbackOf(stopping.config, stopping.state);
  return (oldestStop(stopping)?.atMs ?? NEVER) + graceMs;
}

/** When init leaves, once the command has ended. */
export function leavesAtMs(stopping: Lost): number {
  const leaveAtMs = hostLeaveAtMs(stopping.state) ?? NEVER;
  const sinceMs = stopping.hasFailed ? stopping.lostAtMs : stopping.goneAtMs;
  return Math.max(Math.min(leaveAtMs, requestEndsAtMs(stopping)) - AHEAD_MS, sinceMs + LATE_MS);
}

const NEVER = Number.POSITIVE_INFINITY;
