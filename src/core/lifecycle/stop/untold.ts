/** When a stop signal reaches what has not had it, as its parent did not end it: shortly before a KILL would. */
import type { MemberConfig, Rung } from '../../config.ts';
import { ladderOf } from '../../ladder.ts';
import { killAtMs } from '../../pod/deadline.ts';
import { SIGKILL } from '../../signals.ts';
import { earliest } from '../../time.ts';

export interface UntoldTimes {
  /** Then it reaches what no living parent that has had it, and is no shell, is to end. */
  readonly lateMs: number;
  /** Then it reaches all that has not had it. */
  readonly lastMs: number;
}

/** `killMs` undefined: it is not known when KILL comes, and a parent that takes its time must not lose its children. */
export function untoldTimes(sentMs: number, killMs: number | undefined): UntoldTimes | undefined {
  if (killMs === undefined) return undefined;
  const leftMs = killMs - sentMs;
  return { lateMs: sentMs + Math.round((leftMs * 2) / 3), lastMs: sentMs + Math.round(leftMs * 0.9) };
}

/** When these rungs end in KILL; undefined: they do not, or not by a time. */
export function ladderKillMs(rungs: readonly Rung[], sinceMs: number): number | undefined {
  let atMs: number | undefined = sinceMs;
  for (const { signal, forMs } of rungs) {
    if (signal === SIGKILL) return atMs;
    atMs = atMs === undefined || forMs === undefined ? undefined : atMs + forMs;
  }
  return undefined;
}

/**
 * When a stop of the platform reaches what has not had its signals, since the request. `sentMs`: when its first signal
 * is sent. undefined: it does not, as it is not known when KILL comes.
 */
export function predictLateMs(config: MemberConfig, signal: number, sentMs: number): number | undefined {
  const { gracePeriodMs } = config;
  const ownMs = gracePeriodMs && killAtMs({ sinceMs: 0, atMs: gracePeriodMs });
  const rungs = ladderOf(config, signal);
  let sinceMs = sentMs;
  for (const [index, { forMs }] of rungs.entries()) {
    const { lateMs } = untoldTimes(sinceMs, earliest(ladderKillMs(rungs.slice(index), sinceMs), ownMs)) ?? {};
    const nextMs = rungs[index + 1] === undefined ? undefined : sinceMs + (forMs ?? 0);
    if (nextMs === undefined || (lateMs !== undefined && lateMs <= nextMs)) return lateMs;
    sinceMs = nextMs;
  }
  return undefined;
}
