/**
 * What a process takes of the machine, as /proc tells it.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Footprint {
  /** Private memory of the process, which no other one shares. */
  readonly privateKb: number;
  readonly descriptors: number;
  /** User and system time since its start, in clock ticks (100 a second). */
  readonly ticks: number;
}

export function footprintOf(pid: number): Footprint {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  const kb = (key: string): number => Number(new RegExp(`^${key}: *(\\d+) kB`, 'm').exec(rollup)?.[1]);
  return {
    privateKb: kb('Private_Clean') + kb('Private_Dirty'),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    ticks: ticksOf(pid),
  };
}

export function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime and stime, fields 14 and 15 of proc_pid_stat(5); the first of these is field 3.
  return Number(fields[11]) + Number(fields[12]);
}

/** What its descriptors are, for the message of a failure. */
export function describeDescriptors(pid: number): string {
  return readdirSync(`/proc/${pid}/fd`)
    .map((fd) => {
      try {
        return `${fd} ${readlinkSync(`/proc/${pid}/fd/${fd}`)}`;
      } catch {
        return `${fd} closed`;
      }
    })
    .join('\n');
}
