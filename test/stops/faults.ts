/** What keeps another supervisor away when a pod is to stop. Each fault is real, strikes the whole pod and stays. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cgroup, type Controller, whyNoCgroup } from '../helpers/cgroup.ts';
import { buildFixtures, type Fixtures } from '../helpers/fixture.ts';
import { run } from '../helpers/outcome.ts';
import { hasEnded, send } from '../helpers/process.ts';
import type { Scratch } from '../helpers/scratch.ts';
import { waitFor, within } from '../helpers/wait.ts';
import type { Copy } from './copy.ts';

/** A pod at the moment of the strike. */
export interface Struck {
  readonly scratch: Scratch;
  readonly fixtures: Fixtures;
  readonly copy: Copy;
  readonly members: readonly StruckMember[];
}

export interface StruckMember {
  readonly pid1: number;
  /** Finds the supervisor that runs now. */
  readonly supervisor: () => number | undefined;
  /** The member's cgroup of the fault's controller. */
  readonly cgroup: Cgroup | undefined;
}

export interface Fault {
  /** What stands against Node. */
  readonly name: string;
  /** `npm test` plays it, too; the others only the long form. */
  readonly isTypical: boolean;
  readonly controller?: Controller;
  /** Why it cannot be had here. */
  readonly why?: string | undefined;
  /** How many MiB the command occupies: the OOM killer takes the process that has most. */
  readonly fillMb?: number;
  readonly strike: (pod: Struck) => void | Promise<void>;
}

/** More than Node, whose pages of files count for the OOM killer as well. */
const FILL_MB = 88;
const AS_BYTES = 100_000_000;

/** Why no program can be kept from being executed here; undefined: one can, by `test/fixtures/holder.c`. */
async function whyNoHolder(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'needs root';
  const { holder } = await buildFixtures();
  // Without a stdin it ends at once.
  const { status } = spawnSync(holder, [process.execPath], { stdio: 'ignore' });
  return status === 0 ? undefined : 'needs permission events of fanotify';
}

export const FAULTS: readonly Fault[] = [
  ...[0, 1, 2, 3, 4, 5, 6].map((room) => roomForTasks(room)),
  {
    name: 'RLIMIT_AS of 100 MB',
    isTypical: true,
    strike: async ({ members }) => {
      for (const { pid1 } of members) await run(['prlimit', `--pid=${pid1}`, `--as=${AS_BYTES}`]);
    },
  },
  ...[6, 12].map((freeMb) => freeMemory(freeMb)),
  { name: 'exec of Node hangs', isTypical: true, why: await whyNoHolder(), strike: holdExec },
  {
    name: 'Node dies after its first commit',
    isTypical: true,
    strike: ({ copy }) => copy.die('after its first commit'),
  },
  {
    name: 'Node dies before its first commit',
    isTypical: true,
    strike: ({ copy }) => copy.die('before its first commit'),
  },
  { name: 'the sexton directory is removed', isTypical: true, strike: ({ copy }) => copy.remove() },
  { name: 'its app is removed', isTypical: false, strike: ({ copy }) => copy.remove('app') },
  { name: 'its Node is removed', isTypical: false, strike: ({ copy }) => copy.remove('bin') },
];

/** 0: fork fails. From 1 on Node is started and gets none of the threads that it needs, or some of them. */
function roomForTasks(room: number): Fault {
  return {
    name: `room for ${room} tasks`,
    isTypical: room === 1 || room === 4,
    controller: 'pids',
    why: whyNoCgroup('pids'),
    strike: ({ members }) => {
      for (const { cgroup, supervisor } of members) {
        const pid = supervisor();
        const ofSupervisor = pid === undefined ? 0 : threadsOf(pid);
        if (cgroup !== undefined) cgroup.limit(cgroup.count() - ofSupervisor + room);
      }
    },
  };
}

function threadsOf(pid: number): number {
  return Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
}

/** Beside what cannot be reclaimed. */
function freeMemory(freeMb: number): Fault {
  return {
    name: `${freeMb} MiB free under the memory limit`,
    isTypical: freeMb === 12,
    controller: 'memory',
    why: whyNoCgroup('memory'),
    fillMb: FILL_MB,
    strike: async ({ members }) => {
      for (const { cgroup, supervisor } of members) if (cgroup !== undefined) await tighten(cgroup, supervisor, freeMb);
    },
  };
}

/** With a supervisor: what it has does not count, and it is killed in the same moment. */
async function tighten(cgroup: Cgroup, supervisor: () => number | undefined, freeMb: number): Promise<void> {
  const first = supervisor();
  const ofSupervisor = first === undefined ? 0 : anonymousOf(first);
  const limit = keptBytes(cgroup.dir) - ofSupervisor + freeMb * 2 ** 20;
  await waitFor('the limit holds', () => {
    const pid = supervisor();
    if (pid !== undefined) send(pid, 'SIGKILL');
    if (pid !== undefined && !hasEnded(pid)) return false;
    try {
      cgroup.limit(limit);
      return true;
    } catch {
      // Version 1 refuses what it cannot reclaim: the next supervisor has it.
      return false;
    }
  });
}

function anonymousOf(pid: number): number {
  return 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
}

function keptBytes(dir: string): number {
  const stat = readFileSync(join(dir, 'memory.stat'), 'latin1');
  const value = (key: string): number => Number(new RegExp(`^${key} (\\d+)`, 'm').exec(stat)?.[1] ?? 0);
  try {
    const kernel = readFileSync(join(dir, 'memory.kmem.usage_in_bytes'), 'latin1');
    return value('total_rss') + value('total_shmem') + Number(kernel);
  } catch {
    return value('anon') + value('shmem') + value('kernel');
  }
}

/** As a scanner does that has hung, or a layer of an image that is never fetched. */
async function holdExec({ scratch, fixtures, copy }: Struck): Promise<void> {
  const holder = spawn(fixtures.holder, [copy.loader], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(holder, 'close');
  scratch.beforeClear(() => holder.stdin.end());
  scratch.clearAlso(async () => {
    await within('the holder ends', ended);
    return undefined;
  });
  await within('the holder holds', once(holder.stdout, 'data'));
  holder.stdout.resume();
}
