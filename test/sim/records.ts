/** A tombstone is made only of a state that has changed, and written only when it says something else. */

import type { Tombstone } from '../../src/core/format/tombstone.ts';
import type { State } from '../../src/core/state/state.ts';
import { Content } from './volume.ts';

/** Time and peers are not on the record. */
export function isSameRecord(a: State, b: State | undefined): boolean {
  if (b === undefined) return false;
  for (const key in a)
    if (key !== 'now' && key !== 'peers' && a[key as keyof State] !== b[key as keyof State]) return false;
  return true;
}

export function isSameTombstone(a: Tombstone, b: Tombstone): boolean {
  if (a.History !== b.History) return false;
  for (const key in a) {
    if (key === 'StartAfter' || key === 'History') continue;
    if (a[key as keyof Tombstone] !== b[key as keyof Tombstone]) return false;
  }
  for (const key in b) if (!(key in a)) return false;
  return true;
}

/** Whether this file is, byte for byte, what would be written. */
export function isSameText(there: Content, tombstone: Tombstone, hasHistory: boolean): boolean {
  const { History: _history, ...rest } = tombstone;
  return there.text === new Content(hasHistory ? tombstone : rest).text;
}
