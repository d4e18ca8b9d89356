/**
 * A test's own copy of the sexton directory, as an image or a volume has it. The test may damage it while a pod runs
 * from it. Large files that are never damaged in place are links.
 */
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SEXTON } from '../helpers/paths.ts';
import type { Scratch } from '../helpers/scratch.ts';

export interface Copy {
  /** Init. */
  readonly sexton: string;
  /** What is executed first where Node is to run: the loader that the build brings along. */
  readonly loader: string;
  /** Each supervisor that starts from now on dies there; `after`: by KILL, as soon as its first commit is written. */
  die(when: 'before its first commit' | 'after its first commit'): void;
  /** Removes that part; all without one. */
  remove(part?: 'app' | 'bin'): void;
}

/** The program that replaces the bundle's entry reads it. */
const WHEN = 'when';

export function copySexton(scratch: Scratch): Copy {
  const from = dirname(SEXTON);
  const dir = scratch.path('sexton');
  const at = (...parts: readonly string[]): string => join(dir, ...parts);
  for (const part of ['', 'app', 'lib']) mkdirSync(at(part));
  symlinkSync(join(from, 'bin'), at('bin'));
  for (const part of ['app', 'lib'])
    for (const name of readdirSync(join(from, part))) symlinkSync(join(from, part, name), at(part, name));
  // A listener is set on its inode, so nothing else may share that.
  const [loader = ''] = globSync(join(from, 'lib', 'ld-linux*'));
  replace(loader, at('lib', basename(loader)));
  renameSync(at('app', 'main.cjs'), at('app', 'real.cjs'));
  copyFileSync(join(import.meta.dirname, 'fixtures', 'mortal.cjs'), at('app', 'main.cjs'));
  copyFileSync(SEXTON, at('sexton'));
  return {
    sexton: at('sexton'),
    loader: at('lib', basename(loader)),
    die: (when) => writeFileSync(at('app', WHEN), when),
    remove: (part = undefined) => rmSync(part === undefined ? dir : at(part), { recursive: true }),
  };
}

function replace(from: string, to: string): void {
  rmSync(to);
  copyFileSync(from, to);
}
