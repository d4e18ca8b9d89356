/**
 * SX3 traffic, SX4 sidecars, SX5 budgets.
 */
import { SIDECARS } from '../../config/notation/sidecars.ts';
import { insertKey } from '../edits.ts';
import type { Edit } from '../finding.ts';
import { at, itemsAt, textAt, wholeAt } from '../input/located.ts';
import { budgetsOf, scalerOf } from '../input/objects.ts';
import type { Container, Pod } from '../input/pod.ts';
import { trimmed } from '../input/source.ts';
import { referenceOf } from '../stop/images.ts';
import { type ContainerView, hasKey } from '../stop/plan.ts';
import { behindService, hasSleep, isJob, nameOf, placeOf, raiseGrace } from './common.ts';
import { deployment, job, SERVICE } from './examples.ts';
import type { Found, Rule } from './rule.ts';

const WEB = '- name: web\n  image: example.com/web:1\n';
const READY = '  readinessProbe: {httpGet: {port: 80}}\n';
const SLEEP = '  lifecycle:\n    preStop: {sleep: {seconds: 5}}\n';
const PROXY = 'name: proxy, image: "envoyproxy/envoy:v1.31"';

export const POD_RULES: readonly Rule[] = [
  {
    id: 'SX301',
    severity: 'info',
    title: 'Behind a Service, and nothing keeps the pod serving while endpoints are updated',
    why: 'TERM and the removal of the endpoint begin at the same time. Proxies and balancers send new requests for some more seconds, to a program that has stopped listening.',
    remedy: 'Add a preStop sleep of some seconds, or a drain by sexton; raise the grace period by as much.',
    language: 'yaml',
    bad: deployment(WEB + READY) + SERVICE,
    good: deployment(WEB + READY + SLEEP) + SERVICE,
    isFixable: true,
    on: 'workload',
    find: (about) => {
      const { workload, view, minor } = about;
      if (isJob(workload) || !behindService(about)) return [];
      const mains = view.containers.filter(({ container }) => !container.isNative);
      if (mains.some(({ container, sexton }) => container.preStop !== undefined || mayDrain(sexton))) return [];
      const drained = mains.filter(({ container }) => !isInjected(container) && !isIstio(container));
      const [main] = drained.filter(({ container }) => itemsAt(container.node, 'ports').length > 0).concat(drained);
      if (main === undefined) return [];
      const { pod } = workload;
      return [
        {
          place: placeOf(pod, at(main.container.node, 'name') ?? main.container.node),
          message: `${nameOf(main.container)}: gets TERM at once, while the Service still sends to it`,
          container: main.container.name,
          atMs: 0,
          edits: pod.graceSeconds > 0 && hasSleep(minor) ? sleepEdits(pod, main.container) : [],
        },
      ];
    },
  },
  {
    id: 'SX302',
    severity: 'warning',
    title: 'Behind a Service without a readiness probe',
    why: 'Without one a pod counts as ready when its containers run: a rolling update removes old pods while new ones still start.',
    remedy: 'Add a readinessProbe to the container that serves.',
    language: 'yaml',
    bad: deployment(WEB + SLEEP) + SERVICE,
    good: deployment(WEB + SLEEP + READY) + SERVICE,
    on: 'workload',
    find: (about) => {
      const { workload } = about;
      const { pod } = workload;
      if (isJob(workload) || workload.kind === 'Pod' || !behindService(about)) return [];
      if (pod.containers.some((container) => hasKey(container, 'readinessProbe'))) return [];
      const [main] = pod.containers.filter((container) => !container.isNative && !isInjected(container));
      if (main === undefined) return [];
      return [
        {
          place: placeOf(pod, at(main.node, 'name') ?? main.node),
          message: `${nameOf(main)}: has no readinessProbe, so a Service sends to it as soon as it runs`,
          container: main.name,
        },
      ];
    },
  },
  {
    id: 'SX401',
    severity: 'error',
    title: 'A Job with a sidecar that never ends',
    why: 'A Job is complete when all of its containers have ended. A proxy as an ordinary container runs on when the work is done.',
    remedy:
      'Make it a native sidecar (an init container with restartPolicy: Always), run both under sexton, or ask it to leave with sexton --quit.',
    language: 'yaml',
    bad: job(`- {name: work, image: "example.com/work:1"}\n- {${PROXY}}`),
    good: job('- {name: work, image: "example.com/work:1"}', `initContainers: [{${PROXY}, restartPolicy: Always}]\n`),
    on: 'workload',
    find: ({ workload, view }) => {
      const { pod } = workload;
      const ordinary = view.containers.filter(({ container }) => !container.isNative);
      // Its main may ask it to leave: by its command line, or by what its image does.
      const asks = ordinary.some(
        ({ argv, sexton }) => sexton !== undefined || /quit|shutdown|kill/.test((argv ?? []).join(' ')),
      );
      if (!isJob(workload) || ordinary.length < 2 || asks || pod.sharesProcesses) return [];
      return ordinary.filter(isSidecar).map(({ container }) => ({
        place: placeOf(pod, container.node),
        message: `${container.name}: does not end when the work is done, so the Job never completes`,
        container: container.name,
      }));
    },
  },
  {
    id: 'SX402',
    severity: 'warning',
    title: 'The preStop hook of a native sidecar runs at the beginning of the stop',
    why: 'All hooks start at once. A native sidecar gets TERM after the mains have ended, but its hook has run long before.',
    remedy: 'Leave the hook out: the order keeps the sidecar until the mains have ended.',
    language: 'yaml',
    bad: deployment(
      WEB,
      'initContainers:\n  - name: proxy\n    image: example.com/proxy:1\n    restartPolicy: Always\n    lifecycle: {preStop: {exec: {command: [drain]}}}\n',
    ),
    good: deployment(
      WEB,
      'initContainers:\n  - name: proxy\n    image: example.com/proxy:1\n    restartPolicy: Always\n',
    ),
    on: 'workload',
    find: ({ workload: { pod } }) =>
      pod.containers.flatMap((container): Found[] => {
        if (!container.isNative || container.preStop === undefined) return [];
        return [
          {
            place: placeOf(pod, container.preStop.node),
            message: `${nameOf(container)}: its hook runs at 0 s, while the mains still serve`,
            container: container.name,
            atMs: 0,
          },
        ];
      }),
  },
  {
    id: 'SX403',
    severity: 'info',
    title: 'A log or metrics agent as an ordinary container',
    why: 'It gets TERM together with the main, and may be gone before the last lines are written.',
    remedy: 'Make it a native sidecar (Kubernetes 1.29), or run it under sexton as a sidecar.',
    language: 'yaml',
    bad: deployment(`${WEB}- {name: logs, image: "fluent/fluent-bit:3.1"}`),
    good: deployment(WEB, 'initContainers: [{name: logs, image: "fluent/fluent-bit:3.1", restartPolicy: Always}]\n'),
    on: 'workload',
    find: ({ workload, view, minor }) => {
      if (isJob(workload) || (minor !== undefined && minor < 29)) return [];
      return besideMain(view.containers, isAgent).map((container) => ({
        place: placeOf(workload.pod, container.node),
        message: `${container.name}: gets TERM together with the main; the last lines may be lost`,
        container: container.name,
        atMs: 0,
      }));
    },
  },
  {
    id: 'SX404',
    severity: 'warning',
    title: 'A proxy gets TERM together with the main that needs it',
    why: 'Ordinary containers are stopped at the same time. What the main still has to send while it stops finds no proxy.',
    remedy: 'Make the proxy a native sidecar, give it a preStop hook that waits, or run both under sexton.',
    language: 'yaml',
    bad: deployment(`${WEB}- {${PROXY}}`),
    good: deployment(WEB, `initContainers: [{${PROXY}, restartPolicy: Always}]\n`),
    on: 'workload',
    find: ({ workload, view }) => {
      if (isJob(workload)) return [];
      return besideMain(view.containers, isProxy).map((container) => ({
        place: placeOf(workload.pod, container.node),
        message: `${container.name}: gets TERM at 0 s like the main, whose last requests then fail`,
        container: container.name,
        atMs: 0,
      }));
    },
  },
  {
    id: 'SX405',
    severity: 'warning',
    title: 'RestartAllContainers skips hooks and grace periods',
    why: 'When such a rule matches, the kubelet kills all containers of the pod at once: no preStop hook, no TERM, no drain.',
    remedy: 'Use it only where every container may be killed at any time, or use the action Restart.',
    language: 'yaml',
    bad: deployment(
      `${WEB + SLEEP}  restartPolicy: Never\n  restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [42]}}]`,
    ),
    good: deployment(
      `${WEB + SLEEP}  restartPolicy: Never\n  restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]`,
    ),
    on: 'workload',
    find: ({ workload: { pod }, view }) => {
      const isCareful = view.containers.some(
        ({ container, sexton }) => container.preStop !== undefined || mayDrain(sexton),
      );
      if (!isCareful) return [];
      return pod.containers.flatMap((container) =>
        container.rules
          .filter(({ action }) => action === 'RestartAllContainers')
          .map(({ node }) => ({
            place: placeOf(pod, node),
            message: `${nameOf(container)}: this rule kills all containers at once, without the hooks and drains of this pod`,
            container: container.name,
          })),
      );
    },
  },
  {
    id: 'SX501',
    severity: 'error',
    title: 'A disruption budget that never allows a disruption',
    why: 'An eviction that the budget forbids is refused for ever: nodes cannot be drained, and upgrades hang until someone deletes the pod by hand, without its grace.',
    remedy: 'Allow at least one: maxUnavailable: 1, or more replicas than minAvailable.',
    language: 'yaml',
    bad: `${deployment(WEB)}---\n${budget('minAvailable: 2')}`,
    good: `${deployment(WEB)}---\n${budget('minAvailable: 1')}`,
    on: 'budget',
    find: ({ budget: { object, source }, workloads, objects }) => {
      const most = at(object, 'spec', 'maxUnavailable');
      const least = at(object, 'spec', 'minAvailable');
      const place = (node: { start: number; end: number }) => ({ source, ...trimmed(source, node) });
      const zero = textAt(most);
      if (most !== undefined && (zero === '0' || zero === '0%'))
        return [{ place: place(most), message: `maxUnavailable ${zero} allows no eviction at all` }];
      if (least === undefined) return [];
      if (textAt(least) === '100%')
        return [{ place: place(least), message: 'minAvailable 100% allows no eviction at all' }];
      const needed = wholeAt(least);
      const found = workloads.flatMap((workload): Found[] => {
        const scaler = scalerOf(workload, objects);
        const replicas =
          scaler === undefined ? (workload.replicas ?? 1) : (wholeAt(scaler.object, 'spec', 'minReplicas') ?? 1);
        const hasReplicas = ['Deployment', 'StatefulSet', 'ReplicaSet'].includes(workload.kind);
        if (needed === undefined || !hasReplicas || replicas === 0 || needed < replicas) return [];
        const most = scaler === undefined ? replicas : (wholeAt(scaler.object, 'spec', 'maxReplicas') ?? replicas);
        return [
          {
            place: place(least),
            message: `minAvailable ${needed} with ${replicas} ${scaler === undefined ? 'replicas' : 'minReplicas'} of ${workload.name} allows no eviction`,
            severity: needed >= most ? 'error' : 'warning',
          },
        ];
      });
      // Of one workload there may be several renderings.
      return [...new Map(found.map((one) => [one.message, one])).values()];
    },
  },
  {
    id: 'SX502',
    severity: 'info',
    title: 'A disruption budget beside a rollout that takes all pods down',
    why: 'A budget guards against evictions only. With the strategy Recreate a rollout ends all pods before it starts new ones.',
    remedy: 'Use RollingUpdate with maxUnavailable: 0, unless two versions must never run together.',
    language: 'yaml',
    bad: `${deployment(WEB).replace('  replicas: 2', '  replicas: 2\n  strategy: {type: Recreate}')}---\n${budget('minAvailable: 1')}`,
    good: `${deployment(WEB)}---\n${budget('minAvailable: 1')}`,
    on: 'workload',
    find: ({ workload, objects }) => {
      const node = at(workload.object, 'spec', 'strategy', 'type');
      const [guard] = budgetsOf(workload, objects);
      if (node === undefined || textAt(node) !== 'Recreate' || guard === undefined) return [];
      return [
        {
          place: placeOf(workload.pod, node),
          message: `the budget ${guard.name} does not hold back a rollout, and Recreate ends all pods at once`,
        },
      ];
    },
  },
];

