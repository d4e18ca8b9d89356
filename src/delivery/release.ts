/** Which release a build is of. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Release } from './bundles.ts';

/** `commit`: where no repository can tell it, as in the build of an image. */
export function readRelease(root: string, commit: string = readCommit(root)): Release {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { version, commit };
}

/** A source archive has no repository; the version alone must do then. */
function readCommit(root: string): string {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'unknown';
}
