/** The shared volume: files and sockets of the graveyard, what prevents writes to them, and who watches for changes. */
import { formatTombstone, type Parsed, type Tombstone } from '../../src/core/format/tombstone.ts';
import { parseTombstone } from '../../src/core/format/tombstone-parse.ts';
import type { VolumeTrouble } from './scenario.ts';

/** The content of a file. The text is formatted and parsed on the first read only. */
export class Content {
  readonly #source: Tombstone | string;
  #text: string | undefined;
  #parsed: Parsed | undefined;

  constructor(source: Tombstone | string) {
    this.#source = source;
  }

  /** As `readMember` has it. */
  get mark(): string {
    return this.text.trimEnd();
  }

  get text(): string {
    this.#text ??= typeof this.#source === 'string' ? this.#source : formatTombstone(this.#source);
    return this.#text;
  }

  /** What a reader parses from the file, without the history. */
  read(name: string): Parsed {
    if (this.#parsed !== undefined) return this.#parsed;
    this.#parsed = parseTombstone(name, this.text);
    if (!this.#parsed.ok) return this.#parsed;
    const { History: _history, ...tombstone } = this.#parsed.tombstone;
    this.#parsed = { ok: true, tombstone };
    return this.#parsed;
  }
}

/** Holds a socket: a container's init. */
export interface Holder {
  readonly isRunning: boolean;
}

export interface Watcher {
  /** A file may have changed. */
  hint(name: string): void;
  /** The directory is another one. */
  lose(): void;
  bound?(name: string): void;
}

export class Volume {
  readonly files = new Map<string, Content>();
  readonly sockets = new Map<string, Holder>();
  /** Members whose socket is newer than their tombstone. */
  readonly announced = new Set<string>();
  readonly watchers = new Set<Watcher>();
  readonly canHoldSockets: boolean;
  isThere = true;
  wipes = 0;
  /** What `sexton begin` has written. */
  generation: string | undefined;
  trouble: VolumeTrouble | undefined;

  constructor(canHoldSockets: boolean) {
    this.canHoldSockets = canHoldSockets;
  }

  /** New ones, however slowly. */
  get takesFiles(): boolean {
    return this.isThere && (this.trouble === undefined || this.trouble === 'slow');
  }

  /** The tombstone that a reader finds; undefined: there is none, or not a whole one. */
  tombstoneOf(name: string): Tombstone | undefined {
    const read = this.files.get(name)?.read(name);
    return read?.ok === true ? read.tombstone : undefined;
  }

  put(name: string, content: Content): void {
    this.isThere = true;
    this.files.set(name, content);
    this.announced.delete(name);
    this.#tell(name);
  }

  remove(name: string): void {
    if (this.files.delete(name)) this.#tell(name);
    this.sockets.delete(name);
  }

  bind(name: string, holder: Holder): void {
    if (this.sockets.has(name) || !this.canHoldSockets || !this.takesFiles) return;
    this.sockets.set(name, holder);
    this.announced.add(name);
    for (const watcher of this.watchers) watcher.bound?.(name);
  }

  /** The directory is deleted with all that is in it. */
  wipe(): void {
    const names = [...this.files.keys()];
    this.files.clear();
    this.generation = undefined;
    this.sockets.clear();
    this.isThere = false;
    this.wipes += 1;
    for (const name of names) this.#tell(name);
    for (const watcher of this.watchers) watcher.lose();
  }

  #tell(name: string): void {
    for (const watcher of this.watchers) watcher.hint(name);
  }
}
