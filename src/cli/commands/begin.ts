/**
 * `sexton begin` starts a new generation of the graveyard. An init container runs it, so that members ignore what
 * earlier runs of the pod left.
 */
import { join } from 'node:path';
import type { Env } from '../../config/env.ts';
import { flagLabel, variableLabel } from '../../config/given.ts';
import { parseGraveyard } from '../../config/notation/values.ts';
import { beginGeneration } from '../../runtime/graveyard/generation.ts';
import { SextonError } from '../../text/errors.ts';
import { badArguments, readArguments } from './arguments.ts';

export async function begin(args: readonly string[], env: Env): Promise<void> {
  const { graveyard } = readArguments('begin', args, 0).flags;
  const variable = env.SEXTON_GRAVEYARD;
  if (graveyard !== undefined) return beginIn('begin', graveyard, flagLabel('graveyard', graveyard));
  if (variable) return beginIn('begin', variable, variableLabel('SEXTON_GRAVEYARD', variable));
  return beginIn('begin', '/graveyard', '/graveyard');
}

/** `label`: how a message names the directory. */
export async function beginIn(subcommand: string, text: string, label: string): Promise<void> {
  const dir = parseGraveyard(text);
  if (!dir.ok) throw badArguments(subcommand, `${label}: ${dir.why}`);
  try {
    await beginGeneration(dir.value);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const path = join(dir.value, '.generation');
    throw new SextonError('cannotBegin', { path, why: BEGIN_PROBLEMS.get(code) ?? message }, { cause: error });
  }
}

const BEGIN_PROBLEMS: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOENT', 'no such directory'],
  ['ENOTDIR', 'not a directory'],
  ['EACCES', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
]);
