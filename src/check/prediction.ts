/**
 * `sexton report --against FILE`: which workload of the inputs a pod is of, and what its manifest lets expect of the
 * members. A pod belongs to the workload that has a container for each member, by the name that sexton has there or by
 * the container's own. If several workloads fit, the one that is named as the pod's controller counts.
 */
import { bad, good, type Parse } from '../config/notation/parse.ts';
import { cleanText } from '../core/format/tombstone.ts';
import type { MemberPrediction, Prediction } from '../report/bars.ts';
import type { PodStop } from '../report/stop.ts';
import type { CheckedWorkload, Result } from './check.ts';
import { barsOf, marksOf } from './formats/timeline.ts';
import { earliest } from './stop/interval.ts';
import type { ContainerStop } from './stop/timeline.ts';

/** Else why there is none, in words that begin after the name of the file. */
export function predictionFor(pod: PodStop, { workloads, unreadable }: Result): Parse<Prediction> {
  const names = pod.members.map(({ name }) => name);
  const called = pod.pod === '' ? 'the pod' : pod.pod;
  const fitting = workloads.filter((one) => names.every((name) => stopsOf(one).has(name)));
  const named = fitting.filter(({ workload }) => workload.name === pod.workload.replace(/^.*\//, ''));
  const candidates = fitting.length > 1 && named.length > 0 ? named : fitting;
  const [only, ...others] = candidates;
  const members = `${called} has the ${names.length === 1 ? 'member' : 'members'} ${names.join(', ')}`;
  if (only !== undefined && others.length === 0) {
    const stops = [...stopsOf(only)].filter(([name]) => names.includes(name));
    return good({ of: titleOf(only), members: sinceFirstTerm(stops) });
  }
  if (only !== undefined)
    return bad(`${members}, and so have ${candidates.map(titleOf).join(', ')}; name a file that has only one of them`);
  const [broken] = unreadable;
  if (workloads.length === 0)
    return bad(broken === undefined ? 'no workload is in it' : cleanText(`${broken.path} was not read: ${broken.why}`));
  const known = workloads
    .slice(0, MAX_NAMED)
    .map((one) => `${titleOf(one)} has ${[...stopsOf(one).keys()].join(', ')}`);
  return bad(`${members}, and no workload there has all of them: ${cleanText(known.join('; '))}`);
}

const MAX_NAMED = 3;

function titleOf({ workload: { kind, name, pod } }: CheckedWorkload): string {
  return cleanText(`${kind}/${name} of ${pod.source.path}`);
}

function stopsOf({ view }: CheckedWorkload): ReadonlyMap<string, ContainerStop> {
  return new Map(view.containers.map(({ member, stop }) => [member?.name ?? stop.name, stop]));
}

/** By the member's name, from the first TERM that one of them gets. */
export function sinceFirstTerm(
  stops: readonly (readonly [name: string, stop: ContainerStop])[],
): ReadonlyMap<string, MemberPrediction> {
  const first = earliest(stops.map(([, { term }]) => term));
  const since = (ms: number): number => ms - first.maxMs;
  const predicted = (stop: ContainerStop): MemberPrediction => ({
    minMs: Math.max(0, since(stop.end.minMs)),
    maxMs: stop.end.maxMs - first.minMs,
    kill: stop.killed === 'never' && stop.mayKillItself ? 'maybe' : stop.killed,
    bars: barsOf(stop, 0).map((bar) => ({ ...bar, fromMs: since(bar.fromMs), untilMs: since(bar.untilMs) })),
    marks: marksOf(stop).map((mark) => ({ ...mark, atMs: since(mark.atMs) })),
  });
  return new Map(stops.map(([name, stop]) => [name, predicted(stop)]));
}
