/** The objects of all inputs: workloads with their pods, and what is joined to them by selector and name. */
import type { Entry, Located, LocatedMap } from './located.ts';
import { at, entriesAt, itemsAt, textAt, textsAt, textsOf, wholeAt } from './located.ts';
import { type Pod, podOf } from './pod.ts';
import type { Source } from './source.ts';
import { type IsTogether, type Root, togetherIn } from './together.ts';

export interface Workload {
  readonly kind: WorkloadKind;
  readonly name: string;
  readonly object: LocatedMap;
  /** The part of it that has the metadata and the spec of the pod. */
  readonly template: LocatedMap;
  readonly pod: Pod;
  /** undefined: not said, or none of its own. */
  readonly replicas: number | undefined;
}

export interface Other {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly source: Source;
  readonly object: LocatedMap;
  /** The labels of the pods that it is about; empty: none, or more than labels tell. */
  readonly selector: ReadonlyMap<string, string>;
}

const TEMPLATE = ['spec', 'template'] as const;
const TEMPLATES = {
  Pod: [],
  Deployment: TEMPLATE,
  StatefulSet: TEMPLATE,
  DaemonSet: TEMPLATE,
  ReplicaSet: TEMPLATE,
  ReplicationController: TEMPLATE,
  Job: TEMPLATE,
  CronJob: ['spec', 'jobTemplate', ...TEMPLATE],
  PodTemplate: ['template'],
  /** Argo's, and like a Deployment. */
  Rollout: TEMPLATE,
} as const;
type WorkloadKind = keyof typeof TEMPLATES;

/** With the group of each: Knative has a Service, too, and OpenShift an Ingress. */
const JOINED = {
  Service: '',
  PodDisruptionBudget: 'policy',
  HorizontalPodAutoscaler: 'autoscaling',
  ScaledObject: 'keda.sh',
  Ingress: 'networking.k8s.io',
  HTTPRoute: 'gateway.networking.k8s.io',
  ConfigMap: '',
  BackendConfig: 'cloud.google.com',
  GCPBackendPolicy: 'networking.gke.io',
} as const;
type JoinedKind = keyof typeof JOINED;

export interface Objects {
  readonly workloads: readonly Workload[];
  readonly budgets: readonly Other[];
  /** Objects that are joined, by what they are found by: see `keysOf`. */
  readonly byKey: ReadonlyMap<string, readonly Keyed[]>;
  readonly isTogether: IsTogether;
  readonly passedOver: ReadonlyMap<string, number>;
  /** Those passed over, and what is no object. */
  readonly unknown: readonly Root[];
}

/** `definitions`: CustomResourceDefinitions that are not among the roots. */
export function objectsOf(roots: readonly Root[], definitions: number): Objects {
  const workloads: Workload[] = [];
  const passedOver = new Map(definitions > 0 ? [['CustomResourceDefinition', definitions]] : []);
  const unknown: Root[] = [];
  const others: Other[] = [];
  for (const { source, root } of roots) add(source, root);
  const byKey = Map.groupBy(others.flatMap(keysOf), ({ key }) => key);
  const budgets = others.filter(({ kind }) => kind === 'PodDisruptionBudget');
  return { workloads, budgets, byKey, isTogether: togetherIn(roots), passedOver, unknown };

  function add(source: Source, object: Located): void {
    const kind = textAt(object, 'kind');
    if (!isObject(object) || kind === undefined) {
      unknown.push({ source, root: object });
      return;
    }
    const name = textAt(object, 'metadata', 'name') ?? textAt(object, 'metadata', 'generateName') ?? 'unnamed';
    const namespace = textAt(object, 'metadata', 'namespace');
    const found = isWorkloadKind(kind) ? workloadOf(kind, name, object, source) : [];
    if (found.length > 0) workloads.push(...found);
    else if (isJoined(kind, object))
      others.push({ kind, name, namespace, source, object, selector: selectorOf(object) });
    else if (/List$/.test(kind) && at(object, 'items')?.kind === 'list')
      for (const item of itemsAt(object, 'items')) add(source, item);
    else {
      passedOver.set(kind, (passedOver.get(kind) ?? 0) + 1);
      unknown.push({ source, root: object });
    }
  }
}

export function isObject(node: Located): node is LocatedMap {
  return node.kind === 'map' && textAt(node, 'kind') !== undefined && textAt(node, 'apiVersion') !== undefined;
}

function isJoined(kind: string, object: Located): boolean {
  const group = textAt(object, 'apiVersion')?.split('/').at(-2) ?? '';
  return Object.hasOwn(JOINED, kind) && JOINED[kind as JoinedKind] === group;
}

function isWorkloadKind(kind: string): kind is WorkloadKind {
  return Object.hasOwn(TEMPLATES, kind);
}

/** As they are written: those of the object, and behind them those of its job and its pod, which beat them. */
export function annotationsOf(object: Located): readonly (readonly [name: string, entry: Entry])[] {
  const job = at(object, 'spec', 'jobTemplate');
  const template = at(job ?? object, ...TEMPLATE) ?? at(object, ...TEMPLATES.PodTemplate);
  return [object, job, template].flatMap((from) => [...entriesAt(from, 'metadata', 'annotations')]);
}

/** None where it has no pod, as Volcano's Job. */
function workloadOf(kind: WorkloadKind, name: string, object: LocatedMap, source: Source): readonly Workload[] {
  const template = at(object, ...TEMPLATES[kind]);
  const spec = at(template, 'spec');
  if (template?.kind !== 'map' || spec?.kind !== 'map') return [];
  const namespace = textAt(object, 'metadata', 'namespace');
  const annotations = textsOf(annotationsOf(object));
  const pod = podOf(spec, { source, namespace, labels: textsAt(template, 'metadata', 'labels'), annotations });
  return [{ kind, name, object, template, pod, replicas: wholeAt(object, 'spec', 'replicas') }];
}

