/**
 * Reads a tombstone that another container wrote: sexton of this or a newer version, or kubexit.
 *
 * A text that is not understood as a whole is not a tombstone: it may be half written, so the caller reads it again.
 * Unknown keys are ignored. In a newer version, keys that are not understood are left out.
 *
 * kubexit's file (YAML lines or JSON with Born, Died and ExitCode, no Version) becomes Version 0.
 */
import type { RestartPolicy, Role } from '../config.ts';
import type { DeathReason, HistoryEntry, Parsed, Phase, Tombstone } from './tombstone.ts';
import {
  cleanText,
  isMemberName,
  MAX_BYTES,
  MAX_DETAILS,
  MAX_PASSED,
  MAX_START_AFTER,
  PHASES,
  trimHistory,
  VERSION,
} from './tombstone.ts';

/** A longer history is not understood. */
const MAX_READ_HISTORY = 1024;
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const DETAIL_KEY = /^[A-Za-z][A-Za-z0-9]{0,62}$/;
/** Far more than kubexit's file has. */
const MAX_LINES = 1024;
const YAML_KEY = /^([A-Za-z][A-Za-z0-9_]*):(?=[ \t]|$)/;

export function parseTombstone(name: string, text: string): Parsed {
  if (!isMemberName(name)) return notOk('the file name is not a member name');
  if (text.length > MAX_BYTES) return notOk(`larger than ${MAX_BYTES} bytes`);
  const [first] = text.trimStart();
  if (first === undefined) return notOk('empty');
  if (first !== '{') return parseKubexitLines(name, text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return notOk('not complete JSON');
  }
  if (!isRecord(value)) return notOk('not an object');
  const version = own(value, 'Version');
  if (version === undefined || version === 0) return parseKubexit(name, value);
  if (!isCount(version)) return notOk('Version is not a whole number');
  if (own(value, 'Name') !== name) return notOk('Name is not the name of the file');
  return readKeys(name, version, value, READ_KEYS);
}

const DEATH_REASONS = ['completed', 'error', 'stopped', 'killed', 'oom', 'never-started', 'lost'] as const;

type ReadKey = Exclude<keyof Tombstone, 'Version' | 'Name'>;

/** One reader for each key; it returns `undefined` for a value that it does not understand. */
const READERS: { readonly [Key in ReadKey]: (value: unknown) => Tombstone[Key] | undefined } = {
  Role: oneOf<Role>(['main', 'sidecar']),
  Session: text,
  Generation: token,
  Boot: token,
  Incarnation: token,
  Phase: oneOf<Phase>(PHASES),
  RestartPolicy: oneOf<RestartPolicy>(['Never', 'OnFailure', 'Always']),
  RestartsIfKilled: flag,
  RestartsAll: flag,
  RestartsPod: flag,
  Mains: names,
  StartAfter: names,
  Restarts: (value) => (isCount(value) ? value : undefined),
  Born: time,
  Started: time,
  Healthy: time,
  Status: text,
  LastDied: time,
  LastExitCode: (value) => (isCount(value) && value <= 255 ? value : undefined),
  LastReason: oneOf<DeathReason>(DEATH_REASONS),
  StopRequested: time,
  StopReason: text,
  StopScope: oneOf(['container'] as const),
  RestartRequested: milliseconds,
  RestartBy: text,
  RestartAmong: names,
  RestartGraceMs: milliseconds,
  RestartByRule: (value) => (isCount(value) && value <= 255 ? value : undefined),
  RestartsPassed: times,
  PodRestarts: (value) => (isCount(value) ? value : undefined),
  Busy: text,
  Deadline: milliseconds,
  PodStopNotBefore: milliseconds,
  Died: time,
  DiedMonotonic: milliseconds,
  // kubexit writes -1 for a child that a signal killed.
  ExitCode: (value) => ((isCount(value) && value <= 255) || value === -1 ? (value as number) : undefined),
  Signal: (value) => (typeof value === 'string' && /^SIG[A-Z0-9+-]{1,13}$/.test(value) ? value : undefined),
  Reason: oneOf<DeathReason>(DEATH_REASONS),
  Final: flag,
  History: history,
};

const READ_KEYS = Object.keys(READERS) as readonly ReadKey[];

