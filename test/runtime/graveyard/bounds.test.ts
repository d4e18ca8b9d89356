/**
 * How much a graveyard can take of its reader: whoever can write to it can make any number of files, sockets and
 * changes.
 */
import assert from 'node:assert/strict';
import { readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { asked, formatRequest, requestFileOf } from '../../../src/core/format/stop-request.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { Graveyard } from '../../../src/runtime/graveyard/graveyard.ts';
import { Liveness } from '../../../src/runtime/graveyard/liveness.ts';
import { MAX_MEMBERS } from '../../../src/runtime/graveyard/read.ts';
import { Store } from '../../../src/runtime/graveyard/store.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { latest, listen, TIME, Told, view, writeTombstone } from './neighbours.ts';

interface Seen {
  readonly graveyard: Graveyard;
  readonly peers: Told<readonly PeerView[]>;
  readonly troubles: Told<string>;
}

function seeing(t: TestContext, dir: string, named: readonly string[] = []): Seen {
  const [peers, troubles] = [new Told<readonly PeerView[]>(), new Told<string>()];
  const graveyard = new Graveyard({
    dir,
    ownName: 'me',
    named,
    now: () => performance.now(),
    onPeers: peers.add,
    onTrouble: troubles.add,
    rescanMs: 1e9,
  });
  t.after(() => graveyard.stop());
  return { graveyard, peers, troubles };
}

function many(count: number, make: (name: string) => void, prefix = 'm'): readonly string[] {
  const names = Array.from({ length: count }, (_, index) => `${prefix}${10_000 + index}`);
  for (const name of names) make(name);
  return names;
}

describe('of very many', () => {
  it('tombstones that come while it watches only the first 128 are seen, and those that are named', async (t) => {
    const dir = temporaryDirectory();
    const { graveyard, peers, troubles } = seeing(t, dir, ['work']);
    await graveyard.start();
    many(200, (name) => writeTombstone(dir, name, { Died: TIME }));
    writeTombstone(dir, 'work');
    await graveyard.rescan();
    const seen = peers.items.at(-1)?.length ?? 0;
    assert.ok(seen === MAX_MEMBERS || seen === MAX_MEMBERS + 1, `${seen} are seen`);
    assert.equal(latest(peers, 'work').vanished, false);
    writeTombstone(dir, 'work', { Died: TIME });
    await peers.until((told) => view(told, 'work')?.tombstone.Died === TIME);
    assert.equal(troubles.items.filter((it) => it.includes('more than 128 members or 512 files')).length, 1);
  });

  it('files of others a change of one member is still told without a rescan', async (t) => {
    const dir = temporaryDirectory();
    many(2100, (name) => writeFileSync(join(dir, `${name}.txt`), ''));
    const { graveyard, peers, troubles } = seeing(t, dir);
    await graveyard.start();
    // It is not told when the watch has begun, so change again and again until it has.
    const seen = peers.until((told) => view(told, 'work') !== undefined).then(() => true);
    while (!(await Promise.race([seen, sleep(50, false)]))) writeTombstone(dir, 'work', { Born: TIME });
    writeTombstone(dir, 'work', { Died: TIME });
    await peers.until((told) => view(told, 'work')?.tombstone.Died === TIME);
    assert.equal(troubles.items.filter((it) => it.includes('more than 128 members or 512 files')).length, 1);
  });

  it('tombstones no history is kept, and no part of a longer text', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'a', { History: [{ At: TIME, Event: 'Born' }] });
    const { graveyard, peers } = seeing(t, dir);
    await graveyard.start();
    assert.equal(latest(peers, 'a').tombstone.History, undefined);
  });

  it('odd names no more than 32 and a last word are told', async (t) => {
    const dir = temporaryDirectory();
    const { graveyard, troubles } = seeing(t, dir);
    await graveyard.start();
    for (const round of ['A', 'B', 'C']) {
      const names = many(30, (name) => writeFileSync(join(dir, name), ''), round);
      await graveyard.rescan();
      for (const name of names) unlinkSync(join(dir, name));
    }
    assert.equal(troubles.items.length, 33);
    assert.match(troubles.items.at(-1) ?? '', /is not told/);
  });

  it('stop requests that mean nothing none hides one that does, though no event tells of it', async (t) => {
    const dir = temporaryDirectory();
    const self = { boot: 'boot', host: 'host' };
    const asks = new Told<unknown>();
    many(400, (name) => writeFileSync(join(dir, requestFileOf('me', `0000000${name.slice(1)}`)), 'nonsense'));
    const request = { ...asked({ mono: 1, wall: '1800000000000000000' }), Boot: 'boot', Incarnation: 'host', By: 'me' };
    writeFileSync(join(dir, requestFileOf('me', 'ffffffffffff')), formatRequest(request));
    const troubles = new Told<string>();
    const graveyard = new Graveyard({
      dir,
      ownName: 'me',
      now: () => 0,
      onPeers: () => {},
      onTrouble: troubles.add,
      inbox: { self: () => self, onAsked: asks.add },
      rescanMs: 1e9,
    });
    t.after(() => graveyard.stop());
    await graveyard.start();
    for (let scan = 0; scan < 2; scan++) await graveyard.rescan();
    assert.equal(asks.items.length, 1);
    assert.equal(troubles.items.length, 8);
    assert.equal(readdirSync(dir).length, 400);
  });

  it('temporary files of its name 512 at a time are removed at a start', async () => {
    const dir = temporaryDirectory();
    many(600, (name) => writeFileSync(join(dir, `.me.0000000${name.slice(1)}.tmp`), ''));
    assert.equal(await new Store(dir, 'me').prepare(), undefined);
    assert.equal(readdirSync(dir).length, 600 - 512);
    assert.equal(await new Store(dir, 'me').prepare(), undefined);
    assert.deepEqual(readdirSync(dir), []);
  });
});

describe('a peer that ends each connection at once', () => {
  it('is connected to a few times and then left alone until the next look', async (t) => {
    const dir = temporaryDirectory();
    let connections = 0;
    await listen(t, join(dir, '.a.sock'), (socket) => {
      connections++;
      socket.destroy();
    });
    const liveness = new Liveness({ dir, now: () => 0, onChange: () => {} });
    t.after(() => liveness.stop());
    await liveness.follow(['a']);
    while (connections < 3) await sleep(10);
    // Two more would come within this time.
    await sleep(2_500);
    assert.equal(connections, 3);
    await liveness.retry('a');
    while (connections < 4) await sleep(10);
  });
});
