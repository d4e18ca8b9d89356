/**
 * The members of a pod as a reader from outside sees them: their tombstones, and which of them have vanished without a
 * death.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tombstone } from '../../core/format/tombstone.ts';
import { handleOf } from '../../core/format/tombstone.ts';
import { type Handle, lookAtHandle } from './handle.ts';
import { readGraveyard, type Unreadable } from './read.ts';
import { readSleepers } from './sleepers.ts';

export interface Members {
  /** Sorted by name; the `Reason` of a member that is gone without a death is `lost`. */
  readonly members: readonly Tombstone[];
  readonly unreadable: readonly Unreadable[];
  /** Members that may be gone, and may not: by which error their handles could not be asked. */
  readonly unknown: readonly Unreadable[];
  /** The names of those whose handle a process of this kernel holds. */
  readonly held: ReadonlySet<string>;
  /** The names of those whose supervisor sleeps. */
  readonly asleep: ReadonlySet<string>;
}

/**
 * To a member of the pod a graveyard that is not there is empty; for a reader it is most likely the wrong path, so this
 * rejects.
 */
export async function readMembers(dir: string): Promise<Members> {
  await stat(dir);
  const { members, unreadable } = await readGraveyard(dir);
  const looks = await Promise.all(members.map(async (member) => ({ member, handle: await handleIn(dir, member) })));
  return {
    // A member that was killed with its whole container could not write its death.
    members: looks.map(({ member, handle }) => (handle.is === 'abandoned' ? { ...member, Reason: 'lost' } : member)),
    unreadable,
    unknown: looks.flatMap(({ member: { Name }, handle }) =>
      handle.is === 'unknown' ? [{ name: Name, why: handle.why }] : [],
    ),
    asleep: await readSleepers(
      dir,
      looks.flatMap(({ member: { Name }, handle }) => (handle.is === 'held' ? [Name] : [])),
    ),
    held: new Set(looks.flatMap(({ member: { Name }, handle }) => (handle.is === 'held' ? [Name] : []))),
  };
}

/** kubexit has none, and the dead have let go of theirs. */
async function handleIn(dir: string, { Version, Died, Name }: Tombstone): Promise<Handle> {
  return Version === 0 || Died !== undefined ? { is: 'none' } : lookAtHandle(join(dir, handleOf(Name)));
}
