/** The idle check by a file: whether it is there. What cannot be looked at is no answer. */
import { stat } from 'node:fs';
import type { FileAction } from '../../core/config.ts';
import { detailOf } from './detail.ts';
import type { Attempt, Tell } from './tcp.ts';

export function attemptFile({ path, idle }: FileAction, tell: Tell): Attempt {
  stat(path, (error) => {
    if (error !== null && error.code !== 'ENOENT') return tell(false, detailOf(error));
    const is = error === null ? 'present' : 'absent';
    tell(is === idle, is === 'present' ? 'the file is there' : 'the file is not there');
  });
  // A result that comes after this is not heard any more.
  return { close: () => {} };
}
