/**
 * A chart as SVG, for a page and as a picture of its own: no script, light and dark. Everything is placed in percent of
 * the width, so that one drawing fits every width. Names come from other containers, so each goes through `escapeXml`.
 */
import { type Axis, type Bar, type Mark, shareOf, ticksOf } from './bars.ts';
import { type Chart, chartOf, isOnAxis, legendOf, type Note, type Row } from './chart.ts';
import { comparisonLines } from './prediction.ts';
import type { PodStop } from './stop.ts';
import { podName, sentenceOf, shorten, wrap } from './words.ts';

const WIDTH = 960;
const MARGIN = 16;
const INNER = WIDTH - 2 * MARGIN;
const LINE = 20;
/** The pixels that a character takes in a wide font: in a bar, at 13 px, and at 11 px. */
const IN_BAR = 7;
const NORMAL = 7.6;
const SMALL = 6.6;
const [MAX_NAME, MAX_END, MAX_LINES] = [66, 36, 3];
const MAX_TICKS = 5;
const LEGEND_COLUMNS = 3;

export function podSvg(pod: PodStop): string {
  return chartSvg(titleOf(pod), sentenceOf(pod), chartOf(pod), comparisonLines(pod));
}

export function titleOf(pod: PodStop): string {
  return `How ${pod.pod === '' ? 'the ' : ''}${podName(pod)} stopped`;
}

