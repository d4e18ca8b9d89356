/**
 * The liveness socket of a host that is not init: it accepts and holds connections and says nothing. The kernel closes
 * them when this process is gone, whatever ended it.
 */
import { unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { listenForAll } from '../listen-for-all.ts';

export class HeldSocket {
  readonly #held = new Set<Socket>();
  #server: Server | undefined;

  /**
   * In place of the socket before; its connections stay, as we do. A socket that cannot be had stops nothing: peers go
   * by the tombstone then.
   */
  listen(path: string): void {
    if (this.#server === undefined) this.#bind(path);
    // The old socket has one more turn of the loop, in which it accepts a peer that waits: none must be refused.
    else setImmediate(() => setImmediate(() => this.#bind(path)));
  }

  close(): void {
    this.#server?.close();
    for (const socket of this.#held) socket.destroy();
  }

  #bind(path: string): void {
    // Closing removes the file, which may be the new one's: so it comes first.
    this.#server?.close();
    attempt(() => unlinkSync(path));
    const server = createServer((socket) => this.#hold(socket));
    server.on('error', () => {});
    // Peers run under other users.
    listenForAll(server, { path });
    server.unref();
    this.#server = server;
  }

  #hold(socket: Socket): void {
    this.#held.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#held.delete(socket));
    socket.resume();
  }
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // What is not there, or is not ours to touch, shows in whether the bind works.
  }
}
