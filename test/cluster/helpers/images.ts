/**
 * The images that the pods of the tests run, made of `dist/sexton` and what this machine has. Their names carry the
 * mark of the run, so that two runs on one cluster do not meet.
 */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildFixtures } from '../../helpers/fixture.ts';
import { PORTABLE_NODE, ROOT, SEXTON } from '../../helpers/paths.ts';
import { type Image, type ImageSpec, writeArchive } from './archive.ts';
import type { Loader } from './loader.ts';

const run = promisify(execFile);
/** Debian's busybox-static. */
const BUSYBOX = '/bin/busybox';
/** What README's manifests start. They tell stdout what happens to them, and take keys of `/member` from MEMBER. */
const PROGRAMS = ['do-the-work', 'proxy', 'server', 'flush'];
const PROGRAM = '#!/bin/sh\nexec /member name=$(basename $0) log=/dev/stdout $MEMBER\n';
/** What `plain` starts: a program that leaves an orphan, and does not reap it as PID 1. */
export const ENTRY = { entrypoint: ['/bin/orphan'], cmd: ['3600'] };
const ORPHAN = '#!/bin/sh\n(sleep 1 &)\nexec sleep "$@"\n';

/** `sexton` has `/sexton` and nothing else, `plain` busybox and `/member`, `whole` both. */
export function imageNames(mark = process.env.TEST_CLUSTER_RUN ?? ''): Record<'sexton' | 'plain' | 'whole', string> {
  const named = (what: string): string => `localhost/sexton-cluster-${what}:${mark}`;
  return { sexton: named('sexton'), plain: named('plain'), whole: named('whole') };
}

export async function loadImages(loader: Loader, mark: string): Promise<Image[]> {
  const { sexton, plain, whole } = imageNames(mark);
  return withLayers(
    async ({ base, applets }) => [
      { name: sexton, layers: [base], config: { Entrypoint: ['/sexton/sexton'], User: '65532:65532' } },
      { name: plain, layers: [applets], config: { Entrypoint: ENTRY.entrypoint, Cmd: ENTRY.cmd } },
      { name: whole, layers: [base, applets] },
    ],
    loader,
    mark,
  );
}

export interface Layers {
  /** A new directory, to be filled as a layer of its own. */
  newLayer(name: string): Promise<string>;
  /** `/sexton`. */
  readonly base: string;
  /** busybox, `/member` and `/observer`. */
  readonly applets: string;
}

/** Stages the layers, and loads the images that `describe` makes of them. */
export async function withLayers(
  describe: (layers: Layers) => Promise<readonly ImageSpec[]>,
  loader: Loader,
  mark = process.env.TEST_CLUSTER_RUN ?? '',
): Promise<Image[]> {
  // Beside `dist/sexton`, because what is staged are links to it.
  const dir = await mkdtemp(join(ROOT, 'dist', '.cluster-'));
  try {
    const newLayer = async (name: string): Promise<string> => {
      const layer = join(dir, name);
      await mkdir(layer, { recursive: true });
      return layer;
    };
    const base = await newLayer('base');
    await run('cp', ['--archive', '--link', dirname(SEXTON), join(base, 'sexton')]);
    const applets = await newLayer('applets');
    await stageApplets(applets);
    const specs = await describe({ base, applets, newLayer });
    const archive = join(dir, 'images.tar');
    // The label gives each image an id of its own: one that two images share would go with the first of them.
    const labels = (name: string) => ({ Labels: { 'sexton-test': `${mark} ${name}` } });
    const marked = specs.map((it) => ({ ...it, config: { ...it.config, ...labels(it.name) } }));
    const images = await writeArchive(archive, marked);
    await loader.load(archive);
    return images;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function stageApplets(root: string): Promise<void> {
  const bin = join(root, 'bin');
  await mkdir(bin);
  const temporary = join(root, 'tmp');
  await mkdir(temporary);
  await chmod(temporary, 0o1777);
  const { member, observer } = await buildFixtures();
  await cp(member, join(root, 'member'));
  await cp(observer, join(root, 'observer'));
  // The Node of sexton, for images that have it.
  const [loader = '', ...options] = PORTABLE_NODE.map((word) => word.replace(dirname(SEXTON), '/sexton'));
  const node = `#!/bin/sh\nexec ${[loader, ...options].join(' ')} "$@"\n`;
  await writeFile(join(bin, 'node'), node, { mode: 0o755 });
  await cp(join(import.meta.dirname, '..', 'programs', 'client.mjs'), join(root, 'client.mjs'));
  await writeFile(join(bin, 'orphan'), ORPHAN, { mode: 0o755 });
  for (const name of PROGRAMS) await writeFile(join(bin, name), PROGRAM, { mode: 0o755 });
  await cp(BUSYBOX, join(bin, 'busybox'), { dereference: true });
  const { stdout } = await run(BUSYBOX, ['--list']);
  for (const applet of stdout.split('\n')) {
    if (applet !== '' && applet !== 'busybox') await symlink('busybox', join(bin, applet));
  }
}
