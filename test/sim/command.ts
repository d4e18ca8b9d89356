/** The command of a container, as it truly is, whatever sexton knows of it. */
import type { ChildExit } from '../../src/core/exit.ts';
import type { Process } from './processes.ts';

export interface Command {
  readonly id: number;
  readonly bornAtMs: number;
  exit?: ChildExit;
  diedAtMs?: number;
  /** Init has reported that no root of it is left. */
  areRootsGone: boolean;
  readonly first: Process;
  /** Its signals by sexton, also those that reach another process in its place. */
  readonly signals: { readonly atMs: number; readonly signal: number }[];
}

export function statusOf({ code, signal }: ChildExit): number {
  return signal === undefined ? (code ?? 0) : 128 + signal;
}
