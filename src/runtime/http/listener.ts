/**
 * The HTTP server on its socket, TCP or unix. It reports once what keeps it from listening, and tries again. By then
 * the application runs, and a member without its HTTP is better than none.
 *
 * A connection has one request and one answer and is never kept alive. Node's own limits stop a client that sends
 * slowly or too much. The 65th connection takes the place of the oldest, which has had more time than any probe needs:
 * `maxConnections` would refuse the probe.
 */
import { lstatSync, unlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { addressText, type HttpAddress } from '../../config/notation/address.ts';
import { listenForAll } from '../listen-for-all.ts';
import type { Log } from '../log/log.ts';
import type { Answer } from './answers.ts';

export interface ListenerOptions {
  readonly address: HttpAddress;
  readonly log: Log;
  readonly answer: (path: string) => Answer;
}

const MAX_CONNECTIONS = 64;
/** For the whole request, and again for the client to take the answer. */
const MAX_MS = 5_000;
const LIMITS = {
  maxHeaderSize: 8_192,
  headersTimeout: MAX_MS,
  requestTimeout: MAX_MS,
  connectionsCheckingInterval: 1_000,
  requireHostHeader: false,
  noDelay: true,
};
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
    this.#server = createServer(LIMITS, (request, response) => this.#onRequest(request, response));
    this.#server.timeout = MAX_MS;
    this.#server.on('connection', (socket) => this.#onConnection(socket));
    this.#server.on('connect', (_request, socket) => refuse(socket, 405, ['Allow: GET, HEAD']));
    this.#server.on('clientError', onClientError);
    this.#server.on('listening', () => {
      options.log.say('info', 'answering HTTP', { at: addressText(options.address) });
      this.#said = undefined;
    });
    this.#server.on('error', (error: NodeJS.ErrnoException) => void this.#onError(error));
    // A supervisor lives as long as its host, not as long as this.
    this.#server.unref();
    this.#listen();
  }

  /** At once, also while clients are connected; the unix socket's file goes with it. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #listen(): void {
    // A server that fails to accept a connection reports an error as well, and goes on listening.
    if (this.#isClosed || this.#server.listening) return;
    listenForAll(this.#server, this.#options.address);
  }

  #onConnection(socket: Socket): void {
    const [oldest] = this.#sockets;
    if (this.#sockets.size >= MAX_CONNECTIONS && oldest !== undefined) {
      this.#sockets.delete(oldest);
      oldest.destroy();
    }
    this.#sockets.add(socket);
    socket.unref();
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    // A body changes no answer. It is read all the same: a close with bytes unread makes a reset, which may overtake
    // the answer.
    request.resume().on('end', () => {
      const { method = '', url = '' } = request;
      const isRead = method === 'GET' || method === 'HEAD';
      // The absolute form (RFC 9112, 3.2.2) has more than the path, too.
      const path = url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*/s, '');
      const { status, type, body } = isRead ? this.#options.answer(path) : NOT_ALLOWED;
      response.writeHead(status, {
        'Content-Type': type,
        'Content-Length': Buffer.byteLength(body),
        'Cache-Control': 'no-store',
        ...(!isRead && { Allow: 'GET, HEAD' }),
        Connection: 'close',
      });
      response.end(body);
    });
  }

  async #onError(error: NodeJS.ErrnoException): Promise<void> {
    const { address, log } = this.#options;
    const code = error.code ?? error.message;
    if (code === 'EADDRINUSE' && address.kind === 'unix' && (await removeStale(address.path))) return this.#listen();
    if (this.#isClosed) return;
    const why = REASONS[code] ?? code;
    if (this.#said !== code)
      log.say('error', `cannot answer HTTP at ${addressText(address)}: ${why}; it is tried again`);
    this.#said = code;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#listen(), RETRY_MS).unref();
  }
}

const NOT_ALLOWED = { status: 405, type: 'text/plain; charset=utf-8', body: 'only GET and HEAD\n' };

function onClientError({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  // If the client sent nothing or is gone, there is nothing to answer.
  const isSilent = 'bytesRead' in socket && socket.bytesRead === 0;
  if (isSilent || !socket.writable || code === 'ECONNRESET') socket.destroy();
  else refuse(socket, code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : code === 'HPE_HEADER_OVERFLOW' ? 431 : 400);
}

function refuse(socket: Duplex, status: 400 | 405 | 408 | 431, headers: readonly string[] = []): void {
  // Node removes its own listener before it emits `connect`. Without one, a reset by the client ends this process.
  socket.on('error', () => {});
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...headers, 'Content-Length: 0', 'Connection: close'];
  socket.end(`${lines.join('\r\n')}\r\n\r\n`, () => socket.destroy());
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use; give another address with --http',
  EACCES: 'permission denied; take a port from 1024 on, or a directory that may be written to',
  EADDRNOTAVAIL: 'this container has no such address; leave the host out',
  ENOTFOUND: 'the host is not known; leave it out',
  ENOENT: 'there is no such directory; mount it, or name another',
  EROFS: 'the file system is read-only; name a directory that may be written to',
};

/** Removes the socket of a supervisor that was killed. False: the path is no such socket. */
async function removeStale(path: string): Promise<boolean> {
  const code = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ path }, () => socket.destroy());
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    socket.on('close', () => resolve(undefined));
  });
  try {
    // A dangling link is absent for connect(2) and present for bind(2): an attempt at once would never end.
    if (code !== 'ECONNREFUSED' || !lstatSync(path).isSocket()) return false;
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}
