/**
 * Membership: publishes this member's tombstone and liveness socket, and watches its peers.
 *
 * A graveyard that is broken never stops a member: what fails is said once and tried again. Two members of one name
 * would write over each other's tombstone, so the second one writes no tombstone until the first is gone; of two that
 * came at the same moment, and find that out by the tombstone, the one with the greater host id gives way.
 */
import { isAbsolute, join } from 'node:path';
import type { MemberConfig } from '../core/config.ts';
import {
  formatTombstone,
  handleOf,
  hostOf,
  MAX_SOCKET_PATH_BYTES,
  saysTheSame,
  type Tombstone,
} from '../core/format/tombstone.ts';
import { businessOf, isQuiet, mattersTo } from '../core/pod/interest.ts';
import { isOfAnotherSession } from '../core/pod/standing.ts';
import type { PeerView } from '../core/state/peer.ts';
import type { Clock } from './clock.ts';
import { inDirectory, isLink } from './graveyard/directory.ts';
import { readGeneration } from './graveyard/generation.ts';
import { Graveyard } from './graveyard/graveyard.ts';
import { appears, isAbandoned, isHeldByAnother, isMissing, removeSocket } from './graveyard/handle.ts';
import type { Ask, Self } from './graveyard/inbox.ts';
import { readMember } from './graveyard/read.ts';
import { Store, type Trouble } from './graveyard/store.ts';
import { isLocal } from './graveyard/local.ts';
import { MAX_QUIET, MAX_WATCHED } from './host/frames.ts';
import type { DirectoryNews, WatchCommand } from './host/host.ts';
import type { Log } from './log.ts';
import { withTimeout } from './timeouts.ts';

export interface MembershipOptions {
  readonly dir: string;
  /** It is made where it is not there. */
  readonly makes?: boolean;
  readonly member: MemberConfig;
  readonly clock: Clock;
  readonly log: Log;
  /** How often it is looked whether all is as it should be; default 5,000. */
  readonly tendMs?: number;
  /** By name, whose handle the supervisor before this one has held: the host of that life. */
  readonly heldBefore?: Readonly<Record<string, string>>;
  /** It was woken: what it has said of the graveyard before need not be said again. */
  readonly wasWoken?: boolean;
}

/** What the host has to watch while we sleep. */
export interface Vigil {
  /** The path of the own tombstone. */
  readonly own: string;
  readonly quiet: readonly string[];
  /** Of those who are held. */
  readonly sockets: readonly string[];
  readonly held: Readonly<Record<string, string>>;
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

export class Membership {
  readonly #options: MembershipOptions;
  readonly #store: Store;
  readonly #socketPath: string;
  #graveyard: Graveyard | undefined;
  /** As last written, or to be written. */
  #own: Tombstone | undefined;
  #text: string | undefined;
  #pending: Promise<void> = Promise.resolve();
  /** The name is ours: the tombstone may be written. */
  #isOurs = false;
  /** No handle of a life before is in the way of ours. */
  #isClear = true;
  /** Looks to come that find no handle and still do not take the name. */
  #patience = 0;
  #trouble: string | undefined;
  #tending: NodeJS.Timeout | undefined;
  #isTending = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
    const { dir, member, log } = options;
    const onMade = (): void => log.say('info', `made the graveyard ${dir}, which was not there`);
    this.#store = new Store(dir, member.name, options.makes === true ? onMade : undefined);
    this.#socketPath = join(options.dir, handleOf(options.member.name));
  }

  /** Of the run of the pod's init containers that this container follows; undefined: it is not recorded. */
  async readGeneration(): Promise<string | undefined> {
    const { dir, log } = this.#options;
    const { generation, why } = await readGeneration(dir);
    // Of a directory that may not be entered the tombstone tells.
    const level = why !== undefined && /EACCES: .*, lstat /.test(why) ? 'debug' : 'warn';
    if (why !== undefined) log.say(level, `cannot read the generation of this pod: ${why}; it counts as having none`);
    return generation;
  }

  /**
   * Resolves when the name is claimed and the tombstone written. `isHeld`: an earlier supervisor had the host hold the
   * socket already.
   */
  async claim(events: MembershipEvents, isHeld: boolean): Promise<void> {
    if (isHeld) this.#isOurs = true;
    this.#report(await this.#store.prepare());
    if (!isHeld) await this.#claim(events);
    // To write what is there already would wake all who watch us.
    const isWritten = isHeld && this.#text !== undefined && (await this.#adopt(this.#text));
    if (!isWritten) this.#write();
    await this.#pending;
    // The supervisor before this one may have asked for a handle that could not be made: an old one was in its way.
    if (isHeld) this.#isClear = !(await isAbandoned(this.#socketPath));
    await this.#defend(events);
    this.#tending = setInterval(() => void this.#tend(events), this.#options.tendMs ?? TEND_MS);
    this.#tending.unref();
  }

