/**
 * The files that a simulated init watches for a sleeping supervisor, as `src/init/supervisor/directory.c` does. They are
 * tombstones of all but the quiet members, new handles, and the directory.
 */
import { isRequestFor } from '../../src/core/format/stop-request.ts';
import { isMemberName } from '../../src/core/format/tombstone.ts';
import type { WatchCommand } from '../../src/runtime/host/host.ts';
import type { AccessWorld } from './access.ts';
import type { Volume, Watcher } from './volume.ts';

export class Vigil implements Watcher {
  /** What has changed first; undefined: nothing has. */
  fired: string | undefined;
  readonly #volume: Volume;
  readonly #orders: WatchCommand;
  readonly #onFire: (why: string, name?: string) => void;

  /** `name`: of the member whose file or handle it is. */
  constructor({ volume }: AccessWorld, orders: WatchCommand, onFire: (why: string, name?: string) => void) {
    this.#volume = volume;
    this.#orders = orders;
    this.#onFire = onFire;
    volume.watchers.add(this);
    if (!volume.isThere) this.#fire('no directory');
  }

  hint(name: string): void {
    if (isMemberName(name) && !this.#orders.quiet.includes(name)) this.#fire('a file', name);
    if (!isRequestFor(this.#orders.ownName, name)) return;
    // Also behind a change that a prepared stop has passed over.
    if (this.fired === undefined) this.#fire('a request');
    else this.#onFire('a request');
  }

  bound(name: string): void {
    this.#fire('a new handle', name);
  }

  lose(): void {
    this.#fire('the directory');
  }

  /** The supervisor may not sleep. Init forgets what has fired, and watches the directory. */
  letGo(): void {
    this.fired = undefined;
  }

  stop(): void {
    this.#volume.watchers.delete(this);
  }

  #fire(why: string, name?: string): void {
    if (this.fired !== undefined || !this.#volume.watchers.has(this)) return;
    this.fired = why;
    this.#onFire(why, name);
  }
}
