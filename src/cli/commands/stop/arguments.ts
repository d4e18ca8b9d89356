/**
 * The words of `sexton stop [--grace 5s] [--no-wait] [--graveyard DIR] [NAME...]`, flags and names in any order.
 */
import { MAX_AMONG } from '../../../core/format/stop-request.ts';
import { flagLabel } from '../../config/given.ts';
import { parseSomeTime } from '../../notation/duration.ts';
import { parseName } from '../../notation/name.ts';
import { repeated, show } from '../../notation/parse.ts';
import type { SextonError } from '../../text/errors.ts';
import { badArguments, readArguments } from '../arguments.ts';

export interface StopArguments {
  readonly names: readonly string[];
  readonly graceMs: number | undefined;
  readonly waits: boolean;
  readonly graveyard: string | undefined;
}

export function readStopArguments(args: readonly string[]): StopArguments {
  const { flags, words } = readArguments('stop', args, Number.POSITIVE_INFINITY);
  const names = words.map(nameOf);
  const twice = repeated(names);
  if (twice !== undefined) throw badStop(`${twice} is named twice; name it once`);
  if (names.length > MAX_AMONG) throw badStop(`${names.length} names: at most ${MAX_AMONG}; give no name to stop all`);
  const graceMs = flags.grace === undefined ? undefined : graceOf(flags.grace);
  return { names, graceMs, waits: flags['no-wait'] !== true, graveyard: flags.graveyard };
}

/** Why `sexton stop` cannot do what it was told. */
export function badStop(problem: string): SextonError {
  return badArguments('stop', problem);
}

function nameOf(word: string): string {
  const name = parseName(word);
  if (!name.ok) throw badStop(`${show(word)}: ${name.why}`);
  return name.value;
}

function graceOf(text: string): number {
  const grace = parseSomeTime(text);
  if (!grace.ok) throw badStop(`${flagLabel('grace', text)}: ${grace.why}`);
  return grace.value;
}
