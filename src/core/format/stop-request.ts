/**
 * A stop request: what `sexton stop` leaves in the graveyard for one member, as `.NAME.<12 hex digits>.stop`.
 *
 * Each request has a file of its own, so that two senders, perhaps under different uids in a sticky directory, do not
 * replace each other's. It names the life of the container that it is meant for: for a later life it is stale. It comes
 * from another container, so it is understood as a whole or not at all.
 */
import { rfc3339 } from '../time.ts';
import { cleanText, isMemberName } from './tombstone.ts';
import { own, TIME, token } from './tombstone-parse.ts';

export interface StopRequest {
  readonly Version: number;
  /** The kernel's boot id, from which the times below count. */
  readonly Boot: string;
  /** The first half of the target's `Incarnation`: one life of its container. */
  readonly Incarnation: string;
  /** From the request to KILL; undefined: the member's own grace period. */
  readonly GraceMs?: number;
  /** The names of the members that were asked together; undefined: all members. */
  readonly Among?: readonly string[];
  /** Only in a restart: a member with a rule that restarts all containers on this code exits with it. */
  readonly ByRule?: number;
  /** The sender, for the record. */
  readonly By: string;
  /** RFC 3339. */
  readonly At: string;
  /** CLOCK_MONOTONIC milliseconds of `Boot`. */
  readonly RequestedMonotonic: number;
}

export type ParsedRequest =
  | { readonly ok: true; readonly request: StopRequest }
  | { readonly ok: false; readonly why: string };

const REQUEST_VERSION = 1;
/** A request to restart in place. An older sexton, which cannot, does not take it for a stop. */
export const RESTART_VERSION = 2;
/** A larger file is not read. */
export const MAX_REQUEST_BYTES = 65_536;
/** Most names in `Among`: they are part of the target's memo, which is bounded. */
export const MAX_AMONG = 256;
/** The longest grace, as long as a timer can be. */
const MAX_GRACE_MS = 2 ** 31 - 1;

/** `mark`: 12 random hex digits. A dotfile, so it is never taken for a tombstone. */
export function requestFileOf(name: string, mark: string): string {
  return `.${name}.${mark}.stop`;
}

export function isRequestFor(name: string, file: string): boolean {
  return file.startsWith(`.${name}.`) && /^[0-9a-f]{12}\.stop$/.test(file.slice(name.length + 2));
}

export function formatRequest(request: StopRequest): string {
  return `${JSON.stringify({ ...request, By: cleanText(request.By) }, undefined, 2)}\n`;
}

export function parseRequest(text: string): ParsedRequest {
  if (text.length > MAX_REQUEST_BYTES) return notUnderstood(`larger than ${MAX_REQUEST_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return notUnderstood('not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return notUnderstood('not an object');
  const record = value as Readonly<Record<string, unknown>>;
  // A newer version may give the same keys another meaning, and a stop cannot be undone.
  if (readVersion(own(record, 'Version')) === undefined) return notUnderstood('of a version that is not known here');
  const request: Record<string, unknown> = {};
  for (const [key, reader] of Object.entries(REQUEST_READERS)) {
    const raw = own(record, key);
    if (raw === undefined && OPTIONAL.has(key)) continue;
    const read = reader(raw);
    if (read === undefined) return notUnderstood(`${key} is not understood`);
    request[key] = read;
  }
  return { ok: true, request: request as unknown as StopRequest };
}

export function isMeantFor(request: StopRequest, self: { readonly boot: string; readonly host: string }): boolean {
  return request.Boot === self.boot && request.Incarnation === self.host;
}

/** The keys of a request for a stop that is asked for now. */
export function asked(now: {
  readonly mono: number;
  readonly wall: string;
}): Pick<StopRequest, 'Version' | 'At' | 'RequestedMonotonic'> {
  return { Version: REQUEST_VERSION, At: rfc3339(now.wall), RequestedMonotonic: Math.round(now.mono) };
}

const OPTIONAL: ReadonlySet<string> = new Set(['GraceMs', 'Among', 'ByRule']);

const REQUEST_READERS: {
  readonly [Key in keyof Required<StopRequest>]: (value: unknown) => StopRequest[Key] | undefined;
} = {
  Version: readVersion,
  Boot: token,
  Incarnation: token,
  GraceMs: (value) => (Number.isSafeInteger(value) && isWithin(value, MAX_GRACE_MS) ? (value as number) : undefined),
  Among: memberNames,
  ByRule: (value) => (Number.isInteger(value) && isWithin(value, 255) ? (value as number) : undefined),
  By: (value) => (typeof value === 'string' ? cleanText(value) : undefined),
  At: (value) => (typeof value === 'string' && TIME.test(value) ? value : undefined),
  RequestedMonotonic: (value) => (isWithin(value, Number.MAX_SAFE_INTEGER) ? (value as number) : undefined),
};

function readVersion(value: unknown): number | undefined {
  return value === REQUEST_VERSION || value === RESTART_VERSION ? value : undefined;
}

function isWithin(value: unknown, most: number): boolean {
  return typeof value === 'number' && value >= 0 && value <= most;
}

function memberNames(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_AMONG) return undefined;
  return value.every((name) => typeof name === 'string' && isMemberName(name)) ? (value as string[]) : undefined;
}

function notUnderstood(why: string): ParsedRequest {
  return { ok: false, why };
}
