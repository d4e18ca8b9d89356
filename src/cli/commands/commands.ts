/**
 * The one table of subcommands: how each is called, what it does, its flags, and the file that runs it. The command
 * line, `sexton help`, the completions and the manual page all read it.
 */
import { CHECK_FORMATS, TIMELINES } from '../../check/formats/names.ts';
import { type CommandFlag, INSTALL_FLAGS } from '../../config/arguments.ts';
import { DELIVERIES } from '../../inject/delivery.ts';

export interface CommandHelp {
  readonly usage: readonly [string, ...string[]];
  readonly summary: string;
  /** Those of `run` have a table of their own: flags.ts. */
  readonly flags: readonly CommandFlag[];
  readonly more?: string;
}

const GRAVEYARD = {
  name: 'graveyard',
  takes: 'DIR',
  help: 'The shared directory. Default: that of PID 1 of this container, else /graveyard.',
} as const satisfies CommandFlag;
const OUTPUT = {
  name: 'output',
  short: 'o',
  takes: 'text|json',
  choices: ['text', 'json'],
  help: 'Default: text.',
} as const satisfies CommandFlag;
const NO_WAIT = { name: 'no-wait', help: 'Ask, and return at once.' } as const satisfies CommandFlag;
const STOP = `It asks by a file in the graveyard, so it works in any container of the pod and
under any uid that may write there. Without a graveyard PID 1 gets the stop
signal, and NAME and --grace are refused. Members that are asked together stop
in order and within one deadline, as when the pod is deleted: the declared grace
period, or --grace; a shorter one that comes later counts, a longer one does
not. Members that are not named go on.

One line per member that has died; --no-wait only asks.
Exit code 0: all are dead. 1: the grace period is over and one still lives.
125: no member to ask, an unknown name, a graveyard that cannot be written.

Called in a container that it stops, it ends with that container while it waits:
exit code 137. The platform may start such containers again.
`;
const RESTART = `All stop as in a stop of the pod: drain, order, pre-stop hook, ladder, one
deadline. When the last command has ended all start again in place, behind their
start gates; no container ends. NAME: only those, and whoever started after
them. A stop of the pod, or sexton stop, beats it at any moment. It needs a
graveyard.

One line per member that has started again; --no-wait only asks.
Exit code 0: all have started again, or have ended for good. 1: one has not in
time. 125: no member to ask, an unknown name, or a graveyard that is not there
or cannot be written.
`;
export const REPORT_FORMATS = ['text', 'html', 'svg', 'json', 'perfetto'] as const;
const REPORT = `SOURCE is a graveyard, a file, or - for standard input. It may hold tombstones,
pods as kubectl get pods -o json (or yaml) prints them, or logs of containers,
also as Docker, CRI, Loki and journald wrap them:

kubectl get pod web-0 -o json | sexton report -
kubectl logs -l app=web --prefix | sexton report -

Without a SOURCE it reads the graveyard of this pod. Of many pods it prints
figures by workload. svg draws one pod.
Exit code 0: reported. 1: what --fail-on names has happened.
125: nothing to read.
`;
const CHECK_LEVELS = ['error', 'warning', 'info', 'never'] as const;
const CHECK = `An input is a file, a directory, or - for standard input: manifests of
Kubernetes in YAML or JSON, Compose files, Dockerfiles. Nothing is asked over
the network.

sexton check manifests/
helm template . | sexton check -
sexton check -o sarif=check.sarif -o text manifests/

A file .sexton-check.yaml in this directory or above it has the same keys.
Exit code 0: nothing at --fail-on or above. 1: there is. 2: an input could not
be read, or has nothing to check; all others were checked. 125: wrong flags.
`;

