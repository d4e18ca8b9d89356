import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { within } from './wait.ts';

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  /** null: a signal ended it. */
  readonly code: number | null;
}

/** With this environment and no other; PATH alone where none is given. */
export async function run(
  [file = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = { PATH: process.env.PATH ?? '' },
): Promise<Outcome> {
  const child = spawn(file, args, { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const [stdout, stderr, [code]] = await within(`${file} ${args.join(' ')} ends`, ended);
  return { stdout, stderr, code: code as number | null };
}
