/** How long a balancer sends to a pod that stops: declared by a person, or configured in objects around the pod. */
import { at, type Located, textAt, textsAt, wholeAt } from '../../input/located.ts';
import * as objects from '../../input/objects.ts';
import type { Source } from '../../input/source.ts';
import { declaredMs, PREFIX } from '../../stop/declared.ts';

type Other = objects.Other;

export interface Delay {
  readonly ms: number;
  readonly source: Source;
  readonly at: Located;
}

/** The longest one; undefined: none is known. */
export function delayOf(workload: objects.Workload, all: objects.Objects): Delay | undefined {
  const { source, spec } = workload.pod;
  const declared = declaredMs(workload.pod, 'lb-seconds');
  const [, entry] = objects.annotationsOf(workload.object).findLast(([name]) => name === `${PREFIX}lb-seconds`) ?? [];
  if (declared !== undefined) return { ms: declared, source, at: entry?.value ?? spec };
  const services = objects.servicesOf(workload, all);
  const delays = [
    ...[...services, ...objects.ingressesOf(services, all)].flatMap(awsDelays),
    ...services.flatMap((service) => googleDelays(service, all)),
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
    return node === undefined || seconds === undefined ? [] : [{ ms: Number(seconds) * 1_000, source, at: node }];
  });
}

/** Annotations of a Service for the Ingress of Google Cloud, the older one last. */
const BACKEND_CONFIGS = ['cloud.google.com/backend-config', 'beta.cloud.google.com/backend-config'];

/** For an Ingress the Service names a BackendConfig; for a Gateway a GCPBackendPolicy names the Service. */
function googleDelays(service: Other, all: objects.Objects): readonly Delay[] {
  const annotations = textsAt(service.object, 'metadata', 'annotations');
  const text = BACKEND_CONFIGS.map((name) => annotations.get(name)).find((one) => one !== undefined);
  const named = text === undefined ? [] : configNames(text);
  const configs = named.flatMap((name) => objects.joinedBy(all, `BackendConfig ${name}`, service));
  const policies = objects.joinedBy(all, `GCPBackendPolicy Service ${service.name}`, service);
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

function drainingAt({ source }: Other, spec: Located | undefined): readonly Delay[] {
  const seconds = wholeAt(spec, 'connectionDraining', 'drainingTimeoutSec');
  const node = at(spec, 'connectionDraining', 'drainingTimeoutSec');
  return seconds === undefined || node === undefined ? [] : [{ ms: seconds * 1_000, source, at: node }];
}
