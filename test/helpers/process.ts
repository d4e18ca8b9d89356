import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Empty when the process is gone. */
export function childrenOf(pid: number): number[] {
  return readText(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

/** `R`, `S`, `Z` and so on, of proc_pid_stat(5); `undefined` when the process is gone. */
export function stateOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  // The command stands in parentheses and may contain any of them.
  return stat === '' ? undefined : stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
}

/** Gone or a zombie. */
export function hasEnded(pid: number): boolean {
  const state = stateOf(pid);
  return state === undefined || state === 'Z' || state === 'X';
}

/**
 * The program that runs, as its own root names it; '' when it cannot be told. A build may have replaced its file in the
 * meantime. Where this machine is itself a chroot, the kernel names what another mount namespace has from above that.
 */
export function programOf(pid: number): string {
  try {
    const root = readlinkSync(`/proc/${pid}/root`);
    const program = readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '');
    return root !== '/' && program.startsWith(`${root}/`) ? program.slice(root.length) : program;
  } catch {
    return '';
  }
}

/** Its comm, which is the program's name without the directory, cut to 15 characters. */
export function nameOf(pid: number): string {
  return readText(`/proc/${pid}/comm`).trimEnd();
}

export function argumentsOf(pid: number): string[] {
  return readText(`/proc/${pid}/cmdline`).split('\0').slice(0, -1);
}

export function environmentOf(pid: number): string[] {
  return readText(`/proc/${pid}/environ`).split('\0').slice(0, -1);
}

export interface Leftover {
  readonly pid: number;
  readonly commandLine: string;
}

/** Every process that names `text` in its arguments or environment, but this one. */
export function processesNaming(text: string): Leftover[] {
  const found: Leftover[] = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid || hasEnded(pid)) continue;
    const words = [...argumentsOf(pid), ...environmentOf(pid)];
    if (words.some((word) => word.includes(text))) found.push({ pid, commandLine: argumentsOf(pid).join(' ') });
  }
  return found;
}

/** Sends a signal and says whether the process existed. Numbers reach the real-time signals as well. */
export function send(pid: number, signal: number | NodeJS.Signals): boolean {
  // 0, -1 and 1 name other processes altogether.
  if (!Number.isInteger(pid) || pid <= 1) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
