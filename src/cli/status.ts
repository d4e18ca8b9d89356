/**
 * `sexton status [--graveyard DIR] [--format table|json] [--wide] [--watch]`: the members of the pod, as their tombstones tell.
 * `sexton status --check [NAME]`: whether one of them is healthy, by the exit code.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tombstone } from '../core/tombstone.ts';
import { readBootId } from '../runtime/boot-id.ts';
import type { Members } from '../runtime/graveyard/members.ts';
import type { Env } from './env.ts';
import { SextonError } from './errors.ts';
import { findHere, type Here, readHere } from './here.ts';
import { show } from './parse.ts';
import { outputWidth, print } from './print.ts';
import { formatTable } from './table.ts';
import { formatOf, refuseRest, takeToolFlags } from './tool-flags.ts';

export async function status(args: readonly string[], env: Env): Promise<void> {
  const has = (name: string): boolean => args.includes(`--${name}`);
  const others = args.filter((word) => !SWITCHES.some((name) => word === `--${name}`));
  const { flags, rest } = takeToolFlags('status', others, ['graveyard', 'format']);
  const name = has('check') && !rest[0]?.startsWith('-') ? rest[0] : undefined;
  refuseRest('status', name === undefined ? rest : rest.slice(1), ['graveyard', 'format', ...SWITCHES]);
  const format = formatOf('status', flags.format);
  const here = await findHere('status', flags.graveyard, env);
  if (has('check')) return check(here, name ?? here.member);
  const show = async (): Promise<boolean> => print(await pageOf(here, format, has('wide')));
  if (!has('watch')) return void (await show());
  const clear = process.stdout.isTTY ? CLEAR : '';
  while ((await print(clear)) && (await show())) await sleep(WATCH_MS);
}

const SWITCHES = ['wide', 'watch', 'check'] as const;
const WATCH_MS = 1_000;
/** Home, and nothing below it. */
const CLEAR = '\x1b[H\x1b[J';
/** As HEALTHCHECK of a Dockerfile has it. */
const NOT_HEALTHY = 1;

/** One line and exit code 0 or 1. */
async function check(here: Here, name: string | undefined): Promise<void> {
  const refuse = (problem: string): SextonError => new SextonError('badArguments', { subcommand: 'status', problem });
  if (name === undefined) throw refuse('--check: PID 1 is not a sexton that can be read; name the member');
  const { members, unknown } = await readHere(here);
  const member = members.find(({ Name }) => Name === name);
  const trouble = member === undefined ? 'no such member' : unknown.find((it) => it.name === name)?.why;
  const isHealthy = member !== undefined && trouble === undefined && upOf(member) === 'healthy';
  if (!isHealthy) process.exitCode = NOT_HEALTHY;
  const state = isHealthy ? 'healthy' : (trouble ?? `not healthy: ${member?.Phase ?? 'dead'}`);
  await print(`${name}: ${state}\n`);
}

async function pageOf(here: Here, format: 'table' | 'json', isWide: boolean): Promise<string> {
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
    return `${JSON.stringify({ graveyard: here.dir, members: withMore, unreadable, unknown }, undefined, 2)}\n`;
  }
  return statusTable(found, now, isWide ? Number.POSITIVE_INFINITY : outputWidth(), here.dir);
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
