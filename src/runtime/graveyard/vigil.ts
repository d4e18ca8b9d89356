/**
 * What init has to watch in the graveyard while the supervisor sleeps.
 */
import { hostOf, type Tombstone } from '../../core/format/tombstone.ts';
import type { Contact } from './liveness.ts';

export interface Vigil {
  /** Members of whom nothing is to be told. */
  readonly quiet: readonly string[];
  /** By name, the host of the life whose handle is held. */
  readonly held: Readonly<Record<string, string>>;
}

/** A member as the graveyard knows it. */
export interface Watched {
  readonly tombstone: Tombstone;
  /** It matters, or has mattered once. */
  readonly isNear: boolean;
  /** It is there, and nothing that it may say in this life matters. */
  readonly isQuiet: boolean;
  readonly contact: Contact['kind'];
}

/** undefined: of the end of one that matters nobody would tell. */
export function vigilOf(members: readonly Watched[]): Vigil | undefined {
  const held: Record<string, string> = {};
  const quiet: string[] = [];
  for (const { tombstone, isNear, isQuiet, contact } of members) {
    const { Name, Incarnation } = tombstone;
    if (isQuiet && !isNear) quiet.push(Name);
    if (!isNear || !isFollowed(tombstone)) continue;
    if (contact === 'none' || contact === 'denied') return undefined;
    if (contact === 'held') held[Name] = hostOf(Incarnation);
  }
  return { quiet, held };
}

/** kubexit holds no socket; the dead have let go of theirs, or will not need it. */
export function isFollowed(tombstone: Tombstone): boolean {
  return tombstone.Version > 0 && tombstone.Died === undefined;
}
