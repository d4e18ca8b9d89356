/**
 * Counts the kills of the kernel's OOM killer in the container's memory cgroup, which this process is in.
 *
 * cgroup v2 counts in `memory.events`, for the cgroup and all below it; v1, since Linux 4.13, in `memory.oom_control`,
 * for the cgroup alone. Both count where the victim was, whichever limit was reached: the container's, the pod's or the
 * node's.
 *
 * The count says that a process of the container was killed, not which one. The child's SIGKILL tells that it was the
 * child. With `memory.oom.group`, which the kubelet sets on v2 unless `singleProcessOOMKill` is on, the supervisor is
 * killed as well.
 */
import { readFileSync } from 'node:fs';

/** undefined: this container has no such counter. The first call reads two small files, later calls one. */
export function readOomKills(): number | undefined {
  counter ??= findCounter();
  return counter === undefined ? undefined : countIn(readText(counter) ?? '');
}

/**
 * The kills of which no child tells: those that are `known`, and of the new ones as many as there were `killed`
 * supervisors. Supervisors offer themselves to the OOM killer first.
 */
export function withOwnKills(known: number | undefined, killed: number, now: number | undefined): number | undefined {
  return now === undefined || known === undefined ? known : Math.min(now, known + killed);
}

let counter: string | undefined;

/** Both files have a line `oom_kill NUMBER`. */
export function countIn(text: string): number | undefined {
  const count = /^oom_kill ([0-9]+)$/m.exec(text)?.[1];
  return count === undefined ? undefined : Number(count);
}

/**
 * The paths at which the counter may be, likeliest first. `cgroups` is the text of /proc/self/cgroup, cgroups(7). A
 * container mostly sees its own cgroup as the root of its mount, unless it shares the machine's cgroup namespace.
 */
export function candidatesIn(cgroups: string): readonly string[] {
  const entries = cgroups.split('\n').map((line) => /^[0-9]+:([^:]*):(\/.*)$/.exec(line) ?? []);
  const v1 = entries.find(([, controllers = '']) => controllers.split(',').includes('memory'))?.[2];
  const v2 = entries.find(([, controllers]) => controllers === '')?.[2];
  const placesOf = (mount: string, path: string, file: string): string[] =>
    // A path above the root of the namespace begins with `/..`.
    (path === '/' || path.startsWith('/..') ? [''] : [path, '']).map((place) => `${mount}${place}/${file}`);
  if (v1 !== undefined) return placesOf('/sys/fs/cgroup/memory', v1, 'memory.oom_control');
  return v2 === undefined ? [] : placesOf('/sys/fs/cgroup', v2, 'memory.events');
}

function findCounter(): string | undefined {
  const candidates = candidatesIn(readText('/proc/self/cgroup') ?? '');
  return candidates.find((path) => countIn(readText(path) ?? '') !== undefined);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
