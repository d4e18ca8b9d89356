/** Calls of podman, and the images that all tests of one file share. */
import { execFile } from 'node:child_process';
import { after, before } from 'node:test';
import { promisify } from 'node:util';
import { buildImages, type Images } from '../../../docker/build.ts';
import { buildFixtures } from '../../helpers/fixture.ts';

const run = promisify(execFile);
/** One call, not one test: `podman wait` waits for a pod to end. */
const CALL_LIMIT_MS = 90_000;

/** Resolves to its stdout without the last line feed; rejects with what it said when it failed. */
export async function podman(...args: string[]): Promise<string> {
  const { stdout } = await run('podman', args, { timeout: CALL_LIMIT_MS, maxBuffer: 16 << 20 });
  return stdout.trimEnd();
}

/** Built before the tests of the file that calls this and removed after them. */
export function sharedImages(): () => Images {
  let images: Images | undefined;
  before(async () => {
    images = await buildImages((await buildFixtures()).member);
  });
  after(() => images?.remove());
  return () => {
    if (!images) throw new Error('internal error: the images are built before the first test');
    return images;
  };
}
