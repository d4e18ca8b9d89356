/**
 * Waiting with a bound.
 */

import type { MemberConfig } from '../core/config.ts';
import { doubtsSomebody } from '../core/standing.ts';
import type { Deadline, State } from '../core/state.ts';

/** Whether the time was over first. Who stood still for longer than that gets a moment more: the work has stood still as well. */
export async function isLate(work: Promise<unknown>, mostMs: number): Promise<boolean> {
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
export const LONGEST_TIMER_MS = 86_400_000;
/** Later than any load explains: the process or the machine stood still. */
export const LATE_MS = 1_000;
const MOMENT_MS = 1_000;

/** A sidecar, and a start gate, decide by what the others do: not when nothing was heard for longer than a rescan takes to come round, or one is doubted. */
export function hasToLook(member: MemberConfig, state: State, nowMs: number): boolean {
  const decidesByOthers = member.role === 'sidecar' || state.child.is === 'unborn';
  if (!decidesByOthers || state.stop !== undefined) return false;
  return nowMs - state.now.mono > LONG_SILENCE_MS || doubtsSomebody(member, state);
}

const LONG_SILENCE_MS = 6_000;

export const MOST = {
  /** A file system that hangs must not keep a sidecar from starting. */
  claimingMs: 5_000,
  lookingMs: 1_000,
  /** A part of what own KILL is ahead of the platform's. */
  glancingMs: 200,
  flushingMs: 200,
} as const;

/** Of a death that nothing hurries: with little CPU it takes seconds, and a sidecar would wait for ever for one that was lost. */
const MOST_CARVING_MS = 30_000;
const LEAST_CARVING_MS = 1_000;
/** To be gone by ourselves, with the code of the child, before the platform's KILL. */
const AHEAD_MS = 1_000;

/** How long the last tombstone is waited for: until shortly before the platform's KILL, should one come. */
export function mostCarvingMs(deadline: Deadline | undefined, nowMs: number): number {
  const leftMs = deadline === undefined ? MOST_CARVING_MS : deadline.atMs - AHEAD_MS - nowMs;
  return Math.max(LEAST_CARVING_MS, Math.min(leftMs, MOST_CARVING_MS));
}
