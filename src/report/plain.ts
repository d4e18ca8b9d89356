/**
 * Stops for other programs: JSON, Mermaid's gantt (which GitHub draws), Markdown, and Chrome's trace events (which
 * Perfetto opens).
 */
import { fleetOf } from './fleet.ts';
import { comparisonLines, comparisonOf, isAsPredicted } from './prediction.ts';
import { forcedOf, graceMsOf, lateOf, type MemberStop, type PodStop, type Span, stopMsOf } from './stop.ts';
import { chainLines, endText, nameOf, podName, seconds, sentenceOf } from './words.ts';

/** The version of the JSON that `-o json` prints. A key may be added under the same one. */
export const REPORT_VERSION = 1;

export function podsJson(pods: readonly PodStop[]): string {
  const report = { version: REPORT_VERSION, pods: pods.map(podObject), workloads: fleetOf(pods) };
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

function podObject(pod: PodStop): object {
  return {
    pod: pod.pod,
    workload: pod.workload,
    summary: sentenceOf(pod),
    over: pod.isOver,
    began: iso(pod.beganMs),
    ended: pod.isOver ? iso(pod.endedMs) : undefined,
    stopMs: Math.round(stopMsOf(pod)),
    graceMs: graceMsOf(pod),
    deadline: pod.deadlineMs === undefined ? undefined : iso(pod.deadlineMs),
    forced: forcedOf(pod).map(({ name }) => name),
    late: lateOf(pod).map(({ name }) => name),
    earlier: [...pod.earlier].map(({ name }) => name),
    criticalChain: chainLines(pod),
    platform: pod.platform?.why,
    prediction: predictionObject(pod),
    members: pod.members.map((member) => memberObject(member, pod)),
  };
}

function predictionObject(pod: PodStop): object | undefined {
  const comparison = comparisonOf(pod);
  if (comparison === undefined) return undefined;
  const { of, signalledMs } = comparison;
  const [, ...differences] = comparisonLines(pod);
  return { of, compared: signalledMs !== undefined, asPredicted: isAsPredicted(pod), differences };
}

function memberObject(member: MemberStop, pod: PodStop): object {
  const { beganMs } = pod;
  const { name, role, stopReason, reason, exitCode, signal, forcedBy, restarts, connections } = member;
  const restartedInPlace = member.inPlace && { times: member.inPlace.times, by: member.inPlace.by };
  const at = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms - beganMs));
  const spans = member.spans.map((span) => ({
    phase: nameOf(span),
    fromMs: at(span.fromMs),
    untilMs: at(span.untilMs),
  }));
  const absences = member.absences?.map(({ fromMs, untilMs, how }) => ({
    fromMs: at(fromMs),
    untilMs: at(untilMs),
    how,
  }));
  const hurried = member.hurried && { atMs: at(member.hurried.atMs), signal: member.hurried.signal };
  const marks = member.marks.map(({ atMs, text }) => ({ atMs: at(atMs), text }));
  const times = { requestedMs: at(member.requestedMs), diedMs: at(member.diedMs), deadlineMs: at(member.deadlineMs) };
  const ended = { name, role, stopReason, reason, exitCode, signal, forcedBy, restarts, restartedInPlace, connections };
  const source = member.isOfKubelet && 'kubelet';
  return { ...ended, ...times, source, predicted: predictedObject(member, pod), spans, absences, hurried, marks };
}

/** Times since the stop of the pod began, as all others. */
function predictedObject(member: MemberStop, pod: PodStop): object | undefined {
  const comparison = comparisonOf(pod);
  const compared = comparison?.members.find((one) => one.member === member);
  if (comparison?.signalledMs === undefined || compared === undefined) return undefined;
  const { minMs, maxMs, kill } = compared.predicted;
  const { signalledMs } = comparison;
  const at = (ms: number) => Math.round(ms + signalledMs - pod.beganMs);
  return { endMs: { min: at(minMs), max: at(maxMs) }, kill, asPredicted: compared.differences.length === 0 };
}

