/** Finds the subcommand that a command line means. */

import type { Env } from '../../config/env.ts';
import { nearest } from '../../config/notation/nearest.ts';
import { show } from '../../config/notation/parse.ts';
import { HELP_FLAGS, VERSION_FLAGS } from '../../config/subcommand.ts';
import { SextonError } from '../../text/errors.ts';
import { COMMAND_NAMES, COMMANDS, type CommandHelp, type CommandName } from './commands.ts';

export interface Subcommand {
  readonly name: CommandName;
  readonly args: readonly string[];
}

export async function runSubcommand(argv: readonly string[], env: Env): Promise<void> {
  const { name, args } = subcommandOf(argv);
  const { load }: CommandHelp = COMMANDS[name];
  if (load === undefined) throw new Error(`internal error: ${name} is no subcommand of its own`);
  await (await load())(args, env);
}

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
