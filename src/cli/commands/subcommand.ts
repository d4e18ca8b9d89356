/** Finds the subcommand that a command line means, and loads its file. */
import type { Env } from '../../config/env.ts';
import { nearest } from '../../config/notation/nearest.ts';
import { show } from '../../config/notation/parse.ts';
import { HELP_FLAGS, VERSION_FLAGS } from '../../config/subcommand.ts';
import { SextonError } from '../../text/errors.ts';
import { COMMAND_NAMES, type CommandName } from './commands.ts';

export interface Subcommand {
  readonly name: CommandName;
  readonly args: readonly string[];
}

export async function runSubcommand(argv: readonly string[], env: Env): Promise<void> {
  const { name, args } = subcommandOf(argv);
  if (name === 'run') throw new Error('internal error: main.ts starts run, which may load nothing else');
  await (await LOADERS[name]())(args, env);
}

type Runner = (args: readonly string[], env: Env) => Promise<void>;

const LOADERS: Readonly<Record<Exclude<CommandName, 'run'>, () => Promise<Runner>>> = {
  status: async () => (await import('./status.ts')).status,
  stop: async () => (await import('./stop/stop.ts')).stop,
  restart: async () => (await import('./stop/restart.ts')).restart,
  quit: async () => (await import('./quit.ts')).quit,
  explain: async () => (await import('./check/explain.ts')).explain,
  begin: async () => (await import('./begin.ts')).begin,
  install: async () => (await import('./install/install.ts')).install,
  report: async () => (await import('./report.ts')).report,
  check: async () => (await import('./check/check.ts')).check,
  images: async () => (await import('./check/images.ts')).images,
  inject: async () => (await import('./inject.ts')).inject,
  uninject: async () => (await import('./inject.ts')).uninject,
  completion: async () => (await import('./help/completion.ts')).completion,
  schema: async () => (await import('./schema.ts')).schema,
  version: async () => (await import('./version/version.ts')).version,
  help: async () => (await import('./help/help.ts')).help,
};

/** `argv` is no command line of `run`. */
export function subcommandOf([first = '', ...args]: readonly string[]): Subcommand {
  if (HELP_FLAGS.includes(first)) return { name: 'help', args };
  const flag = first === 'run' ? (args[0] ?? '') : first;
  if (VERSION_FLAGS.includes(flag)) return { name: 'version', args: [] };
  const name = COMMAND_NAMES.find((it) => it === first);
  if (name === undefined)
    throw new SextonError('unknownSubcommand', { word: show(first), near: nearest(first, COMMAND_NAMES) });
  // After the first word of `run` and `explain` a command may stand, with a --help of its own.
  const own = name === 'run' || name === 'explain' ? args.slice(0, 1) : args;
  return own.some((word) => HELP_FLAGS.includes(word)) ? { name: 'help', args: [name] } : { name, args };
}
