/**
 * From a tombstone to how its member stopped. The history has each phase, hook and signal with its time; an older or a
 * foreign tombstone has less, and what it does not tell is left out.
 */

import { cleanText, type HistoryEntry, type Tombstone } from '../core/format/tombstone.ts';
import type { Activity } from './bars.ts';
import { connectionsOf } from './evidence.ts';
import type { Mark, MemberStop, Span } from './stop.ts';
import { msOf } from './time.ts';

/**
 * The moment of the report. With the monotonic clock, and the boot that it counts from, it is known when a stop that
 * goes on has to be over.
 */
export interface Now {
  readonly ms: number;
  readonly mono?: number;
  readonly boot?: string;
}

/** `pod`: what to call the pod where the tombstone names no session. `now` ends what goes on. */
export function stopOfTombstone(tombstone: Tombstone, pod: string, now: Now): MemberStop {
  const { Session, Name, Role, StopReason, Died, ExitCode, Signal, Reason, Restarts = 0, History = [] } = tombstone;
  const requestedMs = msOf(tombstone.StopRequested);
  const diedMs = msOf(Died);
  const of = Session ?? pod;
  const over = History.findLast(({ Event }) => Event === 'over');
  return {
    pod: of,
    workload: of,
    name: Name,
    role: Role,
    spans: spansOf(tombstone, requestedMs, diedMs ?? now.ms),
    marks: History.flatMap(markOf),
    requestedMs,
    stopReason: StopReason,
    diedMs,
    deadlineMs: deadlineOf(tombstone, diedMs, now),
    graceMs: numberOf(over?.GraceMs),
    reason: Reason,
    exitCode: ExitCode,
    signal: Signal,
    forcedBy: forcerOf(History, over),
    restarts: Restarts,
    connections: connectionsOf(over),
    startAfter: tombstone.StartAfter ?? [],
    ...clockOf(tombstone, diedMs),
  };
}

function clockOf({ Boot, DiedMonotonic }: Tombstone, diedMs: number | undefined): Pick<MemberStop, 'clock'> {
  if (Boot === undefined || DiedMonotonic === undefined || diedMs === undefined) return {};
  return { clock: { boot: Boot, aheadMs: diedMs - DiedMonotonic } };
}

interface Start extends Pick<Span, 'activity' | 'signal'> {
  readonly atMs: number;
}

function spansOf({ Born, History = [] }: Tombstone, requestedMs: number | undefined, endMs: number): readonly Span[] {
  const bornMs = msOf(Born) ?? firstMs(History);
  const run: readonly Start[] = bornMs === undefined ? [] : [{ atMs: bornMs, activity: 'run' }];
  if (requestedMs === undefined) return between(run, endMs);
  // Which phase it was in at once is told a moment after the request was written down, or not at all.
  const asked: Start = { atMs: requestedMs, activity: 'wait' };
  return between([...run, asked, ...stepsOf(History, requestedMs)], endMs);
}

function stepsOf(history: readonly HistoryEntry[], requestedMs: number): readonly Start[] {
  const steps: Start[] = [];
  let isStopping = false;
  for (const [index, entry] of history.entries()) {
    const atMs = msOf(entry.At);
    if (atMs === undefined || atMs < requestedMs) continue;
    // The rung's signal is noted in front of the phase that it begins.
    const next = history[index + 1];
    isStopping ||= isPhase(entry, 'stopping') || (next?.At === entry.At && isPhase(next, 'stopping'));
    const step = stepOf(entry, isStopping);
    if (step !== undefined) steps.push({ ...step, atMs });
  }
  // The phase begins with the signal and adds nothing to it.
  return steps.filter(({ activity, signal, atMs }, index) => {
    const isBare = activity === 'stop' && signal === undefined;
    return !isBare || !steps.some((other, at) => at !== index && other.atMs === atMs && other.signal !== undefined);
  });
}

function isPhase({ Event, Phase }: HistoryEntry, phase: string): boolean {
  return Event === 'phase' && Phase === phase;
}

function stepOf(entry: HistoryEntry, isStopping: boolean): Pick<Span, 'activity' | 'signal'> | undefined {
  const { Event, Phase, Hook, Signal } = entry;
  if (Event === 'phase') return Phase === undefined ? undefined : PHASES[String(Phase)];
  if (Event === 'hook' && Hook === 'pre-stop') return { activity: 'pre-stop' };
  if (Event !== 'signal sent' || !isStopping) return undefined;
  return Signal === 'SIGKILL' ? { activity: 'kill', signal: 'KILL' } : { activity: 'stop', signal: shortName(Signal) };
}

const PHASES: Readonly<Record<string, { readonly activity: Activity }>> = {
  holding: { activity: 'hold' },
  draining: { activity: 'drain' },
  stopping: { activity: 'stop' },
};

function between(starts: readonly Start[], endMs: number): readonly Span[] {
  const sorted = starts.toSorted((a, b) => a.atMs - b.atMs);
  return sorted.flatMap(({ atMs, activity, signal }, index) => {
    const untilMs = Math.min(endMs, sorted[index + 1]?.atMs ?? endMs);
    return untilMs <= atMs && index < sorted.length - 1
      ? []
      : [{ activity, ...(signal !== undefined && { signal }), fromMs: Math.min(atMs, untilMs), untilMs }];
  });
}

function markOf(entry: HistoryEntry): Mark[] {
  const atMs = msOf(entry.At);
  const text = textOf(entry);
  return atMs === undefined || text === undefined
    ? []
    : [{ atMs, text: cleanText(text), isSignal: entry.Event.startsWith('signal ') }];
}

function textOf({ Event, Signal, ExitCode, Hook, Result }: HistoryEntry): string | undefined {
  switch (Event) {
    case 'signal received':
      return `received ${shortName(Signal)}`;
    case 'signal sent':
      return `sent ${shortName(Signal)}`;
    case 'exited':
      return ExitCode === undefined ? `ended by ${shortName(Signal)}` : `exited ${ExitCode}`;
    case 'started':
    case 'restart':
      return Event;
    case 'hook ended':
      return `${Hook}: ${Result}`;
    default:
      return undefined;
  }
}

function shortName(signal: unknown): string {
  return String(signal).replace(/^SIG/, '');
}

/** `Deadline` is monotonic: it can be put on the axis by the death, which is on both clocks, or by this moment. */
function deadlineOf(
  { Deadline, DiedMonotonic, Boot }: Tombstone,
  diedMs: number | undefined,
  now: Now,
): number | undefined {
  if (Deadline === undefined) return undefined;
  if (diedMs !== undefined) return DiedMonotonic === undefined ? undefined : diedMs + (Deadline - DiedMonotonic);
  return now.mono === undefined || now.boot !== Boot ? undefined : now.ms + (Deadline - now.mono);
}

/** At the end of a life it is on the record; an older tombstone has only the signals. */
function forcerOf(history: readonly HistoryEntry[], over: HistoryEntry | undefined): string | undefined {
  if (over !== undefined) return typeof over.ForcedBy === 'string' ? over.ForcedBy : undefined;
  const exit = history.findLast(({ Event }) => Event === 'exited');
  if (exit?.Signal === 'SIGKILL') return typeof exit.By === 'string' ? exit.By : 'an unknown sender';
  return history.some(({ Event, Signal }) => Event === 'signal sent' && Signal === 'SIGKILL') ? 'sexton' : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function firstMs(history: readonly HistoryEntry[]): number | undefined {
  return msOf(history[0]?.At);
}
