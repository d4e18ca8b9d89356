/**
 * Looking at the others, as the runtime does it: a scan, file events, and a rescan every 5 s, all through one handler.
 * File events are what the kernel and the file system may make of them: late, merged, doubled, lost, or none at all.
 */

import { hostOf, isMemberName, type Tombstone } from '../../src/core/format/tombstone.ts';
import type { Business } from '../../src/core/pod/interest.ts';
import type { PeerView } from '../../src/core/state/peer.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { Liveness } from '../../src/runtime/graveyard/liveness.ts';
import { type WatchList as Orders, watchListOf } from '../../src/runtime/graveyard/watch-list.ts';
import { type AccessWorld, SimAccess } from './access.ts';
import type { Actor } from './agenda.ts';
import type { Count } from './coverage.ts';
import type { Near } from './near.ts';
import { markOf, stateOf } from './records.ts';
import type { VolumeScenario } from './scenario.ts';
import type { Content, Watcher } from './volume.ts';

export interface ReaderWorld extends AccessWorld {
  readonly count: Count;
  readonly scenario: VolumeScenario;
}

export interface ReaderOptions {
  readonly ownName: string;
  /** Looked for by name, whether listed or not. */
  readonly named: readonly string[];
  readonly actor: Actor;
  readonly clock: Clock;
  readonly near: Near;
  /** By name, the host of the life that an earlier supervisor was connected to. */
  readonly heldBefore: Readonly<Record<string, string>>;
  readonly onPeers: (peers: readonly PeerView[]) => void;
}

interface View {
  readonly tombstone: Tombstone;
  readonly content: Content | undefined;
}

const RESCAN_MS = 5_000;
const FIRST_REREAD_MS = 20;
const MAX_REREADS = 7;
const FIRST_CONTACT_MS = 7;

export class Reader implements Watcher {
  readonly #world: ReaderWorld;
  readonly #options: ReaderOptions;
  readonly #contacts: Liveness;
  readonly #views = new Map<string, View>();
  readonly #due = new Set<string>();
  readonly #rereads = new Map<string, number>();
  #atStart: ReadonlyMap<string, string> | undefined;
  #hasStarted = false;
  #isTelling = false;
  #rereading = 0;
  #told: string | undefined;
  #isHealthy = false;
  #isDeaf = false;

