/**
 * What a rescan need not read again, and what it must.
 */
import assert from 'node:assert/strict';
import { renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatTombstone } from '../../../src/core/format/tombstone.ts';
import { Unchanged } from '../../../src/runtime/graveyard/unchanged.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { waitFor } from '../../helpers/wait.ts';
import { graveyardOf, latest, writeTombstone } from './neighbours.ts';
import { needsMount, tmpfs } from './volume.ts';

describe('a rescan', () => {
  it('does not read a file again that is what it was', async () => {
    const { unchanged, path } = await settled();
    assert.equal(await unchanged.compare('main'), true);
    writeFileSync(path, 'other');
    assert.equal(await unchanged.compare('main'), false);
  });

  it('reads a file again that was changed less than a second ago', async () => {
    const dir = temporaryDirectory();
    const unchanged = new Unchanged(dir);
    await unchanged.begin();
    await writeFile(join(dir, 'main'), 'young');
    const isTooYoung = Date.now() - statSync(join(dir, 'main')).ctimeMs < 500;
    const [first, second] = [await unchanged.compare('main'), await unchanged.compare('main')];
    const isStillYoung = Date.now() - statSync(join(dir, 'main')).ctimeMs < 1_000;
    // On a machine that slept in between nothing is to be learned.
    if (isTooYoung && isStillYoung) assert.deepEqual([first, second], [false, false]);
  });

  it('reads a file again whose size and times were made what they were', async () => {
    const { unchanged, path } = await settled();
    const { atime, mtime } = statSync(path);
    writeFileSync(path, 'first'.toUpperCase());
    utimesSync(path, atime, mtime);
    assert.equal(await unchanged.compare('main'), false);
  });

  it('reads a file again that another one took the place of', async () => {
    const { unchanged, path } = await settled();
    writeFileSync(`${path}.new`, 'first');
    renameSync(`${path}.new`, path);
    assert.equal(await unchanged.compare('main'), false);
  });

  it('reads every file again where the volume is not known to be this machine’s own', async (t) => {
    const unchanged = new Unchanged('/proc/self');
    await unchanged.begin();
    assert.equal(await unchanged.compare('limits'), false);
    assert.equal(await unchanged.compare('limits'), false);
    t.diagnostic('procfs stands for NFS: neither is among those that are trusted');
  });

  it('tells of a member that was written in place long ago, and then again', { skip: needsMount }, async (t) => {
    const dir = tmpfs(t, 'size=1m');
    writeTombstone(dir, 'main');
    await waitFor('the file has settled', () => Date.now() - statSync(join(dir, 'main')).ctimeMs > 1_100);
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await graveyard.rescan();
    // In place and of the same size, as on a full volume.
    writeFileSync(
      join(dir, 'main'),
      formatTombstone({ Version: 1, Name: 'main', Incarnation: 'first-1', Restarts: 7 }),
    );
    await graveyard.rescan();
    assert.equal(latest(peers, 'main').tombstone.Restarts, 7);
  });
});

/** A file that is older than a second and was looked at. */
async function settled(): Promise<{ unchanged: Unchanged; path: string }> {
  const dir = temporaryDirectory();
  const path = join(dir, 'main');
  writeFileSync(path, 'first');
  const unchanged = new Unchanged(dir);
  await unchanged.begin();
  await waitFor('the file has settled', () => Date.now() - statSync(path).ctimeMs > 1_100);
  assert.equal(await unchanged.compare('main'), false);
  return { unchanged, path };
}
