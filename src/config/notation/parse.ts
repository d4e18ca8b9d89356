/**
 * The result of every parser: the value, or why the text is wrong, with the remedy. Only the caller knows where the
 * text came from (flag, variable, key of a file). It puts that before the reason, so the reason never repeats it.
 */
import { nearest } from './nearest.ts';

export type Parse<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

export function good<T>(value: T): Parse<T> {
  return { ok: true, value };
}

export function bad(why: string): { readonly ok: false; readonly why: string } {
  return { ok: false, why };
}

/** A relative path would depend on the directory that the container starts in. */
export function notAbsolute(path: string, example: string): Parse<never> {
  const here = show(`$PWD/${path.replace(/^\.\//, '')}`);
  return bad(`must be an absolute path; write one such as ${example}, or ${here} in a shell`);
}

/** A parser of one word out of a few; case counts, since `never` and `Never` belong to different flags. */
export function choice<const T extends string>(words: readonly T[]): (text: string) => Parse<T> {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word !== undefined) return good(word);
    const near = nearest(text, words);
    return bad(`must be one of ${words.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`);
  };
}

/** Parses each part of a comma-separated list; the first part that is wrong is the answer. */
export function eachOf<T>(text: string, parsePart: (part: string) => Parse<T>): Parse<readonly T[]> {
  const values: T[] = [];
  for (const part of text.split(',')) {
    const parsed = parsePart(part);
    if (!parsed.ok) return parsed;
    values.push(parsed.value);
  }
  return good(values);
}

/** As `eachOf`, where no value may occur twice; `format` names it. */
export function eachOnce<T>(
  text: string,
  parsePart: (part: string) => Parse<T>,
  format: (value: T) => string = String,
): Parse<readonly T[]> {
  const values = eachOf(text, parsePart);
  const twice = values.ok ? repeated(values.value) : undefined;
  return twice === undefined ? values : bad(`${format(twice)} is named twice; name it once`);
}

/** As `eachOf`, for the pairs of a map. `twice` is what is wrong with a key that comes again. */
export function mapOf<T>(
  text: string,
  parsePair: (part: string) => Parse<readonly [number, T]>,
  twice: (key: number) => string,
): Parse<Readonly<Record<number, T>>> {
  const pairs = eachOf(text, parsePair);
  if (!pairs.ok) return pairs;
  const key = repeated(pairs.value.map(([from]) => from));
  return key === undefined ? good(Object.fromEntries(pairs.value)) : bad(twice(key));
}

export function repeated<T>(values: readonly T[]): T | undefined {
  return values.find((value, index) => values.indexOf(value) !== index);
}

export const TOO_DEEP = 'is nested too deeply; a configuration has only a few levels';

/** Kubernetes leaves `$(NAME)` as it is if the variable is not declared before its use, which is always a mistake. */
export function unexpanded(text: string): string | undefined {
  const reference = /\$\([A-Za-z_][A-Za-z0-9_]*\)/.exec(text)?.[0];
  return reference && `${reference} ${UNEXPANDED}`;
}

const UNEXPANDED = "was not expanded; declare that variable before this one in the Pod's env";

/** The reason for a value of a configuration file, which Kubernetes never sees. */
export function whyInFile(why: string): string {
  return why.replace(UNEXPANDED, 'is not expanded in a file; write the value, or give the flag in the Pod');
}

const LONGEST_SHOWN = 80;

/** A value as messages show it: plain if that is unambiguous, else quoted, and never longer than a line. */
export function show(text: string): string {
  const short = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;
  return /^[\x21\x23-\x26\x28-\x7e]+$/.test(short) ? short : JSON.stringify(short);
}
