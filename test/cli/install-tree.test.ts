/** What an installation lays, on small directories with an inventory of their own. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { formatInventory, parseInventory } from '../../src/cli/commands/install/inventory.ts';
import { type Installed, installTree } from '../../src/cli/commands/install/tree.ts';
import { layInventory } from '../../src/delivery/inventory.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { waitFor } from '../helpers/wait.ts';

const FILES = {
  sexton: '#!/bin/sh\necho $0 $(cat "$(dirname "$(readlink -f "$0")")/app/run.cjs")\n',
  'app/run.cjs': 'one',
};

function makeSource(files: Readonly<Record<string, string>> = FILES): string {
  const source = temporaryDirectory();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(source, path)), { recursive: true });
    writeFileSync(join(source, path), content);
    chmodSync(join(source, path), path === 'sexton' ? 0o755 : 0o644);
  }
  layInventory(source);
  return source;
}

function install(source: string, target: string, version = '1.0.0', removeOld = false): Promise<Installed> {
  return installTree({ source, target, version, removeOld });
}

function run(target: string): string {
  return execFileSync(join(target, 'sexton'), { encoding: 'utf8' }).split(' ')[1] ?? '';
}

function listed(target: string): string[] {
  const found = readdirSync(target, { recursive: true, withFileTypes: true });
  return found.filter((it) => !it.isDirectory()).map((it) => it.name);
}

test('an installation has the files, modes and contents of its source, and a link to its program', async () => {
  const source = makeSource();
  const target = temporaryDirectory();
  const { files, isNew, others } = await install(source, target);
  assert.deepEqual([files, isNew, others], [3, true, []]);
  assert.equal(run(target), 'one\n');
  const version = dirname(join(target, readlinkSync(join(target, 'sexton'))));
  for (const path of [...Object.keys(FILES), 'inventory']) {
    assert.equal(readFileSync(join(version, path), 'utf8'), readFileSync(join(source, path), 'utf8'));
    assert.equal(statSync(join(version, path)).mode, statSync(join(source, path)).mode, path);
  }
  assert.deepEqual(listed(target).sort(), INSTALLED);
});

test('a second installation writes nothing; a damaged one is replaced', async () => {
  const source = makeSource();
  const target = temporaryDirectory();
  await install(source, target);
  assert.equal((await install(source, target)).isNew, false);
  const version = dirname(join(target, readlinkSync(join(target, 'sexton'))));
  const damages: (() => void)[] = [
    () => writeFileSync(join(version, 'app/run.cjs'), 'eno'),
    () => chmodSync(join(version, 'app/run.cjs'), 0o600),
    () => unlinkSync(join(version, 'app/run.cjs')),
    () => writeFileSync(join(version, 'app/more.cjs'), ''),
    () => rmSync(join(version, 'app'), { recursive: true }),
    () => {
      unlinkSync(join(version, 'app/run.cjs'));
      symlinkSync('/etc/passwd', join(version, 'app/run.cjs'));
    },
    () => {
      rmSync(join(version, 'app'), { recursive: true });
      symlinkSync('/tmp', join(version, 'app'));
    },
  ];
  for (const damage of damages) {
    damage();
    assert.equal((await install(source, target)).isNew, true);
    assert.equal((await install(source, target)).isNew, false);
    assert.equal(run(target), 'one\n');
    assert.deepEqual(listed(target).sort(), INSTALLED);
  }
});

test('another version takes the name over, the old one stays until its removal is asked for', async () => {
  const target = temporaryDirectory();
  await install(makeSource(), target, '1.0.0');
  const old = join(target, readlinkSync(join(target, 'sexton')));
  const source = makeSource({ ...FILES, 'app/run.cjs': 'two' });
  const { others } = await install(source, target, '1.0.0');
  assert.equal(run(target), 'two\n');
  assert.deepEqual(others, [old.split('/').at(-2)]);
  assert.ok(existsSync(old));
  assert.deepEqual((await install(source, target, '1.0.0', true)).others, []);
  assert.ok(!existsSync(old));
  assert.equal(run(target), 'two\n');
});

test('a killed installation leaves no program, and the next one removes its leftovers', async (t) => {
  const source = makeSource();
  const target = temporaryDirectory();
  // The copy blocks at a pipe that has no writer.
  const path = join(source, 'app/run.cjs');
  renameSync(path, `${path}.real`);
  execFileSync('mkfifo', [path]);
  const call = `import { installTree } from ${JSON.stringify(join(ROOT, 'src/cli/commands/install/tree.ts'))};
    await installTree(${JSON.stringify({ source, target, version: '1.0.0', removeOld: false })});`;
  const child = spawn(NODE, ['--input-type=module', '--eval', call], { stdio: 'inherit' });
  t.after(() => child.kill('SIGKILL'));
  const begun = (): string | undefined => globSync(join(target, 'versions/.sexton-*'))[0];
  await waitFor('the copy is begun', () => globSync(join(target, 'versions/.sexton-*/app')).length > 0);
  child.kill('SIGKILL');
  await once(child, 'close');
  // There is not even a dangling link yet.
  assert.deepEqual(readdirSync(target), ['versions']);
  renameSync(`${path}.real`, path);
  // Another run may still be writing a copy that is so young.
  await install(source, target);
  assert.equal(run(target), 'one\n');
  assert.notEqual(begun(), undefined);
  const anHourAgo = Date.now() / 1000 - 3_600;
  utimesSync(begun() ?? '', anHourAgo, anHourAgo);
  await install(makeSource({ ...FILES, 'app/run.cjs': 'two' }), target, '1.0.0', true);
  assert.equal(run(target), 'two\n');
  assert.deepEqual(listed(target).sort(), INSTALLED);
});

