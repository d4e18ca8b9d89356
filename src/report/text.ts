/** A stop as text for a terminal: a sentence, the chart with what each sign means, then the critical chain. */
import { formatTable } from '../text/table.ts';
import { type Axis, type Mark, type Paint, shareOf, ticksOf } from './bars.ts';
import { type Chart, chartOf, isOnAxis, type Note, type Row } from './chart.ts';
import { FLEET_COLUMNS, fleetOf, isBad, workloadRows, worstFirst } from './fleet.ts';
import { comparisonLines, isAsPredicted } from './prediction.ts';
import type { PodStop } from './stop.ts';
import { chainLines, podName, presentLines, sentenceOf, shorten, wrap } from './words.ts';

export interface TextStyle {
  /** Columns. */
  readonly width: number;
  readonly colours: boolean;
  readonly ascii: boolean;
}

export function podText(pod: PodStop, style: TextStyle): string {
  const { width } = style;
  const title = `${pod.pod === '' ? '' : 'pod '}${podName(pod)}: ${sentenceOf(pod)}`;
  const story = pod.isOver ? chain(pod, width) : presentLines(pod).flatMap((line) => wrap(line, width));
  const compared = comparisonLines(pod).flatMap((line) => wrap(line, width));
  const told = compared.length === 0 ? [] : [...compared, ''];
  const lines = [...wrap(title, width), '', ...chartLines(chartOf(pod), style), '', ...told, ...story];
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Figures of many pods by workload and phase, then the stops that were forced or late. */
export function fleetText(pods: readonly PodStop[], width: number): string {
  const head = FLEET_COLUMNS.map((name) => name.toUpperCase());
  const table = formatTable(head, fleetOf(pods).flatMap(workloadRows), width);
  const bad = worstFirst(pods).filter((pod) => isBad(pod) || !isAsPredicted(pod));
  if (bad.length === 0) return table;
  const lines = bad.slice(0, MAX_NAMED).flatMap((pod) => {
    const told = [sentenceOf(pod), ...(isAsPredicted(pod) ? [] : comparisonLines(pod))];
    return wrap(`${podName(pod)}: ${told.join('; ')}`, width);
  });
  const isCompared = pods.some(({ prediction }) => prediction !== undefined);
  const kinds = isCompared ? 'forced, late, or not as predicted' : 'forced or late';
  const more = bad.length > MAX_NAMED ? [`and ${bad.length - MAX_NAMED} more ${kinds}`] : [];
  return `${table}\n${[...lines, ...more].join('\n')}\n`;
}

/** Stops that are listed one by one; the others are in the figures. */
const MAX_NAMED = 10;

/** In a column of their own, so that the eye can follow from line to line which member waited for which. */
function chain(pod: PodStop, width: number): readonly string[] {
  return chainLines(pod).flatMap((line, index) => {
    const head = index === 0 ? 'ended last  ' : 'before it   ';
    const parts = wrap(line, width - head.length);
    return parts.map((part, at) => `${at === 0 ? head : ' '.repeat(head.length)}${part.trimStart()}`);
  });
}

/** In Unicode and in ASCII, and its SGR parameter (ECMA-48). */
type Glyph = readonly [unicode: string, ascii: string, colour: string, name?: string];

const GLYPHS: Readonly<Record<Paint, Glyph>> = {
  run: ['·', '.', '2'],
  wake: ['╴', ',', '2'],
  hold: ['─', '-', '36'],
  drain: ['▒', '=', '34'],
  linger: ['╌', '~', '36'],
  'pre-stop': ['░', '+', '35'],
  stop: ['█', '#', '33'],
  maybe: ['▁', '_', '33'],
  kill: ['▓', 'K', '31'],
  rest: ['▚', '%', '33'],
};
/** Where a signal was received or sent, where the platform kills, and where the command ended. */
const MARKS: Readonly<Record<Mark['kind'], Glyph>> = {
  signal: ['▾', 'v', '1', 'signal'],
  killed: ['✖', 'X', '31', 'KILL'],
  ended: ['✖', 'X', '31', 'ended, restarted'],
};
const DEADLINE: Glyph = ['┊', '|', '31'];
const NOTHING: Glyph = [' ', ' ', '0'];

const MIN_BAR = 20;
const MAX_NAME = 20;
const MAX_END = 36;
/** Columns that the time of a tick takes, with a gap. */
const TICK = 8;

export function chartLines(chart: Chart, style: TextStyle): readonly string[] {
  const cut = (text: string, max: number): string => shorten(text, max, style.ascii ? '~' : '…');
  const names = chart.rows.map(
    ({ name, kind, isPrediction }) =>
      `${isPrediction ? '  ' : ''}${cut(name, MAX_NAME)}${kind === '' ? '' : ` (${kind})`}`,
  );
  const ends = chart.rows.map(({ end }) => cut(end, MAX_END));
  const widest = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length));
  const nameWidth = widest(names);
  const scale = { axis: chart.axis, width: Math.max(MIN_BAR, style.width - nameWidth - widest(ends) - 4) };
  const line = (name = '', bars = '', end = '') => `${name.padEnd(nameWidth)}  ${bars}  ${end}`.trimEnd();
  return [
    line('', scaleText(scale)),
    ...chart.rows.map((row, index) => line(names[index], barsOf(row, chart, scale, style), ends[index])),
    ...(chart.deadline === undefined ? [] : [line('', deadlineText(chart.deadline, scale))]),
    ...chart.notes.map((note) => line('', noteText(note, scale, style))),
    '',
    legend(chart, style).trimEnd(),
  ];
}

