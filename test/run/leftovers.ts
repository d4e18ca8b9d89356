/** Ends what a run left behind. All that a test starts inherits a marker variable, wherever it is reparented to. */
import { processIds, readOf, send } from './processes.ts';

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/** What a test has just killed may take this long to be gone. */
const SETTLE_MS = 10_000;
const POLL_MS = 50;

export async function killLeftovers(marker: string): Promise<Leftover[]> {
  const until = Date.now() + SETTLE_MS;
  let found = find(marker);
  while (found.length > 0 && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    found = find(marker);
  }
  for (const { pid } of found) send(pid, 'SIGKILL');
  return found;
}

function find(marker: string): Leftover[] {
  return processIds()
    .filter((pid) => pid !== process.pid && readOf(pid, 'environ').split('\0').includes(marker))
    .map((pid) => ({ pid, command: readOf(pid, 'cmdline').split('\0').join(' ').trim() }));
}
