/** A unix socket to which every user may connect. */
import type { ListenOptions, Server } from 'node:net';

/**
 * umask sets the mode, as bind(2) is called before this returns. Node's own `writableAll` calls chmod(2), which follows
 * a link that another container has left at the path meanwhile.
 */
export function listenForAll(server: Server, where: ListenOptions): void {
  const mask = process.umask(0o111);
  try {
    server.listen(where);
  } finally {
    process.umask(mask);
  }
}
