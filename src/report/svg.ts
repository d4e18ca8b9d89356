/**
 * A stop as a picture: SVG 1.1 with its own style sheet, light and dark, no script and nothing loaded from elsewhere.
 * Text comes from other containers, so each goes through `escapeXml`.
 */

import { shareOf, ticksOf } from './axis.ts';
import type { Bar, Mark } from './bars.ts';
import { type Chart, chartOf, isOnAxis, legendOf, type Note, type Row } from './chart.ts';
import { comparisonLines } from './prediction.ts';
import type { PodStop } from './stop.ts';
import { podName, sentenceOf, shorten } from './words.ts';

const WIDTH = 960;
const MARGIN = 16;
const ROW = 32;
const BAR = 20;
const LINE = 20;
/** Of a row of what was predicted. */
const SMALL_ROW = 22;
const SMALL_BAR = 10;
/** A character's width in pixels in a wide font: in a bar, at 13 px, and at 11 px. */
const IN_BAR = 7;
const NORMAL = 7.6;
const SMALL = 6.6;
const MAX_NAME = 20;
const MAX_END = 36;
const MAX_TICKS = 6;

/** One pod's stop as a whole SVG document. */
export function podSvg(pod: PodStop): string {
  return chartSvg(titleOf(pod), sentenceOf(pod), chartOf(pod), comparisonLines(pod));
}

export function titleOf(pod: PodStop): string {
  return `How ${pod.pod === '' ? 'the ' : ''}${podName(pod)} stopped`;
}

/** `more`: lines below the sentence. */
export function chartSvg(title: string, sentence: string, chart: Chart, more: readonly string[] = []): string {
  const frame = frameOf(chart);
  const columns = Math.floor((WIDTH - 2 * MARGIN) / NORMAL);
  const lines = [...wrap(sentence, columns), ...more.map((line) => shorten(line, columns))];
  const top = 64 + lines.length * LINE;
  const tops = topsOf(chart.rows, top);
  const foot = tops.at(-1) ?? top;
  const key = legend(chart, foot + 46 + chart.notes.length * LINE);
  const height = key.bottom + MARGIN;
  const body = [
    `<title>${escapeXml(title)}: ${escapeXml(sentence)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}"/>`,
    `<text class="title" x="${MARGIN}" y="30">${escapeXml(shorten(title, 80))}</text>`,
    ...lines.map(
      (line, index) => `<text class="soft" x="${MARGIN}" y="${53 + index * LINE}">${escapeXml(line)}</text>`,
    ),
    ...grid(frame, top, foot),
    ...chart.rows.map((row, index) => rowSvg(row, tops[index] ?? top, frame)),
    ...deadline(frame, top, foot),
    ...chart.notes.map((note, index) => noteSvg(note, foot + LINE + index * LINE, frame)),
    ...key.items,
  ];
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">\n${body.join('\n')}\n</svg>\n`;
}

/** Where each row begins, and where the last one ends. */
function topsOf(rows: readonly Row[], top: number): readonly number[] {
  const tops = [top];
  for (const { isPrediction } of rows) tops.push((tops.at(-1) ?? top) + (isPrediction ? SMALL_ROW : ROW));
  return tops;
}

/** For text and for attribute values in double quotes. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Fills with enough contrast for what stands in them, 4.5 to 1 and more, light and dark. */
export const COLOURS = `
.run{fill:#d0d7de}.wake{fill:#57606a}.hold{fill:#b6dcff}.drain{fill:#0969da}.linger{fill:#1b7c83}.pre-stop{fill:#8250df}.stop{fill:#9a6700}.kill{fill:#cf222e}
.rest{fill:#6e7781}.maybe{fill:#f2dfae}text.in{font-size:11px;fill:#fff;text-anchor:middle}text.in-hold{fill:#0a3069}text.in-maybe{fill:#4d3800}
.grid{stroke:#d0d7de}.deadline{stroke:#cf222e;stroke-dasharray:4 3}.mark{fill:#24292f}.killed{fill:#cf222e}.cross{stroke:#fff;stroke-width:2}
@media(prefers-color-scheme:dark){.run{fill:#3d444d}.hold{fill:#143d70}text.in-hold{fill:#cae8ff}.maybe{fill:#4a3a10}text.in-maybe{fill:#f2dfae}
.grid{stroke:#3d444d}.deadline{stroke:#ff7b72}.mark{fill:#e6edf3}}`.trim();

