/**
 * The few flags of the subcommands that print: `--flag value` and `--flag=value`; of two the last counts.
 */
import { SextonError } from './errors.ts';
import { nearest } from './nearest.ts';
import { show } from './parse.ts';

/** Reads flags from the front until a word that is none of them; `rest` begins there. */
export function takeToolFlags<const Name extends string>(
  subcommand: string,
  args: readonly string[],
  names: readonly Name[],
): { readonly flags: Readonly<Partial<Record<Name, string>>>; readonly rest: readonly string[] } {
  const flags: Partial<Record<Name, string>> = {};
  let at = 0;
  while (at < args.length) {
    const [, word, inline] = /^--([a-z-]+)(?:=(.*))?$/s.exec(args[at] ?? '') ?? [];
    const name = names.find((candidate) => candidate === word);
    if (name === undefined) break;
    const value = inline ?? args[at + 1];
    if (value === undefined || value === '')
      throw new SextonError('badArguments', { subcommand, problem: `--${name}: needs a value` });
    flags[name] = value;
    at += inline === undefined ? 2 : 1;
  }
  return { flags, rest: args.slice(at) };
}

/** Refuses words that a subcommand has no use for. */
export function refuseRest(subcommand: string, rest: readonly string[], names: readonly string[]): void {
  const [word] = rest;
  if (word === undefined) return;
  const near = nearest(word.replace(/=.*/s, ''), names);
  const remedy = near === undefined ? `it takes ${takes(names)}` : `did you mean --${near}?`;
  throw new SextonError('badArguments', { subcommand, problem: `${show(word)}: not known to it; ${remedy}` });
}

export function formatOf(subcommand: string, text: string | undefined): 'table' | 'json' {
  if (text === undefined || text === 'table') return 'table';
  if (text === 'json') return 'json';
  throw new SextonError('badArguments', { subcommand, problem: `--format ${show(text)}: not one of table, json` });
}

function takes(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : `only ${names.map((name) => `--${name}`).join(' and ')}`;
}
