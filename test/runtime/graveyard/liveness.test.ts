import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { type Clock, NODE_TIMERS, SystemClock } from '../../../src/runtime/clock.ts';
import { type Contact, Liveness, type LivenessOptions } from '../../../src/runtime/graveyard/liveness.ts';
import { volumeAt } from '../../../src/runtime/graveyard/volume.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { listen, startedGraveyard, TIME, Told, writeTombstone } from './neighbours.ts';
import { Helper, needsMount, needsRoot, readOnlyView } from './volume.ts';

function livenessOf(t: TestContext, dir: string, more: Partial<LivenessOptions> = {}) {
  const told = new Told<readonly [string, Contact['kind']]>();
  const onChange = (name: string, { kind }: Contact): void => told.add([name, kind]);
  const liveness = new Liveness({ volume: volumeAt(dir), clock: new SystemClock(), onChange, ...more });
  t.after(() => liveness.stop());
  return { liveness, told };
}

function stoppedAt(mono: number): Clock {
  return { timers: NODE_TIMERS, now: () => ({ mono, wall: '0' }) };
}

/** A process that holds the socket of this member as an init does, and reports each connection that it keeps. */
async function holder(t: TestContext, dir: string, name: string): Promise<Helper> {
  const path = JSON.stringify(join(dir, `.${name}.sock`));
  const helper = new Helper(
    t,
    `import { rmSync } from 'node:fs';
     import { createServer } from 'node:net';
     rmSync(${path}, { force: true });
     createServer(() => console.log('kept')).listen(${path}, () => console.log('listens'));`,
  );
  assert.equal(await helper.line(), 'listens');
  return helper;
}

/** The server keeps each connection and adds it to the result. */
async function listening(t: TestContext, dir: string, name: string): Promise<Told<Socket>> {
  const connections = new Told<Socket>();
  await listen(t, join(dir, `.${name}.sock`), connections.add);
  return connections;
}

function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.resume().once('close', resolve));
}

describe('Liveness', () => {
  it('Liveness holds one connection to a peer, and closes it when it no longer follows the peer', async (t) => {
    const dir = temporaryDirectory();
    const connections = await listening(t, dir, 'a');
    const { liveness, told } = livenessOf(t, dir);
    await liveness.follow(['a']);
    assert.equal(liveness.of('a').kind, 'held');
    await Promise.all([liveness.retry(), liveness.retry('a'), liveness.follow(['a'])]);
    const end = closed(await connections.until(() => true));
    await liveness.follow([]);
    await end;
    assert.equal(connections.items.length, 1);
    assert.deepEqual(liveness.of('a'), { kind: 'none' });
    assert.deepEqual(told.items, [['a', 'held']], 'to leave a peer is no loss');
  });

  it('Liveness counts a peer as lost that was held before and whose socket has no process now', async (t) => {
    const dir = temporaryDirectory();
    for (const name of ['held', 'other']) await (await holder(t, dir, name)).kill();
    const { liveness, told } = livenessOf(t, dir, { clock: stoppedAt(7), wasHeld: (name) => name !== 'other' });
    await liveness.follow(['held', 'other', 'gone']);
    assert.deepEqual(liveness.of('held'), { kind: 'lost', at: 7 });
    assert.deepEqual(liveness.of('other'), { kind: 'refused' });
    assert.deepEqual(liveness.of('gone'), { kind: 'none' }, 'a missing socket proves nothing');
    assert.deepEqual(told.items.map(([name]) => name).sort(), ['held', 'other']);
  });

  it('Liveness distinguishes a missing socket, an abandoned one, a plain file and a link', async (t) => {
    const dir = temporaryDirectory();
    await (await holder(t, dir, 'abandoned')).kill();
    assert.ok(existsSync(join(dir, '.abandoned.sock')));
    writeFileSync(join(dir, '.plain.sock'), '');
    const elsewhere = temporaryDirectory();
    const connections = await listening(t, elsewhere, 'a');
    symlinkSync(join(elsewhere, '.a.sock'), join(dir, '.link.sock'));
    const { liveness } = livenessOf(t, dir);
    const names = ['absent', 'abandoned', 'plain', 'link'];
    await liveness.follow(names);
    const kinds = names.map((name) => liveness.of(name).kind);
    assert.deepEqual(kinds, ['none', 'refused', 'none', 'none']);
    assert.equal(connections.items.length, 0);
  });

  it('Liveness reports a socket that this uid may not connect to as denied', { skip: needsRoot }, async (t) => {
    const dir = temporaryDirectory();
    chmodSync(dir, 0o755);
    await listening(t, dir, 'a');
    chmodSync(join(dir, '.a.sock'), 0o600);
    const module = (path: string): string =>
      JSON.stringify(new URL(`../../../src/runtime/${path}.ts`, import.meta.url).href);
    const source = `import { SystemClock } from ${module('clock')};
      import { Liveness } from ${module('graveyard/liveness')};
      import { volumeAt } from ${module('graveyard/volume')};
      const volume = volumeAt(${JSON.stringify(dir)});
      const liveness = new Liveness({ volume, clock: new SystemClock(), onChange: () => {} });
      await liveness.follow(['a']);
      console.log(liveness.of('a').kind);
      liveness.stop();`;
    assert.equal(await new Helper(t, source, { uid: 54_321 }).line(), 'denied');
  });

  it('K14 Liveness records when the holder was killed, finds its successor, and drops a loss', async (t) => {
    const dir = temporaryDirectory();
    const { liveness, told } = livenessOf(t, dir, { clock: stoppedAt(4711) });
    const isNext = (count: number, kind: Contact['kind']): Promise<unknown> =>
      told.until((it) => told.items.length === count && it[1] === kind);
    const first = await holder(t, dir, 'a');
    await liveness.follow(['a']);
    assert.equal(await first.line(), 'kept');
    await first.kill();
    await isNext(2, 'lost');
    assert.deepEqual(liveness.of('a'), { kind: 'lost', at: 4711 });
    const second = await holder(t, dir, 'a');
    await isNext(3, 'held');
    await second.kill();
    await isNext(4, 'lost');
    await liveness.restart('a');
    assert.equal(liveness.of('a').kind, 'refused');
  });

  it('Liveness finds a socket that listens a little later than the first attempt', async (t) => {
    const dir = temporaryDirectory();
    const { liveness, told } = livenessOf(t, dir);
    await liveness.follow(['a']);
    assert.equal(liveness.of('a').kind, 'none');
    await listening(t, dir, 'a');
    await told.until(([, kind]) => kind === 'held');
  });

  it('Liveness discards what a peer sends, and hangs up on one that does not stop', async (t) => {
    const dir = temporaryDirectory();
    await listen(t, join(dir, '.polite.sock'), (socket) => socket.write('hello '.repeat(1000)));
    const hungUp = Promise.withResolvers<unknown>();
    await listen(t, join(dir, '.talker.sock'), (socket) => {
      void closed(socket).then(hungUp.resolve);
      const talk = (): void => {
        while (socket.write('nonsense '.repeat(1000)));
        socket.once('drain', talk);
      };
      talk();
    });
    const { liveness, told } = livenessOf(t, dir);
    await liveness.follow(['polite', 'talker']);
    await hungUp.promise;
    await told.until(([name, kind]) => name === 'talker' && kind === 'none');
    assert.equal(liveness.of('polite').kind, 'held');
    assert.ok(told.items.every(([, kind]) => kind !== 'lost'));
  });

  it('Liveness connects where the path is too long for a socket address', async (t) => {
    const dir = join(temporaryDirectory(), 'd'.repeat(200));
    const short = temporaryDirectory();
    await listening(t, short, 's');
    mkdirSync(dir);
    const name = 'n'.repeat(63);
    renameSync(join(short, '.s.sock'), join(dir, `.${name}.sock`));
    const { liveness } = livenessOf(t, dir);
    await liveness.follow([name]);
    assert.equal(liveness.of(name).kind, 'held');
  });
});

