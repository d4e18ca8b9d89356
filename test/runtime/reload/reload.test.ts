import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SIGHUP } from '../../../src/core/signals.ts';
import { ReloadWatch } from '../../../src/runtime/reload/reload.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { waitFor, within } from '../../helpers/wait.ts';
import { needsMount } from '../graveyard/volume.ts';
import { coarseVolume, Volume, Watching } from './watching.ts';

async function watchedFile(t: TestContext, pollMs?: number, dir = temporaryDirectory()) {
  const path = join(dir, 'app.conf');
  writeFileSync(path, 'one');
  return { dir, path, watching: await Watching.begin(t, [path], pollMs) };
}

const needsRoot = { skip: process.getuid?.() !== 0 && 'needs root' };

/** A file must not change for so long to be read. */
const SETTLE_MS = 100;

test('a file that is written in place or replaced by a rename is one change', async (t) => {
  const { dir, path, watching } = await watchedFile(t);
  writeFileSync(path, 'two');
  assert.deepEqual(await watching.told(1), [0]);
  for (const part of ['th', 're', 'e']) appendFileSync(path, part);
  assert.deepEqual(await watching.told(1), [0]);
  for (const content of ['six', 'ten']) {
    writeFileSync(join(dir, 'new'), content);
    renameSync(join(dir, 'new'), path);
    assert.deepEqual(await watching.told(1), [0]);
  }
});

test('a file with the same content is no change, however it came about', async (t) => {
  const { dir, path, watching } = await watchedFile(t);
  utimesSync(path, 1, 1);
  await watching.settle();
  chmodSync(path, 0o600);
  await watching.settle();
  writeFileSync(path, 'one');
  await watching.settle();
  writeFileSync(join(dir, 'new'), 'one');
  renameSync(join(dir, 'new'), path);
  await watching.settle();
  rmSync(path);
  await watching.settle();
  writeFileSync(path, 'one');
  assert.deepEqual(await watching.told(0), []);
  rmSync(path);
  assert.deepEqual(await watching.told(0), []);
  writeFileSync(path, 'two');
  assert.deepEqual(await watching.told(1), [0], 'it comes back with another content');
});

test('D10 an absent path is reported once, and only its second content is a change', async (t) => {
  const dir = temporaryDirectory();
  const path = join(dir, 'a/b/app.conf');
  const watching = await Watching.begin(t, [path]);
  const missing = [`${path} is not there yet: its first content will be no change; check --reload`];
  assert.deepEqual(watching.troubles, missing);
  mkdirSync(join(dir, 'a'));
  await watching.settle();
  mkdirSync(join(dir, 'a/b'));
  writeFileSync(path, 'one');
  assert.deepEqual(await watching.told(0), []);
  writeFileSync(path, 'two');
  assert.deepEqual(await watching.told(1), [0]);
  assert.deepEqual(watching.troubles, missing);
});

test('a swap of ..data is one change for each file with new content, and for the directory', async (t) => {
  const volume = new Volume(join(temporaryDirectory(), 'config'), {
    'app.conf': 'one',
    'other.conf': 'same',
    'in/deep': '1',
  });
  const paths = ['app.conf', 'other.conf', 'in/deep'].map((name) => join(volume.dir, name));
  const watching = await Watching.begin(t, [...paths, volume.dir]);
  volume.update({ 'app.conf': 'two', 'other.conf': 'same', 'in/deep': '1' });
  assert.deepEqual((await watching.told(2)).toSorted(), [0, 3]);
  volume.update({ 'app.conf': 'six', 'other.conf': 'same', 'in/deep': '2' });
  assert.deepEqual((await watching.told(3)).toSorted(), [0, 2, 3]);
  volume.update({ 'app.conf': 'six', 'other.conf': 'same', 'in/deep': '2' });
  assert.deepEqual(await watching.told(0), []);
});

test('a directory changes with any file in it and below: changed, added, removed', async (t) => {
  const dir = temporaryDirectory();
  mkdirSync(join(dir, 'conf.d/sub'), { recursive: true });
  const root = join(dir, 'conf.d');
  writeFileSync(join(root, 'a.conf'), 'one');
  writeFileSync(join(root, 'sub/b.conf'), 'one');
  const watching = await Watching.begin(t, [root]);
  writeFileSync(join(root, 'sub/b.conf'), 'two');
  assert.deepEqual(await watching.told(1), [0]);
  writeFileSync(join(root, 'c.conf'), '');
  assert.deepEqual(await watching.told(1), [0]);
  rmSync(join(root, 'a.conf'));
  assert.deepEqual(await watching.told(1), [0]);
  writeFileSync(join(dir, 'beside'), 'x');
  assert.deepEqual(await watching.told(0), []);
});

test('a directory below that may not be read hides no change beside it, and is reported', needsRoot, async (t) => {
  const dir = temporaryDirectory();
  chmodSync(dir, 0o755);
  mkdirSync(join(dir, 'lost+found'), { mode: 0o700 });
  writeFileSync(join(dir, 'app.conf'), 'one');
  process.seteuid?.(54_321);
  t.after(() => process.seteuid?.(0));
  const watching = await Watching.begin(t, [dir]);
  process.seteuid?.(0);
  writeFileSync(join(dir, 'app.conf'), 'two');
  process.seteuid?.(54_321);
  assert.deepEqual(await watching.told(1), [0]);
  const below = join(dir, 'lost+found');
  assert.deepEqual(watching.troubles, [
    `cannot watch ${below}: EACCES: permission denied, watch '${below}'; changes of ${dir} are seen late`,
  ]);
});

