/**
 * Stops as one HTML page: the pictures inline, a table of the same facts below each for screen readers and for copying,
 * no script, nothing loaded from elsewhere (its own Content-Security-Policy forbids it).
 *
 * Names stand above their bars, and bars are laid out in percent, so that one page fits a telephone, a wide screen and
 * paper. What is written into a bar shows only where the window is wide enough for it; the table has it in any case.
 */
import { type Axis, axisOf, isShown, shareOf, ticksOf } from './axis.ts';
import { FLEET_COLUMNS, fleetOf, workloadRows, worstFirst } from './fleet.ts';
import { forcedOf, lateOf, type MemberStop, type PodStop, type Span } from './stop.ts';
import { COLOURS, deadlineText, escapeXml, labelOf, legendOf, signalsOf, titleOf } from './svg.ts';
import { chainLines, endText, nameOf, seconds, sentenceOf } from './words.ts';

/** A page is to be sent by mail and read: it ends with the picture with which it has reached this size. */
const MAX_PICTURE_BYTES = 80 * 1024;
/** Workloads beyond are counted only. */
const MAX_WORKLOADS = 100;

export function htmlPage(pods: readonly PodStop[]): string {
  const [only] = pods;
  const isOne = pods.length === 1 && only !== undefined;
  const title = isOne ? titleOf(only) : `How ${pods.length} pods stopped`;
  const body = isOne ? [pod(only)] : [workloads(pods), ...pictures(worstFirst(pods))];
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
svg{display:block;width:100%;overflow:visible}svg text{font-size:11px;fill:#57606a}.label{display:flex;overflow-wrap:anywhere;flex-wrap:wrap;gap:0 .6rem;margin-top:.35rem}
.label>:last-child{margin-left:auto;text-align:right}.key{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;margin:.6rem 0}
.key svg{display:inline-block;width:12px;height:12px;margin-right:.35rem;vertical-align:-1px}
table{border-collapse:collapse;font-size:.9rem;margin:.6rem 0;width:100%}th,td{border-bottom:1px solid #8884;padding:.3rem .8rem .3rem 0;
text-align:left;vertical-align:top}td:first-child{overflow-wrap:anywhere;min-width:8rem}th:last-child,td:last-child{padding-right:0}.n{font-variant-numeric:tabular-nums}ol{margin:.2rem 0;padding-left:1.5rem}section,tr,.row{break-inside:avoid}
${COLOURS}
@media(max-width:1000px){svg text.l{display:none}}
@media(max-width:640px){svg text.m{display:none}thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}tbody,tr,td{display:block}
tr{border-bottom:1px solid #8884;padding:.3rem 0}td{border:0;padding:0 0 0 7rem}td:empty{display:none}td::before{content:attr(data-head);float:left;margin-left:-7rem;color:#57606a}}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}.bad{color:#ff7b72}.soft,small,td::before{color:#9198a1}svg text{fill:#9198a1}}
@media print{body{max-width:none;padding:0}*{print-color-adjust:exact}}`.trim();

/** As many as the page has room for, at least one. */
function pictures(pods: readonly PodStop[]): readonly string[] {
  const sections: string[] = [];
  let bytes = 0;
  for (const one of pods) {
    if (sections.length > 0 && bytes > MAX_PICTURE_BYTES) break;
    const section = `<section>\n<h2>${escapeXml(one.pod || 'pod')}</h2>\n${pod(one)}\n</section>`;
    bytes += Buffer.byteLength(section);
    sections.push(section);
  }
  const more = pods.length - sections.length;
  return more === 0 ? sections : [...sections, `<p class="soft">${more} more pods are in the table above only.</p>`];
}

function pod(one: PodStop): string {
  const axis = axisOf(one);
  const isBad = forcedOf(one).length + lateOf(one).length > 0;
  return `<p${isBad ? ' class="bad"' : ''}>${prose(sentenceOf(one))}</p>
<div aria-hidden="true">
${scale(axis)}
${one.members.map((member) => row(member, one, axis)).join('\n')}
${one.deadlineMs === undefined ? '' : `<div class="label"><span></span><small class="${one.deadlineMs > axis.untilMs ? '' : 'bad'}">${deadlineText(one)}</small></div>`}
<div class="key">${legendOf(one).map(key).join('')}</div>
</div>
<h3>Critical chain, from the last end backwards</h3>
<ol>${chainLines(one)
    .map((line) => `<li>${prose(line)}</li>`)
    .join('')}</ol>
<h3>Members</h3>
${table(
  ['member', 'stop reason', 'phases', 'took', 'end'],
  one.members.map((member) => memberCells(member, one)),
)}`;
}

const MAX_TICKS = 5;

function scale(axis: Axis): string {
  const texts = ticksOf(axis, MAX_TICKS).map(({ atMs, text }) => {
    const share = shareOf(axis, atMs);
    return `<text x="${percent(share)}" y="12" text-anchor="${share > 0.94 ? 'end' : 'middle'}">${text}</text>`;
  });
  return `<svg height="16">${texts.join('')}</svg>`;
}

function row(member: MemberStop, { deadlineMs }: PodStop, axis: Axis): string {
  const lines = ticksOf(axis, MAX_TICKS).map(({ atMs }) => rule('grid', shareOf(axis, atMs)));
  const due =
    deadlineMs === undefined || deadlineMs > axis.untilMs ? [] : [rule('deadline', shareOf(axis, deadlineMs))];
  const bars = member.spans.filter((span) => isShown(axis, span)).map((span) => bar(span, axis));
  const marks = signalsOf(member, axis).map(({ atMs, text }) => mark(shareOf(axis, atMs), text));
  const role = member.role === 'sidecar' ? '<small>sidecar</small>' : '';
  const end = `<small${member.forcedBy === undefined ? '' : ' class="bad"'}>${escapeXml(endText(member))}</small>`;
  return `<div class="row"><div class="label"><span>${escapeXml(member.name)} ${role}</span>${end}</div>
<svg height="28">${[...lines, ...bars, ...marks, ...due].join('')}</svg></div>`;
}

function rule(kind: string, share: number): string {
  return `<line class="${kind}" x1="${percent(share)}" x2="${percent(share)}" y1="0" y2="28"/>`;
}

/** In a narrow window a pixel is a larger share: what is too short to be seen gets two of them. */
function bar(span: Span, axis: Axis): string {
  const [from, until] = [shareOf(axis, span.fromMs), shareOf(axis, span.untilMs)];
  const share = Math.max(0.002, until - from);
  const at = Math.min(from, 1 - share);
  const rect = `<rect class="${span.activity}" x="${percent(at)}" y="7" width="${percent(share)}" height="20"><title>${escapeXml(labelOf(span))}</title></rect>`;
  if (span.activity === 'run') return rect;
  for (const text of [labelOf(span), nameOf(span)]) {
    const size = SIZES.find(({ px }) => (text.length * CHARACTER + 4) / share <= px);
    if (size === undefined) continue;
    return `${rect}<text class="in in-${span.activity} ${size.name}" x="${percent(at + share / 2)}" y="21">${escapeXml(text)}</text>`;
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

function mark(share: number, text: string): string {
  return `<svg x="${percent(share)}" width="1" height="28"><path class="mark" d="M-4 0h8l-4 6z"><title>${escapeXml(text)}</title></path></svg>`;
}

/** A number and its unit stay in one line. */
function prose(text: string): string {
  return escapeXml(text).replace(/(?<=\d) (?=m?s\b)/g, '&#160;');
}

function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}

function key([activity, text]: readonly [string, string]): string {
  const shape =
    activity === 'mark'
      ? '<path class="mark" d="M2 3h8l-4 6z"/>'
      : `<rect class="${activity}" width="12" height="12"/>`;
  return `<small><svg viewBox="0 0 12 12">${shape}</svg>${text}</small>`;
}

function memberCells(member: MemberStop, { endedMs }: PodStop): readonly string[] {
  const stop = member.spans.filter(({ activity }) => activity !== 'run' && activity !== 'wait');
  const tookMs = (member.diedMs ?? endedMs) - (member.requestedMs ?? member.diedMs ?? endedMs);
  return [
    `${member.name}${member.role === 'sidecar' ? ' (sidecar)' : ''}`,
    member.stopReason ?? 'not asked',
    stop.map(labelOf).join(', ') || '-',
    seconds(tookMs),
    endText(member),
  ];
}

function workloads(pods: readonly PodStop[]): string {
  const all = fleetOf(pods);
  const rows = all.slice(0, MAX_WORKLOADS).flatMap(workloadRows);
  const left = all.length - MAX_WORKLOADS;
  return `${table(FLEET_COLUMNS, rows)}${left > 0 ? `<p class="soft">${left} more workloads.</p>` : ''}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const heads = head.map((text) => `<th>${text}</th>`).join('');
  const body = rows.map(
    (row) => `<tr>${row.map((text, at) => `<td data-head="${head[at]}">${prose(text)}</td>`).join('')}</tr>`,
  );
  return `<table class="n"><thead><tr>${heads}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}