const IMAGES = `An input is what podman image inspect or docker image inspect prints, what
podman save or docker save writes, an OCI layout, or - for one of them on
standard input. Only a label that names a well-known base image tells which
shell /bin/sh is.

podman save example.com/web:1 | sexton images lock -o images.json -
docker image inspect web:1 api:1 | sexton images lock -o images.json -
sexton images lock -o images.json example.com/web:1=layout/

crane config web:1 | sexton images lock --check -o images.json web:1=-

NAME= names an image that has no name of its own, as skopeo and crane write it.
Exit code 0: all was read. 1: --check has found a difference. 2: an input could
not be read; all others were.
125: wrong flags, or the output cannot be written.
`;

const IN_PLACE = { name: 'in-place', help: 'Write the files, and print nothing.' } as const satisfies CommandFlag;
const INJECT = `Every byte of the manifests that is not inserted stays. What an earlier inject
has put in is taken out first. stderr has one line for each container.

docker image inspect web:1 | sexton images lock -o images.json -
sexton inject --image example.com/sexton:1 --images images.json --in-place k8s/
helm template . | sexton inject --image example.com/sexton:1 -
sexton inject --image example.com/sexton:1 --images images.json -o policy |
  kubectl apply -f -

The policy lets the API server of Kubernetes 1.36 inject each new pod.
Annotations of a pod say more: inject.sexton.dev/inject: disabled,
inject.sexton.dev/role.CONTAINER: main, sidecar or skip, and each flag of run,
as in inject.sexton.dev/drain: 5s or inject.sexton.dev/drain.CONTAINER: 5s.
Exit code 0: done. 1: a pod was refused, or an input cannot be read; it is left
as it is, and all others are done. 125: wrong flags.
`;
const UNINJECT = `Exit code 0: done. 1: what was put in has been changed since, or an input cannot
be read; it is left as it is, and all others are done. 125: wrong flags.
`;

