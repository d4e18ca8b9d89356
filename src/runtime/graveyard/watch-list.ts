import { hostOf, type Tombstone } from '../../core/format/tombstone.ts';
import type { Contact } from './liveness.ts';

/** What init watches in the graveyard during sleep. */
export interface WatchList {
  /** Members whose tombstones need not be watched. */
  readonly quiet: readonly string[];
  /** The host of each life, by member, whose socket we hold. */
  readonly held: Readonly<Record<string, string>>;
}

export interface Candidate {
  readonly tombstone: Tombstone;
  /** The member matters, or did once. */
  readonly isRelevant: boolean;
  /** The file is there, and nothing that the member may write in this life matters. */
  readonly isQuiet: boolean;
  readonly contact: Contact['kind'];
}

/** undefined: nothing would report the end of a member that matters. */
export function watchListOf(members: readonly Candidate[]): WatchList | undefined {
  const held: Record<string, string> = {};
  const quiet: string[] = [];
  for (const { tombstone, isRelevant, isQuiet, contact } of members) {
    const { Name, Incarnation } = tombstone;
    if (isQuiet && !isRelevant) quiet.push(Name);
    if (!isRelevant || !isFollowed(tombstone)) continue;
    if (contact === 'none' || contact === 'denied') return undefined;
    if (contact === 'held') held[Name] = hostOf(Incarnation);
  }
  return { quiet, held };
}

/** kubexit holds no socket; the dead have closed theirs, or will not need it. */
export function isFollowed(tombstone: Tombstone): boolean {
  return tombstone.Version > 0 && tombstone.Died === undefined;
}
