/** The bill of materials that the build lays, and what `sexton version` says of it. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import type { Sbom, SbomComponent } from '../../src/cli/commands/version/sbom.ts';
import { makeBundles } from '../../src/delivery/bundles.ts';
import { ROOT, SEXTON } from '../helpers/paths.ts';

const DELIVERED = dirname(SEXTON);
const TEXT = readFileSync(join(DELIVERED, 'sbom.cdx.json'), 'utf8');
const SBOM = JSON.parse(TEXT) as Sbom;
const PARTS = SBOM.components.filter(({ type }) => type !== 'file');

function digestOf(path: string, algorithm: string): string {
  return createHash(algorithm)
    .update(readFileSync(join(DELIVERED, path)))
    .digest('hex');
}

function nodeVersions(): Readonly<Record<string, string>> {
  const lib = join(DELIVERED, 'lib');
  const loader = readdirSync(lib).find((name) => name.startsWith('ld-linux-')) ?? '';
  const args = ['--library-path', lib, join(DELIVERED, 'bin/node'), '-p', 'JSON.stringify(process.versions)'];
  return JSON.parse(execFileSync(join(lib, loader), args, { env: {}, encoding: 'utf8' }));
}

test('the bill of materials is valid by the official schema of CycloneDX 1.6', async () => {
  assert.equal(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(TEXT), null);
  const refs = [SBOM.metadata.component, ...SBOM.components].map((it) => it['bom-ref']);
  assert.deepEqual([...new Set(refs)], refs, 'one is there twice');
  const named = SBOM.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
  assert.deepEqual(
    named.filter((ref) => !refs.includes(ref)),
    [],
  );
});

test('it has every file of the directory but itself and the inventory, with its digests', () => {
  const files = readdirSync(DELIVERED, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(DELIVERED, path)).isFile() && !['inventory', 'sbom.cdx.json'].includes(path))
    .map((path) => [path, digestOf(path, 'sha1'), digestOf(path, 'sha256')]);
  const listed = SBOM.components
    .filter(({ type }) => type === 'file')
    .map(({ name, hashes = [] }) => [name, ...hashes.map(({ content }) => content)]);
  assert.deepEqual(listed.sort(), files.sort());
});

test('each library of Debian in the directory has its licence there', () => {
  const libraries = PARTS.filter(({ purl }) => purl?.startsWith('pkg:deb/'));
  assert.ok(libraries.length > 0);
  // The package of libgcc_s has the licence of libstdc++, and those for compilers that of what they are linked to.
  const licences = libraries.map(({ name }) => name.replace('libgcc-s1', 'libstdc++6').replace(/-dev.*$/, ''));
  const files = readdirSync(join(DELIVERED, 'licenses'));
  assert.deepEqual(
    licences.filter((name) => !files.includes(`${name}.txt`)),
    [],
  );
});

test('it has the delivered Node and every part that this says is linked into it', () => {
  const { node, modules, napi, ...versions } = nodeVersions();
  assert.ok(modules && napi);
  const linked = Object.entries(versions).filter(([, version]) => version !== '');
  const expected = new Set([['node', node], ...linked].map(([name, version]) => `${name} ${version}`));
  const [ofNode] = SBOM.dependencies.filter(({ ref }) => ref === `pkg:generic/node@${node}`);
  const refs = [ofNode?.ref, ...(ofNode?.dependsOn ?? [])];
  const listed = PARTS.filter((it) => refs.includes(it['bom-ref'])).map(({ name, version }) => `${name} ${version}`);
  assert.deepEqual(new Set(listed), expected);
  const cpe = (name: string): string | undefined => PARTS.find((it) => it.name === name)?.cpe;
  assert.equal(cpe('node'), `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`);
  assert.equal(cpe('openssl'), `cpe:2.3:a:openssl:openssl:${versions.openssl}:*:*:*:*:*:*:*`);
});

test('it has the npm packages that esbuild read, and no other', async () => {
  const { inputs } = await makeBundles(ROOT, { version: '0', commit: '0' });
  const manifests = new Set(inputs.filter((it) => it.includes('node_modules/')).map(nearestManifest));
  const read = [...manifests].map((path) => {
    const { name, version } = JSON.parse(readFileSync(path, 'utf8')) as SbomComponent;
    return `pkg:npm/${name.replace('@', '%40')}@${version}`;
  });
  assert.ok(read.some((purl) => purl.startsWith('pkg:npm/pino@')));
  const bundled = PARTS.filter(({ licenses, purl }) => licenses && purl?.startsWith('pkg:npm/'));
  assert.deepEqual(bundled.map(({ purl }) => purl).sort(), read.sort());
});

/** Some packages have manifests without a name in their folders. */
function nearestManifest(input: string): string {
  for (let directory = dirname(join(ROOT, input)); ; directory = dirname(directory)) {
    const path = join(directory, 'package.json');
    if (existsSync(path) && JSON.parse(readFileSync(path, 'utf8')).version) return path;
    assert.ok(directory.includes('node_modules/'), input);
  }
}

const noDpkg = spawnSync('dpkg-query', ['--version']).status === 0 ? false : 'dpkg-query is not there';

