/**
 * Waits until the members that were asked to restart live again, by their tombstones. The files are polled, as by
 * `sexton stop`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { hostOf, type Tombstone } from '../../../core/format/tombstone.ts';
import { ASSUMED_GRACE_MS } from '../../../core/pod/deadline.ts';
import { readMember } from '../../../runtime/graveyard/read.ts';
import type { Target } from '../stop/targets.ts';
import { LOOK_AGAIN_MS, MARGIN_MS, type Survivor } from '../stop/wait.ts';

export interface Waiting {
  readonly dir: string;
  readonly targets: readonly Target[];
  /** From the request; undefined: what each has declared, or else 30 s. */
  readonly graceMs: number | undefined;
  /** CLOCK_MONOTONIC, milliseconds. */
  readonly requestedMs: number;
  /** CLOCK_MONOTONIC, milliseconds. */
  readonly now: () => number;
  readonly onEnd: (target: Target, what: string, tookMs: number) => Promise<void>;
}

/** What it may take until a command that was started again has started, its gates and its probes. */
const STARTING_MS = 60_000;

/** Those that have not started again in time. */
export async function waitForRestarts(waiting: Waiting): Promise<readonly Survivor[]> {
  const { dir, targets, graceMs, requestedMs, now, onEnd } = waiting;
  const left = new Map(targets.map((target) => [target.name, target]));
  let deadlineMs = requestedMs + (graceMs ?? ASSUMED_GRACE_MS);
  for (;;) {
    const survivors: Survivor[] = [];
    for (const target of left.values()) {
      const reading = await readMember(dir, target.name);
      const tombstone = reading.kind === 'tombstone' ? reading.tombstone : undefined;
      if (tombstone?.RestartRequested === requestedMs) deadlineMs = Math.max(deadlineMs, tombstone.Deadline ?? 0);
      const what = endOf(target, tombstone, requestedMs);
      if (what === undefined) survivors.push({ name: target.name, phase: tombstone?.Phase ?? 'unknown' });
      else {
        left.delete(target.name);
        await onEnd(target, what, now() - requestedMs);
      }
    }
    if (left.size === 0 || now() >= deadlineMs + MARGIN_MS + STARTING_MS) return survivors;
    await sleep(LOOK_AGAIN_MS);
  }
}

/** In words; undefined: it is under way. */
function endOf({ host }: Target, tombstone: Tombstone | undefined, requestedMs: number): string | undefined {
  if (tombstone === undefined) return undefined;
  if (hostOf(tombstone.Incarnation) !== host) return 'ended, and its container runs again';
  if (tombstone.Died !== undefined) return `ended, exit code ${tombstone.ExitCode ?? 'unknown'}`;
  const { RestartRequested = 0, StopRequested, Started } = tombstone;
  const isAgain = RestartRequested >= requestedMs && StopRequested === undefined && Started !== undefined;
  return isAgain ? 'restarted' : undefined;
}
