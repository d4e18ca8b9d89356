/**
 * `sexton status [--graveyard DIR] [-o text|json] [--wide] [--watch]`: the members of the pod, as their
 * tombstones tell. `sexton status --check [NAME]`: whether one of them is healthy, by the exit code.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Env } from '../../config/env.ts';
import { show } from '../../config/notation/parse.ts';
import type { RunConfig } from '../../config/run-config.ts';
import type { Tombstone } from '../../core/format/tombstone.ts';
import { RESTART } from '../../core/state/state.ts';
import type { Now as Moment } from '../../report/tombstones.ts';
import type { Members } from '../../runtime/graveyard/members.ts';
import { warn } from '../../text/errors.ts';
import { clearing, jsonText, outputWidth, print, WATCH_MS, withBoldHeader } from '../../text/print.ts';
import { formatTable } from '../../text/table.ts';
import { badArguments, type FlagValues, readArguments } from './arguments.ts';
import { findHereOrSolo, type Here, momentHere, readHere } from './here.ts';
import { askMember, findCommand, hasProbes, NOT_RUNNING, SOLO_HEADER, soloRow } from './solo.ts';

export async function status(args: readonly string[], env: Env): Promise<void> {
  const { flags, words } = readArguments('status', args, 1);
  const [name] = words;
  if (name !== undefined && !flags.check) throw badArguments('status', `${show(name)}: only --check takes a name`);
  const here = await findHereOrSolo('status', flags.graveyard, env);
  if (flags.check) return here.dir === undefined ? checkSolo(here.run, name) : check(here, name ?? here.member);
  const showPage = async (): Promise<boolean> =>
    print(await (here.dir === undefined ? soloPage(here.run, flags) : pageOf(await readHere(here), here.dir, flags)));
  if (!flags.watch) return void (await showPage());
  const clear = clearing();
  while ((await print(clear)) && (await showPage())) await sleep(WATCH_MS);
}

/** Docker's HEALTHCHECK takes 1 as unhealthy. */
const NOT_HEALTHY = 1;

/** Prints one line; the exit code is 0 or 1. Throws where the health cannot be known. */
async function check(here: Here, name: string | undefined): Promise<void> {
  if (name === undefined)
    throw badArguments('status', '--check: PID 1 is not a sexton that can be read; name the member');
  const { members, unknown } = await readHere(here);
  const member = members.find(({ Name }) => Name === name);
  const trouble = member === undefined ? 'no such member' : notHealthy(member);
  const why = unknown.find((it) => it.name === name)?.why;
  const remedy = 'ask again as the user of that member or as root';
  if (trouble === undefined && why !== undefined)
    throw badArguments(
      'status',
      `--check: ${name} may be healthy or dead: its liveness socket cannot be asked (${why}); ${remedy}`,
    );
  await printHealth(name, trouble);
}

/** Without a graveyard there is only this container's own member. */
async function checkSolo(run: RunConfig, given: string | undefined): Promise<void> {
  const { name } = run.member;
  if (given !== undefined && given !== name) return printHealth(given, 'no such member');
  if (run.http !== undefined) {
    const member = await askMember(run.http.address, name);
    return printHealth(name, typeof member === 'string' ? `not healthy: ${member}` : notHealthy(member));
  }
  if (hasProbes(run))
    throw badArguments('status', '--check: without a graveyard probes are seen by HTTP alone; add --http to PID 1');
  await printHealth(name, findCommand() === undefined ? 'not healthy: its command does not run' : undefined);
}

function notHealthy(member: Tombstone | undefined): string | undefined {
  return member !== undefined && upOf(member) === 'healthy' ? undefined : `not healthy: ${member?.Phase ?? 'dead'}`;
}

/** `trouble`: why it is not healthy. */
async function printHealth(name: string, trouble: string | undefined): Promise<void> {
  if (trouble !== undefined) process.exitCode = NOT_HEALTHY;
  await print(`${name}: ${trouble ?? 'healthy'}\n`);
}

