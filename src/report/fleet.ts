/**
 * Many pods' stops as figures by workload.
 */
import { type Activity, forcedOf, lateOf, type PodStop, stopMsOf } from './stop.ts';

export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

export interface Workload {
  readonly workload: string;
  readonly pods: number;
  /** Pods of which a member was ended by KILL. */
  readonly forced: number;
  /** Pods of which a member was there after the deadline. */
  readonly late: number;
  /** Milliseconds from the first stop request to the end of the pod. */
  readonly stop: Quantiles;
  /** Milliseconds a member spent in it, by activity; only what occurred. */
  readonly activities: Readonly<Partial<Record<Activity, Quantiles>>>;
  /** The smallest distance of an end to its deadline; negative: beyond it. */
  readonly leastLeftMs: number | undefined;
}

/** By the number of pods, the most first. */
export function fleetOf(pods: readonly PodStop[]): readonly Workload[] {
  const groups = Map.groupBy(pods, ({ workload }) => workload);
  return [...groups]
    .map(([workload, of]) => workloadOf(workload, of))
    .sort((a, b) => b.pods - a.pods || (a.workload < b.workload ? -1 : 1));
}

function workloadOf(workload: string, pods: readonly PodStop[]): Workload {
  const spent = new Map<Activity, number[]>();
  const left: number[] = [];
  for (const { members, endedMs } of pods)
    for (const { spans, deadlineMs, diedMs } of members) {
      if (deadlineMs !== undefined) left.push(deadlineMs - (diedMs ?? endedMs));
      for (const { activity, fromMs, untilMs } of spans) {
        if (activity === 'run' || activity === 'wait') continue;
        const times = spent.get(activity) ?? [];
        spent.set(activity, times);
        times.push(untilMs - fromMs);
      }
    }
  return {
    workload,
    pods: pods.length,
    forced: pods.filter((pod) => forcedOf(pod).length > 0).length,
    late: pods.filter((pod) => lateOf(pod).length > 0).length,
    stop: quantilesOf(pods.map(stopMsOf)),
    activities: Object.fromEntries([...spent].map(([activity, times]) => [activity, quantilesOf(times)])),
    leastLeftMs: left.length === 0 ? undefined : left.reduce((least, ms) => Math.min(least, ms)),
  };
}

/** Nearest rank: a figure that really occurred. */
function quantilesOf(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}
