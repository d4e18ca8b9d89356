import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Tombstone } from '../../../src/core/format/tombstone.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import * as neighbours from './neighbours.ts';
import { listen, view, type Watched } from './neighbours.ts';

const BOOT = 'this-boot';

describe('Graveyard with members that do not matter', () => {
  it('Graveyard neither reports members that do not matter nor connects to them', async (t) => {
    const dir = temporaryDirectory();
    const connected: string[] = [];
    for (const name of ['work', 'other']) {
      writeTombstone(dir, name, { Role: name === 'work' ? 'main' : 'sidecar' });
      await listen(t, join(dir, `.${name}.sock`), () => connected.push(name));
    }
    const { graveyard, peers } = await started(t, dir);
    await peers.seen('work', (it) => it.liveness === 'held');
    await graveyard.rescan();
    assert.deepEqual(connected, ['work']);
    assert.ok(peers.items.every((told) => view(told, 'other') === undefined));
  });

  it('Graveyard sees at once that a member begins to matter, and then reports it for good', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'other', { Role: 'sidecar' });
    const { peers } = await started(t, dir);
    await watching(dir, peers);
    for (const Role of ['main', 'sidecar'] as const) {
      writeTombstone(dir, 'other', { Role });
      await peers.seen('other', (it) => it.tombstone.Role === Role);
    }
  });

  it('Graveyard reports a deadline from before our stop once the caller has handled its event', async (t) => {
    const dir = temporaryDirectory();
    writeTombstone(dir, 'early', { Role: 'sidecar', Deadline: 1 });
    writeTombstone(dir, 'late', { Role: 'sidecar' });
    const { graveyard, peers } = await started(t, dir);
    await watching(dir, peers);
    assert.equal(view(peers.items.at(-1), 'early'), undefined);
    const told = peers.items.length;
    graveyard.attend('stop');
    // Seed 515900 of the simulator: a newer tombstone was written in the midst of a write, and the older one over it.
    assert.equal(peers.items.length, told);
    await peers.seen('early', (it) => it.tombstone.Deadline === 1);
    writeTombstone(dir, 'late', { Role: 'sidecar', Deadline: 2 });
    await peers.seen('late', (it) => it.tombstone.Deadline === 2);
  });
});

/** Mains matter, and in a stop members with a deadline. */
function started(t: TestContext, dir: string): Promise<Watched> {
  return neighbours.startedGraveyard(t, {
    dir,
    matters: ({ Role, Deadline }, business) => Role === 'main' || (business === 'stop' && Deadline !== undefined),
    inbox: { self: () => ({ boot: BOOT, host: 'me' }), onAsked: () => {} },
  });
}

/** The file events begin with a scan of their own; later changes are seen by events alone. */
async function watching(dir: string, peers: Watched['peers']): Promise<void> {
  for (let at = 0; at < 2; at++) {
    writeTombstone(dir, `probe-${at}`, { Role: 'main' });
    await peers.seen(`probe-${at}`);
  }
}

function writeTombstone(dir: string, name: string, more: Partial<Tombstone>): void {
  neighbours.writeTombstone(dir, name, { Boot: BOOT, ...more });
}
