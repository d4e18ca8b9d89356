import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatTombstone } from '../../../src/core/format/tombstone.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { graveyardOf, latest, listen, TIME, view, writeTombstone } from './neighbours.ts';
import { Helper, mountPoint, needsMount, tmpfs } from './volume.ts';

const NODE_MODULES = new URL('../../../', import.meta.url).pathname;

describe('Graveyard', () => {
  it('tells of an empty graveyard once, by the time it has started', async (t) => {
    const { graveyard, peers } = graveyardOf(t, temporaryDirectory());
    await graveyard.start();
    assert.deepEqual(peers.items, [[]]);
    await graveyard.rescan();
    assert.deepEqual(peers.items, [[]]);
  });

  it('K01 sees a death from before the watch, and that it was there at the start', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a', { Died: TIME, ExitCode: 0 });
    writeTombstone(dir, 'b');
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    assert.equal(peers.items.length, 1);
    const a = latest(peers, 'a');
    assert.deepEqual([a.tombstone.Died, a.foundAtStart, a.vanished, a.liveness], [TIME, true, false, 'none']);
    writeTombstone(dir, 'b', { Died: TIME, ExitCode: 0 });
    await peers.until((list) => view(list, 'b')?.tombstone.Died === TIME);
    assert.equal(latest(peers, 'b').foundAtStart, false);
    writeTombstone(dir, 'a', { Incarnation: 'second-1' });
    await peers.until((list) => view(list, 'a')?.tombstone.Incarnation === 'second-1');
    assert.equal(latest(peers, 'a').foundAtStart, false);
  });

  it('K01 sees a death that falls between the first scan and the watch', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a');
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    writeTombstone(dir, 'a', { Died: TIME });
    await peers.until((list) => view(list, 'a')?.tombstone.Died === TIME);
  });

  it('never tells of its own tombstone', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'me');
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    writeTombstone(dir, 'me', { Died: TIME });
    writeTombstone(dir, 'a');
    await peers.until((list) => view(list, 'a') !== undefined);
    assert.ok(peers.items.every((list) => view(list, 'me') === undefined));
  });

  it('sees a birth, a change in place and a removal, and keeps the last view of what was removed', async (t) => {
    const dir = temporaryDirectory();
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    writeTombstone(dir, 'a');
    await peers.until((list) => view(list, 'a') !== undefined);
    writeFileSync(join(dir, 'a'), formatTombstone({ Version: 1, Name: 'a', Phase: 'draining' }));
    await peers.until((list) => view(list, 'a')?.tombstone.Phase === 'draining');
    unlinkSync(join(dir, 'a'));
    const gone = await peers.until((list) => view(list, 'a')?.vanished === true);
    assert.equal(view(gone, 'a')?.tombstone.Phase, 'draining');
    assert.equal(view(gone, 'a')?.tombstone.Died, undefined);
    writeTombstone(dir, 'a', { Phase: 'running' });
    await peers.until((list) => view(list, 'a')?.vanished === false && view(list, 'a')?.tombstone.Phase === 'running');
  });

  it('forgets the oldest of very many that are dead and gone, and nobody who may live', async (t) => {
    const dir = temporaryDirectory();
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    writeTombstone(dir, 'may-live');
    await graveyard.rescan();
    unlinkSync(join(dir, 'may-live'));
    await graveyard.rescan();
    for (const pod of ['first', 'second']) {
      const names = Array.from({ length: 80 }, (_, index) => `${pod}-${1000 + index}`);
      for (const name of names) writeTombstone(dir, name, { Died: TIME });
      await graveyard.rescan();
      for (const name of names) unlinkSync(join(dir, name));
      await graveyard.rescan();
    }
    assert.equal(latest(peers, 'may-live').vanished, true);
    assert.equal(latest(peers, 'second-1000').vanished, true);
    assert.equal(peers.items.at(-1)?.length, 128);
    assert.ok(peers.items.at(-1)?.every(({ tombstone: { Name } }) => Name !== 'first-1000'));
  });

  it('sees the last of 25 rapid changes and tells no older state after it', async (t) => {
    const dir = temporaryDirectory();
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    for (let count = 1; count <= 25; count++) writeTombstone(dir, 'a', { Restarts: count });
    await peers.until((list) => view(list, 'a')?.tombstone.Restarts === 25);
    await graveyard.rescan();
    const seen = peers.items.flatMap((list) => view(list, 'a')?.tombstone.Restarts ?? []);
    assert.deepEqual(
      seen,
      [...new Set(seen)].sort((a, b) => a - b),
    );
    assert.equal(seen.at(-1), 25);
  });

  it('never acts upon a file that another process writes byte by byte', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a', { Phase: 'running' });
    const { graveyard, peers, troubles } = graveyardOf(t, dir);
    await graveyard.start();
    const dead = { Version: 1, Name: 'a', Phase: 'dead', Died: TIME, ExitCode: 0 } as const;
    const writer = new Helper(
      t,
      `import { openSync, writeSync } from 'node:fs';
       const file = openSync(${JSON.stringify(join(dir, 'a'))}, 'w');
       for (const byte of Buffer.from(${JSON.stringify(formatTombstone(dead).trimEnd())})) writeSync(file, Buffer.of(byte));`,
    );
    const looking = setInterval(() => void graveyard.rescan(), 1);
    t.after(() => clearInterval(looking));
    await peers.until((list) => view(list, 'a')?.tombstone.Died !== undefined);
    clearInterval(looking);
    assert.deepEqual(latest(peers, 'a').tombstone, dead);
    const phases = peers.items.map((list) => view(list, 'a')?.tombstone.Phase);
    assert.deepEqual(new Set(phases), new Set(['running', 'dead']));
    assert.ok(peers.items.every((list) => view(list, 'a')?.vanished === false));
    assert.deepEqual(troubles.items, []);
    await writer.kill();
  });

  it('reads a half written file again without any event, and warns only of one that stays so', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a');
    const { graveyard, peers, troubles } = graveyardOf(t, dir);
    await graveyard.start();
    writeFileSync(join(dir, 'a'), '{"Version": 1,');
    const warning = await troubles.until(() => true);
    assert.match(warning, /^ignored "a" in the graveyard .*: not complete JSON$/);
    assert.equal(peers.items.length, 1, 'nothing was told of it');
    writeTombstone(dir, 'a', { Died: TIME });
    await peers.until((list) => view(list, 'a')?.tombstone.Died === TIME);
  });

  it('K17 ignores links, FIFOs, directories, huge files and odd names, with one warning each', async (t) => {
    const dir = temporaryDirectory();
    const outside = join(temporaryDirectory(), 'outside');
    writeFileSync(outside, formatTombstone({ Version: 1, Name: 'link', Died: TIME }));
    symlinkSync(outside, join(dir, 'link'));
    execFileSync('mkfifo', [join(dir, 'fifo')]);
    mkdirSync(join(dir, 'folder'));
    writeTombstone(join(dir, 'folder'), 'inner', { Died: TIME });
    writeFileSync(join(dir, 'huge'), ' '.repeat(70_000));
    writeFileSync(join(dir, 'x, main'), formatTombstone({ Version: 1, Name: 'main', Died: TIME }));
    const { graveyard, peers, troubles } = graveyardOf(t, dir);
    await graveyard.start();
    await graveyard.rescan();
    writeFileSync(join(dir, 'folder', 'inner'), 'changed');
    writeTombstone(dir, 'a');
    await peers.until((list) => view(list, 'a') !== undefined);
    assert.equal(peers.items.at(-1)?.length, 1);
    const named = troubles.items.map((message) => /^ignored (".*") in the graveyard/.exec(message)?.[1]);
    assert.deepEqual(named.sort(), ['"fifo"', '"folder"', '"huge"', '"link"', '"x, main"']);
  });

  it('takes a link that replaces a tombstone for its removal', async (t) => {
    const dir = temporaryDirectory();
    const outside = join(temporaryDirectory(), 'outside');
    writeFileSync(outside, formatTombstone({ Version: 1, Name: 'a', Died: TIME }));
    writeTombstone(dir, 'a');
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    unlinkSync(join(dir, 'a'));
    symlinkSync(outside, join(dir, 'a'));
    await peers.until((list) => view(list, 'a')?.vanished === true);
    assert.equal(latest(peers, 'a').tombstone.Died, undefined);
  });

  it('sees a graveyard that appears late, goes away and comes back', async (t) => {
    const dir = join(temporaryDirectory(), 'deep', 'graveyard');
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    for (let life = 1; life <= 3; life++) {
      mkdirSync(dir, { recursive: true });
      writeTombstone(dir, 'a', { Restarts: life });
      await peers.until((list) => view(list, 'a')?.tombstone.Restarts === life);
      if (life === 2) renameSync(dir, `${dir}-away`);
      else rmSync(join(dir, '..'), { recursive: true });
      await peers.until((list) => view(list, 'a')?.vanished === true && view(list, 'a')?.tombstone.Restarts === life);
    }
  });

  it('sees a volume that is mounted over the directory later', { skip: needsMount }, async (t) => {
    const dir = mountPoint();
    const { graveyard, peers } = graveyardOf(t, dir, 20);
    await graveyard.start();
    // The mount itself makes no event in the directory below.
    tmpfs(t, 'size=64k', dir);
    writeTombstone(dir, 'a');
    await peers.until((list) => view(list, 'a') !== undefined);
  });

  it('follows a link to the graveyard', async (t) => {
    const dir = temporaryDirectory();
    const link = join(temporaryDirectory(), 'link');
    symlinkSync(dir, link);
    const { graveyard, peers } = graveyardOf(t, link);
    await graveyard.start();
    writeTombstone(dir, 'a');
    await peers.until((list) => view(list, 'a') !== undefined);
  });

  it('says that it cannot read a graveyard, once, and goes on when it can', async (t) => {
    const dir = join(temporaryDirectory(), 'graveyard');
    writeFileSync(dir, 'a file in its place');
    const { graveyard, peers, troubles } = graveyardOf(t, dir);
    await graveyard.start();
    await graveyard.rescan();
    assert.equal(troubles.items.length, 1);
    assert.match(troubles.items[0] ?? '', /^cannot read the graveyard .*ENOTDIR/);
    unlinkSync(dir);
    mkdirSync(dir);
    writeTombstone(dir, 'a');
    await peers.until((list) => view(list, 'a') !== undefined);
  });

  it('sees everything by its rescans where inotify has no instance left, says so once, and watches when it can', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a');
    // Zero instances for a user namespace of its own, which needs no privilege (user_namespaces(7), /proc/sys/user).
    const limit = ['unshare', '--user', '--map-root-user', 'sh', '-c'];
    const exhaust = 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"';
    if (!canRun([...limit, exhaust, 'sh', 'true'])) return t.skip('needs user namespaces');
    const module = new URL('../../../src/runtime/graveyard/graveyard.ts', import.meta.url).href;
    const program = new Helper(
      t,
      `import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
       import { Graveyard } from ${JSON.stringify(module)};
       const say = (line: unknown) => console.log(JSON.stringify(line));
       await new Graveyard({ dir: ${JSON.stringify(dir)}, ownName: 'me', now: () => performance.now(), rescanMs: 20,
         onPeers: (peers) => say(['peers', peers]), onTrouble: (message) => say(['trouble', message]) }).start();
       process.stdin.once('data', () => {
         writeFileSync('/proc/sys/user/max_inotify_instances', '10');
         setInterval(() => { if (readdirSync('/proc/self/fd').some(isInotify)) { say(['watching']); process.exit(); } }, 5);
       });
       function isInotify(fd: string): boolean {
         try { return readlinkSync('/proc/self/fd/' + fd).includes('inotify'); } catch { return false; }
       }`,
      { prefix: [...limit, exhaust, 'sh'], cwd: NODE_MODULES },
    );
    const lines: (readonly [string, unknown])[] = [];
    const nextIs = async (isIt: (line: readonly [string, unknown]) => boolean): Promise<void> => {
      do lines.push(JSON.parse(await program.line()));
      while (!lines.some(isIt));
    };
    await nextIs(([kind]) => kind === 'trouble');
    for (let count = 1; count <= 5; count++) {
      writeTombstone(dir, 'a', { Restarts: count });
      await nextIs(([, said]) => JSON.stringify(said).includes(`"Restarts":${count}`));
    }
    const troubles = lines.filter(([kind]) => kind === 'trouble').map(([, message]) => message);
    assert.equal(troubles.length, 1);
    assert.match(String(troubles[0]), /^cannot watch the graveyard .*EMFILE.*raise fs.inotify.max_user_instances$/);
    program.send('raise');
    await nextIs(([kind]) => kind === 'watching');
  });

  it('watches although the environment of the application asks chokidar for polling', async (t) => {
    const dir = temporaryDirectory();
    process.env.CHOKIDAR_USEPOLLING = '1';
    process.env.CHOKIDAR_INTERVAL = '1000000';
    t.after(() => {
      delete process.env.CHOKIDAR_USEPOLLING;
      delete process.env.CHOKIDAR_INTERVAL;
    });
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    writeTombstone(dir, 'a');
    await peers.until((list) => view(list, 'a') !== undefined);
    writeTombstone(dir, 'a', { Died: TIME });
    await peers.until((list) => view(list, 'a')?.tombstone.Died === TIME);
  });

  it('sees 128 members, their deaths and who of them is held', async (t) => {
    const dir = temporaryDirectory();
    const names = Array.from({ length: 128 }, (_, index) => `m${String(index).padStart(3, '0')}`);
    for (const name of names) {
      writeTombstone(dir, name);
      await listen(t, join(dir, `.${name}.sock`), () => {});
    }
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await peers.until((list) => list.length === 128 && list.every(({ liveness }) => liveness === 'held'));
    for (const name of names) writeTombstone(dir, name, { Died: TIME });
    await peers.until((list) => list.every(({ tombstone }) => tombstone.Died === TIME));
    assert.deepEqual(
      peers.items.at(-1)?.map(({ tombstone }) => tombstone.Name),
      names,
    );
  });

  it('tells nothing any more once it is stopped', async (t) => {
    const dir = temporaryDirectory();
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    const count = peers.items.length;
    const stopped = graveyard.stop();
    writeTombstone(dir, 'a');
    await stopped;
    await graveyard.rescan();
    assert.equal(peers.items.length, count);
  });
});

function canRun([file = '', ...args]: readonly string[]): boolean {
  try {
    execFileSync(file, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
