/**
 * Placeholders in a text for facts known only at an end: times of events, spans between them, and the exit code.
 * The host fills them (`src/init/reflex/prepared-end.c`); `fillPlaces` is the same in TypeScript.
 *
 * A place is a control character and its arguments. `I` is the index of a moment, a digit.
 *
 * | place | stands for |
 * |---|---|
 * | 1 I | RFC 3339 with nanoseconds, UTC |
 * | 4 I | the same with milliseconds |
 * | 5 I | that without its date |
 * | 3 | the exit code of the command |
 * | 2 F A B n 2 | n + A - B in milliseconds of CLOCK_MONOTONIC, where `-` is 0. F is `n`: a whole number, `s`: as `seconds` |
 */
import { seconds } from '../../format/evidence.ts';
import { type Instant, rfc3339, rfc3339Milliseconds } from '../../time.ts';

/** One way to an end. */
export interface Course {
  /** One for each event of the prelude and the end, in whole milliseconds of CLOCK_MONOTONIC. */
  readonly moments: readonly Instant[];
  /** The exit code of the command, 128+n for signal n. */
  readonly code: number;
  /** The time from the first moment to the deadline of the stop; undefined: no deadline. */
  readonly graceMs?: number | undefined;
}

/** These characters occur in no tombstone, log or evidence. */
const TIME = '\u0001';
const NUMBER = '\u0002';
const CODE = '\u0003';
const MOMENT = '\u0004';
const HOUR = '\u0005';
/** Where the time of day begins: `2026-11-22T17:40:00.130Z`. */
const HOUR_AT = 11;

export function fillPlaces(text: string, { moments, code }: Course): string {
  const at = (index: string | undefined): Instant => {
    const moment = moments[Number(index)];
    if (moment === undefined) throw new Error(`internal error: no moment ${index} in a prepared end`);
    return moment;
  };
  const mono = (index: string): number => (index === '-' ? 0 : at(index).mono);
  return text.replaceAll(PLACE, (place) => {
    const [kind, form, plus = '-', minus = '-'] = place;
    if (kind === CODE) return String(code);
    if (kind === TIME) return rfc3339(at(form).wall);
    if (kind !== NUMBER) return rfc3339Milliseconds(at(form).wall).slice(kind === HOUR ? HOUR_AT : 0);
    const ms = Number(place.slice(4, -1)) + mono(plus) - mono(minus);
    return form === 's' ? seconds(ms) : String(ms);
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: no text has them, which is what makes them places
const PLACE = /\u0003|[\u0001\u0004\u0005]\d|\u0002[ns][\d-][\d-]\d+\u0002/g;

export interface Sample extends Course {
  readonly texts: readonly string[];
}

/** Each text of the first course with places, if filling them gives that text of all other courses. */
export function templatesOf(samples: readonly Sample[]): readonly (string | undefined)[] {
  const [first] = samples;
  if (first === undefined) return [];
  const places = placesIn(first);
  const found = [...places.keys()].toSorted((a, b) => b.length - a.length).map(escaped);
  const pattern = new RegExp(`(?<![\\w.-])(?:${found.join('|')})(?!\\w|\\.\\d)`, 'g');
  return first.texts.map((one, index) => {
    const text = one.replaceAll(pattern, (it) => places.get(it) ?? it);
    return samples.every((sample) => fillPlaces(text, sample) === sample.texts[index]) ? text : undefined;
  });
}

/** The places of a course, by what its moments, spans and code look like in a text. */
function placesIn({ moments, code, graceMs }: Course): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const put = (written: string, place: string): void => {
    if (!places.has(written)) places.set(written, place);
  };
  const putNumber = (ms: number, operands: string): void => {
    put(String(ms), `${NUMBER}n${operands}${NUMBER}`);
    put(seconds(ms), `${NUMBER}s${operands}${NUMBER}`);
  };
  for (const [index, { mono, wall }] of moments.entries()) {
    const moment = rfc3339Milliseconds(wall);
    put(rfc3339(wall), `${TIME}${index}`);
    put(moment, `${MOMENT}${index}`);
    put(moment.slice(HOUR_AT), `${HOUR}${index}`);
    put(String(mono), `${NUMBER}n${index}-0${NUMBER}`);
    for (const [before, { mono: sinceMs }] of moments.slice(0, index).entries())
      putNumber(mono - sinceMs, `${index}${before}0`);
  }
  const [first] = moments;
  const last = moments.at(-1);
  if (graceMs !== undefined && first !== undefined && last !== undefined) {
    const whole = Math.round(graceMs);
    put(String(first.mono + whole), `${NUMBER}n0-${whole}${NUMBER}`);
    putNumber(whole - (last.mono - first.mono), `0${moments.length - 1}${whole}`);
  }
  put(String(code), CODE);
  return places;
}

function escaped(text: string): string {
  return text.replaceAll(/[.+]/g, '\\$&');
}
