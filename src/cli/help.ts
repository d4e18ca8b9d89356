/**
 * `sexton help [topic]`, written from the table of flags.
 */
import { SextonError } from './errors.ts';
import type { Key } from './flag.ts';
import { FLAGS, fileKeyOf, KEYS, variableOf } from './flags.ts';
import { PROBES_TEXT } from './help-probes.ts';
import { sidecarsText } from './help-sidecars.ts';
import { nearest } from './nearest.ts';
import { show } from './parse.ts';
import { print } from './print.ts';
import { formatTable } from './table.ts';

export async function help(args: readonly string[]): Promise<void> {
  await print(helpText(args[0]));
}

function helpText(topic: string | undefined): string {
  if (topic === undefined) return `${USAGE}\n${TOPICS_LINE}\n`;
  const known = TOPIC_NAMES.find((name) => name === topic);
  if (known !== undefined) return TOPICS[known]();
  const near = nearest(topic, TOPIC_NAMES);
  const remedy = near === undefined ? `topics are ${TOPIC_NAMES.join(', ')}` : `did you mean ${near}?`;
  throw new SextonError('badArguments', { subcommand: 'help', problem: `${show(topic)}: no such topic; ${remedy}` });
}

const USAGE = `sexton [run] [flags] [--] command [args...]
    run a command: pass signals on, drain, stop in order, carve a tombstone
sexton status [--graveyard DIR] [--format table|json] [--wide]
    the members of this pod
sexton stop [--grace 5s] [--no-wait] [--graveyard DIR] [NAME...]
    ask all members of this pod, or those named, to stop, and wait for it
sexton quit [--timeout 10s] PRESET|URL...
    ask sidecars that run without sexton to leave: istio, linkerd, ..
sexton explain [--format table|json] [flags] [--] command [args...]
    the configuration that run would have here, and where each value came from
sexton install [--remove-old] DIR
    copy this sexton onto a volume, for other containers to run DIR/sexton
sexton schema
    the JSON Schema of a configuration file, for editors
sexton version
sexton help [topic]
`;

const TOPICS = {
  run: flagsText,
  flags: flagsText,
  environment: environmentText,
  config: configText,
  probes: () => PROBES_TEXT,
  'exit-codes': () => EXIT_CODES,
  stop: () => STOP,
  sidecars: () => sidecarsText(WIDTH),
} as const;
const TOPIC_NAMES = Object.keys(TOPICS) as readonly (keyof typeof TOPICS)[];
const TOPICS_LINE = `Topics of help: ${TOPIC_NAMES.join(', ')}.`;

const EXIT_CODES = `the command's own code
128+n  the command was ended by signal n
125    sexton's own error: bad configuration, a start gate that timed out
126    the command was found but cannot be executed
127    the command was not found
0      a sidecar that was stopped because it should stop
--exit-code changes what the container exits with.
`;

const STOP = `sexton stop asks by a file in the graveyard, so it works in any container of
the pod and under any uid that may write there. Members that are asked together
stop in order and within one deadline, as when the pod is deleted: the declared
grace period, or --grace; a shorter one that comes later counts, a longer one
does not. Members that are not named go on.

One line per member that has died; --no-wait only asks.
Exit code 0: all are dead. 1: the grace period is over and one still lives.
125: nobody to ask, an unknown name, a graveyard that cannot be written.

Called by a process of a member that it stops, it may be ended with it while it
waits. The platform may start containers again that were stopped in this way.
`;

function flagsText(): string {
  const config = `--config FILE\n    YAML or JSON; see sexton help config.\n`;
  return `A flag beats its environment variable, that beats the file.\n\n${KEYS.map(flagText).join('')}${config}`;
}

function flagText(key: Key): string {
  const { name, takes, help } = FLAGS[key];
  return `--${name} ${takes}\n${wrapped(help)}    Default: ${defaultText(key)}.\n`;
}

function defaultText(key: Key): string {
  const { default: value, defaultNote } = FLAGS[key];
  if (typeof value === 'object') return `main ${value.main}, sidecar ${value.sidecar}`;
  return value ?? defaultNote ?? 'none';
}

function environmentText(): string {
  const rows = [...KEYS.map((key) => FLAGS[key].name), 'config'].map((name) => [variableOf(name), `--${name}`]);
  return `${formatTable(['VARIABLE', 'TWIN OF'], rows, WIDTH)}
An empty variable counts as not set. Any other SEXTON_ variable is refused.
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
drain: 5s
signals: {TERM: QUIT}
readinessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 5}
reload: [{path: /etc/nginx, signal: HUP, validate: [nginx, -t]}]
`;
}

function wrapped(text: string): string {
  const lines = text.match(new RegExp(`\\S.{0,${WIDTH - 6}}(?=\\s|$)`, 'g')) ?? [];
  return lines.map((line) => `    ${line}\n`).join('');
}

const WIDTH = 80;
