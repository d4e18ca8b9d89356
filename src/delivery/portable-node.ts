/**
 * Node that runs in an image with no libc: the program itself, the loader it names, and exactly the libraries that it
 * and they need. It is started as `lib/LOADER --library-path lib bin/node`.
 *
 * The program is made smaller only when its source is another one than last time: it has 120 MB.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { layLicenses } from './debian.ts';
import { readNeeds, withoutUnloaded } from './elf.ts';
import { pruneIcu } from './icu.ts';
import { CHANGES, withoutImagePaths } from './loader.ts';
import { placeContent, readIfThere } from './place.ts';

export type Arch = 'x64' | 'arm64';

export type Icu = 'english' | 'full';

export interface PortableNode {
  readonly version: string;
  /** Command line up to and including Node, for running it from `directory`. */
  readonly command: readonly [string, ...string[]];
  /** Where the files in `lib` were taken from. */
  readonly libraries: readonly string[];
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
  { icu, stamps }: { readonly icu: Icu; readonly stamps: string },
): PortableNode | undefined {
  if (!installed) return undefined;
  const { prefix, version } = installed;
  const source = join(prefix, 'bin', 'node');
  layProgram(join(directory, 'bin', 'node'), source, icu, join(stamps, `node-${arch}.json`), version);
  const { loader, libraries } = layLibraries(directory, arch, source);
  placeContent(join(directory, 'licenses', 'node.txt'), readFileSync(join(prefix, 'LICENSE')));
  layLicenses(directory, LIBRARY_PACKAGES);
  placeContent(join(directory, 'licenses', 'loader.txt'), CHANGES);
  const lib = join(directory, 'lib');
  return { version, command: [join(lib, loader), '--library-path', lib, join(directory, 'bin', 'node')], libraries };
}

function layProgram(target: string, source: string, icu: Icu, stamp: string, version: string): void {
  const content = JSON.stringify({ version, source, icu, recipe: recipe() });
  if (existsSync(target) && readIfThere(stamp)?.toString() === content) return;
  const { node, problem } = makeSmaller(readFileSync(source), icu);
  if (problem) process.stderr.write(`build: bin/node is left as it is, with all data of ICU: ${problem}\n`);
  placeContent(target, node, 0o755);
  placeContent(stamp, content);
}

/** A Node that is not as expected is left as it is: it works, and is only larger. */
export function makeSmaller(node: Buffer, icu: Icu): { node: Buffer; problem?: string } {
  if (icu === 'full') return { node: withoutUnloaded(node) };
  try {
    return { node: pruneIcu(node) };
  } catch (error) {
    return { node, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** A program that older code made smaller is made again. */
function recipe(): string {
  const hash = createHash('sha256');
  for (const name of ['icu.ts', 'elf.ts']) hash.update(readFileSync(join(import.meta.dirname, name)));
  return hash.digest('hex');
}

/** Returns the file name of the loader, and where all of them come from. */
function layLibraries(directory: string, arch: Arch, program: string): { loader: string; libraries: string[] } {
  const { interpreter, needed } = readNeeds(program);
  if (!interpreter) throw new Error(`cannot lay libraries: ${program} names no loader; a static Node needs none`);
  const loader = basename(interpreter);
  const wanted = new Set([loader, ...needed]);
  const libraries: string[] = [];
  for (const name of wanted) {
    const path = findLibrary(name, arch);
    libraries.push(path);
    const content = readFileSync(path);
    for (const next of readNeeds(path, content).needed) wanted.add(next);
    const isLoader = name === loader;
    const laid = isLoader ? withoutImagePaths(content, path) : content;
    placeContent(join(directory, 'lib', name), laid, isLoader ? 0o755 : 0o644);
  }
  for (const name of readdirSync(join(directory, 'lib'))) if (!wanted.has(name)) rmSync(join(directory, 'lib', name));
  return { loader, libraries };
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
