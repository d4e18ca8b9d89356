/** The image of sexton by its own Dockerfile, and the images that it is delivered to. */

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FIXTURE_SOURCES, ROOT } from '../helpers/paths.ts';
import { podman } from '../helpers/podman.ts';
import { importStandIn } from './stand-in.ts';

export const TARGETS = ['debian', 'musl', 'busybox', 'bare'] as const;
export type Target = (typeof TARGETS)[number];

export interface DeliveryImages {
  readonly sexton: string;
  /** Stands for the official image of Node. */
  readonly node: string;
  readonly targets: Readonly<Record<Target | `${Target}-copy`, string>>;
  remove(): Promise<void>;
}

const COMMIT = '0123456789ab';

export async function buildDeliveryImages(): Promise<DeliveryImages> {
  const made: string[] = [];
  const tag = (what: string): string => `localhost/sexton-test:${what}-${randomBytes(4).toString('hex')}`;
  const remove = (): Promise<void> => removeImages(made);
  try {
    const node = await importStandIn();
    made.push(node);
    const sexton = tag('sexton');
    made.push(...(await buildSexton(sexton, node)));
    const targets = {} as Record<Target | `${Target}-copy`, string>;
    for (const target of TARGETS.flatMap((it) => [it, `${it}-copy`] as const)) {
      targets[target] = tag(target);
      const args = ['--target', target, `--build-arg=BASE=${node}`, `--build-arg=SEXTON=${sexton}`];
      const file = join(import.meta.dirname, 'targets.Dockerfile');
      made.push(...(await build('--file', file, ...args, '--tag', targets[target], FIXTURE_SOURCES)), targets[target]);
    }
    return { sexton, node, targets, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** As the head of docker/Dockerfile says; `options` more of `podman build`. Resolves to all images that it made. */
export async function buildSexton(tag: string, node: string, ...options: readonly string[]): Promise<string[]> {
  const file = join(ROOT, 'docker', 'Dockerfile');
  const args = [`--build-arg=NODE_IMAGE=${node}`, `--build-arg=COMMIT=${COMMIT}`, '--timestamp=0'];
  return [...(await build('--file', file, ...args, ...options, '--tag', tag, ROOT)), tag];
}

/** One by one, the last one first: each may be built on those before it, and go with them. */
export async function removeImages(images: readonly string[]): Promise<void> {
  for (const image of images.toReversed()) await podman('rmi', '--force', image).catch(() => '');
}

/** Resolves to the images of the steps that it went through; those have no names. It takes minutes on a slow machine. */
async function build(...args: readonly string[]): Promise<string[]> {
  const all = ['build', '--pull=never', '--force-rm', '--layers=true', ...args];
  const { stdout } = await promisify(execFile)('podman', all, { maxBuffer: 16 << 20, timeout: 500_000 });
  return [...stdout.matchAll(/^--> ([0-9a-f]{11,})$/gm)].map(([, id = '']) => id);
}