export const COMMANDS = {
  run: {
    usage: ['run [flags] [--] command [args...]', '[flags] -- command [args...]'],
    summary: 'run a command: pass signals on, drain, stop in order, write a tombstone',
    flags: [],
  },
  status: {
    usage: ['status [--graveyard DIR] [-o text|json] [--wide] [--watch]', 'status --check [--graveyard DIR] [NAME]'],
    summary: 'show the members of this pod',
    flags: [
      GRAVEYARD,
      OUTPUT,
      { name: 'wide', help: 'Do not cut what is wider than the terminal.' },
      { name: 'watch', help: 'Show it again every second, until Control-C.' },
      { name: 'check', help: 'One line, and exit code 0 if NAME is healthy. Default: the member of this container.' },
    ],
    more: 'Without a graveyard it shows the one member of this container, by --http where\nthat is on. Exit code 0: shown; with --check: the member is healthy. 1: with\n--check: it is not, or there is none. 125: it is not known. In a Dockerfile:\nHEALTHCHECK CMD ["/sexton/sexton", "status", "--check"]\n',
  },
  stop: {
    usage: ['stop [--grace 5s] [--no-wait] [--graveyard DIR] [NAME...]'],
    summary: 'ask all members of this pod, or those named, to stop, and wait for it',
    flags: [
      { name: 'grace', takes: 'TIME', help: 'The time they get, such as 5s. Default: what each has declared.' },
      NO_WAIT,
      GRAVEYARD,
    ],
    more: STOP,
  },
  restart: {
    usage: ['restart [--grace 20s] [--by-rule 88] [--no-wait] [NAME...]'],
    summary: 'stop all members of this pod, or those named, and start them again in place',
    flags: [
      {
        name: 'grace',
        takes: 'TIME',
        help: 'The time they get to stop, such as 20s. Default: what each has declared.',
      },
      {
        name: 'by-rule',
        takes: 'CODE',
        help: 'When all have ended the member with a restart rule CODE=restart-all exits with CODE: init containers run again.',
      },
      NO_WAIT,
      GRAVEYARD,
    ],
    more: RESTART,
  },
  quit: {
    usage: ['quit [--timeout 10s] PRESET|URL...'],
    summary: 'ask sidecars that run without sexton to leave: istio, linkerd, ..',
    flags: [{ name: 'timeout', takes: 'TIME', help: 'How long each may take. Default: 10s.' }],
    more: 'Presets: sexton help sidecars. Exit code 0: all have left. 1: one has not.\n125: an unknown name.\n',
  },
  explain: {
    usage: ['explain [-o text|json] [flags] [--] command [args...]'],
    summary: 'show the configuration that run would have here, and where it came from',
    flags: [OUTPUT],
    more: 'The other flags are those of run: sexton help flags. Nothing is started.\nExit code 0: run would start. 125: it would refuse; the message says why.\n',
  },
  begin: {
    usage: ['begin [--graveyard DIR]'],
    summary: 'in an init container: what earlier runs of this pod left counts no more',
    flags: [
      { name: 'graveyard', takes: 'DIR', help: 'The shared directory. Default: SEXTON_GRAVEYARD, else /graveyard.' },
    ],
    more: `Run it in the first init container of a pod whose rules restart all containers.
Init containers run again then, so each run gets a generation of its own.
Exit code 0: it is written. 125: it is not; the message says why.
`,
  },
  install: {
    usage: ['install [--remove-old] [--expect sha256:DIGEST] [--graveyard DIR] DIR'],
    summary: 'copy this sexton onto a volume, for other containers to run DIR/sexton',
    flags: INSTALL_FLAGS,
    more: 'Exit code 0: DIR/sexton is complete. 125: it is not; the message says why.\n',
  },
  report: {
    usage: [
      'report [-o FORMAT] [--fail-on forced,late] [--graveyard DIR] [SOURCE...]',
      'report [-o FORMAT] --against FILE [SOURCE...]',
      'report --watch [DIR]',
    ],
    summary: 'show how this pod stopped, or many pods: what, when, why, what took the time',
    flags: [
      {
        name: 'output',
        short: 'o',
        takes: 'FORMAT',
        choices: REPORT_FORMATS,
        help: `One of ${REPORT_FORMATS.join(', ')}. Default: text.`,
      },
      {
        name: 'against',
        takes: 'FILE',
        help: 'Set beside it what this manifest, or directory of manifests, lets expect.',
      },
      { name: 'fail-on', takes: 'forced,late', help: 'Exit with 1 when KILL was needed, or a deadline was missed.' },
      { name: 'watch', help: 'Show this pod again every second until all of its members have ended.' },
      GRAVEYARD,
    ],
    more: REPORT,
  },
  check: {
    usage: ['check [flags] FILE|DIR|-...', 'check --explain SX101', 'check --list-rules'],
    summary: 'know before you deploy how pods will stop: too slowly, killed, cut off',
    flags: [
      {
        name: 'output',
        short: 'o',
        takes: 'FORMAT[=FILE]',
        choices: CHECK_FORMATS,
        isRepeated: true,
        help: `One of ${CHECK_FORMATS.join(', ')}. May be given several times. Default: text.`,
      },
      {
        name: 'fail-on',
        takes: 'SEVERITY',
        choices: CHECK_LEVELS,
        help: 'Exit with 1 from this severity on. Default: error.',
      },
      {
        name: 'only',
        takes: 'SX1,SX201',
        isRepeated: true,
        help: 'Only these rules, by their ids or how these begin.',
      },
      { name: 'skip', takes: 'SX3,SX403', isRepeated: true, help: 'All but these rules.' },
      {
        name: 'severity',
        takes: 'SX301=error',
        isRepeated: true,
        help: 'Another severity for a rule: error, warning, info.',
      },
      { name: 'kubernetes-version', takes: '1.36', help: 'The version of the cluster. Default: not known.' },
      {
        name: 'scenario',
        takes: 'NAME=SECONDS',
        help: 'Check against less time, too: spot=25,node-shutdown=30/15,compose. Default: the grace period alone.',
      },
      { name: 'images', takes: 'FILE', help: 'What images say, by sexton images lock.' },
      { name: 'baseline', takes: 'FILE', help: 'Leave out what this file of an earlier -o json=FILE has.' },
      {
        name: 'timeline',
        takes: 'FORMAT',
        choices: TIMELINES,
        help: `How stops are drawn: ${TIMELINES.join(', ')}. svg is a picture of one workload, html a page of all; they are printed in the place of the findings. Default: text.`,
      },
      { name: 'allow-empty', help: 'Pass over inputs that have nothing to check.' },
      { name: 'fix', help: 'Repair warnings and errors, in the files; with --fail-on info or --only also infos.' },
      { name: 'diff', help: 'Print what --fix would change.' },
      { name: 'list-rules', help: 'Print all rules.' },
      { name: 'explain', takes: 'RULE', help: 'Print why a rule is there, and an example.' },
      { name: 'schema', help: 'Print the JSON Schema of -o json.' },
    ],
    more: CHECK,
  },
  images: {
    usage: ['images lock [--check] [-o FILE] [NAME=]FILE|DIR|-...'],
    summary: 'write down what images say, for sexton check --images',
    flags: [
      { name: 'output', short: 'o', takes: 'FILE', help: 'Where to write it. Default: standard output.' },
      { name: 'check', help: 'Write nothing, and fail where an image is not as the file of -o has it.' },
    ],
    more: IMAGES,
  },
  inject: {
    usage: [
      'inject --image REF [flags] FILE|DIR|-',
      'inject --image REF [flags] --print-helm-plugin DIR',
      'inject --image REF --images FILE -o policy [--strict]',
    ],
    summary: 'put sexton into the pods of manifests, in front of their commands',
    flags: [
      { name: 'image', takes: 'REF', help: 'The image of sexton, as the nodes pull it.' },
      { name: 'images', takes: 'FILE', help: 'What images start, by sexton images lock.' },
      {
        name: 'deliver',
        takes: DELIVERIES.join('|'),
        choices: DELIVERIES,
        help: 'How sexton gets into the containers. Default: init-container. An image volume needs Kubernetes 1.35, and containerd 2.2 or CRI-O 1.33.',
      },
      {
        name: 'output',
        short: 'o',
        takes: 'diff|json|policy',
        choices: ['diff', 'json', 'policy'],
        help: 'A patch, what becomes of each container, or an admission policy. Default: the manifests.',
      },
      IN_PLACE,
      { name: 'skip-unresolved', help: 'Pass over pods with an image that the lock does not have.' },
      {
        name: 'print-helm-plugin',
        takes: 'DIR',
        help: 'Write a post-renderer for Helm 4 there, which does the same with what a chart renders to.',
      },
      { name: 'strict', help: 'The policy refuses pods that it cannot inject. Default: it warns.' },
    ],
    more: INJECT,
  },
  uninject: {
    usage: ['uninject [--in-place] FILE|DIR|-'],
    summary: 'take out of manifests what inject has put in, to the byte',
    flags: [IN_PLACE],
    more: UNINJECT,
  },
  completion: {
    usage: ['completion bash|zsh|fish'],
    summary: 'print what completes the words of sexton in that shell',
    flags: [],
    more: 'bash:  source <(sexton completion bash)\nzsh:   source <(sexton completion zsh)\nfish:  sexton completion fish | source\n',
  },
  schema: {
    usage: ['schema [report]'],
    summary: 'print the JSON Schema of a configuration file, or of what report prints',
    flags: [],
  },
  version: {
    usage: ['version [--json | --spdx]'],
    summary: 'print the version, and the commit that it was built from',
    flags: [
      { name: 'json', help: 'As JSON, with all parts of the sexton directory.' },
      {
        name: 'spdx',
        help: 'The bill of materials of the sexton directory in SPDX 2.3; sbom.cdx.json has it in CycloneDX.',
      },
    ],
  },
  help: { usage: ['help [TOPIC]'], summary: 'print this, or one topic; every subcommand is a topic, too', flags: [] },
} as const satisfies Readonly<Record<string, CommandHelp>>;

export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = Object.keys(COMMANDS) as readonly CommandName[];
