/**
 * SX8: how sexton itself is used, across the containers of a pod.
 */

import { formatDuration } from '../../config/notation/duration.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { insertKey } from '../edits.ts';
import type { Edit } from '../finding.ts';
import { itemsAt } from '../input/located.ts';
import type { Container, Mount, Pod } from '../input/pod.ts';
import { type ContainerView, wordAt } from '../stop/plan.ts';
import { mountAbove, nameOf, placeOf } from './common.ts';
import { deployment, job, sexton } from './examples.ts';
import type { Found, Rule, WorkloadCase } from './rule.ts';
import { flagPlace, withFlag } from './sexton-flags.ts';

const WEB = (flags: string) => `- name: web\n  image: example.com/web:1\n  ${sexton(flags)}`;
const UID = '  env:\n    - {name: SEXTON_POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}\n';
const MOUNT = '  volumeMounts: [{name: graveyard, mountPath: /graveyard}]\n';
const member = (name: string, flags: string, rest = UID + MOUNT) =>
  `- name: ${name}\n  image: example.com/${name}:1\n  ${sexton(`--name, ${name}, ${flags}--restart-policy, Never`)}\n${rest}`;
const GRAVEYARD = 'volumes: [{name: graveyard, emptyDir: {}}]\n';
const PAIR = (proxy: string, rest?: string) =>
  job(member('work', '') + member('proxy', `--role, sidecar, ${proxy}`, rest), GRAVEYARD);

