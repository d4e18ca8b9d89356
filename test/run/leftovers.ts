/**
 * Finds and ends what a test run left behind. Whatever a test starts inherits its environment, wherever it was
 * reparented to, so a marker variable tells ours from all else on the machine.
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/** What a test has just killed may take this long to be gone. */
const SETTLE_MS = 10_000;
const POLL_MS = 50;

/** Linux only: elsewhere there is no /proc, and nothing is found. */
export async function killLeftovers(marker: string): Promise<Leftover[]> {
  const until = Date.now() + SETTLE_MS;
  let found = find(marker);
  while (found.length > 0 && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    found = find(marker);
  }
  for (const { pid } of found) kill(pid);
  return found;
}

function find(marker: string): Leftover[] {
  const pids = readdirSync('/proc').map(Number);
  return pids.flatMap((pid) => {
    if (!(pid > 1) || pid === process.pid || !read(pid, 'environ').split('\0').includes(marker)) return [];
    return [{ pid, command: read(pid, 'cmdline').split('\0').join(' ').trim() }];
  });
}

/** Empty for a zombie and for a process that has just gone. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in the meantime.
  }
}
