/**
 * Finds the graveyard that a subcommand inside a container means, and the member of that container.
 *
 * `kubectl exec POD -- sexton status` has no flags, but PID 1 has. So this resolves the configuration of PID 1 again if
 * PID 1 is a sexton whose command line may be read. A variable that the caller sets beats it, and a flag beats both.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import type { Env } from '../../config/env.ts';
import { flagLabel, variableLabel } from '../../config/given.ts';
import { parseGraveyard } from '../../config/notation/values.ts';
import { resolveRun } from '../../config/resolve.ts';
import type { RunConfig } from '../../config/run-config.ts';
import type { Now } from '../../report/tombstones.ts';
import { readBootId } from '../../runtime/clock.ts';
import { type Members, readMembers } from '../../runtime/graveyard/members.ts';
import { SextonError } from '../../text/errors.ts';
import { dropInLine, type Line, machine } from '../machine.ts';
import { accepted, badArguments } from './arguments.ts';

export interface Here {
  readonly dir: string;
  /** Names what gave the directory, for messages. */
  readonly source: string;
  /** The name of this container's own member, if it is known. */
  readonly member: string | undefined;
}

/** PID 1 of this container is sexton without a graveyard. */
export interface Solo {
  readonly dir: undefined;
  readonly run: RunConfig;
}

export interface Process {
  /** The file that it executes: another program's name may be a link to sexton, or that program itself. */
  readonly program?: string | undefined;
  readonly argv: readonly string[];
  /** undefined: the process has another uid, so it cannot be read. */
  readonly env: Env | undefined;
}

export async function findHere(
  subcommand: string,
  flag: string | undefined,
  env: Env,
  pid1: Process | undefined = readProcess(1),
): Promise<Here> {
  const here = await findHereOrSolo(subcommand, flag, env, pid1);
  if (here.dir !== undefined) return here;
  const problem = 'PID 1 of this container runs without a graveyard; name the shared directory with --graveyard DIR';
  throw badArguments(subcommand, problem);
}

/** As `findHere`, for a subcommand that has an answer without a graveyard as well. */
export async function findHereOrSolo(
  subcommand: string,
  flag: string | undefined,
  env: Env,
  pid1: Process | undefined = readProcess(1),
): Promise<Here | Solo> {
  const first = await firstMember(pid1, env);
  const member = first?.run.member.name;
  const given = (text: string, label: string, source: string): Here => {
    return { dir: accepted(subcommand, label, parseGraveyard(text)), source, member };
  };
  if (flag !== undefined) return given(flag, flagLabel('graveyard', flag), '--graveyard');
  for (const name of ['SEXTON_GRAVEYARD', 'KUBEXIT_GRAVEYARD']) {
    const value = env[name];
    const isOwn = first === undefined || pid1?.env?.[name] !== value;
    if (value && isOwn) return given(value, variableLabel(name, value), name);
  }
  if (first === undefined) return { dir: '/graveyard', source: 'the default', member };
  const { run, source } = first;
  return run.graveyard === undefined ? { dir: undefined, run } : { dir: run.graveyard, source, member };
}

export async function readHere({ dir, source }: Here): Promise<Members> {
  try {
    return await readMembers(dir);
  } catch (error) {
    const path = source === '--graveyard' ? dir : `${dir} (${source})`;
    throw new SextonError('unreadableGraveyard', { path, why: whyNoDirectory(error) }, { cause: error });
  }
}

/** By both clocks that tombstones are written by. */
export function momentHere(): Required<Now> {
  return { ms: Date.now(), mono: Number(process.hrtime.bigint() / 1_000_000n), boot: readBootId() };
}

interface First {
  readonly run: RunConfig;
  /** Names what gave the graveyard, for messages. */
  readonly source: string;
}

async function firstMember(pid1: Process | undefined, env: Env): Promise<First | undefined> {
  if (pid1 === undefined) return undefined;
  // If its variables cannot be read, ours are used: both most likely come from the container.
  const { SEXTON_NODE: _, ...rest } = pid1.env ?? env;
  const line = lineOf(pid1, rest);
  if (line === undefined) return undefined;
  const resolution = await resolveRun(line.words, rest, machine, line.as);
  // The configuration was valid when PID 1 started; a file may have changed since.
  if (!resolution.ok) return undefined;
  const { run, sources } = resolution;
  const { source = 'default' } = sources.find(({ key }) => key === 'graveyard') ?? {};
  return { run, source: `${source} of PID 1` };
}

/** The arguments that this process passes to its supervisor, or undefined if it is not sexton or supervises nothing. */
function lineOf({ program, argv }: Process, env: Env): Line | undefined {
  const [name = '', word = ''] = argv;
  const isRun = word === 'run' || word.startsWith('-') || word === '';
  if (['sexton', 'sexton-init'].includes(basename(name)))
    return isRun ? { as: undefined, words: argv.slice(1) } : undefined;
  return basename(program ?? '') === 'sexton' ? dropInLine(argv, env) : undefined;
}

/** `proc_pid_cmdline(5)` may be read by all, `proc_pid_environ(5)` by the same uid only; with hidepid neither. */
function readProcess(pid: number): Process | undefined {
  const argv = readStrings(`/proc/${pid}/cmdline`);
  if (argv === undefined || argv.length === 0) return undefined;
  const entries = readStrings(`/proc/${pid}/environ`)?.map((entry) => {
    const end = entry.indexOf('=');
    return [entry.slice(0, end), entry.slice(end + 1)] as const;
  });
  return {
    program: ifReadable(() => readlinkSync(`/proc/${pid}/exe`)),
    argv,
    env: entries && Object.fromEntries(entries),
  };
}

function readStrings(path: string): readonly string[] | undefined {
  return ifReadable(() => readFileSync(path, 'utf8').split('\0').slice(0, -1));
}

function ifReadable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

export function whyNoDirectory(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return DIRECTORY_PROBLEMS.get(code) ?? message;
}

const DIRECTORY_PROBLEMS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such directory'],
  ['ENOTDIR', 'not a directory'],
  ['EACCES', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
]);
