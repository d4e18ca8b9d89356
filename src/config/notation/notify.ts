/** `--notify`: `off`, `command` or `all`, and `watchdog=30s` behind the last two. */
import { formatDuration, parseSomeTime } from './duration.ts';
import { didYouMean, nearest } from './nearest.ts';
import { splitPlain } from './options.ts';
import { bad, good, type Parse, show } from './parse.ts';

export interface Notify {
  /** The processes whose messages count. */
  readonly from: 'off' | 'command' | 'all';
  readonly watchdogMs: number | undefined;
}

export function parseNotify(text: string): Parse<Notify> {
  const split = splitPlain(text, { known: ['watchdog'], refused: {} });
  if (!split.ok) return split;
  const { head, options } = split.value;
  const from = SENDERS.find((word) => word === head);
  if (from === undefined) {
    const remedy = didYouMean(nearest(head, SENDERS), `write off, command or all, or ${EXAMPLE}`);
    return bad(`${show(head)} is not possible; ${remedy}`);
  }
  const [option] = options;
  if (option === undefined) return good({ from, watchdogMs: undefined });
  if (from === 'off') return bad(`watchdog= needs the socket; write ${EXAMPLE}`);
  const time = parseSomeTime(option.text);
  return time.ok ? good({ from, watchdogMs: time.value }) : bad(`watchdog=${show(option.text)}: ${time.why}`);
}

export function formatNotify({ from, watchdogMs }: Notify): string {
  return watchdogMs === undefined ? from : `${from},watchdog=${formatDuration(watchdogMs)}`;
}

const SENDERS = ['off', 'command', 'all'] as const;
const EXAMPLE = 'command,watchdog=30s';
