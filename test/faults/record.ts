/** What happened in a round, by CLOCK_MONOTONIC in milliseconds. The search for violations reads nothing else. */
import type { LogEvent } from '../helpers/timeline.ts';
import type { Plan } from './plan.ts';
import type { StrikeKind } from './strikes.ts';

export interface Happening {
  readonly kind: StrikeKind;
  readonly member: string;
  /** Taken before it began, and after it was over. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** Whether it found a living process, or something to damage. */
  readonly isHit: boolean;
  /** The grace period that the kubelet grants in a stop; otherwise how often the strike hit. */
  readonly value?: number;
  /** The members whose tombstones and handles were there when it began. */
  readonly written: readonly string[];
}

export interface ContainerLife {
  readonly member: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly status: number;
  readonly stderr: string;
}

export interface RoundRecord {
  readonly plan: Plan;
  readonly happenings: readonly Happening[];
  readonly lives: readonly ContainerLife[];
  readonly events: readonly LogEvent[];
  /** What lies in the graveyard at the end, with empty text for anything but a plain file. */
  readonly graveyard: ReadonlyMap<string, string>;
  /** When each member's tombstone and handle were first seen. */
  readonly writtenMs: ReadonlyMap<string, number>;
  /** The pod ended by itself, or by the deletion that was planned. */
  readonly endedByItself: boolean;
}

export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function hitsOf(
  record: Pick<RoundRecord, 'happenings'>,
  kinds: readonly StrikeKind[],
  member?: string,
): Happening[] {
  return record.happenings.filter(
    (it) => it.isHit && kinds.includes(it.kind) && (member === undefined || it.member === member),
  );
}
