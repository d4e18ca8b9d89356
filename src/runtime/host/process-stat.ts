/** What `/proc/PID/stat` tells of a process: proc_pid_stat(5). */
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessStat {
  readonly pid: number;
  /** One letter: T is stopped, Z a zombie. */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since the boot. */
  readonly started: number;
  /** A process whose first thread has ended looks like a zombie while its other threads run. */
  readonly isDead: boolean;
}

/** undefined: it has gone, or there is no /proc. */
export function statOf(pid: number): ProcessStat | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program stands in parentheses and may hold any character.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const [state = ''] = fields;
    const [parent = 0, group = 0, session = 0] = fields.slice(1, 4).map(Number);
    const isDead = (state === 'Z' || state === 'X') && !(Number(fields[17]) > 1);
    return { pid, state, parent, group, session, started: Number(fields[19]), isDead };
  } catch {
    return undefined;
  }
}

/** All that this PID namespace shows. */
export function allStats(): readonly ProcessStat[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
}
