/**
 * A stop as text for a terminal: a bar a member on one time axis, then the critical chain.
 */
import { formatTable } from '../cli/text/table.ts';
import { type Axis, axisOf, isShown, shareOf, ticksOf } from './axis.ts';
import { FLEET_COLUMNS, fleetOf, workloadRows, worstFirst } from './fleet.ts';
import { type Activity, forcedOf, lateOf, type MemberStop, type PodStop } from './stop.ts';
import { deadlineText, signalsOf } from './svg.ts';
import { chainLines, endText, nameOf, presentLines, sentenceOf, shorten } from './words.ts';

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
  const story = pod.isOver ? chain(pod, style.width) : presentLines(pod).flatMap((line) => wrap(line, style.width));
  const lines = [...wrap(title, style.width), '', ...chart(pod, style), '', ...story];
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Figures of many pods by workload and phase, then the stops that were forced or late. */
export function fleetText(pods: readonly PodStop[], width: number): string {
  const head = FLEET_COLUMNS.map((name) => name.toUpperCase());
  const table = formatTable(head, fleetOf(pods).flatMap(workloadRows), width);
  const bad = worstFirst(pods).filter((pod) => forcedOf(pod).length + lateOf(pod).length > 0);
  const lines = bad.slice(0, MAX_NAMED).flatMap((pod) => wrap(`${pod.pod || 'pod'}: ${sentenceOf(pod)}`, width));
  const more = bad.length > MAX_NAMED ? [`and ${bad.length - MAX_NAMED} more forced or late`] : [];
  return [table, ...(bad.length === 0 ? [] : [`\n${[...lines, ...more].join('\n')}\n`])].join('');
}

/** Stops that are told of one by one; the others are in the figures. */
const MAX_NAMED = 10;

interface Glyph {
  readonly unicode: string;
  readonly ascii: string;
  /** SGR parameters, ECMA-48. */
  readonly colour: string;
}

const GLYPHS: Readonly<Record<Activity, Glyph>> = {
  run: { unicode: '·', ascii: '.', colour: '2' },
  wait: { unicode: ' ', ascii: ' ', colour: '2' },
  hold: { unicode: '─', ascii: '-', colour: '36' },
  drain: { unicode: '▒', ascii: '=', colour: '34' },
  linger: { unicode: '╌', ascii: '~', colour: '36' },
  'pre-stop': { unicode: '░', ascii: '+', colour: '35' },
  stop: { unicode: '█', ascii: '#', colour: '33' },
  kill: { unicode: '▓', ascii: 'K', colour: '31' },
  rest: { unicode: '▚', ascii: '%', colour: '33' },
};
/** Where a signal was received or sent. */
const MARK: Glyph = { unicode: '▾', ascii: 'v', colour: '1' };
const DEADLINE: Glyph = { unicode: '┊', ascii: '|', colour: '31' };

const MIN_BAR = 20;
const MAX_NAME = 20;
const MAX_END = 36;
/** Columns that the time of a tick takes, with a gap. */
const TICK = 8;

function chart(pod: PodStop, style: TextStyle): readonly string[] {
  const ellipsis = style.ascii ? '~' : '…';
  const names = pod.members.map(
    ({ name, role }) => `${shorten(name, MAX_NAME, ellipsis)}${role === 'sidecar' ? ' (sidecar)' : ''}`,
  );
  const ends = pod.members.map((member) => shorten(endText(member), MAX_END, ellipsis));
  const nameWidth = Math.max(...names.map((name) => name.length));
  const endWidth = Math.max(...ends.map((end) => end.length));
  const axis = axisOf(pod);
  const scale = { axis, width: Math.max(MIN_BAR, style.width - nameWidth - endWidth - 4) };
  const indent = ' '.repeat(nameWidth + 2);
  const rows = pod.members.map((member, index) => {
    const name = (names[index] ?? '').padEnd(nameWidth);
    return `${name}  ${barOf(member, pod, scale, style)}  ${ends[index]}`;
  });
  return [`${indent}${scaleText(scale)}`, ...rows, ...deadlineRow(pod, scale, indent), '', legend(pod, axis, style)];
}