const STYLE = `
text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#24292f}text.title{font-size:17px;font-weight:600}
text.soft{fill:#57606a}text.small,tspan{font-size:11px;fill:#57606a}text.bad{font-size:11px;fill:#cf222e}.paper{fill:#fff}
${COLOURS}
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#e6edf3}text.soft,text.small,tspan{fill:#9198a1}text.bad{fill:#ff7b72}}`.trim();

/** Where the bars are: what is left between the names and the ends. */
interface Frame {
  readonly chart: Chart;
  readonly left: number;
  readonly right: number;
}

function frameOf(chart: Chart): Frame {
  const names = chart.rows.map(
    ({ name, kind }) =>
      shorten(name, MAX_NAME).length * NORMAL + (kind === '' ? 0 : 10 + Math.round(kind.length * SMALL)),
  );
  const ends = chart.rows.map(({ end }) => shorten(end, MAX_END).length * SMALL);
  return {
    chart,
    left: Math.ceil(MARGIN + Math.max(...names) + 14),
    right: WIDTH - Math.ceil(MARGIN + Math.max(...ends) + 12),
  };
}

function x({ chart, left, right }: Frame, atMs: number): number {
  return round(left + shareOf(chart.axis, atMs) * (right - left));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function grid(frame: Frame, top: number, foot: number): readonly string[] {
  return ticksOf(frame.chart.axis, MAX_TICKS).flatMap(({ atMs, text }) => {
    const at = x(frame, atMs);
    return [
      `<line class="grid" x1="${at}" x2="${at}" y1="${top - 8}" y2="${foot}"/>`,
      `<text class="small" x="${at}" y="${top - 13}" text-anchor="middle">${text}</text>`,
    ];
  });
}

function rowSvg(row: Row, y: number, frame: Frame): string {
  const { name, kind, bars, marks, end, isBad, isPrediction } = row;
  if (isPrediction)
    return [
      `<g><text class="small" x="${MARGIN + 10}" y="${y + 10}">${escapeXml(name)}</text>`,
      ...bars.map((bar) => barSvg(bar, y, frame, SMALL_BAR)),
      ...marks.map((mark) => markSvg(mark, x(frame, mark.atMs), y, SMALL_BAR)),
      `<text class="small" x="${frame.right + 12}" y="${y + 10}">${escapeXml(shorten(end, MAX_END))}</text></g>`,
    ].join('\n');
  const beside = kind === '' ? '' : `<tspan dx="6">${escapeXml(kind)}</tspan>`;
  return [
    `<g><text x="${MARGIN}" y="${y + 15}">${escapeXml(shorten(name, MAX_NAME))}${beside}</text>`,
    ...bars.map((bar) => barSvg(bar, y, frame, BAR)),
    ...marks.map((mark) => markSvg(mark, x(frame, mark.atMs), y, BAR)),
    `<text class="${isBad ? 'bad' : 'small'}" x="${frame.right + 12}" y="${y + 15}">${escapeXml(shorten(end, MAX_END))}</text></g>`,
  ].join('\n');
}

function barSvg({ paint, fromMs, untilMs, name, label }: Bar, y: number, frame: Frame, height: number): string {
  const [from, until] = [x(frame, fromMs), x(frame, untilMs)];
  const width = round(Math.max(2, until - from));
  const written = [label, name].find((text) => text.length * IN_BAR <= width - 4);
  const text =
    written === undefined || paint === 'run' || height < BAR
      ? ''
      : `<text class="in in-${paint}" x="${round(from + width / 2)}" y="${y + 14}">${escapeXml(written)}</text>`;
  const at = Math.min(from, frame.right - width);
  return `<rect class="${paint}" x="${round(at)}" y="${y}" width="${width}" height="${height}"><title>${escapeXml(label)}</title></rect>${text}`;
}

function markSvg({ text, kind }: Mark, at: number, y: number, height: number): string {
  const title = `<title>${escapeXml(text)}</title>`;
  if (kind === 'signal') return `<path class="mark" d="M${round(at - 4)} ${y - 6}h8l-4 6z">${title}</path>`;
  return `<g transform="translate(${at} ${y + height / 2})">${CROSS}${title}</g>`;
}

/** Around 0 0, 14 px wide. */
export const CROSS = '<circle class="killed" r="7"/><path class="cross" d="M-3-3l6 6M-3 3l6-6"/>';

function deadline(frame: Frame, top: number, foot: number): readonly string[] {
  const { deadline, axis } = frame.chart;
  if (deadline === undefined) return [];
  const y = foot + 16;
  if (!isOnAxis(axis, deadline))
    return [`<text class="small" x="${frame.right}" y="${y}" text-anchor="end">${deadline.text} →</text>`];
  const at = x(frame, deadline.atMs);
  return [
    `<line class="deadline" x1="${at}" x2="${at}" y1="${top - 8}" y2="${foot + 4}"/>`,
    `<text class="bad" x="${at}" y="${y}" text-anchor="${at > WIDTH / 2 ? 'end' : 'start'}">${deadline.text}</text>`,
  ];
}

/** An arrow to the moment, and beside it as much of the words as there is room for. */
function noteSvg({ atMs, text, detail }: Note, y: number, frame: Frame): string {
  const at = x(frame, atMs);
  const isLeft = at > WIDTH / 2;
  const room = (isLeft ? at - MARGIN : WIDTH - MARGIN - at) - 10;
  const words = shorten(detail === undefined ? text : `${text}: ${detail}`, Math.floor(room / SMALL));
  const anchor = isLeft ? 'end' : 'start';
  return [
    `<path class="mark" d="M${round(at - 4)} ${y + 16}h8l-4 -7z"/>`,
    `<text class="bad" x="${round(at + (isLeft ? -10 : 10))}" y="${y + 16}" text-anchor="${anchor}">${escapeXml(words)}</text>`,
  ].join('');
}

function legend(chart: Chart, top: number): { readonly items: readonly string[]; readonly bottom: number } {
  let [at, y] = [MARGIN, top];
  const items = legendOf(chart).map(([what, text]) => {
    const width = 17 + Math.ceil(text.length * SMALL) + 14;
    if (at + width > WIDTH) [at, y] = [MARGIN, y + LINE];
    const item = `${sample(what, at, y)}<text class="small" x="${at + 17}" y="${y}">${text}</text>`;
    at += width;
    return item;
  });
  return { items, bottom: y };
}

function sample(what: string, at: number, y: number): string {
  if (what === 'signal') return `<path class="mark" d="M${at + 2} ${y - 7}h8l-4 6z"/>`;
  if (what === 'killed' || what === 'ended') return `<g transform="translate(${at + 6} ${y - 4})">${CROSS}</g>`;
  return `<rect class="${what}" x="${at}" y="${y - 10}" width="12" height="12"/>`;
}

function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.pop();
    const longer = line === undefined ? word : `${line} ${word}`;
    if (line === undefined || longer.length <= columns) lines.push(shorten(longer, columns));
    else lines.push(line, shorten(word, columns));
  }
  return lines.length <= MAX_LINES
    ? lines
    : [...lines.slice(0, MAX_LINES - 1), shorten(lines.slice(MAX_LINES - 1).join(' '), columns)];
}

const MAX_LINES = 3;