export const SEXTON_RULES: readonly Rule[] = [
  {
    id: 'SX800',
    severity: 'error',
    title: 'sexton refuses this configuration',
    why: 'sexton checks everything before it starts anything, and exits with 125: the container never runs.',
    remedy: 'Correct what the message names. sexton explain -- COMMAND says the same.',
    language: 'yaml',
    bad: deployment(WEB('--drain, "5"')),
    good: deployment(WEB('--drain, 5s')),
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.containers.flatMap(({ container, sexton: its }): Found[] =>
        (its?.problems ?? []).map((problem) => ({
          place: placeOf(pod, wordAt(container, 0) ?? container.node),
          message: `${nameOf(container)}: sexton exits with 125: ${problem}`,
          container: container.name,
        })),
      ),
  },
  {
    id: 'SX801',
    severity: 'error',
    title: "--grace-period is not the pod's",
    why: "A container cannot see terminationGracePeriodSeconds, so it is declared twice. Declared too long, the kubelet kills before sexton has stopped its command; too short, sexton kills early. Of the kubelet's grace period its preStop hook is used up when TERM comes.",
    remedy: 'Write the same time in both places, less the preStop hook of the container.',
    language: 'yaml',
    bad: deployment(WEB('--grace-period, 60s')),
    good: deployment(WEB('--grace-period, 60s'), 'terminationGracePeriodSeconds: 60\n'),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.containers.flatMap(({ container, hook, sexton: its }): Found[] => {
        const declaredMs = its?.run?.member.gracePeriodMs;
        if (declaredMs === undefined || pod.graceSeconds === 0) return [];
        const graceMs = pod.graceSeconds * 1_000;
        const mostMs = Math.max(2_000, graceMs - (hook?.minMs ?? 0));
        const leastMs = Math.max(2_000, graceMs - Math.min(graceMs, hook?.maxMs ?? 0));
        if (declaredMs <= mostMs && declaredMs >= leastMs) return [];
        const less = mostMs === graceMs ? '' : `, of which the preStop hook takes ${formatDuration(graceMs - mostMs)}`;
        return [
          {
            place: placeOf(pod, flagPlace(container, '--grace-period')),
            message: `${nameOf(container)}: sexton is told a grace period of ${formatDuration(declaredMs)}, the pod has ${pod.graceSeconds} s${less}`,
            severity: declaredMs > mostMs ? 'error' : 'warning',
            container: container.name,
            atMs: Math.min(declaredMs, graceMs),
            edits: withFlag(pod, container, '--grace-period', formatDuration(mostMs)),
          },
        ];
      }),
  },
  {
    id: 'SX802',
    severity: 'warning',
    title: "A graveyard without the pod's uid",
    why: 'Without SEXTON_POD_UID sexton cannot tell tombstones of this pod from those that an earlier one left, and ignores a death that it finds at its start for 10 s.',
    remedy: 'Set SEXTON_POD_UID to metadata.uid by the downward API.',
    language: 'yaml',
    bad: PAIR('--mains, work, ', MOUNT),
    good: PAIR('--mains, work, '),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      membersOf(view.containers).flatMap(({ container, run }): Found[] => {
        const hasUnknown = itemsAt(container.node, 'envFrom').length > 0;
        if (run.member.session !== undefined || run.member.solo || hasUnknown) return [];
        return [
          {
            place: placeOf(pod, wordAt(container, 0) ?? container.node),
            message: `${nameOf(container)}: uses a graveyard, and SEXTON_POD_UID is not set`,
            container: container.name,
            edits: withPodUid(pod, container),
          },
        ];
      }),
  },
  {
    id: 'SX803',
    severity: 'error',
    title: 'A name in --mains or --start-after that no member has, or two members of one name',
    why: 'A sidecar waits for the mains that it is told. One that does not exist never ends, so a Job never completes, and a start gate on it times out. Of two members of one name one gives way.',
    remedy: "Write the member's --name; without one it is the basename of the command.",
    language: 'yaml',
    bad: PAIR('--mains, wrok, '),
    good: PAIR('--mains, work, '),
    on: 'workload',
    find: ({ workload: { pod }, view }) => {
      const members = membersOf(view.containers).filter(({ run }) => !run.member.solo);
      const names = members.map(({ run }) => run.member.name);
      // A container whose entrypoint is in its image may be a member, too.
      const severity = view.containers.some(isUnseen) ? 'warning' : 'error';
      return members.flatMap(({ container, run: { member: config } }): Found[] => {
        const place = (flag: string) => placeOf(pod, flagPlace(container, flag));
        const wrongMains = config.mains.filter((name) => !names.includes(name));
        const wrongGates = config.startAfter.filter(({ name, optional }) => !optional && !names.includes(name));
        const isTwice = names.indexOf(config.name) !== names.lastIndexOf(config.name);
        const common = { severity, container: container.name } as const;
        return [
          ...wrongMains.map((name) => ({
            ...common,
            place: place('--mains'),
            message: `${nameOf(container)}: --mains names ${name}, and no member of this pod has that name (${names.join(', ')})`,
          })),
          ...wrongGates.map(({ name }) => ({
            ...common,
            place: place('--start-after'),
            message: `${nameOf(container)}: --start-after names ${name}, and no member of this pod has that name (${names.join(', ')})`,
          })),
          ...(isTwice
            ? [
                {
                  ...common,
                  severity: 'error' as const,
                  place: place('--name'),
                  message: `${nameOf(container)}: the name ${config.name} is given to two members`,
                },
              ]
            : []),
        ];
      });
    },
  },
  {
    id: 'SX804',
    severity: 'error',
    title: '--restart-policy is not that of the pod or container',
    why: 'The members learn from this policy which of them will not come back. With Never in a pod of Always, sidecars end although their main comes back; the other way round, they keep running for a main that has ended for good.',
    remedy: 'Declare the restartPolicy of the container, else that of the pod; a Deployment has Always.',
    language: 'yaml',
    bad: PAIR('--mains, work, ').replaceAll('--restart-policy, Never', '--restart-policy, Always'),
    good: PAIR('--mains, work, '),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      membersOf(view.containers).flatMap(({ container, run: { member: config } }): Found[] => {
        const policy = container.policy ?? pod.policy;
        if (config.solo || config.restartPolicy === policy) return [];
        return [
          {
            place: placeOf(pod, flagPlace(container, '--restart-policy')),
            message: `${nameOf(container)}: sexton takes the restart policy for ${config.restartPolicy}, and it is ${policy}`,
            container: container.name,
            edits: withFlag(pod, container, '--restart-policy', policy),
          },
        ];
      }),
  },
  {
    id: 'SX805',
    severity: 'error',
    title: 'The graveyard is not shared by its members, cannot be written, or outlives the pod',
    why: 'Members find each other by files in one directory. Without a mount each has a directory of its own, a read-only one takes no tombstone, and what outlives the pod brings tombstones of others.',
    remedy: 'Mount one emptyDir, writable, at the same path in all members.',
    language: 'yaml',
    bad: PAIR('--mains, work, --graveyard, /graveyard, ', UID),
    good: PAIR('--mains, work, '),
    on: 'workload',
    find: ({ workload: { pod }, view }) => {
      const members = membersOf(view.containers).filter(({ run }) => run.graveyard !== undefined);
      const volumes = new Set(members.flatMap(({ container, run }) => mountOf(container, run)?.volume ?? []));
      return members.flatMap(({ container, run }): Found[] => {
        const mount = mountOf(container, run);
        const found = (place: Found['place'], what: string): Found[] => [
          { place, message: `${nameOf(container)}: the graveyard ${run.graveyard} ${what}`, container: container.name },
        ];
        if (mount === undefined)
          return found(
            placeOf(pod, flagPlace(container, '--graveyard')),
            'is on no volume, so no other container sees it',
          );
        if (mount.isReadOnly) return found(placeOf(pod, mount.node), 'is mounted read-only');
        const volume = pod.volumes.get(mount.volume);
        const kind = volume && [...volume.entries.keys()].find((key) => key !== 'name');
        if (kind !== undefined && kind !== 'emptyDir')
          return found(placeOf(pod, mount.node), `is a ${kind}, which outlives the pod; use an emptyDir`);
        return volumes.size > 1
          ? found(placeOf(pod, mount.node), `is not one volume for all members (${[...volumes].join(', ')})`)
          : [];
      });
    },
  },
  {
    id: 'SX807',
    severity: 'warning',
    title: 'A drain by connections on the network of the host',
    why: 'With hostNetwork the container sees the connections of the whole node, so a drain that waits for quiet takes its longest time.',
    remedy: 'Name the ports in the drain (ports=8080), or use a fixed drain.',
    language: 'yaml',
    bad: deployment(WEB('--drain, "min=1s,quiet=2s,max=15s"'), 'hostNetwork: true\n'),
    good: deployment(WEB('--drain, "min=1s,quiet=2s,max=15s,ports=8080"'), 'hostNetwork: true\n'),
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      membersOf(view.containers).flatMap(({ container, run }): Found[] => {
        const { drain } = run.member;
        if (!pod.isOnHostNetwork || drain?.kind !== 'adaptive' || drain.ports.length > 0) return [];
        return [
          {
            place: placeOf(pod, flagPlace(container, '--drain')),
            message: `${nameOf(container)}: the drain counts the connections of the whole node, as the pod has hostNetwork`,
            container: container.name,
            atMs: drain.maxMs,
          },
        ];
      }),
  },
  {
    id: 'SX406',
    severity: 'error',
    title: 'Restart rules that sexton was not told, or other ones',
    why: 'A container cannot see its restartPolicyRules. Members then take one that comes back for over, or wait for one that does not.',
    remedy: 'Declare them with --restart-rules, or in the configuration file.',
    language: 'yaml',
    bad: ruled(''),
    good: ruled('--restart-rules, 42=restart, '),
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      membersOf(view.containers).flatMap(({ container, run }): Found[] => {
        const { rules } = container;
        const [first] = rules;
        const theirs = rules.map(
          ({ action, except, codes }) =>
            `${action === 'RestartAllContainers' ? 'restart-all' : 'restart'} ${except} ${[...codes].sort((a, b) => a - b)}`,
        );
        const own = run.member.restartRules.map(
          ({ action, except, codes }) => `${action} ${except} ${[...codes].sort((a, b) => a - b)}`,
        );
        if (run.member.solo || theirs.join() === own.join()) return [];
        return [
          {
            place: placeOf(pod, first?.node ?? flagPlace(container, '--restart-rules')),
            message: `${nameOf(container)}: restartPolicyRules and --restart-rules are not the same (${rules.length} and ${own.length} rules)`,
            container: container.name,
          },
        ];
      }),
  },
];

interface Member {
  readonly container: Container;
  readonly run: RunConfig;
}

function membersOf(containers: WorkloadCase['view']['containers']): readonly Member[] {
  return containers.flatMap(({ container, sexton: its }) =>
    its?.run === undefined ? [] : [{ container, run: its.run }],
  );
}

/** It may be a member, or not. */
function isUnseen({ argv, sexton: its }: ContainerView): boolean {
  return argv === undefined || (its !== undefined && its.run === undefined);
}

function mountOf(container: Container, { graveyard = '' }: RunConfig): Mount | undefined {
  return mountAbove(container, graveyard);
}

function withPodUid(pod: Pod, container: Container): readonly Edit[] {
  const value = '[{name: SEXTON_POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}]';
  return insertKey(pod.source, container.node, 'env', value);
}

function ruled(flags: string): string {
  const rules =
    '  restartPolicy: Never\n  restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]\n';
  return job(
    member('work', flags, UID + MOUNT + rules) + member('proxy', '--role, sidecar, --mains, work, '),
    GRAVEYARD,
  );
}
