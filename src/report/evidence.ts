/**
 * From the evidence of a member's end (its termination message, or the last line of its log) to how it stopped.
 * Everything is input from elsewhere: what is not of its type is taken for absent.
 */

import type { Connections } from '../core/format/evidence.ts';
import type { DeathReason } from '../core/format/tombstone.ts';
import { cleanText } from '../core/format/tombstone.ts';
import type { Activity } from './bars.ts';
import type { Absence, Mark, MemberStop, Span } from './stop.ts';
import { msOf } from './time.ts';
import { forcerText } from './words.ts';

/** Where the evidence was found. */
export interface Origin {
  readonly pod: string;
  readonly workload: string;
  /** What the platform says of the end, for evidence that was written before it: a KILL leaves no time for more. */
  readonly end?: {
    readonly diedMs: number | undefined;
    readonly exitCode: number | undefined;
    readonly forcedBy: string | undefined;
  };
}

/** undefined: it is none. */
export function stopOfEvidence(value: unknown, { pod, workload, end }: Origin): MemberStop | undefined {
  if (!isRecord(value)) return undefined;
  const name = textOf(value, 'Name');
  const written = timeOf(value, 'Died');
  // Nothing was written after the stop had begun: it was ended from outside.
  const unfinished = textOf(value, 'Unfinished');
  const isCut = written === undefined && unfinished !== undefined;
  const isRefusal = textOf(value, 'Reason') === 'never-started';
  const endedMs = written ?? (isCut || isRefusal ? end?.diedMs : undefined);
  if (name === undefined || textOf(value, 'Summary') === undefined || endedMs === undefined) return undefined;
  const requestedMs = timeOf(value, 'StopRequested');
  const times = phaseTimesOf(value.Phases);
  const listed = isCut ? withUnfinished(times, unfinished) : times;
  // The kubelet cuts its times to seconds.
  const diedMs = isCut ? Math.max(endedMs, (requestedMs ?? 0) + lengthOf(listed)) : endedMs;
  const graceLeftMs = numberOf(value, 'GraceLeftMs');
  const bornMs = timeOf(value, 'Born');
  const session = textOf(value, 'Session');
  const stopReason = textOf(value, 'StopReason');
  const spans = [...runOf(bornMs, requestedMs ?? diedMs), ...phasesOf(listed, requestedMs, diedMs, isCut)];
  const of = pod === '' && session !== undefined ? session : pod;
  return {
    pod: of,
    // Of logs that do not name their pods, all are taken for replicas of one workload.
    workload: workload === '' ? pod : workload,
    name,
    role: roleOf(textOf(value, 'Role')),
    spans,
    marks: marksOf(spans, requestedMs, stopReason),
    requestedMs,
    stopReason,
    diedMs,
    deadlineMs: graceLeftMs === undefined ? undefined : diedMs + graceLeftMs,
    graceMs: numberOf(value, 'GraceMs'),
    reason: textOf(value, 'Reason') as DeathReason | undefined,
    exitCode: numberOf(value, 'ExitCode') ?? (isCut ? end?.exitCode : undefined),
    signal: textOf(value, 'Signal'),
    forcedBy: textOf(value, 'ForcedBy') ?? (isCut ? (end?.forcedBy ?? 'an unknown sender') : undefined),
    restarts: numberOf(value, 'Restarts') ?? 0,
    ...oomKillsOf(numberOf(value, 'OomKills')),
    connections: connectionsOf(value.Connections),
    startAfter: [],
    ...courseOf(Array.isArray(value.Absences) ? value.Absences.slice(0, MAX_PHASES) : [], value.Hurried, requestedMs),
  };
}

function oomKillsOf(oomKills: number | undefined): Pick<MemberStop, 'oomKills'> {
  return oomKills === undefined ? {} : { oomKills };
}

/** What `core/format/course.ts` makes of a history. */
export function courseOf(
  absences: readonly unknown[],
  hurried: unknown,
  requestedMs: number | undefined,
): Pick<MemberStop, 'absences' | 'hurried'> {
  if (requestedMs === undefined) return {};
  const told = absences.flatMap((absence): Absence[] => {
    if (!isRecord(absence)) return [];
    const [afterMs, ms] = [numberOf(absence, 'AfterMs'), numberOf(absence, 'Ms')];
    if (afterMs === undefined || ms === undefined || afterMs < 0 || ms < 0) return [];
    const [signal, by, code] = [textOf(absence, 'Signal'), textOf(absence, 'By'), numberOf(absence, 'ExitCode')];
    const how =
      signal === undefined ? `exit ${code ?? 'unknown'}` : by === undefined ? signal : `killed by ${forcerText(by)}`;
    return [{ fromMs: requestedMs + afterMs, untilMs: requestedMs + afterMs + ms, how }];
  });
  const signal = isRecord(hurried) ? textOf(hurried, 'Signal')?.replace(/^SIG/, '') : undefined;
  const afterMs = isRecord(hurried) ? numberOf(hurried, 'AfterMs') : undefined;
  return {
    ...(told.length > 0 && { absences: told }),
    ...(signal !== undefined && afterMs !== undefined && { hurried: { atMs: requestedMs + afterMs, signal } }),
  };
}

