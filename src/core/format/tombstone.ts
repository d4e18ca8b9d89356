/**
 * A tombstone: one member's record in the graveyard, in the words of the public format.
 *
 * The file is JSON with PascalCase keys, padded with blanks to `RESERVE_BYTES`, so that a later state of it
 * can be written in place when the volume is full. Every text in it is printable and bounded: tombstones are shown on
 * terminals and in logs of other containers. `tombstone-parse.ts` reads what this file writes.
 */
import type { RestartPolicy, Role, StartGate } from '../config.ts';

export const PHASES = ['waiting', 'starting', 'running', 'holding', 'draining', 'stopping', 'backoff', 'dead'] as const;
export type Phase = (typeof PHASES)[number];

export type DeathReason = 'completed' | 'error' | 'stopped' | 'killed' | 'oom' | 'never-started' | 'lost';

/** What happened, when. `At` is RFC 3339 with nanoseconds; the other keys depend on the event. */
export interface HistoryEntry {
  readonly At: string;
  readonly Event: string;
  readonly [detail: string]: string | number | boolean;
}

export interface Tombstone {
  /** 1 for sexton's own; 0 for a file in kubexit's format (only Born, Died, ExitCode). */
  readonly Version: number;
  readonly Name: string;
  readonly Role?: Role;
  readonly Session?: string;
  /** Of the file that `sexton begin` writes whenever the init containers run; absent where it is not used. */
  readonly Generation?: string;
  /** /proc/sys/kernel/random/boot_id of the writer. */
  readonly Boot?: string;
  /** Random per start of the writer's init, then `-` and how many children it has started: `5f0c…-2`. */
  readonly Incarnation?: string;
  readonly Phase?: Phase;
  readonly RestartPolicy?: RestartPolicy;
  /** A restart rule starts its container again after exit code 137, so that vanishing is not its end. */
  readonly RestartsIfKilled?: boolean;
  /** One of its restart rules restarts all containers of the pod. */
  readonly RestartsAll?: boolean;
  /** Some ends of its command restart all members in place. */
  readonly RestartsPod?: boolean;
  /** Of a sidecar that names them: those that must all have ended before it leaves; none where one is enough. */
  readonly Mains?: readonly string[];
  readonly StartAfter?: readonly StartGate['name'][];
  readonly Restarts?: number;
  /** When its command was first started in this container. */
  readonly Born?: string;
  /**
   * Since when this life of the command counts as started: startup probe and post-start are done. Absent between two
   * lives.
   */
  readonly Started?: string;
  /** Since when this life is started and ready; absent while it is not. */
  readonly Healthy?: string;
  /** How the life before this one ended, of a command that was restarted in place. */
  readonly LastDied?: string;
  readonly LastExitCode?: number;
  readonly LastReason?: DeathReason;
  readonly StopRequested?: string;
  readonly StopReason?: string;
  /** The stop, or its deadline, is of this container alone: others neither wait nor hurry for it. */
  readonly StopScope?: 'container';
  /**
   * The restart in place that it takes part in, or took part in last: when that was asked for, CLOCK_MONOTONIC
   * milliseconds of `Boot`, and by whom.
   */
  readonly RestartRequested?: number;
  readonly RestartBy?: string;
  /** Who takes part; absent: all members. */
  readonly RestartAmong?: readonly string[];
  /** The grace period that it was asked with, milliseconds. */
  readonly RestartGraceMs?: number;
  /** Who has a rule that restarts all containers on this code is to exit with it. */
  readonly RestartByRule?: number;
  /** How often it has started again for a restart in place. */
  readonly PodRestarts?: number;
  /** CLOCK_MONOTONIC milliseconds of `Boot`: its own. Only a declared one is written. */
  readonly Deadline?: number;
  /**
   * No stop of the pod began before this, CLOCK_MONOTONIC milliseconds of `Boot`: said to one that was asked to stop.
   */
  readonly PodStopNotBefore?: number;
  readonly Died?: string;
  /** CLOCK_MONOTONIC milliseconds of `Boot`: tells a death that happened in our lifetime from a stale one. */
  readonly DiedMonotonic?: number;
  readonly ExitCode?: number;
  /** The name of the signal that ended the child, `SIGTERM`. */
  readonly Signal?: string;
  readonly Reason?: DeathReason;
  /** The writer's own judgement: no other life of this member will follow. */
  readonly Final?: boolean;
  readonly History?: readonly HistoryEntry[];
}

