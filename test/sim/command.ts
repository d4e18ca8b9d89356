/** The command of a container, as it truly is, whatever sexton knows of it. */
import type { ChildExit } from '../../src/core/exit.ts';

export interface Command {
  readonly id: number;
  readonly bornAtMs: number;
  exit?: ChildExit;
  diedAtMs?: number;
  isGroupGone: boolean;
  /** `signal` by sexton. */
  readonly signals: { readonly atMs: number; readonly signal: number }[];
}

export function statusOf({ code, signal }: ChildExit): number {
  return signal === undefined ? (code ?? 0) : 128 + signal;
}
