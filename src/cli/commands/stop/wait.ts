/**
 * Waits until the members that were asked to stop are dead. The tombstone of that life says so, or the loss of the
 * liveness socket.
 *
 * The files are polled, not watched. The kernel has few inotify instances per uid, and a command that stops a pod in
 * trouble must not depend on one.
 */

import type { Tombstone } from '../../../core/format/tombstone.ts';
import { hostOf } from '../../../core/format/tombstone.ts';
import { ASSUMED_GRACE_MS } from '../../../core/pod/deadline.ts';
import { Liveness } from '../../../runtime/graveyard/liveness.ts';
import { readMember } from '../../../runtime/graveyard/read.ts';
import type { Target } from './targets.ts';

export interface Waiting {
  readonly dir: string;
  readonly targets: readonly Target[];
  /** From the request; undefined: what each has declared, or else 30 s. */
  readonly graceMs: number | undefined;
  /** CLOCK_MONOTONIC, milliseconds. */
  readonly now: () => number;
  readonly onEnd: (target: Target, end: End, tookMs: number) => Promise<void>;
}

/**
 * `dead`: by its own tombstone; `reborn`: its container was started again; `lost`: gone without a tombstone of its
 * death.
 */
export type End =
  | { readonly is: 'dead'; readonly tombstone: Tombstone }
  | { readonly is: 'reborn' }
  | { readonly is: 'lost' };

export interface Survivor {
  readonly name: string;
  readonly phase: string;
}

/** Those that outlived the grace period. */
export async function waitForEnds({ dir, targets, graceMs, now, onEnd }: Waiting): Promise<readonly Survivor[]> {
  const askedMs = now();
  const liveness = new Liveness({ dir, now, onChange: () => {} });
  const alive = new Map(targets.map((target) => [target.name, target]));
  const silentSince = new Map<string, number>();
  try {
    await liveness.follow([...alive.keys()]);
    for (;;) {
      const survivors: Survivor[] = [];
      let isOver = true;
      for (const target of [...alive.values()]) {
        const reading = await readMember(dir, target.name);
        const tombstone = reading.kind === 'tombstone' ? reading.tombstone : undefined;
        if (!isSilent(liveness, target.name)) silentSince.delete(target.name);
        else if (!silentSince.has(target.name)) silentSince.set(target.name, now());
        const end = endOfTarget(target, tombstone, now() - (silentSince.get(target.name) ?? now()));
        if (end !== undefined) {
          alive.delete(target.name);
          await onEnd(target, end, now() - askedMs);
          continue;
        }
        survivors.push({ name: target.name, phase: tombstone?.Phase ?? 'unknown' });
        const declaredMs = tombstone?.Boot === target.boot ? tombstone.Deadline : undefined;
        const endMs = graceMs === undefined ? (declaredMs ?? askedMs + ASSUMED_GRACE_MS) : askedMs + graceMs;
        if (now() < endMs + MARGIN_MS) isOver = false;
      }
      if (survivors.length === 0 || isOver) return survivors;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  } finally {
    liveness.stop();
  }
}

function endOfTarget(target: Target, tombstone: Tombstone | undefined, silentForMs: number): End | undefined {
  if (tombstone !== undefined && hostOf(tombstone.Incarnation) !== target.host) return { is: 'reborn' };
  if (tombstone?.Died !== undefined) return { is: 'dead', tombstone };
  return silentForMs >= LOST_AFTER_MS ? { is: 'lost' } : undefined;
}

/** No process listens at its liveness socket any more, whether it was closed before or after we connected. */
function isSilent(liveness: Liveness, name: string): boolean {
  const { kind } = liveness.of(name);
  return kind === 'lost' || kind === 'refused';
}

/** A member writes its death before it closes its socket. A death that is not there after this time will not come. */
const LOST_AFTER_MS = 2_000;
/** A member that sees no file events looks every 5 s. */
export const MARGIN_MS = 7_000;
export const LOOK_AGAIN_MS = 50;
/** The exit code when a member outlived the grace period. */
export const OUTLIVED = 1;