const SLEEP_SECONDS = 5;

/** With as much more grace period; the default has room for it. */
function sleepEdits(pod: Pod, { node }: Container): readonly Edit[] {
  const sleep = insertKey(pod.source, node, 'lifecycle', `{preStop: {sleep: {seconds: ${SLEEP_SECONDS}}}}`);
  if (sleep.length === 0 || pod.graceAt === undefined) return sleep;
  return [...sleep, ...raiseGrace(pod, pod.graceSeconds + SLEEP_SECONDS)];
}

function mayDrain(sexton: ContainerView['sexton']): boolean {
  if (sexton === undefined) return false;
  const { drain, preStop } = sexton.run?.member ?? {};
  return sexton.run === undefined || drain !== undefined || preStop !== undefined;
}

/** Istio writes the rest of it, with a probe, when the pod is made: istio.io, gateway injection. */
function isInjected({ image }: Container): boolean {
  return image === 'auto';
}

/** As a sidecar and as a gateway it drains by itself. */
function isIstio({ image = '' }: Container): boolean {
  return SIDECARS.istio?.image.test(referenceOf(image).repository) === true;
}

const AGENTS = /(^|\/)(fluent-bit|fluentd|filebeat|promtail|vector|opentelemetry-collector(-contrib)?)$/;

function isAgent({ image = '' }: Container): boolean {
  return AGENTS.test(referenceOf(image).repository);
}

function isProxy({ image = '', command = [], args = [] }: Container): boolean {
  const { repository } = referenceOf(image);
  const line = [...command, ...args].join(' ');
  return Object.values(SIDECARS).some((one) => one.image.test(repository) && (one.words?.test(line) ?? true));
}

function isSidecar({ container, sexton }: ContainerView): boolean {
  return sexton === undefined && (isProxy(container) || isAgent(container));
}

/** Those ordinary containers beside another one that does the work, without a hook of their own. */
function besideMain(
  containers: readonly ContainerView[],
  isOne: (container: Container) => boolean,
): readonly Container[] {
  const ordinary = containers.filter(({ container }) => !container.isNative);
  if (ordinary.every(isSidecar)) return [];
  return ordinary
    .filter((one) => isSidecar(one) && one.container.preStop === undefined && isOne(one.container))
    .map(({ container }) => container);
}

function budget(spec: string): string {
  return `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  ${spec}
`;
}
