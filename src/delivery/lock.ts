/**
 * One build at a time in one checkout: two test runs started together both begin with a build. The lock is a directory
 * that names its owner's pid; one is taken over when its owner is gone.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const RETRY_MS = 100;
/** A lock that names no owner for this long was left by a build that died between its two steps. */
const NAMELESS_MS = 5_000;

export async function withLock<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  mkdirSync(dirname(path), { recursive: true });
  let namelessMs = 0;
  while (!tryLock(path)) {
    const owner = readOwner(path);
    namelessMs = owner === undefined ? namelessMs + RETRY_MS : 0;
    if (owner === undefined ? namelessMs > NAMELESS_MS : !isAlive(owner))
      rmSync(path, { recursive: true, force: true });
    else await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  try {
    return await work();
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

function tryLock(path: string): boolean {
  try {
    mkdirSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(path, 'pid'), String(process.pid));
  return true;
}

function readOwner(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(path, 'pid'), 'utf8'));
    return pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, under another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
