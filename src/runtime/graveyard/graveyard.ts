/**
 * The other members of the pod: what they wrote and whether they live, as one list of views, told whenever it changes.
 *
 * A loss belongs to one life of a peer. When its tombstone tells of another start of its init, what was lost is
 * forgotten; the connection to the new holder is made anew.
 */

import type { Tombstone } from '../../core/format/tombstone.ts';
import { hostOf } from '../../core/format/tombstone.ts';
import type { Business } from '../../core/pod/interest.ts';
import type { PeerView } from '../../core/state/peer.ts';
import type { DirectoryNews, WatchCommand } from '../host/host.ts';
import { withTimeout } from '../timeouts.ts';
import { Inbox, type InboxOptions } from './inbox.ts';
import { type Contact, Liveness } from './liveness.ts';
import type { Unreadable } from './read.ts';
import type { Snapshot, View } from './views.ts';
import { isFollowed, type Vigil, vigilOf } from './vigil.ts';
import { Watch } from './watch.ts';

export interface GraveyardOptions {
  readonly dir: string;
  readonly ownName: string;
  /** Members that the configuration names: they are seen however many others there are. */
  readonly named?: readonly string[];
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /**
   * Whether what this peer says next, or its silence, matters to us. Others are seen late and not told of. Default: all
   * do.
   */
  readonly matters?: (tombstone: Tombstone, business: Business) => boolean;
  /** All peers that matter, or did once, by name: once at the start, then after each change. */
  readonly onPeers: (peers: readonly PeerView[]) => void;
  /** For the log: what is known of a member's handle is another thing now. */
  readonly onContact?: (name: string, contact: Contact) => void;
  /** For the log; each trouble is told once. `error` is undefined for what was merely ignored. */
  readonly onTrouble: (message: string, error: Error | undefined) => void;
  /** For a member: stop requests to it. An onlooker gets none. */
  readonly inbox?: Pick<InboxOptions, 'self' | 'onAsked'>;
  /** Default 5,000. */
  readonly rescanMs?: number;
  /** Whether nothing that this peer may still say in this life matters. Default: of none. */
  readonly isQuiet?: (tombstone: Tombstone) => boolean;
  /** By name, whose handle a supervisor before this one has held: the host of that life. */
  readonly heldBefore?: Readonly<Record<string, string>>;
  /** Has the host watch the directory; undefined: it cannot, and we do. */
  readonly order?: ((command: WatchCommand) => void) | undefined;
}

const RESCAN_MS = 5_000;
/** A start does not wait longer than this for sockets. */
const FIRST_CONTACT_MS = 200;
const MAX_WARNINGS = 32;
const MAX_TOLD_LATE_MS = 50;

export class Graveyard {
  readonly #options: GraveyardOptions;
  readonly #watch: Watch;
  readonly #liveness: Liveness;
  readonly #inbox: Inbox | undefined;
  readonly #warned = new Set<string>();
  #snapshot: Snapshot = { members: [], ignored: [] };
  /** Those of them that matter. */
  #members: readonly View[] = [];
  /** By name, the state in which the first scan found it. */
  #atStart: ReadonlyMap<string, string> | undefined;
  #firstContacts: Promise<void> = Promise.resolve();
  #told: readonly PeerView[] | undefined;
  #hasStarted = false;
  #business: Business = 'own';
  /** The names of members that have mattered once: they stay watched, so that what is known of them stays current. */
  readonly #near = new Set<string>();
  #isTelling = false;
  #telling: NodeJS.Timeout | undefined;

