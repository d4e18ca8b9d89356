import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { PeerView } from '../../../src/core/peers.ts';
import type { Tombstone } from '../../../src/core/tombstone.ts';
import { Graveyard } from '../../../src/runtime/graveyard/graveyard.ts';
import { Unchanged } from '../../../src/runtime/graveyard/unchanged.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { carve as carveAny, listen, TIME, Told, view } from './neighbours.ts';

const BOOT = 'this-boot';

describe('Graveyard with members that do not matter', () => {
  it('neither tells of them nor connects to them', async (t) => {
    const dir = temporaryDirectory();
    const connected: string[] = [];
    for (const name of ['work', 'far']) {
      carve(dir, name, { Role: name === 'work' ? 'main' : 'sidecar' });
      await listen(t, join(dir, `.${name}.sock`), () => connected.push(name));
    }
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await peers.until((told) => view(told, 'work')?.liveness === 'held');
    await graveyard.rescan();
    assert.deepEqual(connected, ['work']);
    assert.ok(peers.items.every((told) => view(told, 'far') === undefined));
  });

  it('leaves what they say next to a rescan', async (t) => {
    const dir = temporaryDirectory();
    carve(dir, 'far', { Role: 'sidecar' });
    carve(dir, 'work', { Role: 'main' });
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await watching(dir, peers);
    // Now it would matter, but nobody looks; what comes after it is seen.
    carve(dir, 'far', { Role: 'main' });
    carve(dir, 'work', { Role: 'main', Phase: 'draining' });
    await peers.until((told) => view(told, 'work')?.tombstone.Phase === 'draining');
    assert.equal(view(peers.items.at(-1), 'far'), undefined);
    await graveyard.rescan();
    assert.equal(view(peers.items.at(-1), 'far')?.tombstone.Role, 'main');
  });

  it('goes on to tell of whoever has mattered once', async (t) => {
    const dir = temporaryDirectory();
    carve(dir, 'work', { Role: 'main' });
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await watching(dir, peers);
    carve(dir, 'work', { Role: 'sidecar' });
    await peers.until((told) => view(told, 'work')?.tombstone.Role === 'sidecar');
  });

  it('sees at once who comes after a death, as that may be somebody else', async (t) => {
    const dir = temporaryDirectory();
    carve(dir, 'far', { Role: 'sidecar', Died: TIME });
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await watching(dir, peers);
    carve(dir, 'far', { Role: 'main' });
    await peers.until((told) => view(told, 'far')?.tombstone.Role === 'main');
  });

  it('tells of a deadline that was carved before we stop, and sees all at once from then on', async (t) => {
    const dir = temporaryDirectory();
    carve(dir, 'early', { Role: 'sidecar', Deadline: 1 });
    carve(dir, 'late', { Role: 'sidecar' });
    const { graveyard, peers } = graveyardOf(t, dir);
    await graveyard.start();
    await watching(dir, peers);
    assert.equal(view(peers.items.at(-1), 'early'), undefined);
    const told = peers.items.length;
    graveyard.attend();
    // Seed 515900 of the simulator: a newer tombstone was carved in the midst of carving, and the older one over it.
    assert.equal(peers.items.length, told, 'not before whoever carves has done with that');
    await peers.until((told) => view(told, 'early')?.tombstone.Deadline === 1);
    await graveyard.rescan();
    carve(dir, 'late', { Role: 'sidecar', Deadline: 2 });
    await peers.until((told) => view(told, 'late')?.tombstone.Deadline === 2);
  });
});

describe('Unchanged', () => {
  it('in a large pod leaves out who does not matter in three of four scans, and nobody in a small one', async () => {
    const dir = temporaryDirectory();
    const unchanged = new Unchanged(dir, (name) => name === 'far');
    const scans = async (isLarge: boolean): Promise<boolean[]> => {
      const seen: boolean[] = [];
      for (let at = 0; at < 8; at++) {
        // Written just now, so it is to be read each time that it is looked at.
        for (const name of ['far', 'work']) writeFileSync(join(dir, name), '');
        await unchanged.begin(isLarge);
        assert.equal(await unchanged.has('work'), false);
        seen.push(await unchanged.has('far'));
      }
      return seen;
    };
    assert.deepEqual(await scans(true), [false, true, true, true, false, true, true, true]);
    assert.deepEqual(await scans(false), Array(8).fill(false));
  });
});

/** Mains matter, and to whoever stops those with a deadline. It does not rescan by itself within a test. */
function graveyardOf(t: TestContext, dir: string): { graveyard: Graveyard; peers: Told<readonly PeerView[]> } {
  const peers = new Told<readonly PeerView[]>();
  const graveyard = new Graveyard({
    dir,
    ownName: 'me',
    now: () => performance.now(),
    matters: ({ Role, Deadline }, isStopping) => Role === 'main' || (isStopping && Deadline !== undefined),
    onPeers: peers.add,
    onTrouble: () => {},
    inbox: { self: () => ({ boot: BOOT, host: 'me' }), onAsked: () => {} },
    rescanMs: 1e9,
  });
  t.after(() => graveyard.stop());
  return { graveyard, peers };
}

/** The file events begin with a scan of their own; what is carved from now on is told by events alone. */
async function watching(dir: string, peers: Told<readonly PeerView[]>): Promise<void> {
  for (let at = 0; at < 2; at++) {
    carve(dir, `probe-${at}`, { Role: 'main' });
    await peers.until((told) => view(told, `probe-${at}`) !== undefined);
  }
}

function carve(dir: string, name: string, more: Partial<Tombstone>): void {
  carveAny(dir, name, { Boot: BOOT, ...more });
}