  /** Resolves after the first look at the others. A file system that hangs is not waited for: a member must start. */
  async watch(events: MembershipEvents): Promise<void> {
    const { dir, member, clock, log, heldBefore, wasWoken = false } = this.#options;
    let isKnown = wasWoken;
    const graveyard = new Graveyard({
      dir,
      ownName: member.name,
      named: [...member.mains, ...member.startAfter.map(({ name }) => name)],
      now: () => clock.now().mono,
      matters: (peer, business) => mattersTo(member, business, peer),
      onPeers: (peers) => events.peersSeen(peers),
      onContact: (peer, { kind }) => log.say('debug', `the handle of a member: ${kind}`, { peer }),
      inbox: { self: () => this.#self(), onAsked: (ask) => this.#hearOf(ask, events) },
      onTrouble: (message, error) => log.say(this.#isSaid(error) || isKnown ? 'debug' : 'warn', message),
      isQuiet: (peer) => isQuiet(member, peer),
      order: events.watch,
      ...(heldBefore !== undefined && { heldBefore }),
    });
    this.#graveyard = graveyard;
    if (this.#own !== undefined) graveyard.attend(businessOf(this.#own));
    if (await withTimeout(graveyard.start(), MAX_FIRST_LOOK_MS)) {
      log.say('error', `the graveyard ${dir} does not answer: continuing without the other members until it does`);
      events.peersSeen([]);
    }
    isKnown = false;
  }

  /**
   * Never waits; the newest tombstone wins. It is told after every event, and most leave it as it was: seen so before
   * it is laid out. `written`: what the host has made the tombstone already.
   */
  publish(tombstone: Tombstone, written?: string): void {
    if (this.#own !== undefined && saysTheSame(tombstone, this.#own)) return;
    const text = formatTombstone(tombstone);
    this.#own = tombstone;
    this.#graveyard?.attend(businessOf(tombstone));
    if (text === this.#text) return;
    this.#text = text;
    if (this.#store.isWritten && text === written) this.#store.accept(text);
    else this.#write();
  }

  /** Where the tombstone is, once it says what was published last; undefined: it does not, or another cannot write it. */
  async whereWritten(): Promise<string | undefined> {
    await this.#pending;
    const { dir } = this.#options;
    const isSaid = this.#isOurs && this.#trouble === undefined && this.#store.isWritten;
    return isSaid && isAbsolute(dir) && (await isLocal(dir)) ? this.#store.path : undefined;
  }

  /**
   * What to watch while we sleep; undefined: we must not, as something is under way or in trouble, or as changes here
   * may be made elsewhere and not be told.
   */
  async vigil(): Promise<Vigil | undefined> {
    const { dir } = this.#options;
    const isSettled = this.#isOurs && this.#isClear && this.#trouble === undefined && !this.#isTending;
    const vigil = this.#graveyard?.vigil();
    if (!isSettled || !this.#store.isWritten || vigil === undefined || !(await isLocal(dir))) return undefined;
    const sockets = Object.keys(vigil.held).map((name) => join(dir, handleOf(name)));
    const isTooMany = vigil.quiet.length > MAX_QUIET || sockets.length > MAX_WATCHED;
    if (isTooMany || sockets.some((path) => Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES)) return undefined;
    return { own: this.#store.path, sockets, ...vigil };
  }

  /** What the host has seen of the directory. */
  hear(news: DirectoryNews): void {
    this.#graveyard?.hear(news);
  }

  /** Resolves once the host watches for us, and all was looked at again. */
  async entrust({ quiet, sockets }: Vigil): Promise<void> {
    await this.#graveyard?.entrust(quiet, sockets);
  }

  async rescan(): Promise<void> {
    await this.#graveyard?.rescan();
  }

  /** Removes what other sessions have left under these names, unless a member of ours has written over it by now. */
  async clear(names: readonly string[]): Promise<void> {
    const { dir, member, log } = this.#options;
    const isLeft = async (name: string): Promise<boolean> => {
      const reading = await readMember(dir, name);
      return reading.kind === 'tombstone' && isOfAnotherSession(member, reading.tombstone);
    };
    const trouble = await this.#store.clear(names, isLeft);
    if (trouble !== undefined) log.say('warn', trouble.message);
  }

  /** Resolves when the last tombstone is written, and what was asked of us removed; what comes later is not. */
  async settle(): Promise<void> {
    clearInterval(this.#tending);
    await Promise.all([this.#store.close(), this.#pending, this.#graveyard?.settle()]);
  }

  /** A stop request names the life that its sender saw in the tombstone. A member whose name is taken writes none. */
  #self(): Self | undefined {
    const { Boot, Incarnation } = this.#own ?? {};
    const isKnown = this.#isOurs && Boot !== undefined && Incarnation !== undefined;
    return isKnown ? { boot: Boot, host: hostOf(Incarnation) } : undefined;
  }

  #hearOf(ask: Ask, events: MembershipEvents): void {
    this.#options.log.say('debug', 'a stop request came', { by: ask.by });
    events.stopAsked(ask);
  }

  /** Settles, and closes the connections to the others; a process that exits need not. */
  async close(): Promise<void> {
    await this.settle();
    await this.#graveyard?.stop();
  }

  #write(): void {
    if (!this.#isOurs || this.#text === undefined) return;
    this.#pending = this.#store.write(this.#text).then((trouble) => this.#report(trouble));
  }

  /** Whether it is there to be read already, and nothing newer is to be written. */
  async #adopt(text: string): Promise<boolean> {
    return (await this.#store.adopt(text)) && this.#text === text;
  }

  async #claim(events: MembershipEvents): Promise<void> {
    const { dir } = this.#options;
    const isTaken = await isHeldByAnother(this.#socketPath);
    if (!isTaken && this.#patience-- > 0 && (await this.#rival())?.Died === undefined) return;
    this.#patience = 0;
    if (isTaken) return this.#giveWay();
    // A reader of the tombstone must find its handle, or a KILL in between would leave a member that cannot be known to
    // be dead.
    this.#isClear = await this.#removeHandle();
    // Where it may not write the tombstone tells why, and what to do; it is looked again with each look at the
    // directory.
    if (await isWritable(dir)) {
      if (!(await isLink(dir))) events.listen(this.#socketPath);
      await appears(this.#socketPath, MAX_LISTENING_MS);
    }
    this.#isOurs = true;
  }

  /** False: it may still be there. */
  #removeHandle(): Promise<boolean> {
    const { dir, member } = this.#options;
    return inDirectory(dir, (here) => removeSocket(join(here, handleOf(member.name)))).catch(
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
  }

  /** One at a time: on a file system that hangs each would take a thread of the few that all of this process share. */
  async #tend(events: MembershipEvents): Promise<void> {
    if (this.#isTending) return;
    this.#isTending = true;
    await this.#lookAfter(events);
    this.#isTending = false;
  }

  /** Now and then: the name may be free now, the volume writable again, the directory deleted and made anew. */
  async #lookAfter(events: MembershipEvents): Promise<void> {
    if (!this.#isOurs) {
      await this.#claim(events);
      return this.#write();
    }
    const tended = await this.#store.tend();
    if (tended !== 'idle') this.#report(tended);
    await this.#defend(events);
    if (!this.#isOurs) return;
    this.#isClear ||= await this.#removeHandle();
    const isGone = await isMissing(this.#socketPath);
    if (isGone && this.#trouble === undefined) events.listen(this.#socketPath);
  }

  /**
   * Two who claim the name within the same moment both find it free. What is written over our own tombstone shows the
   * other one; both compare the same two ids, so one of them stays.
   */
  async #defend(events: MembershipEvents): Promise<void> {
    const self = this.#self();
    if (self === undefined || this.#trouble !== undefined) return;
    const rival = await this.#rival();
    if (rival?.Incarnation === undefined || hostOf(rival.Incarnation) === self.host) return;
    if (rival.Died !== undefined) return this.#write(); // the dead only wrote their last word over ours
    if (self.host > hostOf(rival.Incarnation)) {
      this.#isOurs = false;
      this.#giveWay();
      // The handle may be ours or the other's, which makes its own anew with its next look: until then a name without
      // one is not free.
      this.#patience = MAX_LOOKS_WITHOUT_SOCKET;
      return void (await this.#removeHandle());
    }
    this.#complain('this one keeps the name');
    events.listen(this.#socketPath);
    this.#write();
  }

  /** The last tombstone that was written under this name; it may be our own. */
  async #rival(): Promise<Tombstone | undefined> {
    const reading = await readMember(this.#options.dir, this.#options.member.name);
    return reading.kind === 'tombstone' ? reading.tombstone : undefined;
  }

  #giveWay(): void {
    if (this.#trouble !== NAME_TAKEN) this.#complain('no tombstone is written until then');
    this.#trouble = NAME_TAKEN;
  }

  #complain(consequence: string): void {
    const { member, dir, log } = this.#options;
    log.say(
      'error',
      `another live member is called ${member.name} in ${dir}: give each its own --name; ${consequence}`,
    );
  }

  /** One line for one cause, whatever fails by it. */
  #report(trouble: Trouble | undefined): void {
    const { log } = this.#options;
    const cause = trouble === undefined ? undefined : causeOf(trouble.error);
    if (trouble !== undefined && cause !== this.#trouble) log.say('error', trouble.message);
    if (cause === undefined && this.#trouble !== undefined) log.say('info', 'the graveyard can be written again');
    this.#trouble = cause;
  }

  #isSaid(error: Error | undefined): boolean {
    return error !== undefined && this.#trouble === causeOf(error);
  }
}

function causeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message;
}

async function isWritable(dir: string): Promise<boolean> {
  const { access, constants } = process.getBuiltinModule('node:fs').promises;
  return access(dir, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

const NAME_TAKEN = 'name taken';
const TEND_MS = 5_000;
/** A rival that was killed in between is waited for no longer. */
const MAX_LOOKS_WITHOUT_SOCKET = 3;
const MAX_LISTENING_MS = 200;
const MAX_FIRST_LOOK_MS = 5_000;
