/**
 * Started by a link under the name of another program, sexton takes that program's command line and does what it does.
 * Init reads that line (`src/init/start/dropin.c`) and gives flags of sexton's in its place. SEXTON_INIT_AS has the
 * program's name, and behind it the flags that any other setting beats.
 *
 * tini and dumb-init know no pod. Without a variable SEXTON_* (but those of the log) every signal is only passed on,
 * nothing is drained and no graveyard is looked for. With one, their flags stand and the rest is a member as `sexton
 * run` makes it.
 */
import { type CommandLine, readCommandLine } from '../argv.ts';
import type { Environment } from '../env.ts';
import type { Key } from '../flags.ts';
import type { Given } from '../given.ts';

export const DROP_INS = ['tini', 'dumb-init', 'kubexit'] as const;

/** The program that sexton replaces. */
export interface DropIn {
  readonly name: (typeof DROP_INS)[number];
  /** Flags that any other setting beats. */
  readonly defaults: readonly string[];
}

/** The command line, and what follows from the name of the program. */
export interface Place {
  readonly line: CommandLine;
  /** undefined: sexton's own name. */
  readonly as: DropIn | undefined;
  readonly implied: readonly Given[];
  /** No more than the program in whose place this is. */
  readonly isPlain: boolean;
}

/** `argv` is what init gives for the words that follow the program's name. */
export function takePlace(as: DropIn | undefined, argv: readonly string[], environment: Environment): Place {
  const line = readCommandLine(argv);
  if (as === undefined) return { line, as, implied: [], isPlain: false };
  const isPlain = hasNoSettings(as, environment);
  const defaults = readCommandLine(as.defaults).given;
  const implied = isPlain ? [...defaults, ONLY_FORWARDS] : defaults;
  return {
    line: { ...line, given: line.given.map((one) => labelledBy(as, one)) },
    as,
    implied: implied.map((one) => labelledBy(as, one)),
    isPlain,
  };
}

/** `text`: SEXTON_INIT_AS. */
export function dropInOf(text = ''): DropIn | undefined {
  const [first, ...defaults] = text.split(' ');
  const name = DROP_INS.find((it) => it === first);
  return name && { name, defaults };
}

function hasNoSettings(as: DropIn, { given, config, problems }: Environment): boolean {
  if (as.name === 'kubexit' || config !== undefined || problems.length > 0) return false;
  return given.every(({ key }) => LOG_KEYS.has(key));
}

/** There is no stop: every signal is passed on, as often as it comes. */
const ONLY_FORWARDS: Given = { key: 'stopSignals', text: 'none', label: '--stop-signals none', source: '' };

/** The user wrote no such flag: the message also names the program. */
function labelledBy({ name }: DropIn, given: Given): Given {
  return { ...given, label: `${given.label} (${name})`, source: name };
}

const LOG_KEYS: ReadonlySet<Key> = new Set(['logLevel', 'logFormat']);
