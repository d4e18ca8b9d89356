/**
 * The liveness socket of a host that is not init: it accepts and holds connections and says nothing. The kernel closes them
 * when this process is gone, whatever ended it.
 */
import { chmodSync, unlinkSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';

/** Returns what closes the socket and its connections. A socket that cannot be had stops nothing: peers go by the tombstone then. */
export function holdSocket(path: string): () => void {
  const held = new Set<Socket>();
  const server = createServer((socket) => {
    held.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => held.delete(socket));
    socket.resume();
  });
  server.on('error', () => {});
  // Peers run under other users. listen's own writableAll adds to the mode that bind gave and leaves the file executable.
  server.on('listening', () => attempt(() => chmodSync(path, 0o666)));
  attempt(() => unlinkSync(path));
  server.listen(path);
  server.unref();
  return () => {
    server.close();
    for (const socket of held) socket.destroy();
  };
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // What is not there, or is not ours to touch, shows in whether the bind works.
  }
}
