/**
 * How often the kernel's OOM killer was at work in this process's memory cgroup: the container's.
 *
 * Version 2 counts in `memory.events`, for the cgroup and all below it; version 1, since Linux 4.13, in
 * `memory.oom_control`, for the cgroup alone. Both count where the victim was, no matter whose limit was reached: the
 * container's, the pod's or the node's. The count says that a process of the container was killed, not which; that it
 * was the child follows from its SIGKILL. Where the whole group is killed (`memory.oom.group`, which the kubelet sets
 * on version 2 unless `singleProcessOOMKill` is on) this process dies with the child, and no supervisor is left that
 * could ask.
 */
import { readFileSync } from 'node:fs';

/** undefined: it cannot be told here. Two small reads the first time, one from then on. */
export function readOomKills(): number | undefined {
  counter ??= findCounter();
  return counter === undefined ? undefined : countIn(readText(counter) ?? '');
}

/**
 * The kills that a supervisor which has died knew of, and its own, if there is a new one: it offers itself to the OOM
 * killer, which then takes it first.
 */
export function withOwnKill(known: number | undefined): number | undefined {
  const now = known === undefined ? undefined : readOomKills();
  return now === undefined || known === undefined ? known : Math.min(now, known + 1);
}

let counter: string | undefined;

/** Of both files the line is `oom_kill NUMBER`. */
export function countIn(text: string): number | undefined {
  const count = /^oom_kill ([0-9]+)$/m.exec(text)?.[1];
  return count === undefined ? undefined : Number(count);
}

/**
 * Where the count may be, likeliest first. `cgroups` is /proc/self/cgroup, see cgroups(7). A container mostly sees its
 * own cgroup as the root of its mount, whatever path that file says, unless it shares the cgroup namespace of the
 * machine.
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
