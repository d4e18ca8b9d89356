import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { withLock } from '../../src/delivery/lock.ts';

async function lockPath(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'sx-lock-'));
  t.after(() => rm(dir, { recursive: true }));
  return join(dir, 'lock');
}

test('two builds take turns', async (t) => {
  const path = await lockPath(t);
  let running = 0;
  const build = async (): Promise<number> => {
    running += 1;
    const seen = running;
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return seen;
  };
  assert.deepEqual(await Promise.all([withLock(path, build), withLock(path, build)]), [1, 1]);
  assert.equal(existsSync(path), false);
});

test('a lock whose owner is gone is taken over', async (t) => {
  const path = await lockPath(t);
  const { pid } = spawnSync('true');
  mkdirSync(path);
  writeFileSync(join(path, 'pid'), String(pid));
  assert.equal(await withLock(path, async () => 'built'), 'built');
});

test('a build that fails leaves no lock', async (t) => {
  const path = await lockPath(t);
  await assert.rejects(
    withLock(path, () => Promise.reject(new Error('no compiler'))),
    /no compiler/,
  );
  assert.equal(existsSync(path), false);
});
