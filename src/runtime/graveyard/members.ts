/**
 * The members of a pod as a reader from outside sees them: their tombstones, and which of them have vanished without a
 * death.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tombstone } from '../../core/format/tombstone.ts';
import { handleOf } from '../../core/format/tombstone.ts';
import { type Handle, probeHandle } from './handle.ts';
import { readGraveyard, type Unreadable } from './read.ts';
import { readSleepers } from './sleepers.ts';

export interface Members {
  /** Sorted by name; the `Reason` of a member that is gone without a death is `lost`. */
  readonly members: readonly Tombstone[];
  readonly unreadable: readonly Unreadable[];
  /** Members that may or may not be gone, and the error of connecting to their sockets. */
  readonly unknown: readonly Unreadable[];
  /** The names of members whose socket a process of this kernel holds. */
  readonly held: ReadonlySet<string>;
  /** The names of members whose supervisor sleeps. */
  readonly asleep: ReadonlySet<string>;
}

/** Rejects where there is no graveyard: for a reader that is most likely the wrong path. */
export async function readMembers(dir: string): Promise<Members> {
  await stat(dir);
  const { members, unreadable } = await readGraveyard(dir);
  const probed = await Promise.all(members.map(async (member) => ({ member, handle: await probe(dir, member) })));
  const held = probed.flatMap(({ member: { Name }, handle }) => (handle.is === 'held' ? [Name] : []));
  return {
    // A member that was killed with its whole container could not write its death.
    members: probed.map(({ member, handle }) => (handle.is === 'abandoned' ? { ...member, Reason: 'lost' } : member)),
    unreadable,
    unknown: probed.flatMap(({ member: { Name }, handle }) =>
      handle.is === 'unknown' ? [{ name: Name, why: handle.why }] : [],
    ),
    asleep: await readSleepers(dir, held),
    held: new Set(held),
  };
}

/** kubexit has no socket, and the dead have closed theirs. */
async function probe(dir: string, { Version, Died, Name }: Tombstone): Promise<Handle> {
  return Version === 0 || Died !== undefined ? { is: 'none' } : probeHandle(join(dir, handleOf(Name)));
}
