import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Contact, Liveness } from '../../../src/runtime/graveyard/liveness.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { graveyardOf, latest, listen, TIME, Told, view, writeTombstone } from './neighbours.ts';
import { Helper, needsMount, needsRoot, readOnlyView } from './volume.ts';

interface Followed {
  readonly liveness: Liveness;
  readonly told: Told<readonly [string, Contact['kind']]>;
}

function livenessOf(
  t: TestContext,
  dir: string,
  now: () => number = () => performance.now(),
  wasHeld: (name: string) => boolean = () => false,
): Followed {
  const told = new Told<readonly [string, Contact['kind']]>();
  const liveness = new Liveness({ dir, now, onChange: (name, { kind }) => told.add([name, kind]), wasHeld });
  t.after(() => liveness.stop());
  return { liveness, told };
}

/** A process that holds the socket as an init does: it accepts, keeps, and says how many it keeps. */
async function holder(t: TestContext, path: string): Promise<Helper> {
  const helper = new Helper(
    t,
    `import { rmSync } from 'node:fs';
     import { createServer } from 'node:net';
     rmSync(${JSON.stringify(path)}, { force: true });
     createServer(() => console.log('kept')).listen(${JSON.stringify(path)}, () => console.log('listens'));`,
  );
  assert.equal(await helper.line(), 'listens');
  return helper;
}

