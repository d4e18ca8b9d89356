/** Signals on the command line: lists (`QUIT,TERM`, `none`) and translations (`TERM:QUIT,HUP:-`). */
import type { SignalMap } from '../../../core/config.ts';
import { signalName, signalNumber } from '../../../core/signals.ts';
import { didYouMean, nearest } from '../nearest.ts';
import { bad, eachOnce, good, mapOf, type Parse, show } from '../parse.ts';

export function parseSignal(text: string): Parse<number> {
  const number = signalNumber(text);
  if (number !== undefined) return good(number);
  const near = nearest(text.replace(/^sig/i, ''), COMMON);
  return bad(`${show(text)} is not a signal; ${didYouMean(near, 'write one such as TERM, SIGTERM, 15 or RTMIN+3')}`);
}

/** A list of signals that can be received; `none` is the empty list. */
export function parseSignals(text: string): Parse<readonly number[]> {
  if (text === 'none') return good([]);
  if (text.split(',').includes('none')) return bad('none stands alone; write none or the signals');
  return eachOnce(text, parseReceivable, formatSignal);
}

export function formatSignals(signals: readonly number[]): string {
  return signals.length === 0 ? 'none' : signals.map(formatSignal).join(',');
}

/** `FROM:TO`, `FROM:-`. */
export function parseSignalMap(text: string): Parse<SignalMap> {
  return mapOf(text, parseTranslation, (from) => `${formatSignal(from)} is translated twice; translate it once`);
}

export function formatSignalMap(map: SignalMap): string {
  const pairs = Object.entries(map).map(
    ([from, to]) => `${formatSignal(Number(from))}:${to === 'drop' ? '-' : formatSignal(to)}`,
  );
  return pairs.length === 0 ? 'none' : pairs.join(',');
}

/** `TERM`, without `SIG`, as people write it. */
export function formatSignal(signal: number): string {
  return signalName(signal).replace(/^SIG/, '');
}

const COMMON: readonly string[] = 'TERM INT QUIT HUP KILL USR1 USR2 WINCH STOP CONT ALRM TSTP PIPE'.split(' ');

function parseTranslation(text: string): Parse<readonly [number, number | 'drop']> {
  const [fromText = '', toText, ...more] = text.split(':');
  if (toText === undefined || more.length > 0) {
    const pair = text.includes('=') ? show(text.replace('=', ':')) : 'TERM:QUIT, or TERM:- to drop it';
    return bad(`${show(text)} is not a translation; write ${pair}`);
  }
  const from = parseReceivable(fromText);
  if (!from.ok) return from;
  // dumb-init drops by 0.
  if (toText === '-' || toText === '0') return good([from.value, 'drop']);
  const to = parseSignal(toText);
  return to.ok ? good([from.value, to.value]) : to;
}

/** signal(7): KILL and STOP cannot be caught. CHLD is how the init learns of deaths; it is never forwarded. */
function parseReceivable(text: string): Parse<number> {
  const signal = parseSignal(text);
  if (!signal.ok) return signal;
  const name = formatSignal(signal.value);
  if (name === 'KILL' || name === 'STOP') return bad(`${name} cannot be caught, the kernel acts on it; leave it out`);
  if (name === 'CHLD') return bad('CHLD is never forwarded, it reports ended processes; leave it out');
  return signal;
}
