/**
 * `npm run build [-- --arch x64|arm64] [--node PREFIX] [--icu english|full] [--commit ID] [--list]`: lays the self-contained directory
 * `dist/sexton` (`dist/sexton-arm64` on the other architecture).
 *
 *   sexton           the init binary, which is the program that one starts
 *   bin/node lib/    Node with its own loader and libraries
 *   app/             launcher, bundle, code cache, and the chunk of the other subcommands
 *   licenses/        of all that is in it
 *   sbom.cdx.json    what that is: programs, libraries, packages, files
 *   inventory        all of these files, with their digests
 *
 * `--node` takes Node from an installation (PREFIX/bin/node, PREFIX/LICENSE) instead of the package node-linux-ARCH. `--icu full`
 * leaves it the data of all languages, which sexton does not use (`icu.ts`). What is up to date is left alone, so a second build takes
 * about a second. The same sources, Node and tools give the same bytes. `--list` prints what each file weighs.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { BuiltInit } from '../init/build.ts';
import { type BundledPackage, makeBundles, placeBundles, type Release, readRelease } from './bundles.ts';
import { makeCache } from './cache.ts';
import { debianPackages, layLicenses, libcOf } from './debian.ts';
import { layInventory, printWeights } from './inventory.ts';
import { withLock } from './lock.ts';
import { placeBy, placeContent, readIfThere } from './place.ts';
import { type Arch, findNode, type Icu, layNode, type PortableNode } from './portable-node.ts';
import { laySbom } from './sbom.ts';

const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');

try {
  await main();
} catch (error) {
  process.stderr.write(`build: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: process.arch },
      node: { type: 'string' },
      icu: { type: 'string', default: 'english' },
      commit: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  });
  const { arch, node, icu, commit, list } = values;
  if (arch !== 'x64' && arch !== 'arm64')
    throw new Error(`cannot build for ${arch}: sexton is delivered for Linux on x64 and arm64`);
  if (icu !== 'english' && icu !== 'full') throw new Error(`cannot use --icu ${icu}: it is english or full`);
  await withLock(join(DIST, '.building'), () => lay({ arch, prefix: node, icu, commit, list }));
}

interface Options {
  readonly arch: Arch;
  /** The directory of an installed Node; `undefined`: the package of the lock file. */
  readonly prefix: string | undefined;
  readonly icu: Icu;
  /** Where there is no repository to tell it. */
  readonly commit: string | undefined;
  /** Whether to print what each file weighs. */
  readonly list: boolean;
}

async function lay({ arch, prefix, icu, commit, list }: Options): Promise<void> {
  const startedAt = performance.now();
  const isNative = process.platform === 'linux' && arch === process.arch;
  const directory = join(DIST, isNative ? 'sexton' : `sexton-${arch}`);
  const { compiler } = await layInit(join(directory, 'sexton'), arch);
  const libc = libcOf(compiler, arch);
  layLicenses(directory, [libc]);
  const installed = findNode(arch, join(ROOT, 'node_modules'), prefix);
  const node = layNode(directory, arch, installed, { icu, stamps: join(DIST, '.stamps') });
  placeContent(join(directory, 'licenses', 'sexton.txt'), readFileSync(join(ROOT, 'LICENSE')));
  const release = readRelease(ROOT, commit);
  const packages = await layApp(directory, node, isNative, release);
  laySbom(directory, {
    version: release.version,
    node: node && (isNative ? versionsOf(node) : ownVersions(node)),
    libraries: debianPackages(node?.libraries ?? [], [libc]),
    packages,
  });
  if (!node) process.stderr.write(`build: node-linux-${arch} is not installed, so ${directory} has no Node\n`);
  const digest = layInventory(directory);
  printWeights(directory, digest, performance.now() - startedAt, list);
}

async function layInit(target: string, arch: Arch): Promise<BuiltInit> {
  const { buildInit } = await import('../init/build.ts');
  return placeBy(target, 0o755, (temporary) => buildInit(temporary, { arch }));
}

/** An image without a libc fails at the first start; better that the build fails. */
function versionsOf({ command, version }: PortableNode): NodeJS.ProcessVersions {
  const [loader, ...rest] = command;
  const answer = execFileSync(loader, [...rest, '-p', 'JSON.stringify(process.versions)'], {
    env: {},
    encoding: 'utf8',
  });
  const versions = JSON.parse(answer) as NodeJS.ProcessVersions;
  if (versions.node === version) return versions;
  throw new Error(`cannot use bin/node: it says ${versions.node}, wanted ${version}`);
}

/** What is linked into a Node of another architecture, which cannot run here: the same as into this one. */
function ownVersions({ version }: PortableNode): NodeJS.ProcessVersions {
  if (process.versions.node === version) return process.versions;
  const own = process.versions.node;
  throw new Error(`cannot tell what is in Node ${version}: this build runs on Node ${own}; run it by npm run build`);
}

async function layApp(
  directory: string,
  node: PortableNode | undefined,
  isNative: boolean,
  release: Release,
): Promise<readonly BundledPackage[]> {
  const app = join(directory, 'app');
  const bundles = await makeBundles(ROOT, release);
  // V8 takes a cache only under the version that made it, so Node's version is part of what the mark stands for.
  const hash = createHash('sha256').update(`${bundles.run}${node?.version ?? ''}`);
  const mark = `//${hash.digest('hex').slice(0, 30)}`;
  const run = `${mark}\n${bundles.run}`;
  placeBundles(app, join(directory, 'licenses'), bundles);
  placeContent(join(app, 'run.cjs'), run);
  const cache = join(app, 'run.cache');
  const isFresh = readIfThere(cache)?.toString('latin1', 0, mark.length) === mark;
  if (node && isNative && !isFresh) placeContent(cache, makeCache(node, run));
  return bundles.packages;
}
