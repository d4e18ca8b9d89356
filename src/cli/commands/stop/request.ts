/**
 * What `sexton stop` and `sexton restart` are asked, and which members are meant. Each is asked by a file in the
 * graveyard, so that no signal has to cross from one container into another.
 */
import { flagLabel } from '../../../config/given.ts';
import { formatDuration, parseSomeTime } from '../../../config/notation/duration.ts';
import { didYouMean, nearest } from '../../../config/notation/nearest.ts';
import { repeated, show } from '../../../config/notation/parse.ts';
import { parseName } from '../../../config/notation/values.ts';
import { asked, MAX_AMONG, RESTART_VERSION } from '../../../core/format/stop-request.ts';
import { hostOf, type Tombstone } from '../../../core/format/tombstone.ts';
import type { Instant } from '../../../core/time.ts';
import { readBootId } from '../../../runtime/clock.ts';
import { leaveRequest } from '../../../runtime/graveyard/leave-request.ts';
import type { Members } from '../../../runtime/graveyard/members.ts';
import type { Unreadable } from '../../../runtime/graveyard/read.ts';
import { accepted, badArguments, readArguments, refusalOf } from '../arguments.ts';
import type { Here } from '../here.ts';

type StopAction = 'stop' | 'restart';

export interface StopArguments {
  readonly action: StopAction;
  readonly names: readonly string[];
  readonly graceMs: number | undefined;
  /** In a restart: the code of a rule that restarts all containers. */
  readonly byRule: number | undefined;
  readonly waits: boolean;
  readonly graveyard: string | undefined;
}

export function readStopArguments(action: StopAction, args: readonly string[]): StopArguments {
  const bad = refusalOf(action);
  const { flags, words } = readArguments(action, args);
  const names = words.map((word) => accepted(action, show(word), parseName(word)));
  const twice = repeated(names);
  if (twice !== undefined) throw bad(`${twice} is named twice; name it once`);
  if (action === 'stop' && names.length > MAX_AMONG)
    throw bad(`${names.length} names: at most ${MAX_AMONG}; give no name to stop all`);
  const rule = flags['by-rule'];
  if (rule !== undefined && !(/^\d{1,3}$/.test(rule) && Number(rule) <= 255))
    throw bad(`${flagLabel('by-rule', rule)}: not an exit code; write one from 0 to 255, such as 88`);
  if (rule !== undefined && names.length > 0) throw bad('--by-rule: such a rule restarts all containers; give no name');
  const { grace } = flags;
  return {
    action,
    names,
    graceMs: grace === undefined ? undefined : accepted(action, flagLabel('grace', grace), parseSomeTime(grace)),
    byRule: rule === undefined ? undefined : Number(rule),
    waits: flags['no-wait'] !== true,
    graveyard: flags.graveyard,
  };
}

/** A member as it was found, in one life of its container. */
export interface Target {
  readonly name: string;
  readonly boot: string;
  readonly host: string;
}

export interface Targets {
  readonly alive: readonly Target[];
  readonly dead: readonly Tombstone[];
  /** Alive as far as is known, but run by kubexit, which reads no requests. */
  readonly deaf: readonly string[];
  /** Those of `alive` whose liveness cannot be asked, and by which error. */
  readonly doubtful: readonly Unreadable[];
}

/**
 * A container may be shown a boot id of its own (LXC, systemd-nspawn). A member whose handle is held runs on this
 * kernel, whatever boot id it wrote.
 */
export function pickTargets(
  { dir, source }: Here,
  { members, held, unknown }: Members,
  { action, names }: Pick<StopArguments, 'action' | 'names'>,
): Targets {
  const badRequest = refusalOf(action);
  const boot = readBootId();
  const known = members.map(({ Name }) => Name);
  for (const name of names) if (!known.includes(name)) throw badRequest(notThere(name, known));
  const meant = members.filter(({ Name }) => names.length === 0 || names.includes(Name));
  const living = meant.filter(({ Died, Reason }) => Died === undefined && Reason !== 'lost');
  const deaf = living.filter(({ Version }) => Version === 0).map(({ Name }) => Name);
  if (names.length > 0 && deaf.length > 0)
    throw badRequest(`${cannotBeAsked(deaf, action)}; ${action} its container instead`);
  const alive = living.flatMap(({ Name, Boot, Incarnation }) =>
    Boot !== undefined && (Boot === boot || held.has(Name)) && Incarnation !== undefined
      ? [{ name: Name, boot: Boot, host: hostOf(Incarnation) }]
      : [],
  );
  if (alive.length === 0 && deaf.length > 0)
    throw badRequest(`${cannotBeAsked(deaf, action)}, and no other member is alive`);
  if (alive.length === 0 && names.length === 0)
    throw badRequest(`no member is alive in the graveyard ${dir} (${source})`);
  const dead = names.length === 0 ? [] : meant.filter(({ Name }) => !alive.some(({ name }) => name === Name));
  const doubtful = unknown.filter(({ name }) => alive.some((target) => target.name === name));
  return { alive, dead, deaf, doubtful };
}

export function cannotBeAsked(names: readonly string[], action: StopAction): string {
  return `${names.join(', ')} cannot be asked to ${action}: run by kubexit, which reads no requests`;
}

function notThere(name: string, known: readonly string[]): string {
  if (known.length === 0) return `${name}: the graveyard is empty`;
  return `unknown member ${name}; ${didYouMean(nearest(name, known), `there are ${known.join(', ')}`)}`;
}

export function withinText({ graceMs }: StopArguments): string {
  return `within ${graceMs === undefined ? 'the grace period of each' : formatDuration(graceMs)}`;
}

/** Resolves to the file of each request, by the name of the member, and the moment by CLOCK_MONOTONIC. */
export async function ask(
  { dir, member }: Here,
  targets: readonly Target[],
  { action, names, graceMs, byRule }: StopArguments,
  now: Instant,
) {
  const paths = new Map<string, string>();
  const request = { ...asked(now), ...(action === 'restart' && { Version: RESTART_VERSION }) };
  const together = targets.map(({ name }) => name);
  for (const { name, boot, host } of targets) {
    const left = await leaveRequest(dir, name, {
      ...request,
      Boot: boot,
      Incarnation: host,
      ...(graceMs === undefined ? {} : { GraceMs: graceMs }),
      ...(names.length === 0 ? {} : { Among: together }),
      ...(byRule === undefined ? {} : { ByRule: byRule }),
      By: `${member === undefined ? '' : `${member}, `}uid ${process.getuid?.() ?? '?'}, pid ${process.pid}`,
    });
    if (!left.ok) {
      const follows = action === 'stop' ? 'stopping' : 'restarting with all they tell';
      const others = paths.size === 0 ? '' : `; asked already, and ${follows}: ${[...paths.keys()].join(', ')}`;
      throw badArguments(action, `${left.trouble.message}${others}`);
    }
    paths.set(name, left.path);
  }
  return { paths, askedMs: request.RequestedMonotonic };
}
