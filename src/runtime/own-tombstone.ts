/**
 * The own tombstone and liveness socket under this member's name.
 *
 * Two members of one name would overwrite each other's tombstone. So the second one writes none until the first is
 * gone. If both came in the same moment, each finds the other's tombstone, and the one with the greater host id yields.
 */
import { join } from 'node:path';
import type { MemberConfig } from '../core/config.ts';
import { formatTombstone, handleOf, hostOf, saysTheSame, type Tombstone } from '../core/format/tombstone.ts';
import { isOfAnotherSession } from '../core/pod/standing.ts';
import type { Clock, Timer } from './clock.ts';
import type { Self } from './graveyard/inbox.ts';
import { Store, type Trouble } from './graveyard/store.ts';
import type { VolumeAccess } from './graveyard/volume.ts';
import type { Log } from './log/log.ts';
import { sleep } from './timeouts.ts';

export interface OwnTombstoneOptions {
  readonly volume: VolumeAccess;
  readonly clock: Clock;
  /** Create the directory where it is missing. */
  readonly makes?: boolean;
  readonly member: MemberConfig;
  readonly log: Pick<Log, 'say'>;
  /** How often the tombstone and the socket are checked; default 5,000. */
  readonly tendMs?: number;
}

export class OwnTombstone {
  readonly store: Store;
  readonly #options: OwnTombstoneOptions;
  readonly #socket: string;
  /** The host shall hold this socket from now on. */
  #listen: () => void = () => {};
  #tombstone: Tombstone | undefined;
  #text: string | undefined;
  #pending: Promise<void> = Promise.resolve();
  /** The name is ours: the tombstone may be written. */
  #isOurs = false;
  /** No socket of an earlier life is in the way of ours. */
  #isClear = true;
  /** The number of further checks that find no socket and still do not take the name. */
  #patience = 0;
  #trouble: string | undefined;
  #tending: Timer | undefined;
  #checking: Promise<void> | undefined;

  constructor(options: OwnTombstoneOptions) {
    this.#options = options;
    const { volume, member, log, makes = false } = options;
    const onMade = (dir: string): void => log.say('info', `made the graveyard ${dir}, which was not there`);
    this.store = new Store(volume, member.name, makes ? onMade : undefined);
    this.#socket = handleOf(member.name);
  }

  get tombstone(): Tombstone | undefined {
    return this.#tombstone;
  }

  /** A stop request names the life that its sender saw in the tombstone. A member whose name is taken writes none. */
  get self(): Self | undefined {
    const { Boot, Incarnation } = this.#tombstone ?? {};
    const isKnown = this.#isOurs && Boot !== undefined && Incarnation !== undefined;
    return isKnown ? { boot: Boot, host: hostOf(Incarnation) } : undefined;
  }

