/** What a process uses, as /proc reports it: memory, descriptors and CPU time. proc_pid_smaps(5), proc_pid_stat(5). */
import { readdirSync, readFileSync } from 'node:fs';

export interface Footprint {
  readonly rssKb: number;
  /** Proportional: memory that n processes share counts one nth. */
  readonly pssKb: number;
  readonly privateKb: number;
  /** Those of the private ones that were written to. */
  readonly dirtyKb: number;
  readonly descriptors: number;
}

export function footprintOf(pid: number): Footprint {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}: +([0-9]+) kB$`, 'm').exec(rollup)?.[1] ?? Number.NaN);
  return {
    rssKb: field('Rss'),
    pssKb: field('Pss'),
    privateKb: field('Private_Clean') + field('Private_Dirty'),
    dirtyKb: field('Private_Dirty'),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** User and system time since the start of the process, in clock ticks (100 a second). */
export function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // The first of these is field 3; utime and stime are fields 14 and 15.
  return Number(fields[11]) + Number(fields[12]);
}
