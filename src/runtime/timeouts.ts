/**
 * Waiting with a bound.
 */

import type { MemberConfig } from '../core/config.ts';
import { restartsOfOthers } from '../core/pod/restart.ts';
import { hasUnsurePeer } from '../core/pod/standing.ts';
import type { State } from '../core/state/state.ts';

/**
 * Waits for the work, but no longer than this; true: the time was over first. After a pause of the whole process the
 * work gets a moment more: it has stood still as well.
 */
export async function withTimeout(work: Promise<unknown>, mostMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    const dueMs = performance.now() + mostMs;
    const end = (): void => resolve(true);
    timer = setTimeout(() => {
      if (performance.now() - dueMs < LATE_MS) end();
      else timer = setTimeout(end, MOMENT_MS);
    }, mostMs);
  });
  const late = await Promise.race([work.then(() => false), timeout]);
  clearTimeout(timer);
  return late;
}

/** setTimeout's own limit is 2^31 - 1; a day is enough. */
export const MAX_TIMER_MS = 86_400_000;
/** Later than any load explains: the process or the machine stood still. */
export const LATE_MS = 1_000;
const MOMENT_MS = 1_000;

/**
 * A sidecar, and a start gate, decide by what the others do: not when nothing was heard for longer than a rescan takes
 * to come round, or one is doubted. Nor does anybody join a restart that is doubted.
 */
export function mustRescanFirst(member: MemberConfig, state: State, nowMs: number): boolean {
  if (state.stop !== undefined) return false;
  if (restartsOfOthers(member, state).untilMs !== undefined) return true;
  if (member.role !== 'sidecar' && state.child.is !== 'unstarted') return false;
  return nowMs - state.now.mono > LONG_SILENCE_MS || hasUnsurePeer(member, state);
}

const LONG_SILENCE_MS = 6_000;

export const MOST = {
  /** A file system that hangs must not keep a sidecar from starting. */
  claimingMs: 5_000,
  lookingMs: 1_000,
  /** A part of what own KILL is ahead of the platform's. */
  glancingMs: 200,
  flushingMs: 200,
  tracingMs: 300,
} as const;
