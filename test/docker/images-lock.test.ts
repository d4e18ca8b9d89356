/**
 * `sexton images lock` beside podman: of real images, as it saves and inspects them, and of random layers, as it unpacks them.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { addLayer, type Directory, emptyRoot, fileAt } from '../../src/check/images/root.ts';
import { entriesOf, type TarEntry } from '../../src/check/images/tar.ts';
import type { ImageFacts } from '../../src/check/stop/images.ts';
import { archiveOf, dockerFiles, type Files, tarOf } from '../check/images/layouts.ts';
import { SEXTON } from '../helpers/paths.ts';
import { podman } from '../helpers/podman.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { Dice } from '../sim/dice.ts';
import { removeImages } from './images.ts';

const MARK = randomBytes(4).toString('hex');
const tag = (name: string): string => `localhost/sexton-test:${name}-${MARK}`;
const made: string[] = [];

/** What each is made by, from those before it; and what its /bin/sh is. */
const IMAGES = {
  debian: {
    shell: 'dash',
    from: 'scratch',
    lines: ['ADD root.tar /', 'ENTRYPOINT ["/bin/sh", "-c"]', 'USER 1000:1000'],
  },
  bash: { shell: 'bash', from: 'debian', lines: ['USER 0', 'RUN ["/bin/bash", "-c", "/bin/ln -sf bash /bin/sh"]'] },
  copied: { shell: 'busybox', from: 'debian', lines: ['COPY busybox /bin/sh', 'STOPSIGNAL SIGQUIT'] },
  removed: { shell: 'none', from: 'debian', lines: ['USER 0', 'RUN ["/bin/rm", "/bin/sh"]', 'CMD ["server"]'] },
  again: { shell: 'dash', from: 'removed', lines: ['RUN ["/bin/ln", "-s", "/usr/bin/dash", "/usr/bin/sh"]'] },
  emptied: { shell: 'none', from: 'debian', lines: ['USER 0', 'RUN ["/bin/rm", "-r", "/usr/bin"]'] },
  alpine: {
    shell: 'busybox',
    from: 'scratch',
    lines: ['COPY busybox /bin/busybox', 'COPY links /', 'ENV SEXTON_DRAIN=1s'],
  },
} as const;
type Name = keyof typeof IMAGES;
const NAMES = Object.keys(IMAGES) as readonly Name[];

before(async () => {
  const context = temporaryDirectory();
  layDebian(join(context, 'root'));
  execFileSync('tar', ['--create', `--file=${join(context, 'root.tar')}`, `--directory=${join(context, 'root')}`, '.']);
  copyFileSync('/bin/busybox', join(context, 'busybox'));
  mkdirSync(join(context, 'links/bin'), { recursive: true });
  symlinkSync('/bin/busybox', join(context, 'links/bin/sh'));
  for (const name of NAMES) {
    const { from, lines } = IMAGES[name];
    const file = join(context, `${name}.Dockerfile`);
    writeFileSync(file, [`FROM ${from === 'scratch' ? from : tag(from)}`, ...lines, ''].join('\n'));
    // Each step is a layer.
    await podman('build', '--layers=false', '--network=none', `--tag=${tag(name)}`, `--file=${file}`, context);
    made.push(tag(name));
  }
});
after(() => removeImages(made));

