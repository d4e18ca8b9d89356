/**
 * The words of `sexton restart [--grace 20s] [--by-rule 88] [--no-wait] [--graveyard DIR] [NAME...]`, in any order.
 */

import { flagLabel } from '../../../config/given.ts';
import { MAX_START_AFTER } from '../../../core/format/tombstone.ts';
import type { SextonError } from '../../../text/errors.ts';
import { badArguments, readArguments } from '../arguments.ts';
import { graceOf, namesOf } from '../stop/arguments.ts';

export interface RestartArguments {
  readonly names: readonly string[];
  readonly graceMs: number | undefined;
  /** The code of a rule that restarts all containers. */
  readonly byRule: number | undefined;
  readonly waits: boolean;
  readonly graveyard: string | undefined;
}

/** Who takes part stands in the tombstone of each. */
export const MAX_RESTARTED = MAX_START_AFTER;

export function readRestartArguments(args: readonly string[]): RestartArguments {
  const { flags, words } = readArguments('restart', args, Number.POSITIVE_INFINITY);
  const names = namesOf(words, badRestart);
  const byRule = flags['by-rule'] === undefined ? undefined : codeOf(flags['by-rule']);
  if (byRule !== undefined && names.length > 0)
    throw badRestart('--by-rule: such a rule restarts all containers; give no name');
  const graceMs = graceOf(flags.grace, badRestart);
  return { names, graceMs, byRule, waits: flags['no-wait'] !== true, graveyard: flags.graveyard };
}

/** Why `sexton restart` cannot do what it was told. */
export function badRestart(problem: string): SextonError {
  return badArguments('restart', problem);
}

function codeOf(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 255) return Number(text);
  throw badRestart(`${flagLabel('by-rule', text)}: not an exit code; write one from 0 to 255, such as 88`);
}
