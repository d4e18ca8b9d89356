/** `sexton help [topic]`, written from the tables of subcommands and flags. */
import type { CommandFlag } from '../../../config/arguments.ts';
import { CONFIG_FLAG, defaultTextOf, FLAGS, fileKeyOf, KEYS, type Key, variableOf } from '../../../config/flags.ts';
import { didYouMean, nearest } from '../../../config/notation/nearest.ts';
import { show } from '../../../config/notation/parse.ts';
import { SIDECARS } from '../../../config/notation/sidecars.ts';
import { HELP_FLAGS } from '../../../config/subcommand.ts';
import { print } from '../../../text/print.ts';
import { formatTable } from '../../../text/table.ts';
import { badArguments, readArguments } from '../arguments.ts';
import { COMMAND_NAMES, COMMANDS, type CommandHelp, type CommandName } from '../commands.ts';

export async function help(args: readonly string[]): Promise<void> {
  await print(helpText(readArguments('help', args, 1).words[0]));
}

function helpText(topic: string | undefined): string {
  if (topic === undefined || HELP_FLAGS.includes(topic))
    return `${Object.values<CommandHelp>(COMMANDS).map(headOf).join('')}\n${TOPICS_LINE}\n`;
  const command = COMMAND_NAMES.find((name) => name === topic);
  if (command !== undefined) return commandText(command);
  const known = TOPIC_NAMES.find((name) => name === topic);
  if (known !== undefined) return TOPICS[known]();
  const names = [...COMMAND_NAMES, ...TOPIC_NAMES];
  const remedy = didYouMean(nearest(topic, names), `topics are ${names.join(', ')}`);
  throw badArguments('help', `unknown topic ${show(topic)}; ${remedy}`);
}

function headOf({ usage, summary }: Pick<CommandHelp, 'usage' | 'summary'>): string {
  return `${usage.map((line) => `sexton ${line}\n`).join('')}    ${summary}\n`;
}

function commandText(name: CommandName): string {
  const { flags, more, ...head }: CommandHelp = COMMANDS[name];
  const rest = [flags.map(flagText).join(''), more, name === 'run' ? flagsText() : undefined].filter(Boolean);
  return [headOf(head), ...rest].join('\n');
}

const WIDTH = 80;

const TOPICS = {
  flags: flagsText,
  environment: environmentText,
  config: configText,
  probes: () => PROBES_TEXT,
  'exit-codes': () => EXIT_CODES,
  sidecars: sidecarsText,
  man: manualPage,
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

export const OTHER_VARIABLES = `An empty variable counts as not set. Any other SEXTON_ variable brings a
warning; a near miss of one of these is refused.
SEXTON_POD_UID (metadata.uid by the downward API) is the default of --session.
KUBEXIT_NAME, _GRAVEYARD, _DEATH_DEPS, _GRACE_PERIOD, _BIRTH_DEPS and
_BIRTH_TIMEOUT mean what they mean to kubexit where no twin of them is set.
KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT=true makes a sidecar.
OTEL_SERVICE_NAME is the name of the service in the traces of --otlp.
`;

function flagsText(): string {
  const own = KEYS.map((key) => `${flagText(FLAGS[key])}    Default: ${defaultTextOf(key)}.\n`);
  return `A flag beats its environment variable, that beats the file.\n\n${own.join('')}${flagText(CONFIG_FLAG)}`;
}

function flagText(flag: CommandFlag): string {
  return `${flagHead(flag)}\n${wrapped(flag.help)}`;
}

function flagHead({ name, takes }: CommandFlag): string {
  return `--${name}${takes === undefined ? '' : ` ${takes}`}`;
}

function environmentText(): string {
  const flags = [...KEYS.map((key) => FLAGS[key]), CONFIG_FLAG];
  const rows = flags.map(({ name }) => [variableOf(name), `--${name}`]);
  return `${formatTable(['VARIABLE', 'TWIN OF'], rows, WIDTH)}\n${OTHER_VARIABLES}`;
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

/** The notation of probes, hooks and reloads. */
const PROBES_TEXT = `PROBE of --startup, --readiness, --liveness:
    exec:COMMAND                  exit code 0
    http://HOST:PORT/PATH         status 200 to 399; or https://, unchecked
    tcp://HOST:PORT               a connection is accepted
    grpc://HOST:PORT/SERVICE      grpc.health.v1.Health says SERVING
    Without HOST it is 127.0.0.1: http://:8080/healthz, grpc://:50051.

Options behind it, with Kubernetes' defaults:
    ,period=10s      from one probe to the next
    ,timeout=1s      how long one may take
    ,failures=3      so many in a row count as one
    ,successes=1     so many in a row count as one; startup, liveness: only 1
    ,delay=0         from the start of the command to the first probe
    ,grace=30s       startup, liveness: the time for the stop they lead to;
                     without it the grace period
    ,header='Accept: text/plain'    http only, may be given several times

HOOK of --post-start, --pre-stop:
    exec:COMMAND, http://HOST:PORT/PATH, POST http://HOST:PORT/PATH,
    tcp://HOST:PORT, sleep:5s; of the options only header

COMMAND is split into words as a shell does it, by blanks, quotes and
backslashes, but no shell runs it and nothing is expanded. For a shell:
    --liveness "exec:sh -c 'test -e /tmp/ok || exit 1',period=5s"
Options begin at the first comma outside quotes that is followed by the name of
one and =. Quote a comma that belongs to the command; in a URL write %2C.

--reload PATH=SIGNAL or PATH=SIGNAL,validate=COMMAND, several in a flag each; in
SEXTON_RELOAD on a line each. COMMAND goes to the end of the line.
`;

function sidecarsText(): string {
  const rows = Object.entries(SIDECARS).map(([name, { quit, ready }]) => [
    name,
    `:${quit.port}${quit.paths.at(-1)}`,
    `:${ready.port}${ready.path.replace(/\?.*/, '')}`,
  ]);
  return `${formatTable(['NAME', 'QUIT: POST', 'READY: GET'], rows, WIDTH)}
Sidecars that run without sexton, on 127.0.0.1. NAME:PORT for another port; or
a URL: --quit http://:8080/quit, --start-after http://:8080/up=ready.

--quit NAME: when the main's life is over, well or not, it is asked to leave.
sexton quit NAME: the same by hand. One line per sidecar; exit code 0: all have
gone. 1: one was asked in vain. 125: an unknown name.
--start-after NAME=ready: the command starts once it is ready; NAME=ready? does
not wait where nothing listens.
`;
}

/** For man(1). */
export function manualPage(): string {
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
    ...KEYS.flatMap(runFlag),
    ...entry(flagHead(CONFIG_FLAG), CONFIG_FLAG.help),
    '.SH EXIT STATUS',
    ...block(EXIT_CODES),
    '.SH SEE ALSO',
    'sexton help TOPIC prints more: environment, config, probes, sidecars.',
  ];
  return `${lines.join('\n')}\n`;
}

function subcommand(name: string, { summary, flags, more }: CommandHelp): string[] {
  return [
    `.SS ${roff(name)}`,
    roff(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    ...flags.flatMap((flag) => entry(flagHead(flag), flag.help)),
    ...(more === undefined ? [] : block(more)),
  ];
}

function runFlag(key: Key): string[] {
  const { name, help } = FLAGS[key];
  return entry(flagHead(FLAGS[key]), `${help} Default: ${defaultTextOf(key)}. Environment: ${variableOf(name)}.`);
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
