/**
 * Writes the bill of materials of the delivered directory, or of the npm package. Node says what is linked into it, dpkg
 * where its libraries and the C library of init are from, and esbuild what it bundled. Each file is there, too. A time or
 * a random number is not, so that the same directory has the same one.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INVENTORY } from '../cli/commands/install/inventory.ts';
import { SBOM, type Sbom, type SbomComponent } from '../cli/commands/version/sbom.ts';
import type { BundledPackage } from './bundles.ts';
import { type DebianPackage, purlOf, upstreamVersion } from './debian.ts';
import { filesIn } from './inventory.ts';
import { placeContent } from './place.ts';

export interface Contents {
  readonly version: string;
  /** `process.versions` of the Node that is laid; `undefined`: none is laid. */
  readonly node: Readonly<Record<string, string | undefined>> | undefined;
  readonly libraries: readonly DebianPackage[];
  readonly packages: readonly BundledPackage[];
}

export function laySbom(directory: string, contents: Contents): void {
  placeContent(join(directory, SBOM), `${JSON.stringify(sbomOf(directory, contents))}\n`);
}

function sbomOf(directory: string, { version, node, libraries, packages }: Contents): Sbom {
  const root = part('application', 'sexton', version, 'pkg:generic/sexton', undefined, 'Apache-2.0');
  const nodeParts = node ? partsOfNode(node) : [];
  const init = part('application', 'sexton-init', version, 'pkg:generic/sexton-init', undefined, 'Apache-2.0');
  const others = [init, ...libraries.map(libraryOf), ...packages.map(bundledOf)];
  const files = filesIn(directory).filter((path) => path !== INVENTORY && path !== SBOM);
  const [first, ...linked] = refsOf(nodeParts);
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: root },
    components: [...nodeParts, ...others, ...files.map((path) => fileOf(directory, path))],
    dependencies: [
      { ref: root['bom-ref'], dependsOn: [...(first ? [first] : []), ...refsOf(others)] },
      ...(first ? [{ ref: first, dependsOn: linked }] : []),
    ],
  };
}

const refsOf = (components: readonly SbomComponent[]): string[] => components.map((it) => it['bom-ref']);

/** Numbers of interfaces. */
const NO_PARTS: ReadonlySet<string> = new Set(['modules', 'napi']);

/** Node first. What it was built without has an empty version. */
function partsOfNode({ node = '', ...versions }: Readonly<Record<string, string | undefined>>): SbomComponent[] {
  const linked = Object.entries(versions).filter(([name, version]) => version && !NO_PARTS.has(name));
  const parts = linked.map(([name, version = '']) => {
    const { purl = `pkg:generic/${name}`, cpe } = KNOWN[name] ?? {};
    return part('library', name, version, purl, cpe);
  });
  return [part('application', 'node', node, 'pkg:generic/node', 'nodejs:node.js'), ...parts];
}

/**
 * What the parts are called elsewhere. `cpe`: vendor and product as in the dictionary of the NVD
 * (https://nvd.nist.gov/products/cpe), where one is known.
 */
const KNOWN: Readonly<Record<string, { readonly purl?: string; readonly cpe?: string }>> = {
  acorn: { purl: 'pkg:npm/acorn', cpe: 'acornjs:acorn' },
  ada: { purl: 'pkg:generic/ada-url' },
  amaro: { purl: 'pkg:npm/amaro' },
  ares: { purl: 'pkg:generic/c-ares', cpe: 'c-ares:c-ares' },
  brotli: { cpe: 'google:brotli' },
  icu: { cpe: 'icu-project:international_components_for_unicode' },
  llhttp: { purl: 'pkg:npm/llhttp', cpe: 'llhttp:llhttp' },
  nghttp2: { cpe: 'nghttp2:nghttp2' },
  nghttp3: { cpe: 'nghttp2:nghttp3' },
  openssl: { cpe: 'openssl:openssl' },
  sqlite: { cpe: 'sqlite:sqlite' },
  tz: { purl: 'pkg:generic/tzdata' },
  undici: { purl: 'pkg:npm/undici', cpe: 'nodejs:undici' },
  uv: { purl: 'pkg:generic/libuv', cpe: 'libuv:libuv' },
  v8: { cpe: 'google:v8' },
  zlib: { cpe: 'zlib:zlib' },
  zstd: { cpe: 'facebook:zstandard' },
};

/** The names of Debian's packages begin so, those for cross compilers too. */
const LIBRARY_CPES: readonly (readonly [RegExp, string])[] = [
  [/^libc6\b/, 'gnu:glibc'],
  [/^lib(?:stdc\+\+6|gcc-s1)\b/, 'gnu:gcc'],
  [/^musl\b/, 'musl-libc:musl'],
];

function libraryOf(debian: DebianPackage): SbomComponent {
  const product = LIBRARY_CPES.find(([pattern]) => pattern.test(debian.name))?.[1];
  const purl = purlOf(debian);
  const { name, version } = debian;
  const cpe = product && { cpe: cpeOf(product, upstreamVersion(debian)) };
  return { type: 'library', 'bom-ref': purl, name, version, purl, ...cpe };
}

function bundledOf({ name, version, license }: BundledPackage): SbomComponent {
  return part('library', name, version, `pkg:npm/${name.replace(/^@/, '%40')}`, undefined, license);
}

function part(
  type: SbomComponent['type'],
  name: string,
  version: string,
  unversioned: string,
  product?: string,
  license?: string,
): SbomComponent {
  const purl = `${unversioned}@${version}`;
  return {
    type,
    'bom-ref': purl,
    name,
    version,
    ...(license && { licenses: [{ expression: license }] }),
    purl,
    // The suffix is Node's: 13.6.233.17-node.53, 1.3.2.1-motley-8002e91.
    ...(product && { cpe: cpeOf(product, version.replace(/-.*/, '')) }),
  };
}

function cpeOf(product: string, version: string): string {
  return `cpe:2.3:a:${product}:${version.replaceAll(/[^\w.]/g, '\\$&')}:*:*:*:*:*:*:*`;
}

/** SPDX asks for SHA-1, too. */
function fileOf(directory: string, path: string): SbomComponent {
  const content = readFileSync(join(directory, path));
  const digest = (name: string): string => createHash(name).update(content).digest('hex');
  return {
    type: 'file',
    'bom-ref': `file:${path}`,
    name: path,
    hashes: [
      { alg: 'SHA-1', content: digest('sha1') },
      { alg: 'SHA-256', content: digest('sha256') },
    ],
  };
}
