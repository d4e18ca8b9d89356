/**
 * Which subcommand a command line means. sexton-init decides by the same rule whether it supervises or just runs Node
 * in its own place: `run`, `--` and flags are supervised; other first words, `--help` and `--version` are not.
 */
import { nearest } from './notation/nearest.ts';

export type Subcommand =
  | { readonly name: 'run' }
  | {
      readonly name:
        | 'status'
        | 'stop'
        | 'restart'
        | 'quit'
        | 'begin'
        | 'install'
        | 'explain'
        | 'report'
        | 'check'
        | 'images'
        | 'completion'
        | 'schema'
        | 'version'
        | 'help';
      readonly args: readonly string[];
    }
  | { readonly name: 'unknown'; readonly word: string; readonly near: string | undefined };

export function subcommandOf(argv: readonly string[]): Subcommand {
  const [first, ...args] = argv;
  if (HELP_FLAGS.includes(first ?? '')) return { name: 'help', args };
  if (asksForHelp(first, args)) return { name: 'help', args: [first] };
  const flag = first === 'run' ? args[0] : first;
  if (flag === '--version' || flag === '-V') return { name: 'version', args: [] };
  switch (first) {
    // Without any word `run` says that no command is given.
    case undefined:
    case 'run':
      return { name: 'run' };
    case 'status':
    case 'stop':
    case 'restart':
    case 'quit':
    case 'begin':
    case 'install':
    case 'explain':
    case 'report':
    case 'check':
    case 'images':
    case 'completion':
    case 'schema':
    case 'version':
    case 'help':
      return { name: first, args };
    default:
      if (first.startsWith('-')) return { name: 'run' };
      return { name: 'unknown', word: first, near: nearest(first, SUBCOMMANDS) };
  }
}

export const HELP_FLAGS: readonly string[] = ['--help', '-h'];

/** After the first word of `run` and `explain` a command may stand, with a --help of its own. */
function asksForHelp(first: string | undefined, args: readonly string[]): first is (typeof SUBCOMMANDS)[number] {
  if (!SUBCOMMANDS.some((name) => name === first)) return false;
  const own = first === 'run' || first === 'explain' ? args.slice(0, 1) : args;
  return own.some((word) => HELP_FLAGS.includes(word));
}

const SUBCOMMANDS = [
  'run',
  'status',
  'stop',
  'restart',
  'quit',
  'begin',
  'install',
  'explain',
  'report',
  'check',
  'images',
  'completion',
  'schema',
  'version',
  'help',
] as const;