/** The version of the format that this sexton writes. */
export const VERSION = 1;
/** Bytes a tombstone always occupies. */
export const RESERVE_BYTES = 8192;
/** A larger file is not read. */
export const MAX_BYTES = 65_536;
/** Most entries of `History`; beyond, the oldest middle ones go first. */
export const MAX_HISTORY = 64;

export type Parsed =
  | { readonly ok: true; readonly tombstone: Tombstone }
  | { readonly ok: false; readonly why: string };

/** Most names in `StartAfter`. */
export const MAX_START_AFTER = 64;
/** Most names in `Mains`; with more it is left out. */
export const MAX_MAINS = 16;
/**
 * Longest free text (`Session`, `StopReason`, details of the history), in bytes as JSON writes it, without the quotes.
 */
export const MAX_TEXT = 256;

/** Longest name of a member: it is a DNS label, RFC 1123. */
export const MAX_NAME = 63;
/** Most details of an entry of the history. */
export const MAX_DETAILS = 16;
/** How many entries at the beginning of a history outlive the trimming: they tell how the member came up. */
const FIRST_KEPT = 8;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
// Control characters, line separators and direction marks: what could forge a line of a log or of a terminal, and
// what YAML 1.1 does not allow unescaped.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\uFEFF\uFFFE\uFFFF]/gu;

/** One byte each, as they are: most texts have no others. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The text of the file: JSON, one key a line, exactly `RESERVE_BYTES` bytes of UTF-8 with the final newline. */
export function formatTombstone(tombstone: Tombstone): string {
  const lines = KEYS.flatMap((key) => {
    const value = keyValue(key, tombstone[key]);
    return value === undefined ? [] : [`  ${JSON.stringify(key)}: ${value}`];
  });
  const body = `{\n${lines.join(',\n')}`;
  const history = fitHistory(tombstone.History ?? [], RESERVE_BYTES - Buffer.byteLength(body) - '\n}\n'.length);
  const text = `${body}${history}\n}`;
  return `${text}${' '.repeat(RESERVE_BYTES - Buffer.byteLength(text) - 1)}\n`;
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
  // Cut first: what comes may be 64 KiB, and a character takes at least one byte.
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

/** The order of the file: who it is, how it is, what happened. `History` comes last, it takes what is left. */
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
  'PodRestarts',
  'Deadline',
  'PodStopNotBefore',
  'Died',
  'DiedMonotonic',
  'ExitCode',
  'Signal',
  'Reason',
  'Final',
] as const satisfies readonly (keyof Tombstone)[];

/** Every key of the file, in its order. */
export const TOMBSTONE_KEYS: readonly (keyof Tombstone)[] = [...KEYS, 'History'];

function keyValue(key: (typeof KEYS)[number], value: Tombstone[(typeof KEYS)[number]]): string | undefined {
  if (typeof value === 'object') {
    return JSON.stringify(value.slice(0, MAX_START_AFTER).map((name) => cleanText(name, MAX_NAME)));
  }
  return scalar(value, key === 'Session' || key === 'StopReason' ? MAX_TEXT : MAX_TEXT / 2);
}

function scalar(value: string | number | boolean | undefined, maxBytes: number): string | undefined {
  if (typeof value === 'string') return JSON.stringify(cleanText(value, maxBytes));
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
  const details = Object.entries(entry).slice(0, MAX_DETAILS);
  const pairs = details.flatMap(([key, value]) => {
    const text = scalar(value, MAX_TEXT);
    return text === undefined ? [] : [`${JSON.stringify(cleanText(key, MAX_NAME))}: ${text}`];
  });
  return `    {${pairs.join(', ')}}`;
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** Lists are few and short, but for the history, which is the same one as long as nothing is added. */
export function saysTheSame(a: Tombstone, b: Tombstone): boolean {
  const [pairs, others] = [Object.entries(a), Object.entries(b)];
  return (
    a.History === b.History &&
    pairs.length === others.length &&
    pairs.every(([key, value], index) => {
      const [name, other] = others[index] ?? [];
      return key === name && (value === other || (Array.isArray(value) && String(value) === String(other)));
    })
  );
}

/** The first half: one start of a host, that is one life of a container and one holder of its liveness handle. */
export function hostOf(incarnation: string | undefined): string {
  const text = incarnation ?? '';
  const end = text.lastIndexOf('-');
  return end === -1 ? text : text.slice(0, end);
}

/** Its file name in the graveyard; a dotfile, so it is never taken for a tombstone. */
export function handleOf(name: string): string {
  return `.${name}.sock`;
}

/** sun_path of sockaddr_un has 108 bytes, the last of them NUL: unix(7). */
export const MAX_SOCKET_PATH_BYTES = 107;
