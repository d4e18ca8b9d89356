/** Small programs of the tests in C, each built once. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { FIXTURES, ROOT } from './paths.ts';

/** Runs a command where one system call fails. */
export const buildRefuse = (): string => build('machines/refuse.c');

/** Sends a signal that has no sender, as one from outside of the receiver's PID namespace. */
export async function sendFromOutside(pid: number, signal: number): Promise<void> {
  await promisify(execFile)(build('init/outsider.c'), [String(pid), String(signal)]);
}

/** `path`: its source below `test`. `included`: another source that it includes, below the root. */
export function build(path: string, included = join('test', path)): string {
  const source = join(ROOT, 'test', path);
  const target = join(FIXTURES, basename(path, '.c'));
  const changedMs = Math.max(...[source, join(ROOT, included)].map((file) => statSync(file).mtimeMs));
  if (existsSync(target) && statSync(target).mtimeMs > changedMs) return target;
  mkdirSync(FIXTURES, { recursive: true });
  const partial = `${target}.${process.pid}`;
  execFileSync('cc', ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-static', '-s', source, '-o', partial]);
  renameSync(partial, target);
  return target;
}
