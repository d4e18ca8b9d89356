/**
 * Puts files into the delivered directory. A file is renamed into place, and only when its content has changed. Other
 * processes may be running from that directory during a build, and a running program's file cannot be written.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function placeContent(path: string, content: Uint8Array | string, mode = 0o644): void {
  const wanted = Buffer.from(content);
  if (!readIfThere(path)?.equals(wanted)) placeBy(path, mode, (temporary) => writeFileSync(temporary, wanted));
}

/** `make` writes the file under the temporary name that it is given. Returns what `make` does. */
export function placeBy<T>(path: string, mode: number, make: (temporary: string) => T): T {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const made = make(temporary);
    chmodSync(temporary, mode);
    renameSync(temporary, path);
    return made;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The content of a small file, or `undefined` when there is none. */
export function readIfThere(path: string): Buffer | undefined {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path) : undefined;
}
