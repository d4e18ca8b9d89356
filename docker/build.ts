/**
 * Builds the images that the container tests run, without any registry: from `FROM scratch`, `dist/sexton` and what this
 * machine has.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..');
/** Debian's busybox-static. */
const BUSYBOX = '/bin/busybox';

export interface Images {
  /** `/sexton` and `/member`, nothing else. */
  readonly bare: string;
  /** busybox, `/sexton` and `/member`. */
  readonly busybox: string;
  remove(): Promise<void>;
}

/** `member`: a static program, which the images have as `/member`. `name` makes the tags unique. */
export async function buildImages(member: string, name = randomBytes(4).toString('hex')): Promise<Images> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const tagOf = (target: string): string => `localhost/sexton-test:${version}-${target}-${name}`;
  const bare = tagOf('bare');
  const busybox = tagOf('busybox');
  // Beside `dist/sexton`, because what is staged are links to it.
  const context = await mkdtemp(join(ROOT, 'dist', '.images-'));
  try {
    await stage(context, member);
    await build(context, 'bare', bare);
    await build(context, 'busybox', busybox);
  } finally {
    await rm(context, { recursive: true, force: true });
  }
  return {
    bare,
    busybox,
    remove: async () => {
      await run('podman', ['rmi', '--force', bare, busybox]);
    },
  };
}

async function stage(context: string, member: string): Promise<void> {
  await run('cp', ['--archive', '--link', join(ROOT, 'dist', 'sexton'), context]);
  const bin = join(context, 'busybox', 'bin');
  await mkdir(join(context, 'bare'), { recursive: true });
  await mkdir(bin, { recursive: true });
  await mkdir(join(context, 'busybox', 'tmp'));
  for (const tree of ['bare', 'busybox']) await cp(member, join(context, tree, 'member'));
  await cp(BUSYBOX, join(bin, 'busybox'), { dereference: true });
  const { stdout } = await run(BUSYBOX, ['--list']);
  for (const applet of stdout.split('\n')) {
    if (applet !== '' && applet !== 'busybox') await symlink('busybox', join(bin, applet));
  }
}

async function build(context: string, target: string, tag: string): Promise<void> {
  const file = join(ROOT, 'docker', 'test.Dockerfile');
  const args = ['build', '--quiet', '--pull=never', '--file', file, '--target', target, '--tag', tag, context];
  await run('podman', args);
}
