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
import { volumeAt } from '../../../src/runtime/graveyard/volume.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { Helper, needsMount, needsRoot, readOnlyView, tmpfs } from './volume.ts';

const FOREIGN_UID = 54_321;

function stone(more: Partial<Tombstone> = {}): string {
  return formatTombstone({ Version: 1, Name: 'a', ...more });
}

function textIn(dir: string): string {
  return readFileSync(join(dir, 'a'), 'utf8');
}

function mode(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8);
}

async function underUmask077<T>(work: () => Promise<T>): Promise<T> {
  const before = process.umask(0o077);
  return work().finally(() => process.umask(before));
}

function fill(dir: string): void {
  assert.throws(() => {
    for (;;) writeFileSync(join(dir, 'ballast'), Buffer.alloc(4096), { flag: 'a' });
  }, /ENOSPC/);
}

/** Writes in a process of another uid and returns the outcome. */
async function writeAs(t: TestContext, dir: string): Promise<string> {
  const module = new URL('../../../src/runtime/graveyard/store.ts', import.meta.url).href;
  const writer = new Helper(
    t,
    `import { Store } from ${JSON.stringify(module)};
     import { volumeAt } from ${JSON.stringify(new URL('volume.ts', module).href)};
     const trouble = await new Store(volumeAt(${JSON.stringify(dir)}), 'a').write(${JSON.stringify(stone())});
     console.log(trouble?.message ?? 'written');`,
    { uid: FOREIGN_UID },
  );
  return writer.line();
}

describe('Store.prepare', () => {
  it('Store.prepare leaves a directory as it is, but for its own stale temporary files', async () => {
    const dir = temporaryDirectory();
    chmodSync(dir, 0o750);
    const stays = ['.a-b.0123456789ab.tmp', '.a.sock', '.a.tmp', 'a', 'b'];
    for (const file of [...stays, '.a.0123456789ab.tmp']) writeFileSync(join(dir, file), '');
    assert.equal(await new Store(volumeAt(dir), 'a').prepare(), undefined);
    assert.equal(mode(dir), '750');
    assert.deepEqual(readdirSync(dir).sort(), stays);
  });

  it('Store.prepare reports a failure and does not reject', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const trouble = await new Store(volumeAt(join(file, 'graveyard')), 'a').prepare();
    assert.match(trouble?.message ?? '', /^cannot prepare the graveyard .*ENOTDIR.*; a part of the path/);
  });
});

