/**
 * `npm run pack [-- --arch x64,arm64] [--out DIR]`: lays the npm package in DIR (`dist/npm`), packs it beside that
 * directory and says what it weighs.
 *
 *   bin/sexton.cjs                the command, which becomes init
 *   lib/sexton-linux-x64, -arm64  init
 *   lib/app/                      launcher, bundle, and the chunk of the other subcommands
 *   lib/index.js, index.d.ts      what a program imports
 *   licenses/                     of all that is bundled
 *
 * It has a manifest of its own: everything is bundled, so it depends on nothing and runs no script when it is
 * installed. That of the repository stays private and cannot be published.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { buildInit } from '../init/build.ts';
import { type BundledPackage, makeBundles, placeBundles, type Release, readRelease, textOf } from './bundles.ts';
import { debianPackages, layLicenses, libcOf } from './debian.ts';
import { weigh } from './inventory.ts';
import { type Manifest, manifestOf } from './manifest.ts';
import { placeBy, placeContent } from './place.ts';
import { laySbom } from './sbom.ts';

const ROOT = join(import.meta.dirname, '../..');
const ARCHES = ['x64', 'arm64'] as const;
type Arch = (typeof ARCHES)[number];

try {
  await main();
} catch (error) {
  process.stderr.write(`pack: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { arch: { type: 'string' }, out: { type: 'string' } } });
  const directory = resolve(values.out ?? join(ROOT, 'dist', 'npm'));
  const arches = values.arch === undefined ? ARCHES : values.arch.split(',').map(parseArch);
  // Nothing that an older sexton had may get into the package.
  rmSync(directory, { recursive: true, force: true });
  await lay(directory, arches);
  printPacked(pack(directory), directory);
}

function parseArch(word: string): Arch {
  const arch = ARCHES.find((it) => it === word);
  if (arch === undefined) throw new Error(`cannot pack for ${word}: sexton-init is made for ${ARCHES.join(' and ')}`);
  return arch;
}

async function lay(directory: string, arches: readonly Arch[]): Promise<void> {
  const manifest = manifestOf(ROOT, process.env);
  const libcs: string[] = [];
  for (const arch of arches) {
    placeBy(join(directory, 'lib', `sexton-linux-${arch}`), 0o755, (temporary) => {
      libcs.push(libcOf(buildInit(temporary, { arch }).compiler, arch));
    });
  }
  const packages = await layPrograms(directory, manifest, readRelease(ROOT));
  placeContent(join(directory, 'lib', 'index.d.ts'), declarations());
  for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md'])
    placeContent(join(directory, name), readFileSync(join(ROOT, name)));
  layLicenses(directory, libcs);
  const { version } = manifest;
  // Where `sexton version` looks for it.
  laySbom(join(directory, 'lib'), {
    version,
    node: undefined,
    libraries: debianPackages([], libcs),
    packages,
  });
  placeContent(join(directory, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

async function layPrograms(
  directory: string,
  manifest: Manifest,
  release: Release,
): Promise<readonly BundledPackage[]> {
  const bundles = await makeBundles(ROOT, release);
  const app = join(directory, 'lib', 'app');
  placeBundles(app, join(directory, 'licenses'), bundles);
  placeContent(join(app, 'run.cjs'), bundles.run);
  const bin = await bundle('bin.ts', {
    format: 'cjs',
    // The oldest Node with all of ES2015. A Node too old for sexton must still parse this file to say so.
    target: 'node6.5',
    banner: { js: '#!/usr/bin/env node' },
    define: { 'import.meta.dirname': '__dirname', __SEXTON_ENGINE__: JSON.stringify(manifest.engines.node) },
  });
  placeContent(join(directory, 'bin', 'sexton.cjs'), bin, 0o755);
  placeContent(join(directory, 'lib', 'index.js'), await bundle('index.ts', { format: 'esm', target: 'node22' }));
  return bundles.packages;
}

async function bundle(name: string, options: Parameters<typeof build>[0]): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'src/delivery/npm', name)],
    bundle: true,
    write: false,
    platform: 'node',
    logLevel: 'silent',
    ...options,
  });
  return textOf(outputFiles);
}

/** The declarations of `index.ts` and of the types that it exports, in one file: the package has no others. */
function declarations(): string {
  const out = mkdtempSync(join(tmpdir(), 'sexton-types-'));
  const read = (file: string): string => readFileSync(join(out, file), 'utf8');
  try {
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
    const args = [tsc, '--project', join(ROOT, 'src/delivery/npm'), '--outDir', out];
    execFileSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    const index = read('delivery/npm/index.d.ts').replace(/^.* from '.*\/tombstone-type\.ts';\n/gm, '');
    const text = index + read('core/tombstone-type.d.ts');
    const isWhole = !/\bfrom\b|\bimport\b.*['"]\.|reference/.test(text.replace(/\/\*\*[\s\S]*?\*\//g, ''));
    if (isWhole) return text;
    throw new Error('cannot deliver the declarations: the exports of npm/index.ts name types of other files');
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

function pack(directory: string): Packed {
  const args = ['pack', '--json', '--loglevel=error', '--pack-destination', join(directory, '..'), directory];
  const [packed] = Object.values(JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' })) as object);
  return packed as Packed;
}

function printPacked({ filename, size, unpackedSize, files }: Packed, directory: string): void {
  const lines = files.map((file) => weigh(file.size, file.path));
  const unpacked = `packed, ${(unpackedSize / 1024).toFixed(0)} KiB unpacked, ${files.length} files`;
  const total = weigh(size, `${unpacked}: ${join(directory, '..', filename)}`);
  process.stdout.write(`${lines.join('\n')}\n${total}\n`);
}
