/**
 * Membership: publishes this member's tombstone and liveness socket, and watches its peers.
 *
 * A broken graveyard never stops a member: each failure is logged once and tried again.
 */
import { isAbsolute, join } from 'node:path';
import { handleOf, isMemberName, MAX_SOCKET_PATH_BYTES, type Tombstone } from '../core/format/tombstone.ts';
import { businessOf, isQuiet, mattersTo } from '../core/pod/interest.ts';
import { isOfAnotherSession } from '../core/pod/standing.ts';
import type { PeerView } from '../core/state/peer.ts';
import { Graveyard } from './graveyard/graveyard.ts';
import type { Ask } from './graveyard/inbox.ts';
import { type Trouble, trouble } from './graveyard/store.ts';
import { type VolumeAccess, volumeAt } from './graveyard/volume.ts';
import { MAX_QUIET } from './host/frames.ts';
import type { Connection, DirectoryNews, WatchCommand } from './host/host.ts';
import { OwnTombstone, type OwnTombstoneOptions } from './own-tombstone.ts';
import type { SleepPlace, SleepWatch } from './sleep/sleeper.ts';
import { whyAwakeByGraveyard } from './sleep/why-awake.ts';
import { withTimeout } from './timeouts.ts';

export interface MembershipOptions extends Omit<OwnTombstoneOptions, 'volume'> {
  readonly dir: string;
  /** Default: the directory itself. */
  readonly volume?: VolumeAccess;
  /** The host of each life, by member, whose socket the previous supervisor held. */
  readonly heldBefore?: Readonly<Record<string, string>>;
  /** This supervisor was woken, so the warnings about the graveyard are in the log already. */
  readonly wasWoken?: boolean;
  /** The host connects to sockets for us; undefined: it cannot. */
  readonly hostConnect?: ((path: string) => Promise<Connection>) | undefined;
}

export interface MembershipEvents {
  /** The host shall hold this socket from now on. */
  listen(path: string): void;
  /** The host shall watch the directory; undefined: it cannot. */
  readonly watch?: ((command: WatchCommand) => void) | undefined;
  peersSeen(peers: readonly PeerView[]): void;
  /** Once per request; again when the supervisor died before it could be removed. */
  stopAsked(ask: Ask): void;
}

