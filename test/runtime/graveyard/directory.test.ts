/** A graveyard in a subdirectory of a shared volume, where another container can put a link in its place. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatTombstone } from '../../../src/core/format/tombstone.ts';
import { Inbox } from '../../../src/runtime/graveyard/inbox.ts';
import { leaveRequest } from '../../../src/runtime/graveyard/leave-request.ts';
import { Store } from '../../../src/runtime/graveyard/store.ts';
import { volumeAt } from '../../../src/runtime/graveyard/volume.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';

const FILE = '.a.0123456789ab.stop';
const REQUEST = {
  Version: 1,
  Boot: 'b',
  Incarnation: 'h',
  By: 'x',
  At: '2026-01-02T03:04:05Z',
  RequestedMonotonic: 1,
} as const;

/** `own`: the victim's own directory, to which the link leads after `swap`. */
function shared(): { readonly dir: string; readonly own: string; swap(): void } {
  const [volume, own] = [temporaryDirectory(), temporaryDirectory()];
  const dir = join(volume, 'graveyard');
  mkdirSync(dir);
  return {
    dir,
    own,
    swap: () => {
      renameSync(dir, join(volume, 'away'));
      symlinkSync(own, dir);
    },
  };
}

function stone(Phase: 'running' | 'stopping'): string {
  return formatTombstone({ Version: 1, Name: 'a', Phase });
}

describe('a link in place of the graveyard', () => {
  it('B5 a link stops all writes until the directory is back', async () => {
    const { dir, own, swap } = shared();
    writeFileSync(join(own, 'a'), 'the own file of the victim');
    const store = new Store(volumeAt(dir), 'a', () => {});
    assert.equal(await store.prepare(), undefined);
    assert.equal(await store.write(stone('running')), undefined);
    swap();
    const trouble = await store.write(stone('stopping'));
    assert.equal(
      trouble?.message,
      `cannot write the tombstone ${dir}/a: ${dir} is a symbolic link; name the directory itself: a link is not followed`,
    );
    assert.notEqual(await store.tend(), 'idle');
    const left = await leaveRequest(dir, 'a', REQUEST);
    assert.match(left.ok ? '' : left.trouble.message, /^cannot ask a to stop: .* is a symbolic link/);
    assert.deepEqual(readdirSync(own), ['a']);
    assert.equal(readFileSync(join(own, 'a'), 'utf8'), 'the own file of the victim');
    rmSync(dir);
    mkdirSync(dir);
    assert.equal(await store.tend(), undefined);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('stopping'));
  });

  it('B5 a link keeps a start and a taken request from removing files where it leads', async () => {
    const { dir, own, swap } = shared();
    const files = [FILE, '.a.0123456789ab.tmp'];
    for (const file of files) writeFileSync(join(own, file), JSON.stringify(REQUEST));
    swap();
    assert.match((await new Store(volumeAt(dir), 'a', () => {}).prepare())?.message ?? '', /is a symbolic link/);
    const asked: unknown[] = [];
    const onAsked = (ask: unknown): void => void asked.push(ask);
    const self = () => ({ boot: 'b', host: 'h' });
    const inbox = new Inbox({ volume: volumeAt(dir), self, onAsked, onTrouble: () => {} });
    await inbox.take(FILE);
    await inbox.settle();
    assert.equal(asked.length, 1);
    assert.deepEqual(readdirSync(own).sort(), files);
  });
});

describe('a missing graveyard', () => {
  it('B6 a missing graveyard is created and reported where it is configured, but not its parents', async () => {
    const dir = join(temporaryDirectory(), 'graveyard');
    const made: string[] = [];
    const prepare = (path: string) => new Store(volumeAt(path), 'a', (it) => made.push(it)).prepare();
    assert.equal(await prepare(dir), undefined);
    assert.deepEqual([existsSync(dir), made], [true, [dir]]);
    const trouble = await prepare(join(temporaryDirectory(), 'no', 'graveyard'));
    assert.match(trouble?.message ?? '', /ENOENT: no such file or directory; mount the shared volume there$/);
    assert.equal(made.length, 1);
  });

  it('B6 a missing graveyard is not created where it is not configured, and is used once there', async () => {
    const dir = join(temporaryDirectory(), 'graveyard');
    const store = new Store(volumeAt(dir), 'a', undefined);
    assert.match((await store.prepare())?.message ?? '', /ENOENT/);
    assert.match((await store.write(stone('running')))?.message ?? '', /ENOENT/);
    assert.equal(existsSync(dir), false);
    mkdirSync(dir);
    assert.equal(await store.tend(), undefined);
    assert.ok(existsSync(join(dir, 'a')));
  });
});
