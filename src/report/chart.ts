/**
 * What text, picture and page draw of a stop: rows of bars on one time axis. A report makes it of what was, a check of
 * what will be. All text is printable: it went through `cleanText`.
 */
import { seconds } from '../core/format/evidence.ts';
import { type Axis, axisBetween, type Bar, type Mark, type Paint, shareOf } from './bars.ts';
import { type ComparedMember, comparisonOf, rangeText } from './prediction.ts';
import { endMsOf, lengthOf, type MemberStop, membersIn, type PodStop, type Span, stopMsOf } from './stop.ts';
import { endText, hasFailed, nameOf } from './words.ts';

export interface Chart {
  readonly axis: Axis;
  readonly rows: readonly Row[];
  readonly deadline: Note | undefined;
  /** Below the rows: what is to be seen at a moment. */
  readonly notes: readonly Note[];
}

export interface Row {
  readonly name: string;
  /** What stands beside the name: `sidecar`; empty: nothing. */
  readonly kind: string;
  /** In order, without overlaps. */
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
  readonly end: string;
  readonly isBad: boolean;
  /** It is below the row of what happened, and smaller. */
  readonly isPrediction: boolean;
}

export interface Note {
  readonly atMs: number;
  readonly text: string;
  /** For a picture that has room for it. */
  readonly detail?: string;
}

export function chartOf(pod: PodStop): Chart {
  const { beganMs, endedMs, deadlineMs } = pod;
  const { signalledMs = beganMs, members = [] } = comparisonOf(pod) ?? {};
  const expected = members.map(({ predicted }) => signalledMs + predicted.maxMs);
  const near = [...(deadlineMs === undefined ? [] : [deadlineMs]), ...expected].filter(
    (atMs) => atMs - beganMs <= 2 * stopMsOf(pod),
  );
  const ends = membersIn(pod).flatMap((member) => endMsOf(member) ?? []);
  const axis = axisBetween(beganMs, Math.max(endedMs, ...near), Math.min(beganMs, ...ends));
  const rows = pod.members.flatMap((member) => {
    const compared = members.find((one) => one.member === member);
    const row = rowOf(member, compared, axis);
    return compared === undefined ? [row] : [row, predictedRow(compared, signalledMs, axis)];
  });
  const text = deadlineMs === undefined ? '' : `deadline at ${seconds(deadlineMs - beganMs)}`;
  return { axis, rows, deadline: deadlineMs === undefined ? undefined : { atMs: deadlineMs, text }, notes: [] };
}

function rowOf(member: MemberStop, compared: ComparedMember | undefined, axis: Axis): Row {
  const isForced = member.forcedBy !== undefined || member.reason === 'lost';
  const kinds = [...(member.role === 'sidecar' ? ['sidecar'] : []), ...(member.isOfKubelet ? ['by the kubelet'] : [])];
  return {
    name: member.name,
    kind: kinds.join(', '),
    bars: member.spans.filter(({ untilMs }) => untilMs >= axis.fromMs).flatMap(barOf),
    marks: [...signalsOf(member, axis), ...endsOf(member, axis)],
    end: endText(member),
    isBad: isForced || hasFailed(member) || (compared?.differences.length ?? 0) > 0,
    isPrediction: false,
  };
}

function predictedRow({ predicted }: ComparedMember, signalledMs: number, axis: Axis): Row {
  const at = (ms: number): number => ms + signalledMs;
  const bars = predicted.bars.map((bar) => ({ ...bar, fromMs: at(bar.fromMs), untilMs: at(bar.untilMs) }));
  const marks = predicted.marks.map((mark) => ({ ...mark, atMs: at(mark.atMs) }));
  const kill = { never: '', maybe: ', perhaps KILL', always: ', KILL' }[predicted.kill];
  return {
    name: 'predicted',
    kind: '',
    bars: bars.filter(({ fromMs, untilMs }) => untilMs >= axis.fromMs && fromMs < axis.untilMs),
    marks: marks.filter((mark) => isOnAxis(axis, mark)),
    end: `${rangeText(predicted)}${kill}`,
    isBad: false,
    isPrediction: true,
  };
}

/** What was only waited for from one event to the next is not drawn. */
function barOf(span: Span): readonly Bar[] {
  const { activity: paint, fromMs, untilMs } = span;
  return paint === 'wait' ? [] : [{ paint, fromMs, untilMs, name: nameOf(span), label: labelOf(span) }];
}

/** `drain 4.2 s`. */
export function labelOf(span: Span): string {
  return `${nameOf(span)} ${seconds(lengthOf(span))}`;
}

/** The signals that are on the axis, one for each moment. */
function signalsOf({ marks }: MemberStop, axis: Axis): readonly Mark[] {
  const shown = marks.filter(({ isSignal, atMs }) => isSignal && atMs >= axis.fromMs && atMs <= axis.untilMs);
  const moments = Map.groupBy(shown, ({ atMs }) => Math.round(shareOf(axis, atMs) * 500));
  return [...moments.values()].map((group) => ({
    atMs: group[0]?.atMs ?? 0,
    text: [...new Set(group.map(({ text }) => text))].join(', '),
    kind: 'signal',
  }));
}

/** Where the command ended, to be started again. */
function endsOf({ absences = [] }: MemberStop, axis: Axis): readonly Mark[] {
  return absences
    .filter(({ fromMs }) => fromMs >= axis.fromMs && fromMs <= axis.untilMs)
    .map(({ fromMs, how }) => ({ atMs: fromMs, text: how, kind: 'ended' }));
}

export function isOnAxis({ untilMs }: Axis, { atMs }: Pick<Note, 'atMs'>): boolean {
  return atMs <= untilMs;
}

export function legendOf({ rows }: Chart): readonly (readonly [Paint | Mark['kind'], string])[] {
  const used = new Set<string>(
    rows.flatMap(({ bars, marks }) => [...bars.map(({ paint }) => paint), ...marks.map(({ kind }) => kind)]),
  );
  return LEGEND.filter(([what]) => used.has(what));
}

const LEGEND: readonly (readonly [Paint | Mark['kind'], string])[] = [
  ['run', 'running'],
  ['wake', 'its supervisor starts'],
  ['hold', 'hold: serving until other members have ended'],
  ['drain', 'drain'],
  ['linger', 'linger'],
  ['pre-stop', 'pre-stop hook'],
  ['stop', 'after a stop signal'],
  ['maybe', 'may still run'],
  ['kill', 'after KILL'],
  ['rest', 'leftover processes'],
  ['signal', 'a signal'],
  ['killed', 'KILL by the platform'],
  ['ended', 'the command ended, and was restarted'],
];
