/**
 * SX1: the stop does not fit into the time that it has.
 */

import { at, wholeAt } from '../input/located.ts';
import { secondsText } from '../stop/interval.ts';
import { type ContainerView, drainOf } from '../stop/plan.ts';
import { delayOf } from './balancers.ts';
import { behindService, hookText, isJob, nameOf, placeOf, raiseGrace } from './common.ts';
import { deployment, SERVICE, sexton } from './examples.ts';
import type { Found, Rule } from './rule.ts';

const WITH_SLEEP = (seconds: number) => `- name: web
  image: example.com/web:1
  lifecycle:
    preStop: {sleep: {seconds: ${seconds}}}`;

export const TIME_RULES: readonly Rule[] = [
  {
    id: 'SX101',
    severity: 'error',
    title: 'The preStop hook takes the whole grace period',
    why: 'The hook and the stop of the program share the grace period. When the hook has used it up, the kubelet sends TERM and KILL 2 s later.',
    remedy:
      'Raise terminationGracePeriodSeconds above the hook and what the program needs after it, or shorten the hook.',
    language: 'yaml',
    bad: deployment(WITH_SLEEP(35)),
    good: deployment(WITH_SLEEP(35), 'terminationGracePeriodSeconds: 65\n'),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.containers.flatMap(({ container, hook }): Found[] => {
        const graceMs = pod.graceSeconds * 1_000;
        if (hook === undefined || container.preStop === undefined || graceMs === 0 || hook.minMs < graceMs) return [];
        return [
          {
            place: placeOf(pod, container.preStop.node),
            message: `${nameOf(container)}: ${hookText(hook)} in a grace period of ${pod.graceSeconds} s: its program gets TERM after ${pod.graceSeconds} s and KILL 2 s later`,
            container: container.name,
            atMs: graceMs,
            edits: raiseGrace(pod, Math.ceil(hook.minMs / 1_000) + 30),
          },
        ];
      }),
  },
  {
    id: 'SX102',
    severity: 'error',
    title: 'What sexton is told to do takes longer than the grace period',
    why: 'Drain, pre-stop, ladder and linger run one after the other from TERM on, and the kubelet kills the container at the end of the grace period.',
    remedy: 'Shorten the drain or the rungs, or raise terminationGracePeriodSeconds and --grace-period together.',
    language: 'yaml',
    bad: deployment(
      `- name: web\n  image: example.com/web:1\n  ${sexton('--drain, 40s')}`,
      'terminationGracePeriodSeconds: 30\n',
    ),
    good: deployment(
      `- name: web\n  image: example.com/web:1\n  ${sexton('--drain, 40s')}`,
      'terminationGracePeriodSeconds: 60\n',
    ),
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.containers.flatMap(({ container, hook, sexton: its }): Found[] => {
        if (its?.run === undefined) return [];
        const { member } = its.run;
        const drain = drainOf(member);
        const rungsMs = (member.ladder ?? []).reduce((sum, { forMs = 0 }) => sum + forMs, 0);
        const leastMs = (hook?.minMs ?? 0) + drain.minMs;
        const mostMs = (hook?.minMs ?? 0) + drain.maxMs + rungsMs + member.lingerMs;
        const graceMs = pod.graceSeconds * 1_000;
        const isProvable = leastMs >= graceMs;
        if (!isProvable && (mostMs <= graceMs || mostMs === Number.POSITIVE_INFINITY)) return [];
        return [
          {
            place: placeOf(pod, at(container.node, 'command') ?? container.node),
            message: `${nameOf(container)}: sexton's plan takes ${isProvable ? `at least ${secondsText(leastMs)}` : `up to ${secondsText(mostMs)}`} of a grace period of ${pod.graceSeconds} s`,
            severity: isProvable ? 'error' : 'warning',
            container: container.name,
            atMs: graceMs,
          },
        ];
      }),
  },
  {
    id: 'SX103',
    severity: 'warning',
    title: "The program's own shutdown timeout does not fit behind the preStop hook",
    why: 'The program begins its graceful shutdown after the hook, with what is left of the grace period.',
    remedy: "Raise terminationGracePeriodSeconds above the sum of the hook and the program's timeout.",
    language: 'yaml',
    bad: deployment(`- name: web\n  image: example.com/web:1\n  command: [gunicorn, --graceful-timeout, "60", app]`),
    good: deployment(
      `- name: web\n  image: example.com/web:1\n  command: [gunicorn, --graceful-timeout, "60", app]`,
      'terminationGracePeriodSeconds: 65\n',
    ),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.containers.flatMap(({ container, hook, setting, sexton: its }): Found[] => {
        if (setting === undefined) return [];
        const drainMs = its?.run === undefined ? 0 : drainOf(its.run.member).minMs;
        const beforeMs = (hook?.minMs ?? 0) + drainMs;
        const needMs = beforeMs + setting.ms;
        if (needMs <= pod.graceSeconds * 1_000) return [];
        const before = beforeMs === 0 ? '' : ` after ${secondsText(beforeMs)} of hook and drain`;
        return [
          {
            place: placeOf(pod, pod.graceAt ?? at(container.node, 'name') ?? container.node),
            message: `${nameOf(container)}: ${setting.by}: may take ${secondsText(setting.ms)}${before}, the grace period is ${pod.graceSeconds} s`,
            container: container.name,
            atMs: pod.graceSeconds * 1_000,
            edits: raiseGrace(pod, Math.ceil(needMs / 1_000) + 5),
          },
        ];
      }),
  },
  {
    id: 'SX104',
    severity: 'warning',
    title: 'A long hook or drain, and the grace period left at its default',
    why: 'Without terminationGracePeriodSeconds a pod has 30 s, and the hook or drain takes more than half of it from the program.',
    remedy: 'Write terminationGracePeriodSeconds: the hook or drain, and what the program needs after it.',
    language: 'yaml',
    bad: deployment(WITH_SLEEP(20)),
    good: deployment(WITH_SLEEP(20), 'terminationGracePeriodSeconds: 50\n'),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod }, view }) => {
      if (pod.graceAt !== undefined) return [];
      return view.containers.flatMap(({ container, hook, sexton: its }): Found[] => {
        const drainMs = its?.run === undefined ? 0 : drainOf(its.run.member).minMs;
        const takesMs = (hook?.minMs ?? 0) + drainMs;
        if (takesMs <= 15_000 || takesMs >= 30_000) return [];
        return [
          {
            place: placeOf(pod, container.preStop?.node ?? at(container.node, 'command') ?? container.node),
            message: `${nameOf(container)}: hook and drain take ${secondsText(takesMs)} of the default grace period of 30 s`,
            container: container.name,
            atMs: takesMs,
            edits: raiseGrace(pod, Math.ceil(takesMs / 1_000) + 30),
          },
        ];
      });
    },
  },
  {
    id: 'SX105',
    severity: 'info',
    title: 'Behind a Service with a grace period of less than 10 s',
    why: 'Endpoints and balancers take some seconds to leave a pod out, and requests that are under way need time as well.',
    remedy: 'Raise terminationGracePeriodSeconds, unless all requests are short and clients try again.',
    language: 'yaml',
    bad: deployment('- {name: web, image: example.com/web:1}', 'terminationGracePeriodSeconds: 5\n') + SERVICE,
    good: deployment('- {name: web, image: example.com/web:1}', 'terminationGracePeriodSeconds: 30\n') + SERVICE,
    on: 'workload',
    find: (about) => {
      const { pod } = about.workload;
      if (pod.graceAt === undefined || pod.graceSeconds < 2 || pod.graceSeconds >= 10 || !behindService(about))
        return [];
      return [
        {
          place: placeOf(pod, pod.graceAt),
          message: `a grace period of ${pod.graceSeconds} s behind a Service leaves little for requests that are under way`,
          atMs: pod.graceSeconds * 1_000,
        },
      ];
    },
  },
  {
    id: 'SX106',
    severity: 'warning',
    title: 'A scenario leaves less time than hook and drain take',
    why: 'TERM does not tell how much time it leaves. Where the platform leaves less, the program is killed before it hears of the stop.',
    remedy: 'Shorten the hook or the drain, or declare --grace-floor, with which sexton ends its drain in time.',
    language: 'yaml',
    flags: ['--scenario', 'spot=15'],
    bad: deployment(WITH_SLEEP(20), 'terminationGracePeriodSeconds: 60\n'),
    good: deployment(WITH_SLEEP(5), 'terminationGracePeriodSeconds: 60\n'),
    on: 'workload',
    find: ({ workload: { pod }, view, scenarios }) =>
      scenarios.flatMap(({ name, capMs }) =>
        view.timeline.containers.flatMap((stop): Found[] => {
          const container = pod.containers.find((one) => one.name === stop.name);
          const { maxMs } = stop.told;
          if (capMs === undefined || container === undefined || maxMs < capMs || !isFiniteWait(stop.plan)) return [];
          return [
            {
              place: placeOf(pod, container.preStop?.node ?? at(container.node, 'command') ?? container.node),
              message: `${nameOf(container)}: with ${name} there are ${secondsText(capMs)}, its program may hear of the stop only after ${secondsText(maxMs)}`,
              container: container.name,
              atMs: capMs,
            },
          ];
        }),
      ),
  },
  {
    id: 'SX107',
    severity: 'warning',
    title: 'Native sidecars stop one after the other, and the last ones do not fit',
    why: 'A native sidecar gets TERM when all containers and the sidecars that were started after it have ended. What is left of the grace period is all that it gets, or 2 s.',
    remedy: 'Raise terminationGracePeriodSeconds above the longest main and the sum of the sidecars.',
    language: 'yaml',
    bad: tail(''),
    good: tail('terminationGracePeriodSeconds: 60\n'),
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.timeline.containers.flatMap((stop): Found[] => {
        const container = pod.containers.find((one) => one.name === stop.name);
        const needMs = stop.term.maxMs + stop.plan.response.maxMs;
        const isLate = stop.term.maxMs > 0 && needMs > stop.killAt.maxMs;
        if (!stop.plan.isNative || container === undefined || !Number.isFinite(needMs) || !isLate) return [];
        return [
          {
            place: placeOf(pod, container.node),
            message: `${nameOf(container)}: gets TERM after up to ${secondsText(stop.term.maxMs)} and needs ${secondsText(stop.plan.response.maxMs)}; KILL comes at ${secondsText(stop.killAt.maxMs)}`,
            container: container.name,
            atMs: stop.killAt.minMs,
          },
        ];
      }),
  },
  {
    id: 'SX108',
    severity: 'warning',
    title: "A probe's own grace period is shorter than hook and drain",
    why: 'When this probe fails, the container is stopped with the terminationGracePeriodSeconds of the probe in place of that of the pod.',
    remedy: "Raise the probe's terminationGracePeriodSeconds above hook and drain, or leave it out.",
    language: 'yaml',
    bad: deployment(`${WITH_SLEEP(5)}\n  livenessProbe: {httpGet: {port: 80}, terminationGracePeriodSeconds: 4}`),
    good: deployment(`${WITH_SLEEP(5)}\n  livenessProbe: {httpGet: {port: 80}, terminationGracePeriodSeconds: 20}`),
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.containers.flatMap(({ container, hook, sexton: its }) =>
        ['livenessProbe', 'startupProbe'].flatMap((probe): Found[] => {
          const seconds = wholeAt(container.node, probe, 'terminationGracePeriodSeconds');
          const node = at(container.node, probe, 'terminationGracePeriodSeconds');
          const takesMs = (hook?.minMs ?? 0) + (its?.run === undefined ? 0 : drainOf(its.run.member).minMs);
          if (seconds === undefined || node === undefined || takesMs === 0 || takesMs < seconds * 1_000) return [];
          return [
            {
              place: placeOf(pod, node),
              message: `${nameOf(container)}: after a failed ${probe} there are ${seconds} s, and hook and drain take ${secondsText(takesMs)}`,
              container: container.name,
              atMs: seconds * 1_000,
            },
          ];
        }),
      ),
  },
  {
    id: 'SX109',
    severity: 'warning',
    title: 'No grace period',
    why: 'With 0 the pod is removed at once, and a StatefulSet may have two pods of one name; with 1 nothing ends gracefully.',
    remedy: 'Write at least the time that the program takes to end.',
    language: 'yaml',
    bad: deployment('- {name: web, image: example.com/web:1}', 'terminationGracePeriodSeconds: 0\n'),
    good: deployment('- {name: web, image: example.com/web:1}', 'terminationGracePeriodSeconds: 10\n'),
    on: 'workload',
    find: ({ workload }) => {
      const { pod } = workload;
      if (pod.graceAt === undefined || pod.graceSeconds > 1 || isJob(workload)) return [];
      return [
        {
          place: placeOf(pod, pod.graceAt),
          message: `a grace period of ${pod.graceSeconds} s: the containers are killed, not stopped`,
          atMs: 0,
        },
      ];
    },
  },
  {
    id: 'SX110',
    severity: 'warning',
    title: 'The balancer takes longer to leave the pod out than the pod serves on',
    why: 'A balancer that sends to pods by itself goes on for its deregistration delay. A pod that ends before cuts those requests.',
    remedy: 'Raise the preStop sleep or the drain above the delay, and the grace period with it; or shorten the delay.',
    language: 'yaml',
    bad: deployment(WITH_SLEEP(10)) + balanced(30),
    good: deployment(WITH_SLEEP(10)) + balanced(8),
    on: 'workload',
    find: (about) => {
      const { pod } = about.workload;
      const delay = delayOf(about.workload, about.objects);
      if (delay === undefined) return [];
      const mains = about.view.containers.filter(({ container }) => !container.isNative);
      const longestMs = Math.max(0, ...mains.map(servedMs));
      if (longestMs >= delay.ms) return [];
      return [
        {
          place: delay.place,
          message: `the balancer may send requests for ${secondsText(delay.ms)}, and hook and drain of ${about.workload.name} end after ${secondsText(longestMs)}`,
          atMs: Math.min(longestMs, pod.graceSeconds * 1_000),
        },
      ];
    },
  },
];

function isFiniteWait({ hook, drain }: ContainerView['plan']): boolean {
  return Number.isFinite(hook?.maxMs ?? 0) && Number.isFinite(drain.maxMs);
}

/** An unknown hook may take all the time that there is. */
function servedMs({ hook, sexton: its }: ContainerView): number {
  return (hook?.maxMs ?? 0) + (its?.run === undefined ? 0 : drainOf(its.run.member).maxMs);
}

function balanced(seconds: number): string {
  return `---
apiVersion: v1
kind: Service
metadata:
  name: web
  annotations:
    service.beta.kubernetes.io/aws-load-balancer-target-group-attributes: deregistration_delay.timeout_seconds=${seconds}
spec:
  selector: {app: web}
  ports: [{port: 80}]
`;
}

function tail(spec: string): string {
  const native =
    '- {name: proxy, image: example.com/proxy:1, restartPolicy: Always, command: [gunicorn, --graceful-timeout=20, a]}';
  const text = deployment(
    '- {name: web, image: example.com/web:1, command: [gunicorn, --graceful-timeout=25, a]}',
    `${spec}initContainers:\n  ${native}\n`,
  );
  return text;
}
