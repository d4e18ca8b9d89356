/** `--timeline svg` and `--timeline html`: predicted stops, of one workload as a picture, of all as a page. */
import { cleanText } from '../../core/format/tombstone.ts';
import { chartHtml, pageHtml, prose, sectionsHtml, tableHtml } from '../../report/html.ts';
import { chartSvg } from '../../report/svg.ts';
import type { CheckedWorkload, Result } from '../check.ts';
import { type Finding, SEVERITIES } from '../finding.ts';
import { positionAt } from '../input/source.ts';
import { ruleNamed } from '../rules/table.ts';
import { intervalText } from '../stop/interval.ts';
import { findingsByWorkload, placeText, summaryOf } from './text.ts';
import { endText, timelineChart, timelineSentence } from './timeline.ts';

export function workloadSvg(one: CheckedWorkload, result: Result): string {
  const { timeline } = one.view;
  const chart = timelineChart(timeline, findingsByWorkload(result).get(one.workload) ?? []);
  return chartSvg(`How ${nameOf(one)} will stop`, timelineSentence(timeline), chart);
}

export function checkPage(result: Result): string {
  const { workloads } = result;
  const found = findingsByWorkload(result);
  const own = ({ workload }: CheckedWorkload): readonly Finding[] => found.get(workload) ?? [];
  const rest = found.get(undefined) ?? [];
  const worst = workloads.toSorted((a, b) => worstOf(own(b)) - worstOf(own(a)));
  const [only] = workloads;
  const named = workloads.length === 1 && only !== undefined ? nameOf(only) : `${workloads.length} workloads`;
  const unreadable = result.unreadable.map(({ path, line, why }) => [placeText(cleanText(path), line), cleanText(why)]);
  return pageHtml(`How ${named} will stop`, [
    `<p>${prose(summaryOf(result).trimEnd())}</p>`,
    ...sectionsHtml(
      worst,
      (one) => `${nameOf(one)} in ${cleanText(one.workload.pod.source.path)}`,
      (one) => workloadHtml(one, own(one)),
      (count) => `${count} more workloads are not drawn; check fewer files to see them.`,
    ),
    ...(rest.length === 0 ? [] : [`<h2>Other findings</h2>\n${findingsTable(rest)}`]),
    ...(unreadable.length === 0 ? [] : [`<h2>Not read</h2>\n${tableHtml(['input', 'why'], unreadable)}`]),
  ]);
}

function workloadHtml({ view }: CheckedWorkload, findings: readonly Finding[]): string {
  const isBad = findings.some(({ severity }) => severity === 'error');
  const { timeline } = view;
  const containers = view.containers.map(({ stop, sexton }) => [
    `${cleanText(stop.name)}${stop.plan.isNative ? ' (native sidecar)' : ''}`,
    intervalText(stop.term),
    `${intervalText(stop.told)}${sexton?.run?.host.signalTo === 'tree' ? ', parents first' : ''}`,
    intervalText(stop.end),
    endText(stop),
  ]);
  return `<p${isBad ? ' class="bad"' : ''}>${prose(timelineSentence(timeline))}</p>
${chartHtml(timelineChart(timeline, findings))}
${findings.length === 0 ? '<p>No findings.</p>' : `<h3>Findings</h3>\n${findingsTable(findings)}`}
<h3>Containers</h3>
${tableHtml(['container', 'TERM after', 'program told', 'end after', 'outcome'], containers)}`;
}

function findingsTable(findings: readonly Finding[]): string {
  const rows = findings.map(({ rule, severity, message, place }) => [
    `${rule} ${severity}`,
    cleanText(message),
    ruleNamed(rule).remedy,
    placeText(cleanText(place.source.path), positionAt(place.source, place.start).line),
  ]);
  return tableHtml(['rule', 'finding', 'remedy', 'place'], rows);
}

function nameOf({ workload: { kind, name } }: CheckedWorkload): string {
  return `${kind}/${cleanText(name)}`;
}

function worstOf(findings: readonly Finding[]): number {
  return Math.max(-1, ...findings.map(({ severity }) => SEVERITIES.indexOf(severity)));
}