/** `more`: lines below the sentence. */
export function chartSvg(title: string, sentence: string, chart: Chart, more: readonly string[] = []): string {
  const { axis, rows, deadline, notes } = chart;
  const parts: string[] = [];
  let y = MARGIN;
  const put = (height: number, content: string): void => {
    parts.push(`<svg x="${MARGIN}" y="${y}" width="${INNER}" height="${height}">${content}</svg>`);
    y += height;
  };
  const columns = Math.floor(INNER / NORMAL);
  const wrapped = wrap(sentence, columns);
  const lines = [...wrapped.slice(0, MAX_LINES - 1), wrapped.slice(MAX_LINES - 1).join(' '), ...more];
  put(26, `<text class="title" y="14">${escapeXml(shorten(title, 80))}</text>`);
  for (const line of lines.filter((text) => text !== ''))
    put(LINE, `<text class="line" y="14">${escapeXml(shorten(line.trim(), columns))}</text>`);
  y += 12;
  put(16, scaleSvg(axis));
  for (const row of rows) {
    put(18, labelSvg(row));
    put(heightOf(row), barsSvg(row, chart));
  }
  if (deadline !== undefined) put(LINE, `<text${toneOf(isOnAxis(axis, deadline))} ${RIGHT}>${deadline.text}</text>`);
  for (const note of notes) put(18, noteSvg(note, axis, Math.floor(INNER / SMALL)));
  const key = legendOf(chart).map(([what, text], index) => {
    const [x, at] = [index % LEGEND_COLUMNS, Math.floor(index / LEGEND_COLUMNS)];
    return `<svg x="${percent(x / LEGEND_COLUMNS)}" y="${at * LINE}">${sampleSvg(what)}<text x="17" y="10">${text}</text></svg>`;
  });
  y += 12;
  put(Math.ceil(key.length / LEGEND_COLUMNS) * LINE + MARGIN, key.join(''));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" role="img">
<title>${escapeXml(title)}: ${escapeXml(sentence)}</title>
<style>${PICTURE_STYLE}</style>
<rect class="paper" width="${WIDTH}" height="${y}"/>
${parts.join('\n')}
</svg>
`;
}

const RIGHT = 'x="100%" y="14" text-anchor="end"';

/** For text and for attribute values in double quotes. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Fills with enough contrast for what stands in them, 4.5 to 1 and more, light and dark. */
export const CHART_STYLE = `
svg{overflow:visible}text{font-size:11px;fill:#57606a}text.bad{fill:#cf222e}
.run{fill:#d0d7de}.wake{fill:#57606a}.hold{fill:#b6dcff}.drain{fill:#0969da}.linger{fill:#1b7c83}.pre-stop{fill:#8250df}.stop{fill:#9a6700}.kill{fill:#cf222e}
.rest{fill:#6e7781}.maybe{fill:#f2dfae}text.in{fill:#fff;text-anchor:middle}text.in-hold{fill:#0a3069}text.in-maybe{fill:#4d3800}
.grid{stroke:#d0d7de}.deadline{stroke:#cf222e;stroke-dasharray:4 3}.mark{fill:#24292f}.killed{fill:#cf222e}.cross{stroke:#fff;stroke-width:2}
@media(prefers-color-scheme:dark){text{fill:#9198a1}text.bad{fill:#ff7b72}
.run{fill:#3d444d}.hold{fill:#143d70}text.in-hold{fill:#cae8ff}.maybe{fill:#4a3a10}text.in-maybe{fill:#f2dfae}
.grid{stroke:#3d444d}.deadline{stroke:#ff7b72}.mark{fill:#e6edf3}}`.trim();

const PICTURE_STYLE = `
text{font-family:system-ui,-apple-system,'Segoe UI',sans-serif}text.title,text.name{fill:#24292f;font-size:13px}
text.title{font-size:17px;font-weight:600}text.line{font-size:13px}.kind{font-size:11px;fill:#57606a}.paper{fill:#fff}
${CHART_STYLE}
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}text.title,text.name{fill:#e6edf3}.kind{fill:#9198a1}}`.trim();

const toneOf = (isBad: boolean): string => (isBad ? ' class="bad"' : '');
function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}

/** 16 px high. */
export function scaleSvg(axis: Axis): string {
  const texts = ticksOf(axis, MAX_TICKS).map(({ atMs, text }) => {
    const share = shareOf(axis, atMs);
    return `<text x="${percent(share)}" y="12" text-anchor="${share > 0.94 ? 'end' : 'middle'}">${text}</text>`;
  });
  return texts.join('');
}

function labelSvg({ name, kind, end, isBad, isPrediction }: Row): string {
  const beside = kind === '' ? '' : `<tspan class="kind" dx="6">${escapeXml(kind)}</tspan>`;
  const label = `${escapeXml(shorten(name, MAX_NAME))}${beside}`;
  return `<text${isPrediction ? '' : ' class="name"'} y="14">${label}</text>
<text${toneOf(isBad)} ${RIGHT}>${escapeXml(shorten(end, MAX_END))}</text>`;
}

/** Pixels; a prediction stands below what happened, and is smaller. */
export function heightOf({ isPrediction }: Row): number {
  return isPrediction ? 14 : 28;
}

export function barsSvg(row: Row, { axis, deadline }: Chart): string {
  const height = heightOf(row);
  const rule = (kind: string, atMs: number): string => {
    const x = percent(shareOf(axis, atMs));
    return `<line class="${kind}" x1="${x}" x2="${x}" y1="0" y2="${height}"/>`;
  };
  return [
    ...ticksOf(axis, MAX_TICKS).map(({ atMs }) => rule('grid', atMs)),
    ...row.bars.map((bar) => barSvg(bar, axis, row.isPrediction)),
    ...row.marks.map((mark) => markSvg(mark, axis, row.isPrediction)),
    ...(deadline === undefined || !isOnAxis(axis, deadline) ? [] : [rule('deadline', deadline.atMs)]),
  ].join('');
}

/** In a narrow window a pixel is a larger share: what is too short to be seen gets two of them. */
function barSvg({ paint, fromMs, untilMs, name, label }: Bar, axis: Axis, isSmall: boolean): string {
  const [from, until] = [shareOf(axis, fromMs), shareOf(axis, untilMs)];
  const share = Math.max(0.002, until - from);
  const at = Math.min(from, 1 - share);
  const place = `x="${percent(at)}" y="${isSmall ? 2 : 7}" width="${percent(share)}" height="${isSmall ? 10 : 20}"`;
  const rect = `<rect class="${paint}" ${place}><title>${escapeXml(label)}</title></rect>`;
  if (paint === 'run' || isSmall) return rect;
  for (const text of [label, name]) {
    const [size] = SIZES.find(([, px]) => (text.length * IN_BAR + 4) / share <= px) ?? [];
    if (size === undefined) continue;
    return `${rect}<text class="in in-${paint} ${size}" x="${percent(at + share / 2)}" y="21">${escapeXml(text)}</text>`;
  }
  return rect;
}

/** The width of the bars in the narrowest window of each size: a page hides the text of the larger ones. */
const SIZES = Object.entries({ s: 300, m: 600, l: INNER });

function markSvg({ atMs, text, kind }: Mark, axis: Axis, isSmall: boolean): string {
  const share = shareOf(axis, atMs);
  const title = `<title>${escapeXml(text)}</title>`;
  // At the right edge it would make the page wider.
  const centre = `${share > 0.97 ? -7 : 0} ${isSmall ? 7 : 17}`;
  const drawn =
    kind === 'signal'
      ? `<path class="mark" d="M-4 0h8l-4 6z">${title}</path>`
      : `<g transform="translate(${centre})">${CROSS}${title}</g>`;
  return `<svg x="${percent(share)}" width="1" height="28">${drawn}</svg>`;
}

/** Around 0 0, 14 px wide. */
const CROSS = '<circle class="killed" r="7"/><path class="cross" d="M-3-3l6 6M-3 3l6-6"/>';

/**
 * An arrow to the moment, and its words on the side where there is room; 18 px high. `columns`: the characters that the
 * whole width has room for, where the detail may follow.
 */
export function noteSvg({ atMs, text, detail }: Note, axis: Axis, columns = 0): string {
  const share = shareOf(axis, atMs);
  const [x, anchor] = share > 0.5 ? [-10, 'end'] : [10, 'start'];
  const room = Math.floor(columns * Math.max(share, 1 - share)) - 2;
  const words = room < 0 || detail === undefined ? text : shorten(`${text}: ${detail}`, room);
  return `<svg x="${percent(share)}" width="1" height="18"><path class="mark" d="M-4 12h8l-4 -7z"/><text class="bad" x="${x}" y="13" text-anchor="${anchor}">${escapeXml(words)}</text></svg>`;
}

/** What the legend shows beside its words, 12 px wide and high. */
export function sampleSvg(what: string): string {
  if (what === 'signal') return '<path class="mark" d="M2 3h8l-4 6z"/>';
  if (what === 'killed' || what === 'ended') return `<g transform="translate(6 6)">${CROSS}</g>`;
  return `<rect class="${what}" width="12" height="12"/>`;
}
