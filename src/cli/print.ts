/**
 * Output of the subcommands that print. `run` never comes here: its stdout is the application's.
 */
import { getSystemErrorMessage } from 'node:util';
import { SextonError } from './errors.ts';

/** The width of the terminal, at least 80 columns. A pipe or a file gets everything. */
export function outputWidth(): number {
  return process.stdout.isTTY ? Math.max(80, process.stdout.columns) : Number.POSITIVE_INFINITY;
}

/** Resolves when all is written. A reader that closed early (`| head`) has what it wanted: false. */
export function print(text: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    if (!process.stdout.listeners('error').includes(ignoreClosed)) process.stdout.on('error', ignoreClosed);
    process.stdout.write(text, (error) => {
      const { code, errno = 0 } = (error ?? {}) as NodeJS.ErrnoException;
      if (error && code !== 'EPIPE')
        reject(new SextonError('cannotPrint', { why: getSystemErrorMessage(errno) }, { cause: error }));
      else resolve(code !== 'EPIPE');
    });
  });
}

function ignoreClosed(): void {
  // The callback of write() has it.
}
