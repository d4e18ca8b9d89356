import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { formatTombstone, RESERVE_BYTES, type Tombstone } from '../../../src/core/format/tombstone.ts';
import { Store } from '../../../src/runtime/graveyard/store.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { Helper, needsMount, needsRoot, readOnlyView, tmpfs } from './volume.ts';

const FOREIGN_UID = 54_321;

function stone(name: string, more: Partial<Tombstone> = {}): string {
  return formatTombstone({ Version: 1, Name: name, ...more });
}

function mode(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8);
}

function fill(dir: string): void {
  assert.throws(() => {
    for (;;) writeFileSync(join(dir, 'ballast'), Buffer.alloc(4096), { flag: 'a' });
  }, /ENOSPC/);
}

/** Writes in a process of another uid and returns the outcome. */
async function writeAs(t: TestContext, dir: string, text: string): Promise<string> {
  const module = new URL('../../../src/runtime/graveyard/store.ts', import.meta.url).href;
  const writer = new Helper(
    t,
    `import { Store } from ${JSON.stringify(module)};
     const trouble = await new Store(${JSON.stringify(dir)}, 'a').write(${JSON.stringify(text)});
     console.log(trouble?.message ?? 'written');`,
    { uid: FOREIGN_UID },
  );
  return writer.line();
}

describe('Store.prepare', () => {
  it('B6 creates a missing directory with mode 1777 whatever the umask', async () => {
    const dir = join(temporaryDirectory(), 'graveyard');
    const before = process.umask(0o077);
    try {
      assert.equal(await new Store(dir, 'a', () => {}).prepare(), undefined);
    } finally {
      process.umask(before);
    }
    assert.equal(mode(dir), '1777');
  });

  it('leaves a directory as it was found', async () => {
    const dir = temporaryDirectory();
    chmodSync(dir, 0o750);
    assert.equal(await new Store(dir, 'a').prepare(), undefined);
    assert.equal(mode(dir), '750');
  });

  it('removes stale temporary files of its own name and nothing else', async () => {
    const dir = temporaryDirectory();
    const stays = ['.a-b.0123456789ab.tmp', '.a.sock', '.a.tmp', 'a', 'b'];
    for (const file of [...stays, '.a.0123456789ab.tmp']) writeFileSync(join(dir, file), '');
    await new Store(dir, 'a').prepare();
    assert.deepEqual(readdirSync(dir).sort(), stays);
  });

  it('says what stands against it and does not reject', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const trouble = await new Store(join(file, 'graveyard'), 'a').prepare();
    assert.match(trouble?.message ?? '', /^cannot prepare the graveyard .*ENOTDIR.*; a part of the path/);
  });
});

