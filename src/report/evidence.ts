/**
 * From the evidence of a member's end (its termination message, or the last line of its log) to how it stopped.
 * Everything is input from elsewhere: what is not of its type is taken for absent.
 */
import { type Busy, type Connections, msOf } from '../core/format/evidence.ts';
import { cleanText, type DeathReason } from '../core/format/tombstone.ts';
import { isRecord, recordOf } from '../text/record.ts';
import type { Activity } from './bars.ts';
import type { Absence, Mark, MemberStop, Span } from './stop.ts';
import { forcerText } from './words.ts';

export interface Origin {
  readonly pod: string;
  readonly workload: string;
  /** What the platform says of the end, for evidence that was written before it: a KILL leaves no time for more. */
  readonly end?: Pick<MemberStop, 'diedMs' | 'exitCode' | 'forcedBy'>;
}

/** `undefined`: the value is no evidence. */
export function stopOfEvidence(value: unknown, { pod, workload, end }: Origin): MemberStop | undefined {
  if (!isRecord(value)) return undefined;
  const [name, session, stopReason] = ['Name', 'Session', 'StopReason'].map((key) => textOf(value, key));
  const [bornMs, requestedMs, writtenMs] = ['Born', 'StopRequested', 'Died'].map((key) => msOf(textOf(value, key)));
  const unfinished = textOf(value, 'Unfinished');
  // Nothing was written after the stop had begun: it was ended from outside.
  const isCut = writtenMs === undefined && unfinished !== undefined;
  const isRefusal = textOf(value, 'Reason') === 'never-started';
  const endedMs = writtenMs ?? (isCut || isRefusal ? end?.diedMs : undefined);
  if (name === undefined || textOf(value, 'Summary') === undefined || endedMs === undefined) return undefined;
  const times = phaseTimesOf(value.Phases);
  const listed = isCut ? withUnfinished(times, unfinished) : times;
  // The kubelet cuts its times to seconds.
  const diedMs = isCut ? Math.max(endedMs, (requestedMs ?? 0) + sumOf(listed)) : endedMs;
  const graceLeftMs = numberOf(value, 'GraceLeftMs');
  const phases = spansOf(listed, requestedMs, diedMs, isCut);
  const run: Span = { activity: 'run', fromMs: bornMs ?? Number.NaN, untilMs: requestedMs ?? diedMs };
  const spans = run.fromMs <= run.untilMs ? [run, ...phases] : phases;
  const role = textOf(value, 'Role');
  return {
    pod,
    session,
    // All pods of logs that do not name their pods are taken for replicas of one workload.
    workload: workload === '' ? pod : workload,
    name,
    role: role === 'main' || role === 'sidecar' ? role : undefined,
    spans,
    marks: marksOf(spans, requestedMs, stopReason),
    requestedMs,
    stopReason,
    diedMs,
    deadlineMs: graceLeftMs === undefined ? undefined : diedMs + graceLeftMs,
    graceMs: numberOf(value, 'GraceMs'),
    reason: textOf(value, 'Reason') as DeathReason | undefined,
    exitCode: numberOf(value, 'ExitCode') ?? (isCut ? end?.exitCode : undefined),
    containerExitCode: numberOf(value, 'ContainerExitCode'),
    signal: textOf(value, 'Signal'),
    forcedBy: textOf(value, 'ForcedBy') ?? (isCut ? (end?.forcedBy ?? 'an unknown sender') : undefined),
    restarts: numberOf(value, 'Restarts') ?? 0,
    oomKills: numberOf(value, 'OomKills'),
    connections: connectionsOf(value.Connections),
    busy: busyOf(value.Busy),
    startAfter: [],
    ...courseOf(listIn(value.Absences).slice(0, MAX_PHASES), value.Hurried, requestedMs),
  };
}

/** What `core/format/course.ts` makes of a history. */
export function courseOf(
  absences: readonly unknown[],
  hurried: unknown,
  requestedMs: number | undefined,
): Pick<MemberStop, 'absences' | 'hurried'> {
  if (requestedMs === undefined) return {};
  const told = absences.filter(isRecord).flatMap((absence): Absence[] => {
    const [afterMs = -1, ms = -1, code] = ['AfterMs', 'Ms', 'ExitCode'].map((key) => numberOf(absence, key));
    if (afterMs < 0 || ms < 0) return [];
    const [signal, by] = [textOf(absence, 'Signal'), textOf(absence, 'By')];
    const how = by === undefined ? signal : signal && `killed by ${forcerText(by)}`;
    const fromMs = requestedMs + afterMs;
    return [{ fromMs, untilMs: fromMs + ms, how: how ?? `exit ${code ?? 'unknown'}` }];
  });
  const signal = textOf(recordOf(hurried), 'Signal')?.replace(/^SIG/, '');
  const afterMs = numberOf(recordOf(hurried), 'AfterMs');
  return {
    absences: told.length > 0 ? told : undefined,
    hurried: signal === undefined || afterMs === undefined ? undefined : { atMs: requestedMs + afterMs, signal },
  };
}

