/**
 * What several rules ask.
 */
import { insertKey, replaceValue } from '../edits.ts';
import type { Edit, Severity } from '../finding.ts';
import { at, type Entry, entriesAt, type Located, type Range, textAt } from '../input/located.ts';
import { ingressesOf, type Other, servicesOf, type Workload } from '../input/objects.ts';
import type { Container, Mount, Pod } from '../input/pod.ts';
import { type Place, type Source, trimmed } from '../input/source.ts';
import type { Shell } from '../stop/images.ts';
import { type Interval, intervalText } from '../stop/interval.ts';
import { type Fate, lastProgramOf, type ShellCommand } from '../stop/shell.ts';
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

/** How bad it is that a shell stays PID 1, or may: of dash it is certain. */
export function shellSeverity(script: ShellCommand, { stays }: Fate, shell: Shell | undefined): Severity {
  return !stays ? 'info' : shell === 'dash' || script.shell === 'dash' ? 'error' : 'warning';
}

/** `exec` in front of the last command, where the script stands on one line and its last command is plain. */
export function execBefore(source: Source, node: Located | undefined, script: string): readonly Edit[] {
  const tail = lastProgramOf(script);
  if (node === undefined || tail === undefined) return [];
  const body = source.text
    .slice(node.start, node.end)
    .trimEnd()
    .replace(/(?<![\\"'])[\\"']+$/, '');
  // Escapes and folds of YAML: then the text of the source is not that of the script.
  if (!body.endsWith(tail)) return [];
  const start = node.start + body.length - tail.length;
  return [{ source, start, end: start, text: 'exec ' }];
}

export function isJob({ kind }: Workload): boolean {
  return kind === 'Job' || kind === 'CronJob';
}

/** A headless Service is no balancer, as clients connect to pods themselves, unless an Ingress or a route sends by it. */
export function behindService({ workload, objects }: WorkloadCase): boolean {
  const services = servicesOf(workload, objects);
  const isBalancer = ({ object }: Other): boolean => textAt(object, 'spec', 'clusterIP') !== 'None';
  return services.some(isBalancer) || ingressesOf(services, objects).length > 0;
}

export function raiseGrace(pod: Pod, seconds: number): readonly Edit[] {
  if (pod.graceAt !== undefined) return [replaceValue(pod.source, pod.graceAt, String(seconds))];
  return insertKey(pod.source, pod.spec, 'terminationGracePeriodSeconds', String(seconds));
}

/** preStop has `sleep` since Kubernetes 1.30. */
export function hasSleep(minor: number | undefined): boolean {
  return minor === undefined || minor >= 30;
}

/** As they are written: those of the workload, and behind them those of its pod, which beat them. */
export function annotationsOf({ object }: Workload): readonly (readonly [name: string, entry: Entry])[] {
  const template = at(object, 'spec', 'template') ?? at(object, 'spec', 'jobTemplate', 'spec', 'template');
  return [object, template].flatMap((from) => [...entriesAt(from, 'metadata', 'annotations')]);
}

export function annotationPlace(workload: Workload, name: string): Place {
  const [, entry] = annotationsOf(workload).findLast(([one]) => one === name) ?? [];
  return placeOf(workload.pod, entry?.value ?? workload.pod.spec);
}

/** The mount that a path is on: the deepest above it. */
export function mountAbove({ mounts }: Container, path: string): Mount | undefined {
  const above = mounts.filter((one) => path === one.path || path.startsWith(one.path === '/' ? '/' : `${one.path}/`));
  return above.toSorted((a, b) => b.path.length - a.path.length)[0];
}

/** `64Mi`, `1Gi`, `100M`, `1048576`. */
export function bytesOf(text: string | undefined): number | undefined {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([KMGT]i?|k)?$/.exec(text ?? '') ?? [];
  if (count === undefined) return undefined;
  const power = ['', 'K', 'M', 'G', 'T'].indexOf(unit.replace('i', '').toUpperCase());
  return Number(count) * (unit.endsWith('i') ? 1024 : 1000) ** power;
}
