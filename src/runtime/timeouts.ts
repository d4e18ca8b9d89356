/** Limits on waiting, and when the supervisor must read the graveyard before it decides. */
import type { MemberConfig } from '../core/config.ts';
import { hasUnsurePeer } from '../core/pod/standing.ts';
import type { State } from '../core/state/state.ts';
import { NODE_TIMERS, type Timer, type Timers } from './clock.ts';

/**
 * Waits for the work, but no longer than this; true: the time was over first. After a pause of the whole process the
 * work, which was paused as well, gets a moment more. Rejects with the work.
 */
export async function withTimeout(work: Promise<unknown>, mostMs: number, timers = NODE_TIMERS): Promise<boolean> {
  let timer: Timer | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    const dueMs = timers.performance.now() + mostMs;
    // An immediate comes after the events that have arrived by now.
    const end = (): void => void timers.setImmediate(() => resolve(true));
    timer = timers.setTimeout(() => {
      if (timers.performance.now() - dueMs < LATE_MS) end();
      else timer = timers.setTimeout(end, MOMENT_MS);
    }, mostMs);
  });
  try {
    return await Promise.race([work.then(() => false), timeout]);
  } finally {
    timers.clearTimeout(timer);
  }
}

/** A process need not live on for it. */
export function sleep(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => timers.setTimeout(resolve, ms).unref());
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(timers: Timers): Promise<void> {
  return new Promise((resolve) => timers.setImmediate(resolve));
}

/** The limit of setTimeout is 2^31 - 1; a day is enough. */
export const MAX_TIMER_MS = 86_400_000;
/** Later than any load explains: the process or the machine stood still. */
export const LATE_MS = 1_000;
const MOMENT_MS = 1_000;

/**
 * A sidecar and a start gate decide by what other members do. They read the graveyard first when nothing was heard for
 * longer than a rescan interval, or when a member's end is unsure.
 */
export function mustRescanFirst(member: MemberConfig, state: State, nowMs: number): boolean {
  if (state.stop !== undefined) return false;
  if (member.role !== 'sidecar' && state.child.is !== 'unstarted') return false;
  return nowMs - state.now.mono > LONG_SILENCE_MS || hasUnsurePeer(member, state);
}

const LONG_SILENCE_MS = 6_000;

export const MOST = {
  /** A file system that hangs must not keep a sidecar from starting. */
  claimingMs: 5_000,
  lookingMs: 1_000,
  /** A part of the time by which our own KILL precedes the platform's. */
  glancingMs: 200,
  flushingMs: 200,
  tracingMs: 300,
} as const;
