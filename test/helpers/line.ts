/** Asks sexton-init what it gives the supervisor for a command line of another program. */
import { spawnSync } from 'node:child_process';
import { type DropIn, dropInOf } from '../../src/config/dropin/dropin.ts';

export interface Line {
  readonly as: DropIn;
  readonly words: readonly string[];
}

/** undefined: the command line starts nothing. */
export function readLine(
  init: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Line | undefined {
  const { stdout, stderr, status } = spawnSync(init, argv, { argv0: 'sexton-line', env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`sexton-line ended with ${status}: ${stderr}`);
  const [called, ...words] = stdout.split('\0').slice(0, -1);
  const as = dropInOf(called);
  return as && { as, words };
}
