import { seconds } from '../core/format/evidence.ts';
import type { Activity } from './bars.ts';
import { isAsPredicted } from './prediction.ts';
import { forcedOf, lateOf, lengthOf, type PodStop, phasesOf, type Span, stopMsOf } from './stop.ts';
import { activityName } from './words.ts';

export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

export interface Workload {
  readonly workload: string;
  readonly pods: number;
  readonly forced: number;
  /** Pods with a member that was there after the deadline. */
  readonly late: number;
  /** Milliseconds from the first stop request to the end of the pod. */
  readonly stop: Quantiles;
  /** Milliseconds a member spent in it, by activity; only what occurred. */
  readonly activities: Readonly<Partial<Record<Activity, Quantiles>>>;
  /** The smallest distance of an end to its deadline; negative: beyond it. */
  readonly leastLeftMs: number | undefined;
}

/** Those that were forced, late or not as predicted before the others; among equals the longest stop first. */
export function worstFirst(pods: readonly PodStop[]): readonly PodStop[] {
  return pods.toSorted((a, b) => failuresOf(b) - failuresOf(a) || stopMsOf(b) - stopMsOf(a));
}

function failuresOf(pod: PodStop): number {
  return forcedOf(pod).length + lateOf(pod).length + (isAsPredicted(pod) ? 0 : 1);
}

export function isBad(pod: PodStop): boolean {
  return forcedOf(pod).length + lateOf(pod).length > 0;
}

export function fleetOf(pods: readonly PodStop[]): readonly Workload[] {
  const workloads = [...Map.groupBy(pods, ({ workload }) => workload)].map(([name, of]) => workloadOf(name, of));
  return workloads.sort((a, b) => b.pods - a.pods || (a.workload < b.workload ? -1 : 1));
}

function workloadOf(workload: string, pods: readonly PodStop[]): Workload {
  const left = pods.flatMap(({ members, endedMs }) =>
    members.flatMap(({ deadlineMs, diedMs = endedMs }) => (deadlineMs === undefined ? [] : [deadlineMs - diedMs])),
  );
  // A phase in several parts counts once.
  const phases = pods.flatMap(({ members }) =>
    members.flatMap((member) => [...Map.groupBy(phasesOf(member), ({ activity }) => activity)]),
  );
  const spentIn = (parts: readonly Span[]): number => parts.reduce((sum, part) => sum + lengthOf(part), 0);
  const activities = [...Map.groupBy(phases, ([activity]) => activity)].map(([activity, all]) => {
    return [activity, quantilesOf(all.map(([, parts]) => spentIn(parts)))] as const;
  });
  return {
    workload,
    pods: pods.length,
    forced: pods.filter((pod) => forcedOf(pod).length > 0).length,
    late: pods.filter((pod) => lateOf(pod).length > 0).length,
    stop: quantilesOf(pods.map(stopMsOf)),
    activities: Object.fromEntries(activities),
    leastLeftMs: left.length === 0 ? undefined : Math.round(left.reduce((least, ms) => Math.min(least, ms))),
  };
}

export const FLEET_COLUMNS = 'workload,pods,forced,late,least left,phase,p50,p95,max'.split(',');

export function workloadRows({ workload, pods, forced, late, leastLeftMs, stop, activities }: Workload): string[][] {
  const left = leastLeftMs === undefined ? '-' : seconds(leastLeftMs);
  const facts = [workload || 'pod', String(pods), String(forced), String(late), left];
  const times = (of: Quantiles) => [of.p50, of.p95, of.max].map(seconds);
  const phases = ACTIVITIES.flatMap((activity) => {
    const of = activities[activity];
    return of === undefined ? [] : [['', '', '', '', '', activityName(activity), ...times(of)]];
  });
  return [[...facts, 'whole stop', ...times(stop)], ...phases];
}

const ACTIVITIES: readonly Activity[] = ['wake', 'hold', 'drain', 'pre-stop', 'linger', 'stop', 'kill', 'rest'];

/** Nearest rank: a figure that really occurred, in whole milliseconds. */
function quantilesOf(values: readonly number[]): Quantiles {
  const sorted = values.map(Math.round).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}
