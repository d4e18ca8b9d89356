/**
 * The listening socket: TCP or unix. What keeps it from being opened is said once and tried again, since by then the application runs,
 * and a member without its HTTP is better than none.
 *
 * At most 64 connections are open. The next one takes the place of the oldest, which has had more time than any probe needs: so many
 * clients that say nothing do not keep a probe out.
 */
import { lstatSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { addressText, type HttpAddress } from '../http.ts';
import type { Log } from '../log.ts';
import type { Answer } from './answers.ts';
import { beginExchange } from './exchange.ts';

export interface ListenerOptions {
  readonly address: HttpAddress;
  readonly log: Log;
  readonly answer: (path: string) => Answer;
}

const MOST_CONNECTIONS = 64;
const RETRY_MS = 1_000;

export class Listener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  /** The oldest first. */
  readonly #sockets = new Set<Socket>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #said: string | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    // Half-open: a client may close its side and still wait for the answer.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#welcome(socket));
    this.#server.on('listening', () => this.#hearOfSuccess());
    this.#server.on('error', (error: NodeJS.ErrnoException) => void this.#hearOfTrouble(error));
    // A supervisor lives as long as its host, not as long as this.
    this.#server.unref();
    this.#listen();
  }

  /** At once, whoever is connected; the unix socket's file goes with it. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #listen(): void {
    // Trouble in taking a connection is told of as well, and it goes on listening.
    if (this.#isClosed || this.#server.listening) return;
    const { address } = this.#options;
    try {
      this.#server.listen(
        address.kind === 'tcp'
          ? { port: address.port, ...(address.host !== undefined && { host: address.host }) }
          : { path: address.path, readableAll: true, writableAll: true },
      );
    } catch (error) {
      // Thrown, not told of: on some file systems the mode of a socket cannot be changed.
      void this.#hearOfTrouble(error as NodeJS.ErrnoException);
    }
  }

  #welcome(socket: Socket): void {
    const [oldest] = this.#sockets;
    if (this.#sockets.size >= MOST_CONNECTIONS && oldest !== undefined) this.#forget(oldest);
    this.#sockets.add(socket);
    socket.unref();
    socket.on('close', () => this.#sockets.delete(socket));
    beginExchange(socket, this.#options.answer);
  }

  #forget(socket: Socket): void {
    this.#sockets.delete(socket);
    socket.destroy();
  }

  #hearOfSuccess(): void {
    this.#options.log.say('info', 'answering HTTP', { at: addressText(this.#options.address) });
    this.#said = undefined;
  }

  async #hearOfTrouble(error: NodeJS.ErrnoException): Promise<void> {
    const { address, log } = this.#options;
    const code = error.code ?? error.message;
    if (code === 'EADDRINUSE' && address.kind === 'unix' && (await removeStale(address.path))) return this.#listen();
    if (this.#isClosed) return;
    if (this.#said !== code)
      log.say('error', `cannot answer HTTP at ${addressText(address)}: ${reasonOf(code)}; it is tried again`);
    this.#said = code;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#listen(), RETRY_MS).unref();
  }
}

function reasonOf(code: string): string {
  return REASONS[code] ?? code;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'somebody else listens there; give another address with --http',
  EACCES: 'permission denied; take a port from 1024 on, or a directory that may be written to',
  EADDRNOTAVAIL: 'this container has no such address; leave the host out',
  ENOTFOUND: 'the host is not known; leave it out',
  ENOENT: 'there is no such directory; mount it, or name another',
  EROFS: 'the file system is read-only; name a directory that may be written to',
};

/** What a supervisor left that was killed. Whether it was such. */
async function removeStale(path: string): Promise<boolean> {
  const code = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ path });
    socket.on('connect', () => resolve(undefined));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    socket.on('close', () => resolve(undefined));
    socket.on('connect', () => socket.destroy());
  });
  // A link that leads nowhere is not there for connect(2), and is there for bind(2): to try that again at once would be for ever.
  if (code !== 'ECONNREFUSED') return false;
  try {
    if (!lstatSync(path).isSocket()) return false;
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}
