/**
 * `sexton status [--graveyard DIR] [--format table|json]`: the members of the pod, as their tombstones tell.
 */
import type { Tombstone } from '../core/tombstone.ts';
import { readBootId } from '../runtime/boot-id.ts';
import { type Members, readMembers } from '../runtime/graveyard/members.ts';
import type { Unreadable } from '../runtime/graveyard/read.ts';
import type { Env } from './env.ts';
import { SextonError } from './errors.ts';
import { show } from './parse.ts';
import { outputWidth, print } from './print.ts';
import { formatTable } from './table.ts';
import { formatOf, refuseRest, takeToolFlags } from './tool-flags.ts';
import { parseGraveyard } from './values.ts';

export async function status(args: readonly string[], env: Env): Promise<void> {
  const { flags, rest } = takeToolFlags('status', args, ['graveyard', 'format']);
  refuseRest('status', rest, ['graveyard', 'format']);
  const format = formatOf('status', flags.format);
  const path = flags.graveyard ?? (env.SEXTON_GRAVEYARD || env.KUBEXIT_GRAVEYARD || '/graveyard');
  const { members, unreadable } = await read(path);
  const now = { ms: Date.now(), mono: Number(process.hrtime.bigint() / 1_000_000n), boot: readBootId() };
  if (format === 'json') {
    const withTimes = members.map((member) => ({ ...member, AgeMs: ageMs(member, now), LeftMs: leftMs(member, now) }));
    await print(`${JSON.stringify({ graveyard: path, members: withTimes, unreadable }, undefined, 2)}\n`);
    return;
  }
  await print(statusTable(members, unreadable, now, outputWidth(), path));
}

/** The two clocks that tombstones are written by, and the boot that the monotonic one counts from. */
export interface Now {
  readonly ms: number;
  readonly mono: number;
  readonly boot: string;
}

export function statusTable(
  members: readonly Tombstone[],
  unreadable: readonly Unreadable[],
  now: Now,
  width: number,
  path: string,
): string {
  const rows = [...members].sort((a, b) => (a.Name < b.Name ? -1 : 1)).map((member) => row(member, now));
  const table = rows.length === 0 ? `no tombstones in ${path}\n` : formatTable(HEADER, rows, width);
  return `${table}${unreadable.map(({ name, why }) => `cannot read ${show(name)}: ${why}\n`).join('')}`;
}

const HEADER = ['NAME', 'ROLE', 'PHASE', 'AGE', 'RESTARTS', 'EXIT', 'REASON', 'STOP', 'LEFT'] as const;

function row(member: Tombstone, now: Now): readonly string[] {
  const age = ageMs(member, now);
  const left = leftMs(member, now);
  return [
    member.Name,
    member.Role ?? '-',
    // kubexit's tombstones know only born and died.
    member.Phase ?? (member.Died === undefined ? 'running' : 'dead'),
    age === undefined ? '-' : formatAge(age),
    String(member.Restarts ?? 0),
    [member.ExitCode, member.Signal?.replace(/^SIG/, '')].filter((part) => part !== undefined).join(' ') || '-',
    member.Reason ?? '-',
    member.StopReason ?? '-',
    left === undefined ? '-' : left > 0 ? formatAge(left) : 'over',
  ];
}

function ageMs(member: Tombstone, now: Now): number | undefined {
  const born = Date.parse(member.Born ?? '');
  return Number.isNaN(born) ? undefined : Math.max(0, now.ms - born);
}

/** Until the platform's KILL. A deadline of another boot means nothing, nor does one of the dead. */
function leftMs(member: Tombstone, now: Now): number | undefined {
  if (member.Deadline === undefined || member.Died !== undefined || member.Boot !== now.boot) return undefined;
  return member.Deadline - now.mono;
}

/** The two largest units: `45s`, `3m10s`, `5h2m`, `3d4h`. */
export function formatAge(ms: number): string {
  let seconds = Math.floor(ms / 1000);
  const parts: string[] = [];
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0 || parts.length > 0) parts.push(count > 0 ? `${count}${unit}` : '');
  }
  return parts.slice(0, 2).join('') || '0s';
}

async function read(path: string): Promise<Members> {
  const parsed = parseGraveyard(path);
  if (!parsed.ok)
    throw new SextonError('badArguments', {
      subcommand: 'status',
      problem: `--graveyard ${show(path)}: ${parsed.why}`,
    });
  try {
    return await readMembers(parsed.value);
  } catch (error) {
    throw new SextonError('unreadableGraveyard', { path, why: whyNot(error) }, { cause: error });
  }
}

function whyNot(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such directory';
  if (code === 'ENOTDIR') return 'not a directory';
  return code === 'EACCES' ? 'permission denied' : message;
}
