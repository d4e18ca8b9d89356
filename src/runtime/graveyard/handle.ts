/**
 * A liveness handle, looked at once: whether a process holds it.
 */
import { constants } from 'node:fs';
import { lstat, open, unlink } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { basename, dirname } from 'node:path';
import { MAX_SOCKET_PATH_BYTES } from '../../core/format/tombstone.ts';

const MAX_CONNECTING_MS = 200;
const LOOK_AGAIN_MS = 2;

/**
 * `held`: a process listens at the socket. `abandoned`: none does, its holder is gone. `none`: there is no socket. `unknown`: connecting
 * failed for another reason, which says nothing about the holder.
 */
export type Handle = { readonly is: 'held' | 'abandoned' | 'none' } | { readonly is: 'unknown'; readonly why: string };

/** A socket file alone proves nothing: the kernel refuses the connection when no process listens any more. */
export async function lookAtHandle(path: string): Promise<Handle> {
  if (!(await isSocket(path))) return { is: 'none' };
  try {
    const socket = await withTimeout(connectTo(path));
    socket?.destroy();
    return socket === undefined ? { is: 'unknown', why: 'no answer' } : { is: 'held' };
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED') return { is: 'abandoned' };
    // unix(7): the queue of a socket that listens is full.
    return code === 'EAGAIN' ? { is: 'held' } : { is: 'unknown', why: code };
  }
}

export async function isHeldByAnother(path: string): Promise<boolean> {
  return (await lookAtHandle(path)).is === 'held';
}

export async function isAbandoned(path: string): Promise<boolean> {
  return (await lookAtHandle(path)).is === 'abandoned';
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

/** Nothing is there; what cannot be looked at may be. */
export function isMissing(path: string): Promise<boolean> {
  return lstat(path).then(() => false, isNoEntry);
}

/**
 * Removes it. False: it may still be there, as on a volume that is read-only now, and then no other can be made in its
 * place.
 */
export function removeSocket(path: string): Promise<boolean> {
  return unlink(path).then(() => true, isNoEntry);
}

/** Resolves once the socket is there, or after about `mostMs`: the host may not be able to make one. */
export async function appears(path: string, mostMs: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < mostMs && !(await isSocket(path)); waitedMs += LOOK_AGAIN_MS)
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
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

/** undefined: it takes too long. A connection that comes later is closed. */
async function withTimeout(connecting: Promise<Socket>): Promise<Socket | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<undefined>((resolve) => {
    // After a pause of this process the answer may be there already, and is read before an immediate is called.
    timer = setTimeout(() => setImmediate(() => resolve(undefined)), MAX_CONNECTING_MS);
  });
  try {
    const socket = await Promise.race([connecting, timedOut]);
    if (socket === undefined) connecting.then((late) => late.destroy()).catch(() => {});
    return socket;
  } finally {
    clearTimeout(timer);
  }
}

function isNoEntry(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ENOENT';
}

function isSocket(path: string): Promise<boolean> {
  return lstat(path).then(
    (stat) => stat.isSocket(),
    () => false,
  );
}
