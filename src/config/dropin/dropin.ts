/**
 * Started by a link under the name of another program, sexton takes that program's command line and does what it does.
 * Init reads the same line by the same rules (`src/init/start/dropin.c`), so the command need not wait for this. Init
 * passes the program's name on in SEXTON_INIT_AS.
 *
 * tini and dumb-init know no pod. Without a variable SEXTON_* (but those of the log) every signal is only passed on,
 * nothing is drained and no graveyard is looked for. With one, their flags stand and the rest is a member as `sexton
 * run` makes it.
 */
import { type CommandLine, readCommandLine } from '../argv.ts';
import type { Env, Environment } from '../env.ts';
import type { Key } from '../flags.ts';
import type { Given } from '../given.ts';
import { type DropIn, type DropInRun, NO_SETTINGS, readDropIn } from './line.ts';

/** The command line, and what follows from the name of the program. */
export interface Place extends Pick<DropInRun, 'implied' | 'host' | 'startFailureCode'> {
  readonly line: CommandLine;
  /** undefined: sexton's own name. */
  readonly as: DropIn | undefined;
  /** No more than the program in whose place this is. */
  readonly isPlain: boolean;
}

/** `argv` is what follows the program's name; `undefined`: sexton's own. */
export function takePlace(as: DropIn | undefined, argv: readonly string[], env: Env, environment: Environment): Place {
  if (as === undefined) return { ...NO_PLACE, as, line: readCommandLine(argv) };
  const dropIn = readDropIn(as, argv, env);
  if (dropIn.asks !== 'run') {
    // init never asks for this: it answers such a line.
    const problems = ['there is nothing to run'];
    return { ...NO_PLACE, as, line: { given: [], config: undefined, problems, commandAt: undefined } };
  }
  const { given, at, implied, host, startFailureCode } = dropIn;
  const plain = isPlain(as, environment);
  return {
    as,
    line: { given, config: undefined, problems: [], commandAt: at },
    implied: plain ? [...implied, onlyForward(as)] : implied,
    host,
    startFailureCode,
    isPlain: plain,
  };
}

const NO_PLACE = { implied: [], host: NO_SETTINGS, startFailureCode: undefined, isPlain: false } as const;

/** The program of that name, or of the file name of that path. */
export function dropInOf(program: string | undefined): DropIn | undefined {
  const name = program?.slice(program.lastIndexOf('/') + 1) ?? '';
  // Both are also delivered as tini-static-amd64 and dumb-init_1.2.5_x86_64.
  if (name === 'tini' || name.startsWith('tini-')) return 'tini';
  if (name === 'dumb-init' || name.startsWith('dumb-init_')) return 'dumb-init';
  return name === 'kubexit' ? 'kubexit' : undefined;
}

function isPlain(as: DropIn, { given, config, problems }: Environment): boolean {
  if (as === 'kubexit' || config !== undefined || problems.length > 0) return false;
  return given.every(({ key }) => LOG_KEYS.has(key));
}

/** There is no stop: every signal is passed on, as often as it comes. */
function onlyForward(as: DropIn): Given {
  return { key: 'stopSignals', text: 'none', label: `--stop-signals none (${as})`, source: as };
}

const LOG_KEYS: ReadonlySet<Key> = new Set(['logLevel', 'logFormat']);
