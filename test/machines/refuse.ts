/** Builds the program `refuse`, which runs a command where one system call fails. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FIXTURES } from '../helpers/paths.ts';

export function buildRefuse(): string {
  const source = join(import.meta.dirname, 'refuse.c');
  const target = join(FIXTURES, 'refuse');
  if (existsSync(target) && statSync(target).mtimeMs > statSync(source).mtimeMs) return target;
  mkdirSync(FIXTURES, { recursive: true });
  const partial = `${target}.${process.pid}`;
  execFileSync('cc', ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-static', '-s', source, '-o', partial]);
  renameSync(partial, target);
  return target;
}
