/** The graveyard as its readers reach it, a port: the directory at a path, or a volume of the simulator. */
import { lstat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { handleOf } from '../../core/format/tombstone.ts';
import { connectTo } from './handle.ts';

export type Connection = Pick<Socket, 'on' | 'once' | 'destroy' | 'bytesRead'>;

export interface VolumeAccess {
  /** To the holder of this member's socket; undefined: there is no socket. Rejects with the error of connect(2). */
  connect(name: string): Promise<Connection | undefined>;
}

export function volumeAt(dir: string): VolumeAccess {
  return {
    async connect(name) {
      const path = join(dir, handleOf(name));
      // connect(2) follows links, and blocks the whole process on a file system that hangs; lstat takes only a thread.
      return (await lstat(path)).isSocket() ? connectTo(path) : undefined;
    },
  };
}
