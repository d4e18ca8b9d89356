/**
 * From a tombstone to how its member stopped. The history has each phase, hook and signal with its time. An older or a
 * foreign tombstone has less, and what it does not say is left out.
 */
import { absencesIn, hurryIn } from '../core/format/course.ts';
import { msOf } from '../core/format/evidence.ts';
import { cleanText, type HistoryEntry, type Tombstone } from '../core/format/tombstone.ts';
import { BRIEF_WAKE_MS } from '../core/lifecycle/stages.ts';
import { RESTART } from '../core/state/state.ts';
import type { Activity } from './bars.ts';
import { busyOf, connectionsOf, courseOf, withinBounds } from './evidence.ts';
import type { Mark, MemberStop, Span } from './stop.ts';

/** The moment of the report. The monotonic clock of a boot tells when a stop that goes on has to be over. */
export interface Now {
  readonly ms: number;
  readonly mono?: number;
  readonly boot?: string;
}

/** `now` ends what goes on. The last restart in place is the stop of a member that lives. */
export function stopOfTombstone(tombstone: Tombstone, now: Now): MemberStop {
  const { Session, Name, Role, Died, Reason, Restarts = 0, StopRequested, PodRestarts = 0 } = tombstone;
  const again = PodRestarts === 0 ? undefined : againOf(tombstone);
  const { ExitCode = again && tombstone.LastExitCode, Signal, StopReason = again && RESTART } = tombstone;
  const History = again === undefined ? (tombstone.History ?? []) : lastRestart(tombstone.History ?? []);
  const requestedMs = again === undefined ? msOf(StopRequested) : firstMs(History);
  const diedMs = msOf(Died);
  const untilMs = diedMs ?? again?.againMs ?? (Reason === 'lost' ? lastSign(tombstone) : now.ms);
  const over = History.findLast(({ Event }) => Event === 'over');
  return {
    pod: '',
    session: Session,
    workload: '',
    name: Name,
    role: Role,
    spans: spansOf({ ...tombstone, History }, requestedMs, untilMs),
    marks: History.flatMap(markOf),
    requestedMs,
    stopReason: StopReason,
    diedMs,
    deadlineMs: deadlineOf(tombstone, diedMs, now),
    graceMs: withinBounds(over?.GraceMs),
    reason: Reason,
    exitCode: ExitCode,
    containerExitCode: withinBounds(over?.ContainerExitCode),
    signal: Signal,
    forcedBy: forcerOf(History, over),
    restarts: Restarts,
    ...(tombstone.StopScope === 'container' && { isAlone: true }),
    inPlace: PodRestarts === 0 ? undefined : { times: PodRestarts, by: cleanText(tombstone.RestartBy ?? '?') },
    again,
    connections: connectionsOf(over),
    busy: busyOf(over),
    startAfter: tombstone.StartAfter ?? [],
    ...(again === undefined &&
      courseOf(absencesIn(History, StopRequested), hurryIn(History, StopRequested), requestedMs)),
    clock: clockOf(tombstone, diedMs),
  };
}

