/**
 * The words of `sexton stop [--grace 5s] [--no-wait] [--graveyard DIR] [NAME...]`, flags and names in any order.
 */
import { MAX_AMONG } from '../core/stop-request.ts';
import { parseSomeTime } from './duration.ts';
import { SextonError } from './errors.ts';
import { flagLabel } from './given.ts';
import { parseName } from './name.ts';
import { nearest } from './nearest.ts';
import { repeated, show } from './parse.ts';

export interface StopArguments {
  readonly names: readonly string[];
  readonly graceMs: number | undefined;
  readonly waits: boolean;
  readonly graveyard: string | undefined;
}

const FLAGS = ['grace', 'no-wait', 'graveyard'] as const;

export function readStopArguments(args: readonly string[]): StopArguments {
  const names: string[] = [];
  let graceMs: number | undefined;
  let graveyard: string | undefined;
  let waits = true;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    if (!word.startsWith('-')) {
      names.push(nameOf(word));
      continue;
    }
    const [, flag, inline] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (flag === 'no-wait') {
      if (inline !== undefined) throw wrong('--no-wait: takes no value');
      waits = false;
      continue;
    }
    if (flag !== 'grace' && flag !== 'graveyard') throw unknown(word);
    const value = inline ?? args[++at];
    if (value === undefined || value === '') throw wrong(`--${flag}: needs a value`);
    if (flag === 'graveyard') graveyard = value;
    else graceMs = graceOf(value);
  }
  const twice = repeated(names);
  if (twice !== undefined) throw wrong(`${twice} is named twice; name it once`);
  if (names.length > MAX_AMONG) throw wrong(`${names.length} names: at most ${MAX_AMONG}; name nobody to stop all`);
  return { names, graceMs, waits, graveyard };
}

/** Why `sexton stop` cannot do what it was told. */
export function wrong(problem: string): SextonError {
  return new SextonError('badArguments', { subcommand: 'stop', problem });
}

function nameOf(word: string): string {
  const name = parseName(word);
  if (!name.ok) throw wrong(`${show(word)}: ${name.why}`);
  return name.value;
}

function graceOf(text: string): number {
  const grace = parseSomeTime(text);
  if (!grace.ok) throw wrong(`${flagLabel('grace', text)}: ${grace.why}`);
  return grace.value;
}

function unknown(word: string): SextonError {
  const near = nearest(word.replace(/=.*/s, ''), FLAGS);
  const remedy =
    near === undefined ? 'it takes only --grace, --no-wait, --graveyard and names' : `did you mean --${near}?`;
  return wrong(`${show(word)}: not known to it; ${remedy}`);
}
