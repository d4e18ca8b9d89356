/** What a configuration depends on in this machine: files, directories, and whether stderr is a terminal. */
import { isUtf8 } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { type DropIn, dropInOf } from '../config/dropin/dropin.ts';
import type { Env } from '../config/env.ts';
import type { Files } from '../config/resolve.ts';
import { whyWithoutInit } from '../runtime/host/without-init.ts';

export const machine: Files = {
  readText: readRegularFile,
  isDirectory: (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false,
  isMissing: (path) => {
    try {
      return statSync(path, { throwIfNoEntry: false }) === undefined;
    } catch {
      return false;
    }
  },
  get isTerminal() {
    return isatty(2);
  },
};

/** For a bundle, which is in `app` beside init; the npm package names it by machine. A run from source has none. */
const INITS = ['../sexton', `../sexton-${process.platform}-${process.arch}`].map((it) => join(import.meta.dirname, it));

/** A command line as the supervisor gets it. */
export interface Line {
  readonly as: DropIn | undefined;
  readonly words: readonly string[];
}

/** Init reads the command line of another program; undefined: it is none, starts nothing, or there is no init. */
export function dropInLine(argv: readonly string[], env: Env): Line | undefined {
  const init = INITS.find((path) => existsSync(path));
  if (init === undefined) return undefined;
  const { stdout } = spawnSync(init, argv, { argv0: 'sexton-line', env, encoding: 'utf8' });
  const [called, ...words] = (stdout ?? '').split('\0').slice(0, -1);
  const as = dropInOf(called);
  return as && { as, words };
}

/** What needs a supervisor from the start for this command line, as sexton-init says; undefined: nothing does. */
export function whyNode(words: readonly string[], env: Env): string | undefined {
  const init = INITS.find((path) => existsSync(path));
  if (whyWithoutInit() !== undefined || init === undefined) return NO_INIT;
  const { stderr, error } = spawnSync(init, words, { argv0: 'sexton-plain', env, encoding: 'utf8' });
  if (error !== undefined) return `sexton-init cannot be asked: ${error.message}`;
  const text = stderr.trimEnd().replaceAll('\n', ' ');
  return /^[\x20-\x7e]*$/.test(text) ? text || undefined : JSON.stringify(text);
}

export const NO_INIT = 'there is no sexton-init here';
export const NO_NOTIFY =
  '--notify: needs sexton-init, which holds the socket; write --readiness in its place, or run on Linux with glibc';

const MAX_BYTES = 1024 * 1024;

/** Refuses pipes, which block, and devices, which have no end. */
function readRegularFile(path: string): string {
  // Without O_NONBLOCK the opening of a FIFO waits for its writer: fifo(7).
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    // Reading a directory fails with EISDIR, which says so.
    if (!stat.isFile() && !stat.isDirectory()) throw new Error('it is not a regular file');
    // The size is not used: it is 0 in /proc.
    const bytes = Buffer.allocUnsafe(MAX_BYTES + 1);
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(fd, bytes, length, bytes.length - length, null);
      if (count === 0) break;
      length += count;
    }
    if (length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    const text = bytes.subarray(0, length);
    if (!isUtf8(text)) throw Object.assign(new Error('it is no text in UTF-8'), { code: 'EILSEQ' });
    return text.toString('utf8');
  } finally {
    closeSync(fd);
  }
}
