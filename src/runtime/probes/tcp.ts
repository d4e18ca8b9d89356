/**
 * The TCP probe: a connection that is accepted is a success, and is closed at once. Other probes connect by it, too.
 */
import type { Socket } from 'node:net';
import type { TcpAction } from '../../core/config.ts';
import { detailOf } from './detail.ts';

export interface Verdict {
  readonly ok: boolean;
  /** A few printable words: `status 503`, `connection refused`, `timed out after 1s`. */
  readonly detail: string;
  /** What an idle check has counted. */
  readonly sum?: number;
}

/** How an attempt reports its one result. The receiver closes it. */
export type Tell = (ok: boolean, detail: string, sum?: number) => void;

/** A connection under way. `close` leaves nothing behind, and reports nothing. */
export interface Attempt {
  close(): void;
  /** What it has come to so far, for when its time is over. */
  readonly sofar?: Verdict | undefined;
}

export const REFUSED = 'connection refused';
export const NO_ANSWER = 'connection closed without an answer';

export function attemptTcp({ host, port }: Pick<TcpAction, 'host' | 'port'>, tell: Tell): Attempt {
  const socket = connectTcp(host, port);
  socket.once('connect', () => tell(true, 'connected'));
  socket.on('error', (error) => tell(false, detailOf(error)));
  return { close: () => socket.destroy() };
}

/** Tries each address of a name that has several. */
export function connectTcp(host: string, port: number): Socket {
  return noteOwn(process.getBuiltinModule('node:net').connect({ host: bareHost(host), port, noDelay: true }));
}

/** Without the brackets that an IPv6 address wears in a URL. */
export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/**
 * The local ports of the connections that probes and hooks of this process make to servers in its own network
 * namespace. A drain does not count these as requests. `undefined`: no drain counts connections.
 */
let ownPorts: Set<number> | undefined;

/** The set is the caller's to take out of. */
export function collectOwnPorts(): Set<number> {
  ownPorts = new Set();
  return ownPorts;
}

export function forgetOwnPorts(): void {
  ownPorts = undefined;
}

/** `socket` is about to connect. */
export function noteOwn<T extends Socket>(socket: T): T {
  if (ownPorts === undefined) return socket;
  return socket.once('connect', () => {
    const { localPort, localAddress, remoteAddress = '' } = socket;
    const isHere = remoteAddress === localAddress || /^(127\.|::1$|::ffff:127\.)/.test(remoteAddress);
    if (localPort !== undefined && isHere) ownPorts?.add(localPort);
  });
}
