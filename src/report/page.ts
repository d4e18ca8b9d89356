/**
 * What a page of stops is made of: one HTML file with pictures inline and tables below them, no script, nothing loaded
 * from elsewhere (its own Content-Security-Policy forbids it).
 *
 * Names stand above their bars, and bars are laid out in percent, so that one page fits a telephone, a wide screen and
 * paper. What is written into a bar shows only where the window is wide enough for it; a table has it in any case.
 */

import { type Axis, shareOf, ticksOf } from './axis.ts';
import type { Bar, Mark } from './bars.ts';
import { type Chart, isOnAxis, legendOf, type Note, type Row } from './chart.ts';
import { COLOURS, CROSS, escapeXml } from './svg.ts';

/** A page is to be sent by mail and read: it ends with the section with which it has reached this size. */
const MAX_SECTION_BYTES = 80 * 1024;

export function pageHtml(title: string, body: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeXml(title)}</h1>
${body.join('\n')}
</body>
</html>
`;
}

const STYLE = `
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;margin:0 auto;max-width:1080px;padding:1rem;
color:#24292f;background:#fff;overflow-wrap:break-word}h1,h2{overflow-wrap:anywhere}h1{font-size:1.4rem;line-height:1.3;margin:.3rem 0}h2{font-size:1.15rem;margin:2.2rem 0 .2rem}
h3{font-size:1rem;margin:1.3rem 0 .2rem}p{margin:.2rem 0 .8rem}.bad{color:#cf222e}.soft,small{color:#57606a;font-size:.85rem}
svg{display:block;width:100%;overflow:visible}svg text{font-size:11px;fill:#57606a}svg text.note{fill:#cf222e}.label{display:flex;overflow-wrap:anywhere;flex-wrap:wrap;gap:0 .6rem;margin-top:.35rem}
.label>:last-child{margin-left:auto;text-align:right}.key{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;margin:.6rem 0}
.key svg{display:inline-block;width:12px;height:12px;margin-right:.35rem;vertical-align:-1px}
table{border-collapse:collapse;font-size:.9rem;margin:.6rem 0;width:100%}th,td{border-bottom:1px solid #8884;padding:.3rem .8rem .3rem 0;
text-align:left;vertical-align:top}td:first-child{overflow-wrap:anywhere;min-width:8rem}th:last-child,td:last-child{padding-right:0}.n{font-variant-numeric:tabular-nums}ol{margin:.2rem 0;padding-left:1.5rem}section,tr,.row{break-inside:avoid}
${COLOURS}
@media(max-width:1000px){svg text.l{display:none}}
@media(max-width:640px){svg text.m{display:none}thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}tbody,tr,td{display:block}
tr{border-bottom:1px solid #8884;padding:.3rem 0}td{border:0;overflow-wrap:anywhere;padding:0 0 0 7rem}td:empty{display:none}td::before{content:attr(data-head);float:left;margin-left:-7rem;color:#57606a}}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}.bad{color:#ff7b72}.soft,small,td::before{color:#9198a1}svg text{fill:#9198a1}svg text.note{fill:#ff7b72}}
@media print{body{max-width:none;padding:0}*{print-color-adjust:exact}}`.trim();

/** As many as the page has room for, at least one; `more` tells of the others. */
export function sectionsHtml<One>(
  all: readonly One[],
  headOf: (one: One) => string,
  bodyOf: (one: One) => string,
  more: (count: number) => string,
): readonly string[] {
  const sections: string[] = [];
  let bytes = 0;
  for (const one of all) {
    if (sections.length > 0 && bytes > MAX_SECTION_BYTES) break;
    const section = `<section>\n<h2>${escapeXml(headOf(one))}</h2>\n${bodyOf(one)}\n</section>`;
    bytes += Buffer.byteLength(section);
    sections.push(section);
  }
  const left = all.length - sections.length;
  return left === 0 ? sections : [...sections, `<p class="soft">${more(left)}</p>`];
}

/** For those who see it; a table tells the same to all others. */
export function chartHtml(chart: Chart): string {
  const { axis, rows, deadline, notes } = chart;
  return `<div aria-hidden="true">
${scale(axis)}
${rows.map((row) => rowHtml(row, chart)).join('\n')}
${deadline === undefined ? '' : `<div class="label"><span></span><small class="${isOnAxis(axis, deadline) ? 'bad' : ''}">${deadline.text}</small></div>`}
${notes.map((note) => noteHtml(note, axis)).join('')}<div class="key">${legendOf(chart).map(key).join('')}</div>
</div>`;
}

const MAX_TICKS = 5;

function scale(axis: Axis): string {
  const texts = ticksOf(axis, MAX_TICKS).map(({ atMs, text }) => {
    const share = shareOf(axis, atMs);
    return `<text x="${percent(share)}" y="12" text-anchor="${share > 0.94 ? 'end' : 'middle'}">${text}</text>`;
  });
  return `<svg height="16">${texts.join('')}</svg>`;
}

function rowHtml({ name, kind, bars, marks, end, isBad, isPrediction }: Row, { axis, deadline }: Chart): string {
  const size = isPrediction ? SMALL_ROW : ROW;
  const lines = ticksOf(axis, MAX_TICKS).map(({ atMs }) => rule('grid', shareOf(axis, atMs), size));
  const due =
    deadline === undefined || !isOnAxis(axis, deadline) ? [] : [rule('deadline', shareOf(axis, deadline.atMs), size)];
  const drawn = [...bars.map((bar) => barHtml(bar, axis, size)), ...marks.map((mark) => markHtml(mark, axis, size))];
  const beside = kind === '' ? '' : `<small>${escapeXml(kind)}</small>`;
  const ended = `<small${isBad ? ' class="bad"' : ''}>${escapeXml(end)}</small>`;
  const title = isPrediction ? `<small>${escapeXml(name)}</small>` : `${escapeXml(name)} ${beside}`;
  return `<div class="row"><div class="label"><span>${title}</span>${ended}</div>
<svg height="${size.height}">${[...lines, ...drawn, ...due].join('')}</svg></div>`;
}

interface Size {
  /** Pixels: of the row, and of its bars from their top on. */
  readonly height: number;
  readonly top: number;
  readonly bar: number;
}
const ROW: Size = { height: 28, top: 7, bar: 20 };
/** Of what was predicted. */
const SMALL_ROW: Size = { height: 14, top: 2, bar: 10 };

function rule(kind: string, share: number, { height }: Size): string {
  return `<line class="${kind}" x1="${percent(share)}" x2="${percent(share)}" y1="0" y2="${height}"/>`;
}

/** In a narrow window a pixel is a larger share: what is too short to be seen gets two of them. */
function barHtml({ paint, fromMs, untilMs, name, label }: Bar, axis: Axis, { top, bar }: Size): string {
  const [from, until] = [shareOf(axis, fromMs), shareOf(axis, untilMs)];
  const share = Math.max(0.002, until - from);
  const at = Math.min(from, 1 - share);
  const rect = `<rect class="${paint}" x="${percent(at)}" y="${top}" width="${percent(share)}" height="${bar}"><title>${escapeXml(label)}</title></rect>`;
  if (paint === 'run' || bar < ROW.bar) return rect;
  for (const text of [label, name]) {
    const size = SIZES.find(({ px }) => (text.length * CHARACTER + 4) / share <= px);
    if (size === undefined) continue;
    return `${rect}<text class="in in-${paint} ${size.name}" x="${percent(at + share / 2)}" y="21">${escapeXml(text)}</text>`;
  }
  return rect;
}

/** Pixels of a character in a bar, in a wide font. */
const CHARACTER = 7;
/** The width of the bars in the narrowest window of each size. */
const SIZES = [
  { name: 's', px: 300 },
  { name: 'm', px: 600 },
  { name: 'l', px: 960 },
] as const;

function markHtml({ atMs, text, kind }: Mark, axis: Axis, { height, top, bar }: Size): string {
  const share = shareOf(axis, atMs);
  const x = percent(share);
  const title = `<title>${escapeXml(text)}</title>`;
  if (kind === 'signal')
    return `<svg x="${x}" width="1" height="28"><path class="mark" d="M-4 0h8l-4 6z">${title}</path></svg>`;
  // At the right edge it would make the page wider.
  const shift = share > 0.97 ? -7 : 0;
  return `<svg x="${x}" width="1" height="${height}"><g transform="translate(${shift} ${top + bar / 2})">${CROSS}${title}</g></svg>`;
}

/** An arrow to the moment, and its words on the side where there is room. */
function noteHtml({ atMs, text }: Note, axis: Axis): string {
  const share = shareOf(axis, atMs);
  const [x, anchor] = share > 0.5 ? [-10, 'end'] : [10, 'start'];
  return `<svg height="18"><svg x="${percent(share)}" width="1" height="18"><path class="mark" d="M-4 12h8l-4 -7z"/><text class="note" x="${x}" y="13" text-anchor="${anchor}">${escapeXml(text)}</text></svg></svg>`;
}

function key([what, text]: readonly [string, string]): string {
  return `<small><svg viewBox="0 0 12 12">${sample(what)}</svg>${text}</small>`;
}

function sample(what: string): string {
  if (what === 'signal') return '<path class="mark" d="M2 3h8l-4 6z"/>';
  if (what === 'killed' || what === 'ended') return `<g transform="translate(6 6)">${CROSS}</g>`;
  return `<rect class="${what}" width="12" height="12"/>`;
}

export function tableHtml(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const heads = head.map((text) => `<th>${text}</th>`).join('');
  const body = rows.map(
    (row) => `<tr>${row.map((text, at) => `<td data-head="${head[at]}">${prose(text)}</td>`).join('')}</tr>`,
  );
  return `<table class="n"><thead><tr>${heads}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}

/** A number and its unit stay in one line. */
export function prose(text: string): string {
  return escapeXml(text).replace(/(?<=\d) (?=m?s\b)/g, '&#160;');
}

function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}
