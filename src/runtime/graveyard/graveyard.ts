/**
 * The other members of the pod: what they wrote and whether they live, reported as one list whenever it changes.
 *
 * A loss belongs to one life of a peer. A tombstone of another start of its init clears the loss, and a connection to
 * the new holder of the socket is opened.
 */
import { hostOf, type Tombstone } from '../../core/format/tombstone.ts';
import type { Business } from '../../core/pod/interest.ts';
import type { PeerView } from '../../core/state/peer.ts';
import type { Timer } from '../clock.ts';
import type { DirectoryNews, WatchCommand } from '../host/host.ts';
import { sleep, withTimeout } from '../timeouts.ts';
import { FileEvents } from './file-events.ts';
import { Inbox, type InboxOptions } from './inbox.ts';
import { type Contact, Liveness } from './liveness.ts';
import { type Member, Scan } from './scan.ts';
import type { ReaderOptions } from './volume.ts';
import { isFollowed, type WatchList, watchListOf } from './watch-list.ts';

export interface GraveyardOptions extends ReaderOptions {
  /** Members that the configuration names: they are seen however many others there are. */
  readonly named?: readonly string[];
  /** Whether anything that this peer writes next, or its silence, matters to us. Default: always. */
  readonly matters?: (tombstone: Tombstone, business: Business) => boolean;
  /** Whether nothing that this peer may still write in this life matters. Default: never. */
  readonly isQuiet?: (tombstone: Tombstone) => boolean;
  /** All peers that matter, or did once, by name: once at the start, then after each change. */
  readonly onPeers: (peers: readonly PeerView[]) => void;
  /** For the log: the state of a member's socket has changed. */
  readonly onContact?: (name: string, contact: Contact) => void;
  /** Stop requests for this member; undefined: an onlooker, who gets none. */
  readonly inbox?: Pick<InboxOptions, 'self' | 'onAsked'>;
  /** Default 5,000. */
  readonly rescanMs?: number;
  /** The host of each life, by member, whose socket the previous supervisor held. */
  readonly heldBefore?: Readonly<Record<string, string>>;
  /** Has the host watch the directory; undefined: it cannot, and we do. */
  readonly order?: ((command: WatchCommand) => void) | undefined;
}

const RESCAN_MS = 5_000;
/** A start does not wait longer than this for sockets. */
const FIRST_CONTACT_MS = 200;
/** The kernel's clock, from which files have their times, ticks at least this often. */
const MAX_TICK_MS = 20;
const MAX_WARNINGS = 32;

export class Graveyard {
  readonly #options: GraveyardOptions;
  readonly #scan: Scan;
  readonly #events: FileEvents;
  readonly #liveness: Liveness;
  readonly #inbox: Inbox | undefined;
  readonly #warned = new Set<string>();
  #members: readonly Member[] = [];
  /** Names of members that matter, or did once: these are reported and connected to, so that they stay current. */
  readonly #relevant = new Set<string>();
  /** The state in which the first scan found each member, by name. */
  #atStart: ReadonlyMap<string, string> | undefined;
  #firstContacts: Promise<void> = Promise.resolve();
  #told: readonly PeerView[] | undefined;
  #hasStarted = false;
  #isStopped = false;
  #timer: Timer | undefined;
  #business: Business = 'own';
  #isTelling = false;

