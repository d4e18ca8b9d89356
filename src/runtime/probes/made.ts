/**
 * The connections that probes and hooks of this process make to servers in its own network namespace, so that the
 * drain does not count them as requests: local ports, kept only while a drain counts connections.
 */
import type { Socket } from 'node:net';

let made: Set<number> | undefined;

/** From now on. The set is the caller's to take out of. */
export function collectMade(): Set<number> {
  made = new Set();
  return made;
}

export function forgetMade(): void {
  made = undefined;
}

/** A socket that is about to connect. */
export function noteMade(socket: Socket): void {
  if (made === undefined) return;
  socket.once('connect', () => {
    if (socket.localPort !== undefined && isHere(socket)) made?.add(socket.localPort);
  });
}

function isHere({ localAddress, remoteAddress }: Socket): boolean {
  return (
    remoteAddress !== undefined && (remoteAddress === localAddress || /^(127\.|::1$|::ffff:127\.)/.test(remoteAddress))
  );
}
