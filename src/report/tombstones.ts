/**
 * From a tombstone to how its member stopped. The history has each phase, hook and signal with its time; an older or a
 * foreign tombstone has less, and what it does not tell is left out.
 */

import { absencesIn, hurryIn } from '../core/format/course.ts';
import { cleanText, type HistoryEntry, type Tombstone } from '../core/format/tombstone.ts';
import { BRIEF_WAKE_MS } from '../core/lifecycle/stages.ts';
import { RESTART } from '../core/state/state.ts';
import type { Activity } from './bars.ts';
import { connectionsOf, courseOf, withinBounds } from './evidence.ts';
import type { InPlace, Mark, MemberStop, Span } from './stop.ts';
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

/**
 * `pod`: what to call the pod where the tombstone names no session. `now` ends what goes on. Of one that lives, and was
 * restarted in place, the last restart is the stop.
 */
export function stopOfTombstone(tombstone: Tombstone, pod: string, now: Now): MemberStop {
  const { Session, Name, Role, Died, Restarts = 0 } = tombstone;
  const inPlace = inPlaceOf(tombstone);
  const again = inPlace && againOf(tombstone);
  const { ExitCode = again && tombstone.LastExitCode, Signal, Reason, StopReason = again && RESTART } = tombstone;
  const History = again === undefined ? (tombstone.History ?? []) : lastRestart(tombstone.History ?? []);
  const requestedMs = again === undefined ? msOf(tombstone.StopRequested) : firstMs(History);
  const diedMs = msOf(Died);
  const of = Session ?? pod;
  const over = History.findLast(({ Event }) => Event === 'over');
  return {
    pod: of,
    workload: of,
    name: Name,
    role: Role,
    spans: spansOf(
      { ...tombstone, History },
      requestedMs,
      diedMs ?? again?.againMs ?? (Reason === 'lost' ? lastSign(tombstone) : now.ms),
    ),
    marks: History.flatMap(markOf),
    requestedMs,
    stopReason: StopReason,
    diedMs,
    deadlineMs: deadlineOf(tombstone, diedMs, now),
    graceMs: withinBounds(over?.GraceMs),
    reason: Reason,
    exitCode: ExitCode,
    signal: Signal,
    forcedBy: forcerOf(History, over),
    restarts: Restarts,
    ...(tombstone.StopScope === 'container' && { isAlone: true }),
    ...(inPlace && { inPlace }),
    ...(again && { again }),
    connections: connectionsOf(over),
    startAfter: tombstone.StartAfter ?? [],
    ...(again === undefined &&
      courseOf(absencesIn(History, tombstone.StopRequested), hurryIn(History, tombstone.StopRequested), requestedMs)),
    ...clockOf(tombstone, diedMs),
  };
}

function inPlaceOf({ PodRestarts = 0, RestartBy = '?' }: Tombstone): InPlace | undefined {
  return PodRestarts === 0 ? undefined : { times: PodRestarts, by: cleanText(RestartBy) };
}

/** undefined: something else has happened since. */
function againOf({ Died, StopRequested, History = [] }: Tombstone): MemberStop['again'] {
  if (Died !== undefined || StopRequested !== undefined) return undefined;
  const restart = lastRestart(History);
  const endedMs = msOf(restart.find(({ Event }) => Event === 'ended for a restart')?.At);
  const againMs = msOf(restart.findLast(({ Event }) => Event === 'started')?.At);
  return endedMs === undefined || againMs === undefined || againMs < endedMs ? undefined : { endedMs, againMs };
}

/**
 * From the request to the next start, in the order in which it was written: init and supervisor read the clock one after
 * the other. Empty: the history does not go back so far.
 */
function lastRestart(history: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const asked = history.findLastIndex(({ Event }) => Event === 'restart requested');
  if (asked < 0) return [];
  const again = history.findIndex(({ Event }, index) => index > asked && Event === 'started');
  let last = '';
  return history.slice(asked, again < 0 ? undefined : again + 1).map((entry) => {
    if (entry.At > last) last = entry.At;
    return { ...entry, At: last };
  });
}

