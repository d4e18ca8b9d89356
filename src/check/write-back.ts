/**
 * `--fix` replaces files: the text is written beside the file, and renamed over it when it is whole on the disk. So a
 * full disk or a KILL leaves the old text, never a part of the new one.
 */
import { chmodSync, chownSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** Throws where the file cannot be replaced, or holds another text than `before`. A link stays one. */
export function replaceText(path: string, before: string, after: string): void {
  const real = realpathSync(path);
  const temporary = `${real}.${process.pid}.tmp`;
  const { mode, uid, gid } = statSync(real);
  try {
    writeFileSync(temporary, after, { flag: 'wx', mode, flush: true });
    keepOwner(temporary, uid, gid);
    // chown(2) clears set-user-ID bits, and open(2) applies the umask.
    chmodSync(temporary, mode);
    if (!readFileSync(real).equals(Buffer.from(before))) throw new Error('it has changed meanwhile; run it again');
    renameSync(temporary, real);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Only root may give a file away: a file of another user becomes one's own, as with sed -i. */
function keepOwner(path: string, uid: number, gid: number): void {
  try {
    chownSync(path, uid, gid);
  } catch {
    // The text is right all the same.
  }
}
