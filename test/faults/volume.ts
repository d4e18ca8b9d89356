/**
 * The volume of a round: a small file system in memory with the graveyard in it, and what can be done to it.
 *
 * It is mounted where only this process and those that it starts can see it, see `worker.ts`. Without root it is a
 * plain directory, and what needs a file system of its own is not drawn.
 */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Scratch } from '../helpers/scratch.ts';
import { waitFor } from '../helpers/wait.ts';

const run = promisify(execFile);
const SIZE_KIB = 2_048;
const FILL = '.fill';

export interface Volume {
  readonly graveyard: string;
  /** Undone by `free`. False: it was full already. */
  fill(): boolean;
  free(): void;
  /** False: members were writing all the time. */
  setReadOnly(isReadOnly: boolean): Promise<boolean>;
  setWritable(isWritable: boolean): void;
  /** The directory itself, with all that is in it. */
  remove(): void;
  create(): void;
  /** The files only. */
  wipe(): void;
  /** Leaves half of this file; false: there was none. */
  tear(name: string): boolean;
  has(name: string): boolean;
  read(): Map<string, string>;
  unmount(): Promise<void>;
}

export async function mountVolume(scratch: Scratch, isRoot: boolean): Promise<Volume> {
  const root = scratch.path('v');
  const graveyard = join(root, 'g');
  mkdirSync(root);
  // It is mounted twice. A remount also changes the one mount that it names, and a container that starts meanwhile
  // would keep that change in its copy.
  const lever = scratch.path('lever');
  if (isRoot) {
    mkdirSync(lever);
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_KIB}k,mode=0777`, 'sexton-faults', lever]);
    await run('mount', ['--bind', lever, root]);
  }
  chmodSync(root, 0o777);
  const create = (): void => {
    mkdirSync(graveyard, { recursive: true });
    chmodSync(graveyard, 0o777);
  };
  create();
  return {
    graveyard,
    fill: () => {
      const file = openSync(join(root, FILL), 'a');
      let isFilled = false;
      for (const size of [65_536, 4_096])
        try {
          for (;;) writeSync(file, Buffer.alloc(size));
        } catch {
          isFilled = true;
        }
      closeSync(file);
      return isFilled;
    },
    free: () => rmSync(join(root, FILL), { force: true }),
    setReadOnly: (isReadOnly) => {
      const option = `remount,${isReadOnly ? 'ro' : 'rw'}`;
      const remounted = () => run('mount', ['-o', option, lever]).then(() => true as const);
      // EBUSY while a file is open for writing.
      return waitFor(option, () => remounted().catch(() => false as const), 2_000).catch(() => false);
    },
    setWritable: (isWritable) => {
      if (existsSync(graveyard)) chmodSync(graveyard, isWritable ? 0o777 : 0o555);
    },
    remove: () => rmSync(graveyard, { recursive: true, force: true, maxRetries: 20 }),
    create,
    wipe: () => {
      for (const name of list(graveyard)) rmSync(join(graveyard, name), { recursive: true, force: true });
    },
    tear: (name) => {
      try {
        truncateSync(join(graveyard, name), statSync(join(graveyard, name)).size / 2);
        return true;
      } catch {
        return false;
      }
    },
    has: (name) => existsSync(join(graveyard, name)),
    read: () => new Map(list(graveyard).map((name) => [name, contentOf(join(graveyard, name))])),
    unmount: async () => {
      if (!isRoot) return;
      await waitFor('the volume is unmounted', () =>
        run('umount', [root, lever]).then(
          () => true as const,
          () => false as const,
        ),
      );
      const mounts = readFileSync('/proc/self/mountinfo', 'utf8');
      if (mounts.includes(scratch.dir)) throw new Error(`a mount is left below ${scratch.dir}`);
    },
  };
}

function list(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function contentOf(path: string): string {
  try {
    return lstatSync(path).isFile() && statSync(path).size < 65_536 ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}
