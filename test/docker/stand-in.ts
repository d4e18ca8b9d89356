/**
 * A substitute for the official image of Node, which the tests get from no registry. It is a Debian root by
 * debootstrap, with the compiler, and with Node and npm where that image has them. Its Node is the one of the lock
 * file.
 *
 * The root is kept as `dist/.cache/debian-*.tar`: it takes half a minute, and to import it again five seconds.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../helpers/paths.ts';
import { podman } from '../helpers/podman.ts';

const run = promisify(execFile);

const SUITE = 'trixie';
const MIRROR = 'http://deb.debian.org/debian';
const PACKAGES = ['busybox-static', 'ca-certificates', 'libstdc++6', 'gcc', 'libc6-dev', 'musl-tools', 'binutils'];
/** Where this machine has the certificates that it trusts. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const TRUST = {
  NODE_EXTRA_CA_CERTS: CERTIFICATES,
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
};

/** Resolves to the image's name. */
export async function importStandIn(): Promise<string> {
  const image = `localhost/sexton-test:node-${randomBytes(4).toString('hex')}`;
  const changes = Object.entries(TRUST).map(([key, value]) => `--change=ENV ${key}=${value}`);
  await podman('import', '--quiet', ...changes, await makeRoot(), image);
  return image;
}

async function makeRoot(): Promise<string> {
  const cache = join(ROOT, 'dist', '.cache');
  const tar = join(cache, `debian-${SUITE}-${process.version}-${process.arch}-${PACKAGES.join('-')}.tar`);
  if (await exists(tar)) return tar;
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, '.debian-'));
  try {
    const root = join(work, 'root');
    const options = ['--variant=minbase', `--include=${PACKAGES.join()}`, SUITE, root, MIRROR];
    await debootstrap(options).catch(async () => {
      await rm(root, { recursive: true, force: true });
      await debootstrap(options);
    });
    await addNode(root);
    const left = ['./var/cache/apt', './var/lib/apt/lists', './usr/share/locale', './usr/share/man', './dev'];
    const exclude = left.map((path) => `--exclude=${path}`);
    await run('tar', ['--create', '--file', join(work, 'root.tar'), '--directory', root, ...exclude, '.']);
    await rename(join(work, 'root.tar'), tar);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return tar;
}

/** It fails when a package cannot be downloaded; the caller tries again. */
async function debootstrap(options: readonly string[]): Promise<void> {
  await run('debootstrap', options, { maxBuffer: 16 << 20 });
}

async function addNode(root: string): Promise<void> {
  const local = join(root, 'usr', 'local');
  const node = join(ROOT, 'node_modules', `node-linux-${process.arch}`);
  await cp(join(node, 'bin', 'node'), join(local, 'bin', 'node'));
  await cp(join(node, 'LICENSE'), join(local, 'LICENSE'));
  await cp(await findNpm(), join(local, 'lib', 'node_modules', 'npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin', 'npm'));
  if (await exists(CERTIFICATES)) await cp(CERTIFICATES, join(root, CERTIFICATES), { dereference: true });
}

/** The npm of this machine, as a directory. */
async function findNpm(): Promise<string> {
  for (const place of (process.env.PATH ?? '').split(delimiter)) {
    const found = await realpath(join(place, 'npm')).catch(() => '');
    if (found.endsWith('/bin/npm-cli.js')) return dirname(dirname(found));
  }
  throw new Error('cannot make the image: there is no npm in PATH');
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
