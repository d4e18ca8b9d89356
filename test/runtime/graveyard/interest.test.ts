import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Tombstone } from '../../../src/core/format/tombstone.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { Graveyard } from '../../../src/runtime/graveyard/graveyard.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { listen, TIME, Told, view, writeTombstone as writeAny } from './neighbours.ts';

const BOOT = 'this-boot';

describe('Graveyard with members that do not matter', () => {
  it('neither tells of them nor connects to them', async (t) => {
    const dir = temporaryDirectory();
    const connected: string[] = [];
    for (const name of ['work', 'far']) {
      writeTombstone(dir, name, { Role: name === 'work' ? 'main' : 'sidecar' });
      await listen(t, join(dir, `.${name}.sock`), () => connected.push(name));
    }
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await peers.until((told) => view(told, 'work')?.liveness === 'held');
    await graveyard.rescan();
    assert.deepEqual(connected, ['work']);
    assert.ok(peers.items.every((told) => view(told, 'far') === undefined));
  });

  it('sees at once that a member begins to matter', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'other', { Role: 'sidecar' });
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await watching(dir, peers);
    writeTombstone(dir, 'other', { Role: 'main' });
    await peers.until((told) => view(told, 'other')?.tombstone.Role === 'main');
  });

  it('goes on to tell of whoever has mattered once', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'work', { Role: 'main' });
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await watching(dir, peers);
    writeTombstone(dir, 'work', { Role: 'sidecar' });
    await peers.until((told) => view(told, 'work')?.tombstone.Role === 'sidecar');
  });

  it('sees at once who comes after a death, as that may be somebody else', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'far', { Role: 'sidecar', Died: TIME });
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await watching(dir, peers);
    writeTombstone(dir, 'far', { Role: 'main' });
    await peers.until((told) => view(told, 'far')?.tombstone.Role === 'main');
  });

  it('tells of a deadline that was written before we stop, and sees all at once from then on', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'early', { Role: 'sidecar', Deadline: 1 });
    writeTombstone(dir, 'late', { Role: 'sidecar' });
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await watching(dir, peers);
    assert.equal(view(peers.items.at(-1), 'early'), undefined);
    const told = peers.items.length;
    graveyard.attend('stop');
    // Seed 515900 of the simulator: a newer tombstone was written in the midst of a write, and the older one over it.
    assert.equal(peers.items.length, told, 'not before that write is done');
    await peers.until((told) => view(told, 'early')?.tombstone.Deadline === 1);
    await graveyard.rescan();
    writeTombstone(dir, 'late', { Role: 'sidecar', Deadline: 2 });
    await peers.until((told) => view(told, 'late')?.tombstone.Deadline === 2);
  });
});

/** Mains matter, and to whoever stops those with a deadline. It does not rescan by itself within a test. */
function graveyardOf(t: TestContext, dir: string): { graveyard: Graveyard; peers: Told<readonly PeerView[]> } {
  const peers = new Told<readonly PeerView[]>();
  const graveyard = new Graveyard({
    dir,
    ownName: 'me',
    now: () => performance.now(),
    matters: ({ Role, Deadline }, business) => Role === 'main' || (business === 'stop' && Deadline !== undefined),
    onPeers: peers.add,
    onTrouble: () => {},
    inbox: { self: () => ({ boot: BOOT, host: 'me' }), onAsked: () => {} },
    rescanMs: 1e9,
  });
  t.after(() => graveyard.stop());
  return { graveyard, peers };
}

/** The file events begin with a scan of their own; what is written from now on is told by events alone. */
async function watching(dir: string, peers: Told<readonly PeerView[]>): Promise<void> {
  for (let at = 0; at < 2; at++) {
    writeTombstone(dir, `probe-${at}`, { Role: 'main' });
    await peers.until((told) => view(told, `probe-${at}`) !== undefined);
  }
}

function writeTombstone(dir: string, name: string, more: Partial<Tombstone>): void {
  writeAny(dir, name, { Boot: BOOT, ...more });
}