describe('Liveness', () => {
  it('holds one connection to a peer however often it is tried, and ends it when it follows it no more', async (t) => {
    const dir = temporaryDirectory();
    const sockets: Socket[] = [];
    const connections = new Told<Socket>();
    await listen(t, join(dir, '.a.sock'), (socket) => {
      sockets.push(socket);
      connections.add(socket);
    });
    const { liveness, told } = livenessOf(t, dir);
    await liveness.follow(['a']);
    assert.equal(liveness.of('a').kind, 'held');
    await Promise.all([liveness.retry(), liveness.retry('a'), liveness.follow(['a'])]);
    const socket = await connections.until(() => true);
    const ended = new Promise((resolve) => socket.resume().once('close', resolve));
    await liveness.follow([]);
    await ended;
    assert.equal(sockets.length, 1);
    assert.deepEqual(liveness.of('a'), { kind: 'none' });
    assert.deepEqual(told.items, [['a', 'held']], 'to leave a peer is no loss');
  });

  it('counts a peer as lost that was held before, and behind whose socket nobody is now', async (t) => {
    const dir = temporaryDirectory();
    for (const name of ['held', 'other']) {
      const dead = await holder(t, join(dir, `.${name}.sock`));
      await dead.kill();
    }
    const { liveness, told } = livenessOf(
      t,
      dir,
      () => 7,
      (name) => name !== 'other',
    );
    await liveness.follow(['held', 'other', 'gone']);
    assert.deepEqual(liveness.of('held'), { kind: 'lost', at: 7 });
    assert.deepEqual(liveness.of('other'), { kind: 'refused' });
    assert.deepEqual(liveness.of('gone'), { kind: 'none' }, 'without a socket nothing speaks against it');
    assert.deepEqual(told.items.map(([name]) => name).sort(), ['held', 'other']);
  });

  it('tells no socket, nobody behind it, and no permission apart', async (t) => {
    const dir = temporaryDirectory();
    const dead = await holder(t, join(dir, '.stale.sock'));
    await dead.kill();
    assert.ok(existsSync(join(dir, '.stale.sock')));
    writeFileSync(join(dir, '.plain.sock'), '');
    const { liveness } = livenessOf(t, dir);
    await liveness.follow(['absent', 'stale', 'plain']);
    assert.deepEqual(
      ['absent', 'stale', 'plain'].map((name) => liveness.of(name).kind),
      ['none', 'refused', 'none'],
    );
  });

  it('says denied of a socket that this uid may not connect to', { skip: needsRoot }, async (t) => {
    const dir = temporaryDirectory();
    chmodSync(dir, 0o755);
    await listen(t, join(dir, '.a.sock'), () => {});
    chmodSync(join(dir, '.a.sock'), 0o600);
    const module = new URL('../../../src/runtime/graveyard/liveness.ts', import.meta.url).href;
    const source = `import { Liveness } from ${JSON.stringify(module)};
      const liveness = new Liveness({ dir: ${JSON.stringify(dir)}, now: () => 0, onChange: () => {} });
      await liveness.follow(['a']);
      console.log(liveness.of('a').kind);
      liveness.stop();`;
    assert.equal(await new Helper(t, source, { uid: 54_321 }).line(), 'denied');
  });

  it('does not follow a link to a socket', async (t) => {
    const dir = temporaryDirectory();
    const elsewhere = join(temporaryDirectory(), 'socket');
    let connections = 0;
    await listen(t, elsewhere, () => connections++);
    symlinkSync(elsewhere, join(dir, '.a.sock'));
    const { liveness } = livenessOf(t, dir);
    await liveness.follow(['a']);
    assert.equal(liveness.of('a').kind, 'none');
    assert.equal(connections, 0);
  });

  it('K14 tells the moment of the loss when the holder is killed, and finds its successor', async (t) => {
    const dir = temporaryDirectory();
    const path = join(dir, '.a.sock');
    const first = await holder(t, path);
    const { liveness, told } = livenessOf(t, dir, () => 4711);
    await liveness.follow(['a']);
    assert.equal(await first.line(), 'kept');
    await first.kill();
    await told.until(([, kind]) => kind === 'lost');
    assert.deepEqual(liveness.of('a'), { kind: 'lost', at: 4711 });
    rmSync(path);
    await listen(t, path, () => {});
    await told.until(([, kind]) => kind === 'held' && told.items.length === 3);
    assert.deepEqual(
      told.items.map(([, kind]) => kind),
      ['held', 'lost', 'held'],
    );
  });

  it('finds a socket that listens a little later than it was looked for', async (t) => {
    const dir = temporaryDirectory();
    const { liveness, told } = livenessOf(t, dir);
    await liveness.follow(['a']);
    assert.equal(liveness.of('a').kind, 'none');
    await listen(t, join(dir, '.a.sock'), () => {});
    await told.until(([, kind]) => kind === 'held');
  });

  it('discards what a peer writes, and hangs up on one that does not stop', async (t) => {
    const dir = temporaryDirectory();
    await listen(t, join(dir, '.polite.sock'), (socket) => socket.write('hello '.repeat(1000)));
    const hungUp = new Told<string>();
    await listen(t, join(dir, '.talker.sock'), (socket) => {
      socket.resume().once('close', () => hungUp.add('talker'));
      const talk = (): void => {
        while (socket.write('nonsense '.repeat(1000)));
        socket.once('drain', talk);
      };
      talk();
    });
    const { liveness, told } = livenessOf(t, dir);
    await liveness.follow(['polite', 'talker']);
    await hungUp.until(() => true);
    await told.until(([name, kind]) => name === 'talker' && kind === 'none');
    assert.equal(liveness.of('polite').kind, 'held');
    assert.ok(told.items.every(([, kind]) => kind !== 'lost'));
  });

  it('connects where the path is too long for a socket address', async (t) => {
    const dir = join(temporaryDirectory(), 'd'.repeat(200));
    const short = join(temporaryDirectory(), 's');
    await listen(t, short, () => {});
    mkdirSync(dir);
    const name = 'n'.repeat(63);
    renameSync(short, join(dir, `.${name}.sock`));
    const { liveness } = livenessOf(t, dir);
    await liveness.follow([name]);
    assert.equal(liveness.of(name).kind, 'held');
  });

  it('forgets a loss when it is told that the peer lives a new life', async (t) => {
    const dir = temporaryDirectory();
    const first = await holder(t, join(dir, '.a.sock'));
    const { liveness, told } = livenessOf(t, dir);
    await liveness.follow(['a']);
    await first.kill();
    await told.until(([, kind]) => kind === 'lost');
    await liveness.restart('a');
    assert.equal(liveness.of('a').kind, 'refused');
  });
});

