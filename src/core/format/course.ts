/**
 * What a history says about the course of a stop beside its phases. Absences last from an end of the command to its next
 * start. A second stop signal may have cut a wait short.
 */
import type { HistoryEntry } from './tombstone.ts';

export interface AbsenceRecord {
  /** Milliseconds since the stop request. */
  readonly AfterMs: number;
  readonly Ms: number;
  readonly ExitCode?: number;
  readonly Signal?: string;
  /** The sender of the KILL that ended the command. */
  readonly By?: string;
}

export interface HurryRecord {
  readonly Signal: string;
  /** Milliseconds since the stop request. */
  readonly AfterMs: number;
}

/** The last absences, oldest first. `requested`: when the stop was asked for, as the history writes it. */
export function absencesIn(history: readonly HistoryEntry[], requested: string | undefined): readonly AbsenceRecord[] {
  if (requested === undefined) return [];
  const absences = history.flatMap((exit, index): AbsenceRecord[] => {
    if (exit.Event !== 'exited' || exit.At < requested) return [];
    const next = history.slice(index + 1).find(({ Event }) => Event === 'exited' || Event === 'started');
    if (next?.Event !== 'started') return [];
    const { ExitCode, Signal, By } = exit;
    return [
      {
        AfterMs: msBetween(requested, exit.At),
        Ms: msBetween(exit.At, next.At),
        ...(typeof ExitCode === 'number' && { ExitCode }),
        ...(typeof Signal === 'string' && { Signal }),
        ...(typeof By === 'string' && { By }),
      },
    ];
  });
  return absences.slice(-MAX_ABSENCES);
}

/** A termination message has 4096 bytes. */
const MAX_ABSENCES = 4;

/** undefined: no second stop signal came, or it changed nothing. */
export function hurryIn(history: readonly HistoryEntry[], requested: string | undefined): HurryRecord | undefined {
  if (requested === undefined) return undefined;
  const isRequest = ({ Event, Signal, At }: HistoryEntry): boolean =>
    Event === 'signal received' && At >= requested && STOP_SIGNALS.has(String(Signal));
  const first = history.findIndex(isRequest);
  const index = history.findIndex((entry, at) => at > first && isRequest(entry) && changes(history, at));
  const entry = history[index];
  return first < 0 || entry === undefined
    ? undefined
    : { Signal: String(entry.Signal), AfterMs: msBetween(requested, entry.At) };
}

/** The signals that platforms and people stop by. */
const STOP_SIGNALS: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT']);

/** The changes that a signal causes follow it directly. */
function changes(history: readonly HistoryEntry[], at: number): boolean {
  const received = history[at];
  return history
    .slice(at + 1, at + 3)
    .some(
      ({ Event, At }) =>
        (Event === 'phase' || Event === 'hook' || Event === 'signal sent') &&
        msBetween(received?.At ?? At, At) <= SAME_TURN_MS,
    );
}

const SAME_TURN_MS = 20;

function msBetween(from: string, until: string): number {
  return Math.max(0, Date.parse(until) - Date.parse(from));
}
