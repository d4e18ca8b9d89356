/** Output of the subcommands that print. `run` never comes here: its stdout is the application's. */
import { getSystemErrorMessage, styleText } from 'node:util';
import { SextonError } from './errors.ts';

/** The width of the terminal, at least 80 columns. A pipe or a file gets everything. */
export function outputWidth(): number {
  return process.stdout.isTTY ? Math.max(80, process.stdout.columns) : Number.POSITIVE_INFINITY;
}

/** From one page of `--watch` to the next. */
export const WATCH_MS = 1_000;

/** On a terminal, moves the cursor home and clears all below it. */
export function clearing(): string {
  return process.stdout.isTTY && process.env.TERM !== 'dumb' ? '\x1b[H\x1b[J' : '';
}

/** Bold where stdout is a terminal with colours; NO_COLOR and FORCE_COLOR count as in Node. */
export function withBoldHeader(table: string): string {
  const end = table.indexOf('\n');
  return styleText('bold', table.slice(0, end), { stream: process.stdout }) + table.slice(end);
}

/** A line that asks for attention: yellow where stdout is a terminal with colours. */
export function asWarning(line: string): string {
  return styleText('yellow', line, { stream: process.stdout });
}

/** Resolves when all is written; to false when the reader has closed early (`| head`). */
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

export function printJson(value: unknown): Promise<boolean> {
  return print(jsonText(value));
}

/** Indented JSON with a line end. */
export function jsonText(value: unknown): string {
  return `${escaped(JSON.stringify(value, undefined, 2))}\n`;
}

/** JSON without control characters that a terminal executes: JSON.stringify leaves U+007F to U+009F as they are. */
export function escaped(json: string): string {
  return json.replaceAll(/[\x7f-\x9f]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}

function ignoreClosed(): void {
  // The callback of write() handles it.
}
