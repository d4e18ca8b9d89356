/**
 * How long a balancer goes on sending to a pod that stops: declared by a person, or as the objects around the pod configure it.
 */
import { at, entriesAt, type Located, textAt, textsAt, wholeAt } from '../../input/located.ts';
import {
  ingressesOf,
  isSameNamespace,
  type Objects,
  type Other,
  servicesOf,
  type Workload,
} from '../../input/objects.ts';
import type { Place } from '../../input/source.ts';
import { declaredMs, PREFIX } from '../../stop/declared.ts';
import { annotationsOf } from '../common.ts';

export interface Delay {
  readonly ms: number;
  readonly place: Place;
}

/** The longest one; undefined: none is known. */
export function delayOf(workload: Workload, objects: Objects): Delay | undefined {
  const declared = declaredMs(workload.pod, 'lb-seconds');
  if (declared !== undefined) {
    const [, entry] = annotationsOf(workload).findLast(([name]) => name === `${PREFIX}lb-seconds`) ?? [];
    const { start, end } = entry?.value ?? workload.pod.spec;
    return { ms: declared, place: { source: workload.pod.source, start, end } };
  }
  const services = servicesOf(workload, objects);
  const delays = [
    ...[...services, ...ingressesOf(services, objects)].flatMap(awsDelays),
    ...services.flatMap((service) => googleDelays(service, objects)),
  ];
  return delays.toSorted((a, b) => b.ms - a.ms)[0];
}

/** Annotations of the AWS Load Balancer Controller. */
const ATTRIBUTES = [
  'alb.ingress.kubernetes.io/target-group-attributes',
  'service.beta.kubernetes.io/aws-load-balancer-target-group-attributes',
];

function awsDelays({ source, object }: Other): readonly Delay[] {
  return ATTRIBUTES.flatMap((name) => {
    const node = at(object, 'metadata', 'annotations', name);
    const seconds = /(?:^|,)\s*deregistration_delay\.timeout_seconds=(\d+)/.exec(textAt(node) ?? '')?.[1];
    return node === undefined || seconds === undefined ? [] : [delayAt({ source, node, seconds: Number(seconds) })];
  });
}

/** Annotations of a Service for the Ingress of Google Cloud, the older one last. */
const BACKEND_CONFIGS = ['cloud.google.com/backend-config', 'beta.cloud.google.com/backend-config'];

/**
 * Connection draining of Google Cloud: a BackendConfig that the Service names, for its Ingress, or a GCPBackendPolicy that names the
 * Service, for a Gateway.
 */
function googleDelays(service: Other, { backendConfigs, backendPolicies }: Objects): readonly Delay[] {
  const near = ({ namespace }: Other): boolean => isSameNamespace(namespace, service.namespace);
  const annotations = textsAt(service.object, 'metadata', 'annotations');
  const text = BACKEND_CONFIGS.map((name) => annotations.get(name)).find((one) => one !== undefined);
  const named = text === undefined ? [] : configNames(text);
  const configs = backendConfigs.filter((one) => near(one) && named.includes(one.name));
  const policies = backendPolicies.filter((one) => near(one) && isTarget(at(one.object, 'spec', 'targetRef'), service));
  return [
    ...configs.flatMap((one) => drainingAt(one, at(one.object, 'spec'))),
    ...policies.flatMap((one) => drainingAt(one, at(one.object, 'spec', 'default'))),
  ];
}

/** `{"default": "name", "ports": {"http": "name"}}`. */
function configNames(text: string): readonly string[] {
  try {
    const { default: all, ports } = JSON.parse(text) as Record<string, unknown>;
    return [all, ...Object.values(ports ?? {})].filter((name) => typeof name === 'string');
  } catch {
    // Google's controller refuses it, and says so.
    return [];
  }
}

function isTarget(target: Located | undefined, { name }: Other): boolean {
  return (textAt(target, 'kind') ?? 'Service') === 'Service' && textAt(target, 'name') === name;
}

function drainingAt({ source }: Other, spec: Located | undefined): readonly Delay[] {
  const draining = at(spec, 'connectionDraining');
  const seconds = wholeAt(draining, 'drainingTimeoutSec');
  const node = entriesAt(draining).get('drainingTimeoutSec')?.value;
  return seconds === undefined || node === undefined ? [] : [delayAt({ source, node, seconds })];
}

function delayAt({ source, node, seconds }: Pick<Place, 'source'> & { node: Located; seconds: number }): Delay {
  return { ms: seconds * 1_000, place: { source, start: node.start, end: node.end } };
}
