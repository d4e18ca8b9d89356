/** A tombstone is made only of a state that has changed, and written only when it says something else. */

import type { State } from '../../src/core/state/state.ts';

/** Time and peers are not on the record. */
export function isSameRecord(a: State, b: State | undefined): boolean {
  if (b === undefined) return false;
  for (const key in a)
    if (key !== 'now' && key !== 'peers' && a[key as keyof State] !== b[key as keyof State]) return false;
  return true;
}
