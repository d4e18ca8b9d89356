/**
 * Splits a command in one string into words as a shell would: blanks separate, quotes and backslashes protect. No shell
 * runs it and nothing is expanded, so unquoted characters that only a shell could act on are refused.
 */
import { bad, good, type Parse, show } from './parse.ts';

/** One character, without quotes and backslashes that protect it. An empty one is an empty pair of quotes. */
export interface Unit {
  readonly char: string;
  readonly isQuoted: boolean;
}

interface PlacedUnit extends Unit {
  /** Where it begins in the text, with the backslash or quote before it. */
  readonly at: number;
}

export function parseWords(text: string): Parse<readonly [string, ...string[]]> {
  const units = unitsOf(text);
  return units.ok ? wordsOf(units.value) : units;
}

export function wordsOf(units: readonly Unit[]): Parse<readonly [string, ...string[]]> {
  const shells = units.find(({ char, isQuoted }) => !isQuoted && char !== '' && '|&;<>()$`'.includes(char));
  if (shells !== undefined) {
    return bad(`${show(shells.char)} needs a shell, and none runs this; write exec:sh -c '...', or quote it`);
  }
  const words: string[] = [];
  let word: string | undefined;
  for (const { char, isQuoted } of [...units, END]) {
    if (isQuoted || !/\s/.test(char)) word = (word ?? '') + char;
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  const [program, ...args] = words;
  if (program === undefined || program === '') return bad('it has no command; write a program and its arguments');
  if (words.some((one) => one.includes('\0'))) return bad('a command must not contain a NUL byte; leave it out');
  return good([program, ...args]);
}

/** POSIX, Shell Command Language, 2.2: in double quotes a backslash protects only these, elsewhere any character. */
const PROTECTED_IN_DOUBLE_QUOTES = '"\\$`';

export function unitsOf(text: string): Parse<readonly PlacedUnit[]> {
  const units: PlacedUnit[] = [];
  let quote = '';
  let at = 0;
  for (; at < text.length; at++) {
    const char = text[at] ?? '';
    const next = text[at + 1];
    if (char === '\\' && (quote === '' || (quote === '"' && PROTECTED_IN_DOUBLE_QUOTES.includes(next ?? ' ')))) {
      if (next === undefined) return bad('a backslash at the end protects nothing; leave it out, or double it');
      units.push({ char: next, isQuoted: true, at });
      at++;
    } else if (char === quote) quote = '';
    else if (quote === '' && (char === '"' || char === "'")) {
      quote = char;
      units.push({ char: '', isQuoted: true, at });
    } else units.push({ char, isQuoted: quote !== '', at });
  }
  return quote === '' ? good(units) : bad(`the quote ${quote === '"' ? "'\"'" : `"'"`} is never closed; close it`);
}

/** The inverse of `parseWords`; a comma is quoted too, since options may follow the command. */
export function formatWords(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

/** The word itself if no character in it is special, else in single quotes. */
export function quoted(word: string): string {
  return /^[-A-Za-z0-9_./:=@%+]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const END: Unit = { char: ' ', isQuoted: false };
