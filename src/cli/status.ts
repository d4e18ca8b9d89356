/**
 * `sexton status [--graveyard DIR] [--format table|json] [--wide]`: the members of the pod, as their tombstones tell.
 */
import type { Tombstone } from '../core/tombstone.ts';
import { readBootId } from '../runtime/boot-id.ts';
import type { Members } from '../runtime/graveyard/members.ts';
import type { Env } from './env.ts';
import { findHere, readHere } from './here.ts';
import { show } from './parse.ts';
import { outputWidth, print } from './print.ts';
import { formatTable } from './table.ts';
import { formatOf, refuseRest, takeToolFlags } from './tool-flags.ts';

export async function status(args: readonly string[], env: Env): Promise<void> {
  const isWide = args.includes('--wide');
  const others = args.filter((word) => word !== '--wide');
  const { flags, rest } = takeToolFlags('status', others, ['graveyard', 'format']);
  refuseRest('status', rest, ['graveyard', 'format', 'wide']);
  const format = formatOf('status', flags.format);
  const here = await findHere('status', flags.graveyard, env);
  const found = await readHere(here);
  const now = { ms: Date.now(), mono: Number(process.hrtime.bigint() / 1_000_000n), boot: readBootId() };
  if (format === 'json') {
    const { members, unreadable, unknown } = found;
    const withMore = members.map((member) => ({
      ...member,
      AgeMs: ageMs(member, now),
      LeftMs: leftMs(member, now),
      LastExit: lastExit(member),
    }));
    await print(`${JSON.stringify({ graveyard: here.dir, members: withMore, unreadable, unknown }, undefined, 2)}\n`);
    return;
  }
  await print(statusTable(found, now, isWide ? Number.POSITIVE_INFINITY : outputWidth(), here.dir));
}

/** The two clocks that tombstones are written by, and the boot that the monotonic one counts from. */
export interface Now {
  readonly ms: number;
  readonly mono: number;
  readonly boot: string;
}

export function statusTable(
  { members, unreadable, unknown }: Omit<Members, 'held'>,
  now: Now,
  width: number,
  path: string,
): string {
  const rows = [...members]
    .sort((a, b) => (a.Name < b.Name ? -1 : 1))
    .map((member) =>
      row(
        member,
        unknown.some(({ name }) => name === member.Name),
        now,
      ),
    );
  const table = rows.length === 0 ? `no tombstones in ${path}\n` : formatTable(HEADER, rows, width);
  return `${table}${unreadable.map(({ name, why }) => `cannot read ${show(name)}: ${why}\n`).join('')}`;
}

const HEADER = ['NAME', 'ROLE', 'PHASE', 'UP', 'AGE', 'RESTARTS', 'LAST EXIT', 'STOP', 'LEFT'] as const;

function row(member: Tombstone, isUnknown: boolean, now: Now): readonly string[] {
  const age = ageMs(member, now);
  const left = leftMs(member, now);
  return [
    member.Name,
    member.Role ?? '-',
    // kubexit's tombstones know only born and died.
    member.Phase ?? (member.Died === undefined ? 'running' : 'dead'),
    isUnknown ? 'unknown' : upOf(member),
    age === undefined ? '-' : formatAge(age),
    String(member.Restarts ?? 0),
    exitText(member, now),
    member.StopReason ?? '-',
    left === undefined ? '-' : left > 0 ? formatAge(left) : 'over',
  ];
}

/** How far it has come: started means startup probe and post-start are done, healthy that it is ready to serve as well. */
function upOf({ Died, Started, Healthy, Reason }: Tombstone): string {
  if (Died !== undefined || Reason === 'lost') return '-';
  if (Healthy !== undefined) return 'healthy';
  return Started === undefined ? '-' : 'started';
}

type LastExit = Pick<Partial<Tombstone>, 'ExitCode' | 'Signal' | 'Reason' | 'Died'>;

/** The end of this member; while it lives, that of its command's life before this one. */
function lastExit(member: Tombstone): LastExit | undefined {
  const { ExitCode, Signal, Reason, Died, LastExitCode, LastReason, LastDied } = member;
  const isOver = Died !== undefined || Reason !== undefined;
  const exit = isOver
    ? { ExitCode, Signal, Reason, Died }
    : { ExitCode: LastExitCode, Reason: LastReason, Died: LastDied };
  const known = Object.entries(exit).filter(([, value]) => value !== undefined);
  return known.length === 0 ? undefined : (Object.fromEntries(known) as LastExit);
}

/** `137 KILL oom 3m ago`. A reason that the code says already is left out. */
function exitText(member: Tombstone, now: Now): string {
  const exit = lastExit(member);
  if (exit === undefined) return '-';
  const reason = exit.Reason === 'completed' || exit.Reason === 'error' ? undefined : exit.Reason;
  const at = Date.parse(exit.Died ?? '');
  const ago = Number.isNaN(at) ? undefined : `${largestUnit(formatAge(Math.max(0, now.ms - at)))} ago`;
  return [exit.ExitCode, exit.Signal?.replace(/^SIG/, ''), reason, ago].filter((part) => part !== undefined).join(' ');
}

function largestUnit(age: string): string {
  return /^\d+[a-z]/.exec(age)?.[0] ?? age;
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
