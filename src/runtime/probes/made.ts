/**
 * The connections that probes and hooks of this process make to servers in its own network namespace, so that the
 * drain does not count them as requests: local ports, kept only while a drain counts connections.
 */
import type { Socket } from 'node:net';

export interface Made {
  /** Those that were not seen yet: the caller's to take out of. */
  readonly unseen: Set<number>;
  readonly all: Set<number>;
}

let made: Made | undefined;

/** From now on. */
export function collectMade(): Made {
  made ??= { unseen: new Set(), all: new Set() };
  return made;
}

export function forgetMade(): void {
  made = undefined;
}

/** A socket that is about to connect. */
export function noteMade(socket: Socket): void {
  if (made === undefined) return;
  socket.once('connect', () => {
    if (socket.localPort === undefined || !isHere(socket)) return;
    made?.unseen.add(socket.localPort);
    made?.all.add(socket.localPort);
  });
}

function isHere({ localAddress, remoteAddress }: Socket): boolean {
  return (
    remoteAddress !== undefined && (remoteAddress === localAddress || /^(127\.|::1$|::ffff:127\.)/.test(remoteAddress))
  );
}
