/** A graveyard whose directory the host watches. A process that used inotify once keeps its instance, so this is alone. */
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { WatchCommand } from '../../../src/runtime/host/host.ts';
import { startedGraveyard, Told, writeTombstone } from './neighbours.ts';

describe('Graveyard', () => {
  it('has the host watch where it can, reads the files that it names, and uses no inotify', async (t) => {
    const orders = new Told<WatchCommand>();
    const { dir, graveyard, peers, troubles } = await startedGraveyard(t, { order: orders.add });
    const first = await orders.until(() => true);
    assert.deepEqual(first, { type: 'watch', number: 1, dir, ownName: 'me', quiet: [] });
    writeTombstone(dir, 'a');
    graveyard.hear({ type: 'watching', number: 1, errno: undefined });
    await peers.seen('a');
    writeTombstone(dir, 'a', { Restarts: 1 });
    graveyard.hear({ type: 'changed', names: ['.a.sock', 'me', 'a'] });
    await peers.seen('a', (it) => it.tombstone.Restarts === 1);
    writeTombstone(dir, 'b');
    graveyard.hear({ type: 'changed', names: [] });
    await peers.seen('b');
    assert.deepEqual(inotifyInstances(), []);
    graveyard.hear({ type: 'watching', number: 1, errno: 'EMFILE' });
    assert.match(troubles.items[0] ?? '', /^cannot watch the graveyard .*: EMFILE; .*, raise fs.inotify.max_user_inst/);
    assert.equal(await graveyard.watchList(), undefined);
  });

  it('hands the watch over once the host has answered, and has read all earlier changes', async (t) => {
    const orders = new Told<WatchCommand>();
    const { dir, graveyard, peers } = await startedGraveyard(t, { order: orders.add });
    await orders.until(() => true);
    graveyard.hear({ type: 'watching', number: 1, errno: undefined });
    const handedOver = graveyard.handOver(['quiet']);
    const { number, quiet } = await orders.until((order) => order.number === 2);
    assert.deepEqual({ number, quiet }, { number: 2, quiet: ['quiet'] });
    writeTombstone(dir, 'late');
    graveyard.hear({ type: 'watching', number: 2, errno: undefined });
    await handedOver;
    assert.equal(peers.latest('late').vanished, false);
  });

  it('repeats the quiet names of the hand-over in a watch that it orders later', async (t) => {
    const orders = new Told<WatchCommand>();
    const { dir, graveyard } = await startedGraveyard(t, { order: orders.add, rescanMs: 20 });
    await orders.until(() => true);
    void graveyard.handOver(['quiet']);
    // Only the rescan finds it, so the watcher may be deaf.
    writeTombstone(dir, 'unannounced');
    const { quiet } = await orders.until((order) => order.number === 3);
    assert.deepEqual(quiet, ['quiet']);
  });
});

function inotifyInstances(): string[] {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('inotify');
    } catch {
      return false; // the listing's own
    }
  });
}
