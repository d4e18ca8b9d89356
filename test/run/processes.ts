/** The processes of this machine, from /proc. Only Linux has it: elsewhere there are none to see. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** All but PID 1. */
export function processIds(): number[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1);
}

/** Empty for a zombie's memory and for a process that has just gone. */
export function readOf(pid: number, file: 'environ' | 'cmdline' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself in the meantime.
  }
}
