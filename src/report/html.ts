/**
 * Stops as one HTML page. One pod has its picture, its critical chain and a table; many have their figures first, then
 * the pictures of the worst. Nothing is loaded from elsewhere: the page's own Content-Security-Policy forbids it. Names
 * stand above their bars, and bars are laid out in percent, so that one page fits a telephone, a wide screen and paper.
 * What is written into a bar shows only where the window is wide enough for it; a table has it in any case.
 */
import { seconds } from '../core/format/evidence.ts';
import { type Chart, chartOf, isOnAxis, labelOf, legendOf, type Row } from './chart.ts';
import { FLEET_COLUMNS, fleetOf, isBad, workloadRows, worstFirst } from './fleet.ts';
import { comparisonLines, isAsPredicted } from './prediction.ts';
import { type MemberStop, type PodStop, phasesOf } from './stop.ts';
import { barsSvg, CHART_STYLE, escapeXml, heightOf, noteSvg, sampleSvg, scaleSvg, titleOf } from './svg.ts';
import { chainLines, endText, podName, sentenceOf } from './words.ts';

/** Workloads beyond are counted only. */
const MAX_WORKLOADS = 100;

export function htmlPage(pods: readonly PodStop[]): string {
  const [only] = pods;
  if (pods.length === 1 && only !== undefined) return pageHtml(titleOf(only), [podHtml(only)]);
  const more = (count: number) => `${count} more pods are in the table above only.`;
  const sections = sectionsHtml(worstFirst(pods), podName, podHtml, more);
  return pageHtml(`How ${pods.length} pods stopped`, [workloads(pods), ...sections]);
}

function podHtml(pod: PodStop): string {
  const [compared, ...differences] = comparisonLines(pod);
  const rows = pod.members.map((member) => memberCells(member, pod));
  return `${paragraph(sentenceOf(pod), isBad(pod))}
${compared === undefined ? '' : paragraph(compared, !isAsPredicted(pod))}${list('ul', differences)}${chartHtml(chartOf(pod))}
<h3>Critical chain, from the last end backwards</h3>
${list('ol', chainLines(pod))}
<h3>Members</h3>
${tableHtml(['member', 'stop reason', 'phases', 'took', 'end'], rows)}`;
}

function paragraph(text: string, isAlarming: boolean): string {
  return `<p${isAlarming ? ' class="bad"' : ''}>${prose(text)}</p>`;
}

function list(tag: 'ol' | 'ul', lines: readonly string[]): string {
  return lines.length === 0 ? '' : `<${tag}>${lines.map((line) => `<li>${prose(line)}</li>`).join('')}</${tag}>`;
}

function memberCells(member: MemberStop, { endedMs }: PodStop): readonly string[] {
  const { name, role, stopReason, diedMs = endedMs, requestedMs = diedMs } = member;
  return [
    `${name}${role === 'sidecar' ? ' (sidecar)' : ''}`,
    stopReason ?? 'not asked',
    phasesOf(member).map(labelOf).join(', ') || '-',
    seconds(diedMs - requestedMs),
    endText(member),
  ];
}

function workloads(pods: readonly PodStop[]): string {
  const all = fleetOf(pods);
  const rows = all.slice(0, MAX_WORKLOADS).flatMap(workloadRows);
  const left = all.length - MAX_WORKLOADS;
  return `${tableHtml(FLEET_COLUMNS, rows)}${left > 0 ? `<p class="soft">${left} more workloads.</p>` : ''}`;
}

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
svg{display:block;width:100%}.label{display:flex;overflow-wrap:anywhere;flex-wrap:wrap;gap:0 .6rem;margin-top:.35rem}
.label>:last-child{margin-left:auto;text-align:right}.key{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;margin:.6rem 0}
.key svg{display:inline-block;width:12px;height:12px;margin-right:.35rem;vertical-align:-1px}
table{border-collapse:collapse;font-size:.9rem;margin:.6rem 0;width:100%}th,td{border-bottom:1px solid #8884;padding:.3rem .8rem .3rem 0;
text-align:left;vertical-align:top}td:first-child{overflow-wrap:anywhere;min-width:8rem}th:last-child,td:last-child{padding-right:0}.n{font-variant-numeric:tabular-nums}ol{margin:.2rem 0;padding-left:1.5rem}section,tr,.row{break-inside:avoid}
${CHART_STYLE}
@media(max-width:1000px){svg text.l{display:none}}
@media(max-width:640px){svg text.m{display:none}thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}tbody,tr,td{display:block}
tr{border-bottom:1px solid #8884;padding:.3rem 0}td{border:0;overflow-wrap:anywhere;padding:0 0 0 7rem}td:empty{display:none}td::before{content:attr(data-head);float:left;margin-left:-7rem;color:#57606a}}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}.bad{color:#ff7b72}.soft,small,td::before{color:#9198a1}}
@media print{body{max-width:none;padding:0}*{print-color-adjust:exact}}`.trim();

/** As many as the page has room for, at least one; `more` counts the others. */
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
  const due = deadline && `<small class="${isOnAxis(axis, deadline) ? 'bad' : ''}">${deadline.text}</small>`;
  const sample = (what: string) => `<svg viewBox="0 0 12 12">${sampleSvg(what)}</svg>`;
  const key = legendOf(chart).map(([what, text]) => `<small>${sample(what)}${text}</small>`);
  return `<div aria-hidden="true">
<svg height="16">${scaleSvg(axis)}</svg>
${rows.map((row) => rowHtml(row, chart)).join('\n')}
${due === undefined ? '' : `<div class="label"><span></span>${due}</div>`}
${notes.map((note) => `<svg height="18">${noteSvg(note, axis)}</svg>`).join('')}<div class="key">${key.join('')}</div>
</div>`;
}

function rowHtml(row: Row, chart: Chart): string {
  const { name, kind, end, isBad, isPrediction } = row;
  const beside = kind === '' ? '' : `<small>${escapeXml(kind)}</small>`;
  const ended = `<small${isBad ? ' class="bad"' : ''}>${escapeXml(end)}</small>`;
  const title = isPrediction ? `<small>${escapeXml(name)}</small>` : `${escapeXml(name)} ${beside}`;
  return `<div class="row"><div class="label"><span>${title}</span>${ended}</div>
<svg height="${heightOf(row)}">${barsSvg(row, chart)}</svg></div>`;
}

export function tableHtml(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const heads = head.map((text) => `<th>${text}</th>`).join('');
  const cell = (text: string, at: number) => `<td data-head="${head[at]}">${prose(text)}</td>`;
  const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`);
  return `<table class="n"><thead><tr>${heads}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}

/** A number and its unit stay in one line. */
export function prose(text: string): string {
  return escapeXml(text).replace(/(?<=\d) (?=m?s\b)/g, '&#160;');
}