describe('Store.write', () => {
  it('writes a file of mode 0644 whatever the umask, and leaves no temporary file', async () => {
    const dir = temporaryDirectory();
    const before = process.umask(0o077);
    try {
      assert.equal(await new Store(dir, 'a').write(stone('a')), undefined);
    } finally {
      process.umask(before);
    }
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a'));
    assert.equal(mode(join(dir, 'a')), '644');
    assert.deepEqual(readdirSync(dir), ['a']);
  });

  it('replaces a link instead of writing through it', async () => {
    const dir = temporaryDirectory();
    const victim = join(temporaryDirectory(), 'victim');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, join(dir, 'a'));
    assert.equal(await new Store(dir, 'a').write(stone('a')), undefined);
    assert.equal(readFileSync(victim, 'utf8'), 'precious');
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a'));
  });

  it('carries out the last of many asked for meanwhile, and no promise is left behind', async () => {
    const dir = temporaryDirectory();
    const store = new Store(dir, 'a');
    const inodes = new Set<number>();
    const writes = Array.from({ length: 100 }, (_, count) => stone('a', { Restarts: count })).map((text) =>
      store.write(text).then((trouble) => {
        assert.equal(trouble, undefined);
        inodes.add(statSync(join(dir, 'a')).ino);
      }),
    );
    await Promise.all(writes);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a', { Restarts: 99 }));
    assert.equal(inodes.size, 2, 'the first and the last, none between');
  });

  it('resolves each promise only when its text, or a later one, is there', async () => {
    const dir = temporaryDirectory();
    const store = new Store(dir, 'a');
    const restarts = (): number => JSON.parse(readFileSync(join(dir, 'a'), 'utf8')).Restarts;
    const writes = [];
    for (let count = 0; count < 30; count++) {
      writes.push(store.write(stone('a', { Restarts: count })).then(() => assert.ok(restarts() >= count)));
      if (count % 7 === 0) await writes.at(-1);
    }
    await Promise.all(writes);
    assert.equal(restarts(), 29);
  });

  it('tells every caller whose write failed', async () => {
    const dir = temporaryDirectory();
    mkdirSync(join(dir, 'a'));
    const store = new Store(dir, 'a');
    const troubles = await Promise.all([1, 2, 3].map((count) => store.write(stone('a', { Restarts: count }))));
    for (const trouble of troubles)
      assert.match(trouble?.message ?? '', /^cannot write the tombstone .*EISDIR.*; a directory/);
    assert.deepEqual(readdirSync(dir), ['a']);
  });

  it('tells of the same trouble in the same words, so that it can be said once', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const store = new Store(file, 'a');
    const [first, second] = [await store.write(stone('a')), await store.write(stone('a', { Restarts: 1 }))];
    assert.match(first?.message ?? '', /^cannot write the tombstone .*ENOTDIR: not a directory; a part of the path/);
    assert.equal(first?.message, second?.message);
  });

  it('creates a deleted directory again', async () => {
    const dir = join(temporaryDirectory(), 'graveyard');
    const store = new Store(dir, 'a', () => {});
    await store.prepare();
    await store.write(stone('a'));
    rmSync(dir, { recursive: true });
    assert.equal(await store.write(stone('a', { Restarts: 1 })), undefined);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a', { Restarts: 1 }));
    assert.equal(mode(dir), '1777');
  });

  it('K08 writes a death on a full volume, in place over its reserve', { skip: needsMount }, async (t) => {
    const dir = tmpfs(t, 'size=64k');
    const store = new Store(dir, 'a');
    assert.equal(await store.write(stone('a', { Phase: 'running' })), undefined);
    fill(dir);
    const { ino } = statSync(join(dir, 'a'));
    assert.equal(await store.write(stone('a', { Phase: 'dead', ExitCode: 3 })), undefined);
    assert.equal(JSON.parse(readFileSync(join(dir, 'a'), 'utf8')).ExitCode, 3);
    assert.equal(statSync(join(dir, 'a')).ino, ino);
    assert.equal(statSync(join(dir, 'a')).size, RESERVE_BYTES);
    assert.deepEqual(readdirSync(dir).sort(), ['a', 'ballast']);
  });

  it('K08 says so when a full volume has no room for a first tombstone, and leaves no empty one', {
    skip: needsMount,
  }, async (t) => {
    const dir = tmpfs(t, 'size=64k');
    fill(dir);
    const store = new Store(dir, 'a');
    const trouble = await store.write(stone('a'));
    assert.match(trouble?.message ?? '', /^cannot write the tombstone .*ENOSPC.*; free space on the volume/);
    assert.deepEqual(readdirSync(dir), ['ballast']);
    rmSync(join(dir, 'ballast'));
    assert.equal(await store.tend(), undefined);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a'));
  });

  it('K08 leaves a smaller old file whole when a full volume cannot hold the new one', {
    skip: needsMount,
  }, async (t) => {
    const dir = tmpfs(t, 'size=64k');
    const old = 'Born: 2020-01-02T03:04:05Z\n';
    writeFileSync(join(dir, 'a'), old);
    fill(dir);
    assert.match((await new Store(dir, 'a').write(stone('a')))?.message ?? '', /ENOSPC/);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), old);
  });

  it('K07 replaces a file of another uid in a directory without sticky bit', { skip: needsRoot }, async (t) => {
    const dir = temporaryDirectory();
    chmodSync(dir, 0o777);
    writeFileSync(join(dir, 'a'), 'of root');
    assert.equal(await writeAs(t, dir, stone('a')), 'written');
    assert.equal(statSync(join(dir, 'a')).uid, FOREIGN_UID);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a'));
  });

  it('K07 says so where the sticky bit protects the file of another uid, which stays whole', {
    skip: needsRoot,
  }, async (t) => {
    const dir = temporaryDirectory();
    chmodSync(dir, 0o1777);
    writeFileSync(join(dir, 'a'), 'of root');
    assert.match(await writeAs(t, dir, stone('a')), /^cannot write .*EPERM.*sticky directory: remove it/);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), 'of root');
    assert.deepEqual(readdirSync(dir), ['a']);
  });

  it('K07 writes its own file in place in a directory that it may not write', { skip: needsRoot }, async (t) => {
    const dir = temporaryDirectory();
    chmodSync(dir, 0o755);
    writeFileSync(join(dir, 'a'), `${'x'.repeat(RESERVE_BYTES)}too long`);
    chownSync(join(dir, 'a'), FOREIGN_UID, FOREIGN_UID);
    assert.equal(await writeAs(t, dir, stone('a')), 'written');
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a'));
  });

  it('K07 writes in place neither through a link nor into a second name of a file', { skip: needsRoot }, async (t) => {
    const outside = temporaryDirectory();
    chmodSync(outside, 0o755);
    const victim = join(outside, 'victim');
    writeFileSync(victim, 'precious');
    chownSync(victim, FOREIGN_UID, FOREIGN_UID);
    for (const plant of [symlinkSync, linkSync]) {
      const dir = join(outside, plant.name);
      mkdirSync(dir);
      plant(victim, join(dir, 'a'));
      assert.match(await writeAs(t, dir, stone('a')), /^cannot write .*EACCES.*; make the directory writable/);
      assert.equal(readFileSync(victim, 'utf8'), 'precious');
    }
  });

  it('K07 says so on a read-only volume', { skip: needsMount }, async (t) => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'a'), stone('a'));
    const trouble = await new Store(readOnlyView(t, dir), 'a').write(stone('a', { Restarts: 1 }));
    assert.match(trouble?.message ?? '', /^cannot write the tombstone .*EROFS.*; mount the volume without readOnly/);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a'));
  });
});

