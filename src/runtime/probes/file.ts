/** The idle check by a file: whether it is there. What cannot be looked at is no answer. */
import { lstat, stat } from 'node:fs';
import { dirname } from 'node:path';
import type { FileAction } from '../../core/config.ts';
import { detailOf } from './detail.ts';
import type { Attempt, Tell } from './tcp.ts';

export function attemptFile({ path, idle }: FileAction, tell: Tell): Attempt {
  // A result that comes after `close` is not heard any more.
  const attempt = { close: () => {} };
  if (LOOKS.has(path)) return attempt;
  LOOKS.add(path);
  const end = (isIdle: boolean, detail: string): void => {
    LOOKS.delete(path);
    tell(isIdle, detail);
  };
  lstat(path, (error) => {
    if (error === null) return end(idle === 'present', 'the file is there');
    if (error.code !== 'ENOENT') return end(false, detailOf(error));
    if (idle === 'present') return end(false, 'the file is not there');
    // A wrong path, or a volume that is not mounted, must not look idle.
    stat(dirname(path), (missing) => end(missing === null, `the ${missing ? 'directory' : 'file'} is not there`));
  });
  return attempt;
}

/**
 * The paths that are being looked at. On a volume that hangs each look keeps one of four threads, so a path gets one look
 * at a time.
 */
const LOOKS = new Set<string>();
