/**
 * The one table of flags: command line, environment, configuration file, `help` and `explain` read it. Init lists the
 * flags that need no supervisor (`start.c`). The key is the flag's name in camel case, and the key in a configuration
 * file unless `fileKey` is given.
 *
 * A default is written as a user would write it and is parsed like a user's value. Where there is none, or where it
 * depends on the machine, `defaultNote` says so in words.
 */
import type { ProbeKind, Role } from '../core/config.ts';
import { formatAction } from './notation/actions/action.ts';
import { formatDrain, parseDrain } from './notation/actions/drain.ts';
import { formatIdleCheck, parseIdleCheck } from './notation/actions/idle.ts';
import { parseAddress, parseCollector, parseSleepAfter, parseTerminationLog } from './notation/actions/observe.ts';
import { formatProbe, parseHook, probeParser } from './notation/actions/probe.ts';
import { addressText } from './notation/address.ts';
import { formatDuration, parseDuration, parseSomeTime } from './notation/duration.ts';
import { formatGates, parseGates } from './notation/gates.ts';
import { formatNotify, parseNotify } from './notation/notify.ts';
import { choice, type Parse } from './notation/parse.ts';
import { formatReloads, parseReloads } from './notation/reload.ts';
import { formatQuits, parseQuits } from './notation/sidecars.ts';
import {
  formatExitCode,
  formatRestartPodOn,
  formatRestartRules,
  parseExitCode,
  parseRestartPodOn,
  parseRestartRules,
} from './notation/stop/exit-codes.ts';
import { formatStop, parseStop } from './notation/stop/ladder.ts';
import { formatSignalMap, formatSignals, parseSignalMap, parseSignals } from './notation/stop/signals.ts';
import {
  formatHold,
  formatTimeOrNone,
  parseGraveyard,
  parseHold,
  parseName,
  parseNames,
  parseSession,
  parseTimeOrNone,
} from './notation/values.ts';

interface Row {
  readonly takes: string;
  readonly parse: (text: string) => Parse<unknown>;
  readonly format: (value: never) => string;
  readonly choices?: readonly string[];
  readonly default?: string | Readonly<Record<Role, string>>;
  readonly defaultNote?: string;
  readonly help: string;
  /** The key in a configuration file, where Kubernetes has another name for it. */
  readonly fileKey?: string;
  /** The key under which a configuration file has it in the shape of a Pod; its own key takes it as a string. */
  readonly podKey?: string;
  /** In a configuration file a number of seconds, as in a Pod. */
  readonly fileSeconds?: true;
  /** May hold a command, in which `$(NAME)` may be meant for a shell. */
  readonly hasCommand?: true;
  /** May be given several times; the values are joined to one list. */
  readonly repeats?: true;
  /** How a map in a configuration file joins its keys and values. */
  readonly pairs?: ':' | '=';
  readonly pairsOfLists?: true;
}

interface Flag<T> extends Row {
  readonly name: string;
  readonly parse: (text: string) => Parse<T>;
  readonly format: (value: T) => string;
}

const asIs = (text: string): string => text;

function notation<T>(takes: string, parse: (text: string) => Parse<T>, format: (value: T) => string) {
  return { takes, parse, format };
}

const someTime = notation('DURATION', parseSomeTime, formatDuration);

function oneOf<const T extends string>(choices: readonly T[]) {
  return { ...notation<T>(choices.join('|'), choice(choices), asIs), choices };
}

function probe(kind: ProbeKind) {
  return { ...notation('PROBE', probeParser(kind), formatProbe), podKey: `${kind}Probe`, hasCommand: true } as const;
}

function hook(name: 'postStart' | 'preStop') {
  return { ...notation('HOOK', parseHook, formatAction), podKey: `lifecycle.${name}`, hasCommand: true } as const;
}

