/**
 * `--fix` replaces files: the text is written beside the file, and renamed over it when it is whole on the disk. So a
 * full disk or a KILL leaves the old text, never a part of the new one.
 */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

/** Throws where the file cannot be replaced, or holds another text than `before`. A link stays one. */
export function replaceText(path: string, before: string, after: string): void {
  const real = realpathSync(path);
  const temporary = `${real}.${process.pid}.tmp`;
  const { mode, uid, gid } = statSync(real);
  const file = openSync(temporary, 'wx', mode);
  try {
    try {
      writeFileSync(file, after);
      keepOwner(file, uid, gid);
      // chown(2) clears set-user-ID bits, and open(2) applies the umask.
      fchmodSync(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (!readFileSync(real).equals(Buffer.from(before))) throw new Error('it has changed meanwhile; run it again');
    renameSync(temporary, real);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Only root may give a file away: that of another user becomes one's own, as with sed -i. */
function keepOwner(file: number, uid: number, gid: number): void {
  try {
    fchownSync(file, uid, gid);
  } catch {
    // What was written is right all the same.
  }
}
