/**
 * The simulated volume as the runtime of one supervisor reaches it, and what it hears of changes: late, merged, doubled,
 * lost, or nothing at all. A connection ends some time after its holder, however that went.
 */
import { isRequestFor } from '../../src/core/format/stop-request.ts';
import { handleOf, isMemberName, type Tombstone } from '../../src/core/format/tombstone.ts';
import type { Handle } from '../../src/runtime/graveyard/handle.ts';
import type { Listing, PlainReading, Reading } from '../../src/runtime/graveyard/read.ts';
import type { VolumeAccess } from '../../src/runtime/graveyard/volume.ts';
import type { Connection } from '../../src/runtime/host/host.ts';
import { type Actor, type Agenda, isActing } from './agenda.ts';
import type { Count } from './coverage.ts';
import type { Dice } from './dice.ts';
import type { VolumeScenario } from './scenario.ts';
import { Content, type Holder, type Volume, type Watcher } from './volume.ts';

export interface AccessWorld {
  readonly agenda: Agenda;
  readonly volume: Volume;
  readonly dice: Dice;
  readonly count: Count;
  readonly scenario: VolumeScenario;
  /** Calls back when that holder has gone, however it went. */
  readonly onEnd: (holder: Holder, then: () => void) => void;
}

const [REFUSED, NO_ENTRY, FULL, DENIED, READ_ONLY] = ['ECONNREFUSED', 'ENOENT', 'ENOSPC', 'EACCES', 'EROFS'].map(
  (code) => Object.assign(new Error(code), { code }),
);
const CONNECTING_MS = 6;
const CLOSING_MS = 34;

export class SimAccess implements VolumeAccess, Watcher {
  readonly dir = '/graveyard';
  /** The host connects, as on a local volume. */
  hostConnect: ((path: string) => Promise<Connection>) | undefined;
  readonly #world: AccessWorld;
  readonly #actor: Actor;
  readonly #ownName: string;
  readonly #onWritten: (tombstone: Tombstone) => void;
  /** Files that have changed, on their way to the one who watches. */
  readonly #due = new Set<string>();
  /** To the one who watches: these files, or where there are none any. */
  #tell: ((names: readonly string[]) => void) | undefined;
  #isDeaf = false;

  /** `onWritten`: a whole tombstone is there to be read. */
  constructor(world: AccessWorld, ownName: string, by: Actor, onWritten: (tombstone: Tombstone) => void) {
    this.#onWritten = onWritten;
    this.#ownName = ownName;
    this.#world = world;
    this.#actor = by;
  }

  /** The list is of one moment, the files are read in others. */
  async list(isWanted: (file: string) => boolean): Promise<Listing> {
    const { volume, scenario } = this.#world;
    await this.#takes(scenario.latencyMs);
    const files = volume.isThere ? [...volume.files.keys()] : [];
    return { names: files.filter(isMemberName).sort(), hidden: files.filter(isWanted), ignored: [] };
  }

  async read(name: string, known: string | undefined): Promise<Reading> {
    const { volume, scenario, count } = this.#world;
    await this.#takes(scenario.latencyMs);
    const content = volume.files.get(name);
    if (content === undefined) return { kind: 'missing' };
    const { mark } = content;
    if (mark === known) return { kind: 'same' };
    const parsed = content.read(name);
    if (parsed.ok) return { kind: 'tombstone', tombstone: parsed.tombstone, mark };
    count('read unparsable');
    return { kind: 'unparsable', why: parsed.why };
  }

  async readPlain(file: string): Promise<PlainReading> {
    const { volume, scenario } = this.#world;
    await this.#takes(scenario.latencyMs);
    const content = volume.files.get(file);
    return content === undefined ? { kind: 'missing' } : { kind: 'bytes', bytes: Buffer.from(content.text) };
  }

  async readGeneration(): Promise<{ readonly generation?: string }> {
    const { generation, trouble } = this.#world.volume;
    return generation === undefined || trouble === 'denied' ? {} : { generation };
  }

  async make(): Promise<boolean> {
    await this.#takes(0);
    const { volume } = this.#world;
    const isNew = !volume.isThere;
    volume.isThere = true;
    return isNew;
  }

  async replace(name: string, text: string): Promise<void> {
    await this.#takesToWrite();
    this.#mayMake();
    this.#put(name, text);
  }

  /** A reader that comes between sees a part of either. */
  async overwrite(name: string, text: string, isFull: boolean): Promise<boolean> {
    const { volume, dice, count } = this.#world;
    const old = volume.files.get(name)?.text;
    if (old === undefined || volume.trouble === 'read-only' || (isFull && old.length < text.length)) return false;
    const at = dice.chance(0.7) ? 4_096 : dice.int(1_600);
    volume.put(name, new Content(text.slice(0, at) + old.slice(at)));
    count('write torn');
    await this.#takesToWrite();
    // In place into a file that is gone by now.
    if (volume.files.has(name)) this.#put(name, text);
    return true;
  }

  async remove(file: string): Promise<void> {
    await this.#takes(0);
    const { volume } = this.#world;
    const name = file.replace(/^\.(.*)\.sock$/, '$1');
    const isSocket = name !== file;
    if (!(isSocket ? volume.sockets : volume.files).has(name)) throw NO_ENTRY;
    if (volume.trouble === 'read-only' || volume.trouble === 'denied') throw DENIED;
    if (isSocket) volume.sockets.delete(name);
    else volume.remove(name);
    if (isMemberName(file)) this.#world.count('leftover cleared');
  }