const ROWS = {
  name: {
    ...notation('NAME', parseName, asIs),
    defaultNote: 'basename of the command',
    help: 'Name of this member in the graveyard.',
  },
  graveyard: {
    ...notation('DIR', parseGraveyard, asIs),
    defaultNote: '/graveyard if it exists, else none',
    help: 'Directory that the members of the pod share. None: a plain init with a drain.',
  },
  role: {
    ...oneOf(['main', 'sidecar']),
    default: 'main',
    help: 'A main does the work; a sidecar serves it and ends after it.',
  },
  restartPolicy: {
    ...oneOf(['Never', 'OnFailure', 'Always']),
    default: 'Never',
    help: 'The restartPolicy of the pod, or of the container where it has its own; a container cannot see it.',
  },
  restartRules: {
    ...notation('CODE[|CODE..]=ACTION,..', parseRestartRules, formatRestartRules),
    podKey: 'restartPolicyRules',
    help: "The container's restartPolicyRules: 42|43=restart,88=restart-all,!0=restart; ! is every code but these. The first that matches beats the policy.",
  },
  mains: {
    ...notation('NAME,..', parseNames, (names) => names.join(',')),
    defaultNote: 'every member with role main',
    help: 'Sidecar: the members that must have finished before it stops.',
  },
  when: {
    ...oneOf(['all', 'any']),
    default: 'all',
    help: 'Sidecar: how many of the mains must have finished.',
  },
  startAfter: {
    ...notation('NAME=CONDITION,..', parseGates, formatGates),
    pairs: '=',
    help: 'Wait before the command starts: for members, started, healthy or completed (exit 0); for sidecars without sexton, istio=ready; with ? absent is fine.',
  },
  startTimeout: {
    ...someTime,
    default: '60s',
    help: 'How long to wait for --start-after.',
  },
  startTimeoutAction: {
    ...oneOf(['fail', 'continue']),
    default: 'fail',
    help: 'What then: exit 125, or start the command anyway.',
  },
  signals: {
    ...notation('FROM:TO,..', parseSignalMap, formatSignalMap),
    pairs: ':',
    help: 'Translate signals on their way to the command; HUP:- drops HUP.',
  },
  signalTo: {
    ...oneOf(['tree', 'group', 'first']),
    default: 'tree',
    help: 'Whom a stop reaches: parents before their children; all of the process group at once; the first process alone.',
  },
  stop: {
    ...notation('LADDER|auto|preset:NAME', parseStop, formatStop),
    pairs: ':',
    defaultNote: 'the stop signal that arrived',
    help: 'How the command is stopped: rung by rung as in TERM:20s,INT:5s,KILL; auto: as its program likes it; preset:nginx: as that one does.',
  },
  gracePeriod: {
    ...someTime,
    fileKey: 'terminationGracePeriodSeconds',
    fileSeconds: true,
    defaultNote: 'not declared',
    help: "The pod's terminationGracePeriodSeconds: the whole budget from the first stop request to the platform's KILL.",
  },
  graceFloor: {
    ...someTime,
    defaultNote: 'the grace period',
    help: 'The shortest time that the platform may leave before its KILL (node shutdown, eviction): drain, hold and pre-stop end before it.',
  },
  platformPreStop: {
    ...notation('DURATION|none', parseTimeOrNone, formatTimeOrNone),
    defaultNote: 'unknown',
    help: "How long the kubelet's preStop of this container takes at most: so others know whether the pod stops, or they alone.",
  },
  stopSignals: {
    ...notation('SIGNAL,..|none', parseSignals, formatSignals),
    default: 'TERM,INT',
    help: "Which signals are stop requests. Add the image's STOPSIGNAL.",
  },
  hold: {
    ...notation('always|never|DURATION', parseHold, formatHold),
    default: 'always',
    help: 'Sidecar asked to stop: serve on while mains live; a duration: only if a main is asked too within it.',
  },
  drain: {
    ...notation('DURATION|min=,quiet=,max=|inflight', parseDrain, formatDrain),
    pairs: '=',
    pairsOfLists: true,
    default: '0',
    defaultNote: '0',
    help: 'Time between a stop request and the first rung; the command serves on. Fixed, or until connections stop coming.',
  },
  idleWhen: {
    ...notation('http://..|exec:CMD|file:PATH|notify|preset:NAME', parseIdleCheck, formatIdleCheck),
    hasCommand: true,
    help: 'In a drain, serve on until the application is idle, too: by a status, the sum of http://..,metric=NAMES, an exit code, a file or its own word.',
  },
  linger: {
    ...notation('DURATION', parseDuration, formatDuration),
    default: '0',
    help: "Sidecar: time between the last main's end and its own stop.",
  },
  startup: {
    ...probe('startup'),
    help: 'Probe until it succeeds once: only then has the command started. Failed: it is stopped, then --restart decides.',
  },
  readiness: {
    ...probe('readiness'),
    help: 'Probe whether the command can serve, which opens the gate NAME=healthy of others.',
  },
  liveness: {
    ...probe('liveness'),
    help: 'Probe whether the command still works. Failed: it is stopped, then --restart decides.',
  },
  notify: {
    ...notation('off|command|all[,watchdog=DURATION]', parseNotify, formatNotify),
    default: 'off',
    help: 'Give the command NOTIFY_SOCKET, to which it says READY=1 as to systemd; all: any process of the container may write to it; watchdog: WATCHDOG=1 at least so often, or its liveness has failed.',
  },
  postStart: {
    ...hook('postStart'),
    help: 'Run beside the command when it was spawned; it has started when both say so. Failed: the command is stopped.',
  },
  preStop: {
    ...hook('preStop'),
    help: 'Run after the drain and before the first rung, within the grace period. A failure is logged.',
  },
  reload: {
    ...notation('PATH=SIGNAL[,validate=CMD]', parseReloads, formatReloads),
    hasCommand: true,
    repeats: true,
    help: 'Send the signal when the file or directory changes, if CMD exits 0. May be given several times.',
  },
  quit: {
    ...notation('PRESET|URL,..', parseQuits, formatQuits),
    help: 'Main: sidecars that run without sexton (istio, linkerd, ..) and are asked to leave when it has ended for good.',
  },
  restart: {
    ...oneOf(['auto', 'never', 'on-failure', 'always']),
    default: { main: 'never', sidecar: 'auto' },
    help: 'Restart the command inside this container; auto: only where the platform would not.',
  },
  restartPodOn: {
    ...notation('exit:CODE,..,liveness,max=6', parseRestartPodOn, formatRestartPodOn),
    help: 'Which ends of this command restart all members of the pod in place, as sexton restart does.',
  },
  exitCode: {
    ...notation('keep|zero-when-stopped|CODE=CODE,..', parseExitCode, formatExitCode),
    pairs: '=',
    default: { main: 'keep', sidecar: 'zero-when-stopped' },
    help: 'What this container exits with; the tombstone keeps the truth.',
  },
  session: {
    ...notation('ID', parseSession, asIs),
    defaultNote: 'SEXTON_POD_UID, else none',
    help: 'Ties tombstones to one pod; those of another are ignored.',
  },
  http: {
    ...notation(':PORT|HOST:PORT|unix:PATH', parseAddress, addressText),
    help: 'Answer /livez, /readyz, /startupz, /metrics and /status over HTTP there.',
  },
  readyzOnDrain: {
    ...oneOf(['keep', 'fail']),
    default: 'keep',
    help: 'Whether /readyz goes on as before after a stop request, while the command serves on, or fails at once.',
  },
  terminationLog: {
    ...notation('PATH', parseTerminationLog, asIs),
    fileKey: 'terminationMessagePath',
    defaultNote: '/dev/termination-log if it exists',
    help: 'File that receives, at the end, how this container ended; JSON, at most 4096 bytes.',
  },
  otlp: {
    ...notation('URL', parseCollector, asIs),
    help: 'Send how this member has stopped to an OpenTelemetry collector there, as a trace, before the container ends.',
  },
  sleepAfter: {
    ...notation('DURATION|never', parseSleepAfter, (after) => (after === 'never' ? after : formatDuration(after))),
    default: '5s',
    help: 'After so long without anything to do only the init stays, and starts the supervisor when something happens.',
  },
  logLevel: {
    ...oneOf(['debug', 'info', 'warn', 'error', 'silent']),
    takes: 'LEVEL',
    default: 'info',
    help: 'debug, info, warn, error or silent. Logs go to stderr. A plain command, which needs no Node, has warn.',
  },
  logFormat: {
    ...oneOf(['text', 'json']),
    defaultNote: 'text on a terminal, else json',
    help: 'How a line of the log is written.',
  },
} satisfies Readonly<Record<string, Row>>;