  constructor(options: GraveyardOptions) {
    this.#options = options;
    const { dir, ownName, now, onTrouble, rescanMs = RESCAN_MS } = options;
    const inbox = options.inbox && new Inbox({ dir, onTrouble, ...options.inbox });
    this.#inbox = inbox;
    this.#liveness = new Liveness({
      dir,
      now,
      onChange: (...change) => this.#hear(...change),
      wasHeld: (name) => this.#wasHeld(name),
    });
    this.#watch = new Watch({
      dir,
      ownName,
      named: new Set(options.named),
      rescanMs,
      onSnapshot: (snapshot) => this.#see(snapshot),
      onRescan: () => void this.#liveness.retry(),
      onRequests: async (files) => inbox?.look(files),
      isDone: (file) => inbox === undefined || inbox.isDone(file),
      onTrouble,
      isOver: (tombstone) => this.#isOver(tombstone),
      isHeld: (name) => this.#liveness.of(name).kind === 'held',
      isFar: (tombstone) => this.#isFar(tombstone),
      order: options.order,
    });
  }

  /**
   * Resolves after the first scan and a first try to connect to every member that is not dead; `onPeers` was called by
   * then.
   */
  async start(): Promise<void> {
    await this.#watch.start();
    await withTimeout(this.#firstContacts, FIRST_CONTACT_MS);
    this.#hasStarted = true;
    this.#tell();
  }

  /** Looks again at everything; resolves when it was looked at and told. */
  async rescan(): Promise<void> {
    await this.#watch.rescan();
    await this.#liveness.retry();
    this.#tell();
  }

  /** From the host. */
  hear(news: DirectoryNews): void {
    this.#watch.hear(news);
  }

  /** Has the host watch while we are not there, and then looks again at everything. */
  async entrust(quiet: readonly string[], sockets: readonly string[]): Promise<void> {
    await this.#watch.entrust(quiet, sockets);
    await this.#liveness.retry();
    this.#tell();
  }

  /**
   * In a stop changes of all members are seen at once, because any of them may write a deadline that is ours, too; in
   * a restart all are told of. They are told in a later turn: the caller is still handling an event, and must finish it
   * first. Only a restart has an end that we live to see; then there is nothing to tell.
   */
  attend(business: Business): void {
    if (this.#business === business || (business === 'own' && this.#business === 'stop')) return;
    this.#business = business;
    if (business === 'own') return;
    setImmediate(() => {
      if (!this.#hasStarted) return;
      this.#see(this.#snapshot);
      void this.rescan();
    });
  }

  /** undefined: something is on its way, or there is a peer of whose end nobody would tell. */
  vigil(): Vigil | undefined {
    const { isQuiet = () => false } = this.#options;
    const isBusy = this.#isTelling || this.#telling !== undefined || this.#liveness.isTrying;
    if (!this.#hasStarted || this.#business !== 'own' || isBusy || !this.#watch.isCalm) return undefined;
    return vigilOf(
      this.#snapshot.members.map(({ tombstone, vanished }) => ({
        tombstone,
        isNear: this.#near.has(tombstone.Name),
        isQuiet: !vanished && this.#isFar(tombstone) && isQuiet(tombstone),
        contact: this.#liveness.of(tombstone.Name).kind,
      })),
    );
  }

  /** Resolves when the requests that were told are removed. */
  async settle(): Promise<void> {
    await this.#inbox?.settle();
  }

  async stop(): Promise<void> {
    this.#hasStarted = false;
    clearTimeout(this.#telling);
    this.#liveness.stop();
    await this.#watch.stop();
  }

  #see(snapshot: Snapshot): void {
    const before = new Map(this.#members.map(({ tombstone }) => [tombstone.Name, tombstone]));
    this.#snapshot = snapshot;
    this.#members = snapshot.members.filter(({ tombstone }) => this.#matters(tombstone));
    this.#atStart ??= new Map(snapshot.members.map(({ tombstone }) => [tombstone.Name, stateOf(tombstone)]));
    for (const unreadable of snapshot.ignored) this.#warn(unreadable);
    const living = this.#members.map(({ tombstone }) => tombstone).filter(isFollowed);
    const contacts = [this.#firstContacts, this.#liveness.follow(living.map(({ Name }) => Name))];
    for (const tombstone of living) contacts.push(this.#renew(before.get(tombstone.Name), tombstone));
    if (!this.#hasStarted) this.#firstContacts = Promise.all(contacts).then(() => {});
    this.#tell();
  }

  /** A changed tombstone is a good moment to try again: its writer was alive just now. */
  async #renew(before: Tombstone | undefined, tombstone: Tombstone): Promise<void> {
    if (before === undefined || before === tombstone) return;
    const isLost = this.#liveness.of(tombstone.Name).kind === 'lost';
    if (isLost && hostOf(before.Incarnation) !== hostOf(tombstone.Incarnation))
      await this.#liveness.restart(tombstone.Name);
    else await this.#liveness.retry(tombstone.Name);
  }

  #matters(tombstone: Tombstone): boolean {
    const { matters = () => true } = this.#options;
    if (matters(tombstone, this.#business)) this.#near.add(tombstone.Name);
    return this.#near.has(tombstone.Name);
  }

  /** The next tombstone of a member that is dead or of another boot is that of a new life, which may differ in all. */
  #isFar({ Name, Boot, Died }: Tombstone): boolean {
    const isOfThisBoot = Boot !== undefined && Boot === this.#options.inbox?.self()?.boot;
    return this.#hasStarted && this.#business === 'own' && !this.#near.has(Name) && isOfThisBoot && Died === undefined;
  }

  #warn({ name, why }: Unreadable): void {
    const message = `ignored ${JSON.stringify(name)} in the graveyard ${this.#options.dir}: ${why}`;
    if (this.#warned.has(message) || this.#warned.size > MAX_WARNINGS) return;
    this.#warned.add(message);
    const isLast = this.#warned.size > MAX_WARNINGS;
    this.#options.onTrouble(isLast ? 'what else is ignored in the graveyard is not told' : message, undefined);
  }

  #wasHeld(name: string): boolean {
    const { heldBefore = {} } = this.#options;
    const seen = this.#snapshot.members.find(({ tombstone }) => tombstone.Name === name);
    return Object.hasOwn(heldBefore, name) && heldBefore[name] === hostOf(seen?.tombstone.Incarnation);
  }

  #isOver({ Name, Boot, Died }: Tombstone): boolean {
    const self = this.#options.inbox?.self();
    const isOfAnotherBoot = self !== undefined && Boot !== undefined && Boot !== self.boot;
    return Died !== undefined || isOfAnotherBoot || this.#liveness.of(Name).kind === 'lost';
  }

  /**
   * A loss is told at once; what else is new of handles is told a little later, together for a pod that starts
   * together.
   */
  #hear(name: string, contact: Contact): void {
    this.#options.onContact?.(name, contact);
    if (contact.kind === 'lost') this.#tellSoon();
    else this.#telling ??= setTimeout(() => this.#tell(), MAX_TOLD_LATE_MS).unref();
  }

  /** Of many that change in the same moment once. */
  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      this.#tell();
    });
  }

  #tell(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    if (!this.#hasStarted) return;
    const views = this.#members.map((member) => this.#view(member));
    const told = this.#told;
    if (told?.length === views.length && views.every((view, index) => isSame(view, told[index]))) return;
    this.#told = views;
    this.#options.onPeers(views);
  }

  #view({ tombstone, vanished }: View): PeerView {
    const contact = this.#liveness.of(tombstone.Name);
    const foundAtStart = this.#atStart?.get(tombstone.Name) === stateOf(tombstone);
    const view = { tombstone, foundAtStart, vanished };
    switch (contact.kind) {
      case 'held':
        return { ...view, liveness: 'held' };
      case 'lost':
        return { ...view, liveness: 'lost', lostAt: contact.at };
      case 'refused':
        return { ...view, liveness: 'none', refused: true };
      case 'none':
      case 'denied':
        return { ...view, liveness: 'none' };
      default:
        return contact satisfies never;
    }
  }
}

function stateOf({ Incarnation, Born, Died }: Tombstone): string {
  return JSON.stringify([Incarnation ?? Born, Died]);
}

function isSame(a: PeerView, b: PeerView | undefined): boolean {
  return (
    a.tombstone === b?.tombstone &&
    a.liveness === b.liveness &&
    a.lostAt === b.lostAt &&
    a.refused === b.refused &&
    a.foundAtStart === b.foundAtStart &&
    a.vanished === b.vanished
  );
}
