/**
 * Stops as one HTML page: the pictures inline, a table of the same facts below each for screen readers and for copying, no script, nothing
 * loaded from elsewhere (its own Content-Security-Policy forbids it).
 */
import { fleetOf } from './fleet.ts';
import { type MemberStop, type PodStop, stopMsOf } from './stop.ts';
import { escapeXml, podSvg } from './svg.ts';
import { chainLines, endOf, nameOf, seconds, sentenceOf } from './words.ts';

/** Pods beyond are in the table of workloads only: a page of thousands of pictures is read by nobody. */
const MAX_PICTURES = 50;

export function htmlPage(pods: readonly PodStop[]): string {
  const title =
    pods.length === 1 && pods[0] !== undefined
      ? `How ${pods[0].pod || 'the pod'} stopped`
      : `How ${pods.length} pods stopped`;
  const shown = pods.slice(0, MAX_PICTURES);
  const body = [
    `<h1>${escapeXml(title)}</h1>`,
    ...(pods.length > 1 ? [workloads(pods)] : []),
    ...shown.map(section),
    ...(shown.length < pods.length ? [`<p>${pods.length - shown.length} more pods are in the table only.</p>`] : []),
  ];
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
${body.join('\n')}
</body>
</html>
`;
}

const STYLE = `
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:1100px;padding:1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin:2rem 0 .3rem;overflow-wrap:anywhere}p{margin:.3rem 0}.picture,.table{overflow-x:auto}
svg{display:block;min-width:720px;width:100%;height:auto}table{border-collapse:collapse;font-size:.9rem;margin:.6rem 0}
th,td{border-bottom:1px solid #8884;padding:.25rem .8rem .25rem 0;text-align:left;vertical-align:top}td.n{font-variant-numeric:tabular-nums;text-align:right}
ol{margin:.3rem 0;padding-left:1.4rem}section{break-inside:avoid}
@media print{body{max-width:none}.picture,.table{overflow:visible}svg{min-width:0}}`.trim();

function section(pod: PodStop): string {
  return `<section>
<h2>${escapeXml(pod.pod || 'pod')}</h2>
<p>${escapeXml(sentenceOf(pod))}</p>
<div class="picture">${podSvg(pod)}</div>
<p>Backwards from the end of the pod:</p>
<ol>${chainLines(pod)
    .map((line) => `<li>${escapeXml(line)}</li>`)
    .join('')}</ol>
<div class="table">${table(
    ['member', 'asked by', 'phases', 'took', 'end'],
    pod.members.map((member) => memberCells(member, pod)),
  )}</div>
</section>`;
}

function memberCells(member: MemberStop, pod: PodStop): readonly string[] {
  const stop = member.spans.filter(({ activity }) => activity !== 'run' && activity !== 'wait');
  const tookMs = (member.diedMs ?? pod.endedMs) - (member.requestedMs ?? member.diedMs ?? pod.endedMs);
  return [
    `${member.name}${member.role === 'sidecar' ? ' (sidecar)' : ''}`,
    member.stopReason ?? 'not asked',
    stop.map((span) => `${nameOf(span)} ${seconds(span.untilMs - span.fromMs)}`).join(', ') || '-',
    seconds(tookMs),
    member.forcedBy === undefined ? endOf(member) : `${endOf(member)}, KILL by ${member.forcedBy}`,
  ];
}

function workloads(pods: readonly PodStop[]): string {
  const rows = fleetOf(pods).map((it) => [
    it.workload || 'pod',
    String(it.pods),
    String(it.forced),
    seconds(it.stop.p50),
    seconds(it.stop.p95),
    seconds(it.stop.max),
    it.leastLeftMs === undefined ? '-' : seconds(it.leastLeftMs),
  ]);
  const longest = Math.max(...pods.map(stopMsOf));
  const head = ['workload', 'pods', 'forced', 'p50', 'p95', 'max', 'least grace left'];
  return `<p>The longest stop took ${seconds(longest)}.</p><div class="table">${table(head, rows)}</div>`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[], tag: string) =>
    row.map((text) => `<${tag}>${escapeXml(text)}</${tag}>`).join('');
  return `<table><thead><tr>${cells(head, 'th')}</tr></thead><tbody>${rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('')}</tbody></table>`;
}
