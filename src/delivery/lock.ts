/**
 * One build at a time in one checkout: two test runs started together both begin with a build. The lock is a symbolic
 * link to its owner's pid, so it names the owner from its first moment on. Another build takes it over when that
 * process is gone.
 */
import { mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';

const RETRY_MS = 100;

export async function withLock<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  mkdirSync(dirname(path), { recursive: true });
  while (!tryTo('EEXIST', () => symlinkSync(String(process.pid), path))) {
    // ENOENT: its owner has just removed it.
    const isHeld = tryTo('ENOENT', () => {
      const owner = Number(readlinkSync(path));
      // EPERM: the process lives, under another user.
      if (!tryTo('ESRCH', () => tryTo('EPERM', () => process.kill(owner, 0)))) rmSync(path, { force: true });
    });
    if (isHeld) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** Whether it did not fail with that code. */
function tryTo(code: string, attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
}
