/** Exit codes: the one table, and what a container exits with when its member's life is over. */
import type { MemberConfig } from './config.ts';
import { SIGINT } from './signals.ts';

/** In a range of ends, SIGNAL_EXIT + n is the end by signal n, above all exit codes. */
export const SIGNAL_EXIT = 256;

/** Whichever of the two ended the process, as waitpid(2) has it. */
export interface ChildExit {
  readonly code: number | undefined;
  readonly signal: number | undefined;
}

export const EXIT = {
  ok: 0,
  /** sexton's own error: bad configuration, a gate that timed out. */
  sexton: 125,
  notExecutable: 126,
  notFound: 127,
  /** Plus the signal's number: ended by a signal. */
  signalBase: 128,
} as const;

/** The shell's convention: the child's code, or 128 + n for signal n. */
export function statusOf(exit: ChildExit): number {
  return exit.signal === undefined ? (exit.code ?? EXIT.sexton) : EXIT.signalBase + exit.signal;
}

/** Control-C: the kernel sends it to a command that owns the terminal, and sexton sees only this end. */
export function isInterrupt(exit: ChildExit): boolean {
  return exit.signal === SIGINT;
}

/** The exit code for a failed execve(2): ENOENT 127, everything else (EACCES, ENOEXEC, EISDIR, ENOTDIR) 126. */
export function statusOfErrno(errno: string): number {
  return errno === 'ENOENT' ? EXIT.notFound : EXIT.notExecutable;
}

export interface Ending {
  readonly status: number;
  /** It was asked to stop by the platform, or because the mains have finished. */
  readonly stopped: boolean;
  /** Sexton's own KILL ended a requested stop: 137 stays visible. */
  readonly overdue: boolean;
}

/** What the container exits with. The tombstone keeps the truth. */
export function containerStatus(config: MemberConfig, ending: Ending): number {
  const policy = config.exitCode;
  switch (policy.kind) {
    case 'keep':
      return ending.status;
    case 'zero-when-stopped':
      return ending.stopped && !ending.overdue ? EXIT.ok : ending.status;
    case 'map':
      return policy.codes[ending.status] ?? ending.status;
    default:
      return policy satisfies never;
  }
}

/** The errno of a start that an unacknowledged stop request prevented: nothing was started. */
export const OVERTAKEN = 'ECANCELED';
