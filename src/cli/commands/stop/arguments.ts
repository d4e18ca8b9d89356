/**
 * The words of `sexton stop [--grace 5s] [--no-wait] [--graveyard DIR] [NAME...]`, flags and names in any order.
 */

import { flagLabel } from '../../../config/given.ts';
import { parseSomeTime } from '../../../config/notation/duration.ts';
import { parseName } from '../../../config/notation/name.ts';
import { repeated, show } from '../../../config/notation/parse.ts';
import { MAX_AMONG } from '../../../core/format/stop-request.ts';
import type { SextonError } from '../../../text/errors.ts';
import { badArguments, readArguments } from '../arguments.ts';

export interface StopArguments {
  readonly names: readonly string[];
  readonly graceMs: number | undefined;
  readonly waits: boolean;
  readonly graveyard: string | undefined;
}

export function readStopArguments(args: readonly string[]): StopArguments {
  const { flags, words } = readArguments('stop', args, Number.POSITIVE_INFINITY);
  const names = namesOf(words, badStop);
  if (names.length > MAX_AMONG) throw badStop(`${names.length} names: at most ${MAX_AMONG}; give no name to stop all`);
  const graceMs = graceOf(flags.grace, badStop);
  return { names, graceMs, waits: flags['no-wait'] !== true, graveyard: flags.graveyard };
}

/** Why `sexton stop` cannot do what it was told. */
export function badStop(problem: string): SextonError {
  return badArguments('stop', problem);
}

type Bad = (problem: string) => SextonError;

/** Names of members, none of them twice. */
export function namesOf(words: readonly string[], bad: Bad): readonly string[] {
  const names = words.map((word) => {
    const name = parseName(word);
    if (!name.ok) throw bad(`${show(word)}: ${name.why}`);
    return name.value;
  });
  const twice = repeated(names);
  if (twice !== undefined) throw bad(`${twice} is named twice; name it once`);
  return names;
}

/** The time of `--grace` in milliseconds; undefined: it was not given. */
export function graceOf(text: string | undefined, bad: Bad): number | undefined {
  if (text === undefined) return undefined;
  const grace = parseSomeTime(text);
  if (!grace.ok) throw bad(`${flagLabel('grace', text)}: ${grace.why}`);
  return grace.value;
}
