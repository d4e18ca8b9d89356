/**
 * Too little memory for one process: a cgroup of its own, in which the kernel's OOM killer ends it.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Scratch } from '../helpers/scratch.ts';
import { SETTLE_MS, waitFor } from '../helpers/wait.ts';

const V1 = '/sys/fs/cgroup/memory';

let made = 0;

/**
 * Puts it there, if it still lives. What it has used up to now counts elsewhere; a page more than `bytes` is its end.
 */
export function starve(scratch: Scratch, pid: number, bytes: number): boolean {
  made += 1;
  const isV1 = existsSync(V1);
  const group = join(isV1 ? V1 : '/sys/fs/cgroup', `sexton-faults-${basename(scratch.dir)}-${made}`);
  mkdirSync(group);
  scratch.clearAlso(async () => {
    const isGone = await waitFor('the cgroup is empty', () => removed(group), SETTLE_MS).catch(() => false);
    return isGone ? undefined : `cgroup ${group} with ${readFileSync(join(group, 'cgroup.procs'), 'utf8')}`;
  });
  writeFileSync(join(group, isV1 ? 'memory.limit_in_bytes' : 'memory.max'), String(bytes));
  try {
    writeFileSync(join(group, 'cgroup.procs'), String(pid));
    return true;
  } catch {
    return false;
  }
}

function removed(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return !existsSync(group);
  }
}
