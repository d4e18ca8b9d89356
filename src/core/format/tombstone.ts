/**
 * Writes a tombstone, one member's record in the graveyard, in the public format. `tombstone-parse.ts` reads it.
 *
 * The file is JSON with PascalCase keys, padded with blanks to `RESERVE_BYTES`, so that a later state can overwrite it
 * when the volume is full. Every text in it is printable and bounded, because terminals and logs of other containers
 * show tombstones.
 */
import type { HistoryEntry, Phase, Tombstone } from '../tombstone-type.ts';

export type { DeathReason, HistoryEntry, Parsed, Phase, Tombstone } from '../tombstone-type.ts';

export const PHASES = Object.keys({
  waiting: 0,
  starting: 0,
  running: 0,
  holding: 0,
  draining: 0,
  stopping: 0,
  backoff: 0,
  dead: 0,
} satisfies Record<Phase, 0>) as readonly Phase[];

/** The version of the format that this sexton writes. */
export const VERSION = 1;
/** Bytes a tombstone always occupies. */
export const RESERVE_BYTES = 8192;
/** A larger file is not read. */
export const MAX_BYTES = 65_536;
/** Most entries of `History`; beyond, the oldest middle ones go first. */
export const MAX_HISTORY = 64;
/** Most names in `StartAfter`. */
export const MAX_START_AFTER = 64;
/** Most names in `Mains`; with more it is left out. */
export const MAX_MAINS = 16;
/** Longest free text (`Session`, `Status`, `StopReason`, details of the history), in bytes inside the quotes of JSON. */
export const MAX_TEXT = 256;
/** Longest name of a member, which is a DNS label: RFC 1123. */
export const MAX_NAME = 63;
/** Most numbers in `RestartsPassed`. */
export const MAX_PASSED = 8;
/** Most details of one entry of the history. */
export const MAX_DETAILS = 16;
/** Entries at the beginning of a history that are never trimmed: they show how the member started. */
const FIRST_KEPT = 8;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
// Control characters, line separators and direction marks could forge a line of a log or a terminal. YAML 1.1 does not
// allow the others unescaped.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\uFEFF\uFFFE\uFFFF]/gu;

/** Characters that JSON writes as they are, in one byte each: most texts have no others. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The text of the file: JSON, one key a line, exactly `RESERVE_BYTES` bytes of UTF-8 with the final newline. */
export function formatTombstone(tombstone: Tombstone): string {
  return padded(tombstoneText(tombstone));
}

/** To `RESERVE_BYTES` bytes, with the final newline. */
export function padded(text: string): string {
  return `${text}${' '.repeat(Math.max(0, RESERVE_BYTES - Buffer.byteLength(text) - 1))}\n`;
}

/** The file without the blanks at its end. */
export function tombstoneText(tombstone: Tombstone): string {
  return `${textUpToEnd(tombstone, '\n}\n'.length)}\n}`;
}

/** The tombstone of a living member without what an end changes. The host adds that, and the last brace. */
export function openTombstone(tombstone: Tombstone): string {
  return textUpToEnd({ ...tombstone, Phase: undefined, Healthy: undefined }, CLOSING_BYTES);
}

/** The room for what the host adds to an open tombstone. */
const CLOSING_BYTES = 512;
/** A longer one cannot be closed: many names may leave no room. */
export const MAX_OPEN_BYTES = RESERVE_BYTES - CLOSING_BYTES;

function textUpToEnd(tombstone: { readonly [Key in keyof Tombstone]: Tombstone[Key] | undefined }, endBytes: number) {
  const lines = KEYS.flatMap((key) => {
    const value = keyValue(key, tombstone[key]);
    return value === undefined ? [] : [`  "${key}": ${value}`];
  });
  const body = `{\n${lines.join(',\n')}`;
  return `${body}${fitHistory(tombstone.History ?? [], RESERVE_BYTES - Buffer.byteLength(body) - endBytes)}`;
}

/** At most `max` entries: the first few and the newest stay, the oldest between them go. */
export function trimHistory<Entry>(entries: readonly Entry[], max: number = MAX_HISTORY): readonly Entry[] {
  if (entries.length <= max) return entries;
  const first = Math.min(FIRST_KEPT, Math.floor(max / 2));
  return [...entries.slice(0, first), ...entries.slice(entries.length - (max - first))];
}

/** Whether a member may have this name; such a name is also a harmless file name. */
export function isMemberName(name: string): boolean {
  return name.length <= MAX_NAME && NAME.test(name);
}