/** dash, bash and some tools of this machine, laid as in Debian: /bin leads to /usr/bin. */
function layDebian(root: string): void {
  for (const dir of ['usr/bin', 'usr/lib', 'usr/lib64']) mkdirSync(join(root, dir), { recursive: true });
  for (const dir of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${dir}`, join(root, dir));
  for (const program of ['dash', 'bash', 'ln', 'rm', 'sleep']) {
    copyFileSync(`/bin/${program}`, join(root, 'usr/bin', program));
    const libraries = execFileSync('ldd', [`/bin/${program}`], { encoding: 'utf8' }).match(/\/\S+\.so\S*/g) ?? [];
    for (const path of libraries) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      copyFileSync(path, join(root, path));
    }
  }
  symlinkSync('dash', join(root, 'usr/bin/sh'));
}

function lock(...inputs: readonly string[]): Readonly<Record<string, ImageFacts>> {
  const text = execFileSync(SEXTON, ['images', 'lock', ...inputs], { encoding: 'utf8' });
  return (JSON.parse(text) as { readonly images: Record<string, ImageFacts> }).images;
}

/** What a container of it finds under /bin/sh. */
async function shellOf(image: string): Promise<string> {
  const script = 'test -n "$BASH_VERSION" && echo bash; /bin/sh --help 2>&1';
  const args = ['run', '--rm', '--network=none', '--user=0', '--entrypoint=["/bin/sh", "-c"]', image, script];
  const said = await podman(...args).catch((error: Error & { code?: number; stdout?: string }) => {
    // What the shell does not know ends it with 2; that there is none is said by 127.
    if (error.code === 127) return 'none';
    return error.stdout ?? '';
  });
  return /^(none|bash)/.exec(said)?.[0] ?? (said.includes('BusyBox') ? 'busybox' : 'dash');
}

describe('images of podman', () => {
  it('have the shells that their containers run', async () => {
    for (const name of NAMES) assert.equal(await shellOf(tag(name)), IMAGES[name].shell, name);
  });

  for (const format of ['docker-archive', 'oci-archive', 'oci-dir'] as const)
    it(`are told from what podman save --format ${format} writes, and what inspect prints agrees`, async () => {
      for (const name of NAMES) {
        const saved = join(temporaryDirectory(), 'saved');
        await podman('save', `--format=${format}`, `--output=${saved}`, tag(name));
        const inspected = join(temporaryDirectory(), 'inspected');
        writeFileSync(inspected, await podman('image', 'inspect', tag(name)));
        const { shell, programs, ...facts } = lock(saved)[tag(name)] ?? {};
        assert.equal(shell, IMAGES[name].shell, name);
        assert.ok(programs !== undefined);
        assert.deepEqual(facts, lock(inspected)[tag(name)], name);
      }
    });

  it('say what they start, as whom, and how they want to be stopped', async () => {
    const saved = join(temporaryDirectory(), 'saved');
    await podman('save', '--multi-image-archive', `--output=${saved}`, ...NAMES.map(tag));
    const images = lock(saved);
    const entrypoint = ['/bin/sh', '-c'];
    const debian = { entrypoint, user: '1000:1000', shell: 'dash', programs: ['bash', 'dash', 'sh', 'sleep'] };
    assert.deepEqual(images[tag('debian')], debian);
    assert.deepEqual(images[tag('copied')], { ...debian, stopSignal: 'SIGQUIT', shell: 'busybox' });
    const removed = { ...debian, cmd: ['server'], user: '0', shell: 'none', programs: ['bash', 'dash', 'sleep'] };
    assert.deepEqual(images[tag('removed')], removed);
    assert.deepEqual(images[tag('emptied')], { entrypoint, user: '0', shell: 'none', programs: [] });
    assert.deepEqual(images[tag('alpine')], { env: { SEXTON_DRAIN: '1s' }, shell: 'busybox', programs: ['sh'] });
  });
});

const SEED = Number(process.env.TEST_SEED ?? 1);
const COUNT = 40;
const PLACES = ['bin', 'usr/bin', 'sbin', 'usr/sbin', 'opt'];
const PROGRAMS = ['sh', 'dash', 'bash'];

/** A layer: directories, files, links, and what is taken away. Each file says where it comes from. */
function drawLayer(dice: Dice, mark: string): Files {
  const files: Record<string, string> = {};
  for (const place of PLACES) {
    if (dice.chance(0.15)) {
      files[place] = `-> ${dice.pick(['usr/bin', '/usr/bin', '../bin', '/opt', 'sbin'])}`;
      continue;
    }
    if (dice.chance(0.3)) continue;
    if (dice.chance(0.1)) {
      files[join(dirname(place), `.wh.${basename(place)}`)] = '';
      continue;
    }
    // Engines make different things of a file whose directory is not in the layer.
    if (place.startsWith('usr/')) files['usr/'] = '/';
    files[`${place}/`] = '/';
    if (dice.chance(0.1)) files[`${place}/.wh..wh..opq`] = '';
    for (const program of PROGRAMS) {
      const path = `${place}/${program}`;
      const drawn = dice.int(8);
      if (drawn === 0) files[path] = `-> ${dice.pick(['dash', 'bash', '/bin/dash', '../opt/bash', '../usr/bin/sh'])}`;
      else if (drawn === 1) files[path] = `${mark} ${path}`;
      else if (drawn === 2) files[`${place}/.wh.${program}`] = '';
    }
  }
  return files;
}

async function rootOf(layers: readonly Buffer[]): Promise<Directory> {
  const root = emptyRoot();
  for (const [index, layer] of layers.entries()) {
    const entries: TarEntry[] = [];
    for await (const entry of entriesOf(piece(layer))) entries.push(entry);
    addLayer(root, index, entries);
  }
  return root;
}

async function* piece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** What a path inside of a directory that is a root leads to: the content of a file; undefined: nothing. */
function contentIn(root: string, path: string, links = 0): string | undefined {
  const parts = path.split('/').filter(Boolean);
  let at = '/';
  while (parts.length > 0) {
    const part = parts.shift() ?? '';
    const next = part === '..' ? dirname(at) : join(at, part);
    const stat = lstatSync(join(root, next), { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (stat.isSymbolicLink()) {
      if (links > 30) return undefined;
      const target = readlinkSync(join(root, next));
      return contentIn(root, `${target.startsWith('/') ? '' : `${at}/`}${target}/${parts.join('/')}`, links + 1);
    }
    if (stat.isFile()) return parts.length > 0 ? undefined : readFileSync(join(root, next), 'utf8');
    at = next;
  }
  return undefined;
}

describe('random layers', () => {
  it(`lead where they lead in podman, from seed ${SEED} on`, async () => {
    const drawn = Array.from({ length: COUNT }, (_, index) => {
      const dice = new Dice(SEED + index);
      return Array.from({ length: dice.between(1, 4) }, (_, layer) => drawLayer(dice, String(layer)));
    });
    const images = drawn.map((layers, index) => ({ name: tag(`r${index}`), layers: layers.map((one) => tarOf(one)) }));
    await podman('load', '--quiet', `--input=${archiveOf(dockerFiles(images))}`);
    made.push(...images.map(({ name }) => name));
    const lines = await podman('image', 'mount', ...images.map(({ name }) => name));
    const places = new Map(lines.split('\n').map((line) => line.split(/\s+/) as [string, string]));
    assert.equal(places.size, COUNT, lines);
    let found = 0;
    for (const [index, { name, layers }] of images.entries()) {
      const root = await rootOf(layers);
      const mounted = places.get(name) ?? '';
      for (const path of PLACES.flatMap((place) => PROGRAMS.map((program) => `${place}/${program}`))) {
        const file = fileAt(root, path)?.file;
        const own = file && `${file.layer} ${file.entry}`;
        const told = `${path} in ${JSON.stringify(drawn[index], null, 1)}`;
        assert.equal(own, contentIn(mounted, path), told);
        if (own !== undefined) found += 1;
      }
    }
    await podman('image', 'unmount', ...images.map(({ name }) => name));
    // Images in which nothing is found would prove nothing.
    assert.ok(found > COUNT, `${found}`);
  });
});