/** undefined: something else has happened since. */
function againOf({ Died, StopRequested, History = [] }: Tombstone): MemberStop['again'] {
  const restart = lastRestart(History);
  const endedMs = msOf(restart.find(({ Event }) => Event === 'ended for a restart')?.At) ?? Number.NaN;
  const againMs = msOf(restart.findLast(({ Event }) => Event === 'started')?.At) ?? Number.NaN;
  return Died === undefined && StopRequested === undefined && againMs >= endedMs ? { endedMs, againMs } : undefined;
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

function clockOf({ Boot, DiedMonotonic }: Tombstone, diedMs: number | undefined): MemberStop['clock'] {
  if (Boot === undefined || DiedMonotonic === undefined || diedMs === undefined) return undefined;
  // No machine has run for longer than since 1970.
  return DiedMonotonic > diedMs ? undefined : { boot: Boot, aheadMs: diedMs - DiedMonotonic };
}

interface Start extends Pick<Span, 'activity' | 'signal'> {
  readonly atMs: number;
}

function spansOf({ Born, History = [] }: Tombstone, requestedMs: number | undefined, endMs: number): readonly Span[] {
  const bornMs = msOf(Born) ?? firstMs(History);
  const run: readonly Start[] = bornMs === undefined ? [] : [{ atMs: bornMs, activity: 'run' }];
  if (requestedMs === undefined) return between(run, endMs);
  // The history shows its first phase a moment after the request, or not at all.
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
  const isStop = (entry: HistoryEntry | undefined): boolean => entry?.Event === 'phase' && entry.Phase === 'stopping';
  let isStopping = false;
  const steps = history.flatMap((entry, index): Start[] => {
    const atMs = msOf(entry.At);
    if (atMs === undefined || atMs < requestedMs) return [];
    // The rung's signal is noted in front of the phase that it begins. When init has sent it by itself, it has its own
    // time, and the phase the time at which the supervisor hears of it.
    isStopping ||= isStop(entry) || isStop(history[index + 1]);
    const step = stepOf(entry, isStopping);
    return step === undefined ? [] : [{ ...step, atMs }];
  });
  // The phase begins with the signal and adds nothing to it.
  return steps.filter(({ activity, signal, atMs }) => {
    const isBare = activity === 'stop' && signal === undefined;
    return !isBare || !steps.some((other) => other.atMs <= atMs && other.signal !== undefined);
  });
}

function stepOf(entry: HistoryEntry, isStopping: boolean): Pick<Span, 'activity' | 'signal'> | undefined {
  const { Event, Phase, Hook, Signal } = entry;
  const activity = Event === 'phase' ? PHASES.get(Phase) : undefined;
  if (activity !== undefined) return { activity };
  if (Event === 'hook' && Hook === 'pre-stop') return { activity: 'pre-stop' };
  if (Event !== 'signal sent' || !isStopping) return undefined;
  return { activity: Signal === 'SIGKILL' ? 'kill' : 'stop', signal: shortName(Signal) };
}

const PHASES: ReadonlyMap<unknown, Activity> = new Map([
  ['holding', 'hold'],
  ['draining', 'drain'],
  ['stopping', 'stop'],
  ['waiting', 'wait'],
  ['starting', 'wait'],
]);

function between(starts: readonly Start[], endMs: number): readonly Span[] {
  const sorted = starts.toSorted((a, b) => a.atMs - b.atMs);
  return sorted.flatMap(({ atMs, ...step }, index) => {
    const untilMs = Math.min(endMs, sorted[index + 1]?.atMs ?? endMs);
    // A signal at the very end takes no time, and is to be seen all the same.
    const isEnd = sorted.slice(index + 1).every((next) => next.activity === 'wait');
    return untilMs <= atMs && !isEnd ? [] : [{ ...step, fromMs: Math.min(atMs, untilMs), untilMs }];
  });
}

function markOf(entry: HistoryEntry): Mark[] {
  const [atMs, text] = [msOf(entry.At), textOf(entry)];
  const isSignal = entry.Event.startsWith('signal ');
  return atMs === undefined || text === undefined ? [] : [{ atMs, text: cleanText(text), isSignal }];
}

function textOf({ Event, Signal, ExitCode, Hook, Result }: HistoryEntry): string | undefined {
  if (Event === 'signal received' || Event === 'signal sent') return `${Event.slice(7)} ${shortName(Signal)}`;
  if (Event === 'exited') return ExitCode === undefined ? `ended by ${shortName(Signal)}` : `exited ${ExitCode}`;
  if (Event === 'hook ended') return `${Hook}: ${Result}`;
  return Event === 'started' || Event === 'restart' || Event === 'restart requested' ? Event : undefined;
}

function shortName(signal: unknown): string {
  return String(signal).replace(/^SIG/, '');
}

/** `Deadline` is monotonic: it can be put on the axis by the death, which is on both clocks, or by this moment. */
function deadlineOf(tombstone: Tombstone, diedMs: number | undefined, now: Now): number | undefined {
  const { Deadline, DiedMonotonic, Boot } = tombstone;
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