function runOf(bornMs: number | undefined, untilMs: number): readonly Span[] {
  return bornMs === undefined || bornMs > untilMs ? [] : [{ activity: 'run', fromMs: bornMs, untilMs }];
}

interface PhaseTime extends Pick<Span, 'activity' | 'signal'> {
  readonly ms: number;
}

function phaseTimesOf(phases: unknown): readonly PhaseTime[] {
  return (Array.isArray(phases) ? phases.slice(-MAX_PHASES) : []).flatMap((phase) => {
    if (!isRecord(phase)) return [];
    const ms = numberOf(phase, 'Ms');
    const name = textOf(phase, 'Phase');
    const signal = textOf(phase, 'Signal')?.replace(/^SIG/, '');
    if (ms === undefined || ms < 0 || name === undefined) return [];
    return [{ activity: activityOf(name, signal), ...(signal !== undefined && { signal }), ms }];
  });
}

/** The phase that it was in is listed with its signal only, since it had no time yet. */
function withUnfinished(times: readonly PhaseTime[], unfinished: string): readonly PhaseTime[] {
  const isListed = times.at(-1)?.signal !== undefined && (unfinished === 'ladder' || unfinished === 'rest');
  return isListed ? times : [...times, { activity: activityOf(unfinished, undefined), ms: 0 }];
}

function lengthOf(times: readonly PhaseTime[]): number {
  return times.reduce((sum, { ms }) => sum + ms, 0);
}

/**
 * One after the other, backwards from the death: the first ones may be of a life that had failed before the request. Of
 * a stop that was cut the last one has the time that the others leave.
 */
function phasesOf(
  times: readonly PhaseTime[],
  requestedMs: number | undefined,
  diedMs: number,
  isCut: boolean,
): readonly Span[] {
  if (requestedMs === undefined || requestedMs > diedMs) return [];
  const spans: Span[] = [];
  const cutMs = isCut ? diedMs - requestedMs - lengthOf(times) : 0;
  let untilMs = diedMs;
  for (const { ms, ...phase } of times.toReversed()) {
    // A signal at the very end takes no time, and is to be seen all the same.
    if (untilMs === requestedMs && spans.length > 0) break;
    const fromMs = Math.max(requestedMs, untilMs - ms - (spans.length === 0 ? cutMs : 0));
    spans.unshift({ ...phase, fromMs, untilMs });
    untilMs = fromMs;
  }
  const [first, ...others] = spans;
  return first === undefined
    ? [{ activity: 'stop', fromMs: requestedMs, untilMs: diedMs }]
    : [{ ...first, fromMs: requestedMs }, ...others];
}

/** The signal that asked for the stop, and those that began a phase. */
function marksOf(
  spans: readonly Span[],
  requestedMs: number | undefined,
  stopReason: string | undefined,
): readonly Mark[] {
  const [, asked] = /^signal ([A-Z0-9+-]+)$/.exec(stopReason ?? '') ?? [];
  const received = asked === undefined || requestedMs === undefined ? [] : [markAt(requestedMs, `received ${asked}`)];
  return [
    ...received,
    ...spans.flatMap(({ signal, fromMs }) => (signal === undefined ? [] : [markAt(fromMs, `sent ${signal}`)])),
  ];
}

function markAt(atMs: number, text: string): Mark {
  return { atMs, text, isSignal: true };
}

const MAX_PHASES = 64;

function activityOf(phase: string, signal: string | undefined): Activity {
  if (phase === 'ladder') return signal === 'KILL' ? 'kill' : 'stop';
  if (phase === 'start') return 'wait';
  return ACTIVITIES.find((activity) => activity === phase) ?? 'stop';
}

const ACTIVITIES = ['wake', 'hold', 'drain', 'linger', 'pre-stop', 'rest'] as const;

export function connectionsOf(value: unknown): Connections | undefined {
  if (!isRecord(value)) return undefined;
  const [fresh, ignored, open] = [numberOf(value, 'New'), numberOf(value, 'Ignored'), numberOf(value, 'Open')];
  const ended = textOf(value, 'Ended');
  if (fresh === undefined || ignored === undefined || ended === undefined) return undefined;
  const LastNewMs = numberOf(value, 'LastNewMs');
  return {
    New: fresh,
    Ignored: ignored,
    ...(LastNewMs !== undefined && { LastNewMs }),
    ...(open !== undefined && { Open: open }),
    Ended: ended,
  };
}

function roleOf(text: string | undefined): MemberStop['role'] {
  return text === 'main' || text === 'sidecar' ? text : undefined;
}

function timeOf(value: Record<string, unknown>, key: string): number | undefined {
  return msOf(textOf(value, key));
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

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
