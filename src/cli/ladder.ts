/**
 * The stop ladder: `TERM:20s,INT:5s,KILL`. Each rung is a signal and how long to wait before the next.
 */
import type { Rung } from '../core/config.ts';
import { formatDuration, parseSomeTime } from './duration.ts';
import { bad, eachOf, good, type Parse, show } from './parse.ts';
import { formatSignal, parseSignal } from './signals.ts';

export function parseLadder(text: string): Parse<readonly Rung[]> {
  const rungs = eachOf(text, parseRung);
  if (!rungs.ok) return rungs;
  const last = rungs.value.length - 1;
  for (const [index, rung] of rungs.value.entries()) {
    const name = formatSignal(rung.signal);
    if (name === 'KILL' && index < last) return bad('KILL ends the ladder; put it last');
    if (name !== 'KILL' && index < last && rung.forMs === undefined) {
      return bad(`${name} has no time, so what follows it never comes; write ${name}:20s`);
    }
  }
  return rungs;
}

export function formatLadder(rungs: readonly Rung[]): string {
  return rungs.map(formatRung).join(',');
}

function parseRung(text: string): Parse<Rung> {
  const [signalText = '', timeText, ...more] = text.split(':');
  if (more.length > 0) return bad(`${show(text)} is not a rung; write one such as TERM:20s`);
  const signal = parseSignal(signalText);
  if (!signal.ok)
    return text.includes('=') ? bad(`${show(text)} is not a rung; write ${show(text.replace('=', ':'))}`) : signal;
  const name = formatSignal(signal.value);
  if (name === 'STOP' || name === 'CHLD' || name === 'CONT') return bad(`${name} ends no process; leave it out`);
  if (timeText === undefined) return good({ signal: signal.value, forMs: undefined });
  if (name === 'KILL') return bad('KILL takes no time, nothing can follow it; write KILL');
  const time = parseSomeTime(timeText);
  return time.ok ? good({ signal: signal.value, forMs: time.value }) : bad(`${show(text)}: ${time.why}`);
}

function formatRung(rung: Rung): string {
  const name = formatSignal(rung.signal);
  return rung.forMs === undefined ? name : `${name}:${formatDuration(rung.forMs)}`;
}
