/**
 * What a process has: resident memory, its own share of it, and descriptors. proc_pid_smaps(5).
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface Footprint {
  readonly rssKb: number;
  /** Proportional: what is shared with others counts by the number of those. */
  readonly pssKb: number;
  readonly privateKb: number;
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
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}
