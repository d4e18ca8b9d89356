/** The ways in which the directory /sexton comes into a container. */
import { chmod, mkdir } from 'node:fs/promises';
import { podman } from '../helpers/podman.ts';
import type { DeliveryImages, Target } from './images.ts';

export const WAYS = {
  copy: 'COPY --from in its Dockerfile',
  init: 'an init container and sexton install',
  image: 'an image volume',
  npm: 'npm install --global',
} as const;
export type Way = keyof typeof WAYS;

export interface Delivered {
  readonly image: string;
  /** Options of `podman create`. */
  readonly options: readonly string[];
  /** Where it lies in the container. */
  readonly program: string;
}

/** npm needs an image that has Node. */
export function waysInto(target: Target): Way[] {
  return (Object.keys(WAYS) as Way[]).filter((way) => way !== 'npm' || target === 'debian');
}

/** `volume`: where `installTo` has been. */
export function deliver(way: Way, target: Target, images: DeliveryImages, volume: string): Delivered {
  const image = images.targets[target];
  switch (way) {
    case 'copy':
      return { image: images.targets[`${target}-copy`], options: [], program: '/sexton/sexton' };
    case 'init':
      return { image, options: [`--volume=${volume}:/sexton:ro`], program: '/sexton/sexton' };
    case 'image': {
      // The whole image is mounted; Kubernetes can also mount a part of it, by subPath.
      const mount = `--mount=type=image,source=${images.sexton},destination=/image`;
      return { image, options: [mount], program: '/image/sexton/sexton' };
    }
    case 'npm':
      return { image: images.npm, options: [], program: 'sexton' };
    default:
      return way satisfies never;
  }
}

/** As an emptyDir is mounted into a locked-down init container: writable for all. Resolves to what it printed. */
export async function installTo(volume: string, image: string, ...options: readonly string[]): Promise<string> {
  await mkdir(volume, { recursive: true });
  await chmod(volume, 0o777);
  const all = ['--rm', '--network=none', ...LOCKED_ANY_USER, `--volume=${volume}:/target`, ...options];
  return await podman('run', ...all, image, 'install', '/target');
}

const LOCKED_ANY_USER = '--read-only --read-only-tmpfs=false --cap-drop=all --security-opt=no-new-privileges'.split(
  ' ',
);

/** What the Pod Security level "restricted" asks for, and a read-only root. The seccomp profile is on anyway. */
export const LOCKED = [...LOCKED_ANY_USER, '--user=12345:12345'];
