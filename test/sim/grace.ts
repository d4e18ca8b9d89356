/** Init's own stops, as in `src/init/stop/grace.c` and the end of `alone.c`. CLOCK_MONOTONIC; infinity is never. */
import type { Fallback } from '../../src/core/lifecycle/prepared/fallback.ts';
import type { Queued } from './container.ts';

/** Since a sound supervisor was heard, and since any was there. */
const PATIENCE_MS = 5_000;
const GAP_MS = 500;
/** What the supervisor gets to record an end at the very end of the grace period. */
const LATE_MS = 2_000;
/** Before the platform's KILL. */
const AHEAD_MS = 300;

export interface Stopping {
  /** What commits have left behind, each by the command of that name. */
  readonly fallback: Fallback;
  readonly killAtMs: number | undefined;
  readonly leaveAtMs: number | undefined;
  readonly queue: readonly Queued[];
  /** The end of a stop whose reason is that the mains have ended; undefined: there is none. */
  readonly mainsEndMs?: number | undefined;
}

/** `goneAtMs`: since when no supervisor acts. `lostAtMs`: since when init has not heard from a sound one. */
export type Lost = Stopping & { readonly goneAtMs: number; readonly lostAtMs: number; readonly hasFailed: boolean };

/** The oldest stop request that is not acknowledged. */
export function oldestStop({ fallback: { stopSignals }, queue }: Stopping): Queued | undefined {
  return queue.find(({ event, isOnce }) => isOnce || (event.type === 'signal' && stopSignals.includes(event.signal)));
}

/** When the command that lives gets its stop signal, and which. */
export function stopOf(stopping: Lost): { readonly atMs: number; readonly signal: number | undefined } {
  const { goneAtMs, lostAtMs } = stopping;
  const { signal, waitMs = NEVER, atMs } = stopping.fallback;
  const stop = oldestStop(stopping);
  if (stop?.isOnce) return { atMs: NEVER, signal };
  const asked = stop?.event.type === 'signal' ? stop.event.signal : undefined;
  const waitsUntilMs = (stop?.atMs ?? NEVER) + waitMs;
  const patience = (sinceMs: number, mostMs: number): number =>
    sinceMs === NEVER ? NEVER : sinceMs + Math.min(mostMs, Math.max(0, endsAtMs(stopping) - sinceMs) / 2);
  if (atMs === undefined) return { atMs: waitsUntilMs, signal: signal ?? asked };
  const plannedMs = Math.max(atMs, patience(lostAtMs, PATIENCE_MS), patience(goneAtMs, GAP_MS));
  return { atMs: Math.min(waitsUntilMs, endsAtMs(stopping), plannedMs), signal: signal ?? asked };
}

/** When the grace period of the stop is over. */
export function endsAtMs(stopping: Stopping): number {
  return Math.min(stopping.killAtMs ?? NEVER, requestEndsAtMs(stopping), stopping.mainsEndMs ?? NEVER);
}

function requestEndsAtMs(stopping: Stopping): number {
  const { graceMs = NEVER } = stopping.fallback;
  return (oldestStop(stopping)?.atMs ?? NEVER) + graceMs;
}

/** When init leaves, once the command has ended at `endedAtMs`. */
export function leavesAtMs(stopping: Lost, endedAtMs: number): number {
  const sinceMs = stopping.hasFailed ? stopping.lostAtMs : stopping.goneAtMs;
  const endsAtMs = Math.min(stopping.leaveAtMs ?? NEVER, requestEndsAtMs(stopping));
  const aheadMs = Math.min(AHEAD_MS, Math.max(0, endsAtMs - endedAtMs) / 2);
  return Math.max(endsAtMs - aheadMs, sinceMs + LATE_MS);
}

const NEVER = Number.POSITIVE_INFINITY;
