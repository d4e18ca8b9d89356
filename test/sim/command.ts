/** The command of a container, as it truly is, whatever sexton knows of it. */
import type { ChildExit } from '../../src/core/exit.ts';

export interface Command {
  readonly id: number;
  readonly bornAtMs: number;
  exit: ChildExit | undefined;
  diedAtMs: number | undefined;
  isGroupGone: boolean;
  /** `signal` by sexton. */
  readonly signals: { readonly atMs: number; readonly signal: number }[];
}

export function bornCommand(id: number, bornAtMs: number): Command {
  return { id, bornAtMs, exit: undefined, diedAtMs: undefined, isGroupGone: false, signals: [] };
}

export function statusOf({ code, signal }: ChildExit): number {
  return signal === undefined ? (code ?? 0) : 128 + signal;
}
