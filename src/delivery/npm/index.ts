/**
 * What the npm package exports: reading tombstones, with the types of the published format. A program can import from
 * 'sexton' only what this file exports, so it is the contract.
 */
import { parseTombstone as parse } from '../../core/format/tombstone-parse.ts';
import type { Parsed, Tombstone } from '../../core/tombstone-type.ts';
import { readMembers } from '../../runtime/graveyard/members.ts';

export type * from '../../core/tombstone-type.ts';

/**
 * Reads all tombstones of a graveyard once, as `sexton status` does.
 *
 * A member whose tombstone tells of no death but whose container is gone (killed as a whole) gets the `Reason` `lost`.
 * That can be told only on the same kernel, by connecting to the socket beside the tombstone. Where that fails for
 * another reason than that no process listens, the member is named in `unknown`.
 *
 * Nothing in the directory is trusted: links are not followed, at most 128 members of at most 64 KiB each are read.
 *
 * @param dir The directory that the containers of the pod share.
 * @throws Rejects with the error of Node's `fs` if the directory cannot be read. Its `code` is `ENOENT`, `ENOTDIR`,
 * `EACCES`, ..
 */
export async function readGraveyard(dir: string): Promise<Graveyard> {
  const { members, unreadable, unknown } = await readMembers(dir);
  return { members, unreadable, unknown };
}

/**
 * Reads the text of one tombstone, sexton's or kubexit's. Never throws.
 *
 * @param name The file's name, which is the member's.
 * @param text The file's content. One that is not understood as a whole may be half written: read it again.
 */
export function parseTombstone(name: string, text: string): Parsed {
  return parse(name, text);
}

export interface Graveyard {
  /** Sorted by name. */
  readonly members: readonly Tombstone[];
  /** What else lies there under a name that does not begin with a dot, and why it is no tombstone. */
  readonly unreadable: readonly { readonly name: string; readonly why: string }[];
  /** Members that may be gone, and may not: `why` is the error, such as `EACCES`, that hid their sockets. */
  readonly unknown: readonly { readonly name: string; readonly why: string }[];
}