test('a link on the way that leads to another content is a change', async (t) => {
  const dir = temporaryDirectory();
  for (const [release, content] of Object.entries({ r1: 'one', r2: 'two', r3: 'two' })) {
    mkdirSync(join(dir, release));
    writeFileSync(join(dir, release, 'app.conf'), content);
  }
  const lead = (to: string): void => {
    symlinkSync(to, join(dir, 'next'));
    renameSync(join(dir, 'next'), join(dir, 'current'));
  };
  lead('r1');
  const watching = await Watching.begin(t, [join(dir, 'current/app.conf'), join(dir, 'current')]);
  lead('r2');
  assert.deepEqual((await watching.told(2)).toSorted(), [0, 1]);
  lead('r3');
  assert.deepEqual(await watching.told(0), []);
  writeFileSync(join(dir, 'r3/app.conf'), 'three');
  assert.deepEqual((await watching.told(2)).toSorted(), [0, 1], 'what the link leads to now is watched');
});

test('a directory that takes the place of another on the way is watched again', async (t) => {
  const dir = temporaryDirectory();
  const path = join(dir, 'conf/app.conf');
  mkdirSync(join(dir, 'conf'));
  writeFileSync(path, 'one');
  const watching = await Watching.begin(t, [path]);
  mkdirSync(join(dir, 'new'));
  writeFileSync(join(dir, 'new/app.conf'), 'two');
  renameSync(join(dir, 'conf'), join(dir, 'old'));
  renameSync(join(dir, 'new'), join(dir, 'conf'));
  assert.deepEqual(await watching.told(1), [0]);
  writeFileSync(path, 'three');
  assert.deepEqual(await watching.told(1), [0]);
});

test('a file that is written slowly is reported when it settles, not with each write', async (t) => {
  const { path, watching } = await watchedFile(t);
  let rests = 0;
  let lastMs = performance.now();
  for (let part = 0; part < 30; part++) {
    await sleep(25);
    appendFileSync(path, 'more');
    const now = performance.now();
    // Where this machine has held us up for so long, the file did rest.
    if (now - lastMs >= SETTLE_MS) rests++;
    lastMs = now;
  }
  const { length } = await watching.told(1);
  assert.ok(length <= 1 + rests, `${length} changes with ${rests} rests`);
});

const hasMkfs = spawnSync('mkfs.ext4', ['-V'], { stdio: 'ignore' }).status === 0;

test('a second change within a second is seen on a volume that counts times in seconds', {
  skip: needsMount || (hasMkfs ? false : 'mkfs.ext4 is not installed'),
}, async (t) => {
  const { path, watching } = await watchedFile(t, 50, coarseVolume(t));
  for (const content of ['two', 'six', 'ten', 'one']) {
    // Written in place, so only the content differs. Two writes mostly fall into one second.
    writeFileSync(path, content);
    await waitFor('the change', () => watching.changes.length > 0);
    assert.deepEqual(watching.changes.splice(0), [0]);
  }
});

test('a file of more than 1 MiB is not read, and changes with its size, time or inode', async (t) => {
  const path = join(temporaryDirectory(), 'big');
  writeFileSync(path, 'x');
  truncateSync(path, 3_000_000_000);
  const watching = await Watching.begin(t, [path]);
  utimesSync(path, 1_000, 1_000);
  assert.deepEqual(await watching.told(1), [0]);
  truncateSync(path, 3_000_000_001);
  assert.deepEqual(await watching.told(1), [0]);
});

test('D10 a pipe, a device or a link to itself is not opened, and only the link is reported', async (t) => {
  const dir = temporaryDirectory();
  symlinkSync('self', join(dir, 'self'));
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  const watching = await Watching.begin(t, [join(dir, 'self'), join(dir, 'pipe'), '/dev/zero', dir]);
  assert.deepEqual(await watching.told(0), []);
  assert.deepEqual(watching.troubles, [
    `${dir}/self is not there yet: its first content will be no change; check --reload`,
  ]);
});

test('a closed watch reports nothing', async (t) => {
  const { path, watching } = await watchedFile(t);
  const changes: number[] = [];
  const reloads = [{ path, signal: SIGHUP, validate: undefined }];
  const onContent = (it: number, _digest: string, isChange: boolean) => isChange && changes.push(it);
  const other = new ReloadWatch({ reloads, onContent, onTrouble: () => {}, mayTell: () => true });
  other.start();
  await watching.settle();
  other.close();
  writeFileSync(path, 'two');
  assert.deepEqual(await watching.told(1), [0]);
  assert.deepEqual(changes, []);
});

test('a change since the last look of a predecessor is reported', async () => {
  const path = join(temporaryDirectory(), 'app.conf');
  writeFileSync(path, 'one');
  const reloads = [{ path, signal: SIGHUP, validate: undefined }];
  const look = async (known?: Record<number, string>): Promise<[string, boolean]> => {
    const seen = Promise.withResolvers<[string, boolean]>();
    const options = { reloads, onTrouble: seen.reject, ...(known && { known }) };
    const watch = new ReloadWatch({ ...options, mayTell: () => true, onContent: (_, ...it) => seen.resolve(it) });
    watch.start();
    const found = await within('a content is seen', seen.promise);
    watch.close();
    return found;
  };
  const [digest, isChange] = await look();
  assert.equal(isChange, false, 'nothing was known');
  writeFileSync(path, 'two');
  assert.equal((await look({ 0: digest }))[1], true);
});
