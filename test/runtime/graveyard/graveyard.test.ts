import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatTombstone } from '../../../src/core/format/tombstone.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { startedGraveyard, TIME, view, writeTombstone } from './neighbours.ts';
import { Helper, mountPoint, needsMount, tmpfs } from './volume.ts';

describe('Graveyard', () => {
  it('an empty graveyard is told once, by the time it has started', async (t) => {
    const { graveyard, peers } = await startedGraveyard(t, { dir: temporaryDirectory() });
    assert.deepEqual(peers.items, [[]]);
    await graveyard.rescan();
    assert.deepEqual(peers.items, [[]]);
  });

  it('K01 deaths before and after the watch begins are seen, but never the own tombstone', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a', { Died: TIME, ExitCode: 0, History: [{ At: TIME, Event: 'Born' }] });
    for (const name of ['b', 'me']) writeTombstone(dir, name);
    const { peers } = await startedGraveyard(t, { dir });
    assert.equal(peers.items.length, 1);
    const a = peers.latest('a');
    assert.deepEqual([a.tombstone.Died, a.foundAtStart, a.vanished, a.liveness], [TIME, true, false, 'none']);
    assert.equal(a.tombstone.History, undefined, 'no member needs the history of another');
    writeTombstone(dir, 'me', { Died: TIME });
    // It falls between the first scan and the watch.
    writeTombstone(dir, 'b', { Died: TIME, ExitCode: 0 });
    assert.equal((await peers.seen('b', (it) => it.tombstone.Died === TIME)).foundAtStart, false);
    writeTombstone(dir, 'a', { Incarnation: 'second-1' });
    assert.equal((await peers.seen('a', (it) => it.tombstone.Incarnation === 'second-1')).foundAtStart, false);
    assert.ok(peers.items.every((list) => view(list, 'me') === undefined));
  });

  it('a removed tombstone leaves its last view behind, and may come back', async (t) => {
    const { dir, peers } = await startedGraveyard(t);
    writeTombstone(dir, 'a');
    await peers.seen('a');
    // In place, as on a full volume.
    writeFileSync(join(dir, 'a'), formatTombstone({ Version: 1, Name: 'a', Phase: 'draining' }));
    await peers.seen('a', (it) => it.tombstone.Phase === 'draining');
    unlinkSync(join(dir, 'a'));
    const { tombstone } = await peers.seen('a', (it) => it.vanished);
    assert.deepEqual([tombstone.Phase, tombstone.Died], ['draining', undefined]);
    writeTombstone(dir, 'a', { Phase: 'running' });
    await peers.seen('a', (it) => !it.vanished && it.tombstone.Phase === 'running');
  });

  it('very many vanished members are forgotten, dead ones first, and none that is named', async (t) => {
    const { dir, graveyard, peers } = await startedGraveyard(t, { named: ['work'] });
    const pass = async (names: readonly string[], Died?: string): Promise<void> => {
      for (const name of names) writeTombstone(dir, name, Died === undefined ? {} : { Died });
      await graveyard.rescan();
      for (const name of names) unlinkSync(join(dir, name));
      await graveyard.rescan();
    };
    await pass(['work'], TIME);
    await pass(['may-live']);
    const many = Array.from({ length: 80 }, (_, index) => 1000 + index);
    for (const pod of ['first', 'second'])
      await pass(
        many.map((index) => `${pod}-${index}`),
        TIME,
      );
    for (const name of ['work', 'may-live', 'second-1000']) assert.equal(peers.latest(name).vanished, true);
    assert.equal(peers.items.at(-1)?.length, 129);
    assert.equal(view(peers.items.at(-1), 'first-1000'), undefined);
  });

  it('the last of 25 rapid changes is seen, and no older state after a newer one', async (t) => {
    const { dir, graveyard, peers } = await startedGraveyard(t);
    for (let count = 1; count <= 25; count++) writeTombstone(dir, 'a', { Restarts: count });
    await peers.seen('a', (it) => it.tombstone.Restarts === 25);
    await graveyard.rescan();
    const seen = peers.items.flatMap((list) => view(list, 'a')?.tombstone.Restarts ?? []);
    const ascending = [...new Set(seen)].sort((a, b) => a - b);
    assert.deepEqual(seen, ascending);
  });

  it('a file that another process writes byte by byte is read only when it is whole', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a', { Phase: 'running' });
    const { graveyard, peers, troubles } = await startedGraveyard(t, { dir });
    const dead = { Version: 1, Name: 'a', Phase: 'dead', Died: TIME, ExitCode: 0 } as const;
    const writer = new Helper(
      t,
      `import { openSync, writeSync } from 'node:fs';
       const file = openSync(${JSON.stringify(join(dir, 'a'))}, 'w');
       for (const byte of Buffer.from(${JSON.stringify(formatTombstone(dead).trimEnd())})) writeSync(file, Buffer.of(byte));`,
    );
    const rescans = setInterval(() => void graveyard.rescan(), 1);
    t.after(() => clearInterval(rescans));
    await peers.seen('a', (it) => it.tombstone.Died !== undefined);
    clearInterval(rescans);
    assert.deepEqual(peers.latest('a').tombstone, dead);
    const phases = peers.items.map((list) => view(list, 'a')?.tombstone.Phase);
    assert.deepEqual(new Set(phases), new Set(['running', 'dead']));
    assert.ok(peers.items.every((list) => view(list, 'a')?.vanished === false));
    assert.deepEqual(troubles.items, []);
    await writer.kill();
  });

  it('a half written file is read again without any event, and reported only if it stays so', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a');
    const { peers, troubles } = await startedGraveyard(t, { dir });
    writeFileSync(join(dir, 'a'), '{"Version": 1,');
    const warning = await troubles.until(() => true);
    assert.match(warning, /^ignored "a" in the graveyard .*: not complete JSON$/);
    assert.equal(peers.items.length, 1, 'no change was told');
    writeTombstone(dir, 'a', { Died: TIME });
    await peers.seen('a', (it) => it.tombstone.Died === TIME);
  });

  it('K17 links, FIFOs, directories, huge files and odd names are ignored with one warning each', async (t) => {
    const dir = temporaryDirectory();
    const outside = join(temporaryDirectory(), 'outside');
    writeFileSync(outside, formatTombstone({ Version: 1, Name: 'link', Died: TIME }));
    writeTombstone(dir, 'replaced');
    symlinkSync(outside, join(dir, 'link'));
    execFileSync('mkfifo', [join(dir, 'fifo')]);
    mkdirSync(join(dir, 'folder'));
    writeTombstone(join(dir, 'folder'), 'inner', { Died: TIME });
    writeFileSync(join(dir, 'huge'), ' '.repeat(70_000));
    writeFileSync(join(dir, 'x, main'), formatTombstone({ Version: 1, Name: 'main', Died: TIME }));
    const { graveyard, peers, troubles } = await startedGraveyard(t, { dir });
    await graveyard.rescan();
    // A link in place of a tombstone counts as its removal.
    unlinkSync(join(dir, 'replaced'));
    symlinkSync(outside, join(dir, 'replaced'));
    const { tombstone } = await peers.seen('replaced', (it) => it.vanished);
    assert.equal(tombstone.Died, undefined);
    assert.equal(peers.items.at(-1)?.length, 1);
    const named = troubles.items.map((message) => /^ignored (".*") in the graveyard/.exec(message)?.[1]);
    assert.deepEqual(named.sort(), ['"fifo"', '"folder"', '"huge"', '"link"', '"replaced"', '"x, main"']);
  });

  it('a graveyard that appears late, goes away and comes back is seen', async (t) => {
    const dir = join(temporaryDirectory(), 'deep', 'graveyard');
    // On a busy machine chokidar may miss a directory that takes the place of another, and the rescans find it.
    const { peers } = await startedGraveyard(t, { dir, rescanMs: 1_000 });
    for (let life = 1; life <= 3; life++) {
      mkdirSync(dir, { recursive: true });
      writeTombstone(dir, 'a', { Restarts: life });
      await peers.seen('a', (it) => it.tombstone.Restarts === life);
      if (life === 2) renameSync(dir, `${dir}-away`);
      else rmSync(join(dir, '..'), { recursive: true });
      await peers.seen('a', (it) => it.vanished && it.tombstone.Restarts === life);
    }
  });

  it('a volume that is mounted over the directory later is seen', { skip: needsMount }, async (t) => {
    const dir = mountPoint();
    const { peers } = await startedGraveyard(t, { dir, rescanMs: 20 });
    // The mount itself makes no event in the directory below.
    tmpfs(t, 'size=64k', dir);
    writeTombstone(dir, 'a');
    await peers.seen('a');
  });

  it('a graveyard that cannot be read is reported once, and read when it can', async (t) => {
    const dir = join(temporaryDirectory(), 'graveyard');
    writeFileSync(dir, 'a file in its place');
    const { graveyard, peers, troubles } = await startedGraveyard(t, { dir });
    await graveyard.rescan();
    assert.equal(troubles.items.length, 1);
    assert.match(troubles.items[0] ?? '', /^cannot read the graveyard .*ENOTDIR/);
    unlinkSync(dir);
    mkdirSync(dir);
    writeTombstone(dir, 'a');
    await peers.seen('a');
  });

  it('without an inotify instance rescans see every change, and the watch begins when it can', async (t) => {
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
       import { SystemClock } from ${JSON.stringify(new URL('../../../src/runtime/clock.ts', import.meta.url).href)};
       import { Graveyard } from ${JSON.stringify(module)};
       import { volumeAt } from ${JSON.stringify(new URL('volume.ts', module).href)};
       const say = (line: unknown) => console.log(JSON.stringify(line));
       await new Graveyard({ volume: volumeAt(${JSON.stringify(dir)}), ownName: 'me', clock: new SystemClock(), rescanMs: 20,
         onPeers: (peers) => say(['peers', peers]), onTrouble: (message) => say(['trouble', message]) }).start();
       process.stdin.once('data', () => {
         writeFileSync('/proc/sys/user/max_inotify_instances', '10');
         setInterval(() => { if (readdirSync('/proc/self/fd').some(isInotify)) { say(['watching']); process.exit(); } }, 5);
       });
       function isInotify(fd: string): boolean {
         try { return readlinkSync('/proc/self/fd/' + fd).includes('inotify'); } catch { return false; }
       }`,
      { prefix: [...limit, exhaust, 'sh'], cwd: new URL('../../../', import.meta.url).pathname },
    );
    const said: string[] = [];
    const until = async (part: string): Promise<void> => {
      do said.push(await program.line());
      while (!said.at(-1)?.includes(part));
    };
    await until('"trouble"');
    assert.match(said.at(-1) ?? '', /cannot watch the graveyard .*EMFILE.*raise fs.inotify.max_user_instances"/);
    for (let count = 1; count <= 5; count++) {
      writeTombstone(dir, 'a', { Restarts: count });
      await until(`"Restarts":${count}`);
    }
    assert.equal(said.filter((line) => line.includes('"trouble"')).length, 1);
    program.send('raise');
    await until('"watching"');
  });

  it('a link to the graveyard is followed, and CHOKIDAR_USEPOLLING of the application is not', async (t) => {
    const dir = temporaryDirectory();
    const link = join(temporaryDirectory(), 'link');
    symlinkSync(dir, link);
    Object.assign(process.env, { CHOKIDAR_USEPOLLING: '1', CHOKIDAR_INTERVAL: '1000000' });
    t.after(() => {
      delete process.env.CHOKIDAR_USEPOLLING;
      delete process.env.CHOKIDAR_INTERVAL;
    });
    const { peers } = await startedGraveyard(t, { dir: link });
    writeTombstone(dir, 'a');
    await peers.seen('a');
    writeTombstone(dir, 'a', { Died: TIME });
    await peers.seen('a', (it) => it.tombstone.Died === TIME);
  });

  it('a stopped graveyard tells nothing', async (t) => {
    const { dir, graveyard, peers } = await startedGraveyard(t);
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
