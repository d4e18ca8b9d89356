/**
 * Reads the words after a subcommand by the flags that `sexton help` lists for it. Flags and other words come in any
 * order, as `--flag value` or `--flag=value`. A flag occurs at most once unless it may be repeated. After `--` no word
 * is a flag.
 */
import { type CommandFlag, tokensOf } from '../../config/arguments.ts';
import { didYouMean, nearest } from '../../config/notation/nearest.ts';
import { choice, type Parse, show } from '../../config/notation/parse.ts';
import { SextonError } from '../../text/errors.ts';
import { COMMANDS, type CommandName } from './commands.ts';

type FlagOf<Name extends CommandName> = (typeof COMMANDS)[Name]['flags'][number];
type ValueOf<Flag> = Flag extends { readonly isRepeated: true }
  ? readonly string[]
  : Flag extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : Flag extends { readonly takes: string }
      ? string
      : true;
export type FlagValues<Name extends CommandName> = { readonly [Flag in FlagOf<Name> as Flag['name']]?: ValueOf<Flag> };

export interface Arguments<Name extends CommandName> {
  readonly flags: FlagValues<Name>;
  /** Those that are neither flags nor their values. */
  readonly words: readonly string[];
}

export function readArguments<const Name extends CommandName>(
  subcommand: Name,
  args: readonly string[],
  maxWords = Number.POSITIVE_INFINITY,
): Arguments<Name> {
  const values: Values = new Map();
  const words: string[] = [];
  for (const token of tokensOf(COMMANDS[subcommand].flags, args)) {
    if (token.kind === 'positional') words.push(token.value);
    else if (token.kind === 'option') takeFlag(subcommand, token, values);
  }
  const extra = words[maxWords];
  if (extra !== undefined)
    throw badArguments(subcommand, `unexpected argument ${show(extra)}; see sexton ${subcommand} --help`);
  return { flags: Object.fromEntries(values) as FlagValues<Name>, words };
}

/** Reads the subcommand's own flags up to the first word that is none of them; `rest` begins there. */
export function readLeadingFlags<const Name extends CommandName>(
  subcommand: Name,
  args: readonly string[],
): { readonly flags: FlagValues<Name>; readonly rest: readonly string[] } {
  const values: Values = new Map();
  let end = args.length;
  for (const token of tokensOf(COMMANDS[subcommand].flags, args)) {
    if (token.kind !== 'option' || flagNamed(subcommand, token.name) === undefined) {
      end = token.index;
      break;
    }
    takeFlag(subcommand, token, values);
  }
  return { flags: Object.fromEntries(values) as FlagValues<Name>, rest: args.slice(end) };
}

/** Why the subcommand cannot do what it was asked. */
export function badArguments(subcommand: string, problem: string): SextonError {
  return new SextonError('badArguments', { subcommand, problem });
}

/** The parsed value. `label` is how a refusal names what was given. */
export function accepted<T>(subcommand: string, label: string, parsed: Parse<T>): T {
  if (!parsed.ok) throw badArguments(subcommand, `${label}: ${parsed.why}`);
  return parsed.value;
}

export const refusalOf = (subcommand: string) => (problem: string) => badArguments(subcommand, problem);

type Values = Map<string, string | true | readonly string[]>;

type FlagToken = Extract<ReturnType<typeof tokensOf>[number], { readonly kind: 'option' }>;

function takeFlag(subcommand: CommandName, token: FlagToken, values: Values): void {
  const { name, rawName, inlineValue } = token;
  // `-o=json`, as kubectl takes it: parseArgs leaves the equals sign of a short flag in the value.
  const value = rawName.startsWith('--') ? token.value : token.value?.replace(/^=/, '');
  const flag = flagNamed(subcommand, name);
  if (flag === undefined) throw badArguments(subcommand, unknownFlag(subcommand, rawName));
  const isMissing = !value || (!inlineValue && value.startsWith('--'));
  if (flag.takes === undefined && value !== undefined) throw badArguments(subcommand, `${rawName}: takes no value`);
  if (flag.takes !== undefined && isMissing)
    throw badArguments(subcommand, `${rawName}: needs a value; write ${rawName} ${flag.takes}`);
  if (flag.isRepeated && value) {
    values.set(name, [...((values.get(name) ?? []) as readonly string[]), value]);
    return;
  }
  const label = value === undefined ? rawName : `${rawName} ${show(value)}`;
  if (values.has(name)) throw badArguments(subcommand, `${label}: ${rawName} was given before; give it once`);
  const parsed = flag.choices && choice(flag.choices)(value ?? '');
  if (parsed?.ok === false) throw badArguments(subcommand, `${label}: ${parsed.why}`);
  values.set(name, value ?? true);
}

function flagNamed(subcommand: CommandName, name: string): CommandFlag | undefined {
  const flags: readonly CommandFlag[] = COMMANDS[subcommand].flags;
  return flags.find((flag) => flag.name === name);
}

function unknownFlag(subcommand: CommandName, word: string): string {
  const names = [...COMMANDS[subcommand].flags.map(({ name }) => name), 'help'];
  // The flag of the same meaning in other tools.
  const near = names.find((name) => name === 'output' && word === '--format') ?? nearest(word, names);
  return `unknown flag ${show(word)}; ${didYouMean(near && `--${near}`, `see sexton ${subcommand} --help`)}`;
}