describe('Graveyard with liveness', () => {
  it('Graveyard knows at the end of its start which sockets are held and which are abandoned', async (t) => {
    const dir = temporaryDirectory();
    for (const name of ['alive', 'stale', 'silent']) writeTombstone(dir, name);
    await listening(t, dir, 'alive');
    await (await holder(t, dir, 'stale')).kill();
    const { peers } = await startedGraveyard(t, { dir });
    assert.equal(peers.items.length, 1);
    const told = peers.items[0]?.map(({ tombstone, liveness, refused }) => `${tombstone.Name} ${liveness} ${refused}`);
    assert.deepEqual(told, ['alive held undefined', 'silent none undefined', 'stale none true']);
  });

  it('Graveyard sees tombstones and liveness of peers through a read-only mount', { skip: needsMount }, async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a');
    const init = await holder(t, dir, 'a');
    const { peers } = await startedGraveyard(t, { dir: readOnlyView(t, dir) });
    assert.equal(peers.latest('a').liveness, 'held');
    writeTombstone(dir, 'a', { Phase: 'draining' });
    await peers.seen('a', (it) => it.tombstone.Phase === 'draining');
    await init.kill();
    const { tombstone, lostAt } = await peers.seen('a', (it) => it.liveness === 'lost');
    assert.deepEqual([tombstone.Died, typeof lostAt], [undefined, 'number']);
  });

  it('K14 Graveyard keeps a loss through a new child of the same init, and not with a new init', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a', { Incarnation: 'init-one-1' });
    const init = await holder(t, dir, 'a');
    const { peers } = await startedGraveyard(t, { dir });
    await init.kill();
    await peers.seen('a', (it) => it.liveness === 'lost');
    writeTombstone(dir, 'a', { Incarnation: 'init-one-2' });
    assert.equal((await peers.seen('a', (it) => it.tombstone.Incarnation === 'init-one-2')).liveness, 'lost');
    writeTombstone(dir, 'a', { Incarnation: 'init-two-1' });
    await peers.seen('a', (it) => it.tombstone.Incarnation === 'init-two-1' && it.liveness === 'none');
    await holder(t, dir, 'a');
    // A changed tombstone is a reason to connect again.
    writeTombstone(dir, 'a', { Incarnation: 'init-two-2' });
    const isNew = (it: PeerView): boolean => it.liveness === 'held' && it.tombstone.Incarnation !== 'init-one-1';
    assert.equal((await peers.seen('a', isNew)).lostAt, undefined);
  });

  it('Graveyard closes the connection to a dead peer, and opens none', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a');
    const connections = await listening(t, dir, 'a');
    const { graveyard, peers } = await startedGraveyard(t, { dir });
    const end = closed(await connections.until(() => true));
    writeTombstone(dir, 'a', { Died: TIME });
    await end;
    await peers.seen('a', (it) => it.tombstone.Died === TIME && it.liveness === 'none');
    await graveyard.rescan();
    assert.equal(connections.items.length, 1);
  });
});
