/**
 * SX806: how sexton comes into the containers of a pod.
 */
import { basename } from 'node:path';
import { at, textAt, wordsAt } from '../input/located.ts';
import type { Container, Pod } from '../input/pod.ts';
import type { ContainerView } from '../stop/plan.ts';
import { bytesOf, mountAbove, nameOf, placeOf } from './common.ts';
import { deployment } from './examples.ts';
import type { Found, Rule } from './rule.ts';

/** What `sexton install` writes, in MiB, rounded up. */
export const INSTALLED_MIB = 85;

export const DELIVERY_RULES: readonly Rule[] = [
  {
    id: 'SX806',
    severity: 'error',
    title: 'sexton does not fit onto the volume that it is installed on, or cannot be run from there',
    why: `sexton takes ${INSTALLED_MIB} MiB, and a pod whose emptyDir grows beyond its sizeLimit is evicted. Nothing can be run from a mount with noexec. Image volumes need Kubernetes 1.31, and are off by default before 1.35.`,
    remedy:
      'Leave sizeLimit out or write 150Mi, and noexec out. Where there are no image volumes, install sexton by an init container.',
    language: 'yaml',
    bad: installed('64Mi'),
    good: installed('150Mi'),
    on: 'workload',
    find: ({ workload: { pod }, view, minor }) => [
      ...pod.inits.flatMap((container) => tooLarge(pod, container)),
      ...view.containers.flatMap((one) => notExecutable(pod, one)),
      ...imageVolumes(pod, minor),
    ],
  },
];

function tooLarge(pod: Pod, container: Container): readonly Found[] {
  const words = [...(container.command ?? []), ...(container.args ?? [])];
  const isSexton = basename(words[0] ?? '') === 'sexton' && words[1] === 'install';
  // The entrypoint of its own image is sexton.
  const isImage = container.command === undefined && /sexton/.test(container.image ?? '') && words[0] === 'install';
  const mount = isSexton || isImage ? mountAbove(container, words.at(-1) ?? '') : undefined;
  const limit = at(mount && pod.volumes.get(mount.volume), 'emptyDir', 'sizeLimit');
  const bytes = bytesOf(textAt(limit));
  if (limit === undefined || bytes === undefined || bytes >= INSTALLED_MIB * 1024 * 1024) return [];
  return [
    {
      place: placeOf(pod, limit),
      message: `${container.name}: installs sexton (${INSTALLED_MIB} MiB) on ${mount?.volume}, whose sizeLimit is ${textAt(limit)}: the pod is evicted`,
      container: container.name,
    },
  ];
}

/** `bindMountOptions` of a mount: Kubernetes 1.37. */
function notExecutable(pod: Pod, { container, argv = [], sexton: its }: ContainerView): readonly Found[] {
  const mount = its === undefined ? undefined : mountAbove(container, argv[0] ?? '');
  const options = wordsAt(mount?.node, 'bindMountOptions') ?? [];
  const node = at(mount?.node, 'bindMountOptions');
  if (mount === undefined || node === undefined || !options.includes('noexec')) return [];
  return [
    {
      place: placeOf(pod, node),
      message: `${nameOf(container)}: ${argv[0]} is on ${mount.volume}, which is mounted noexec: the container does not start`,
      container: container.name,
    },
  ];
}

/** The field `image` of a volume came with 1.31, `subPath` into it with 1.33, and both are on since 1.35. */
function imageVolumes(pod: Pod, minor: number | undefined): readonly Found[] {
  if (minor === undefined || minor >= 35) return [];
  return [...pod.volumes].flatMap(([name, volume]): readonly Found[] => {
    const node = at(volume, 'image');
    if (node === undefined) return [];
    const place = placeOf(pod, node);
    if (minor < 31) return [{ place, message: `the image volume ${name} needs Kubernetes 1.31, this is 1.${minor}` }];
    const message = `the image volume ${name} needs the feature gate ImageVolume on Kubernetes 1.${minor}`;
    return [{ place, message, severity: 'warning' }, ...(minor < 33 ? subPaths(pod, name, minor) : [])];
  });
}

function subPaths(pod: Pod, volume: string, minor: number): readonly Found[] {
  return [...pod.inits, ...pod.containers].flatMap((container) =>
    container.mounts.flatMap((mount): readonly Found[] => {
      const node = at(mount.node, 'subPath');
      if (mount.volume !== volume || node === undefined) return [];
      const message = `${nameOf(container)}: subPath of the image volume ${volume} needs Kubernetes 1.33, this is 1.${minor}`;
      return [{ place: placeOf(pod, node), message, container: container.name }];
    }),
  );
}

function installed(limit: string): string {
  const init = `- name: install\n  image: example.com/sexton:1\n  command: [/sexton/sexton, install, /target]\n  volumeMounts: [{name: sexton, mountPath: /target}]`;
  return deployment(
    '- {name: web, image: "example.com/web:1"}',
    `volumes: [{name: sexton, emptyDir: {sizeLimit: ${limit}}}]\ninitContainers:\n${init.replaceAll(/^/gm, '  ')}\n`,
  );
}
