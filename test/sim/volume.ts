/** The shared volume: files and sockets of the graveyard, what prevents writes to them, and who watches for changes. */
import { formatTombstone, type Parsed, type Tombstone } from '../../src/core/format/tombstone.ts';
import { parseTombstone } from '../../src/core/format/tombstone-parse.ts';
import type { VolumeTrouble } from './scenario.ts';

/** The content of a file. The text is formatted and parsed on the first read only. */
export class Content {
  readonly #source: Tombstone | string;
  #text: string | undefined;
  #mark: string | undefined;
  #parsed: Parsed | undefined;

  constructor(source: Tombstone | string) {
    this.#source = source;
  }

  /** As `readMember` has it. */
  get mark(): string {
    this.#mark ??= this.text.trimEnd();
    return this.#mark;
  }

  get text(): string {
    this.#text ??= typeof this.#source === 'string' ? this.#source : formatTombstone(this.#source);
    return this.#text;
  }

  /** What a reader parses from the file, without the history. */
  read(name: string): Parsed {
    if (this.#parsed !== undefined) return this.#parsed;
    const parsed = parseTombstone(name, this.text);
    if (parsed.ok) {
      const { History: _history, ...tombstone } = parsed.tombstone;
      this.#parsed = { ok: true, tombstone };
    } else this.#parsed = parsed;
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
    if (this.sockets.has(name)) return;
    if (!this.canHoldSockets || !this.isThere || this.trouble === 'full' || this.trouble === 'read-only') return;
    if (this.trouble === 'denied') return;
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
