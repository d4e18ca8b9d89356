/** The graveyard as members reach it, a port: the directory at a path, or a volume of the simulator. */
import { access, constants, lstat, realpath, stat, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { handleOf, MAX_SOCKET_PATH_BYTES } from '../../core/format/tombstone.ts';
import type { Clock } from '../clock.ts';
import type { Connection } from '../host/host.ts';
import { isLocal } from '../local-volume.ts';
import { inDirectory, look, makeDirectory, overwriteFile, replaceFile } from './directory.ts';
import { readGeneration } from './generation.ts';
import { connectTo, type Handle, probeHandle } from './handle.ts';
import { type Listing, listMembers, type PlainReading, type Reading, readMember, readPlainFile } from './read.ts';

/** What all parts of a reader have. */
export interface ReaderOptions {
  readonly volume: VolumeAccess;
  readonly clock: Clock;
  readonly ownName: string;
  /** For the log, once for each trouble. `error` is undefined for what is merely ignored. */
  readonly onTrouble: (message: string, error: Error | undefined) => void;
}

export interface VolumeAccess {
  readonly dir: string;
  /** As `listMembers`, `readMember` and `readPlainFile`. */
  list(isWanted: (file: string) => boolean): Promise<Listing>;
  read(name: string, known: string | undefined): Promise<Reading>;
  readPlain(file: string, maxBytes: number): Promise<PlainReading>;
  readGeneration(): ReturnType<typeof readGeneration>;
  /** To the holder of this member's socket; undefined: there is no socket. Rejects with the error of connect(2). */
  connect(name: string): Promise<Connection | undefined>;
  /** Makes the directory. False: it was there. */
  make(): Promise<boolean>;
  /** Creates or replaces this file, whole or not at all. */
  replace(file: string, text: string): Promise<void>;
  /** Where no file can be created. False: that is not possible either, and the file is as it was. */
  overwrite(file: string, text: string, isFull: boolean): Promise<boolean>;
  remove(file: string): Promise<void>;
  /** Removes the hidden files for which this holds. */
  clean(isWanted: (file: string) => boolean): Promise<void>;
  kindOf(file: string): Promise<'file' | 'socket' | 'other' | 'missing' | 'unknown'>;
  /** Whether this member has begun a life and not written its tombstone: the socket is the newer one. */
  isAnnounced(name: string): Promise<boolean>;
  /** Whether a process holds the socket of this member. */
  probe(name: string): Promise<Handle>;
  /** Whether files can be made here; not behind a link. */
  isWritable(): Promise<boolean>;
  isLocal(): Promise<boolean>;
  /** Tells the directory from another one in its place. */
  identity(): Promise<string>;
  /** Watches without the host. Resolves with what ends that. */
  watch(onName: (name: string) => void, onAnything: () => void, onError: (why: Error) => void): Promise<() => unknown>;
}

/** `hostConnect`: the host connects, where connect(2) cannot block it. */
export function volumeAt(dir: string, hostConnect?: (path: string) => Promise<Connection>): VolumeAccess {
  const open = async (path: string): Promise<Connection> => {
    const isShort = Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
    return hostConnect !== undefined && isShort && (await isLocal(dir)) ? hostConnect(path) : connectTo(path);
  };
  return {
    dir,
    list: (isWanted) => listMembers(dir, isWanted),
    read: (name, known) => readMember(dir, name, known),
    readPlain: (file, maxBytes) => readPlainFile(join(dir, file), maxBytes),
    readGeneration: () => readGeneration(dir),
    async connect(name) {
      const path = join(dir, handleOf(name));
      // connect(2) follows links, and blocks the whole process on a file system that hangs; lstat takes only a thread.
      return (await lstat(path)).isSocket() ? open(path) : undefined;
    },
    make: () => makeDirectory(dir),
    replace: (file, text) => inDirectory(dir, (here) => replaceFile(here, file, text)),
    overwrite: (file, text, isFull) => inDirectory(dir, (here) => overwriteFile(join(here, file), text, isFull)),
    remove: (file) => inDirectory(dir, (here) => unlink(join(here, file))),
    clean: (isWanted) =>
      inDirectory(dir, async (here) => {
        const { hidden } = await listMembers(here, isWanted);
        for (const file of hidden) await unlink(join(here, file)).catch(() => {});
      }),
    async kindOf(file) {
      const found = await lstat(join(dir, file)).catch(({ code = '' }: NodeJS.ErrnoException) => code);
      if (typeof found === 'string') return found === 'ENOENT' || found === 'ENOTDIR' ? 'missing' : 'unknown';
      return found.isFile() ? 'file' : found.isSocket() ? 'socket' : 'other';
    },
    async isAnnounced(name) {
      const [socket, tombstone] = [await look(join(dir, handleOf(name))), await look(join(dir, name))];
      return socket !== undefined && tombstone !== undefined && socket.mtimeMs > tombstone.mtimeMs;
    },
    probe: (name) => probeHandle(join(dir, handleOf(name)), open),
    async isWritable() {
      const refusal = await access(dir, constants.W_OK | constants.X_OK).catch((error: Error) => error);
      return refusal === undefined && (await look(dir))?.isSymbolicLink() === false;
    },
    isLocal: () => isLocal(dir),
    async identity() {
      const { dev, ino } = (await stat(dir).catch(() => undefined)) ?? {};
      return `${dev}:${ino}`;
    },
    watch: (...on) => watchDirectory(dir, ...on),
  };
}

/**
 * chokidar watches the directory alone, whose events name the files as well. It ignores the files, or it would take one
 * of the few watches of a uid for each and stat each after each change.
 */
async function watchDirectory(
  dir: string,
  ...[onName, onAnything, onError]: Parameters<VolumeAccess['watch']>
): ReturnType<VolumeAccess['watch']> {
  // A link to the graveyard is fine, links inside are not followed.
  const realDir = await realpath(dir).catch(() => resolve(dir));
  // These variables are those of the application, not ours.
  for (const key of Object.keys(process.env)) if (key.startsWith('CHOKIDAR_')) delete process.env[key];
  // Loaded only here, so that a run without a graveyard never pays for it.
  const { watch } = await import('chokidar');
  // `atomic` would hold back a removal for 100 ms; a `depth` would make it blind to a directory that comes back.
  const ignored = (path: string): boolean => path !== realDir;
  const watcher = watch(realDir, { atomic: false, ignoreInitial: true, followSymlinks: false, ignored });
  // These two concern the directory itself.
  watcher.on('all', onAnything);
  watcher.on('ready', onAnything);
  watcher.on('raw', (_event, name: unknown, details: unknown) => {
    const { watchedPath } = details as { readonly watchedPath?: unknown };
    if (watchedPath === realDir && typeof name === 'string') onName(name);
  });
  watcher.on('error', (error) => onError(error as Error));
  return () => {
    watcher.removeAllListeners();
    // close() may still report an error, which without a listener would be thrown.
    watcher.on('error', () => {});
    return watcher.close();
  };
}
