/** A line on a terminal about a run of more than a second. It goes when the run is over. */
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';

const EVERY_MS = 1_000;
const COLUMNS = 40;

export function progressLine() {
  const isTerminal = isatty(2);
  const counts = new Map<string, number>();
  let shownMs = performance.now();
  let isShown = false;
  return {
    /** One more of these is done: `documents read`. */
    step: (what: string): void => {
      const count = (counts.get(what) ?? 0) + 1;
      counts.set(what, count);
      const nowMs = performance.now();
      if (!isTerminal || nowMs - shownMs < EVERY_MS) return;
      shownMs = nowMs;
      isShown = true;
      writeSync(2, `\r${`${count} ${what}`.padEnd(COLUMNS)}`);
    },
    end: (): void => {
      if (isShown) writeSync(2, `\r${' '.repeat(COLUMNS)}\r`);
    },
  };
}