function readKeys(name: string, version: number, record: Record<string, unknown>, keys: readonly ReadKey[]): Parsed {
  const found: Partial<Record<ReadKey, unknown>> = {};
  for (const key of keys) {
    const raw = own(record, key);
    if (raw === undefined || raw === null) continue;
    const value = READERS[key](raw);
    if (value !== undefined) found[key] = value;
    else if (version <= VERSION) return notOk(`${key} is not understood`);
  }
  return { ok: true, tombstone: { Version: version, Name: name, ...(found as Partial<Tombstone>) } };
}

function parseKubexit(name: string, record: Record<string, unknown>): Parsed {
  const parsed = readKeys(name, 0, record, ['Born', 'Died', 'ExitCode']);
  if (parsed.ok && parsed.tombstone.Born === undefined && parsed.tombstone.Died === undefined) {
    return notOk('neither Born nor Died');
  }
  return parsed;
}

/** `Born: 2020-01-02T03:04:05.6Z` and so on, in any order, each value bare or quoted. */
function parseKubexitLines(name: string, text: string): Parsed {
  // kubexit writes in place: without the last newline a number may be cut short.
  if (!text.endsWith('\n')) return notOk('the last line is not complete');
  const pairs = new Map<string, unknown>();
  const lines = text.split(/\r?\n/, MAX_LINES + 1);
  if (lines.length > MAX_LINES) return notOk(`more than ${MAX_LINES} lines`);
  for (const line of lines) {
    // An indented line belongs to the value of an unknown key.
    if (line.trim() === '' || line === '---' || /^[ \t#-]/.test(line)) continue;
    const [, key] = YAML_KEY.exec(line) ?? [];
    if (key === undefined || pairs.has(key)) return notOk('neither JSON nor lines of `Key: value`');
    pairs.set(key, yamlScalar(line.slice(key.length + 1)));
  }
  const exitCode = pairs.get('ExitCode');
  if (typeof exitCode === 'string' && /^-?\d{1,3}$/.test(exitCode)) pairs.set('ExitCode', Number(exitCode));
  return parseKubexit(name, Object.fromEntries(pairs));
}

function yamlScalar(rest: string): string | undefined {
  // One pattern for blanks and comment would take quadratic time over many blanks.
  const comment = rest.search(/[ \t]#/);
  const bare = (comment === -1 ? rest : rest.slice(0, comment)).trim();
  const quoted = /^(["'])(.*)\1$/.exec(bare)?.[2];
  if (quoted !== undefined) return quoted;
  return bare === '' || bare === '~' || bare === 'null' ? undefined : bare;
}

function history(value: unknown): readonly HistoryEntry[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_READ_HISTORY) return undefined;
  const entries: HistoryEntry[] = [];
  for (const item of trimHistory(value as readonly unknown[])) {
    if (!isRecord(item)) return undefined;
    const At = time(own(item, 'At'));
    const Event = text(own(item, 'Event'));
    if (At === undefined || Event === undefined) return undefined;
    const details = Object.entries(item).slice(0, MAX_DETAILS).flatMap(detail);
    entries.push({ At, Event, ...Object.fromEntries(details) });
  }
  return entries;
}

function detail([key, value]: readonly [string, unknown]): readonly [string, string | number | boolean][] {
  if (key === 'At' || key === 'Event' || !DETAIL_KEY.test(key)) return [];
  if (typeof value === 'string') return [[key, cleanText(value)]];
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)) ? [[key, value]] : [];
}

function names(value: unknown): readonly string[] | undefined {
  return listOf(value, MAX_START_AFTER, (name): name is string => typeof name === 'string' && isMemberName(name));
}

function listOf<T>(value: unknown, most: number, isItem: (item: unknown) => item is T): readonly T[] | undefined {
  return Array.isArray(value) && value.length <= most && value.every(isItem) ? value : undefined;
}

function oneOf<Word extends string>(words: readonly Word[]): (value: unknown) => Word | undefined {
  return (value) => words.find((word) => word === value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? cleanText(value) : undefined;
}

export function token(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value) ? value : undefined;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function time(value: unknown): string | undefined {
  if (typeof value !== 'string' || !TIME.test(value)) return undefined;
  // Date knows milliseconds only. It rejects a month of 13, and turns 31 February into March.
  return Number.isNaN(Date.parse(value.replace(/(\.\d{3})\d+/, '$1'))) ? undefined : value;
}

function milliseconds(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function times(value: unknown): readonly number[] | undefined {
  return listOf(value, MAX_PASSED, (item): item is number => milliseconds(item) !== undefined);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Never an inherited property: a key of JSON may be called `constructor`. */
export function own(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function notOk(why: string): Parsed {
  return { ok: false, why };
}