/** By HTTP all that a tombstone would tell; without it what /proc tells. */
async function soloPage(run: RunConfig, flags: FlagValues<'status'>): Promise<string> {
  const { name, role, gracePeriodMs } = run.member;
  if (run.http !== undefined) {
    const member = await askMember(run.http.address, name);
    if (typeof member === 'string') warn(member);
    else return pageOf({ members: [member], unreadable: [], unknown: [], asleep: new Set() }, null, flags);
  }
  const command = findCommand();
  if (flags.output !== 'json') {
    const row = soloRow(run, command, command === undefined ? '-' : formatAge(command.ageMs));
    return withBoldHeader(formatTable(SOLO_HEADER, [row], widthOf(flags)));
  }
  const Phase = command === undefined ? NOT_RUNNING : 'running';
  const seen = { Pid: command?.pid, AgeMs: command?.ageMs };
  const member = { Name: name, Role: role, Phase, ...seen, GracePeriodMs: gracePeriodMs };
  return jsonText({ graveyard: null, members: [member], unreadable: [], unknown: [] });
}

type Page = Omit<Members, 'held'>;

/** `dir`: null without a graveyard. */
function pageOf(found: Page, dir: string | null, flags: FlagValues<'status'>): string {
  const now = momentHere();
  if (flags.output !== 'json') return statusTable(found, now, widthOf(flags), dir ?? 'no graveyard');
  const { unreadable, unknown } = found;
  const members = found.members.map((member) => ({
    ...member,
    AgeMs: ageOf(member.Born, now),
    LeftMs: leftMs(member, now),
    LastExit: lastExit(member),
    IsAsleep: found.asleep.has(member.Name),
  }));
  return jsonText({ graveyard: dir, members, unreadable, unknown });
}

function widthOf({ wide }: FlagValues<'status'>): number {
  return wide ? Number.POSITIVE_INFINITY : outputWidth();
}

type Now = Required<Moment>;

export function statusTable(page: Page, now: Now, width: number, path: string): string {
  const { members, unreadable } = page;
  const rows = members.toSorted((a, b) => (a.Name < b.Name ? -1 : 1)).map((member) => rowOf(member, page, now));
  const table = rows.length === 0 ? `no tombstones in ${path}\n` : withBoldHeader(formatTable(HEADER, rows, width));
  const failures = unreadable.map(({ name, why }) => `cannot read ${show(name)}: ${why}\n`);
  return [table, restartLines(members, now), statusLines(members), ...failures].join('');
}

/** `web: says "Loading the index, 40 %"`, of those that live. */
function statusLines(members: readonly Tombstone[]): string {
  return members
    .map(({ Name, Status, Died }) =>
      Status === undefined || Died !== undefined ? '' : `${Name}: says ${JSON.stringify(Status)}\n`,
    )
    .join('');
}

/** `proxy, web: restarted in place 2 times, the last one asked for 3m10s ago by web, uid 0, pid 71`, and a line end. */
function restartLines(members: readonly Tombstone[], now: Now): string {
  const lines = [...Map.groupBy(members, (member) => restartText(member, now))].map(([text, those]) => {
    const names = those.map(({ Name }) => Name).sort();
    return text === undefined ? '' : `${names.join(', ')}: ${text}\n`;
  });
  return lines.join('');
}

function restartText(member: Tombstone, now: Now): string | undefined {
  const { RestartBy, RestartRequested, PodRestarts = 0, StopReason, Boot } = member;
  if (RestartBy === undefined || RestartRequested === undefined) return undefined;
  const age = Boot === now.boot ? ` ${formatAge(Math.max(0, now.mono - RestartRequested))} ago` : '';
  const asked = `asked for${age} by ${RestartBy}`;
  if (StopReason === RESTART) return `restarting in place, ${asked}`;
  if (PodRestarts === 0) return undefined;
  return PodRestarts === 1
    ? `restarted in place once, ${asked}`
    : `restarted in place ${PodRestarts} times, the last one ${asked}`;
}

