/** Stops for other programs: JSON with its schema, and Chrome's trace events (which Perfetto opens). */
import { jsonText } from '../text/print.ts';
import type { Stretch } from './bars.ts';
import { fleetOf } from './fleet.ts';
import { comparisonLines, comparisonOf, isAsPredicted } from './prediction.ts';
import { forcedOf, graceMsOf, lateOf, lengthOf, type MemberStop, type PodStop, stopMsOf } from './stop.ts';
import { chainLines, nameOf, podName, sentenceOf } from './words.ts';

/** The version of the JSON that `-o json` prints. A key may be added under the same one. */
export const REPORT_VERSION = 1;

export function podsJson(pods: readonly PodStop[]): string {
  return jsonText({ version: REPORT_VERSION, pods: pods.map(podObject), workloads: fleetOf(pods) });
}

function podObject(pod: PodStop): object {
  return {
    pod: pod.pod || (pod.members[0]?.session ?? ''),
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
  const { name, role, stopReason, reason, exitCode, containerExitCode, signal, forcedBy, restarts } = member;
  const { connections, busy, inPlace, hurried, absences } = member;
  const at = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms - pod.beganMs));
  const between = (one: Stretch) => ({ fromMs: at(one.fromMs), untilMs: at(one.untilMs) });
  const ended = { name, role, stopReason, reason, exitCode, containerExitCode, signal, forcedBy, restarts };
  return {
    ...ended,
    restartedInPlace: inPlace,
    connections,
    busy,
    requestedMs: at(member.requestedMs),
    diedMs: at(member.diedMs),
    deadlineMs: at(member.deadlineMs),
    source: member.isOfKubelet && 'kubelet',
    predicted: predictedObject(member, pod),
    spans: member.spans.map((span) => ({ phase: nameOf(span), ...between(span) })),
    absences: absences?.map((absence) => ({ ...between(absence), how: absence.how })),
    hurried: hurried && { atMs: at(hurried.atMs), signal: hurried.signal },
    marks: member.marks.map(({ atMs, text }) => ({ atMs: at(atMs), text })),
  };
}

/** Times since the stop of the pod began, as all others. */
function predictedObject(member: MemberStop, pod: PodStop): object | undefined {
  const { signalledMs, members = [] } = comparisonOf(pod) ?? {};
  const compared = members.find((one) => one.member === member);
  if (signalledMs === undefined || compared === undefined) return undefined;
  const { minMs, maxMs, kill } = compared.predicted;
  const at = (ms: number) => Math.round(ms + signalledMs - pod.beganMs);
  return { endMs: { min: at(minMs), max: at(maxMs) }, kill, asPredicted: compared.differences.length === 0 };
}

/** Timestamps in microseconds; a process a pod, a thread a member. */
export function podsPerfetto(pods: readonly PodStop[]): string {
  const us = (ms: number) => Math.round(ms * 1_000);
  const traceEvents = pods.flatMap((pod, index) => {
    const pid = index + 1;
    const threads = pod.members.flatMap(({ name: member, spans, marks }, thread) => {
      const tid = thread + 1;
      const complete = spans.map((span) => {
        const times = { ts: us(span.fromMs), dur: us(lengthOf(span)) };
        return { ph: 'X', name: nameOf(span), cat: span.activity, pid, tid, ...times };
      });
      const instants = marks.map(({ atMs, text }) => ({ ph: 'i', s: 't', name: text, pid, tid, ts: us(atMs) }));
      return [{ ph: 'M', name: 'thread_name', pid, tid, args: { name: member } }, ...complete, ...instants];
    });
    return [{ ph: 'M', name: 'process_name', pid, args: { name: podName(pod) } }, ...threads];
  });
  return `${JSON.stringify({ displayTimeUnit: 'ms', traceEvents })}\n`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** The JSON Schema (draft 2020-12) of what `sexton report -o json` prints. */
export function reportSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:sexton:report:${REPORT_VERSION}`,
    title: 'How pods stopped',
    ...object({ version: { const: REPORT_VERSION }, pods: list(POD), workloads: list(WORKLOAD) }),
  };
}

const text = { type: 'string' };
const flag = { type: 'boolean' };
const count = { type: 'integer', minimum: 0 };
const offset = { type: 'integer', description: 'Milliseconds since the stop of the pod began; negative: before.' };
const time = { type: 'string', format: 'date-time' };

/** A field whose name ends in `?` may be absent. */
function object(fields: Readonly<Record<string, object>>): object {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, type]) => [name.replace('?', ''), type]));
  const required = Object.keys(fields).filter((name) => !name.endsWith('?'));
  return { type: 'object', properties, required, additionalProperties: false };
}

function list(items: object): object {
  return { type: 'array', items };
}

function all(type: object, names: string): Readonly<Record<string, object>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, type]));
}

const QUANTILES = object(all({ type: 'number' }, 'p50 p95 max'));

const MEMBER = object({
  ...all(text, 'name stopReason? reason? signal? forcedBy?'),
  'role?': { enum: ['main', 'sidecar'] },
  ...all({ type: 'integer' }, 'exitCode? containerExitCode?'),
  restarts: count,
  'restartedInPlace?': object({ times: count, by: text }),
  'connections?': object({ ...all(count, 'New Ignored LastNewMs? Open?'), Ended: text }),
  'busy?': object({ ...all(text, 'BusyFrom BusyTo'), BusyMs: count }),
  ...all(offset, 'requestedMs? diedMs? deadlineMs?'),
  'predicted?': object({
    endMs: object({ min: offset, max: offset }),
    kill: { enum: ['never', 'maybe', 'always'] },
    asPredicted: flag,
  }),
  'source?': { const: 'kubelet', description: 'Only the kubelet reports it, in whole seconds.' },
  'absences?': list(object({ fromMs: offset, untilMs: offset, how: text })),
  'hurried?': object({ atMs: offset, signal: text }),
  spans: list(object({ phase: text, fromMs: offset, untilMs: offset })),
  marks: list(object({ atMs: offset, text })),
});

const POD = object({
  ...all(text, 'pod workload summary'),
  over: flag,
  ...all(time, 'began ended? deadline?'),
  ...all(count, 'stopMs graceMs?'),
  ...all(list(text), 'forced late criticalChain'),
  earlier: { ...list(text), description: 'Members whose own stop, or end, was before that of the pod.' },
  'platform?': { ...text, description: 'Why the platform stopped the pod.' },
  'prediction?': object({ of: text, ...all(flag, 'compared asPredicted'), differences: list(text) }),
  members: { ...list(MEMBER), minItems: 1 },
});

const WORKLOAD = object({
  workload: text,
  pods: { type: 'integer', minimum: 1 },
  ...all(count, 'forced late'),
  stop: QUANTILES,
  activities: { type: 'object', additionalProperties: QUANTILES },
  'leastLeftMs?': { type: 'number' },
});
