/** What `sexton stop` and `sexton restart` are asked: flags and names of members, in any order. */
import { flagLabel } from '../../../config/given.ts';
import { parseSomeTime } from '../../../config/notation/duration.ts';
import { repeated, show } from '../../../config/notation/parse.ts';
import { parseName } from '../../../config/notation/values.ts';
import { MAX_AMONG } from '../../../core/format/stop-request.ts';
import type { SextonError } from '../../../text/errors.ts';
import { badArguments, readArguments } from '../arguments.ts';

export type StopAction = 'stop' | 'restart';

export interface StopArguments {
  readonly action: StopAction;
  readonly names: readonly string[];
  readonly graceMs: number | undefined;
  /** In a restart: the code of a rule that restarts all containers. */
  readonly byRule: number | undefined;
  readonly waits: boolean;
  readonly graveyard: string | undefined;
}

export function readStopArguments(action: StopAction, args: readonly string[]): StopArguments {
  const bad = (problem: string): SextonError => badArguments(action, problem);
  const { flags, words } = readArguments(action, args, Number.POSITIVE_INFINITY);
  const names = words.map((word) => {
    const name = parseName(word);
    if (!name.ok) throw bad(`${show(word)}: ${name.why}`);
    return name.value;
  });
  const twice = repeated(names);
  if (twice !== undefined) throw bad(`${twice} is named twice; name it once`);
  if (action === 'stop' && names.length > MAX_AMONG)
    throw bad(`${names.length} names: at most ${MAX_AMONG}; give no name to stop all`);
  const rule = flags['by-rule'];
  if (rule !== undefined && !(/^\d{1,3}$/.test(rule) && Number(rule) <= 255))
    throw bad(`${flagLabel('by-rule', rule)}: not an exit code; write one from 0 to 255, such as 88`);
  if (rule !== undefined && names.length > 0) throw bad('--by-rule: such a rule restarts all containers; give no name');
  const grace = flags.grace === undefined ? undefined : parseSomeTime(flags.grace);
  if (grace?.ok === false) throw bad(`${flagLabel('grace', flags.grace ?? '')}: ${grace.why}`);
  return {
    action,
    names,
    graceMs: grace?.value,
    byRule: rule === undefined ? undefined : Number(rule),
    waits: flags['no-wait'] !== true,
    graveyard: flags.graveyard,
  };
}
