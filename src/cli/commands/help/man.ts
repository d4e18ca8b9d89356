/**
 * The topic `man` of `sexton help`: the manual page, written from the tables of subcommands and flags.
 */

import { FLAGS, KEYS, type Key, variableOf } from '../../../config/flags.ts';
import { COMMAND_NAMES, COMMANDS, type CommandHelp } from '../commands.ts';

/** `defaultOf` and `exitCodes` are those of `sexton help`. */
export function manualPage(defaultOf: (key: Key) => string, exitCodes: string): string {
  const lines = [
    '.TH SEXTON 1 "" "" "User Commands"',
    '.nh',
    '.ad l',
    '.SH NAME',
    'sexton \\- container entrypoint: signals, drain, and the stop order of a pod',
    '.SH SYNOPSIS',
    ...COMMAND_NAMES.flatMap((name) => COMMANDS[name].usage.flatMap((usage) => [`.B sexton ${roff(usage)}`, '.br'])),
    '.SH SUBCOMMANDS',
    ...COMMAND_NAMES.flatMap((name) => subcommand(name, COMMANDS[name])),
    '.SH FLAGS OF RUN',
    'A flag beats its environment variable, which beats the key in the configuration file.',
    ...KEYS.flatMap((key) => runFlag(key, defaultOf(key))),
    ...entry('--config FILE', 'YAML or JSON; see sexton help config.'),
    '.SH EXIT STATUS',
    ...block(exitCodes),
    '.SH SEE ALSO',
    'sexton help TOPIC prints more: environment, config, probes, sidecars.',
  ];
  return `${lines.join('\n')}\n`;
}

function subcommand(name: string, { summary, flags, more }: CommandHelp): string[] {
  return [
    `.SS ${roff(name)}`,
    roff(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    ...flags.flatMap(({ name: flag, takes, help }) =>
      entry(`--${flag}${takes === undefined ? '' : ` ${takes}`}`, help),
    ),
    ...(more === undefined ? [] : block(more)),
  ];
}

function runFlag(key: Key, defaultText: string): string[] {
  const { name, takes, help } = FLAGS[key];
  return entry(`--${name} ${takes}`, `${help} Default: ${defaultText}. Environment: ${variableOf(name)}.`);
}

function entry(head: string, text: string): string[] {
  return ['.TP', `.B ${roff(head)}`, roff(text)];
}

/** Keeps the line ends. */
function block(text: string): string[] {
  return ['.PP', '.nf', ...text.trimEnd().split('\n').map(roff), '.fi'];
}

function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
