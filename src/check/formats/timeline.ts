/**
 * The predicted stop of a pod as text: a bar a container on one axis, in the style of `sexton report`.
 */
import { axisOf, shareOf, ticksOf } from '../../report/axis.ts';
import type { PodStop } from '../../report/stop.ts';
import type { TextStyle } from '../../report/text.ts';
import type { Finding } from '../finding.ts';
import { secondsText } from '../stop/interval.ts';
import type { ContainerStop, Timeline } from '../stop/timeline.ts';

interface Glyph {
  readonly unicode: string;
  readonly ascii: string;
  readonly colour: string;
  readonly name: string;
}

const RUN: Glyph = { unicode: '·', ascii: '.', colour: '2', name: 'running' };
const HOOK: Glyph = { unicode: '░', ascii: '+', colour: '35', name: 'preStop hook' };
const WAIT: Glyph = { unicode: '─', ascii: '-', colour: '36', name: 'waits for its turn' };
const DRAIN: Glyph = { unicode: '▒', ascii: '=', colour: '34', name: 'drain' };
const STOP: Glyph = { unicode: '█', ascii: '#', colour: '33', name: 'stopping' };
const MAYBE: Glyph = { unicode: '╌', ascii: '~', colour: '33', name: 'may still run' };
const KILL: Glyph = { unicode: '✖', ascii: 'X', colour: '31', name: 'KILL' };
const GLYPHS = [RUN, HOOK, WAIT, DRAIN, STOP, MAYBE, KILL];
const DEADLINE: Glyph = { unicode: '┊', ascii: '|', colour: '31', name: '' };
const NOTHING: Glyph = { unicode: ' ', ascii: ' ', colour: '0', name: '' };

const MIN_BAR = 20;
/** Columns of a tick with its gap. */
const TICK = 8;

export function timelineText(timeline: Timeline, findings: readonly Finding[], style: TextStyle): string {
  const { containers, graceMs } = timeline;
  const names = containers.map(({ name, plan }) => `${name}${plan.isNative ? ' (native)' : ''}`);
  const ends = containers.map(endText);
  const nameWidth = Math.max(0, ...names.map((name) => name.length));
  const endWidth = Math.max(0, ...ends.map((end) => end.length));
  const width = Math.max(MIN_BAR, style.width - nameWidth - endWidth - 4);
  const untilMs = Math.max(graceMs, ...containers.map(({ end, killAt }) => Math.min(end.maxMs, killAt.maxMs)), 1);
  const axis = axisOf(emptyStop(untilMs));
  const column = (atMs: number): number => Math.round(shareOf(axis, atMs) * width);
  const indent = ' '.repeat(nameWidth + 2);
  const used = new Set<Glyph>();
  const rows = containers.map((stop, index) => {
    const cells: Glyph[] = new Array(width).fill(NOTHING);
    cells[Math.min(width - 1, column(graceMs))] = DEADLINE;
    for (const [glyph, fromMs, toMs] of spansOf(stop, axis.fromMs)) {
      const from = Math.min(width - 1, column(fromMs));
      const to = toMs > fromMs ? Math.max(column(toMs), from + 1) : from;
      if (to > from) used.add(glyph);
      cells.fill(glyph, from, to);
    }
    if (stop.killed !== 'never') {
      const at = stop.killed === 'always' ? stop.killAt.minMs : stop.killAt.maxMs;
      cells[Math.min(width - 1, column(at))] = KILL;
      used.add(KILL);
    }
    return `${(names[index] ?? '').padEnd(nameWidth)}  ${cells.map((cell) => paint(cell, style)).join('')}  ${ends[index]}`;
  });
  const marks = findings.flatMap(({ rule, atMs }) => {
    if (atMs === undefined || atMs > untilMs) return [];
    const at = Math.min(width - 1, column(atMs));
    return [`${indent}${' '.repeat(at)}${style.ascii ? '^' : '↑'} ${rule}`];
  });
  let scale = '';
  for (const { atMs, text } of ticksOf(axis, Math.max(1, Math.floor(width / TICK)))) {
    const at = column(atMs);
    if (at >= scale.length && at + text.length <= width) scale = `${scale.padEnd(at)}${text} `;
  }
  const legend = GLYPHS.filter((glyph) => used.has(glyph)).map((glyph) => `${paint(glyph, style)} ${glyph.name}`);
  return `${[`${indent}${scale}`, ...rows, ...new Set(marks), '', legend.join('   ')].map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Of the worst case; what may be over earlier is drawn as uncertain. */
function spansOf(stop: ContainerStop, leadMs: number): readonly (readonly [Glyph, number, number])[] {
  const { hookEnd, term, told, end, plan } = stop;
  const last = Math.min(end.maxMs, stop.killAt.maxMs);
  const cut = (ms: number): number => Math.min(ms, last);
  return [
    [RUN, leadMs, 0],
    [HOOK, 0, cut(hookEnd.maxMs)],
    [WAIT, cut(hookEnd.maxMs), cut(term.maxMs)],
    [plan.waitsFor.length > 0 ? WAIT : DRAIN, cut(term.maxMs), cut(told.maxMs)],
    [STOP, cut(told.maxMs), Math.max(cut(told.maxMs), end.minMs)],
    [MAYBE, Math.max(cut(told.maxMs), end.minMs), last],
  ];
}

function endText({ killed, end, killAt }: ContainerStop): string {
  if (killed === 'always') return `KILL at ${secondsText(killAt.minMs)}`;
  if (killed === 'never') return `ends by ${secondsText(end.maxMs)}`;
  return `ends, or KILL at ${secondsText(killAt.maxMs)}`;
}

function paint(glyph: Glyph, { colours, ascii }: TextStyle): string {
  const text = ascii ? glyph.ascii : glyph.unicode;
  return colours && text !== ' ' ? `\x1b[${glyph.colour}m${text}\x1b[0m` : text;
}

/** The axis of a report is that of a pod's stop. */
function emptyStop(untilMs: number): PodStop {
  return { pod: '', workload: '', members: [], beganMs: 0, endedMs: untilMs, isOver: true, deadlineMs: undefined };
}
