/**
 * Waiting until those who were asked to stop are dead: each by its own tombstone of that life, or by the loss of its handle.
 *
 * The files are looked at again and again instead of watched: the kernel has few inotify instances per uid, and whoever
 * stops a pod in trouble must not depend on one.
 */
import { hostOf } from '../core/incarnation.ts';
import type { Tombstone } from '../core/tombstone.ts';
import { Liveness } from '../runtime/graveyard/liveness.ts';
import { readMember } from '../runtime/graveyard/read.ts';
import type { Target } from './stop-targets.ts';

export interface Waiting {
  readonly dir: string;
  readonly targets: readonly Target[];
  /** From the request; undefined: what each has declared, or else 30 s. */
  readonly graceMs: number | undefined;
  /** CLOCK_MONOTONIC, milliseconds. */
  readonly now: () => number;
  readonly onEnd: (target: Target, end: End, tookMs: number) => Promise<void>;
}

/** Dead by its own word; its container lives a new life already; or it is gone without a word. */
export type End =
  | { readonly is: 'dead'; readonly tombstone: Tombstone }
  | { readonly is: 'reborn' }
  | { readonly is: 'lost' };

export interface Survivor {
  readonly name: string;
  readonly phase: string;
}

/** Who outlived the grace period; nobody, if all is well. */
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
        const end = endOf(target, tombstone, now() - (silentSince.get(target.name) ?? now()));
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

function endOf(target: Target, tombstone: Tombstone | undefined, silentForMs: number): End | undefined {
  if (tombstone !== undefined && hostOf(tombstone.Incarnation) !== target.host) return { is: 'reborn' };
  if (tombstone?.Died !== undefined) return { is: 'dead', tombstone };
  return silentForMs >= LOST_AFTER_MS ? { is: 'lost' } : undefined;
}

/** Nobody stands behind its handle any more, whether it was let go of before or after we came. */
function isSilent(liveness: Liveness, name: string): boolean {
  const { kind } = liveness.of(name);
  return kind === 'lost' || kind === 'refused';
}

/** A death is carved before the handle is let go of; what comes later than this does not come. */
const LOST_AFTER_MS = 2_000;
const ASSUMED_GRACE_MS = 30_000;
/** A member that sees no file events looks every 5 s. */
const MARGIN_MS = 7_000;
const LOOK_AGAIN_MS = 50;