/** Each file, and each name of the program. */
const INSTALLED = ['dumb-init', 'inventory', 'kubexit', 'run.cjs', 'sexton', 'sexton', 'tini'];

test('several at a time give one whole installation', async () => {
  const source = makeSource();
  const target = temporaryDirectory();
  await Promise.all([1, 2, 3, 4].map(() => install(source, target)));
  assert.equal(run(target), 'one\n');
  assert.deepEqual(listed(target).sort(), INSTALLED);
});

test('a source that is not what its inventory says is refused, and no name is made', async () => {
  const cases: [RegExp, (source: string) => void][] = [
    [/app\/run.cjs: it is not what the inventory says/, (it) => writeFileSync(join(it, 'app/run.cjs'), 'two')],
    [/app\/run.cjs: it is in the inventory, but not there/, (it) => unlinkSync(join(it, 'app/run.cjs'))],
    [/it has no inventory/, (it) => unlinkSync(join(it, 'inventory'))],
    [/its inventory is damaged: .* cut off/, (it) => writeFileSync(join(it, 'inventory'), '0644 1')],
  ];
  for (const [why, damage] of cases) {
    const source = makeSource();
    const target = temporaryDirectory();
    damage(source);
    await assert.rejects(install(source, target), why);
    assert.ok(!existsSync(join(target, 'sexton')));
    assert.ok(!listed(target).some((name) => name.startsWith('.')));
  }
});

test('a directory that others use, or that is none, is refused and left as it was', async () => {
  const source = makeSource();
  const target = temporaryDirectory();
  writeFileSync(join(target, 'data'), '');
  await assert.rejects(install(source, target), /holds "data", which is not of an installation/);
  assert.deepEqual(readdirSync(target), ['data']);
  await assert.rejects(install(source, join(target, 'data')), /not a directory/);
  await assert.rejects(install(source, join(target, 'data', 'x')), /not a directory/);
  await assert.rejects(install(source, join(target, 'not', 'there')), /is not there; mount the volume/);
  // A copy that was made by other means.
  await assert.rejects(install(source, source), /not of an installation/);
  // A new disk holds lost+found. A missing directory is created.
  const disk = temporaryDirectory();
  mkdirSync(join(disk, 'lost+found'));
  await install(source, disk);
  await install(source, join(target, 'made'));
  assert.equal(run(disk) + run(join(target, 'made')), 'one\none\n');
});

test('an installation follows no link in the place of a directory, and leaves what is behind it', async () => {
  const source = makeSource();
  const victim = temporaryDirectory();
  const whole = temporaryDirectory();
  await install(source, whole);
  const version = dirname(readlinkSync(join(whole, 'sexton')));
  mkdirSync(join(victim, 'data'));
  writeFileSync(join(victim, 'data/file'), 'precious');

  const target = temporaryDirectory();
  symlinkSync(victim, join(target, 'versions'));
  await assert.rejects(
    install(source, target, '1.0.0', true),
    /or versions in it, is a symbolic link.*remove the link/,
  );
  assert.deepEqual([readdirSync(target), readdirSync(victim)], [['versions'], ['data']]);
  await assert.rejects(install(source, join(target, 'versions')), /is a symbolic link/);

  // A version that others can change at the other end of a link is no version, even a whole one.
  renameSync(join(target, 'versions'), join(target, 'sexton'));
  mkdirSync(join(target, 'versions'));
  symlinkSync(join(whole, version), join(target, version));
  symlinkSync(victim, join(target, 'versions/0.9.0-link'));
  mkdirSync(join(target, 'versions/0.8.0-deep/more'), { recursive: true });
  symlinkSync(victim, join(target, 'versions/0.8.0-deep/more/link'));
  assert.equal((await install(source, target, '1.0.0', true)).isNew, true);
  assert.ok(!lstatSync(join(target, version)).isSymbolicLink());
  assert.deepEqual(readdirSync(join(target, 'versions')), [basename(version)]);
  assert.equal(readFileSync(join(victim, 'data/file'), 'utf8'), 'precious');
  assert.equal(run(whole), 'one\n');
});

const SHA = 'ab'.repeat(32);

test('an inventory is sorted by path, and is read as it was written', () => {
  const files = ['sexton', 'lib/libc.so.6', 'lib/ld-linux-x86-64.so.2', 'app/run.cjs'].map((path, index) => ({
    path,
    mode: index === 0 ? 0o755 : 0o644,
    bytes: index,
    sha256: SHA,
  }));
  const text = formatInventory(files);
  assert.equal(formatInventory(files.toReversed()), text);
  const paths = ['app/run.cjs', 'lib/ld-linux-x86-64.so.2', 'lib/libc.so.6', 'sexton'];
  assert.deepEqual(
    parseInventory(text).map(({ path }) => path),
    paths,
  );
  assert.deepEqual(
    parseInventory(text).find(({ path }) => path === 'sexton'),
    files[0],
  );
});

test('an inventory that is cut off, garbled or leads out of its directory is refused', () => {
  const line = `0644 1 ${SHA} app/x`;
  for (const text of ['', line, `${line}\n0644 1 ${SHA}`, `${line}\n\n`, `0644 1 ${SHA.slice(1)} app/x\n`])
    assert.throws(() => parseInventory(text), JSON.stringify(text));
  for (const path of ['../x', 'app/../../x', '/etc/passwd', 'app//x', './x', 'app/'])
    assert.throws(() => parseInventory(`0644 1 ${SHA} ${path}\n`), path);
});
