/** What a command line of tini, dumb-init or kubexit asks for. */
import type { SignalMap } from '../../core/config.ts';
import { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, signalNumber } from '../../core/signals.ts';
import type { Env } from '../env.ts';
import type { Given } from '../given.ts';
import { show } from '../notation/parse.ts';
import { formatSignalMap } from '../notation/stop/signals.ts';
import type { HostSetting, HostSettings } from '../run-config.ts';
import { splitOptions } from './getopt.ts';

export type DropIn = 'tini' | 'dumb-init' | 'kubexit';

export interface DropInRun {
  readonly asks: 'run';
  readonly at: number;
  readonly given: readonly Given[];
  readonly implied: readonly Given[];
  readonly host: HostSettings;
  /** What it exits with when the command cannot be started; `undefined`: 127 or 126. */
  readonly startFailureCode: number | undefined;
}

export type DropInLine =
  | DropInRun
  | { readonly asks: 'help' | 'version' | 'license' }
  | { readonly asks: 'nothing'; readonly problem: string };

export function readDropIn(as: DropIn, argv: readonly string[], env: Env): DropInLine {
  switch (as) {
    case 'tini':
      return readTini(argv, env);
    case 'dumb-init':
      return readDumbInit(argv, env);
    case 'kubexit':
      return readKubexit(argv);
    default:
      return as satisfies never;
  }
}

/**
 * tini 0.19: `tini [-s] [-p SIGNAL] [-v] [-w] [-g] [-e CODE] [-l] [-h] [--] command [args...]`, and its variables.
 * Options end at the first word that is none; tini's own build against glibc looks behind it as well.
 */
function readTini(argv: readonly string[], env: Env): DropInLine {
  if (argv.length === 1 && argv[0] === '--version') return { asks: 'version' };
  const { options, wrong, at } = splitOptions(argv, 'p:hvwgle:s');
  const codes: Record<number, number> = {};
  const commands: HostSetting[] = [];
  const given: Given[] = [];
  const byVariable = env.TINI_KILL_PROCESS_GROUP !== undefined;
  let subreaper = env.TINI_SUBREAPER !== undefined;
  let louder = 0;
  for (const { letter, value } of options) {
    if (letter === 'h') return { asks: 'help' };
    if (letter === 'l') return { asks: 'license' };
    if (letter === 'e') {
      const code = exitCodeOf(value);
      if (code === undefined) return nothing(`-e ${show(value)}: write an exit code from 0 to 255`);
      codes[code] = 0;
    }
    if (letter === 'p') {
      const signal = parentSignalOf(value);
      if (signal === undefined) return nothing(`-p ${show(value)}: write a signal such as SIGTERM`);
      commands.push({ type: 'parentDeath', signal });
    }
    if (letter === 'w') commands.push({ type: 'tellReaped' });
    if (letter === 'g') given.push(signalTo('group', 'tini -g'));
    if (letter === 's') subreaper = true;
    if (letter === 'v') louder += 1;
  }
  if (wrong !== undefined) return nothing(wrong);
  if (at >= argv.length) return nothing(NO_COMMAND);
  const text = Object.keys(codes).map((code) => `${code}=0`);
  if (text.length > 0)
    given.push({ key: 'exitCode', text: text.join(), value: { kind: 'map', codes }, label: '-e', source: 'tini -e' });
  // tini's own levels are fatal, warning, info, debug and trace; what it says as fatal is an error here.
  const verbosity = (Number.parseInt(env.TINI_VERBOSITY ?? '1', 10) || 0) + louder;
  const log = logAs('tini', ['error', 'warn', 'info'][Math.max(0, verbosity)] ?? 'debug');
  const toWhom = byVariable ? signalTo('group', 'TINI_KILL_PROCESS_GROUP') : signalTo('first', 'tini');
  return {
    asks: 'run',
    at,
    given: louder > 0 ? [...given, log.level] : given,
    implied: [toWhom, log.level, log.format],
    host: { missesOrphans: !subreaper, commands },
    startFailureCode: undefined,
  };
}

/** As strtol(3) reads it; an empty text is 0. */
function exitCodeOf(text: string): number | undefined {
  const code = /^[ \t\n\v\f\r]*\+?\d+$/.test(text) ? Number(text) : text === '' ? 0 : Number.NaN;
  return code >= 0 && code <= 255 ? code : undefined;
}

/** The names that tini knows: the full ones, and not all of them. */
function parentSignalOf(text: string): number | undefined {
  const isName = /^SIG[A-Z0-9]+$/.test(text) && !UNKNOWN_TO_TINI.test(text);
  const signal = isName ? signalNumber(text) : undefined;
  return signal !== undefined && signal <= 31 ? signal : undefined;
}

