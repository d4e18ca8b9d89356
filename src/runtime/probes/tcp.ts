/**
 * The TCP probe: a connection that is accepted is a success, and is closed at once.
 */
import type { Socket } from 'node:net';
import type { TcpAction } from '../../core/config.ts';
import type { Attempt, Tell } from './attempt.ts';
import { detailOf } from './detail.ts';
import { noteMade } from './made.ts';

export function attemptTcp({ host, port }: TcpAction, tell: Tell): Attempt {
  const socket = connectTcp(host, port);
  socket.once('connect', () => tell(true, 'connected'));
  socket.on('error', (error) => tell(false, detailOf(error)));
  return { close: () => socket.destroy() };
}

/** Of a name with several addresses each is tried. */
export function connectTcp(host: string, port: number): Socket {
  const socket = process.getBuiltinModule('node:net').connect({ host: bareHost(host), port, noDelay: true });
  noteMade(socket);
  return socket;
}

/** Without the brackets that an IPv6 address wears in a URL. */
export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}
