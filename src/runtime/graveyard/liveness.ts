/**
 * Whether peers live: the holder of a peer's socket (its init) is connected to, and the kernel closes the connection
 * when that process is gone, however it went. Nothing is ever sent, and what comes is thrown away.
 *
 * After a loss it is tried again for two seconds, since a container that restarts has a new holder soon; the same after
 * a peer is first seen, since a tombstone may be written before its socket listens. Then it is tried when `retry` is
 * called.
 */
import { lstat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { handleOf } from '../../core/format/tombstone.ts';
import { connectTo } from './handle.ts';

/**
 * Never connected: `none` because there is no socket, `refused` because no process listens at the one that is there,
 * `denied` for want of permission. Only `refused` says something about the peer: a volume may be unable to carry
 * sockets.
 */
export type Contact =
  | { readonly kind: 'none' | 'refused' | 'denied' | 'held' }
  /** Monotonic milliseconds of the loss. */
  | { readonly kind: 'lost'; readonly at: number };

export interface LivenessOptions {
  readonly dir: string;
  readonly now: () => number;
  readonly onChange: (name: string, contact: Contact) => void;
  /** Whether a supervisor before this one has held the handle of this life of the peer. Default: none has. */
  readonly wasHeld?: (name: string) => boolean;
}

/** Seldom: in a large pod each tries all, and those that have died are mostly read of before. 2 s in all. */
const RETRIES_MS = [400, 1_600] as const;
const HELD_LONG_MS = 2_000;
/** A peer that writes more than this is hung up on until the next retry: reading it must not become work. */
const MAX_RECEIVED = 65_536;

const MISSES: Readonly<Record<string, 'refused' | 'denied'>> = {
  ECONNREFUSED: 'refused',
  EACCES: 'denied',
  EPERM: 'denied',
};

export class Liveness {
  readonly #options: LivenessOptions;
  readonly #peers = new Map<string, Peer>();

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /** These names and no others. Resolves when each new one has been tried once. */
  async follow(names: readonly string[]): Promise<void> {
    const wanted = new Set(names);
    for (const [name, peer] of this.#peers) {
      if (wanted.has(name)) continue;
      peer.leave();
      this.#peers.delete(name);
    }
    const added = names.filter((name) => !this.#peers.has(name));
    await Promise.all(added.map((name) => this.#begin(name)));
  }

  of(name: string): Contact {
    return this.#peers.get(name)?.contact ?? { kind: 'none' };
  }

  /** Whether a try is under way, or will come by itself. */
  get isTrying(): boolean {
    return [...this.#peers.values()].some((peer) => peer.isTrying);
  }

  /** Tries all that are not held, or the one that is named. Resolves when they have been tried. */
  async retry(name?: string): Promise<void> {
    const peers = name === undefined ? [...this.#peers.values()] : [this.#peers.get(name)];
    await Promise.all(peers.map((peer) => peer?.attempt()));
  }

  /** Forgets a loss: the peer lives a new life, and there is nothing yet to lose. */
  async restart(name: string): Promise<void> {
    this.#peers.get(name)?.leave();
    this.#peers.delete(name);
    await this.#begin(name);
  }

  stop(): void {
    for (const peer of this.#peers.values()) peer.leave();
    this.#peers.clear();
  }

  #begin(name: string): Promise<void> {
    const { dir, now, onChange, wasHeld = () => false } = this.#options;
    const about = { now, onChange: (contact: Contact) => onChange(name, contact), wasHeld: () => wasHeld(name) };
    const peer = new Peer(dir, name, about);
    this.#peers.set(name, peer);
    return peer.persist();
  }
}

interface PeerOptions {
  readonly now: () => number;
  readonly onChange: (contact: Contact) => void;
  readonly wasHeld: () => boolean;
}

class Peer {
  contact: Contact = { kind: 'none' };
  readonly #dir: string;
  readonly #file: string;
  readonly #now: () => number;
  readonly #onChange: (contact: Contact) => void;
  readonly #wasHeld: () => boolean;
  #socket: Socket | undefined;
  #attempting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retry = 0;
  #heldSince = 0;
  #hasLeft = false;

  constructor(dir: string, name: string, about: PeerOptions) {
    this.#dir = dir;
    this.#file = handleOf(name);
    this.#now = about.now;
    this.#onChange = about.onChange;
    this.#wasHeld = about.wasHeld;
  }

  /** Tries now and, if in vain, now and then for a while. Resolves after the first try. */
  async persist(): Promise<void> {
    this.#retry = 0;
    await this.attempt();
    this.#tryLater();
  }

  /** One try at a time; nothing when there is a connection. */
  attempt(): Promise<void> {
    if (this.#hasLeft || this.#socket !== undefined) return Promise.resolve();
    this.#attempting ??= this.#attempt().finally(() => {
      this.#attempting = undefined;
    });
    return this.#attempting;
  }

  get isTrying(): boolean {
    return this.#attempting !== undefined || this.#timer !== undefined;
  }

  leave(): void {
    this.#hasLeft = true;
    clearTimeout(this.#timer);
    this.#socket?.destroy();
  }

  #tryLater(): void {
    const delayMs = RETRIES_MS[this.#retry];
    if (this.#hasLeft || this.#socket !== undefined || this.#timer !== undefined || delayMs === undefined) return;
    this.#retry++;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.attempt().then(() => this.#tryLater());
    }, delayMs).unref();
  }

  async #attempt(): Promise<void> {
    try {
      const path = join(this.#dir, this.#file);
      // connect(2) follows links, and on a file system that hangs it would hold up everything: this holds up only
      // itself.
      if ((await lstat(path)).isSocket()) this.#hold(await connectTo(path));
      else this.#miss('none');
    } catch (error) {
      this.#miss(MISSES[(error as NodeJS.ErrnoException).code ?? ''] ?? 'none');
    }
  }

  #hold(socket: Socket): void {
    if (this.#hasLeft) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    this.#heldSince = this.#now();
    let received = 0;
    let isTalker = false;
    socket.on('data', (bytes) => {
      received += bytes.length;
      if (received <= MAX_RECEIVED) return;
      isTalker = true;
      socket.destroy();
    });
    // `close` follows and says it.
    socket.on('error', () => {});
    socket.once('close', () => this.#lose(isTalker));
    this.#become({ kind: 'held' });
  }

  #lose(isTalker: boolean): void {
    this.#socket = undefined;
    if (isTalker) {
      this.#become({ kind: 'none' });
      return;
    }
    this.#become({ kind: 'lost', at: this.#now() });
    // Not at once: a process that is being killed closes its descriptors one by one, and the socket that it listens on
    // may still take a connection after this one has gone.
    // One that ends each connection at once has no more than these: to be tried again and again would become work.
    if (this.#now() - this.#heldSince >= HELD_LONG_MS) this.#retry = 0;
    this.#tryLater();
  }

  /** What was held once is lost, whatever stands against a new connection. */
  #miss(kind: 'none' | 'refused' | 'denied'): void {
    if (this.contact.kind === 'lost') return;
    if (kind === 'refused' && this.#wasHeld()) this.#become({ kind: 'lost', at: this.#now() });
    else this.#become({ kind });
  }

  #become(contact: Contact): void {
    if (this.#hasLeft || contact.kind === this.contact.kind) return;
    this.contact = contact;
    this.#onChange(contact);
  }
}
