/**
 * Which graveyard a subcommand means that is called inside a container, and who that container is.
 *
 * Whoever runs `kubectl exec POD -- sexton status` gives no flags: those stand in the command line of PID 1. So the
 * configuration of PID 1 is resolved again where PID 1 is sexton and may be read (same uid). A variable that the caller has set
 * for this one call counts more than that, a flag most.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { type Members, readMembers } from '../runtime/graveyard/members.ts';
import { resolveRun } from './config.ts';
import { dropInOf } from './dropin.ts';
import type { Env } from './env.ts';
import { SextonError } from './errors.ts';
import { flagLabel, variableLabel } from './given.ts';
import { machine } from './machine.ts';
import { parseGraveyard } from './values.ts';

export interface Here {
  readonly dir: string;
  /** Who named it, for messages. */
  readonly source: string;
  /** The name of this container's own member, if that can be told. */
  readonly member: string | undefined;
}

export interface Process {
  /** What it runs: another's name may be a link to us, or that program itself. */
  readonly program?: string | undefined;
  readonly argv: readonly string[];
  /** undefined: another uid's, not to be read. */
  readonly env: Env | undefined;
}

export async function findHere(
  subcommand: string,
  flag: string | undefined,
  env: Env,
  pid1: Process | undefined = readProcess(1),
): Promise<Here> {
  const first = await firstMember(pid1, env);
  const member = first?.member;
  if (flag !== undefined)
    return { ...checked(subcommand, flag, flagLabel('graveyard', flag)), source: '--graveyard', member };
  for (const name of ['SEXTON_GRAVEYARD', 'KUBEXIT_GRAVEYARD']) {
    const value = env[name];
    const isOwn = first === undefined || (pid1?.env !== undefined && pid1.env[name] !== value);
    if (value && isOwn) return { ...checked(subcommand, value, variableLabel(name, value)), source: name, member };
  }
  if (first?.dir !== undefined) return { dir: first.dir, source: first.source, member };
  if (first !== undefined) {
    const problem = 'PID 1 of this container runs without a graveyard; name the shared directory with --graveyard DIR';
    throw new SextonError('badArguments', { subcommand, problem });
  }
  return { dir: '/graveyard', source: 'the default', member };
}

/** All that can be read there. */
export async function readHere({ dir, source }: Here): Promise<Members> {
  try {
    return await readMembers(dir);
  } catch (error) {
    const path = source === '--graveyard' ? dir : `${dir} (${source})`;
    throw new SextonError('unreadableGraveyard', { path, why: whyNot(error) }, { cause: error });
  }
}

interface First {
  readonly dir: string | undefined;
  readonly source: string;
  readonly member: string;
}

async function firstMember(pid1: Process | undefined, env: Env): Promise<First | undefined> {
  if (pid1 === undefined || !isSexton(pid1)) return undefined;
  // Its variables are most likely ours where they cannot be read: both are the container's.
  const { SEXTON_NODE: _, ...rest } = pid1.env ?? env;
  const resolution = await resolveRun(pid1.argv.slice(1), rest, machine, dropInOf(pid1.argv[0]));
  // It runs, so it was right when it started; a file may have changed since.
  if (!resolution.ok) return undefined;
  const { run, sources } = resolution;
  const { source = 'default' } = sources.find(({ key }) => key === 'graveyard') ?? {};
  return { dir: run.graveyard, source: `${source} of PID 1`, member: run.member.name };
}

function isSexton({ program: runs, argv: [program = '', word = ''] }: Process): boolean {
  if (dropInOf(program) !== undefined) return basename(runs ?? '') === 'sexton';
  const isRun = word === 'run' || word.startsWith('-') || word === '';
  return isRun && ['sexton', 'sexton-init'].includes(basename(program));
}

/** `proc_pid_cmdline(5)` may be read by all, `proc_pid_environ(5)` by the same uid only; with hidepid neither. */
function readProcess(pid: number): Process | undefined {
  const argv = wordsOf(`/proc/${pid}/cmdline`);
  if (argv === undefined || argv.length === 0) return undefined;
  const entries = wordsOf(`/proc/${pid}/environ`)?.map((entry) => {
    const end = entry.indexOf('=');
    return [entry.slice(0, end), entry.slice(end + 1)] as const;
  });
  return { program: programOf(pid), argv, env: entries && Object.fromEntries(entries) };
}

function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}

function wordsOf(path: string): readonly string[] | undefined {
  try {
    return readFileSync(path, 'utf8').split('\0').slice(0, -1);
  } catch {
    return undefined;
  }
}

function checked(subcommand: string, text: string, label: string): { readonly dir: string } {
  const parsed = parseGraveyard(text);
  if (!parsed.ok) throw new SextonError('badArguments', { subcommand, problem: `${label}: ${parsed.why}` });
  return { dir: parsed.value };
}

function whyNot(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such directory';
  if (code === 'ENOTDIR') return 'not a directory';
  return code === 'EACCES' ? 'permission denied' : message;
}
