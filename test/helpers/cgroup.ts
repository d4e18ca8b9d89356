/**
 * A test's own cgroup (version 1 or 2) with a limit, for all processes of a container. Either engine's container has
 * PIDs of this machine, and what its processes start later is in their cgroup.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf, send } from './process.ts';
import type { Scratch } from './scratch.ts';
import { waitFor } from './wait.ts';

export type Controller = 'memory' | 'pids' | 'cpu' | 'cpuacct' | 'freezer';

export interface Cgroup {
  /** Its directory, for processes that enter by themselves. */
  readonly dir: string;
  /** `max` (of `pids`): without a limit. */
  limit(value: number | 'max'): void;
  /** Stops all that is in it without a signal; of `freezer`. */
  freeze(): Promise<void>;
  thaw(): void;
  /** One process; false: it has ended. */
  enter(pid: number): boolean;
  /** PID 1 and all that live below it now. */
  take(pid1: number): void;
  /** How many processes and threads are in it; of `pids`. */
  count(): number;
}

const ROOT = '/sys/fs/cgroup';
const FILES = {
  memory: { v1: 'memory.limit_in_bytes', v2: 'memory.max' },
  pids: { v1: 'pids.max', v2: 'pids.max' },
  /** In microseconds of each 100,000. */
  cpu: { v1: 'cpu.cfs_quota_us', v2: 'cpu.max' },
  /** The CPU time that was used. Version 2 counts it without a controller. */
  cpuacct: { v1: 'cpuacct.usage', v2: 'cpu.stat' },
  freezer: { v1: 'freezer.state', v2: 'cgroup.freeze' },
} as const satisfies Record<Controller, object>;

/** Why there can be none on this machine, to skip a test with; undefined: there can. */
export function whyNoCgroup(controller: Controller): string | undefined {
  return canMakeCgroup(controller) ? undefined : `needs a cgroup of its own with the controller ${controller}`;
}

export function canMakeCgroup(controller: Controller): boolean {
  const dir = join(placeOf(controller), `sexton-test-${process.pid}`);
  try {
    mkdirSync(dir);
    const isThere = existsSync(join(dir, fileOf(controller)));
    rmdirSync(dir);
    return isThere;
  } catch {
    return false;
  }
}

export function makeCgroup(scratch: Scratch, controller: Controller, name = ''): Cgroup {
  const dir = join(placeOf(controller), `${scratch.dir}${name}`.replaceAll('/', '-').slice(1));
  mkdirSync(dir);
  const enter = (pid: number): boolean => {
    try {
      writeFileSync(join(dir, 'cgroup.procs'), String(pid));
      return true;
    } catch {
      return false;
    }
  };
  scratch.clearAlso(async () => {
    const removed = () => waitFor('the cgroup is empty', () => remove(dir), scratch.settleMs).catch(() => false);
    if (await removed()) return undefined;
    const left = readFileSync(join(dir, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean);
    for (const pid of left) send(Number(pid), 'SIGKILL');
    await removed();
    return `cgroup ${dir} with ${left.join(' ')}`;
  });
  const write = (value: number | string): void => writeFileSync(join(dir, fileOf(controller)), String(value));
  const [frozen, thawed] = isV1() ? ['FROZEN', 'THAWED'] : [1, 0];
  const isFrozen = (): boolean =>
    readFileSync(join(dir, isV1() ? fileOf(controller) : 'cgroup.events'), 'latin1').match(/FROZEN|frozen 1/) !== null;
  return {
    dir,
    limit: write,
    freeze: async () => {
      write(frozen);
      await waitFor('the cgroup is frozen', isFrozen);
    },
    thaw: () => write(thawed),
    enter,
    take: (pid1) => {
      enter(pid1);
      for (const pid of below(pid1)) enter(pid);
    },
    count: () => Number(readFileSync(join(dir, 'pids.current'), 'latin1')),
  };
}

function below(pid: number): number[] {
  return childrenOf(pid).flatMap((it) => [it, ...below(it)]);
}

function remove(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch {
    return !existsSync(dir);
  }
}

function isV1(): boolean {
  return !existsSync(join(ROOT, 'cgroup.controllers'));
}

function placeOf(controller: Controller): string {
  return isV1() ? join(ROOT, controller) : ROOT;
}

function fileOf(controller: Controller): string {
  return FILES[controller][isV1() ? 'v1' : 'v2'];
}
