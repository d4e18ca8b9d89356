/**
 * The one table of flags: parsing of the command line, the environment and the configuration file, `help` and `explain`
 * all read it. The key is the flag's name in camel case, and the key in a configuration file unless `fileKey` is given.
 *
 * A default is written as a user would write it and is parsed like a user's value. Where there is none, or where it
 * depends on the machine, `defaultNote` says so in words.
 */

import type { Flag, Key, Values } from './flag.ts';
import { LIFECYCLE_FLAGS } from './lifecycle-flags.ts';
import { formatDrain, parseDrain } from './notation/drain.ts';
import { formatDuration, parseDuration, parseSomeTime } from './notation/duration.ts';
import { formatExitCode, parseExitCode } from './notation/exit-code.ts';
import { formatGates, parseGates } from './notation/gates.ts';
import { formatStop, parseStop } from './notation/ladder.ts';
import { parseName, parseNames } from './notation/name.ts';
import { choice } from './notation/parse.ts';
import { formatRestartPodOn, parseRestartPodOn } from './notation/restart-pod-on.ts';
import { formatRestartRules, parseRestartRules } from './notation/restart-rules.ts';
import { formatSignalMap, formatSignals, parseSignalMap, parseSignals } from './notation/signals.ts';
import {
  formatHold,
  formatTimeOrNone,
  parseGraveyard,
  parseHold,
  parseSession,
  parseTimeOrNone,
} from './notation/values.ts';
import { OBSERVE_FLAGS } from './observe-flags.ts';

const asIs = (text: string): string => text;
/** One word out of a few. */
function oneOf<const T extends string>(choices: readonly T[]): Pick<Flag<T>, 'choices' | 'parse' | 'format'> {
  return { choices, parse: choice(choices), format: (value) => value };
}
const joined = (names: readonly string[]): string => names.join(',');