  /** Whether the name is ours, and tombstone and socket are as they should be. */
  async isSettled(): Promise<boolean> {
    const { volume, member } = this.#options;
    if ((await volume.kindOf(this.#socket)) !== 'socket') return false;
    // The directory may have been wiped between the checks of the two, which then made only the socket again.
    if ((await volume.kindOf(member.name)) === 'missing') return false;
    return this.#isClear && this.#checking === undefined && this.isWritten;
  }

  /** The file says what was published last, and another process could replace it. */
  get isWritten(): boolean {
    return this.#isOurs && this.#trouble === undefined && this.store.isWritten;
  }

  /** Resolves when the last write that was asked for is over. */
  written(): Promise<void> {
    return this.#pending;
  }

  /** The trouble with our own writes has this cause as well, and is logged already. */
  isLogged(error: Error | undefined): boolean {
    return error !== undefined && this.#trouble === causeOf(error);
  }

  /**
   * Never waits; the newest tombstone wins. Returns whether it says anything new: it is called after every event, and
   * most leave the tombstone as it was.
   */
  publish(tombstone: Tombstone): boolean {
    if (this.#tombstone !== undefined && saysTheSame(tombstone, this.#tombstone)) return false;
    this.#tombstone = tombstone;
    const text = formatTombstone(tombstone);
    if (text === this.#text) return true;
    this.#text = text;
    this.#write();
    return true;
  }

  /** Resolves when the name is claimed and the tombstone written. `isHeld`: the host holds the socket already. */
  async claim(listen: (path: string) => void, isHeld: boolean): Promise<void> {
    const { volume, member, clock, tendMs = TEND_MS } = this.#options;
    this.#listen = () => listen(join(volume.dir, this.#socket));
    if (isHeld) this.#isOurs = true;
    this.#report(await this.store.prepare());
    if (!isHeld) await this.#claim();
    const text = this.#text;
    // To write the same text again would wake all who watch us.
    const isThere = isHeld && text !== undefined && (await this.store.adopt(text)) && this.#text === text;
    if (!isThere) this.#write();
    await this.#pending;
    // An old socket may have been in the way of the one that the previous supervisor asked for.
    if (isHeld) this.#isClear = (await volume.probe(member.name)).is !== 'abandoned';
    await this.#defend();
    this.#tending = clock.timers.setInterval(() => this.#tend(), tendMs).unref();
  }

  /** Resolves when the last tombstone is written; a later one is not. */
  async settle(): Promise<void> {
    this.#options.clock.timers.clearTimeout(this.#tending);
    await Promise.all([this.store.close(), this.#pending]);
  }

  #write(): void {
    if (!this.#isOurs || this.#text === undefined) return;
    this.#pending = this.store.write(this.#text).then((trouble) => this.#report(trouble));
  }

  async #claim(): Promise<void> {
    const { volume, member } = this.#options;
    if ((await volume.probe(member.name)).is === 'held') return this.#giveWay(await this.#lastUnderThisName());
    if (this.#patience-- > 0 && (await this.#lastUnderThisName())?.Died === undefined) return;
    // The socket comes before the tombstone: a KILL in between would leave a member whose death cannot be known.
    this.#isClear = await this.#removeSocket();
    // Where the directory cannot be written, the failed tombstone says why; the next check tries again.
    if (await volume.isWritable()) {
      this.#listen();
      await this.#socketAppears();
    }
    this.#isOurs = true;
  }

  /** The host may not be able to make the socket, so this waits only for a while. */
  async #socketAppears(): Promise<void> {
    const { volume, clock } = this.#options;
    for (let ms = 0; ms < MAX_LISTENING_MS && (await volume.kindOf(this.#socket)) !== 'socket'; ms += POLL_MS)
      await sleep(clock.timers, POLL_MS);
  }

  /** False: it may still be there, as on a read-only volume, and then no other can be made in its place. */
  async #removeSocket(): Promise<boolean> {
    const why = await this.#options.volume.remove(this.#socket).catch(({ code }: NodeJS.ErrnoException) => code);
    return why === undefined || why === 'ENOENT';
  }

  /** Runs one check at a time: on a file system that hangs each takes a thread of the few that this process has. */
  #tend(): void {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
  }

  /** The name may be free now, the volume writable again, the directory deleted and created again. */
  async #check(): Promise<void> {
    if (!this.#isOurs) {
      await this.#claim();
      return this.#write();
    }
    const tended = await this.store.tend();
    if (tended !== 'idle') this.#report(tended);
    await this.#defend();
    if (!this.#isOurs) return;
    this.#isClear ||= await this.#removeSocket();
    const isMissing = (await this.#options.volume.kindOf(this.#socket)) === 'missing';
    if (isMissing && this.#trouble === undefined) this.#listen();
  }

  /**
   * Two members that claim the name in the same moment both find it free. A tombstone of another host in place of ours
   * shows the rival. Both compare the same two ids, so one of them stays.
   */
  async #defend(): Promise<void> {
    const { self } = this;
    if (self === undefined || this.#trouble !== undefined) return;
    const rival = await this.#lastUnderThisName();
    if (rival?.Incarnation === undefined || hostOf(rival.Incarnation) === self.host) return;
    // A dead rival only wrote its last tombstone over ours.
    if (rival.Died !== undefined) return this.#write();
    if (self.host > hostOf(rival.Incarnation)) {
      this.#isOurs = false;
      this.#giveWay(rival);
      // If the socket is the rival's, its next check creates it again; until then a name without a socket is not free.
      this.#patience = MAX_CHECKS_WITHOUT_SOCKET;
      return void (await this.#removeSocket());
    }
    this.#complain(rival, 'this one keeps the name');
    this.#listen();
    this.#write();
  }

  async #lastUnderThisName(): Promise<Tombstone | undefined> {
    const reading = await this.#options.volume.read(this.#options.member.name, undefined);
    return reading.kind === 'tombstone' ? reading.tombstone : undefined;
  }

  #giveWay(rival: Tombstone | undefined): void {
    if (this.#trouble !== NAME_TAKEN)
      this.#complain(rival, 'no tombstone is written until then, and no member learns of an end before');
    this.#trouble = NAME_TAKEN;
    this.#patience = 0;
  }

  #complain(rival: Tombstone | undefined, consequence: string): void {
    const { member, volume, log } = this.#options;
    const isOfAnotherPod = rival !== undefined && isOfAnotherSession(member, rival);
    const who = isOfAnotherPod ? 'a live member of another pod' : 'another live member';
    const remedy = isOfAnotherPod ? 'each pod a graveyard of its own' : 'each its own --name';
    log.say('error', `${who} is called ${member.name} in ${volume.dir}: give ${remedy}; ${consequence}`);
  }

  /** Logs each cause once, whatever fails by it. */
  #report(trouble: Trouble | undefined): void {
    const { log } = this.#options;
    const cause = trouble === undefined ? undefined : causeOf(trouble.error);
    if (trouble !== undefined && cause !== this.#trouble) log.say('error', trouble.message);
    if (cause === undefined && this.#trouble !== undefined) log.say('info', 'the graveyard can be written again');
    this.#trouble = cause;
  }
}

function causeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message;
}

const NAME_TAKEN = 'name taken';
const TEND_MS = 5_000;
/** A rival that was killed in between is waited for no longer. */
const MAX_CHECKS_WITHOUT_SOCKET = 3;
const MAX_LISTENING_MS = 200;
const POLL_MS = 2;
