/** CPU time, memory and processes of a cgroup, version 1 or 2. Unlike /proc it counts CPU time of what has ended. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { send } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';

export interface Group {
  /** A process that writes its PID, or `0`, to this file joins the group with all its later children. */
  readonly procs: string;
  /** In a group for CPU. */
  cpuSeconds(): number;
  /** In a group for memory: the kubelet's working set, which `kubectl top` shows. */
  workingSetKb(): number;
  pids(): number[];
  /** Ends the processes and removes the group. Resolves with how many had to be ended. */
  remove(): Promise<number>;
}

/** `limitMilli`: thousandths of a CPU that the group may use; undefined: no limit. */
export function makeGroup(name: string, limitMilli?: number): Group {
  const group = makeGroupOf(limitMilli === undefined ? 'cpuacct' : 'cpu', name);
  // Microseconds out of each 100,000.
  if (limitMilli !== undefined)
    writeFileSync(join(dirname(group.procs), isV1() ? 'cpu.cfs_quota_us' : 'cpu.max'), String(limitMilli * 100));
  return group;
}

/** cgroup version 1 has a tree for each controller. */
export function makeGroupOf(controller: 'cpuacct' | 'cpu' | 'memory', name: string): Group {
  const dir = join(isV1() ? join(ROOT, controller) : ROOT, name);
  mkdirSync(dir);
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
    workingSetKb: () => workingSetOf(dir) / 1024,
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

/** The memory that is charged, without the page cache that the kernel reclaims first, as the kubelet counts it. */
function workingSetOf(dir: string): number {
  const used = Number(readFileSync(join(dir, isV1() ? 'memory.usage_in_bytes' : 'memory.current'), 'latin1'));
  const name = isV1() ? 'total_inactive_file' : 'inactive_file';
  const [, idle] = new RegExp(`^${name} ([0-9]+)$`, 'm').exec(readFileSync(join(dir, 'memory.stat'), 'latin1')) ?? [];
  return used - Number(idle ?? Number.NaN);
}

function isV1(): boolean {
  return !existsSync(join(ROOT, 'cgroup.controllers'));
}

const ROOT = '/sys/fs/cgroup';
