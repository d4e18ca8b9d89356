/** Parsers of small values: names, graveyard, hold, session, durations that may be `none`. */
import type { Hold } from '../../core/config.ts';
import { isMemberName, MAX_NAME } from '../../core/format/tombstone.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { didYouMean, nearest } from './nearest.ts';
import { bad, eachOnce, good, notAbsolute, type Parse, show } from './parse.ts';

/** A name is also a file name in the graveyard and comes from other containers, so it is a DNS label, as in Kubernetes. */
export function parseName(text: string): Parse<string> {
  if (isMemberName(text)) return good(text);
  const meant = makeName(text).replace(/-+/g, '-');
  const remedy = meant === '' ? 'write one such as web-1' : `write ${meant}`;
  return bad(`a name has only lowercase letters, digits and inner dashes, at most ${MAX_NAME}; ${remedy}`);
}

/** `a,b`: no blanks, each once. */
export function parseNames(text: string): Parse<readonly string[]> {
  return eachOnce(text, (part) => {
    const name = parseName(part);
    return name.ok ? name : bad(`${show(part)} is not a name: ${name.why}`);
  });
}

/** Derives the default name of a member from the basename of its command. It always finds a valid one. */
export function nameFromCommand(command: string): string {
  return makeName(command.slice(command.lastIndexOf('/') + 1)) || 'main';
}

function makeName(text: string): string {
  const plain = text.toLowerCase().replace(/[^a-z0-9-]/g, '-');
  return plain
    .replace(/^-+/, '')
    .slice(0, MAX_NAME)
    .replace(/(?<!-)-+$/, '');
}

/** The root is refused: tombstones would lie among the image's files. */
export function parseGraveyard(text: string): Parse<string> {
  // Only a configuration file can contain one, and the kernel ends a path there.
  if (text.includes('\0')) return bad('must not contain a NUL byte; write a directory such as /graveyard');
  if (!text.startsWith('/')) return notAbsolute(text, '/graveyard');
  const path = text.replace(/(?<!\/)\/+$/, '');
  return path === '' ? bad('must not be the root directory; write one such as /graveyard') : good(path);
}

export function parseHold(text: string): Parse<Hold> {
  const time = wordOrTime(text, ['always', 'never'], 'to hold for no time write never', '2s');
  if (!time.ok) return time;
  return good(typeof time.value === 'number' ? { kind: 'for', ms: time.value } : { kind: time.value });
}

export function formatHold(hold: Hold): string {
  return hold.kind === 'for' ? formatDuration(hold.ms) : hold.kind;
}

/** `none` is 0. */
export function parseTimeOrNone(text: string): Parse<number> {
  const time = wordOrTime(text, ['none'], 'without a hook write none', '20s');
  return time.ok && time.value === 'none' ? good(0) : (time as Parse<number>);
}

/** One of the words, or a duration that is not 0. */
function wordOrTime<const Word extends string>(
  text: string,
  words: readonly Word[],
  insteadOfZero: string,
  example: string,
): Parse<number | Word> {
  const word = words.find((one) => one === text);
  if (word !== undefined) return good(word);
  const time = parseDuration(text);
  if (time.ok && time.value === 0) return bad(`must be longer than 0; ${insteadOfZero}`);
  if (time.ok || /\d/.test(text)) return time;
  const remedy = didYouMean(nearest(text, words), `write one of them, such as ${example}`);
  return bad(`must be ${words.join(', ')} or a duration; ${remedy}`);
}

export function formatTimeOrNone(ms: number): string {
  return ms === 0 ? 'none' : formatDuration(ms);
}

/** A session is the pod's uid as a rule. It stands in every tombstone and in log lines. */
export function parseSession(text: string): Parse<string> {
  if (/^[-A-Za-z0-9_.]{1,128}$/.test(text)) return good(text);
  return bad("must have only letters, digits, '-', '_' and '.', at most 128; write the pod's uid");
}
