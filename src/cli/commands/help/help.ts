/**
 * `sexton help [topic]`, written from the table of flags.
 */

import { defaultTextOf, FLAGS, fileKeyOf, KEYS, type Key, variableOf } from '../../../config/flags.ts';
import { nearest } from '../../../config/notation/nearest.ts';
import { show } from '../../../config/notation/parse.ts';
import { HELP_FLAGS } from '../../../config/subcommand.ts';
import { print } from '../../../text/print.ts';
import { formatTable } from '../../../text/table.ts';
import { badArguments, readArguments } from '../arguments.ts';
import { COMMAND_NAMES, COMMANDS, type CommandHelp, type CommandName } from '../commands.ts';
import { manualPage } from './man.ts';
import { PROBES_TEXT, sidecarsText } from './topics.ts';

export async function help(args: readonly string[]): Promise<void> {
  await print(helpText(readArguments('help', args, 1).words[0]));
}

function helpText(topic: string | undefined): string {
  if (topic === undefined || HELP_FLAGS.includes(topic)) return `${usageText()}\n${TOPICS_LINE}\n`;
  const command = COMMAND_NAMES.find((name) => name === topic);
  if (command !== undefined) return commandText(command);
  const known = TOPIC_NAMES.find((name) => name === topic);
  if (known !== undefined) return TOPICS[known]();
  const names = [...COMMAND_NAMES, ...TOPIC_NAMES];
  const near = nearest(topic, names);
  const remedy = near === undefined ? `topics are ${names.join(', ')}` : `did you mean ${near}?`;
  throw badArguments('help', `unknown topic ${show(topic)}; ${remedy}`);
}

function usageText(): string {
  return Object.values<CommandHelp>(COMMANDS).map(headOf).join('');
}

function headOf({ usage, summary }: Pick<CommandHelp, 'usage' | 'summary'>): string {
  return `${usage.map((line) => `sexton ${line}\n`).join('')}    ${summary}\n`;
}

function commandText(name: CommandName): string {
  const { flags, more, ...head }: CommandHelp = COMMANDS[name];
  const own = flags.map(
    ({ name, takes, help }) => `--${name}${takes === undefined ? '' : ` ${takes}`}\n${wrapped(help)}`,
  );
  const rest = [own.join(''), more, name === 'run' ? flagsText() : undefined].filter(Boolean);
  return [headOf(head), ...rest].join('\n');
}

const TOPICS = {
  flags: flagsText,
  environment: environmentText,
  config: configText,
  probes: () => PROBES_TEXT,
  'exit-codes': () => EXIT_CODES,
  sidecars: () => sidecarsText(WIDTH),
  man: () => manualPage(defaultTextOf, EXIT_CODES),
} as const;
export const TOPIC_NAMES = Object.keys(TOPICS) as readonly (keyof typeof TOPICS)[];
const TOPICS_LINE = `sexton SUBCOMMAND --help tells more. Other topics of sexton help:\n${TOPIC_NAMES.join(', ')}.`;

export const EXIT_CODES = `the command's own code
128+n  the command was ended by signal n
125    sexton's own error: bad configuration, a start gate that timed out
126    the command was found but cannot be executed
127    the command was not found
0      a sidecar that was stopped because it should stop
--exit-code changes what the container exits with.
`;

function flagsText(): string {
  const config = `--config FILE\n    YAML or JSON; see sexton help config.\n`;
  return `A flag beats its environment variable, that beats the file.\n\n${KEYS.map(flagText).join('')}${config}`;
}

function flagText(key: Key): string {
  const { name, takes, help } = FLAGS[key];
  return `--${name} ${takes}\n${wrapped(help)}    Default: ${defaultTextOf(key)}.\n`;
}

function environmentText(): string {
  const rows = [...KEYS.map((key) => FLAGS[key].name), 'config'].map((name) => [variableOf(name), `--${name}`]);
  return `${formatTable(['VARIABLE', 'TWIN OF'], rows, WIDTH)}
An empty variable counts as not set. Any other SEXTON_ variable brings a
warning; a near miss of one of these is refused.
SEXTON_POD_UID (metadata.uid by the downward API) is the default of --session.
KUBEXIT_NAME, _GRAVEYARD, _DEATH_DEPS, _GRACE_PERIOD, _BIRTH_DEPS and
_BIRTH_TIMEOUT mean what they mean to kubexit where no twin of them is set.
KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT=true makes a sidecar.
`;
}

function configText(): string {
  const rows = KEYS.map((key) => [fileKeyOf(key), `--${FLAGS[key].name}`]);
  return `${formatTable(['KEY', 'TWIN OF'], rows, WIDTH)}
command and args are lists of texts, as in a Pod. Lists may be written as
lists, translations and maps as maps. A file in JSON is read a little faster.
startupProbe, readinessProbe, livenessProbe, lifecycle and ports are as in a
Pod, key for key, in place of the keys above that take a text. sexton schema
prints a JSON Schema, by which an editor completes the file:
# yaml-language-server: $schema=sexton.schema.json

command: [nginx, -g, daemon off;]
terminationGracePeriodSeconds: 30
drain: {min: 1s, quiet: 2s, max: 15s}
stop: auto
readinessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 5}
reload: [{path: /etc/nginx, signal: HUP, validate: [nginx, -t]}]
`;
}

function wrapped(text: string): string {
  const lines = text.match(new RegExp(`\\S.{0,${WIDTH - 6}}(?=\\s|$)`, 'g')) ?? [];
  return lines.map((line) => `    ${line}\n`).join('');
}

const WIDTH = 80;
