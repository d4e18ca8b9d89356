/**
 * Leaving a stop request for a member in the graveyard: whole or not at all, under a name of its own.
 */
import { rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { formatRequest, requestFileOf, type StopRequest } from '../../core/format/stop-request.ts';
import { inDirectory } from './directory.ts';
import { randomName, type Trouble, trouble, writeNew } from './store.ts';

export type Left = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly trouble: Trouble };

/** Never rejects. */
export async function leaveRequest(dir: string, name: string, request: StopRequest): Promise<Left> {
  const mark = randomName();
  const file = requestFileOf(name, mark);
  try {
    await inDirectory(dir, async (here) => {
      // Not named as the member's own: those its supervisor removes when it starts, as at each wake.
      const temporary = join(here, `${file}.tmp`);
      try {
        await writeNew(temporary, formatRequest(request));
        await rename(temporary, join(here, file));
      } catch (error) {
        await unlink(temporary).catch(() => {});
        throw error;
      }
    });
    return { ok: true, path: join(dir, file) };
  } catch (error) {
    return { ok: false, trouble: trouble(`ask ${name} to stop`, error) };
  }
}
