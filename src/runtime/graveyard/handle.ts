/** A liveness handle, the socket that a member's init holds: whether a process listens at it. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { basename, dirname } from 'node:path';
import { MAX_SOCKET_PATH_BYTES } from '../../core/format/tombstone.ts';
import { withTimeout } from '../timeouts.ts';
import { look } from './directory.ts';

const MAX_CONNECTING_MS = 200;

/**
 * `held`: a process listens at the socket. `abandoned`: none does, its holder is gone. `none`: there is no socket.
 * `unknown`: connecting failed for another reason, which says nothing about the holder.
 */
export type Handle = { readonly is: 'held' | 'abandoned' | 'none' } | { readonly is: 'unknown'; readonly why: string };

/** A socket file alone proves nothing: the kernel refuses the connection when no process listens any more. */
export async function probeHandle(
  path: string,
  open: (path: string) => Promise<{ destroy(): unknown }> = connectTo,
): Promise<Handle> {
  if (!(await look(path))?.isSocket()) return { is: 'none' };
  const connecting = open(path).then((socket) => void socket.destroy());
  try {
    return (await withTimeout(connecting, MAX_CONNECTING_MS)) ? { is: 'unknown', why: 'no answer' } : { is: 'held' };
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED') return { is: 'abandoned' };
    // unix(7): the queue of a socket that listens is full.
    return code === 'EAGAIN' ? { is: 'held' } : { is: 'unknown', why: code };
  }
}

/** Connects to a socket, also where its path is longer than a socket address can be. */
export async function connectTo(path: string): Promise<Socket> {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return connected(path);
  const directory = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await connected(`/proc/self/fd/${directory.fd}/${basename(path)}`);
  } finally {
    await directory.close();
  }
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
