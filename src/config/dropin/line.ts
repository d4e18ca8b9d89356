/**
 * What a command line of tini, dumb-init or kubexit asks for.
 */

import type { Given } from '../given.ts';
import type { HostSettings } from '../run-config.ts';

export type DropIn = 'tini' | 'dumb-init' | 'kubexit';

/** To run a command. */
export interface DropInRun {
  readonly asks: 'run';
  /** Where the command begins in argv. */
  readonly at: number;
  readonly given: readonly Given[];
  readonly implied: readonly Given[];
  readonly host: HostSettings;
  /** What it exits with when the command cannot be started; `undefined`: 127 or 126. */
  readonly startFailureCode: number | undefined;
}

export type DropInLine =
  | DropInRun
  | { readonly asks: 'help' | 'version' | 'license' }
  /** Nothing is started. */
  | { readonly asks: 'nothing'; readonly problem: string };
