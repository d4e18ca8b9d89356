/**
 * A plot: this member's place in the graveyard. Carves its tombstone, has its liveness socket held, looks at the others.
 *
 * A graveyard that is broken never stops a member: what fails is said once and tried again. Two members of one name would write over
 * each other's tombstone, so whoever comes second carves nothing until the first is gone.
 */
import { lstat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { MemberConfig } from '../core/config.ts';
import { handleOf } from '../core/handle.ts';
import type { PeerView } from '../core/peers.ts';
import { formatTombstone, type Tombstone } from '../core/tombstone.ts';
import type { Clock } from './clock.ts';
import { Graveyard } from './graveyard/graveyard.ts';
import { appears, isHeldByAnother } from './graveyard/held.ts';
import { Store, type Trouble } from './graveyard/store.ts';
import { isLate } from './late.ts';
import type { Log } from './log.ts';

export interface PlotOptions {
  readonly dir: string;
  readonly member: MemberConfig;
  readonly clock: Clock;
  readonly log: Log;
}

export interface PlotEvents {
  /** The host shall hold this socket from now on. */
  listen(path: string): void;
  peersSeen(peers: readonly PeerView[]): void;
}

export class Plot {
  readonly #options: PlotOptions;
  readonly #store: Store;
  readonly #socketPath: string;
  #graveyard: Graveyard | undefined;
  #text: string | undefined;
  #pending: Promise<void> = Promise.resolve();
  /** Carving is allowed: the name is ours. */
  #isOurs = false;
  #trouble: string | undefined;
  #tending: NodeJS.Timeout | undefined;

  constructor(options: PlotOptions) {
    this.#options = options;
    this.#store = new Store(options.dir, options.member.name);
    this.#socketPath = join(options.dir, handleOf(options.member.name));
  }

  /** Resolves when the name is claimed and the tombstone carved. `isHeld`: an earlier supervisor had the host hold the socket already. */
  async claim(events: PlotEvents, isHeld: boolean): Promise<void> {
    this.#report(await this.#store.prepare());
    this.#isOurs = isHeld;
    if (!isHeld) await this.#claim(events);
    this.#write();
    await this.#pending;
    this.#tending = setInterval(() => void this.#tend(events), TEND_MS);
    this.#tending.unref();
  }

  /** Resolves after the first look at the others. A file system that hangs is not waited for: a member must start. */
  async watch(events: PlotEvents): Promise<void> {
    const { dir, member, clock, log } = this.#options;
    const graveyard = new Graveyard({
      dir,
      ownName: member.name,
      now: () => clock.now().mono,
      onPeers: (peers) => events.peersSeen(peers),
      onTrouble: (message, error) => log.say('warn', message, error === undefined ? {} : { error: String(error) }),
    });
    this.#graveyard = graveyard;
    if (await isLate(graveyard.start(), MOST_LOOKING_MS)) {
      log.say('error', `the graveyard ${dir} does not answer: going on without the others until it does`);
      events.peersSeen([]);
    }
  }

  /** Never waits; the newest tombstone wins. */
  carve(tombstone: Tombstone): void {
    const text = formatTombstone(tombstone);
    if (text === this.#text) return;
    this.#text = text;
    this.#write();
  }

  async rescan(): Promise<void> {
    await this.#graveyard?.rescan();
  }

  /** Removes what other sessions have left. */
  async clear(names: readonly string[]): Promise<void> {
    const trouble = await this.#store.clear(names);
    if (trouble !== undefined) this.#options.log.say('warn', trouble.message);
  }

  /** Resolves when the last tombstone is carved. */
  async settle(): Promise<void> {
    clearInterval(this.#tending);
    await this.#pending;
  }

  #write(): void {
    if (!this.#isOurs || this.#text === undefined) return;
    this.#pending = this.#store.carve(this.#text).then((trouble) => this.#report(trouble));
  }

  async #claim(events: PlotEvents): Promise<void> {
    const { member, dir, log } = this.#options;
    if (await isHeldByAnother(this.#socketPath)) {
      const key = 'name taken';
      if (this.#trouble !== key) {
        log.say(
          'error',
          `another live member is called ${member.name} in ${dir}: give each its own --name; no tombstone is carved until then`,
        );
      }
      this.#trouble = key;
      return;
    }
    // Whoever reads the tombstone must find its handle, or a KILL in between would leave a member that nobody can call dead.
    await unlink(this.#socketPath).catch(() => {});
    events.listen(this.#socketPath);
    await appears(this.#socketPath, MOST_LISTENING_MS);
    this.#isOurs = true;
  }

  /** Now and then: the name may be free now, the volume writable again, the directory deleted and made anew. */
  async #tend(events: PlotEvents): Promise<void> {
    if (!this.#isOurs) {
      await this.#claim(events);
      return this.#write();
    }
    const tended = await this.#store.tend();
    if (tended !== 'idle') this.#report(tended);
    const isGone = await lstat(this.#socketPath).then(
      () => false,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
    if (isGone && this.#trouble === undefined) events.listen(this.#socketPath);
  }

  #report(trouble: Trouble | undefined): void {
    const { log } = this.#options;
    if (trouble !== undefined && trouble.message !== this.#trouble) log.say('error', trouble.message);
    if (trouble === undefined && this.#trouble !== undefined) log.say('info', 'the graveyard can be written again');
    this.#trouble = trouble?.message;
  }
}

const TEND_MS = 5_000;
const MOST_LISTENING_MS = 200;
const MOST_LOOKING_MS = 5_000;