export class Membership implements SleepPlace {
  readonly #options: MembershipOptions;
  readonly #volume: VolumeAccess;
  readonly #own: OwnTombstone;
  #graveyard: Graveyard | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#volume = options.volume ?? volumeAt(options.dir, options.hostConnect);
    this.#own = new OwnTombstone({ ...options, volume: this.#volume });
  }

  /** The run of the pod's init containers that this container follows; undefined: it is not recorded. */
  async readGeneration(): Promise<string | undefined> {
    const { log } = this.#options;
    const { generation, why } = await this.#volume.readGeneration();
    // The failed tombstone reports a directory that may not be entered.
    const level = why?.includes('EACCES: ') && why.includes(', lstat ') ? 'debug' : 'warn';
    if (why !== undefined) log.say(level, `cannot read the generation of this pod: ${why}; it counts as having none`);
    return generation;
  }

  /** Resolves when the name is claimed and the tombstone written. `isHeld`: the host holds the socket already. */
  claim(events: MembershipEvents, isHeld: boolean): Promise<void> {
    return this.#own.claim((path) => events.listen(path), isHeld);
  }

  /** Resolves after the first scan. It does not wait for a file system that hangs: a member must start. */
  async watch(events: MembershipEvents): Promise<void> {
    const { dir, member, clock, log, heldBefore, wasWoken = false } = this.#options;
    let isLogged = wasWoken;
    const graveyard = new Graveyard({
      volume: this.#volume,
      ownName: member.name,
      named: [...member.mains, ...member.startAfter.map(({ name }) => name)],
      clock,
      matters: (peer, business) => mattersTo(member, business, peer),
      onPeers: (peers) => events.peersSeen(peers),
      onContact: (peer, { kind }) => log.say('debug', `the handle of a member: ${kind}`, { peer }),
      inbox: {
        self: () => this.#own.self,
        onAsked: (ask) => {
          log.say('debug', 'a stop request came', { by: ask.by });
          events.stopAsked(ask);
        },
      },
      onTrouble: (message, error) => log.say(this.#own.isLogged(error) || isLogged ? 'debug' : 'warn', message),
      isQuiet: (peer) => isQuiet(member, peer),
      order: events.watch,
      ...(heldBefore !== undefined && { heldBefore }),
    });
    this.#graveyard = graveyard;
    if (this.#own.tombstone !== undefined) graveyard.attend(businessOf(this.#own.tombstone));
    if (await withTimeout(graveyard.start(), MAX_FIRST_SCAN_MS, clock.timers)) {
      log.say('error', `the graveyard ${dir} does not answer: continuing without the other members until it does`);
      events.peersSeen([]);
    }
    isLogged = false;
  }

  /** Never waits; the newest tombstone wins. */
  publish(tombstone: Tombstone): void {
    if (this.#own.publish(tombstone)) this.#graveyard?.attend(businessOf(tombstone));
  }

  /** The path of the tombstone once it says what was published last; undefined: another process cannot replace it. */
  async whereWritten(): Promise<string | undefined> {
    await this.#own.written();
    const { isWritten, store } = this.#own;
    return isWritten && isAbsolute(store.path) && (await this.#volume.isLocal()) ? store.path : undefined;
  }

  /** The path of a member's liveness socket. */
  socketOf(name: string): string {
    return join(this.#volume.dir, handleOf(name));
  }

  async sleepWatch(): Promise<SleepWatch | string> {
    const isLocal = await this.#volume.isLocal();
    const isSettled = isLocal && (await this.#own.isSettled());
    const list = isLocal ? await this.#graveyard?.watchList() : undefined;
    const { quiet = [], held = {} } = list ?? {};
    const sockets = Object.keys(held).map((name) => this.socketOf(name));
    // Init holds only these connections.
    const isTooLong = sockets.some((path) => Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES);
    const isTooLarge = quiet.length > MAX_QUIET || isTooLong;
    const why = whyAwakeByGraveyard({ isLocal, isSettled, list, isTooLarge });
    if (why !== undefined || list === undefined) return why ?? 'the graveyard was not read yet';
    return { own: this.#own.store.path, ...list };
  }

  hear(news: DirectoryNews): void {
    this.#graveyard?.hear(news);
  }

  async handOver({ quiet }: SleepWatch): Promise<void> {
    await this.#graveyard?.handOver(quiet);
  }

  async rescan(): Promise<void> {
    await this.#graveyard?.rescan();
  }

  /** Removes what other sessions have left under these names, unless a member of ours has overwritten it by now. */
  async clear(names: readonly string[]): Promise<void> {
    const { dir, member, log } = this.#options;
    let failed: Trouble | undefined;
    for (const name of names.filter(isMemberName)) {
      const reading = await this.#volume.read(name, undefined);
      if (reading.kind !== 'tombstone' || !isOfAnotherSession(member, reading.tombstone)) continue;
      for (const file of [name, handleOf(name)]) {
        await this.#volume.remove(file).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') failed ??= trouble(`remove ${join(dir, file)} of another session`, error);
        });
      }
    }
    if (failed !== undefined) log.say('warn', failed.message);
  }

  /** Resolves when the last tombstone is written and the requests that were told are removed. */
  async settle(): Promise<void> {
    await Promise.all([this.#own.settle(), this.#graveyard?.settle()]);
  }

  /** Settles, and closes the connections to the others; a process that exits need not. */
  async close(): Promise<void> {
    await this.settle();
    await this.#graveyard?.stop();
  }
}

const MAX_FIRST_SCAN_MS = 5_000;
