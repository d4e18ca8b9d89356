/**
 * The process group of a child, for a host that is its parent but not init. It signals the whole group, and finds out
 * whether a process is left.
 */
import { constants } from 'node:os';
import { SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, signalName } from '../../core/signals.ts';
import { allStats, type ProcessStat, statOf } from './process-stat.ts';

const NEEDS_CONT: ReadonlySet<number> = new Set([SIGTERM, SIGHUP, SIGINT, SIGQUIT]);

/** What asks for an end is followed by CONT to each process that is stopped: it would not act on it. */
export function signalGroup(pgid: number, signal: number): void {
  send(-pgid, signal);
  if (!NEEDS_CONT.has(signal)) return;
  const members = membersOf(pgid);
  // What cannot be seen may be stopped.
  if (members.length === 0) send(-pgid, SIGCONT);
  for (const { pid, state } of members) if (state === 'T') send(pid, SIGCONT);
}

export function signalProcess(pid: number, signal: number): void {
  send(pid, signal);
  if (NEEDS_CONT.has(signal) && (statOf(pid)?.state ?? 'T') === 'T') send(pid, SIGCONT);
}

export function groupIsGone(pgid: number): boolean {
  return !send(-pgid, 0) || (process.platform === 'linux' && onlyZombiesLeft(pgid));
}

/** Signals are Linux's numbers; `false` when there was no process to take it. */
function send(target: number, signal: number): boolean {
  // kill(2): -1 means every process there is, 0 our own group.
  if (!(Math.abs(target) > 1)) throw new Error(`internal error: ${target} is no child and no group of one`);
  const native = signal === 0 ? 0 : nativeNumber(signal);
  if (native === undefined) return true;
  try {
    process.kill(target, native);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ESRCH') return false;
    // Members that changed their user are there, but out of reach. macOS says so of zombies too.
    if (code === 'EPERM') return process.platform !== 'darwin';
    throw error;
  }
}

/** `undefined`: this system has no such signal. */
function nativeNumber(signal: number): number | undefined {
  if (process.platform === 'linux') return signal;
  return (constants.signals as Readonly<Record<string, number>>)[signalName(signal)];
}

/**
 * An orphan that ended stays a zombie where PID 1 does not reap, for instance when we are it; kill(2) still finds it.
 */
function onlyZombiesLeft(pgid: number): boolean {
  return membersOf(pgid).every(({ isDead }) => isDead);
}

/** Empty where there is no /proc. */
function membersOf(pgid: number): readonly ProcessStat[] {
  return process.platform === 'linux' ? allStats().filter(({ group }) => group === pgid) : [];
}