/** Printable, well-formed, and at most `maxBytes` bytes inside the quotes of JSON. */
export function cleanText(text: string, maxBytes: number = MAX_TEXT): string {
  if (text.length <= maxBytes && PLAIN.test(text)) return text;
  // Cut first: the text may have 64 KiB, and a character takes at least one byte.
  const printable = text.slice(0, maxBytes).toWellFormed().replace(UNPRINTABLE, '?');
  if (jsonBytes(printable) <= maxBytes) return printable;
  let bytes = 0;
  let kept = '';
  for (const character of printable) {
    bytes += jsonBytes(character);
    if (bytes > maxBytes) break;
    kept += character;
  }
  return kept;
}

/** The order of the keys in the file. `History` comes last and takes the space that is left. */
const KEYS = [
  'Version',
  'Name',
  'Role',
  'Session',
  'Generation',
  'Boot',
  'Incarnation',
  'Phase',
  'RestartPolicy',
  'RestartsIfKilled',
  'RestartsAll',
  'RestartsPod',
  'Mains',
  'StartAfter',
  'Restarts',
  'Born',
  'Started',
  'Healthy',
  'Status',
  'LastDied',
  'LastExitCode',
  'LastReason',
  'StopRequested',
  'StopReason',
  'StopScope',
  'RestartRequested',
  'RestartBy',
  'RestartAmong',
  'RestartGraceMs',
  'RestartByRule',
  'RestartsPassed',
  'PodRestarts',
  'Busy',
  'Deadline',
  'PodStopNotBefore',
  'Died',
  'DiedMonotonic',
  'ExitCode',
  'Signal',
  'Reason',
  'Final',
] as const satisfies readonly (keyof Tombstone)[];

export const TOMBSTONE_KEYS: readonly (keyof Tombstone)[] = [...KEYS, 'History'];

function keyValue(key: (typeof KEYS)[number], value: Tombstone[(typeof KEYS)[number]]): string | undefined {
  if (typeof value === 'object') {
    const items = value.slice(0, MAX_START_AFTER);
    return JSON.stringify(items.map((item) => (typeof item === 'string' ? cleanText(item, MAX_NAME) : item)));
  }
  return scalar(value, key === 'Session' || key === 'StopReason' || key === 'Status' ? MAX_TEXT : MAX_TEXT / 2);
}

function scalar(value: string | number | boolean | undefined, maxBytes: number): string | undefined {
  if (typeof value === 'string')
    return value.length <= maxBytes && PLAIN.test(value) ? `"${value}"` : JSON.stringify(cleanText(value, maxBytes));
  // JSON has no NaN and no Infinity; it would write `null`.
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined;
  return value === undefined ? undefined : String(value);
}

function fitHistory(history: readonly HistoryEntry[], room: number): string {
  const lines = trimHistory(history).map(entryLine);
  for (let count = lines.length; count > 0; count--) {
    const text = `,\n  "History": [\n${trimHistory(lines, count).join(',\n')}\n  ]`;
    if (Buffer.byteLength(text) <= room) return text;
  }
  return '';
}

function entryLine(entry: HistoryEntry): string {
  const known = LINES.get(entry);
  if (known !== undefined) return known;
  const details = Object.entries(entry).slice(0, MAX_DETAILS);
  const pairs = details.flatMap(([key, value]) => {
    const text = scalar(value, MAX_TEXT);
    return text === undefined ? [] : [`${scalar(key, MAX_NAME)}: ${text}`];
  });
  const line = `    {${pairs.join(', ')}}`;
  LINES.set(entry, line);
  return line;
}

/** Entries never change, and each is written again with every later state. */
const LINES = new WeakMap<HistoryEntry, string>();

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** Compares histories by identity: a history stays the same object as long as nothing is added. */
export function saysTheSame(a: Tombstone, b: Tombstone): boolean {
  return TOMBSTONE_KEYS.every((key) => {
    const [value, other] = [a[key], b[key]];
    return value === other || (key !== 'History' && Array.isArray(value) && String(value) === String(other));
  });
}

/** The first half of an incarnation: one life of a container, and one holder of its liveness socket. */
export function hostOf(incarnation: string | undefined): string {
  const text = incarnation ?? '';
  const end = text.lastIndexOf('-');
  return end === -1 ? text : text.slice(0, end);
}

/** The file name of a member's liveness socket; a dotfile, so it is never taken for a tombstone. */
export function handleOf(name: string): string {
  return `.${name}.sock`;
}

/** sun_path of sockaddr_un has 108 bytes, the last of them NUL: unix(7). */
export const MAX_SOCKET_PATH_BYTES = 107;