  constructor(options: GraveyardOptions) {
    this.#options = options;
    const { volume, clock, onTrouble, order } = options;
    const inbox = options.inbox && new Inbox({ volume, onTrouble, ...options.inbox });
    this.#inbox = inbox;
    this.#liveness = new Liveness({
      volume,
      clock,
      onChange: (name, contact) => {
        options.onContact?.(name, contact);
        this.#tellSoon();
      },
      wasHeld: (name) => this.#wasHeld(name),
    });
    this.#scan = new Scan({
      ...options,
      named: new Set(options.named),
      onScan: () => this.#events.check(),
      onMembers: (members) => this.#see(members),
      onRequest: async (file) => inbox?.take(file),
      onIgnored: (name, why) => this.#warn(name, why),
    });
    this.#events = new FileEvents({
      ...options,
      onName: (name) => this.#scan.read(name),
      onAnything: () => this.#scan.read(),
      order,
    });
  }

  /** Resolves after the first scan and a first attempt to connect to each member that may live. Calls `onPeers`. */
  async start(): Promise<void> {
    const { rescanMs = RESCAN_MS, clock } = this.#options;
    await this.#scan.rescan();
    if (this.#isStopped) return;
    // The events begin with a scan of their own.
    void this.#events.open();
    this.#timer = clock.timers.setInterval(() => void this.#onTimer(), rescanMs).unref();
    await withTimeout(this.#firstContacts, FIRST_CONTACT_MS, clock.timers);
    this.#hasStarted = !this.#isStopped;
    this.#tell();
  }

  /** Reads everything again; resolves when that is reported. */
  async rescan(): Promise<void> {
    await this.#scan.rescan();
    await this.#liveness.retry();
    this.#tell();
  }

  hear(news: DirectoryNews): void {
    this.#events.hear(news);
  }

  /** Has the host watch while we sleep, and then reads everything again. */
  async handOver(quiet: readonly string[]): Promise<void> {
    await this.#events.handOver(quiet);
    // Two changes within one tick of the clock may look the same to the host.
    await sleep(this.#options.clock.timers, MAX_TICK_MS);
    await this.rescan();
  }

  /**
   * In a stop other members matter by the deadlines that they write; in a restart all members matter. Only a restart
   * has an end that we live to see, and nothing is reported then. The caller is handling an event and must finish it
   * first, so the members are reported in a later turn.
   */
  attend(business: Business): void {
    if (this.#business === business || (business === 'own' && this.#business === 'stop')) return;
    this.#business = business;
    if (business === 'own') return;
    this.#options.clock.timers.setImmediate(() => {
      if (!this.#hasStarted) return;
      this.#see(this.#members);
      void this.rescan();
    });
  }

  /** undefined: something is under way, or nothing would report the end of a peer that matters. */
  async watchList(): Promise<WatchList | undefined> {
    const quiet = await this.#quiet();
    const isBusy = this.#isTelling || this.#liveness.isTrying || !this.#scan.isIdle || !this.#events.isHealthy;
    if (!this.#hasStarted || this.#business !== 'own' || isBusy) return undefined;
    return watchListOf(
      this.#members.map((member) => ({
        tombstone: member.tombstone,
        isRelevant: this.#relevant.has(member.tombstone.Name),
        isQuiet: quiet.has(member),
        contact: this.#liveness.of(member.tombstone.Name).kind,
      })),
    );
  }

  /** The next tombstone of any other member may be that of a new life, which may differ in everything. */
  async #quiet(): Promise<ReadonlySet<Member>> {
    const { volume, isQuiet = () => false, inbox } = this.#options;
    const boot = inbox?.self()?.boot;
    const quiet = new Set<Member>();
    if (boot === undefined) return quiet;
    for (const member of this.#members) {
      const { tombstone, vanished } = member;
      if (vanished || tombstone.Boot !== boot || !isQuiet(tombstone)) continue;
      // One call after the other, as in a scan.
      if (!(await volume.isAnnounced(tombstone.Name))) quiet.add(member);
    }
    return quiet;
  }

  /** Resolves when the requests that were told are removed. */
  async settle(): Promise<void> {
    await this.#inbox?.settle();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#hasStarted = false;
    this.#options.clock.timers.clearTimeout(this.#timer);
    this.#liveness.stop();
    this.#scan.stop();
    await this.#events.close();
  }

  /** What only the timer finds shows that the watcher may be deaf, so a new one is opened. */
  async #onTimer(): Promise<void> {
    void this.#liveness.retry();
    const before = this.#scan.changes;
    await this.#scan.rescan();
    const mayBeDeaf = this.#scan.changes !== before || !this.#events.isHealthy;
    if (mayBeDeaf && !this.#isStopped) void this.#events.open();
  }

  #see(members: readonly Member[]): void {
    const before = new Map(this.#members.map(({ tombstone }) => [tombstone.Name, tombstone]));
    this.#members = members;
    this.#atStart ??= new Map(members.map(({ tombstone }) => [tombstone.Name, stateOf(tombstone)]));
    const { matters = () => true } = this.#options;
    for (const { tombstone } of members) if (matters(tombstone, this.#business)) this.#relevant.add(tombstone.Name);
    const living = this.#peers().flatMap(({ tombstone }) => (isFollowed(tombstone) ? [tombstone] : []));
    const contacts = [this.#firstContacts, this.#liveness.follow(living.map(({ Name }) => Name))];
    for (const tombstone of living) contacts.push(this.#renew(before.get(tombstone.Name), tombstone));
    if (!this.#hasStarted) this.#firstContacts = Promise.all(contacts).then(() => {});
    this.#tell();
  }

  /** A changed tombstone is a good moment to connect again: its writer was alive just now. */
  async #renew(before: Tombstone | undefined, tombstone: Tombstone): Promise<void> {
    if (before === undefined || before === tombstone) return;
    const isLost = this.#liveness.of(tombstone.Name).kind === 'lost';
    const isAnotherLife = hostOf(before.Incarnation) !== hostOf(tombstone.Incarnation);
    if (isLost && isAnotherLife) await this.#liveness.restart(tombstone.Name);
    else await this.#liveness.retry(tombstone.Name);
  }

  #peers(): readonly Member[] {
    return this.#members.filter(({ tombstone }) => this.#relevant.has(tombstone.Name));
  }

  #warn(name: string, why: string): void {
    const message = `ignored ${JSON.stringify(name)} in the graveyard ${this.#options.volume.dir}: ${why}`;
    if (this.#warned.has(message) || this.#warned.size > MAX_WARNINGS) return;
    this.#warned.add(message);
    const isLast = this.#warned.size > MAX_WARNINGS;
    this.#options.onTrouble(isLast ? 'what else is ignored in the graveyard is not told' : message, undefined);
  }

  #wasHeld(name: string): boolean {
    const seen = this.#members.find(({ tombstone }) => tombstone.Name === name);
    return this.#options.heldBefore?.[name] === hostOf(seen?.tombstone.Incarnation);
  }

  /** Once for all changes of the same moment. */
  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.#options.clock.timers.setImmediate(() => {
      this.#isTelling = false;
      this.#tell();
    });
  }

  #tell(): void {
    if (!this.#hasStarted) return;
    const views = this.#peers().map((member) => this.#view(member));
    const told = this.#told;
    if (
      told?.length === views.length &&
      views.every((view, index) => COMPARED.every((key) => view[key] === told[index]?.[key]))
    )
      return;
    this.#told = views;
    this.#options.onPeers(views);
  }

  #view({ tombstone, vanished }: Member): PeerView {
    const contact = this.#liveness.of(tombstone.Name);
    return {
      tombstone,
      foundAtStart: this.#atStart?.get(tombstone.Name) === stateOf(tombstone),
      vanished,
      liveness: contact.kind === 'held' || contact.kind === 'lost' ? contact.kind : 'none',
      ...(contact.kind === 'lost' && { lostAt: contact.at }),
      ...(contact.kind === 'refused' && { refused: true }),
    };
  }
}

function stateOf({ Incarnation, Born, Died }: Tombstone): string {
  return JSON.stringify([Incarnation ?? Born, Died]);
}

const COMPARED = ['tombstone', 'liveness', 'lostAt', 'refused', 'foundAtStart', 'vanished'] as const;
