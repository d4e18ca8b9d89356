/**
 * What several rules ask.
 */
import { insertKey, replaceValue } from '../edits.ts';
import type { Edit } from '../finding.ts';
import { at, type Range, textAt } from '../input/located.ts';
import { servicesOf, type Workload } from '../input/objects.ts';
import type { Container, Pod } from '../input/pod.ts';
import { type Place, trimmed } from '../input/source.ts';
import { type Interval, intervalText } from '../stop/interval.ts';
import type { WorkloadCase } from './rule.ts';

export function placeOf({ source }: Pick<Pod, 'source'>, range: Range): Place {
  return { source, ...trimmed(source, range) };
}

export function nameOf({ name, isNative }: Container): string {
  return isNative ? `native sidecar ${name}` : name;
}

export function hookText(hook: Interval): string {
  return `a preStop of ${intervalText(hook)}`;
}

export function isJob({ kind }: Workload): boolean {
  return kind === 'Job' || kind === 'CronJob';
}

/** A headless Service is no balancer: clients connect to pods themselves. */
export function behindService({ workload, objects }: WorkloadCase): boolean {
  return servicesOf(workload, objects).some(({ object }) => textAt(object, 'spec', 'clusterIP') !== 'None');
}

export function raiseGrace(pod: Pod, seconds: number): readonly Edit[] {
  if (pod.graceAt !== undefined) return [replaceValue(pod.source, pod.graceAt, String(seconds))];
  return insertKey(pod.source, pod.spec, 'terminationGracePeriodSeconds', String(seconds));
}

export function annotationPlace(workload: Workload, name: string): Place {
  const { pod, object } = workload;
  const template = at(object, 'spec', 'template') ?? at(object, 'spec', 'jobTemplate', 'spec', 'template');
  const node = at(template, 'metadata', 'annotations', name) ?? at(object, 'metadata', 'annotations', name);
  return placeOf(pod, node ?? pod.spec);
}
