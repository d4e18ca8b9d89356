/** The idle check by a file: whether it is there. What cannot be looked at is no answer. */
import { lstat, stat } from 'node:fs';
import { dirname } from 'node:path';
import type { FileAction } from '../../core/config.ts';
import { detailOf } from './detail.ts';
import type { Attempt, Tell } from './tcp.ts';

export function attemptFile({ path, idle }: FileAction, tell: Tell): Attempt {
  lstat(path, (error) => {
    if (error === null) return tell(idle === 'present', 'the file is there');
    if (error.code !== 'ENOENT') return tell(false, detailOf(error));
    if (idle === 'present') return tell(false, 'the file is not there');
    // A wrong path, or a volume that is not mounted, must not look idle.
    stat(dirname(path), (missing) => tell(missing === null, `the ${missing ? 'directory' : 'file'} is not there`));
  });
  // A result that comes after this is not heard any more.
  return { close: () => {} };
}
