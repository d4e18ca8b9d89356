/** The image of sexton by its own Dockerfile, and the images that it is delivered to. */

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FIXTURE_SOURCES, ROOT } from '../helpers/paths.ts';
import { podman } from '../helpers/podman.ts';
import { importStandIn } from './stand-in.ts';

const run = promisify(execFile);

export const TARGETS = ['debian', 'musl', 'busybox', 'bare'] as const;
export type Target = (typeof TARGETS)[number];

export interface DeliveryImages {
  readonly sexton: string;
  /** The substitute for the official image of Node. */
  readonly node: string;
  readonly targets: Readonly<Record<Target | `${Target}-copy`, string>>;
  /** The target `debian`, which has Node, with the package of npm. */
  readonly npm: string;
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
    const npm = tag('npm');
    made.push(...(await buildNpm(npm, targets.debian)), npm);
    return { sexton, node, targets, npm, remove };
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

async function buildNpm(tag: string, base: string): Promise<string[]> {
  const context = await mkdtemp(join(tmpdir(), 'sx-npm-'));
  try {
    const pack = [join(ROOT, 'src/delivery/package.ts'), '--arch', process.arch, '--out', join(context, 'package')];
    await run(process.execPath, pack);
    const packed = (await readdir(context)).find((name) => name.endsWith('.tgz')) ?? '';
    await rename(join(context, packed), join(context, 'sexton.tgz'));
    const file = join(import.meta.dirname, 'npm.Dockerfile');
    return await build('--file', file, `--build-arg=IMAGE=${base}`, '--tag', tag, context);
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

/** One by one, the last one first: each may be built on those before it, and go with them. */
export async function removeImages(images: readonly string[]): Promise<void> {
  for (const image of images.toReversed()) await podman('rmi', '--force', image).catch(() => '');
}

/** Resolves to the images of its steps, which have no names. It takes minutes on a slow machine. */
async function build(...args: readonly string[]): Promise<string[]> {
  const all = ['build', '--pull=never', '--force-rm', '--layers=true', ...args];
  const { stdout } = await run('podman', all, { maxBuffer: 16 << 20, timeout: 1_200_000 });
  return [...stdout.matchAll(/^--> ([0-9a-f]{11,})$/gm)].map(([, id = '']) => id);
}
