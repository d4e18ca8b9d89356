/**
 * Node that runs in an image with no libc: the program itself, the loader it names, and exactly the libraries that it and
 * they need. It is started as `lib/LOADER --library-path lib bin/node`.
 *
 * The program is copied and stripped only when its source is another one than last time: it has 120 MB.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readNeeds } from './elf.ts';
import { placeBy, placeContent, placeCopy, readIfThere } from './place.ts';

export type Arch = 'x64' | 'arm64';

export interface PortableNode {
  readonly version: string;
  /** Command line up to and including Node, for running it from `directory`. */
  readonly command: readonly [string, ...string[]];
}

interface Toolchain {
  readonly strip: readonly string[];
  readonly libraries: readonly string[];
}

const TOOLCHAINS: Readonly<Record<Arch, Toolchain>> = {
  x64: {
    strip: ['strip', 'x86_64-linux-gnu-strip', 'llvm-strip'],
    libraries: [
      '/lib/x86_64-linux-gnu',
      '/usr/lib/x86_64-linux-gnu',
      '/lib64',
      '/usr/lib64',
      '/usr/x86_64-linux-gnu/lib',
    ],
  },
  arm64: {
    strip: ['aarch64-linux-gnu-strip', 'llvm-strip'],
    libraries: [
      '/usr/aarch64-linux-gnu/lib',
      '/lib/aarch64-linux-gnu',
      '/usr/lib/aarch64-linux-gnu',
      '/lib64',
      '/usr/lib64',
    ],
  },
};

/** Returns `undefined` when no Node for that architecture is installed. */
export function layNode(directory: string, arch: Arch, modules: string, stamps: string): PortableNode | undefined {
  const packageDirectory = join(modules, `node-linux-${arch}`);
  const source = join(packageDirectory, 'bin', 'node');
  if (!existsSync(source)) return undefined;
  const { version } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8')) as { version: string };
  layProgram(directory, arch, source, version, stamps);
  const loader = layLibraries(directory, arch, source);
  placeContent(join(directory, 'licenses', 'node.txt'), readFileSync(join(packageDirectory, 'LICENSE')));
  const lib = join(directory, 'lib');
  return { version, command: [join(lib, loader), '--library-path', lib, join(directory, 'bin', 'node')] };
}

function layProgram(directory: string, arch: Arch, source: string, version: string, stamps: string): void {
  const target = join(directory, 'bin', 'node');
  const strip = firstInPath(TOOLCHAINS[arch].strip);
  const stamp = JSON.stringify({ version, strip: strip ?? 'none' });
  const stampPath = join(stamps, `node-${arch}.json`);
  if (existsSync(target) && readIfThere(stampPath)?.toString() === stamp) return;
  if (!strip) process.stderr.write(`build: no strip for ${arch}: bin/node keeps its symbols\n`);
  if (strip) placeBy(target, 0o755, (temporary) => execFileSync(strip, ['-o', temporary, source]));
  else placeCopy(target, source, 0o755);
  placeContent(stampPath, stamp);
}

/** Returns the file name of the loader. */
function layLibraries(directory: string, arch: Arch, program: string): string {
  const { interpreter, needed } = readNeeds(program);
  if (!interpreter) throw new Error(`cannot lay libraries: ${program} names no loader; a static Node needs none`);
  const loader = basename(interpreter);
  const wanted = new Set([loader, ...needed]);
  for (const name of wanted) {
    const path = findLibrary(name, arch);
    for (const next of readNeeds(path).needed) wanted.add(next);
    placeContent(join(directory, 'lib', name), readFileSync(path), name === loader ? 0o755 : 0o644);
  }
  for (const name of readdirSync(join(directory, 'lib'))) {
    if (!wanted.has(name)) rmSync(join(directory, 'lib', name));
  }
  return loader;
}

function findLibrary(name: string, arch: Arch): string {
  const { libraries } = TOOLCHAINS[arch];
  const found = libraries.map((place) => join(place, name)).find((path) => existsSync(path));
  if (!found) {
    const remedy = arch === 'arm64' ? 'install libc6-arm64-cross and libstdc++6-arm64-cross' : 'install libstdc++6';
    throw new Error(`cannot find ${name} for ${arch} in ${libraries.join(', ')}: ${remedy}`);
  }
  return realpathSync(found);
}

function firstInPath(names: readonly string[]): string | undefined {
  const places = (process.env.PATH ?? '').split(':').filter((place) => place.startsWith('/'));
  return names.flatMap((name) => places.map((place) => join(place, name))).find((path) => existsSync(path));
}
