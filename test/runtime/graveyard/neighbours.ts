/** Other members for the tests: their tombstones, written as they would write them, and what a graveyard reports. */
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { formatTombstone, type Tombstone } from '../../../src/core/format/tombstone.ts';
import type { PeerView } from '../../../src/core/state/peer.ts';
import { SystemClock } from '../../../src/runtime/clock.ts';
import { Graveyard, type GraveyardOptions } from '../../../src/runtime/graveyard/graveyard.ts';
import { volumeAt } from '../../../src/runtime/graveyard/volume.ts';
import { temporaryDirectory } from '../../helpers/temporary.ts';

export const TIME = '2026-01-02T03:04:05.678901234Z';

export function writeTombstone(dir: string, name: string, more: Partial<Tombstone> = {}): void {
  const temporary = join(dir, `.${name}.000000000000.tmp`);
  writeFileSync(temporary, formatTombstone({ Version: 1, Name: name, Incarnation: 'first-1', ...more }));
  renameSync(temporary, join(dir, name));
}

export function listen(t: TestContext, path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    onConnection(socket);
  });
  t.after(() => server.close());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve(server));
  });
}

/** Everything that was reported, and a way to wait for what comes. */
export class Told<Item> {
  readonly items: Item[] = [];
  #waiting: (() => void)[] = [];

  readonly add = (item: Item): void => {
    this.items.push(item);
    for (const wake of this.#waiting.splice(0)) wake();
  };

  /** The first item of this kind, past or to come. */
  async until(isIt: (item: Item) => boolean): Promise<Item> {
    for (let next = 0; ; next++) {
      if (next === this.items.length) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      const item = this.items[next];
      if (item !== undefined && isIt(item)) return item;
    }
  }
}

export class Peers extends Told<readonly PeerView[]> {
  /** The first view of this member for which the condition holds, past or to come. */
  async seen(name: string, isIt: (view: PeerView) => boolean = () => true): Promise<PeerView> {
    const isSeen = (found: PeerView | undefined): found is PeerView => found !== undefined && isIt(found);
    const found = view(await this.until((list) => isSeen(view(list, name))), name);
    assert.ok(found);
    return found;
  }

  latest(name: string): PeerView {
    const found = view(this.items.at(-1), name);
    assert.ok(found, `${name} is not among the peers`);
    return found;
  }
}

export interface Watched {
  readonly graveyard: Graveyard;
  readonly peers: Peers;
  readonly troubles: Told<string>;
}

/** A graveyard that is stopped with the test. Without `rescanMs` it does not rescan by itself within a test. */
export function graveyardOf(t: TestContext, dir: string, more: Partial<GraveyardOptions> = {}): Watched {
  const [peers, troubles] = [new Peers(), new Told<string>()];
  const told = { onPeers: peers.add, onTrouble: troubles.add };
  const graveyard = new Graveyard({
    volume: volumeAt(dir),
    ownName: 'me',
    clock: new SystemClock(),
    rescanMs: 1e9,
    ...told,
    ...more,
  });
  t.after(() => graveyard.stop());
  return { graveyard, peers, troubles };
}

/** The same, started; in an empty directory of its own unless another is named. */
export async function startedGraveyard(
  t: TestContext,
  { dir = temporaryDirectory(), ...more }: Partial<GraveyardOptions> & { readonly dir?: string } = {},
): Promise<Watched & { readonly dir: string }> {
  const watched = graveyardOf(t, dir, more);
  await watched.graveyard.start();
  return { dir, ...watched };
}

export function view(peers: readonly PeerView[] | undefined, name: string): PeerView | undefined {
  return peers?.find(({ tombstone }) => tombstone.Name === name);
}
