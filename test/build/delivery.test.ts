/** What `npm run build` has laid. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { inventoryDigest, parseInventory } from '../../src/cli/commands/install/inventory.ts';
import { makeCache } from '../../src/delivery/cache.ts';
import { layInventory } from '../../src/delivery/inventory.ts';
import { ROOT, SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';

const DELIVERED = dirname(SEXTON);
const LIB = join(DELIVERED, 'lib');
const LOADER = readdirSync(LIB).find((name) => name.startsWith('ld-linux-')) ?? '';
const NODE = [join(LIB, LOADER), '--library-path', LIB, join(DELIVERED, 'bin', 'node')];

const FLAGS = ['--disable-sigusr1', '--openssl-config=/dev/null', '--max-semi-space-size=1', '--v8-pool-size=1'];

/** On the delivered Node, with the flags that init gives it. */
function node(...args: readonly string[]): string {
  const [file = '', ...rest] = [...NODE, ...FLAGS, ...args];
  return execFileSync(file, rest, { env: {}, encoding: 'utf8' });
}

function copyOf(directory: string): string {
  const copy = temporaryDirectory();
  cpSync(directory, copy, { recursive: true });
  return copy;
}

/** Whether V8 refused the code cache in that directory; `undefined`: none was given to it. */
function isRejected(app: string): string {
  const compile = `import { compileBundle } from ${JSON.stringify(join(ROOT, 'src/delivery/launcher/bundle.ts'))};
    process.stdout.write(String(compileBundle(${JSON.stringify(app)}).cachedDataRejected));`;
  return node('--input-type=module', '--eval', compile);
}

test('the delivered Node runs on its own loader with an empty environment', () => {
  assert.equal(node('--print', '1'), '1\n');
});

test('lib holds every library that the delivered Node loads, and no other', () => {
  const [file = '', ...rest] = NODE;
  const listed = execFileSync(file, ['--list', ...rest], { env: {}, encoding: 'utf8' });
  const loaded = [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  assert.deepEqual(new Set(loaded.map((path) => dirname(path))), new Set([LIB]));
  assert.deepEqual([...new Set([...loaded.map((path) => basename(path)), LOADER])].sort(), readdirSync(LIB).sort());
});

test('V8 accepts the delivered code cache under the flags that init gives Node', () => {
  assert.equal(isRejected(join(DELIVERED, 'app')), 'false');
});

test('the code cache is the same whenever it is made', () => {
  const [loader = '', ...rest] = NODE;
  const app = join(DELIVERED, 'app');
  const run = readFileSync(join(app, 'run.cjs'), 'utf8');
  const cache = makeCache({ command: [loader, ...rest] }, run);
  assert.ok(cache.equals(readFileSync(join(app, 'run.cache'))));
});

test('the inventory lists every delivered file but itself, and its digest covers them all', () => {
  const text = readFileSync(join(DELIVERED, 'inventory'), 'utf8');
  const listed = parseInventory(text).map(({ path }) => path);
  const files = readdirSync(DELIVERED, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => join(relative(DELIVERED, it.parentPath), it.name));
  assert.deepEqual([...listed, 'inventory'].sort(), files.sort());
  const copy = copyOf(DELIVERED);
  assert.equal(layInventory(copy), inventoryDigest(text));
  chmodSync(join(copy, 'app', 'main.cjs'), 0o600);
  assert.notEqual(layInventory(copy), inventoryDigest(text));
});

test('a code cache of another build is left aside, although V8 would take it', () => {
  const app = copyOf(join(DELIVERED, 'app'));
  const path = join(app, 'run.cjs');
  // The source keeps its length, which is all that V8 checks.
  writeFileSync(path, readFileSync(path, 'latin1').replace(/^\/\/.{30}/, `//${'0'.repeat(30)}`));
  assert.equal(isRejected(app), 'undefined');
});

test('the launcher runs the bundle without a code cache, and with a damaged one', () => {
  const app = copyOf(join(DELIVERED, 'app'));
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const cache = readFileSync(join(app, 'run.cache'));
  writeFileSync(join(app, 'run.cache'), cache.fill(0, 40));
  const said = (): string => node(join(app, 'main.cjs'), 'version').split(' (')[0] ?? '';
  assert.equal(said(), `sexton ${version}`);
  rmSync(join(app, 'run.cache'));
  assert.equal(said(), `sexton ${version}`);
});

test('the bundle of run has neither execa nor the YAML parser nor pino in it', () => {
  const run = readFileSync(join(DELIVERED, 'app', 'run.cjs'), 'latin1');
  const tools = readFileSync(join(DELIVERED, 'app', 'tools.cjs'), 'latin1');
  for (const mark of ['forceKillAfterDelay', 'YAMLParseError']) {
    assert.ok(!run.includes(mark) && tools.includes(mark), mark);
  }
  const pino = readFileSync(join(DELIVERED, 'app', 'pino.cjs'), 'latin1');
  assert.ok(!run.includes('asJson') && !tools.includes('asJson') && pino.includes('asJson'));
});

test('the bundles are ASCII, as the launcher reads them', () => {
  for (const name of ['run.cjs', 'tools.cjs', 'pino.cjs', 'main.cjs'])
    assert.doesNotMatch(readFileSync(join(DELIVERED, 'app', name), 'latin1'), /[\x80-\xff]/, name);
});

test('a build of the image is sent what its Dockerfile copies, and no more', () => {
  const linesOf = (name: string): readonly string[] => readFileSync(join(ROOT, 'docker', name), 'utf8').split('\n');
  const copied = linesOf('Dockerfile').flatMap((line) => /^COPY (?!--from)(.*) \S+$/.exec(line)?.[1]?.split(' ') ?? []);
  const [first, ...sent] = linesOf('Dockerfile.dockerignore').filter((line) => line !== '' && !line.startsWith('#'));
  assert.equal(first, '*');
  assert.deepEqual(sent.sort(), [...new Set(copied)].map((path) => `!${path}`).sort());
});