export const FLAGS: { readonly [K in Key]: Flag<Values[K]> } = {
  name: {
    name: 'name',
    takes: 'NAME',
    parse: parseName,
    format: asIs,
    defaultNote: 'basename of the command',
    help: 'Name of this member in the graveyard.',
  },
  graveyard: {
    name: 'graveyard',
    takes: 'DIR',
    parse: parseGraveyard,
    format: asIs,
    defaultNote: '/graveyard if it exists, else none',
    help: 'Directory that the members of the pod share. None: a plain init with a drain.',
  },
  role: {
    name: 'role',
    takes: 'main|sidecar',
    ...oneOf(['main', 'sidecar']),
    default: 'main',
    help: 'A main does the work; a sidecar serves it and ends after it.',
  },
  restartPolicy: {
    name: 'restart-policy',
    takes: 'Never|OnFailure|Always',
    ...oneOf(['Never', 'OnFailure', 'Always']),
    default: 'Never',
    help: 'The restartPolicy of the pod, or of the container where it has its own; a container cannot see it.',
  },
  restartRules: {
    name: 'restart-rules',
    takes: 'CODE[|CODE..]=ACTION,..',
    parse: parseRestartRules,
    format: formatRestartRules,
    podKey: 'restartPolicyRules',
    defaultNote: 'none',
    help: "The container's restartPolicyRules: 42|43=restart,88=restart-all,!0=restart; ! is every code but these. The first that matches beats the policy.",
  },
  mains: {
    name: 'mains',
    takes: 'NAME,..',
    parse: parseNames,
    format: joined,
    defaultNote: 'every member with role main',
    help: 'Sidecar: the members that must have finished before it stops.',
  },
  when: {
    name: 'when',
    takes: 'all|any',
    ...oneOf(['all', 'any']),
    default: 'all',
    help: 'Sidecar: how many of the mains must have finished.',
  },
  startAfter: {
    name: 'start-after',
    takes: 'NAME=CONDITION,..',
    parse: parseGates,
    format: formatGates,
    pairs: '=',
    defaultNote: 'none',
    help: 'Wait before the command starts: for members, started, healthy or completed (exit 0); for sidecars without sexton, istio=ready; with ? absent is fine.',
  },
  startTimeout: {
    name: 'start-timeout',
    takes: 'DURATION',
    parse: parseSomeTime,
    format: formatDuration,
    default: '60s',
    help: 'How long to wait for --start-after.',
  },
  startTimeoutAction: {
    name: 'start-timeout-action',
    takes: 'fail|continue',
    ...oneOf(['fail', 'continue']),
    default: 'fail',
    help: 'What then: exit 125, or start the command anyway.',
  },
  signals: {
    name: 'signals',
    takes: 'FROM:TO,..',
    parse: parseSignalMap,
    format: formatSignalMap,
    pairs: ':',
    defaultNote: 'none',
    help: 'Translate signals on their way to the command; HUP:- drops HUP.',
  },
  signalTo: {
    name: 'signal-to',
    takes: 'group|first',
    ...oneOf(['group', 'first']),
    default: 'group',
    help: "What gets the signals: the command's process group, or its first process alone, which passes them on.",
  },
  stop: {
    name: 'stop',
    takes: 'LADDER|auto|preset:NAME',
    parse: parseStop,
    format: formatStop,
    pairs: ':',
    defaultNote: 'the stop signal that arrived',
    help: 'How the command is stopped: rung by rung as in TERM:20s,INT:5s,KILL; auto: as its program likes it; preset:nginx: as that one does.',
  },
  gracePeriod: {
    name: 'grace-period',
    takes: 'DURATION',
    parse: parseSomeTime,
    format: formatDuration,
    fileKey: 'terminationGracePeriodSeconds',
    fileSeconds: true,
    defaultNote: 'not declared',
    help: "The pod's terminationGracePeriodSeconds: the whole budget from the first stop request to the platform's KILL.",
  },
  graceFloor: {
    name: 'grace-floor',
    takes: 'DURATION',
    parse: parseSomeTime,
    format: formatDuration,
    defaultNote: 'the grace period',
    help: 'The shortest time that the platform may leave before its KILL (node shutdown, eviction): drain, hold and pre-stop end before it.',
  },
  platformPreStop: {
    name: 'platform-pre-stop',
    takes: 'DURATION|none',
    parse: parseTimeOrNone,
    format: formatTimeOrNone,
    defaultNote: 'unknown',
    help: "How long the kubelet's preStop of this container takes at most: so others know whether the pod stops, or they alone.",
  },
  stopSignals: {
    name: 'stop-signals',
    takes: 'SIGNAL,..|none',
    parse: parseSignals,
    format: formatSignals,
    default: 'TERM,INT',
    help: "Which signals are stop requests. Add the image's STOPSIGNAL.",
  },
  hold: {
    name: 'hold',
    takes: 'always|never|DURATION',
    parse: parseHold,
    format: formatHold,
    default: 'always',
    help: 'Sidecar asked to stop: serve on while mains live; a duration: only if a main is asked too within it.',
  },
  drain: {
    name: 'drain',
    takes: 'DURATION|min=,quiet=,max=|inflight',
    parse: parseDrain,
    format: formatDrain,
    pairs: '=',
    pairsOfLists: true,
    default: '0',
    defaultNote: '0',
    help: 'Time between a stop request and the first rung; the command serves on. Fixed, or until connections stop coming.',
  },
  linger: {
    name: 'linger',
    takes: 'DURATION',
    parse: parseDuration,
    format: formatDuration,
    default: '0',
    help: "Sidecar: time between the last main's end and its own stop.",
  },
  ...LIFECYCLE_FLAGS,
  restart: {
    name: 'restart',
    takes: 'auto|never|on-failure|always',
    ...oneOf(['auto', 'never', 'on-failure', 'always']),
    default: { main: 'never', sidecar: 'auto' },
    help: 'Restart the command inside this container; auto: only where the platform would not.',
  },
  restartPodOn: {
    name: 'restart-pod-on',
    takes: 'exit:CODE,..,liveness,max=6',
    parse: parseRestartPodOn,
    format: formatRestartPodOn,
    help: 'Which ends of this command restart all members of the pod in place, as sexton restart does.',
  },
  exitCode: {
    name: 'exit-code',
    takes: 'keep|zero-when-stopped|CODE=CODE,..',
    parse: parseExitCode,
    format: formatExitCode,
    pairs: '=',
    default: { main: 'keep', sidecar: 'zero-when-stopped' },
    help: 'What this container exits with; the tombstone keeps the truth.',
  },
  session: {
    name: 'session',
    takes: 'ID',
    parse: parseSession,
    format: asIs,
    defaultNote: 'SEXTON_POD_UID, else none',
    help: 'Ties tombstones to one pod; those of another are ignored.',
  },
  ...OBSERVE_FLAGS,
  logLevel: {
    name: 'log-level',
    takes: 'LEVEL',
    ...oneOf(['debug', 'info', 'warn', 'error', 'silent']),
    default: 'info',
    help: 'debug, info, warn, error or silent. Logs go to stderr. A plain command, which needs no Node, has warn.',
  },
  logFormat: {
    name: 'log-format',
    takes: 'text|json',
    ...oneOf(['text', 'json']),
    defaultNote: 'text on a terminal, else json',
    help: 'How a line of the log is written.',
  },
};

export const KEYS = Object.keys(FLAGS) as readonly Key[];

export function keyOfFlag(name: string): Key | undefined {
  return KEYS.find((key) => FLAGS[key].name === name);
}

export function fileKeyOf(key: Key): string {
  return FLAGS[key].fileKey ?? key;
}

/** `grace-period` -> `SEXTON_GRACE_PERIOD`. */
export function variableOf(flagName: string): string {
  return `SEXTON_${flagName.toUpperCase().replaceAll('-', '_')}`;
}

/** The default as help prints it. */
export function defaultTextOf(key: Key): string {
  const { default: value, defaultNote } = FLAGS[key];
  return typeof value === 'object' ? `main ${value.main}, sidecar ${value.sidecar}` : (value ?? defaultNote ?? 'none');
}
