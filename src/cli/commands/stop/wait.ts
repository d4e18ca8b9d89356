/**
 * Waits until each member that was asked has ended. The files are polled, not watched. The kernel has few inotify
 * instances per uid, and a call that stops a pod in trouble must not depend on one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../../../config/notation/duration.ts';
import { hostOf, type Tombstone } from '../../../core/format/tombstone.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { readMember } from '../../../runtime/graveyard/read.ts';
import { warn } from '../../../text/errors.ts';
import { print } from '../../../text/print.ts';
import type { Target } from './request.ts';

interface Waiting {
  readonly dir: string;
  readonly targets: readonly Target[];
  readonly askedMs: number;
  readonly clock: Clock;
  /** How this life of it has ended, in words; undefined: it has not. */
  readonly endOf: (target: Target, tombstone: Tombstone | undefined) => string | undefined;
  /** When one that has not ended is given up. */
  readonly endMsOf: (target: Target, tombstone: Tombstone | undefined) => number;
  readonly onEnd?: (target: Target) => Promise<void>;
  readonly late: string;
}

/** Prints how each has ended. The exit code says whether some have not ended in time. */
export async function waitForEnds({ dir, targets, askedMs, clock, ...how }: Waiting): Promise<void> {
  const left = new Set(targets);
  let survivors: string[];
  let isOver: boolean;
  do {
    survivors = [];
    isOver = true;
    for (const target of left) {
      const reading = await readMember(dir, target.name);
      const tombstone = reading.kind === 'tombstone' ? reading.tombstone : undefined;
      const isReborn = tombstone !== undefined && hostOf(tombstone.Incarnation) !== target.host;
      const end = isReborn ? 'ended, and its container runs again' : how.endOf(target, tombstone);
      if (end === undefined) {
        survivors.push(`${target.name} (${tombstone?.Phase ?? 'unknown'})`);
        isOver &&= clock.now().mono >= how.endMsOf(target, tombstone) + MARGIN_MS;
        continue;
      }
      left.delete(target);
      await how.onEnd?.(target);
      await print(`${target.name} ${end}, after ${formatDuration(Math.round(clock.now().mono - askedMs))}\n`);
    }
    if (!isOver) await sleep(LOOK_AGAIN_MS);
  } while (!isOver);
  if (survivors.length === 0) return;
  process.exitCode = OUTLIVED;
  warn(`${how.late}: ${survivors.join(', ')}; see sexton status and the log of that container`);
}

/** A member that sees no file events looks every 5 s. */
export const MARGIN_MS = 7_000;
export const LOOK_AGAIN_MS = 50;
/** The exit code when a member outlived the grace period. */
export const OUTLIVED = 1;
