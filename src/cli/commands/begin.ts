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
import { accepted, readArguments } from './arguments.ts';
import { whyNoDirectory } from './here.ts';

export async function begin(args: readonly string[], env: Env): Promise<void> {
  const { graveyard } = readArguments('begin', args, 0).flags;
  const variable = env.SEXTON_GRAVEYARD;
  if (graveyard !== undefined) return beginIn('begin', graveyard, flagLabel('graveyard', graveyard));
  if (variable) return beginIn('begin', variable, variableLabel('SEXTON_GRAVEYARD', variable));
  return beginIn('begin', '/graveyard', '/graveyard');
}

/** `label`: how a message names the directory. */
export async function beginIn(subcommand: string, text: string, label: string): Promise<void> {
  const dir = accepted(subcommand, label, parseGraveyard(text));
  try {
    await beginGeneration(dir);
  } catch (error) {
    const path = join(dir, '.generation');
    throw new SextonError('cannotBegin', { path, why: whyNoDirectory(error) }, { cause: error });
  }
}
