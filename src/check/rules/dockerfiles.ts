import { parseWords } from '../../config/notation/words.ts';
import type { Severity } from '../finding.ts';
import { shellOf } from '../stop/images.ts';
import { fateOf, type ShellCommand, shellCommandOf } from '../stop/shell.ts';
import { argvOfStage, isBehindEntrypoint } from '../stop/started.ts';
import { shellSeverity } from './common.ts';
import type { StageCase } from './rule.ts';

/** How bad it is that the shell of a script is PID 1; undefined: it becomes the command. */
export function scriptSeverity({ stage, images }: StageCase, script: ShellCommand | undefined): Severity | undefined {
  if (script === undefined) return undefined;
  const shell = shellOf(stage.base, images);
  const fate = fateOf(script, shell);
  return fate.mayStay ? shellSeverity(script, fate, shell) : undefined;
}

export function shellFormOf({ stage, started }: StageCase): ShellCommand | undefined {
  return started?.form === 'shell' ? shellCommandOf([stage.shell, '-c', started.script]) : undefined;
}

/** The command line of PID 1; empty: a shell that stays, or what is not known. */
export function firstProcessOf(about: StageCase): readonly string[] {
  const { stage, started, images } = about;
  if (started?.form !== 'shell') return argvOfStage(stage, images);
  const command = shellFormOf(about);
  const words = parseWords(started.script);
  const becomes = command !== undefined && scriptSeverity(about, command) === undefined;
  return becomes && words.ok && !isBehindEntrypoint(stage, images) ? words.value : [];
}
