/**
 * Stops as one HTML page: of one pod its picture, its critical chain and a table; of many their figures first, then the
 * pictures of the worst.
 */
import { chartOf, labelOf } from './chart.ts';
import { FLEET_COLUMNS, fleetOf, workloadRows, worstFirst } from './fleet.ts';
import { chartHtml, pageHtml, prose, sectionsHtml, tableHtml } from './page.ts';
import { comparisonLines, isAsPredicted } from './prediction.ts';
import { forcedOf, lateOf, type MemberStop, type PodStop } from './stop.ts';
import { titleOf } from './svg.ts';
import { chainLines, endText, podName, seconds, sentenceOf } from './words.ts';

/** Workloads beyond are counted only. */
const MAX_WORKLOADS = 100;

export function htmlPage(pods: readonly PodStop[]): string {
  const [only] = pods;
  if (pods.length === 1 && only !== undefined) return pageHtml(titleOf(only), [podHtml(only)]);
  const sections = sectionsHtml(
    worstFirst(pods),
    podName,
    podHtml,
    (count) => `${count} more pods are in the table above only.`,
  );
  return pageHtml(`How ${pods.length} pods stopped`, [workloads(pods), ...sections]);
}

function podHtml(pod: PodStop): string {
  const isBad = forcedOf(pod).length + lateOf(pod).length > 0;
  return `<p${isBad ? ' class="bad"' : ''}>${prose(sentenceOf(pod))}</p>
${comparison(pod)}${chartHtml(chartOf(pod))}
<h3>Critical chain, from the last end backwards</h3>
<ol>${chainLines(pod)
    .map((line) => `<li>${prose(line)}</li>`)
    .join('')}</ol>
<h3>Members</h3>
${tableHtml(
  ['member', 'stop reason', 'phases', 'took', 'end'],
  pod.members.map((member) => memberCells(member, pod)),
)}`;
}

function comparison(pod: PodStop): string {
  const [head, ...lines] = comparisonLines(pod);
  if (head === undefined) return '';
  const list = lines.length === 0 ? '' : `<ul>${lines.map((line) => `<li>${prose(line)}</li>`).join('')}</ul>\n`;
  return `<p${isAsPredicted(pod) ? '' : ' class="bad"'}>${prose(head)}</p>\n${list}`;
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
  return `${tableHtml(FLEET_COLUMNS, rows)}${left > 0 ? `<p class="soft">${left} more workloads.</p>` : ''}`;
}
