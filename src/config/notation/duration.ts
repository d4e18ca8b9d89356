/**
 * Durations: `500ms`, `30s`, `1m30s`, `2h`, `0`. Whole numbers, units from large to small, each at most once; in
 * milliseconds once parsed. A bare number is refused: Kubernetes counts in seconds, Node in milliseconds.
 */
import { bad, good, type Parse } from './parse.ts';

/** A timer of Node takes at most 2^31-1 milliseconds; a longer one fires at once. */
export const LONGEST_MS = 2 ** 31 - 1;

export function parseDuration(text: string): Parse<number> {
  if (text === '0') return good(0);
  const parts = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text);
  if (text === '' || parts === null) return bad(notADuration(text));
  const [, hours = '0', minutes = '0', seconds = '0', millis = '0'] = parts;
  const ms = Number(hours) * UNITS.h + Number(minutes) * UNITS.m + Number(seconds) * UNITS.s + Number(millis);
  return ms <= LONGEST_MS ? good(ms) : bad(TOO_LONG);
}

/** A duration that must not be 0. */
export function parseSomeTime(text: string): Parse<number> {
  const parsed = parseDuration(text);
  return parsed.ok && parsed.value === 0 ? bad('must be longer than 0; write a duration such as 30s') : parsed;
}

export function formatDuration(ms: number): string {
  let rest = ms;
  const parts = (['h', 'm', 's', 'ms'] as const).map((unit) => {
    const count = Math.floor(rest / UNITS[unit]);
    rest -= count * UNITS[unit];
    return count > 0 ? `${count}${unit}` : '';
  });
  return parts.join('') || '0';
}

/** As Go's time.ParseDuration reads it, which kubexit's variables are written in; rounded up to milliseconds. */
export function parseGoDuration(text: string): Parse<number> {
  const ms = goMilliseconds(text);
  if (ms === undefined) return bad(notADuration(text));
  return ms <= LONGEST_MS ? good(ms) : bad(TOO_LONG);
}

const TOO_LONG = 'longer than a timer can be; write at most 596h';
const UNITS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, µs: 1e-3, μs: 1e-3, ns: 1e-6 } as const;

function goMilliseconds(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)([a-zµμ]+)/gy))
    ms += Number(count) * UNITS[unit as keyof typeof UNITS];
  // Sums of fractions are off in the last digits, which must not become a millisecond.
  return Math.ceil(Number(ms.toFixed(6)));
}

/** The reason, with the notation that was probably meant. */
function notADuration(text: string): string {
  if (/^\d{1,9}$/.test(text)) return `a duration needs a unit; write ${text}s or ${text}ms`;
  if (/^-/.test(text)) return 'a duration cannot be negative; write one such as 30s';
  const plain = text
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace(/sec(ond)?s?$/, 's')
    .replace(/min(ute)?s?$/, 'm');
  const meant = plain === '' || (plain === text && !/\./.test(text)) ? undefined : goMilliseconds(plain);
  if (meant !== undefined && meant > 0 && meant <= LONGEST_MS)
    return `must be a duration; write ${formatDuration(meant)}`;
  return 'must be a duration; write one such as 500ms, 30s or 1m30s';
}
