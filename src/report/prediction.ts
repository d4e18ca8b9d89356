/**
 * What was predicted of a pod's stop beside what happened: members that ended outside of the predicted times, and KILLs
 * that were not predicted. A prediction is for a deletion, so it is compared only where the platform has sent a stop
 * signal, and from the first one on. No member knows what a hook of the platform did before it.
 */
import { seconds } from '../core/format/evidence.ts';
import type { MemberPrediction } from './bars.ts';
import { type MemberStop, membersIn, type PodStop } from './stop.ts';

export interface Comparison {
  readonly of: string;
  /** When the pod got its first stop signal; undefined: it got none, and nothing is compared. */
  readonly signalledMs: number | undefined;
  readonly members: readonly ComparedMember[];
}

export interface ComparedMember {
  readonly member: MemberStop;
  readonly predicted: MemberPrediction;
  /** What came otherwise, in words; empty: nothing. */
  readonly differences: readonly string[];
}

/** Starting processes, and a kubelet that reckons in whole seconds, change a time by as much. */
const TOLERANCE_MS = 500;

/** undefined: nothing was predicted. */
export function comparisonOf(pod: PodStop): Comparison | undefined {
  const { prediction, members, endedMs } = pod;
  if (prediction === undefined) return undefined;
  const asked = membersIn(pod).filter(({ stopReason }) => stopReason?.startsWith('signal '));
  const times = asked.flatMap(({ requestedMs }) => requestedMs ?? []);
  const { of } = prediction;
  if (times.length === 0) return { of, signalledMs: undefined, members: [] };
  const signalledMs = Math.min(...times);
  const compared = members.flatMap((member): readonly ComparedMember[] => {
    const predicted = prediction.members.get(member.name);
    // What had ended before the signal did not end by it.
    const isComparable = member.reason !== 'lost' && (member.diedMs ?? signalledMs) >= signalledMs;
    if (predicted === undefined || !isComparable) return [];
    const tookMs = (member.diedMs ?? endedMs) - signalledMs;
    return [{ member, predicted, differences: differencesOf(member, predicted, tookMs) }];
  });
  return { of, signalledMs, members: compared };
}

function differencesOf(member: MemberStop, predicted: MemberPrediction, tookMs: number): readonly string[] {
  const { diedMs, forcedBy, isOfKubelet } = member;
  const { minMs, maxMs, kill } = predicted;
  const isEarly = diedMs !== undefined && tookMs < minMs - TOLERANCE_MS;
  const isLate = tookMs > maxMs + TOLERANCE_MS;
  const verb = diedMs === undefined ? 'still alive' : 'ended';
  return [
    ...((isEarly || isLate) && isOfKubelet === undefined
      ? [`${verb} after ${seconds(tookMs)}, predicted was ${rangeText(predicted)}`]
      : []),
    ...(forcedBy !== undefined && kill === 'never' ? [`KILL by ${forcedBy}, predicted was none`] : []),
  ];
}

/** `5.0 s to 15 s`, `up to 30 s`. */
export function rangeText({ minMs, maxMs }: Pick<MemberPrediction, 'minMs' | 'maxMs'>): string {
  if (minMs === maxMs) return seconds(minMs);
  return `${minMs === 0 ? 'up' : seconds(minMs)} to ${seconds(maxMs)}`;
}

/** One line a member that stopped otherwise, or one for all. */
export function comparisonLines(pod: PodStop): readonly string[] {
  const comparison = comparisonOf(pod);
  if (comparison === undefined) return [];
  const { of, signalledMs, members } = comparison;
  if (signalledMs === undefined)
    return [`not compared with ${of}: that predicts a deletion, and no stop signal of the platform came`];
  const lines = members.flatMap(({ member, differences }) => differences.map((what) => `${member.name}: ${what}`));
  return lines.length === 0 ? [`as predicted from ${of}`] : [`not as predicted from ${of}`, ...lines];
}

export function isAsPredicted(pod: PodStop): boolean {
  return comparisonOf(pod)?.members.every(({ differences }) => differences.length === 0) ?? true;
}
