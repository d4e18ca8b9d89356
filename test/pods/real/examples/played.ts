/**
 * Plays the pod template of an example's manifest, and changes only what this machine lacks or podman shares between
 * pods. The images become that of the tests, and the pod and its volumes get unique names. No port is opened, because
 * the pod has no network.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stringify } from 'yaml';
import { type Container, type PodSpec, podSpecOf, readManifests } from '../../../helpers/manifest.ts';
import { type Pod, withPod } from '../pod.ts';

export interface Play {
  readonly file: string;
  readonly image: string;
  /** The same commands without sexton before them. */
  readonly bare?: boolean;
}

/** The directory that `withPod` finds its files from. */
const BESIDE_PODS = join(import.meta.dirname, '..');

export async function playExample(
  { file, image, bare = false }: Play,
  body: (pod: Pod) => Promise<void>,
): Promise<void> {
  const [spec] = readManifests(file).flatMap((it) => podSpecOf(it) ?? []);
  if (spec === undefined) throw new Error(`internal error: ${file} has no pod template`);
  const played = withNames(bare ? withoutSexton(spec) : spec);
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: '$NAME' }, spec: played };
  const dir = await mkdtemp(join(tmpdir(), 'sx-example-'));
  try {
    const path = join(dir, 'pod.yaml');
    await writeFile(path, stringify(pod, { aliasDuplicateObjects: false }));
    await withPod(relative(BESIDE_PODS, path), { IMAGE: image }, body);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** `withPod` replaces `$NAME` and `$IMAGE`. */
function withNames(spec: PodSpec): PodSpec {
  const renamed = (containers: readonly Container[] = []): Container[] =>
    containers.map(({ volumeMounts = [], ports: _ports, ...container }) => ({
      ...container,
      image: '$IMAGE',
      volumeMounts: volumeMounts.map((mount) => ({ ...mount, name: `$NAME-${mount.name}` })),
    }));
  return {
    ...spec,
    initContainers: renamed(spec.initContainers),
    containers: renamed(spec.containers),
    volumes: (spec.volumes ?? []).map((volume) => ({ ...volume, name: `$NAME-${volume.name}` })),
  };
}

function withoutSexton(spec: PodSpec): PodSpec {
  const containers = spec.containers.map(({ command = [], args = [], ...container }) => ({
    ...container,
    command: [...command.slice(command.indexOf('--') + 1), ...args],
  }));
  return { ...spec, initContainers: [], containers };
}
