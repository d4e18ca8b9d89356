/** Facts kept for the record: the rules only ask the chronicle whether this life has started and is ready. */
import type { ProbeKind } from '../config.ts';
import type { ChildExit } from '../exit.ts';
import type { StageName } from '../format/evidence.ts';
import type { DeathReason, HistoryEntry } from '../format/tombstone.ts';

export interface Chronicle {
  /** When the command was first started in this container. */
  readonly firstBorn: string | undefined;
  /** When its current life began. */
  readonly born: string | undefined;
  /** When the startup probe and post-start of this life were done. */
  readonly started: string | undefined;
  /** Since when this life is started and ready. */
  readonly healthy: string | undefined;
  /** How the life before this one ended. */
  readonly last: { readonly at: string; readonly status: number; readonly reason: DeathReason } | undefined;
  readonly stopRequested: string | undefined;
  readonly died: string | undefined;
  readonly diedMonotonic: number | undefined;
  /** The last exit of the child. */
  readonly exit: ChildExit | undefined;
  /** The stages of the stop under way, or of a life that has failed. */
  readonly stages: readonly Stage[];
  readonly tally: Tally;
  readonly history: readonly HistoryEntry[];
}

export interface Stage {
  readonly name: StageName;
  readonly signal?: number;
  readonly sinceMs: number;
  /** How many processes its signal has reached besides the command's own. */
  readonly others?: number;
}

export type Counter = 'supervisors' | 'signals' | 'oomKills' | `${ProbeKind} ${'success' | 'failure'}`;
export type Tally = Readonly<Partial<Record<Counter, number>>>;

export const NOTHING_WRITTEN: Chronicle = {
  firstBorn: undefined,
  born: undefined,
  started: undefined,
  healthy: undefined,
  last: undefined,
  stopRequested: undefined,
  died: undefined,
  diedMonotonic: undefined,
  exit: undefined,
  stages: [],
  tally: {},
  history: [],
};
