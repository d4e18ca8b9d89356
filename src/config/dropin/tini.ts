/**
 * The command line of tini 0.19: `tini [-s] [-p SIGNAL] [-v] [-w] [-g] [-e CODE] [-l] [-h] [--] command [args...]`, and
 * its variables. Options end at the first word that is no option. tini's own build against glibc also looks for them
 * behind it.
 */
import { signalNumber } from '../../core/signals.ts';
import type { Env } from '../env.ts';
import { type Given, signalTo } from '../given.ts';
import { show } from '../notation/parse.ts';
import type { HostSetting } from '../run-config.ts';
import { splitOptions } from './getopt.ts';
import type { DropInLine } from './line.ts';

export function readTini(argv: readonly string[], env: Env): DropInLine {
  if (argv.length === 1 && argv[0] === '--version') return { asks: 'version' };
  const { options, wrong, at } = splitOptions(argv, { letters: 'p:hvwgle:s', long: {} });
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
  if (at >= argv.length) return nothing('no command is given');
  const text = Object.keys(codes).map((code) => `${code}=0`);
  if (text.length > 0)
    given.push({ key: 'exitCode', text: text.join(), value: { kind: 'map', codes }, label: '-e', source: 'tini -e' });
  const level = levelOf((Number.parseInt(env.TINI_VERBOSITY ?? '1', 10) || 0) + louder);
  const logLevel: Given = { key: 'logLevel', text: level, label: `log level ${level}`, source: 'tini' };
  const logFormat: Given = { key: 'logFormat', text: 'text', label: 'log format text', source: 'tini' };
  return {
    asks: 'run',
    at,
    given: louder > 0 ? [...given, logLevel] : given,
    implied: [
      signalTo(byVariable ? 'group' : 'first', byVariable ? 'TINI_KILL_PROCESS_GROUP' : 'tini'),
      logLevel,
      logFormat,
    ],
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

/** tini's own levels are fatal, warning, info, debug and trace; what it says as fatal is an error here. */
function levelOf(verbosity: number): string {
  if (verbosity <= 0) return 'error';
  if (verbosity === 1) return 'warn';
  return verbosity === 2 ? 'info' : 'debug';
}

function nothing(problem: string): DropInLine {
  return { asks: 'nothing', problem };
}