interface PhaseTime extends Pick<Span, 'activity' | 'signal'> {
  readonly ms: number;
}

function phaseTimesOf(phases: unknown): readonly PhaseTime[] {
  return listIn(phases)
    .slice(-MAX_PHASES)
    .filter(isRecord)
    .flatMap((phase) => {
      const [ms = -1, name] = [numberOf(phase, 'Ms'), textOf(phase, 'Phase')];
      const signal = textOf(phase, 'Signal')?.replace(/^SIG/, '');
      if (ms < 0 || name === undefined) return [];
      return [{ activity: activityOf(name, signal), ...(signal !== undefined && { signal }), ms }];
    });
}

/** The phase that it was in is listed with its signal only, since it had no time yet. */
function withUnfinished(times: readonly PhaseTime[], unfinished: string): readonly PhaseTime[] {
  const isListed = times.at(-1)?.signal !== undefined && (unfinished === 'ladder' || unfinished === 'rest');
  return isListed ? times : [...times, { activity: activityOf(unfinished, undefined), ms: 0 }];
}

function sumOf(times: readonly PhaseTime[]): number {
  return times.reduce((sum, { ms }) => sum + ms, 0);
}

/**
 * One phase after the other, backwards from the death: the first ones may be of a life that had failed before the
 * request. The last phase of a stop that was cut has the time that the others leave.
 */
function spansOf(times: readonly PhaseTime[], requestedMs: number | undefined, diedMs: number, isCut: boolean): Span[] {
  if (requestedMs === undefined || requestedMs > diedMs) return [];
  const spans: Span[] = [];
  const cutMs = isCut ? diedMs - requestedMs - sumOf(times) : 0;
  let untilMs = diedMs;
  for (const { ms, ...phase } of times.toReversed()) {
    // A signal at the very end takes no time, and is to be seen all the same.
    if (untilMs === requestedMs && spans.length > 0) break;
    const fromMs = Math.max(requestedMs, untilMs - ms - (spans.length === 0 ? cutMs : 0));
    spans.unshift({ ...phase, fromMs, untilMs });
    untilMs = fromMs;
  }
  const [first = { activity: 'stop', untilMs: diedMs }, ...others] = spans;
  return [{ ...first, fromMs: requestedMs }, ...others];
}

/** The signal that asked for the stop, and those that began a phase. */
function marksOf(spans: readonly Span[], requestedMs: number | undefined, stopReason = ''): readonly Mark[] {
  const markAt = (atMs: number, text: string): Mark => ({ atMs, text, isSignal: true });
  const [, asked] = /^signal ([A-Z0-9+-]+)$/.exec(stopReason) ?? [];
  const sent = spans.flatMap(({ signal, fromMs }) => (signal === undefined ? [] : [markAt(fromMs, `sent ${signal}`)]));
  return asked === undefined || requestedMs === undefined ? sent : [markAt(requestedMs, `received ${asked}`), ...sent];
}

const MAX_PHASES = 64;

function activityOf(phase: string, signal: string | undefined): Activity {
  if (phase === 'ladder') return signal === 'KILL' ? 'kill' : 'stop';
  if (phase === 'start') return 'wait';
  return ACTIVITIES.find((activity) => activity === phase) ?? 'stop';
}

const ACTIVITIES = ['wake', 'hold', 'drain', 'linger', 'pre-stop', 'rest'] as const;

export function connectionsOf(value: unknown): Connections | undefined {
  const seen = recordOf(value);
  const [New, Ignored, LastNewMs, Open] = ['New', 'Ignored', 'LastNewMs', 'Open'].map((key) => numberOf(seen, key));
  const Ended = textOf(seen, 'Ended');
  if (New === undefined || Ignored === undefined || Ended === undefined) return undefined;
  return { New, Ignored, ...(LastNewMs !== undefined && { LastNewMs }), ...(Open !== undefined && { Open }), Ended };
}

export function busyOf(value: unknown): Busy | undefined {
  const seen = recordOf(value);
  const [BusyFrom, BusyTo, BusyMs] = [textOf(seen, 'BusyFrom'), textOf(seen, 'BusyTo'), numberOf(seen, 'BusyMs')];
  if (BusyFrom === undefined || BusyTo === undefined || BusyMs === undefined) return undefined;
  return { BusyFrom, BusyTo, BusyMs };
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: Record<string, unknown>, key: string): string | undefined {
  const text = Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof text === 'string' && text !== '' ? cleanText(text) : undefined;
}

function numberOf(value: Record<string, unknown>, key: string): number | undefined {
  return withinBounds(Object.hasOwn(value, key) ? value[key] : undefined);
}

export function withinBounds(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= MAX_NUMBER ? value : undefined;
}

/** 31 days in milliseconds: no stop, no code and no count of connections is beyond, and a Date can hold the sum. */
const MAX_NUMBER = 2_678_400_000;
