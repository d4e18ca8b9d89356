/** What is in the npm package, and what installing it does. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { readNeeds } from '../../src/delivery/elf.ts';
import { manifestOf } from '../../src/delivery/manifest.ts';
import { ROOT } from '../helpers/paths.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { environmentOn, installInto, MAJORS, npm, packed } from './installed.ts';

type Part = { readonly name: string; readonly purl: string };

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

test('the package has what it needs to run, the licences, and nothing else', () => {
  const { tarball, directory } = packed();
  const inits = readdirSync(join(directory, 'lib')).filter((name) => name.startsWith('sexton-linux-'));
  assert.ok(inits.includes(`sexton-linux-${process.arch}`));
  const listed = execFileSync('tar', ['--list', '--gzip', '--file', tarball], { encoding: 'utf8' }).trim().split('\n');
  const files = listed.map((path) => path.replace(/^package\//, ''));
  assert.deepEqual(
    new Set(files.filter((path) => !/^licenses\/(musl|libc6)\.txt$/.test(path))),
    new Set([
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', 'bin/sexton.cjs', 'licenses/packages.txt'],
      ...['main', 'pino', 'run', 'tools'].map((it) => `lib/app/${it}.cjs`),
      ...['index.d.ts', 'index.js', 'sbom.cdx.json', ...inits].map((it) => `lib/${it}`),
    ]),
  );
});

test('each init in the package is a static program for its machine, and may be executed', () => {
  const lib = join(packed().directory, 'lib');
  const machines: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };
  for (const name of readdirSync(lib).filter((it) => it.startsWith('sexton-linux-'))) {
    const arch = name.replace('sexton-linux-', '');
    assert.equal(readFileSync(join(lib, name)).readUInt16LE(18), machines[arch], `e_machine of ${name}`);
    assert.deepEqual(readNeeds(join(lib, name)), { interpreter: undefined, needed: [] });
    assert.equal(statSync(join(lib, name)).mode & 0o777, 0o755);
  }
});

test('the manifest has no dependencies or scripts, and the repository itself cannot be published', () => {
  const manifest = JSON.parse(readFileSync(join(packed().directory, 'package.json'), 'utf8'));
  const dependencies = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
  for (const key of [...dependencies, 'scripts', 'private']) assert.equal(manifest[key], undefined, key);
  assert.deepEqual(manifest.publishConfig, { access: 'public', provenance: true });
  assert.equal(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).private, true);
});

test('npm uninstall leaves no file of the package', async (t) => {
  const scratch = await tempGraveyard(t);
  const root = scratch.path('folder');
  mkdirSync(root);
  installInto(root);
  const found = (): string[] => readdirSync(join(root, 'node_modules'), { recursive: true, encoding: 'utf8' });
  assert.ok(found().includes('.bin/sexton'));
  npm(root, ['uninstall', 'sexton']);
  assert.deepEqual(
    found().filter((path) => path.includes('sexton')),
    [],
  );
});

test('in the release workflow the manifest names the repository that it is published from', () => {
  const env = { GITHUB_SERVER_URL: 'https://git.example', GITHUB_REPOSITORY: 'someone/sexton' };
  const { repository, homepage } = manifestOf(ROOT, env);
  assert.deepEqual(repository, { type: 'git', url: 'git+https://git.example/someone/sexton.git' });
  assert.equal(homepage, 'https://git.example/someone/sexton#readme');
  assert.equal(manifestOf(ROOT, {}).repository, undefined);
});

test('publint reports no problem of the package', async () => {
  const { messages, pkg } = await publint({ pkgDir: packed().directory, strict: true, pack: false });
  const said = messages.map((message) => formatMessage(message, pkg));
  assert.deepEqual(said, []);
});

test('packing says what it weighs, packed and unpacked', () => {
  const { said, tarball } = packed();
  const [, size] = /^ +(\d+) KiB {2}packed, \d+ KiB unpacked, \d+ files: /m.exec(said) ?? [];
  assert.equal(Number(size), Math.round(statSync(tarball).size / 1024));
  assert.match(said, /^ +\d+ KiB {2}lib\/app\/run\.cjs$/m);
});

for (const major of MAJORS) {
  test(`globally on Node ${major} the package is the command sexton, with its version and commit`, async (t) => {
    const scratch = await tempGraveyard(t);
    mkdirSync(scratch.path('empty'));
    npm(scratch.path('empty'), ['install', '--global', '--prefix', scratch.path('global'), packed().tarball]);
    const sexton = scratch.path('global/bin/sexton');
    const env = environmentOn(major);
    const told = spawnSync(sexton, ['--version'], { env, encoding: 'utf8' });
    assert.match(told.stdout, new RegExp(`^sexton ${version} \\(commit ([0-9a-f]{12}|unknown)\\)\n$`));
    const ran = spawnSync(sexton, ['run', '--', 'sh', '-c', 'echo ran; exit 5'], { env, encoding: 'utf8' });
    assert.deepEqual([ran.status, ran.stdout], [5, 'ran\n'], ran.stderr);
    const explained = execFileSync(sexton, ['explain', '--name', 'a', '--', 'true'], { env, encoding: 'utf8' });
    assert.match(explained, /^node: no Node process until/m);
    const parts = JSON.parse(execFileSync(sexton, ['version', '--json'], { env, encoding: 'utf8' })).parts as Part[];
    const has = (name: string): boolean => parts.some((it) => it.name === name);
    assert.ok(has('sexton-init') && has('pino') && !has('node') && !has('thread-stream'), JSON.stringify(parts));
    assert.ok(
      parts.some(({ purl }) => /^pkg:deb\/\w+\/(musl-dev|libc6-dev)/.test(purl)),
      JSON.stringify(parts),
    );
  });
}