describe('Store.write', () => {
  it('Store.write writes a file of mode 0644 whatever the umask, and leaves no temporary file', async () => {
    const dir = temporaryDirectory();
    assert.equal(await underUmask077(() => new Store(volumeAt(dir), 'a').write(stone())), undefined);
    assert.equal(textIn(dir), stone());
    assert.equal(mode(join(dir, 'a')), '644');
    assert.deepEqual(readdirSync(dir), ['a']);
  });

  it('Store.write replaces a link instead of writing through it', async () => {
    const dir = temporaryDirectory();
    const victim = join(temporaryDirectory(), 'victim');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, join(dir, 'a'));
    assert.equal(await new Store(volumeAt(dir), 'a').write(stone()), undefined);
    assert.equal(readFileSync(victim, 'utf8'), 'precious');
    assert.equal(textIn(dir), stone());
  });

  it('Store.write does only the last of 100 writes that come during the first, and then resolves', async () => {
    const dir = temporaryDirectory();
    const store = new Store(volumeAt(dir), 'a');
    const inodes = new Set<number>();
    const writes = Array.from({ length: 100 }, (_, count) => stone({ Restarts: count })).map((text) =>
      store.write(text).then((trouble) => {
        assert.equal(trouble, undefined);
        inodes.add(statSync(join(dir, 'a')).ino);
        return textIn(dir);
      }),
    );
    assert.ok((await Promise.all(writes)).every((text, count) => JSON.parse(text).Restarts >= count));
    assert.equal(textIn(dir), stone({ Restarts: 99 }));
    assert.equal(inodes.size, 2, 'the first and the last, none between');
  });

  it('Store.write reports one failure to each caller in the same words, and succeeds later', async () => {
    const dir = temporaryDirectory();
    mkdirSync(join(dir, 'a'));
    const store = new Store(volumeAt(dir), 'a');
    const troubles = await Promise.all([1, 2, 3].map((count) => store.write(stone({ Restarts: count }))));
    const messages = [...troubles, await store.tend()].map((it) => (typeof it === 'object' ? it.message : it));
    assert.match(messages[0] ?? '', /^cannot write the tombstone .*EISDIR.*; a directory/);
    assert.equal(new Set(messages).size, 1);
    assert.deepEqual(readdirSync(dir), ['a']);
    rmSync(join(dir, 'a'), { recursive: true });
    assert.equal(await store.tend(), undefined);
    assert.equal(textIn(dir), stone({ Restarts: 3 }));
  });

  it('B6 Store.write creates a missing or deleted directory with mode 1777 whatever the umask', async () => {
    const dir = join(temporaryDirectory(), 'graveyard');
    const store = new Store(volumeAt(dir), 'a', () => {});
    assert.equal(await underUmask077(() => store.prepare()), undefined);
    assert.equal(mode(dir), '1777');
    await store.write(stone());
    rmSync(dir, { recursive: true });
    assert.equal(await underUmask077(() => store.write(stone({ Restarts: 1 }))), undefined);
    assert.equal(textIn(dir), stone({ Restarts: 1 }));
    assert.equal(mode(dir), '1777');
  });

  it('K08 Store.write writes a death on a full volume, in place over its reserve', { skip: needsMount }, async (t) => {
    const dir = tmpfs(t, 'size=64k');
    const store = new Store(volumeAt(dir), 'a');
    assert.equal(await store.write(stone({ Phase: 'running' })), undefined);
    fill(dir);
    const { ino } = statSync(join(dir, 'a'));
    assert.equal(await store.write(stone({ Phase: 'dead', ExitCode: 3 })), undefined);
    assert.equal(textIn(dir), stone({ Phase: 'dead', ExitCode: 3 }));
    assert.deepEqual([statSync(join(dir, 'a')).ino, statSync(join(dir, 'a')).size], [ino, RESERVE_BYTES]);
    assert.deepEqual(readdirSync(dir).sort(), ['a', 'ballast']);
  });

  it('K08 Store.write reports a volume without room for the tombstone, and leaves no torn file', {
    skip: needsMount,
  }, async (t) => {
    const dir = tmpfs(t, 'size=64k');
    const smaller = 'Born: 2020-01-02T03:04:05Z\n';
    writeFileSync(join(dir, 'b'), smaller);
    fill(dir);
    const store = new Store(volumeAt(dir), 'a');
    const trouble = await store.write(stone());
    assert.match(trouble?.message ?? '', /^cannot write the tombstone .*ENOSPC.*; free space on the volume/);
    assert.match((await new Store(volumeAt(dir), 'b').write(stone()))?.message ?? '', /ENOSPC/);
    assert.deepEqual(readdirSync(dir).sort(), ['b', 'ballast']);
    assert.equal(readFileSync(join(dir, 'b'), 'utf8'), smaller);
    rmSync(join(dir, 'ballast'));
    assert.equal(await store.tend(), undefined);
    assert.equal(textIn(dir), stone());
  });

  const written = /^written$/;
  for (const [title, dirMode, owner, outcome] of [
    ['replaces a file of another uid in a directory without sticky bit', 0o777, 0, written],
    ['leaves a file of another uid whole in a sticky directory', 0o1777, 0, /^cannot write .*EPERM.*sticky directory:/],
    ['overwrites its own file in a directory that it may not write', 0o755, FOREIGN_UID, written],
  ] as const) {
    it(`K07 ${title}`, { skip: needsRoot }, async (t) => {
      const dir = temporaryDirectory();
      chmodSync(dir, dirMode);
      const old = `${'x'.repeat(RESERVE_BYTES)}too long`;
      writeFileSync(join(dir, 'a'), old);
      chownSync(join(dir, 'a'), owner, owner);
      assert.match(await writeAs(t, dir), outcome);
      assert.equal(textIn(dir), outcome === written ? stone() : old);
      assert.deepEqual(readdirSync(dir), ['a']);
    });
  }

  it('K07 Store.write overwrites neither through a link nor a second name of a file', {
    skip: needsRoot,
  }, async (t) => {
    const outside = temporaryDirectory();
    chmodSync(outside, 0o755);
    const victim = join(outside, 'victim');
    writeFileSync(victim, 'precious');
    chownSync(victim, FOREIGN_UID, FOREIGN_UID);
    for (const plant of [symlinkSync, linkSync]) {
      const dir = join(outside, plant.name);
      mkdirSync(dir);
      plant(victim, join(dir, 'a'));
      assert.match(await writeAs(t, dir), /^cannot write .*EACCES.*; make the directory writable/);
      assert.equal(readFileSync(victim, 'utf8'), 'precious');
    }
  });

  it('K07 Store.write reports a read-only volume', { skip: needsMount }, async (t) => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'a'), stone());
    const trouble = await new Store(volumeAt(readOnlyView(t, dir)), 'a').write(stone({ Restarts: 1 }));
    assert.match(trouble?.message ?? '', /^cannot write the tombstone .*EROFS.*; mount the volume without readOnly/);
    assert.equal(textIn(dir), stone());
  });
});

describe('Store.tend', () => {
  it('Store.tend writes the last text again only after the file or the directory went away', async () => {
    const dir = join(temporaryDirectory(), 'graveyard');
    const store = new Store(volumeAt(dir), 'a', () => {});
    await store.prepare();
    assert.equal(await store.tend(), 'idle');
    assert.deepEqual(readdirSync(dir), []);
    await store.write(stone());
    assert.equal(await store.tend(), 'idle');
    for (const remove of [() => rmSync(join(dir, 'a')), () => renameSync(dir, `${dir}-away`)]) {
      remove();
      await store.tend();
      assert.equal(textIn(dir), stone());
    }
  });
});

describe('Store.close', () => {
  it('Store.close finishes the writes that were asked for and begins no other', async () => {
    const dir = temporaryDirectory();
    const store = new Store(volumeAt(dir), 'a');
    void store.write(stone({ Phase: 'running' }));
    void store.write(stone({ Phase: 'dead' }));
    const closed = store.close();
    const late = store.write(stone({ Phase: 'dead', Reason: 'lost' }));
    await closed;
    assert.deepEqual(readdirSync(dir), ['a']);
    assert.equal(textIn(dir), stone({ Phase: 'dead' }));
    await late;
    assert.equal(await store.tend(), 'idle');
    assert.equal(textIn(dir), stone({ Phase: 'dead' }));
  });
});