test('it has the packages of Debian that the libraries are from, with their versions', { skip: noDpkg }, () => {
  const owners = globSync('lib/*', { cwd: DELIVERED }).map((path) => {
    // By what each package installed, since dpkg may know another path than the build copied.
    const name = path.replace('lib/', '').replaceAll(/[+.]/g, '\\$&');
    const lists = globSync('/var/lib/dpkg/info/lib{c6,gcc-s1,stdc++6}:*.list');
    const list = lists.find((it) => new RegExp(`/(?:${name})$`, 'm').test(readFileSync(it, 'utf8')));
    return list?.replace(/^.*\/|\.list$/g, '') ?? path;
  });
  for (const owner of new Set(owners)) {
    const format = ['--show', '--showformat', '$'.concat('{Package} $', '{Version}')];
    const [name, version] = execFileSync('dpkg-query', [...format, owner], { encoding: 'utf8' }).split(' ');
    const found = PARTS.find((it) => it.name === name);
    assert.equal(found?.version, version, owner);
    const [purl] = found?.purl?.split('?') ?? [];
    assert.equal(decodeURIComponent(purl ?? '').replace(/^pkg:deb\/\w+\//, ''), `${name}@${version}`);
  }
});

test('sexton version --json has the version, the commit and the same parts', () => {
  const said = JSON.parse(execFileSync(SEXTON, ['version', '--json'], { env: {}, encoding: 'utf8' }));
  const text = execFileSync(SEXTON, ['version'], { env: {}, encoding: 'utf8' });
  assert.equal(text, `sexton ${said.version} (commit ${said.commit})\n`);
  assert.equal(said.version, SBOM.metadata.component.version);
  const listed = PARTS.map(({ name, version, purl, cpe }) => ({ name, version, purl, ...(cpe && { cpe }) }));
  assert.deepEqual(said.parts, listed);
});

const MANDATORY = ['name', 'SPDXID', 'versionInfo', 'downloadLocation', 'licenseDeclared', 'copyrightText'] as const;

interface Spdx {
  readonly creationInfo: { readonly created: string; readonly creators: readonly string[] };
  readonly packages: readonly (Readonly<Record<(typeof MANDATORY)[number], string>> & {
    readonly packageVerificationCode?: object;
  })[];
  readonly files: readonly {
    readonly SPDXID: string;
    readonly fileName: string;
    readonly checksums: readonly { readonly algorithm: string; readonly checksumValue: string }[];
  }[];
  readonly relationships: readonly { readonly spdxElementId: string; readonly relatedSpdxElement: string }[];
  readonly spdxVersion: string;
  readonly dataLicense: string;
  readonly SPDXID: string;
  readonly documentNamespace: string;
}

/** By the text of the standard, since its schema is in no package of npm. */
test('sexton version --spdx has what SPDX 2.3 asks for, and the same parts and files', () => {
  const spdx = JSON.parse(execFileSync(SEXTON, ['version', '--spdx'], { env: {}, encoding: 'utf8' })) as Spdx;
  const { spdxVersion, dataLicense, SPDXID } = spdx;
  assert.deepEqual([spdxVersion, dataLicense, SPDXID], ['SPDX-2.3', 'CC0-1.0', 'SPDXRef-DOCUMENT']);
  assert.match(spdx.documentNamespace, /^https:\/\/[^#]+$/);
  assert.match(spdx.creationInfo.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.match(spdx.creationInfo.creators[0] ?? '', /^Tool: sexton-\d/);
  const ids = [...spdx.packages, ...spdx.files].map((it) => String(it.SPDXID));
  assert.deepEqual([...new Set(ids)], ids);
  for (const id of ids) assert.match(id, /^SPDXRef-[a-zA-Z0-9.-]+$/);
  const known = [SPDXID, ...ids];
  for (const { spdxElementId, relatedSpdxElement } of spdx.relationships)
    assert.ok(known.includes(spdxElementId) && known.includes(relatedSpdxElement));
  const [root, ...parts] = spdx.packages;
  assert.deepEqual(
    parts.map(({ name, versionInfo }) => `${name} ${versionInfo}`),
    PARTS.map(({ name, version }) => `${name} ${version}`),
  );
  for (const it of spdx.packages) for (const key of MANDATORY) assert.ok(it[key], `${it.name}: ${key}`);
  const sha1s = spdx.files.map(({ fileName, checksums }) => {
    assert.deepEqual(
      checksums.map((it) => [it.algorithm, it.checksumValue]),
      ['SHA1', 'SHA256'].map((name) => [name, digestOf(fileName, name.toLowerCase())]),
    );
    return checksums[0]?.checksumValue ?? '';
  });
  const code = createHash('sha1').update(sha1s.sort().join('')).digest('hex');
  assert.deepEqual(root?.packageVerificationCode, {
    packageVerificationCodeValue: code,
    packageVerificationCodeExcludedFiles: ['./inventory', './sbom.cdx.json'],
  });
});

test('sexton version refuses both forms at once, and names the directory where there is no bill', () => {
  const both = spawnSync(SEXTON, ['version', '--json', '--spdx'], { env: {}, encoding: 'utf8' });
  assert.equal(both.status, 125);
  assert.match(both.stderr, /--spdx: --json was given, too; give one of them/);
  const source = spawnSync(process.execPath, [join(ROOT, 'src/cli/main.ts'), 'version', '--json'], {
    encoding: 'utf8',
  });
  assert.equal(source.status, 125);
  assert.match(source.stderr, /cannot read .*sbom\.cdx\.json: .*; ask the sexton directory that the build lays\n$/);
});