describe('Graveyard with liveness', () => {
  it('knows by the end of its start who is held and who has nobody behind the socket', async (t) => {
    const dir = temporaryDirectory();
    for (const name of ['alive', 'stale', 'silent']) writeTombstone(dir, name);
    await listen(t, join(dir, '.alive.sock'), () => {});
    await (await holder(t, join(dir, '.stale.sock'))).kill();
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    assert.deepEqual(
      peers.items.map((list) => list.map(({ tombstone, liveness, refused }) => [tombstone.Name, liveness, refused])),
      [
        [
          ['alive', 'held', undefined],
          ['silent', 'none', undefined],
          ['stale', 'none', true],
        ],
      ],
    );
  });

  it('sees tombstones and liveness of peers through a read-only mount', { skip: needsMount }, async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a');
    const init = await holder(t, join(dir, '.a.sock'));
    const { graveyard, peers } = graveyardOf(t, readOnlyView(t, dir));
    await graveyard.start();
    assert.equal(latest(peers, 'a').liveness, 'held');
    writeTombstone(dir, 'a', { Phase: 'draining' });
    await peers.until((list) => view(list, 'a')?.tombstone.Phase === 'draining');
    await init.kill();
    await peers.until((list) => view(list, 'a')?.liveness === 'lost');
  });

  it('K14 tells of a peer whose holder is killed although its tombstone says nothing', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a', { Phase: 'running' });
    const init = await holder(t, join(dir, '.a.sock'));
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    assert.equal(latest(peers, 'a').liveness, 'held');
    await init.kill();
    const list = await peers.until((seen) => view(seen, 'a')?.liveness === 'lost');
    assert.equal(view(list, 'a')?.tombstone.Died, undefined);
    assert.equal(typeof view(list, 'a')?.lostAt, 'number');
  });

  it('keeps a loss through a new child of the same init, and forgets it with a new init', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a', { Incarnation: 'init-one-1' });
    const init = await holder(t, join(dir, '.a.sock'));
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await init.kill();
    await peers.until((list) => view(list, 'a')?.liveness === 'lost');
    writeTombstone(dir, 'a', { Incarnation: 'init-one-2' });
    const same = await peers.until((list) => view(list, 'a')?.tombstone.Incarnation === 'init-one-2');
    assert.equal(view(same, 'a')?.liveness, 'lost');
    writeTombstone(dir, 'a', { Incarnation: 'init-two-1' });
    await peers.until(
      (list) => view(list, 'a')?.tombstone.Incarnation === 'init-two-1' && view(list, 'a')?.liveness === 'none',
    );
    await holder(t, join(dir, '.a.sock'));
    await graveyard.rescan();
    assert.equal(latest(peers, 'a').liveness, 'held');
    assert.equal(latest(peers, 'a').lostAt, undefined);
  });

  it('lets go of the dead, and connects to none', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a');
    const connections = new Told<Socket>();
    await listen(t, join(dir, '.a.sock'), connections.add);
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    const socket = await connections.until(() => true);
    const ended = new Promise((resolve) => socket.resume().once('close', resolve));
    writeTombstone(dir, 'a', { Died: TIME });
    await ended;
    await peers.until((list) => view(list, 'a')?.tombstone.Died === TIME && view(list, 'a')?.liveness === 'none');
    await graveyard.rescan();
    assert.equal(connections.items.length, 1);
  });

  it('tries a peer again whose tombstone has changed', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a');
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await listen(t, join(dir, '.a.sock'), () => {});
    writeTombstone(dir, 'a', { Phase: 'running' });
    await peers.until((list) => view(list, 'a')?.liveness === 'held');
  });
});
