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
import { CHANGES, withoutImagePaths } from './loader.ts';
import { placeBy, placeContent, placeCopy, readIfThere } from './place.ts';

export type Arch = 'x64' | 'arm64';

export interface PortableNode {
  readonly version: string;
  /** Command line up to and including Node, for running it from `directory`. */
  readonly command: readonly [string, ...string[]];
}

const TRIPLES: Readonly<Record<Arch, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };
/** Debian's packages of what is in `lib`, for their licences, which are the same on every architecture. */
const LIBRARY_PACKAGES = ['libc6', 'libstdc++6'];

/** A Node as it is installed: PREFIX/bin/node and PREFIX/LICENSE. */
export interface InstalledNode {
  readonly prefix: string;
  readonly version: string;
}

/** The one of `prefix`, else the package of the lock file; `undefined` when that is not there for the architecture. */
export function findNode(arch: Arch, modules: string, prefix: string | undefined): InstalledNode | undefined {
  if (prefix !== undefined) {
    const version = execFileSync(join(prefix, 'bin', 'node'), ['-p', 'process.versions.node'], { encoding: 'utf8' });
    return { prefix, version: version.trim() };
  }
  const directory = join(modules, `node-linux-${arch}`);
  if (!existsSync(join(directory, 'bin', 'node'))) return undefined;
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version: string };
  return { prefix: directory, version };
}

export function layNode(
  directory: string,
  arch: Arch,
  installed: InstalledNode | undefined,
  stamps: string,
): PortableNode | undefined {
  if (!installed) return undefined;
  const { prefix, version } = installed;
  const source = join(prefix, 'bin', 'node');
  layProgram(directory, arch, source, version, stamps);
  const loader = layLibraries(directory, arch, source);
  placeContent(join(directory, 'licenses', 'node.txt'), readFileSync(join(prefix, 'LICENSE')));
  layLibraryLicenses(directory);
  placeContent(join(directory, 'licenses', 'loader.txt'), CHANGES);
  const lib = join(directory, 'lib');
  return { version, command: [join(lib, loader), '--library-path', lib, join(directory, 'bin', 'node')] };
}

function layProgram(directory: string, arch: Arch, source: string, version: string, stamps: string): void {
  const target = join(directory, 'bin', 'node');
  const strip = firstInPath([...(arch === process.arch ? ['strip'] : []), `${TRIPLES[arch]}-strip`, 'llvm-strip']);
  const stamp = JSON.stringify({ version, source, strip: strip ?? 'none' });
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
    const content = readFileSync(path);
    if (name === loader) placeContent(join(directory, 'lib', name), withoutImagePaths(content, path), 0o755);
    else placeContent(join(directory, 'lib', name), content);
  }
  for (const name of readdirSync(join(directory, 'lib'))) {
    if (!wanted.has(name)) rmSync(join(directory, 'lib', name));
  }
  return loader;
}

function findLibrary(name: string, arch: Arch): string {
  const triple = TRIPLES[arch];
  // Where Debian has them, where others have them, and where Debian's cross compilers have them.
  const native = arch === process.arch ? ['/lib64', '/usr/lib64', '/lib', '/usr/lib'] : [];
  const places = [`/lib/${triple}`, `/usr/lib/${triple}`, ...native, `/usr/${triple}/lib`];
  const found = places.map((place) => join(place, name)).find((path) => existsSync(path));
  if (!found) {
    const remedy = arch === process.arch ? 'install libstdc++6' : `install g++-${triple.replace('_', '-')}`;
    throw new Error(`cannot find ${name} for ${arch} in ${places.join(', ')}: ${remedy}`);
  }
  return realpathSync(found);
}

/** Elsewhere than on Debian the distribution's own package says under which licence it is. */
function layLibraryLicenses(directory: string): void {
  for (const name of LIBRARY_PACKAGES) {
    const text = readIfThere(`/usr/share/doc/${name}/copyright`);
    if (text) placeContent(join(directory, 'licenses', `${name}.txt`), text);
  }
}

function firstInPath(names: readonly string[]): string | undefined {
  const places = (process.env.PATH ?? '').split(':').filter((place) => place.startsWith('/'));
  return names.flatMap((name) => places.map((place) => join(place, name))).find((path) => existsSync(path));
}