/** Those in the same file, else in the same directory, else all. */
export function nearest<T>(from: Source, found: readonly T[], sourceOf: (one: T) => Source): readonly T[] {
  const inFile = found.filter((one) => sourceOf(one) === from);
  if (inFile.length > 0) return inFile;
  const beside = found.filter((one) => directoryOf(sourceOf(one)) === directoryOf(from));
  return beside.length > 0 ? beside : found;
}

function directoryOf({ path }: Source): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** The line is left out, so that a message stays the same when lines are added. */
export function namedAt({ kind, name, source }: Other): string {
  return `${kind} ${name} of ${source.path}`;
}

interface Keyed {
  readonly key: string;
  /** In which it is found. */
  readonly namespace: string | undefined;
  readonly other: Other;
}

/** Those with that key that are deployed together with `from`, for the same namespace. */
export function joinedBy(objects: Objects, key: string, from: Pick<Other, 'source' | 'namespace'>): readonly Other[] {
  const candidates = objects.byKey.get(key) ?? [];
  return candidates.flatMap(({ namespace, other }) =>
    isSameNamespace(namespace, from.namespace) && objects.isTogether(other.source, from.source) ? [other] : [],
  );
}

/** A Service or budget is found by one label that it selects, others by what they are about, or by their name. */
function keysOf(other: Other): readonly Keyed[] {
  const { kind, name, namespace, object, selector } = other;
  const [label] = selector;
  const keyed = (key: string, of = namespace): Keyed => ({ key, namespace: of, other });
  if (label !== undefined) return [keyed(`${kind} ${label.join('=')}`)];
  if (kind === 'Ingress' || kind === 'HTTPRoute')
    return backendsOf(other).map((backend) => keyed(`Ingress ${backend.name}`, backend.namespace));
  if (kind === 'HorizontalPodAutoscaler' || kind === 'ScaledObject') {
    const target = at(object, 'spec', 'scaleTargetRef');
    // KEDA's default.
    return [keyed(`Scaler ${textAt(target, 'kind') ?? 'Deployment'} ${textAt(target, 'name')}`)];
  }
  if (kind !== 'GCPBackendPolicy') return [keyed(`${kind} ${name}`)];
  const target = at(object, 'spec', 'targetRef');
  return [keyed(`${kind} ${textAt(target, 'kind') ?? 'Service'} ${textAt(target, 'name')}`)];
}

export function servicesOf({ pod }: Workload, objects: Objects): readonly Other[] {
  return nearest(pod.source, selecting(pod, objects, 'Service'), ({ source }) => source);
}

export function budgetsOf({ pod }: Workload, objects: Objects): readonly Other[] {
  return selecting(pod, objects, 'PodDisruptionBudget');
}

function selecting(pod: Pod, objects: Objects, kind: JoinedKind): readonly Other[] {
  const candidates = [...pod.labels].flatMap((label) => joinedBy(objects, `${kind} ${label.join('=')}`, pod));
  return candidates.filter(({ selector }) => [...selector].every(([name, value]) => pod.labels.get(name) === value));
}

/** The selector of a Service, or the matchLabels of a budget that has no expressions. */
function selectorOf(object: LocatedMap): ReadonlyMap<string, string> {
  if (textAt(object, 'kind') === 'Service') return textsAt(object, 'spec', 'selector');
  const hasOther = itemsAt(object, 'spec', 'selector', 'matchExpressions').length > 0;
  return hasOther ? new Map() : textsAt(object, 'spec', 'selector', 'matchLabels');
}

export function scalerOf({ kind, name, pod }: Workload, objects: Objects): Other | undefined {
  return nearest(pod.source, joinedBy(objects, `Scaler ${kind} ${name}`, pod), ({ source }) => source)[0];
}

export function ingressesOf(services: readonly Other[], objects: Objects): readonly Other[] {
  const distinct = new Map(services.map((one) => [`${one.source.path} ${one.namespace} ${one.name}`, one]));
  return [...distinct.values()].flatMap((service) => joinedBy(objects, `Ingress ${service.name}`, service));
}

/** The Services that an Ingress or a route of the Gateway API sends to. */
function backendsOf({ kind, object, namespace }: Other) {
  const rules = itemsAt(object, 'spec', 'rules');
  if (kind === 'Ingress') {
    const paths = rules.flatMap((rule) => itemsAt(rule, 'http', 'paths').map((path) => at(path, 'backend')));
    const backends = [at(object, 'spec', 'defaultBackend'), ...paths];
    return backends.map((backend) => ({ name: textAt(backend, 'service', 'name'), namespace }));
  }
  const refs = rules.flatMap((rule) => itemsAt(rule, 'backendRefs'));
  return refs
    .filter((ref) => (textAt(ref, 'kind') ?? 'Service') === 'Service')
    .map((ref) => ({ name: textAt(ref, 'name'), namespace: textAt(ref, 'namespace') ?? namespace }));
}

export function configMapOf(objects: Objects, pod: Pod, map: string | undefined): LocatedMap | undefined {
  return nearest(pod.source, joinedBy(objects, `ConfigMap ${map}`, pod), ({ source }) => source)[0]?.object;
}

/** kubectl chooses the namespace of a manifest that names none. */
export function isSameNamespace(a: string | undefined, b: string | undefined): boolean {
  return a === b || a === undefined || b === undefined;
}
