/**
 * Whether peers live. We connect to the holder of a peer's socket, its init, and the kernel closes the connection when
 * that process is gone, however it went. We never send anything, and discard what arrives.
 *
 * After a loss we try again for two seconds, because a container that restarts has a new holder soon. We do the same
 * for a new peer, whose tombstone may be written before its socket listens. After that only `retry` tries again.
 */
import type { Clock, Timer } from '../clock.ts';
import type { Connection } from '../host/host.ts';
import type { VolumeAccess } from './volume.ts';

/**
 * Never connected: `none` because there is no socket, `refused` because no process listens at the socket, `denied` for
 * want of permission. Only `refused` says something about the peer: a volume may be unable to carry sockets.
 */
export type Contact =
  | { readonly kind: 'none' | 'refused' | 'denied' | 'held' }
  /** Monotonic milliseconds of the loss. */
  | { readonly kind: 'lost'; readonly at: number };

export interface LivenessOptions {
  readonly volume: VolumeAccess;
  readonly clock: Clock;
  readonly onChange: (name: string, contact: Contact) => void;
  /** Whether the previous supervisor held the socket of this life of the peer. Default: it did not. */
  readonly wasHeld?: (name: string) => boolean;
}

const RETRIES_MS = [400, 1_600] as const;
const HELD_LONG_MS = 2_000;
/** We hang up on a peer that sends more, until the next retry: reading it must not become work. */
const MAX_RECEIVED = 65_536;

export class Liveness {
  readonly #options: LivenessOptions;
  readonly #peers = new Map<string, Peer>();

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /** Follows these peers and no others. Resolves after one attempt to connect to each new one. */
  async follow(names: readonly string[]): Promise<void> {
    const wanted = new Set(names);
    for (const name of this.#peers.keys()) if (!wanted.has(name)) this.#leave(name);
    await Promise.all(names.map((name) => (this.#peers.has(name) ? undefined : this.restart(name))));
  }

  of(name: string): Contact {
    return this.#peers.get(name)?.contact ?? { kind: 'none' };
  }

  /** An attempt is under way, or will come by itself. */
  get isTrying(): boolean {
    return [...this.#peers.values()].some((peer) => peer.isTrying);
  }

  /** Tries this peer, or all, where there is no connection. Resolves after the attempts. */
  async retry(name?: string): Promise<void> {
    const peers = name === undefined ? [...this.#peers.values()] : [this.#peers.get(name)];
    await Promise.all(peers.map((peer) => peer?.attempt()));
  }

  /** Forgets a loss: the peer has a new life, in which nothing is lost so far. */
  async restart(name: string): Promise<void> {
    this.#leave(name);
    const peer = new Peer(name, this.#options);
    this.#peers.set(name, peer);
    await peer.attempt();
  }

  stop(): void {
    for (const name of this.#peers.keys()) this.#leave(name);
  }

  #leave(name: string): void {
    this.#peers.get(name)?.leave();
    this.#peers.delete(name);
  }
}

class Peer {
  contact: Contact = { kind: 'none' };
  readonly #name: string;
  readonly #options: LivenessOptions;
  #socket: Connection | undefined;
  #attempting: Promise<void> | undefined;
  #timer: Timer | undefined;
  #retries = 0;
  #heldSinceMs = 0;
  #hasLeft = false;

  constructor(name: string, options: LivenessOptions) {
    this.#name = name;
    this.#options = options;
  }

  get isTrying(): boolean {
    return this.#attempting !== undefined || this.#timer !== undefined;
  }

  /** Runs one attempt at a time, and none while there is a connection. Resolves after the attempt. */
  attempt(): Promise<void> {
    if (this.#hasLeft || this.#socket !== undefined) return Promise.resolve();
    this.#attempting ??= this.#connect().finally(() => {
      this.#attempting = undefined;
      this.#retryLater();
    });
    return this.#attempting;
  }

  leave(): void {
    this.#hasLeft = true;
    this.#options.clock.timers.clearTimeout(this.#timer);
    this.#socket?.destroy();
  }

  #retryLater(): void {
    const delayMs = RETRIES_MS[this.#retries];
    if (this.#hasLeft || this.#socket !== undefined || this.#timer !== undefined || delayMs === undefined) return;
    this.#retries++;
    const onTime = (): void => {
      this.#timer = undefined;
      void this.attempt();
    };
    this.#timer = this.#options.clock.timers.setTimeout(onTime, delayMs).unref();
  }

  async #connect(): Promise<void> {
    try {
      const socket = await this.#options.volume.connect(this.#name);
      if (socket === undefined) this.#miss('none');
      else this.#hold(socket);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const isDenied = code === 'EACCES' || code === 'EPERM';
      this.#miss(code === 'ECONNREFUSED' ? 'refused' : isDenied ? 'denied' : 'none');
    }
  }

  #hold(socket: Connection): void {
    if (this.#hasLeft) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    this.#heldSinceMs = this.#options.clock.now().mono;
    const isTalker = (): boolean => socket.bytesRead > MAX_RECEIVED;
    socket.on('data', () => isTalker() && socket.destroy());
    // `close` follows.
    socket.on('error', () => {});
    socket.once('close', () => this.#lose(isTalker()));
    this.#become({ kind: 'held' });
  }

  #lose(isTalker: boolean): void {
    this.#socket = undefined;
    if (isTalker) return this.#become({ kind: 'none' });
    const now = this.#options.clock.now().mono;
    this.#become({ kind: 'lost', at: now });
    // A peer that ends each connection at once gets no more retries than these.
    if (now - this.#heldSinceMs >= HELD_LONG_MS) this.#retries = 0;
    // Not at once: a process that is being killed closes its descriptors one by one, and its socket may still accept.
    this.#retryLater();
  }

  /** A peer that was held once is lost, whatever the reason that a new connection fails. */
  #miss(kind: 'none' | 'refused' | 'denied'): void {
    const { clock, wasHeld } = this.#options;
    if (this.contact.kind === 'lost') return;
    if (kind === 'refused' && wasHeld?.(this.#name)) this.#become({ kind: 'lost', at: clock.now().mono });
    else this.#become({ kind });
  }

  #become(contact: Contact): void {
    if (this.#hasLeft || contact.kind === this.contact.kind) return;
    this.contact = contact;
    this.#options.onChange(this.#name, contact);
  }
}
