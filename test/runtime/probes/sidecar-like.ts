/** A sidecar with an endpoint that asks it to leave, on a port of its own. The test decides how it answers. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface Asked {
  readonly sidecar: SidecarLike;
  readonly socket: Socket;
  readonly method: string;
  readonly path: string;
  readonly head: string;
}

export class SidecarLike {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #onAsked: (asked: Asked) => void;
  port = 0;
  /** `POST /quitquitquit`, in order. */
  asked: readonly string[] = [];
  #onLook: ((nth: number) => void) | undefined;
  #looks = 0;

  constructor(onAsked: (asked: Asked) => void) {
    this.#onAsked = onAsked;
    this.#server = this.#serve();
  }

  async listen(t: TestContext): Promise<this> {
    t.after(() => {
      this.leave();
      for (const socket of this.#sockets) socket.destroy();
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  /** The port closes; connections that are open go on. */
  leave(): void {
    this.#server.close();
  }

  /** Ends as by KILL: nothing more is sent. */
  die(): void {
    this.leave();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Each time that somebody connects to see whether it is still there. */
  onLook(told: (nth: number) => void): void {
    this.#onLook = told;
    this.#looks = 0;
  }

  /** Another program gets the port in the same moment. */
  async giveWay(t: TestContext): Promise<void> {
    this.leave();
    const other = this.#serve();
    t.after(() => other.close());
    // The address is free once the listener is closed, and close() does that at once.
    other.listen(this.port, '127.0.0.1');
    await once(other, 'listening');
  }

  #serve(): Server {
    return createServer((socket) => this.#receive(socket));
  }

  #receive(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    let head = '';
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (head === '') this.#onLook?.(++this.#looks);
    });
    socket.on('data', (chunk) => {
      const isWhole = head.includes('\r\n\r\n');
      head += chunk.toString('latin1');
      if (isWhole || !head.includes('\r\n\r\n')) return;
      const [method = '', path = ''] = head.split(' ');
      this.asked = [...this.asked, `${method} ${path}`];
      this.#onAsked({ sidecar: this, socket, method, path, head });
    });
  }
}

export function answer(socket: Socket, status: number, headers = ''): void {
  socket.end(`HTTP/1.1 ${status} x\r\n${headers}Content-Length: 0\r\nConnection: close\r\n\r\n`);
}
