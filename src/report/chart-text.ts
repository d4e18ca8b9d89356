/**
 * A stop as text for a terminal: a bar a row on one time axis, the marks, the deadline, and what each sign means.
 */

import { type Axis, shareOf, ticksOf } from './axis.ts';
import type { Mark, Paint } from './bars.ts';
import { type Chart, isOnAxis, type Note, type Row } from './chart.ts';
import { shorten } from './words.ts';

export interface TextStyle {
  /** Columns. */
  readonly width: number;
  /** Escape sequences for colours. */
  readonly colours: boolean;
  /** Nothing but ASCII. */
  readonly ascii: boolean;
}

interface Glyph {
  readonly unicode: string;
  readonly ascii: string;
  /** SGR parameters, ECMA-48. */
  readonly colour: string;
}

const GLYPHS: Readonly<Record<Paint, Glyph>> = {
  run: { unicode: '·', ascii: '.', colour: '2' },
  wake: { unicode: '╴', ascii: ',', colour: '2' },
  hold: { unicode: '─', ascii: '-', colour: '36' },
  drain: { unicode: '▒', ascii: '=', colour: '34' },
  linger: { unicode: '╌', ascii: '~', colour: '36' },
  'pre-stop': { unicode: '░', ascii: '+', colour: '35' },
  stop: { unicode: '█', ascii: '#', colour: '33' },
  maybe: { unicode: '▁', ascii: '_', colour: '33' },
  kill: { unicode: '▓', ascii: 'K', colour: '31' },
  rest: { unicode: '▚', ascii: '%', colour: '33' },
};
/** Where a signal was received or sent, and where the platform kills. */
const MARKS: Readonly<Record<Mark['kind'], Glyph & { readonly name: string }>> = {
  signal: { unicode: '▾', ascii: 'v', colour: '1', name: 'signal' },
  killed: { unicode: '✖', ascii: 'X', colour: '31', name: 'KILL' },
  ended: { unicode: '✖', ascii: 'X', colour: '31', name: 'ended, restarted' },
};
const DEADLINE: Glyph = { unicode: '┊', ascii: '|', colour: '31' };
const NOTHING: Glyph = { unicode: ' ', ascii: ' ', colour: '0' };

const MIN_BAR = 20;
const MAX_NAME = 20;
const MAX_END = 36;
/** Columns that the time of a tick takes, with a gap. */
const TICK = 8;

export function chartLines(chart: Chart, style: TextStyle): readonly string[] {
  const ellipsis = style.ascii ? '~' : '…';
  const names = chart.rows.map(
    ({ name, kind, isPrediction }) =>
      `${isPrediction ? '  ' : ''}${shorten(name, MAX_NAME, ellipsis)}${kind === '' ? '' : ` (${kind})`}`,
  );
  const ends = chart.rows.map(({ end }) => shorten(end, MAX_END, ellipsis));
  const nameWidth = Math.max(...names.map((name) => name.length));
  const endWidth = Math.max(...ends.map((end) => end.length));
  const scale = { axis: chart.axis, width: Math.max(MIN_BAR, style.width - nameWidth - endWidth - 4) };
  const indent = ' '.repeat(nameWidth + 2);
  const rows = chart.rows.map((row, index) => {
    const name = (names[index] ?? '').padEnd(nameWidth);
    return `${name}  ${barsOf(row, chart, scale, style)}  ${ends[index]}`;
  });
  const below = [...deadlineRow(chart, scale), ...chart.notes.map((note) => noteRow(note, scale, style))];
  const lines = [scaleText(scale), ...below].map((line) => `${indent}${line}`);
  return [...lines.slice(0, 1), ...rows, ...lines.slice(1), '', legend(chart, style)].map((line) => line.trimEnd());
}

interface Scale {
  readonly axis: Axis;
  /** Columns. */
  readonly width: number;
}

function columnOf({ axis, width }: Scale, atMs: number): number {
  return Math.round(shareOf(axis, atMs) * width);
}

function barsOf({ bars, marks }: Row, { axis, deadline }: Chart, scale: Scale, style: TextStyle): string {
  const { width } = scale;
  const cells: Glyph[] = new Array(width).fill(NOTHING);
  // It is drawn under the bars, so that it shows what went beyond.
  if (deadline !== undefined && isOnAxis(axis, deadline))
    cells[Math.min(width - 1, columnOf(scale, deadline.atMs))] = DEADLINE;
  for (const { paint, fromMs, untilMs } of bars) {
    const from = Math.min(columnOf(scale, fromMs), width - 1);
    // What was too short to be seen is worth a column all the same.
    const until = Math.max(columnOf(scale, untilMs), from + 1);
    // Nor does a command that runs again hide it.
    const isTaken = cells[from] !== NOTHING && cells[from] !== DEADLINE;
    const start = paint === 'run' && isTaken ? from + 1 : from;
    cells.fill(GLYPHS[paint], start, until);
  }
  for (const { atMs, kind } of marks) {
    const at = Math.min(width - 1, columnOf(scale, atMs));
    // A phase of a single column is to be seen itself.
    const isAlone = cells[at] !== cells[at + 1] && cells[at] !== cells[at - 1] && cells[at] !== NOTHING;
    if (kind !== 'signal' || !isAlone) cells[at] = MARKS[kind];
  }
  return cells.map((glyph) => painted(glyph, style)).join('');
}

function painted(glyph: Glyph, { colours, ascii }: TextStyle): string {
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

function deadlineRow({ deadline, axis }: Chart, scale: Scale): readonly string[] {
  if (deadline === undefined) return [];
  const { atMs, text } = deadline;
  if (!isOnAxis(axis, deadline)) return [text.padStart(scale.width)];
  const column = Math.min(scale.width - 1, columnOf(scale, atMs));
  return [column >= text.length ? text.padStart(column + 1) : `${' '.repeat(column)}${text}`];
}

/** An arrow to the moment, its words on the side where there is room. */
function noteRow({ atMs, text }: Note, scale: Scale, { ascii }: TextStyle): string {
  const column = Math.min(scale.width - 1, columnOf(scale, atMs));
  const arrow = ascii ? '^' : '↑';
  if (column + 2 + text.length <= scale.width) return `${' '.repeat(column)}${arrow} ${text}`;
  return `${`${text} `.padStart(column)}${arrow}`;
}

function legend({ rows }: Chart, style: TextStyle): string {
  const used = new Map<Paint, Set<string>>();
  for (const { paint, name } of rows.flatMap(({ bars }) => bars))
    used.set(paint, (used.get(paint) ?? new Set<string>()).add(name));
  const entries = (Object.keys(GLYPHS) as Paint[]).flatMap((paint) => {
    const names = used.get(paint);
    return names === undefined ? [] : [`${painted(GLYPHS[paint], style)} ${shorten([...names].join('/'), MAX_NAME)}`];
  });
  const kinds = new Set(rows.flatMap(({ marks }) => marks.map(({ kind }) => kind)));
  return [...entries, ...[...kinds].map((kind) => `${painted(MARKS[kind], style)} ${MARKS[kind].name}`)].join('   ');
}