export function podMermaid(pod: PodStop): string {
  const lines = pod.members.flatMap((member, at) => {
    const spans = member.spans.filter(({ activity }) => activity !== 'run' && activity !== 'wait');
    return spans.length === 0
      ? []
      : [
          `  section ${word(member.name) || '-'}`,
          ...spans.map((span, index) => task(span, `member${at}phase${index}`, pod)),
        ];
  });
  const deadline =
    pod.deadlineMs === undefined
      ? []
      : [`  section pod`, `  deadline :crit, milestone, ${Math.round(pod.deadlineMs - pod.beganMs)}, 0ms`];
  const extentMs = (pod.deadlineMs ?? pod.endedMs) - pod.beganMs;
  return [
    'gantt',
    `  title ${titleText(sentenceOf(pod))}`,
    '  dateFormat x',
    `  axisFormat ${extentMs < 10_000 ? '%S.%L' : '%M:%S'}`,
    ...lines,
    ...deadline,
    '',
  ].join('\n');
}

function task(span: Span, id: string, { beganMs }: PodStop): string {
  const tag =
    span.activity === 'kill'
      ? 'crit, '
      : span.activity === 'hold'
        ? 'done, '
        : span.activity === 'drain'
          ? 'active, '
          : '';
  const [from, until] = [Math.round(span.fromMs - beganMs), Math.round(span.untilMs - beganMs)];
  return `  ${word(nameOf(span))} ${seconds(span.untilMs - span.fromMs)} :${tag}${id}, ${from}, ${Math.max(from + 1, until)}`;
}

/** Mermaid has no quoting: what its grammar reads is left out. */
function word(text: string): string {
  return only(/[^A-Za-z0-9 .()-]/g, text);
}

/** A title may have colons and commas in it; a semicolon ends it. */
function titleText(text: string): string {
  return only(/[^A-Za-z0-9 .,:()-]/g, text.replaceAll(';', ','));
}

function only(others: RegExp, text: string): string {
  return text.replace(others, ' ').replace(/ +/g, ' ').trim();
}

export function podMarkdown(pod: PodStop): string {
  const rows = pod.members.map((member) => {
    const stop = member.spans.filter(({ activity }) => activity !== 'run' && activity !== 'wait');
    const phases = stop.map((span) => `${nameOf(span)} ${seconds(span.untilMs - span.fromMs)}`).join(', ') || '-';
    return [member.name, member.role ?? '-', member.stopReason ?? 'not asked', phases, endText(member)];
  });
  const table = [['member', 'role', 'stop reason', 'phases', 'end'], ['---', '---', '---', '---', '---'], ...rows];
  return [
    `**${cell(podName(pod))}**: ${cell(sentenceOf(pod))}`,
    ...comparisonLines(pod).flatMap((line) => ['', cell(line)]),
    '',
    ...table.map(
      (row) => `| ${row.map((text, column) => (text === '---' && column >= 0 ? text : cell(text))).join(' | ')} |`,
    ),
    '',
    ...chainLines(pod).map((line, index) => `${index + 1}. ${cell(line)}`),
    '',
  ].join('\n');
}

/** Nothing in it is markup: HTML 4.2's own way to write a character works in Markdown as well. */
function cell(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|~&!]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Timestamps in microseconds; a process a pod, a thread a member. */
export function podsPerfetto(pods: readonly PodStop[]): string {
  const events = pods.flatMap((pod, index) => [
    { ph: 'M', name: 'process_name', pid: index + 1, args: { name: podName(pod) } },
    ...pod.members.flatMap((member, thread) => [
      { ph: 'M', name: 'thread_name', pid: index + 1, tid: thread + 1, args: { name: member.name } },
      ...member.spans.map((span) => ({
        ph: 'X',
        name: nameOf(span),
        cat: span.activity,
        pid: index + 1,
        tid: thread + 1,
        ts: Math.round(span.fromMs * 1_000),
        dur: Math.round((span.untilMs - span.fromMs) * 1_000),
      })),
      ...member.marks.map(({ atMs, text }) => ({
        ph: 'i',
        s: 't',
        name: text,
        pid: index + 1,
        tid: thread + 1,
        ts: Math.round(atMs * 1_000),
      })),
    ]),
  ]);
  return `${JSON.stringify({ displayTimeUnit: 'ms', traceEvents: events })}\n`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
