/** Findings for a terminal: a workload with its timeline, then its findings with place and rule. */
import { chartLines, type TextStyle } from '../../report/text.ts';
import type { Result } from '../check.ts';
import type { Finding, Severity } from '../finding.ts';
import { positionAt, type Source } from '../input/source.ts';
import { ruleNamed } from '../rules/table.ts';
import { timelineChart } from './timeline.ts';

const COLOURS: Readonly<Record<Severity, string>> = { error: '31', warning: '33', info: '36' };

export function textOf(result: Result, style: TextStyle, withTimeline: boolean): string {
  const parts: string[] = [];
  const found = findingsByWorkload(result);
  for (const { workload, view } of result.workloads) {
    const subject = `${workload.kind}/${workload.name}`;
    const own = found.get(workload);
    if (own === undefined) continue;
    const grace = `terminationGracePeriodSeconds ${workload.pod.graceSeconds}${workload.pod.graceAt === undefined ? ' (default)' : ''}`;
    const hasMoments = own.some(({ atMs }) => atMs !== undefined);
    const drawn =
      withTimeline && hasMoments ? [`\n${chartLines(timelineChart(view.timeline, own), style).join('\n')}\n`] : [];
    parts.push([`${clean(subject)}  ${grace}\n`, ...drawn, ...own.map((one) => line(one, style))].join(''));
  }
  const rest = (found.get(undefined) ?? []).map((one) => line(one, style));
  const unread = result.unreadable.map(
    ({ path, line: at, why }) => `${placeText(clean(path), at)} not read: ${clean(why)}\n`,
  );
  const counts = result.findings.length > FEW ? byRule(result.findings) : '';
  parts.push(rest.join(''), unread.join(''), counts, summaryOf(result));
  const text = parts.filter((part) => part !== '').join('\n');
  // GitHub's runner takes a line that begins so as a command.
  return text.replaceAll(/^([^\S\r\n\u2028\u2029]*):(?=:)/gm, '$1?');
}

/** The most that can be read at a glance. */
const FEW = 10;

/** How often each rule has found something, the most first. */
function byRule(findings: readonly Finding[]): string {
  const counts = new Map<string, number>();
  for (const { rule } of findings) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const sorted = [...counts].toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  const width = `${sorted[0]?.[1] ?? 0}`.length + 2;
  return sorted.map(([rule, count]) => `${`${count}`.padStart(width)} ${rule} ${ruleNamed(rule).title}\n`).join('');
}

/** undefined: those of Compose services, Dockerfiles and budgets. */
export function findingsByWorkload({ findings, workloads }: Result) {
  const keyOf = (subject: string, { path }: Source, start: number): string => `${path}\n${start} ${subject}`;
  const byKey = new Map(
    workloads.map(({ workload: one }) => [keyOf(`${one.kind}/${one.name}`, one.pod.source, one.object.start), one]),
  );
  return Map.groupBy(findings, ({ subject, subjectAt: { source, start } }) => byKey.get(keyOf(subject, source, start)));
}

function line({ rule, severity, message, place, edits }: Finding, { colours }: TextStyle): string {
  const { line: at, column } = positionAt(place.source, place.start);
  const word = colours ? `\x1b[${COLOURS[severity]}m${severity}\x1b[0m` : severity;
  const fix = edits.length === 0 ? '' : severity === 'info' ? ` (--fix --severity ${rule}=warning)` : ' (--fix)';
  return `${clean(place.source.path)}:${at}:${column} ${word} ${rule} ${clean(message)}${fix}\n    ${ruleNamed(rule).remedy}\n`;
}

export function summaryOf({ findings, ignored, workloads, others, passedOver, unreadable }: Result): string {
  const count = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
  const passed = [...passedOver.values()].reduce((sum, number) => sum + number, 0);
  const parts = [
    plural(count('error'), 'error'),
    plural(count('warning'), 'warning'),
    `${count('info')} info`,
    ...(ignored.length > 0 ? [`${ignored.length} ignored`] : []),
    `in ${plural(workloads.length + others, 'workload')}`,
    ...(passed > 0 ? [`${plural(passed, 'object')} of other kinds passed over`] : []),
    ...(unreadable.length > 0 ? [`${plural(unreadable.length, 'document')} not read`] : []),
  ];
  return `${parts.join(', ')}\n`;
}

export function placeText(path: string, line: number | undefined): string {
  return line === undefined ? path : `${path}:${line}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Names may hold what moves a terminal's cursor, or what runners of GitHub and Azure take as a command. */
export function clean(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?').replaceAll(/##(?=\[|vso\[)/g, '#?');
}
