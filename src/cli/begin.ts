/**
 * `sexton begin`: what an init container runs so that members can tell what earlier runs of the same pod have left in the graveyard.
 */
import { join } from 'node:path';
import { beginGeneration } from '../runtime/graveyard/generation.ts';
import type { Env } from './env.ts';
import { SextonError } from './errors.ts';
import { flagLabel, variableLabel } from './given.ts';
import { refuseRest, takeToolFlags } from './tool-flags.ts';
import { parseGraveyard } from './values.ts';

export async function begin(args: readonly string[], env: Env): Promise<void> {
  const { flags, rest } = takeToolFlags('begin', args, ['graveyard']);
  refuseRest('begin', rest, ['graveyard']);
  const { graveyard } = flags;
  const variable = env.SEXTON_GRAVEYARD;
  if (graveyard !== undefined) return beginIn('begin', graveyard, flagLabel('graveyard', graveyard));
  if (variable) return beginIn('begin', variable, variableLabel('SEXTON_GRAVEYARD', variable));
  return beginIn('begin', '/graveyard', '/graveyard');
}

/** `label`: how a message names the directory. */
export async function beginIn(subcommand: string, text: string, label: string): Promise<void> {
  const dir = parseGraveyard(text);
  if (!dir.ok) throw new SextonError('badArguments', { subcommand, problem: `${label}: ${dir.why}` });
  try {
    await beginGeneration(dir.value);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const path = join(dir.value, '.generation');
    throw new SextonError('cannotBegin', { path, why: WHY.get(code) ?? message }, { cause: error });
  }
}

const WHY: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOENT', 'no such directory'],
  ['ENOTDIR', 'not a directory'],
  ['EACCES', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
]);
