/**
 * The subcommands as `sexton help` describes them: how each is called, what it does, its flags. Completions are made from
 * the same table.
 */
export interface CommandFlag {
  readonly name: string;
  /** What its value looks like; undefined: it takes none. */
  readonly takes?: string;
  readonly help: string;
  /** All values that are right. */
  readonly choices?: readonly string[];
}

export interface CommandHelp {
  /** What follows `sexton`. */
  readonly usage: readonly [string, ...string[]];
  /** One line. */
  readonly summary: string;
  /** Those of `run` have a table of their own: flags.ts. */
  readonly flags: readonly CommandFlag[];
  readonly more?: string;
}

const GRAVEYARD: CommandFlag = {
  name: 'graveyard',
  takes: 'DIR',
  help: 'The shared directory. Default: that of PID 1 of this container, else /graveyard.',
};
const STOP = `It asks by a file in the graveyard, so it works in any container of the pod and
under any uid that may write there. Members that are asked together stop in
order and within one deadline, as when the pod is deleted: the declared grace
period, or --grace; a shorter one that comes later counts, a longer one does
not. Members that are not named go on.

One line per member that has died; --no-wait only asks.
Exit code 0: all are dead. 1: the grace period is over and one still lives.
125: nobody to ask, an unknown name, a graveyard that cannot be written.

Called by a process of a member that it stops, it may be ended with it while it
waits. The platform may start containers again that were stopped in this way.
`;
const FORMATS = ['table', 'json'] as const;
/** What `report` draws. */
export const REPORT_FORMATS = ['text', 'html', 'svg', 'json', 'mermaid', 'markdown', 'perfetto'] as const;
const REPORT = `SOURCE is a graveyard, a file, or - for standard input. It may hold tombstones,
pods as kubectl get pods -o json (or yaml) prints them, or logs of containers,
also as Docker, CRI, Loki and journald wrap them:

kubectl get pod web-0 -o json | sexton report -
kubectl logs -l app=web --prefix | sexton report -

Without a SOURCE it reads the graveyard of this pod. Of many pods it prints
figures by workload. svg and mermaid draw one pod.
Exit code 0: reported. 1: what --fail-on names has happened.
125: nothing to read.
`;

export const COMMANDS = {
  run: {
    usage: ['run [flags] [--] command [args...]', '[flags] -- command [args...]'],
    summary: 'run a command: pass signals on, drain, stop in order, write a tombstone',
    flags: [],
  },
  status: {
    usage: [
      'status [--graveyard DIR] [--format table|json] [--wide] [--watch]',
      'status --check [--graveyard DIR] [NAME]',
    ],
    summary: 'show the members of this pod',
    flags: [
      GRAVEYARD,
      { name: 'format', takes: 'table|json', choices: FORMATS, help: 'Default: table.' },
      { name: 'wide', help: 'Do not cut what is wider than the terminal.' },
      { name: 'watch', help: 'Show it again every second, until Control-C.' },
      { name: 'check', help: 'One line, and exit code 0 if NAME is healthy. Default: the member of this container.' },
    ],
    more: 'Exit code 0: the graveyard was read; with --check: the member is healthy.\n1: with --check: it is not, or not yet, or there is none. 125: the graveyard\ncannot be read. In a Dockerfile:\nHEALTHCHECK CMD ["/sexton/sexton", "status", "--check"]\n',
  },
  stop: {
    usage: ['stop [--grace 5s] [--no-wait] [--graveyard DIR] [NAME...]'],
    summary: 'ask all members of this pod, or those named, to stop, and wait for it',
    flags: [
      { name: 'grace', takes: 'TIME', help: 'The time they get, such as 5s. Default: what each has declared.' },
      { name: 'no-wait', help: 'Ask, and return at once.' },
      GRAVEYARD,
    ],
    more: STOP,
  },
  quit: {
    usage: ['quit [--timeout 10s] PRESET|URL...'],
    summary: 'ask sidecars that run without sexton to leave: istio, linkerd, ..',
    flags: [{ name: 'timeout', takes: 'TIME', help: 'How long each may take. Default: 10s.' }],
    more: 'Presets: sexton help sidecars. Exit code 0: all have left. 1: one has not.\n125: an unknown name.\n',
  },
  explain: {
    usage: ['explain [--format table|json] [flags] [--] command [args...]'],
    summary: 'show the configuration that run would have here, and where it came from',
    flags: [{ name: 'format', takes: 'table|json', choices: FORMATS, help: 'Default: table.' }],
    more: 'The other flags are those of run: sexton help flags. Nothing is started.\nExit code 0: run would start. 125: it would refuse; the message says why.\n',
  },
  begin: {
    usage: ['begin [--graveyard DIR]'],
    summary: 'in an init container: what earlier runs of this pod left counts no more',
    flags: [{ name: 'graveyard', takes: 'DIR', help: 'The shared directory. Default: /graveyard.' }],
    more: `Run it in the first init container of a pod whose rules restart all containers.
Init containers run again then, so each run gets a generation of its own.
Exit code 0: it is written. 125: it is not; the message says why.
`,
  },
  install: {
    usage: ['install [--remove-old] [--graveyard DIR] DIR'],
    summary: 'copy this sexton onto a volume, for other containers to run DIR/sexton',
    flags: [
      { name: 'remove-old', help: 'Remove what an older sexton left there, even if something may still run from it.' },
      {
        name: 'graveyard',
        takes: 'DIR',
        help: 'The shared directory: begin a generation there, as sexton begin does.',
      },
    ],
    more: 'Exit code 0: DIR/sexton is complete. 125: it is not; the message says why.\n',
  },
  report: {
    usage: ['report [-o FORMAT] [--fail-on forced,late] [--graveyard DIR] [SOURCE...]'],
    summary: 'show how this pod stopped, or many pods: who, when, why, what took the time',
    flags: [
      {
        name: 'output',
        takes: 'FORMAT',
        choices: REPORT_FORMATS,
        help: `One of ${REPORT_FORMATS.join(', ')}. Default: text.`,
      },
      { name: 'fail-on', takes: 'forced,late', help: 'Exit with 1 when KILL was needed, or a deadline was missed.' },
      GRAVEYARD,
    ],
    more: REPORT,
  },
  completion: {
    usage: ['completion bash|zsh|fish'],
    summary: 'print what completes the words of sexton in that shell',
    flags: [],
    more: 'bash:  source <(sexton completion bash)\nzsh:   source <(sexton completion zsh)\nfish:  sexton completion fish | source\n',
  },
  schema: {
    usage: ['schema'],
    summary: 'print the JSON Schema of a configuration file, for editors',
    flags: [],
  },
  version: {
    usage: ['version'],
    summary: 'print the version, and the commit that it was built from',
    flags: [],
  },
  help: {
    usage: ['help [TOPIC]'],
    summary: 'print this, or one topic; every subcommand is a topic, too',
    flags: [],
  },
} as const satisfies Readonly<Record<string, CommandHelp>>;

export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = Object.keys(COMMANDS) as readonly CommandName[];
