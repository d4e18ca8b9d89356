/** A graveyard that is a subdirectory of a shared volume: another container can put a link in its place. */
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
import { temporaryDirectory } from '../../helpers/temporary.ts';

const FILE = '.a.0123456789ab.stop';

interface Swapped {
  readonly dir: string;
  /** The directory that the link leads to: the victim's own. */
  readonly own: string;
  swap(): void;
}

function shared(): Swapped {
  const volume = temporaryDirectory();
  const own = temporaryDirectory();
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

describe('a graveyard in whose place a link is put', () => {
  it('B5 what the link leads to is not written to, and a directory that is there again is', async () => {
    const { dir, own, swap } = shared();
    writeFileSync(join(own, 'a'), 'the own file of the victim');
    const store = new Store(dir, 'a', () => {});
    assert.equal(await store.prepare(), undefined);
    assert.equal(await store.write(stone('running')), undefined);
    swap();
    const trouble = await store.write(stone('stopping'));
    assert.equal(
      trouble?.message,
      `cannot write the tombstone ${dir}/a: ${dir} is a symbolic link; name the directory itself: a link is not followed`,
    );
    assert.notEqual(await store.tend(), 'idle');
    assert.deepEqual(readdirSync(own), ['a']);
    assert.equal(readFileSync(join(own, 'a'), 'utf8'), 'the own file of the victim');
    rmSync(dir);
    mkdirSync(dir);
    assert.equal(await store.tend(), undefined);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('stopping'));
  });

  it('B5 nothing is removed where the link leads to, at a start, for another session, or as a request', async () => {
    const { dir, own, swap } = shared();
    for (const file of ['.a.0123456789ab.tmp', 'b', FILE]) writeFileSync(join(own, file), '{}');
    swap();
    const store = new Store(dir, 'a', () => {});
    assert.match((await store.prepare())?.message ?? '', /is a symbolic link/);
    const request = {
      Version: 1,
      Boot: 'b',
      Incarnation: 'h',
      By: 'x',
      At: '2026-01-02T03:04:05Z',
      RequestedMonotonic: 1,
    };
    writeFileSync(join(own, FILE), JSON.stringify(request));
    const asked: unknown[] = [];
    const inbox = new Inbox({
      dir,
      self: () => ({ boot: 'b', host: 'h' }),
      onAsked: (ask) => asked.push(ask),
      onTrouble: () => {},
    });
    await inbox.take(FILE);
    assert.equal(asked.length, 1);
    assert.deepEqual(readdirSync(own).sort(), ['.a.0123456789ab.tmp', FILE, 'b'].sort());
  });

  it('B5 no request is left where the link leads to', async () => {
    const { dir, own, swap } = shared();
    swap();
    const left = await leaveRequest(dir, 'a', {
      Version: 1,
      Boot: 'b',
      Incarnation: 'h',
      By: 'x',
      At: '2026-01-02T03:04:05Z',
      RequestedMonotonic: 1,
    });
    assert.match(left.ok ? '' : left.trouble.message, /^cannot ask a to stop: .* is a symbolic link/);
    assert.deepEqual(readdirSync(own), []);
  });
});

describe('a graveyard that is not there', () => {
  it('B6 is made when it was named: one level, for all users, sticky, and told', async () => {
    const dir = join(temporaryDirectory(), 'graveyard');
    const made: string[] = [];
    assert.equal(await new Store(dir, 'a', (path) => made.push(path)).prepare(), undefined);
    assert.deepEqual([existsSync(dir), made], [true, [dir]]);
    const deep = join(temporaryDirectory(), 'no', 'graveyard');
    const trouble = await new Store(deep, 'a', (path) => made.push(path)).prepare();
    assert.match(trouble?.message ?? '', /ENOENT: no such file or directory; mount the shared volume there$/);
    assert.equal(made.length, 1);
  });

  it('B6 is not made when nobody named it, and is taken when it appears', async () => {
    const dir = join(temporaryDirectory(), 'graveyard');
    const store = new Store(dir, 'a', undefined);
    assert.match((await store.prepare())?.message ?? '', /ENOENT/);
    assert.match((await store.write(stone('running')))?.message ?? '', /ENOENT/);
    assert.equal(existsSync(dir), false);
    mkdirSync(dir);
    assert.equal(await store.tend(), undefined);
    assert.ok(existsSync(join(dir, 'a')));
  });
});

function stone(Phase: 'running' | 'stopping'): string {
  return formatTombstone({ Version: 1, Name: 'a', Phase });
}