const UNKNOWN_TO_TINI = /^SIG(STKFLT|IO|PWR|POLL|IOT|CLD|UNUSED|[0-9]+)$/;

/** dumb-init 1.2: `dumb-init [-c] [-r FROM:TO] [-v] [-h] [-V] [--] command [args...]`, and its variables. */
function readDumbInit(argv: readonly string[], env: Env): DropInLine {
  const { options, wrong, at } = splitOptions(argv, 'hvVcr:', DUMB_INIT_LONG);
  const rewrites: Record<number, number | 'drop'> = {};
  const byVariable = env.DUMB_INIT_SETSID === '0';
  const given: Given[] = [];
  let single = byVariable;
  let verbose = false;
  for (const { letter, value } of options) {
    if (letter === 'h') return { asks: 'help' };
    if (letter === 'V') return { asks: 'version' };
    if (letter === 'c') {
      single = true;
      given.push(signalTo('first', 'dumb-init -c'));
    }
    if (letter === 'v') verbose = true;
    if (letter !== 'r') continue;
    const pair = rewriteOf(value);
    if (pair === undefined)
      return nothing(`-r ${show(value)}: write FROM:TO, two signal numbers up to 31, TO 0 to drop`);
    rewrites[pair[0]] = pair[1] === 0 ? 'drop' : pair[1];
  }
  if (wrong !== undefined) return nothing(wrong);
  if (at >= argv.length) return nothing(NO_COMMAND);
  // In a group without a shell nothing would continue what these have stopped, and a process that ignores them would
  // not stop.
  const stops = single ? {} : { [SIGTSTP]: SIGSTOP, [SIGTTIN]: SIGSTOP, [SIGTTOU]: SIGSTOP };
  const signals = signalsOf({ ...stops, ...rewrites });
  const log = logAs('dumb-init', verbose || env.DUMB_INIT_DEBUG === '1' ? 'debug' : 'warn');
  return {
    asks: 'run',
    at,
    given: [...given, ...(Object.keys(rewrites).length > 0 ? [signals] : []), ...(verbose ? [log.level] : [])],
    implied: [...(byVariable ? [signalTo('first', 'DUMB_INIT_SETSID=0')] : []), signals, log.level, log.format],
    host: NO_SETTINGS,
    startFailureCode: 2,
  };
}

const DUMB_INIT_LONG = { help: 'h', verbose: 'v', version: 'V', 'single-child': 'c', rewrite: 'r' } as const;

/** As scanf(3) reads `%d:%d`: what follows is not looked at. */
function rewriteOf(text: string): readonly [number, number] | undefined {
  const [, from, to] = /^[ \t\n\v\f\r]*\+?(\d+):[ \t\n\v\f\r]*\+?(\d+)/.exec(text) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const pair = [Number(from), Number(to)] as const;
  return pair[0] >= 1 && pair[0] <= 31 && pair[1] <= 31 ? pair : undefined;
}

/** Not by its text: dumb-init also takes rewrites of signals that cannot be received, and they have no effect. */
function signalsOf(value: SignalMap): Given {
  const text = formatSignalMap(value);
  return { key: 'signals', text, value, label: `-r ${text}`, source: 'dumb-init' };
}

/** kubexit has no flags: `kubexit COMMAND [ARGUMENTS]`, and variables for all else. */
function readKubexit(argv: readonly string[]): DropInLine {
  const [first = ''] = argv;
  if (first === '--help' || first === '-h') return { asks: 'help' };
  if (first === '--version' || first === '-V') return { asks: 'version' };
  const at = first === '--' ? 1 : 0;
  if (argv.length <= at) return nothing(NO_COMMAND);
  const source = "kubexit's default";
  const implied: readonly Given[] = [
    { key: 'graveyard', text: '/graveyard', label: `--graveyard /graveyard (${source})`, source },
  ];
  return { asks: 'run', at, given: [], implied, host: NO_SETTINGS, startFailureCode: undefined };
}

export const NO_SETTINGS: HostSettings = { missesOrphans: false, commands: [] };
const NO_COMMAND = 'no command is given';

function nothing(problem: string): DropInLine {
  return { asks: 'nothing', problem };
}

function signalTo(text: 'group' | 'first', source: string): Given {
  return { key: 'signalTo', text, label: `--signal-to ${text} (${source})`, source };
}

function logAs(source: DropIn, level: string): { readonly level: Given; readonly format: Given } {
  return {
    level: { key: 'logLevel', text: level, label: `log level ${level}`, source },
    format: { key: 'logFormat', text: 'text', label: 'log format text', source },
  };
}