interface Scale {
  readonly axis: Axis;
  /** Columns. */
  readonly width: number;
}

function columnOf({ axis, width }: Scale, atMs: number): number {
  return Math.round(shareOf(axis, atMs) * width);
}

/** What lies at the very end is drawn in the last column. */
function cellOf(scale: Scale, atMs: number): number {
  return Math.min(scale.width - 1, columnOf(scale, atMs));
}

function barsOf({ bars, marks }: Row, { axis, deadline }: Chart, scale: Scale, style: TextStyle): string {
  const cells: Glyph[] = new Array(scale.width).fill(NOTHING);
  // It is drawn under the bars, so that it shows what went beyond.
  if (deadline !== undefined && isOnAxis(axis, deadline)) cells[cellOf(scale, deadline.atMs)] = DEADLINE;
  for (const { paint, fromMs, untilMs } of bars) {
    const from = cellOf(scale, fromMs);
    // What was too short to be seen is worth a column, and a command that runs again does not hide it.
    const until = Math.max(columnOf(scale, untilMs), from + 1);
    const isTaken = cells[from] !== NOTHING && cells[from] !== DEADLINE;
    cells.fill(GLYPHS[paint], paint === 'run' && isTaken ? from + 1 : from, until);
  }
  for (const { atMs, kind } of marks) {
    const at = cellOf(scale, atMs);
    // A phase of a single column is to be seen itself.
    const isAlone = cells[at] !== cells[at + 1] && cells[at] !== cells[at - 1] && cells[at] !== NOTHING;
    if (kind !== 'signal' || !isAlone) cells[at] = MARKS[kind];
  }
  return cells.map((glyph) => painted(glyph, style)).join('');
}

function painted([unicode, plain, colour]: Glyph, { colours, ascii }: TextStyle): string {
  const text = ascii ? plain : unicode;
  return colours && text !== ' ' ? `\x1b[${colour}m${text}\x1b[0m` : text;
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

function deadlineText(deadline: Note, scale: Scale): string {
  const { atMs, text } = deadline;
  if (!isOnAxis(scale.axis, deadline)) return text.padStart(scale.width);
  const column = cellOf(scale, atMs);
  return column >= text.length ? text.padStart(column + 1) : `${' '.repeat(column)}${text}`;
}

/** An arrow to the moment, its words on the side where there is room. */
function noteText({ atMs, text }: Note, scale: Scale, { ascii }: TextStyle): string {
  const column = cellOf(scale, atMs);
  const arrow = ascii ? '^' : '↑';
  return column + 2 + text.length <= scale.width
    ? `${' '.repeat(column)}${arrow} ${text}`
    : `${`${text} `.padStart(column)}${arrow}`;
}

function legend({ rows }: Chart, style: TextStyle): string {
  const bars = Map.groupBy(
    rows.flatMap((row) => row.bars),
    ({ paint }) => paint,
  );
  const entries = (Object.keys(GLYPHS) as Paint[]).flatMap((paint) => {
    const names = new Set(bars.get(paint)?.map(({ name }) => name));
    return names.size === 0 ? [] : [`${painted(GLYPHS[paint], style)} ${shorten([...names].join('/'), MAX_NAME)}`];
  });
  const kinds = new Set(rows.flatMap(({ marks }) => marks.map(({ kind }) => kind)));
  return [...entries, ...[...kinds].map((kind) => `${painted(MARKS[kind], style)} ${MARKS[kind][3]}`)].join('   ');
}
