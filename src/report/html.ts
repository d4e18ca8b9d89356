/**
 * Stops as one HTML page. One pod has its picture, its critical chain and a table. Many pods have their figures first,
 * then the pictures of the worst.
 */
import { seconds } from '../core/format/evidence.ts';
import { chartOf, labelOf } from './chart.ts';
import { FLEET_COLUMNS, fleetOf, isBad, workloadRows, worstFirst } from './fleet.ts';
import { chartHtml, pageHtml, prose, sectionsHtml, tableHtml } from './page.ts';
import { comparisonLines, isAsPredicted } from './prediction.ts';
import { type MemberStop, type PodStop, phasesOf } from './stop.ts';
import { titleOf } from './svg.ts';
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
