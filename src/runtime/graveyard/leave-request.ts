/** Leaves a stop request for a member in the graveyard, under a name of its own. */
import { join } from 'node:path';
import { formatRequest, requestFileOf, type StopRequest } from '../../core/format/stop-request.ts';
import { inDirectory, randomName, replaceFile } from './directory.ts';
import { type Trouble, trouble } from './store.ts';

export type Left = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly trouble: Trouble };

/** Never rejects. */
export async function leaveRequest(dir: string, name: string, request: StopRequest): Promise<Left> {
  const file = requestFileOf(name, randomName());
  try {
    await inDirectory(dir, (here) => replaceFile(here, file, formatRequest(request)));
    return { ok: true, path: join(dir, file) };
  } catch (error) {
    return { ok: false, trouble: trouble(`ask ${name} to stop`, error) };
  }
}