const HEADER = ['NAME', 'ROLE', 'PHASE', 'UP', 'AGE', 'RESTARTS', 'LAST EXIT', 'STOP', 'LEFT'] as const;

function rowOf(member: Tombstone, { unknown, asleep }: Page, now: Now): readonly string[] {
  const age = ageOf(member.Born, now);
  const left = leftMs(member, now);
  // kubexit's tombstones know only born and died.
  const phase = member.Phase ?? (member.Died === undefined ? 'running' : 'dead');
  return [
    member.Name,
    member.Role ?? '-',
    `${phase}${asleep.has(member.Name) ? ', asleep' : ''}${busyText(member)}`,
    unknown.some(({ name }) => name === member.Name) ? 'unknown' : upOf(member),
    age === undefined ? '-' : formatAge(age),
    String(member.Restarts ?? 0),
    exitText(member, now),
    member.StopReason ?? '-',
    left === undefined ? '-' : left > 0 ? formatAge(left) : 'over',
  ];
}

function busyText({ Busy }: Tombstone): string {
  return Busy === undefined ? '' : Busy === 'idle' ? ', idle' : `, busy: ${Busy}`;
}

/** `started`: startup probe and post-start are done; `healthy`: it is ready to serve as well. */
function upOf({ Died, Started, Healthy, Reason }: Tombstone): string {
  if (Died !== undefined || Reason === 'lost') return '-';
  if (Healthy !== undefined) return 'healthy';
  return Started === undefined ? '-' : 'started';
}

/** The end of this member; while it lives, that of its command's life before this one. */
function lastExit(member: Tombstone) {
  const { ExitCode, Signal, Reason, Died, LastExitCode, LastReason, LastDied } = member;
  const isOver = Died !== undefined || Reason !== undefined;
  const before = { ExitCode: LastExitCode, Signal: undefined, Reason: LastReason, Died: LastDied };
  const exit = isOver ? { ExitCode, Signal, Reason, Died } : before;
  return Object.values(exit).some((value) => value !== undefined) ? exit : undefined;
}

/** `137 KILL oom 3m ago`. A reason that the code says already is left out. */
function exitText(member: Tombstone, now: Now): string {
  const exit = lastExit(member);
  if (exit === undefined) return '-';
  const reason = exit.Reason === 'completed' || exit.Reason === 'error' ? undefined : exit.Reason;
  const ms = ageOf(exit.Died, now);
  // The largest unit is enough.
  const ago = ms === undefined ? undefined : `${formatAge(ms).replace(/(?<=[a-z]).*/, '')} ago`;
  return [exit.ExitCode, exit.Signal?.replace(/^SIG/, ''), reason, ago].filter((part) => part !== undefined).join(' ');
}

function ageOf(time: string | undefined, now: Now): number | undefined {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? undefined : Math.max(0, now.ms - at);
}

/** Until the platform's KILL. A deadline of another boot means nothing, nor does one of the dead. */
function leftMs(member: Tombstone, now: Now): number | undefined {
  if (member.Deadline === undefined || member.Died !== undefined || member.Boot !== now.boot) return undefined;
  return member.Deadline - now.mono;
}

/** The two largest units: `45s`, `3m10s`, `5h2m`, `3d4h`. */
export function formatAge(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const counts = { d: seconds / 86_400, h: (seconds / 3600) % 24, m: (seconds / 60) % 60, s: seconds % 60 };
  const parts = Object.entries(counts).map(([unit, count]) => (count < 1 ? '' : `${Math.floor(count)}${unit}`));
  const first = parts.findIndex((part) => part !== '');
  return first < 0 ? '0s' : parts.slice(first, first + 2).join('');
}
