/**
 * CPU time and processes of a group: a cgroup of its own, version 1 (`cpuacct`) or 2, whatever this machine has. What
 * has ended by now is counted, too, which /proc forgets.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';

export interface Group {
  /** Whoever writes its own PID here, or `0`, is in the group, with all that it starts from then on. */
  readonly procs: string;
  cpuSeconds(): number;
  pids(): number[];
  /** Ends all that is in it and removes it. Resolves to how many had to be ended. */
  remove(): Promise<number>;
}

/** `limitMilli`: thousandths of a CPU that it may use; undefined: all there is. */
export function makeGroup(name: string, limitMilli?: number): Group {
  const dir = join(isV1() ? join(ROOT, limitMilli === undefined ? 'cpuacct' : 'cpu') : ROOT, name);
  mkdirSync(dir);
  // Microseconds of each 100,000.
  if (limitMilli !== undefined)
    writeFileSync(join(dir, isV1() ? 'cpu.cfs_quota_us' : 'cpu.max'), String(limitMilli * 100));
  const procs = join(dir, 'cgroup.procs');
  const pids = (): number[] => readFileSync(procs, 'latin1').split('\n').filter(Boolean).map(Number);
  const isRemoved = (): boolean => {
    try {
      rmdirSync(dir);
      return true;
    } catch {
      return false;
    }
  };
  return {
    procs,
    pids,
    cpuSeconds: () => (isV1() ? Number(readFileSync(join(dir, 'cpuacct.usage'), 'latin1')) / 1e9 : version2(dir)),
    remove: async () => {
      const left = pids();
      for (const pid of left) send(pid, 'SIGKILL');
      await waitFor(`the cgroup ${dir} is empty`, isRemoved);
      return left.length;
    },
  };
}

function version2(dir: string): number {
  const [, usec] = /^usage_usec ([0-9]+)$/m.exec(readFileSync(join(dir, 'cpu.stat'), 'latin1')) ?? [];
  return Number(usec ?? Number.NaN) / 1e6;
}

function isV1(): boolean {
  return !existsSync(join(ROOT, 'cgroup.controllers'));
}

const ROOT = '/sys/fs/cgroup';
