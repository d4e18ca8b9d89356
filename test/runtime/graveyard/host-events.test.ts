/** A graveyard whose directory the host watches. A process that has once used inotify keeps its instance: so alone. */
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { Graveyard } from '../../../src/runtime/graveyard/graveyard.ts';
import type { WatchCommand } from '../../../src/runtime/host/host.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { graveyardOf, Told, view, writeTombstone } from './neighbours.ts';

describe('Graveyard', () => {
  it('has the host watch where it can, reads what that tells of, and nothing by inotify', async (t) => {
    const dir = temporaryDirectory();
    const orders = new Told<WatchCommand>();
    const { graveyard, peers, troubles } = graveyardOf(t, dir, undefined, orders.add);
    await graveyard.start();
    const first = await orders.until(() => true);
    assert.deepEqual(first, { type: 'watch', number: 1, dir, ownName: 'me', quiet: [], sockets: [] });
    writeTombstone(dir, 'a');
    graveyard.hear({ type: 'watching', number: 1, errno: undefined });
    await peers.until((list) => view(list, 'a') !== undefined);
    writeTombstone(dir, 'a', { Restarts: 1 });
    graveyard.hear({ type: 'changed', names: ['.a.sock', 'me', 'a'] });
    await peers.until((list) => view(list, 'a')?.tombstone.Restarts === 1);
    writeTombstone(dir, 'b');
    graveyard.hear({ type: 'changed', names: [] });
    await peers.until((list) => view(list, 'b') !== undefined);
    assert.deepEqual(inotifyInstances(), []);
    graveyard.hear({ type: 'watching', number: 1, errno: 'EMFILE' });
    assert.match(troubles.items[0] ?? '', /^cannot watch the graveyard .*: EMFILE; .*, raise fs.inotify.max_user_inst/);
    assert.equal(graveyard.vigil(), undefined);
  });

  it('is entrusted to the host once that has answered, and what changed until then was read', async (t) => {
    const dir = temporaryDirectory();
    const peers = new Told<readonly PeerView[]>();
    const orders = new Told<WatchCommand>();
    const about = { dir, ownName: 'me', now: () => performance.now(), onTrouble: () => {}, rescanMs: 1e9 };
    const graveyard = new Graveyard({ ...about, onPeers: peers.add, order: orders.add });
    t.after(() => graveyard.stop());
    await graveyard.start();
    await orders.until(() => true);
    graveyard.hear({ type: 'watching', number: 1, errno: undefined });
    const entrusted = graveyard.entrust(['quiet'], ['/g/.a.sock']);
    const { number, quiet, sockets } = await orders.until((order) => order.number === 2);
    assert.deepEqual({ number, quiet, sockets }, { number: 2, quiet: ['quiet'], sockets: ['/g/.a.sock'] });
    writeTombstone(dir, 'late');
    graveyard.hear({ type: 'watching', number: 2, errno: undefined });
    await entrusted;
    assert.ok(view(peers.items.at(-1), 'late') !== undefined);
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
