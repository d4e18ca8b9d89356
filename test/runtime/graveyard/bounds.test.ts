/** The work that any container with access to the graveyard can cause by files, sockets and changes. */
import assert from 'node:assert/strict';
import { readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { asked, formatRequest, requestFileOf } from '../../../src/core/format/stop-request.ts';
import { SystemClock } from '../../../src/runtime/clock.ts';
import { Liveness } from '../../../src/runtime/graveyard/liveness.ts';
import { MAX_MEMBERS } from '../../../src/runtime/graveyard/read.ts';
import { Store } from '../../../src/runtime/graveyard/store.ts';
import { volumeAt } from '../../../src/runtime/graveyard/volume.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { listen, startedGraveyard, TIME, Told, writeTombstone } from './neighbours.ts';

function many(count: number, make: (name: string) => void, prefix = 'm'): readonly string[] {
  const names = Array.from({ length: count }, (_, index) => `${prefix}${10_000 + index}`);
  for (const name of names) make(name);
  return names;
}

describe('the limits of a graveyard', () => {
  it('show the first 128 of very many tombstones, and the named ones', async (t) => {
    const { dir, graveyard, peers, troubles } = await startedGraveyard(t, { named: ['work'] });
    many(200, (name) => writeTombstone(dir, name, { Died: TIME }));
    writeTombstone(dir, 'work');
    await graveyard.rescan();
    const seen = peers.items.at(-1)?.length ?? 0;
    assert.ok(seen === MAX_MEMBERS || seen === MAX_MEMBERS + 1, `${seen} are seen`);
    assert.equal(peers.latest('work').vanished, false);
    writeTombstone(dir, 'work', { Died: TIME });
    await peers.seen('work', (it) => it.tombstone.Died === TIME);
    assert.equal(troubles.items.filter((it) => it.includes('more than 128 members or 512 files')).length, 1);
  });

  it('let a member that writes without end cause 60 rounds of reading, and then 20 a second', async (t) => {
    const { dir, peers } = await startedGraveyard(t);
    const began = performance.now();
    for (let count = 0; performance.now() - began < 5_000; count++) {
      writeTombstone(dir, 'flood', { Restarts: count });
      await sleep(2);
    }
    const most = 64 + ((performance.now() - began) / 1_000) * 20 + 10;
    assert.ok(peers.items.length > 30, `only ${peers.items.length} rounds: no flood`);
    assert.ok(peers.items.length <= most, `${peers.items.length} rounds, at most ${most} are allowed`);
  });

  it('allow 32 warnings about odd names and one that says so', async (t) => {
    const { dir, graveyard, troubles } = await startedGraveyard(t);
    for (const round of ['A', 'B', 'C']) {
      const names = many(30, (name) => writeFileSync(join(dir, name), ''), round);
      await graveyard.rescan();
      for (const name of names) unlinkSync(join(dir, name));
    }
    assert.equal(troubles.items.length, 33);
    assert.match(troubles.items.at(-1) ?? '', /is not told/);
  });

  it('a stop request is found among 400 that mean nothing', async (t) => {
    const dir = temporaryDirectory();
    const self = { boot: 'boot', host: 'host' };
    const asks = new Told<unknown>();
    many(400, (name) => writeFileSync(join(dir, requestFileOf('me', `0000000${name.slice(1)}`)), 'nonsense'));
    const request = { ...asked({ mono: 1, wall: '1800000000000000000' }), Boot: 'boot', Incarnation: 'host', By: 'me' };
    writeFileSync(join(dir, requestFileOf('me', 'ffffffffffff')), formatRequest(request));
    const { graveyard, troubles } = await startedGraveyard(t, { dir, inbox: { self: () => self, onAsked: asks.add } });
    for (let scan = 0; scan < 2; scan++) await graveyard.rescan();
    assert.equal(asks.items.length, 1);
    assert.equal(troubles.items.length, 8);
    assert.equal(readdirSync(dir).length, 400);
  });

  it('a start removes at most 512 temporary files of its name', async () => {
    const dir = temporaryDirectory();
    many(600, (name) => writeFileSync(join(dir, `.me.0000000${name.slice(1)}.tmp`), ''));
    assert.equal(await new Store(volumeAt(dir), 'me').prepare(), undefined);
    assert.equal(readdirSync(dir).length, 600 - 512);
    assert.equal(await new Store(volumeAt(dir), 'me').prepare(), undefined);
    assert.deepEqual(readdirSync(dir), []);
  });

  it('a peer that ends each connection is left alone after three, until the next retry', async (t) => {
    const dir = temporaryDirectory();
    let connections = 0;
    await listen(t, join(dir, '.a.sock'), (socket) => {
      connections++;
      socket.destroy();
    });
    const liveness = new Liveness({ volume: volumeAt(dir), clock: new SystemClock(), onChange: () => {} });
    t.after(() => liveness.stop());
    await liveness.follow(['a']);
    while (connections < 3) await sleep(10);
    // Without the limit two more would come within this time.
    await sleep(2_500);
    assert.equal(connections, 3);
    await liveness.retry('a');
    while (connections < 4) await sleep(10);
  });
});
