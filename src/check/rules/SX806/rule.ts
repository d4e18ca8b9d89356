import { basename } from 'node:path';
import { INSTALL_FLAGS, tokensOf } from '../../../config/arguments.ts';
import { at, textAt, wordsAt } from '../../input/located.ts';
import { argvOf, type Container, type Pod } from '../../input/pod.ts';
import type { ContainerView } from '../../stop/plan.ts';
import { bytesOf, mountAbove } from '../common.ts';
import { ofWorkload } from '../rule.ts';

/** What `sexton install` writes, in MiB, rounded up. */
export const INSTALLED_MIB = 85;

export const rule = ofWorkload({
  severity: 'error',
  title: 'sexton does not fit onto the volume that it is installed on, or cannot be run from there',
  why: `sexton takes ${INSTALLED_MIB} MiB, and a pod whose emptyDir grows beyond its sizeLimit is evicted. Nothing can be run from a mount with noexec. Image volumes need Kubernetes 1.31, and are off by default before 1.35.`,
  remedy:
    'Leave sizeLimit out or write 150Mi, and noexec out. Where there are no image volumes, install sexton by an init container.',
  *find({ pod, view, minor }) {
    for (const container of pod.inits) yield* tooSmall(pod, container);
    for (const one of view.containers) yield* notExecutable(one);
    if (minor !== undefined && minor < 35) yield* imageVolumes(pod, minor);
  },
  say: ({ what }) => what,
});

function* tooSmall(pod: Pod, container: Container) {
  // The entrypoint of its own image is sexton.
  const ofImage = /sexton/.test(container.image ?? '') ? ['sexton', ...(container.args ?? [])] : [];
  const [program = '', subcommand, ...args] = argvOf(container) ?? ofImage;
  if (basename(program) !== 'sexton' || subcommand !== 'install') return;
  const target = tokensOf(INSTALL_FLAGS, args).find((token) => token.kind === 'positional');
  const mount = mountAbove(container, target?.value ?? '');
  const limit = at(mount && pod.volumes.get(mount.volume), 'emptyDir', 'sizeLimit');
  const bytes = bytesOf(textAt(limit));
  if (bytes === undefined || bytes >= INSTALLED_MIB * 1024 * 1024) return;
  const on = `on ${mount?.volume}, whose sizeLimit is ${textAt(limit)}`;
  yield { at: limit, container, what: `installs sexton (${INSTALLED_MIB} MiB) ${on}: the pod is evicted` };
}

/** `bindMountOptions` of a mount: Kubernetes 1.37. */
function* notExecutable({ container, argv: [program = ''] = [], sexton }: ContainerView) {
  const mount = sexton === undefined ? undefined : mountAbove(container, program);
  const node = at(mount?.node, 'bindMountOptions');
  if (mount === undefined || node === undefined || wordsAt(node)?.includes('noexec') !== true) return;
  const what = `${program} is on ${mount.volume}, which is mounted noexec: the container does not start`;
  yield { at: node, container, what };
}

/** The field `image` of a volume came with 1.31, `subPath` into it with 1.33, and both are on since 1.35. */
function* imageVolumes(pod: Pod, minor: number) {
  for (const [name, volume] of pod.volumes) {
    const node = at(volume, 'image');
    if (node === undefined) continue;
    const isUnknown = minor < 31;
    const lack = isUnknown
      ? `Kubernetes 1.31, this is 1.${minor}`
      : `the feature gate ImageVolume on Kubernetes 1.${minor}`;
    const what = `the image volume ${name} needs ${lack}`;
    yield { at: node, severity: isUnknown ? ('error' as const) : ('warning' as const), what };
    if (!isUnknown && minor < 33) yield* subPaths(pod, name, minor);
  }
}

function* subPaths(pod: Pod, volume: string, minor: number) {
  for (const container of [...pod.inits, ...pod.containers])
    for (const mount of container.mounts) {
      const node = at(mount.node, 'subPath');
      const what = `subPath of the image volume ${volume} needs Kubernetes 1.33, this is 1.${minor}`;
      if (mount.volume === volume && node !== undefined) yield { at: node, container, what };
    }
}
