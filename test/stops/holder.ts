/**
 * Whether a program can be kept from being executed here: `test/fixtures/holder.c`.
 */
import { spawnSync } from 'node:child_process';
import { buildFixtures } from '../helpers/fixture.ts';

/** Why not; undefined: it can. */
export async function whyNoHolder(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'needs root';
  const { holder } = await buildFixtures();
  // Without a stdin it ends at once.
  const { status } = spawnSync(holder, [process.execPath], { stdio: 'ignore' });
  return status === 0 ? undefined : 'needs permission events of fanotify';
}
