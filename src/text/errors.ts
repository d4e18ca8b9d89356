/**
 * Defines sexton's own errors: one class, one table from code to message. Each message says what cannot be done, why,
 * and the remedy. All end with exit code 125, so that a code of the application is never mistaken for one of ours.
 */
import { write, writeSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';

const MESSAGES = {
  badConfiguration: ({ problems }: { readonly problems: readonly string[] }) =>
    `cannot start: ${problems.join('\n  ')}`,
  badArguments: ({ subcommand, problem }: { readonly subcommand: string; readonly problem: string }) =>
    `cannot run sexton ${subcommand}: ${problem}`,
  unknownSubcommand: ({ word, near }: { readonly word: string; readonly near: string | undefined }) =>
    `unknown subcommand ${word}; ${near === undefined ? 'to' : `did you mean sexton ${near}? To`} run a command, write sexton -- ${word}`,
  unreadableGraveyard: ({ path, why }: { readonly path: string; readonly why: string }) =>
    `cannot read the graveyard ${path}: ${why}; name the shared directory with --graveyard DIR`,
  cannotPrint: ({ why }: { readonly why: string }) => `cannot write to stdout: ${why}`,
  cannotBegin: ({ path, why }: { readonly path: string; readonly why: string }) =>
    `cannot write ${path}: ${why}; mount the volume of the graveyard there, writable for this uid`,
  cannotInstall: ({ target, why }: { readonly target: string; readonly why: string }) =>
    `cannot install to ${target}: ${why}`,
  notInstallable: ({ source, why }: { readonly source: string; readonly why: string }) =>
    `cannot install from ${source}: ${why}; run this command from the image of sexton, or from what npm run build has laid`,
} as const;

export type ErrorCode = keyof typeof MESSAGES;
export type Facts<Code extends ErrorCode> = Parameters<(typeof MESSAGES)[Code]>[0];

export class SextonError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'SextonError';
  readonly code: Code;

  constructor(code: Code, facts: Facts<Code>, options?: ErrorOptions) {
    const message = MESSAGES[code] as (facts: Facts<Code>) => string;
    super(message(facts), options);
    this.code = code;
  }
}

/** Why a file cannot be read or written, on one line: without the call and the path, which Node's messages have. */
export function whyNoFile(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  return errno === undefined ? message.replaceAll(/\s+/g, ' ') : getSystemErrorMessage(errno);
}

/** The message for any error. One that is not a SextonError is a defect of sexton and is shown with its stack. */
function complaintOf(error: unknown): string {
  if (isSextonError(error)) return `sexton: ${error.message}\n`;
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `sexton: internal error: ${detail}\n`;
}

/** Compares names: `run` and the other subcommands are bundled apart, each with a class of its own. */
function isSextonError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'SextonError';
}

export function complain(error: unknown): void {
  writeToStderr(complaintOf(error));
}

/** Prints a problem of a subcommand that continues. */
export function warn(text: string): void {
  writeToStderr(`sexton: ${text}\n`);
}

/** By the descriptor: touching process.stderr makes an inherited pipe non-blocking for all that share it. */
function writeToStderr(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Nothing reads it: the exit code has to do.
  }
}

/** Prints an error without blocking; resolves when it is written or cannot be. */
export function complainInTime(error: unknown): Promise<void> {
  return new Promise((resolve) => write(2, complaintOf(error), () => resolve()));
}
