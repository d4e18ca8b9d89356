import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { lstatSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withLock } from '../../src/delivery/lock.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';

const isHeld = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

test('two builds take turns', async () => {
  const path = join(temporaryDirectory(), 'lock');
  let running = 0;
  const build = async (): Promise<number> => {
    running += 1;
    const seen = running;
    assert.ok(isHeld(path));
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return seen;
  };
  assert.deepEqual(await Promise.all([withLock(path, build), withLock(path, build)]), [1, 1]);
  assert.ok(!isHeld(path));
});

test('a lock whose owner is gone is taken over', async () => {
  const path = join(temporaryDirectory(), 'lock');
  const { pid } = spawnSync('true');
  symlinkSync(String(pid), path);
  assert.equal(await withLock(path, async () => 'built'), 'built');
});

test('a build that fails leaves no lock', async () => {
  const path = join(temporaryDirectory(), 'lock');
  await assert.rejects(
    withLock(path, () => Promise.reject(new Error('no compiler'))),
    /no compiler/,
  );
  assert.ok(!isHeld(path));
});
