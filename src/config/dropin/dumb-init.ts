/**
 * The command line of dumb-init 1.2: `dumb-init [-c] [-r FROM:TO] [-v] [-h] [-V] [--] command [args...]`, and its
 * variables.
 */
import type { SignalMap } from '../../core/config.ts';
import { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU } from '../../core/signals.ts';
import type { Env } from '../env.ts';
import { type Given, signalTo } from '../given.ts';
import { show } from '../notation/parse.ts';
import { formatSignalMap } from '../notation/signals.ts';
import { splitOptions } from './getopt.ts';
import type { DropInLine } from './line.ts';

export function readDumbInit(argv: readonly string[], env: Env): DropInLine {
  const { options, wrong, at } = splitOptions(argv, { letters: 'hvVcr:', long: LONG });
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
      return {
        asks: 'nothing',
        problem: `-r ${show(value)}: write FROM:TO, two signal numbers up to 31, TO 0 to drop`,
      };
    rewrites[pair[0]] = pair[1] === 0 ? 'drop' : pair[1];
  }
  if (wrong !== undefined) return { asks: 'nothing', problem: wrong };
  if (at >= argv.length) return { asks: 'nothing', problem: 'no command is given' };
  // In a group without a shell nothing would continue what these have stopped, and a process that ignores them would
  // not stop.
  const stops = single ? {} : { [SIGTSTP]: SIGSTOP, [SIGTTIN]: SIGSTOP, [SIGTTOU]: SIGSTOP };
  const signals = signalsOf({ ...stops, ...rewrites });
  const level = verbose || env.DUMB_INIT_DEBUG === '1' ? 'debug' : 'warn';
  const logLevel: Given = { key: 'logLevel', text: level, label: `log level ${level}`, source: 'dumb-init' };
  const logFormat: Given = { key: 'logFormat', text: 'text', label: 'log format text', source: 'dumb-init' };
  return {
    asks: 'run',
    at,
    given: [...given, ...(Object.keys(rewrites).length > 0 ? [signals] : []), ...(verbose ? [logLevel] : [])],
    implied: [...(byVariable ? [signalTo('first', 'DUMB_INIT_SETSID=0')] : []), signals, logLevel, logFormat],
    host: { missesOrphans: false, commands: [] },
    startFailureCode: 2,
  };
}

const LONG = { help: 'h', verbose: 'v', version: 'V', 'single-child': 'c', rewrite: 'r' } as const;

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