describe('Store.tend', () => {
  it('writes nothing before the first write, and nothing when all is well', async () => {
    const dir = temporaryDirectory();
    const store = new Store(dir, 'a');
    await store.tend();
    assert.deepEqual(readdirSync(dir), []);
    await store.write(stone('a'));
    const { ino } = statSync(join(dir, 'a'));
    await store.tend();
    assert.equal(statSync(join(dir, 'a')).ino, ino);
  });

  it('writes the last text again after the file or the directory went away', async () => {
    const dir = join(temporaryDirectory(), 'graveyard');
    const store = new Store(dir, 'a', () => {});
    await store.prepare();
    await store.write(stone('a'));
    rmSync(join(dir, 'a'));
    await store.tend();
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a'));
    renameSync(dir, `${dir}-away`);
    await store.tend();
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a'));
  });

  it('succeeds later after a write that failed', async () => {
    const dir = temporaryDirectory();
    const store = new Store(dir, 'a');
    mkdirSync(join(dir, 'a'));
    assert.notEqual(await store.write(stone('a')), undefined);
    const trouble = await store.tend();
    assert.match(typeof trouble === 'object' ? trouble.message : '', /EISDIR/);
    rmSync(join(dir, 'a'), { recursive: true });
    assert.equal(await store.tend(), undefined);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a'));
  });
});

describe('Store.close', () => {
  it('writes what was asked for and begins nothing else, so that a process that ends leaves no half-written file', async () => {
    const dir = temporaryDirectory();
    const store = new Store(dir, 'a');
    void store.write(stone('a', { Phase: 'running' }));
    void store.write(stone('a', { Phase: 'dead' }));
    const closed = store.close();
    const late = store.write(stone('a', { Phase: 'dead', Reason: 'lost' }));
    await closed;
    // Whoever leaves now takes nothing with him that was begun.
    assert.deepEqual(readdirSync(dir), ['a']);
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a', { Phase: 'dead' }));
    await late;
    assert.equal(await store.tend(), 'idle');
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), stone('a', { Phase: 'dead' }));
  });
});
