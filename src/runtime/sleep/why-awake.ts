/**
 * Why a supervisor stays awake. `sexton explain` prints the conditions of flags and volume, the debug log the others.
 * `sleeper.ts` waits until start and writing are done; `src/init/supervisor/sleep.c` refuses while init has work.
 */
import type { MemberConfig } from '../../core/config.ts';
import { hasUnsurePeer } from '../../core/pod/standing.ts';
import type { State } from '../../core/state/state.ts';

/** `--readiness` and the like; empty: no flag needs a supervisor at any time. */
export function whyAwakeByFlags(flags: readonly string[]): string | undefined {
  return flags.length === 0 ? undefined : `it is needed for ${flags.join(', ')}`;
}

/** By the member's state; undefined: it only waits for its command or for other members. */
export function whyAwakeByState(member: MemberConfig, state: State): string | undefined {
  const { child, stop, climb, failing, tasks } = state;
  if (child.is !== 'alive' && child.is !== 'backoff' && child.is !== 'unstarted') return `the command is ${child.is}`;
  if (stop !== undefined || climb !== undefined) return 'a stop is under way';
  if (failing !== undefined) return 'a life that has failed is being ended';
  if (tasks.length > 0) return 'a hook or a probe runs';
  if (state.peers === undefined) return 'the graveyard was not read yet';
  // A new supervisor would have the same doubt, so sleep would end at once.
  if (hasUnsurePeer(member, state)) return 'the death of a member is in doubt';
  return undefined;
}

/** `dueMs`: of the next tick. `wakes`: when supervisors were woken. Times are CLOCK_MONOTONIC milliseconds. */
export function whyAwakeByTime(
  dueMs: number | undefined,
  wakes: readonly number[],
  nowMs: number,
  afterMs: number,
): string | undefined {
  if (dueMs !== undefined && dueMs < nowMs + 2 * afterMs) return 'something is due soon';
  return isWokenTooOften(wakes, nowMs) ? 'it was woken too often, and stays awake for half an hour' : undefined;
}

export interface Surroundings {
  readonly isLocal: boolean;
  readonly isSettled: boolean;
  /** undefined: no socket reports the end of a member that matters, or the graveyard is being read. */
  readonly list: object | undefined;
  /** The list has too many names, or paths that are too long, for one frame. */
  readonly isTooLarge: boolean;
}

export const ANOTHER_KERNEL =
  'the graveyard is on a file system that another kernel may change, such as NFS, 9p or FUSE';

/** The graveyard; undefined: init can watch all that matters. */
export function whyAwakeByGraveyard({ isLocal, isSettled, list, isTooLarge }: Surroundings): string | undefined {
  if (!isLocal) return ANOTHER_KERNEL;
  if (!isSettled) return 'its tombstone or its socket is not written yet';
  if (list === undefined) return 'a member that matters has no socket, or the graveyard is being read';
  return isTooLarge ? 'the graveyard has more members than init watches' : undefined;
}

/** More than three wakes a minute for five minutes cost more than half an hour awake. */
function isWokenTooOften(wakes: readonly number[], nowMs: number): boolean {
  const [first, last] = [wakes.at(-MAX_WAKES), wakes.at(-1)];
  return first !== undefined && last !== undefined && last - first <= COUNTED_MS && nowMs - last < AWAKE_MS;
}

export function withWake(wakes: readonly number[], nowMs: number): readonly number[] {
  return [...wakes, Math.floor(nowMs)].slice(-MAX_WAKES);
}

const MAX_WAKES = 16;
const COUNTED_MS = 300_000;
const AWAKE_MS = 1_800_000;