interface Scale {
  readonly axis: Axis;
  /** Columns. */
  readonly width: number;
}

function columnOf({ axis, width }: Scale, atMs: number): number {
  return Math.round(shareOf(axis, atMs) * width);
}

function barOf(member: MemberStop, { deadlineMs }: PodStop, scale: Scale, style: TextStyle): string {
  const { axis, width } = scale;
  const cells: Glyph[] = new Array(width).fill(NOTHING);
  // It is drawn under the bars, so that it shows what went beyond.
  if (deadlineMs !== undefined && deadlineMs <= axis.untilMs)
    cells[Math.min(width - 1, columnOf(scale, deadlineMs))] = DEADLINE;
  for (const span of member.spans.filter((one) => isShown(axis, one))) {
    const from = Math.min(columnOf(scale, span.fromMs), width - 1);
    // What was too short to be seen is worth a column all the same.
    const until = Math.max(columnOf(scale, span.untilMs), from + 1);
    cells.fill(GLYPHS[span.activity], from, until);
  }
  for (const { atMs } of signalsOf(member, axis)) {
    const at = Math.min(width - 1, columnOf(scale, atMs));
    // A phase of a single column is to be seen itself.
    if (cells[at] === cells[at + 1] || cells[at] === cells[at - 1] || cells[at] === NOTHING) cells[at] = MARK;
  }
  return cells.map((glyph) => paint(glyph, style)).join('');
}

const NOTHING: Glyph = { unicode: ' ', ascii: ' ', colour: '0' };

function paint(glyph: Glyph, { colours, ascii }: TextStyle): string {
  const text = ascii ? glyph.ascii : glyph.unicode;
  return colours && text !== ' ' ? `\x1b[${glyph.colour}m${text}\x1b[0m` : text;
}

/** `0` above the moment of the request, then a few round times. */
function scaleText(scale: Scale): string {
  let line = '';
  for (const { atMs, text } of ticksOf(scale.axis, Math.max(1, Math.floor(scale.width / TICK)))) {
    const column = columnOf(scale, atMs);
    if (column >= line.length && column + text.length <= scale.width) line = `${line.padEnd(column)}${text} `;
  }
  return line;
}

function deadlineRow(pod: PodStop, scale: Scale, indent: string): readonly string[] {
  if (pod.deadlineMs === undefined) return [];
  const text = deadlineText(pod);
  if (pod.deadlineMs > scale.axis.untilMs) return [`${indent}${text.padStart(scale.width)}`];
  const column = Math.min(scale.width - 1, columnOf(scale, pod.deadlineMs));
  return [`${indent}${column >= text.length ? text.padStart(column + 1) : `${' '.repeat(column)}${text}`}`];
}

function legend(pod: PodStop, axis: Axis, style: TextStyle): string {
  const used = new Map<Activity, Set<string>>();
  for (const span of pod.members.flatMap(({ spans }) => spans).filter((one) => isShown(axis, one))) {
    const names = used.get(span.activity) ?? new Set<string>();
    used.set(span.activity, names.add(nameOf(span)));
  }
  const entries = (Object.keys(GLYPHS) as Activity[]).flatMap((activity) => {
    const names = used.get(activity);
    return names === undefined ? [] : [`${paint(GLYPHS[activity], style)} ${shorten([...names].join('/'), MAX_NAME)}`];
  });
  const hasMarks = pod.members.some((member) => signalsOf(member, axis).length > 0);
  return [...entries, ...(hasMarks ? [`${paint(MARK, style)} signal`] : [])].join('   ');
}

/** In a column of their own, so that the eye can follow from line to line which member waited for which. */
function chain(pod: PodStop, width: number): readonly string[] {
  const lines = chainLines(pod);
  return lines.flatMap((line, index) => {
    const head = index === 0 ? 'ended last  ' : 'before it   ';
    return wrap(line, width - head.length).map(
      (part, at) => `${at === 0 ? head : ' '.repeat(head.length)}${part.trimStart()}`,
    );
  });
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
