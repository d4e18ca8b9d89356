/**
 * A stop as text for a terminal: a bar a member on one time axis, then the critical chain.
 */
import { formatTable } from '../cli/table.ts';
import { fleetOf } from './fleet.ts';
import { type Activity, type MemberStop, type PodStop, stopMsOf } from './stop.ts';
import { roundStep } from './time.ts';
import { chainLines, endOf, nameOf, seconds, sentenceOf } from './words.ts';

export interface TextStyle {
  /** Columns. */
  readonly width: number;
  /** Escape sequences for colours. */
  readonly colours: boolean;
  /** Nothing but ASCII. */
  readonly ascii: boolean;
}

export function podText(pod: PodStop, style: TextStyle): string {
  const title = `${pod.pod === '' ? 'pod' : `pod ${pod.pod}`}: ${sentenceOf(pod)}`;
  const lines = [...wrap(title, style.width), '', ...chart(pod, style), '', ...wrapAll(chain(pod), style.width)];
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Figures of many pods by workload. */
export function fleetText(pods: readonly PodStop[], width: number): string {
  const head = ['WORKLOAD', 'PODS', 'FORCED', 'LATE', 'P50', 'P95', 'MAX', 'LEAST LEFT'];
  const rows = fleetOf(pods).map(({ workload, pods: count, forced, late, stop, leastLeftMs }) => {
    const times = [stop.p50, stop.p95, stop.max, leastLeftMs].map((ms) => (ms === undefined ? '-' : seconds(ms)));
    return [workload || 'pod', String(count), String(forced), String(late), ...times];
  });
  return formatTable(head, rows, width);
}

interface Glyph {
  readonly unicode: string;
  readonly ascii: string;
  /** SGR parameters, ECMA-48. */
  readonly colour: string;
}

const GLYPHS: Readonly<Record<Activity, Glyph>> = {
  run: { unicode: '·', ascii: '.', colour: '2' },
  wait: { unicode: '┄', ascii: '_', colour: '2' },
  hold: { unicode: '─', ascii: '-', colour: '36' },
  drain: { unicode: '▒', ascii: '=', colour: '34' },
  linger: { unicode: '╌', ascii: '~', colour: '36' },
  'pre-stop': { unicode: '░', ascii: '+', colour: '35' },
  stop: { unicode: '█', ascii: '#', colour: '33' },
  kill: { unicode: '▓', ascii: 'K', colour: '31' },
  rest: { unicode: '▓', ascii: '%', colour: '33' },
};

const LEAST_BAR = 20;
const MAX_NAME = 20;

function chart(pod: PodStop, style: TextStyle): readonly string[] {
  const names = pod.members.map(
    ({ name, role }) => `${cut(name, MAX_NAME, style)}${role === 'sidecar' ? ' (sidecar)' : ''}`,
  );
  const ends = pod.members.map(endText);
  const nameWidth = Math.max(...names.map((name) => name.length));
  const endWidth = Math.max(...ends.map((end) => end.length));
  const barWidth = Math.max(LEAST_BAR, style.width - nameWidth - endWidth - 4);
  const axis = axisOf(pod, barWidth);
  const bars = pod.members.map((member, index) => {
    return `${(names[index] ?? '').padEnd(nameWidth)}  ${barOf(member, axis, style)}  ${ends[index]}`;
  });
  const indent = ' '.repeat(nameWidth + 2);
  return [`${indent}${scaleOf(axis)}`, ...bars, ...deadlineRow(pod, axis, indent), '', ...legend(pod, style)];
}

interface Axis {
  readonly fromMs: number;
  readonly lengthMs: number;
  readonly width: number;
}

/** A little of the time before is shown, so that it can be seen who ran and who did not. */
function axisOf(pod: PodStop, width: number): Axis {
  const lengthMs = Math.max(1, stopMsOf(pod));
  const shown =
    pod.deadlineMs !== undefined && pod.deadlineMs - pod.beganMs <= 2 * lengthMs ? pod.deadlineMs : pod.endedMs;
  const untilMs = Math.max(pod.endedMs, shown);
  const leadMs = (untilMs - pod.beganMs) / 12 || 1;
  return { fromMs: pod.beganMs - leadMs, lengthMs: Math.max(1, untilMs - pod.beganMs + leadMs), width };
}

function columnOf({ fromMs, lengthMs, width }: Axis, atMs: number): number {
  return Math.round(((atMs - fromMs) / lengthMs) * width);
}

function barOf({ spans }: MemberStop, axis: Axis, style: TextStyle): string {
  const cells: (Activity | undefined)[] = new Array(axis.width).fill(undefined);
  for (const { activity, fromMs, untilMs } of spans) {
    const from = Math.max(0, columnOf(axis, fromMs));
    // What was too short to be seen is worth a column all the same, but for what only led to the next.
    const until = Math.min(axis.width, Math.max(columnOf(axis, untilMs), activity === 'wait' ? 0 : from + 1));
    for (let column = Math.min(from, axis.width - 1); column < until; column += 1) cells[column] = activity;
  }
  return cells.map((activity) => (activity === undefined ? ' ' : paint(activity, style))).join('');
}

function paint(activity: Activity, { colours, ascii }: TextStyle): string {
  const glyph = GLYPHS[activity];
  const text = ascii ? glyph.ascii : glyph.unicode;
  return colours ? `\x1b[${glyph.colour}m${text}\x1b[0m` : text;
}

/** `0 s` under the moment of the request, then a few round times. */
function scaleOf(axis: Axis): string {
  const zeroMs = axis.fromMs + (axis.lengthMs * 1) / 13;
  const step = roundStep((axis.fromMs + axis.lengthMs - zeroMs) / Math.max(1, Math.floor(axis.width / 12)));
  let line = '';
  for (let atMs = 0; zeroMs + atMs <= axis.fromMs + axis.lengthMs; atMs += step) {
    const column = columnOf(axis, zeroMs + atMs);
    if (column < line.length) continue;
    line = `${line.padEnd(column)}${atMs === 0 ? '0' : seconds(atMs)} `;
  }
  return line.slice(0, axis.width);
}

function deadlineRow(pod: PodStop, axis: Axis, indent: string): readonly string[] {
  if (pod.deadlineMs === undefined) return [];
  const column = columnOf(axis, pod.deadlineMs);
  const text = `deadline at ${seconds(pod.deadlineMs - pod.beganMs)}`;
  if (column > axis.width) return [`${indent}${text.padStart(axis.width)}`];
  const line = column >= text.length + 2 ? `${text} |`.padStart(column + 1) : `${'|'.padStart(column + 1)} ${text}`;
  return [`${indent}${line}`];
}

function legend({ members }: PodStop, style: TextStyle): readonly string[] {
  const used = new Map<Activity, Set<string>>();
  for (const span of members.flatMap(({ spans }) => spans)) {
    const names = used.get(span.activity) ?? new Set<string>();
    used.set(span.activity, names.add(nameOf(span)));
  }
  const entries = (Object.keys(GLYPHS) as Activity[]).flatMap((activity) => {
    const names = used.get(activity);
    return names === undefined ? [] : [`${paint(activity, style)} ${[...names].join('/')}`];
  });
  return [entries.join('   ')];
}

function chain(pod: PodStop): readonly string[] {
  return chainLines(pod).map((line, index) => `${index === 0 ? 'ended last' : 'before it '}  ${line}`);
}

function endText(member: MemberStop): string {
  return member.forcedBy === undefined ? endOf(member) : `${endOf(member)}, KILL by ${member.forcedBy}`;
}

function cut(text: string, max: number, { ascii }: TextStyle): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}${ascii ? '~' : '…'}`;
}

function wrapAll(lines: readonly string[], width: number): readonly string[] {
  return lines.flatMap((line) => wrap(line, width));
}

function wrap(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(/(?<=\S) /)) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current);
      current = `    ${word}`;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  return [...lines, current];
}