export type Key = keyof typeof ROWS;
type ParsedBy<R extends Row> = R extends { readonly parse: (text: string) => Parse<infer T> } ? T : never;

/** The parsed value of each flag. Durations are milliseconds. */
export type Values = { readonly [K in Key]: ParsedBy<(typeof ROWS)[K]> };

export const KEYS = Object.keys(ROWS) as readonly Key[];

const namedFlags = KEYS.map((key) => {
  const name = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return [key, { name, ...ROWS[key] }] as const;
});
export const FLAGS = Object.fromEntries(namedFlags) as unknown as { readonly [K in Key]: Flag<Values[K]> };

/** It has no key: it names the file that has the others. */
export const CONFIG_FLAG = { name: 'config', takes: 'FILE', help: 'YAML or JSON; see sexton help config.' } as const;

export function fileKeyOf(key: Key): string {
  return FLAGS[key].fileKey ?? key;
}

/** `grace-period` -> `SEXTON_GRACE_PERIOD`. */
export function variableOf(flagName: string): string {
  return `SEXTON_${flagName.toUpperCase().replaceAll('-', '_')}`;
}

export function defaultTextOf(key: Key): string {
  const { default: value, defaultNote } = FLAGS[key];
  return typeof value === 'object' ? `main ${value.main}, sidecar ${value.sidecar}` : (value ?? defaultNote ?? 'none');
}