  constructor(world: ReaderWorld, options: ReaderOptions) {
    this.#world = world;
    this.#options = options;
    const wasHeld = (name: string): boolean => {
      const host = options.heldBefore[name];
      return host !== undefined && host === hostOf(this.#views.get(name)?.tombstone.Incarnation);
    };
    this.#contacts = new Liveness({
      volume: new SimAccess(world, options.actor),
      clock: options.clock,
      onChange: () => this.#tellSoon(),
      wasHeld,
    });
  }

  start(): void {
    this.#scan(() => {
      this.#atStart = new Map([...this.#views].map(([name, { tombstone }]) => [name, stateOf(tombstone)]));
      this.#open();
      // Every first contact has been tried by then.
      this.#after(FIRST_CONTACT_MS + this.#world.dice.short(100), () => {
        this.#hasStarted = true;
        this.#tell();
      });
    });
    this.#after(RESCAN_MS, () => this.#onTimer());
  }

  stop(): void {
    this.#world.volume.watchers.delete(this);
  }

  attend(business: Business): void {
    if (this.#options.near.business === business || business === 'own') return;
    this.#options.near.business = business;
    if (!this.#hasStarted) return;
    this.#after(0, () => this.#see());
    this.rescan(() => {});
  }

  /** What init is to watch for us; undefined: something is on its way, or the end of a peer would go unnoticed. */
  vigil(): Orders | undefined {
    const { near } = this.#options;
    const isBusy = this.#isTelling || this.#contacts.isTrying || this.#isRereading;
    if (!this.#hasStarted || near.business !== 'own' || isBusy || !this.#isHealthy) return undefined;
    return watchListOf(
      [...this.#views].map(([name, { tombstone, content }]) => ({
        tombstone,
        isRelevant: near.has(tombstone),
        isQuiet: content !== undefined && near.isQuiet(tombstone),
        contact: this.#contacts.of(name).kind,
      })),
    );
  }

  /** Looks again at everything: at the files, then at who can be reached. */
  rescan(then: () => void): void {
    this.#scan(() => {
      void this.#contacts.retry();
      this.#after(FIRST_CONTACT_MS, () => {
        this.#tell();
        then();
      });
    });
  }

  /** It hears nothing any more until it notices. */
  deafen(): void {
    this.#isDeaf = true;
  }

  hint(name: string): void {
    const { dice, scenario, count } = this.#world;
    if (!this.#isHealthy || this.#isDeaf || name === this.#options.ownName || !isMemberName(name)) return;
    if (scenario.events === 'lossy' && dice.chance(0.4)) return count('event lost');
    if (this.#due.has(name)) return count('event merged');
    const lateMs = dice.short(scenario.events === 'slow' ? 2_500 : scenario.events === 'lossy' ? 300 : 8);
    if (lateMs > 100) count('event late');
    this.#due.add(name);
    this.#after(lateMs, () => {
      this.#due.delete(name);
      this.#hear(name);
    });
    if (!dice.chance(0.05)) return;
    count('event doubled');
    this.#after(lateMs + dice.short(50), () => this.#hear(name));
  }

  lose(): void {
    // One in thirty is never noticed but by looking.
    if (this.#world.dice.chance(0.03)) this.#isDeaf = true;
    else this.#after(this.#world.dice.short(300), () => this.#scan(() => {}));
  }

  #open(): void {
    if (this.#world.scenario.events === 'none') return;
    this.#after(this.#world.dice.short(30), () => {
      this.#isHealthy = true;
      this.#isDeaf = false;
      this.#world.volume.watchers.add(this);
      this.#scan(() => {});
    });
  }

  #onTimer(): void {
    this.#after(RESCAN_MS, () => this.#onTimer());
    void this.#contacts.retry();
    const before = [...this.#views.values()];
    this.#scan(() => {
      const after = [...this.#views.values()];
      const isSame = before.length === after.length && before.every((view, index) => view === after[index]);
      if (isSame && this.#isHealthy) return;
      if (!isSame) this.#world.count('seen by rescan');
      this.#open();
    });
  }

  /** The list is of one moment, the files are read in another. */
  #scan(then: () => void): void {
    const { volume, dice, scenario } = this.#world;
    this.#after(dice.short(scenario.latencyMs), () => {
      const listed = volume.isThere ? [...volume.files.keys()].filter(isMemberName) : [];
      const names = new Set([...this.#options.named, ...this.#views.keys(), ...listed]);
      names.delete(this.#options.ownName);
      this.#after(dice.short(scenario.latencyMs), () => {
        for (const name of names) this.#read(name);
        this.#see();
        then();
      });
    });
  }

  #hear(name: string): void {
    const { tombstone, content } = this.#views.get(name) ?? {};
    const isThere = this.#hasStarted && tombstone !== undefined && content !== undefined;
    if (isThere && this.#options.near.isFar(tombstone)) this.#world.count('left to a rescan');
    else this.#look(name);
  }

  #look(name: string): void {
    const { dice, scenario } = this.#world;
    this.#after(dice.short(scenario.latencyMs), () => {
      this.#read(name);
      this.#see();
    });
  }

  #read(name: string): void {
    const content = this.#world.volume.files.get(name);
    const before = this.#views.get(name);
    if (content === undefined) {
      if (before?.content !== undefined) this.#views.set(name, { tombstone: before.tombstone, content: undefined });
      return;
    }
    if (before?.content === content) return;
    const parsed = content.read(name);
    if (!parsed.ok) return this.#reread(name);
    this.#rereads.delete(name);
    this.#views.set(name, { tombstone: parsed.tombstone, content });
    if (before === undefined) return;
    const isLost = this.#contacts.of(name).kind === 'lost';
    const isAnother = hostOf(before.tombstone.Incarnation) !== hostOf(parsed.tombstone.Incarnation);
    if (isLost && isAnother) void this.#contacts.restart(name);
    else void this.#contacts.retry(name);
  }

  #reread(name: string): void {
    this.#world.count('read unparsable');
    const times = this.#rereads.get(name) ?? 0;
    if (times >= MAX_REREADS) return;
    this.#rereads.set(name, times + 1);
    this.#rereading += 1;
    this.#after(FIRST_REREAD_MS * 2 ** times, () => {
      this.#rereading -= 1;
      this.#look(name);
    });
  }

  #see(): void {
    const living = new Set<string>();
    for (const [name, { tombstone }] of this.#views)
      if (this.#options.near.has(tombstone) && tombstone.Version > 0 && tombstone.Died === undefined) living.add(name);
    void this.#contacts.follow([...living]);
    this.#tell();
  }

  get #isRereading(): boolean {
    return this.#rereading > 0;
  }

  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.#after(0, () => {
      this.#isTelling = false;
      this.#tell();
    });
  }

  #tell(): void {
    if (!this.#hasStarted) return;
    const views: PeerView[] = [];
    const marks: unknown[] = [];
    for (const [name, { tombstone, content }] of this.#views) {
      if (!this.#options.near.has(tombstone)) continue;
      const view = this.#view(name, tombstone, content === undefined);
      views.push(view);
      marks.push(view.liveness, view.lostAt, view.refused, view.foundAtStart, view.vanished, markOf(tombstone));
    }
    const told = marks.join(' ');
    if (told === this.#told) return;
    this.#told = told;
    this.#options.onPeers(views);
  }

  #view(name: string, tombstone: Tombstone, vanished: boolean): PeerView {
    const contact = this.#contacts.of(name);
    const view = { tombstone, foundAtStart: this.#atStart?.get(name) === stateOf(tombstone), vanished };
    if (contact.kind === 'held') return { ...view, liveness: 'held' };
    if (contact.kind === 'lost') return { ...view, liveness: 'lost', lostAt: contact.at };
    return contact.kind === 'refused' ? { ...view, liveness: 'none', refused: true } : { ...view, liveness: 'none' };
  }

  #after(ms: number, does: () => void): void {
    this.#world.agenda.in(ms, this.#options.actor, does);
  }
}
