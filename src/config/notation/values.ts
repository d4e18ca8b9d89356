/**
 * Parsers of small values: graveyard, hold, session, durations that may be `none`.
 */
import type { Hold } from '../../core/config.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { nearest } from './nearest.ts';
import { bad, good, type Parse } from './parse.ts';

/**
 * An absolute directory, without trailing slashes. The root is refused: tombstones would lie among the image's files.
 */
export function parseGraveyard(text: string): Parse<string> {
  // Only a configuration file can contain one, and the kernel ends a path there.
  if (text.includes('\0')) return bad('must not contain a NUL byte; write a directory such as /graveyard');
  if (!text.startsWith('/')) return bad('must be an absolute path; write one such as /graveyard');
  const path = text.replace(/\/+$/, '');
  return path === '' ? bad('must not be the root directory; write one such as /graveyard') : good(path);
}

export function parseHold(text: string): Parse<Hold> {
  if (text === 'always' || text === 'never') return good({ kind: text });
  const time = parseDuration(text);
  if (time.ok && time.value === 0) return bad('must be longer than 0; to hold for no time write never');
  if (time.ok) return good({ kind: 'for', ms: time.value });
  const near = /\d/.test(text) ? undefined : nearest(text, ['always', 'never']);
  if (near !== undefined) return bad(`must be always, never or a duration; did you mean ${near}?`);
  return /\d/.test(text) ? time : bad('must be always, never or a duration; write one of them, such as 2s');
}

export function formatHold(hold: Hold): string {
  return hold.kind === 'for' ? formatDuration(hold.ms) : hold.kind;
}

/** `none` is 0. */
export function parseTimeOrNone(text: string): Parse<number> {
  if (text === 'none') return good(0);
  const time = parseDuration(text);
  if (time.ok && time.value === 0) return bad('must be longer than 0; without a hook write none');
  if (time.ok) return time;
  const near = /\d/.test(text) ? undefined : nearest(text, ['none']);
  if (near !== undefined) return bad(`must be none or a duration; did you mean ${near}?`);
  return /\d/.test(text) ? time : bad('must be none or a duration; write one of them, such as 20s');
}

export function formatTimeOrNone(ms: number): string {
  return ms === 0 ? 'none' : formatDuration(ms);
}

/** A session is the pod's uid as a rule. It stands in every tombstone and in log lines. */
export function parseSession(text: string): Parse<string> {
  if (/^[-A-Za-z0-9_.]{1,128}$/.test(text)) return good(text);
  return bad("must have only letters, digits, '-', '_' and '.', at most 128; write the pod's uid");
}