function clockOf({ Boot, DiedMonotonic }: Tombstone, diedMs: number | undefined): Pick<MemberStop, 'clock'> {
  if (Boot === undefined || DiedMonotonic === undefined || diedMs === undefined) return {};
  // No machine has run for longer than since 1970.
  if (DiedMonotonic > diedMs) return {};
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
  const asked: Start = { atMs: requestedMs, activity: ranAt(History, requestedMs) ? 'wake' : 'wait' };
  const [first, ...others] = stepsOf(History, requestedMs);
  if (first === undefined) return between([...run, asked], endMs);
  const isBrief = asked.activity === 'wake' && first.atMs - requestedMs < BRIEF_WAKE_MS;
  const begin = isBrief ? [{ ...first, atMs: requestedMs }] : [asked, first];
  return between([...run, ...begin, ...others], endMs);
}

function lastSign({ Born, StopRequested, History = [] }: Tombstone): number {
  return Math.max(0, ...[Born, StopRequested, History.at(-1)?.At].flatMap((at) => msOf(at) ?? []));
}

/** Whether its command was there, to be stopped as soon as its supervisor was. */
function ranAt(history: readonly HistoryEntry[], atMs: number): boolean {
  const before = history.filter(({ At }) => (msOf(At) ?? Number.POSITIVE_INFINITY) <= atMs);
  return before.findLast(({ Event }) => Event === 'started' || Event === 'exited')?.Event === 'started';
}

function stepsOf(history: readonly HistoryEntry[], requestedMs: number): readonly Start[] {
  const steps: Start[] = [];
  let isStopping = false;
  for (const [index, entry] of history.entries()) {
    const atMs = msOf(entry.At);
    if (atMs === undefined || atMs < requestedMs) continue;
    // The rung's signal is noted in front of the phase that it begins; where init has sent it by itself, with its own
    // time, and the phase when the supervisor hears of it.
    const next = history[index + 1];
    isStopping ||= isPhase(entry, 'stopping') || (next !== undefined && isPhase(next, 'stopping'));
    const step = stepOf(entry, isStopping);
    if (step !== undefined) steps.push({ ...step, atMs });
  }
  // The phase begins with the signal and adds nothing to it.
  return steps.filter(({ activity, signal, atMs }) => {
    const isBare = activity === 'stop' && signal === undefined;
    return !isBare || !steps.some((other) => other.atMs <= atMs && other.signal !== undefined);
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
  waiting: { activity: 'wait' },
  starting: { activity: 'wait' },
};

function between(starts: readonly Start[], endMs: number): readonly Span[] {
  const sorted = starts.toSorted((a, b) => a.atMs - b.atMs);
  return sorted.flatMap(({ atMs, activity, signal }, index) => {
    const untilMs = Math.min(endMs, sorted[index + 1]?.atMs ?? endMs);
    // A signal at the very end takes no time, and is to be seen all the same.
    const isEnd = sorted.slice(index + 1).every((next) => next.activity === 'wait');
    return untilMs <= atMs && !isEnd
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
    case 'restart requested':
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
  const mono = diedMs === undefined ? (now.boot === Boot ? now.mono : undefined) : DiedMonotonic;
  const leftMs = Deadline === undefined || mono === undefined ? undefined : withinBounds(Deadline - mono);
  return leftMs === undefined ? undefined : (diedMs ?? now.ms) + leftMs;
}

/** At the end of a life it is on the record; an older tombstone has only the signals. */
function forcerOf(history: readonly HistoryEntry[], over: HistoryEntry | undefined): string | undefined {
  if (over !== undefined) return typeof over.ForcedBy === 'string' ? over.ForcedBy : undefined;
  const exit = history.findLast(({ Event }) => Event === 'exited');
  if (exit?.Signal === 'SIGKILL') return typeof exit.By === 'string' ? exit.By : 'an unknown sender';
  return history.some(({ Event, Signal }) => Event === 'signal sent' && Signal === 'SIGKILL') ? 'sexton' : undefined;
}

function firstMs(history: readonly HistoryEntry[]): number | undefined {
  return msOf(history[0]?.At);
}