  /** No writer leaves anything else. */
  async clean(): Promise<void> {
    if (!this.#world.volume.isThere) throw NO_ENTRY;
  }

  async kindOf(file: string): Promise<'file' | 'socket' | 'missing'> {
    const { volume } = this.#world;
    if (volume.files.has(file)) return 'file';
    return [...volume.sockets.keys()].some((name) => handleOf(name) === file) ? 'socket' : 'missing';
  }

  async isAnnounced(name: string): Promise<boolean> {
    const { files, sockets, announced } = this.#world.volume;
    return files.has(name) && sockets.has(name) && announced.has(name);
  }

  async probe(name: string): Promise<Handle> {
    const holder = this.#world.volume.sockets.get(name);
    return { is: holder === undefined ? 'none' : holder.isRunning ? 'held' : 'abandoned' };
  }

  async isWritable(): Promise<boolean> {
    const { isThere, trouble } = this.#world.volume;
    return isThere && trouble !== 'read-only' && trouble !== 'denied';
  }

  async connect(name: string): Promise<Connection | undefined> {
    const { agenda, volume, dice, onEnd } = this.#world;
    await this.#takes(CONNECTING_MS);
    const holder = volume.isThere ? volume.sockets.get(name) : undefined;
    if (holder === undefined) return undefined;
    if (this.hostConnect !== undefined && (await this.isLocal()))
      return this.hostConnect(`${this.dir}/${handleOf(name)}`);
    if (!holder.isRunning) throw REFUSED;
    const connection = new SimConnection();
    onEnd(holder, () => agenda.in(dice.short(CLOSING_MS), this.#actor, () => connection.onClose?.()));
    return connection as unknown as Connection;
  }

  async isLocal(): Promise<boolean> {
    const { events } = this.#world.scenario;
    return events === 'prompt' || events === 'slow';
  }

  async identity(): Promise<string> {
    const { isThere, wipes } = this.#world.volume;
    return isThere ? String(wipes) : 'none';
  }

  async watch(onName: (name: string) => void, onAnything: () => void): Promise<() => Promise<void>> {
    this.hear((names) => {
      for (const name of names) onName(name);
      if (names.length === 0) onAnything();
    });
    await this.#takes(30);
    onAnything();
    return async () => this.stop();
  }

  /** From now on, in place of what has heard before. */
  hear(tell: (names: readonly string[]) => void): void {
    this.#world.count(this.#tell === undefined ? 'watched' : 'watched again');
    this.#tell = tell;
    this.#isDeaf = this.#world.scenario.events === 'none';
    this.#world.volume.watchers.add(this);
  }

  stop(): void {
    this.#world.volume.watchers.delete(this);
  }

  /** It hears nothing any more until it watches again. */
  deafen(): void {
    this.#isDeaf = true;
  }

  hint(name: string): void {
    const { dice, scenario, count } = this.#world;
    if (this.#isDeaf || !(isMemberName(name) || isRequestFor(this.#ownName, name))) return;
    if (scenario.events === 'lossy' && dice.chance(0.4)) return count('event lost');
    if (this.#due.has(name)) return count('event merged');
    const lateMs = dice.short(scenario.events === 'slow' ? 2_500 : scenario.events === 'lossy' ? 300 : 8);
    if (lateMs > 100) count('event late');
    this.#due.add(name);
    this.#later(lateMs, () => {
      this.#due.delete(name);
      this.#tell?.([name]);
    });
    if (!dice.chance(0.05)) return;
    count('event doubled');
    this.#later(lateMs + dice.short(50), () => this.#tell?.([name]));
  }

  /** One loss in thirty is never noticed but by looking. */
  lose(): void {
    const { dice } = this.#world;
    if (dice.chance(0.03)) this.#isDeaf = true;
    else this.#later(dice.short(300), () => this.#tell?.([]));
  }

  #put(name: string, text: string): void {
    const content = new Content(text);
    this.#world.volume.put(name, content);
    const read = content.read(name);
    if (read.ok) this.#onWritten(read.tombstone);
  }

  #mayMake(): void {
    const { isThere, trouble } = this.#world.volume;
    if (!isThere) throw NO_ENTRY;
    if (trouble === undefined || trouble === 'slow') return;
    this.#world.count(`write ${trouble}`);
    throw trouble === 'full' ? FULL : trouble === 'denied' ? DENIED : READ_ONLY;
  }

  #takesToWrite(): Promise<void> {
    const { volume, dice, scenario } = this.#world;
    return this.#takes(scenario.latencyMs, volume.trouble === 'slow' ? dice.between(20, 900) : 0);
  }

  #takes(mostMs: number, moreMs = 0): Promise<void> {
    // Nothing follows. A promise that all such pods shared would keep each of them in memory.
    if (!isActing(this.#actor)) return new Promise(() => {});
    const ms = this.#world.dice.short(mostMs) + moreMs;
    return ms === 0 ? DONE : new Promise((resolve) => this.#later(ms, resolve));
  }

  #later(ms: number, does: () => void): void {
    this.#world.agenda.in(ms, this.#actor, does);
  }
}

const DONE = Promise.resolve();

/** Nothing is ever sent. */
class SimConnection {
  readonly bytesRead = 0;
  onClose: (() => void) | undefined;

  on(): void {}

  once(_event: 'close', onClose: () => void): void {
    this.onClose = onClose;
  }

  destroy(): void {
    this.onClose = undefined;
  }
}
