/**
 * The members of a pod as a reader from outside sees them: their tombstones, and which of them have vanished without a death.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { handleOf } from '../../core/handle.ts';
import type { Tombstone } from '../../core/tombstone.ts';
import { isAbandoned } from './held.ts';
import { readGraveyard, type Unreadable } from './read.ts';

export interface Members {
  readonly members: readonly Tombstone[];
  readonly unreadable: readonly Unreadable[];
}

/** To a member of the pod a graveyard that is not there is empty; for a reader it is most likely the wrong path, so this rejects. */
export async function readMembers(dir: string): Promise<Members> {
  await stat(dir);
  const { members, unreadable } = await readGraveyard(dir);
  return { members: await Promise.all(members.map((member) => withLoss(dir, member))), unreadable };
}

/** Whoever was killed with its whole container could not carve it. */
async function withLoss(dir: string, member: Tombstone): Promise<Tombstone> {
  if (member.Version === 0 || member.Died !== undefined) return member;
  return (await isAbandoned(join(dir, handleOf(member.Name)))) ? { ...member, Reason: 'lost' } : member;
}
