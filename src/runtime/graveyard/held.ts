/**
 * A liveness handle, looked at once: whether somebody holds it.
 */
import { lstat, unlink } from 'node:fs/promises';
import { createConnection } from 'node:net';

const MOST_CONNECTING_MS = 200;
const LOOK_AGAIN_MS = 2;

/** A socket file alone proves nothing: the kernel refuses when its holder is gone. */
export async function isHeldByAnother(path: string): Promise<boolean> {
  return (await isSocket(path)) && connects(path);
}

/** The socket is there and nobody stands behind it: its holder is gone. */
export async function isAbandoned(path: string): Promise<boolean> {
  return (await isSocket(path)) && !(await connects(path));
}

/** Nothing is there; what cannot be looked at may be. */
export function isMissing(path: string): Promise<boolean> {
  return lstat(path).then(() => false, isNoEntry);
}

/** Removes it. False: it may still be there, as on a volume that is read-only now, and then no other can be made in its place. */
export function isRemoved(path: string): Promise<boolean> {
  return unlink(path).then(() => true, isNoEntry);
}

/** Resolves once the socket is there, or after about `mostMs`: the host may not be able to make one. */
export async function appears(path: string, mostMs: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < mostMs && !(await isSocket(path)); waitedMs += LOOK_AGAIN_MS)
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
}

function connects(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ path });
    const end = (isHeld: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isHeld);
    };
    const timer = setTimeout(() => end(false), MOST_CONNECTING_MS);
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
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
