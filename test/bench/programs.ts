/** Builds the bench's C programs into `dist/.bench`, static: only the kernel stands before their first instruction. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../helpers/paths.ts';
import { findProgram } from './subjects.ts';

export interface Programs {
  readonly launch: string;
  readonly first: string;
  readonly load: string;
}

export function buildPrograms(): Programs {
  mkdirSync(BUILT, { recursive: true });
  return { launch: build('launch'), first: build('first'), load: build('load') };
}

function build(name: string): string {
  const target = join(BUILT, name);
  const sources = [join(SOURCES, `${name}.c`), join(SOURCES, 'record.h')];
  if (sources.every((source) => modifiedMs(target) > modifiedMs(source))) return target;
  const compiler = findProgram('musl-gcc') ?? findProgram('cc');
  if (compiler === undefined)
    throw new Error('cannot build the bench: neither musl-gcc nor cc is there; install musl-tools or gcc');
  const partial = `${target}.${process.pid}`;
  const flags = ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-static', '-s', '-o', partial];
  execFileSync(compiler, [...flags, join(SOURCES, `${name}.c`)], { stdio: ['ignore', 'inherit', 'inherit'] });
  renameSync(partial, target);
  return target;
}

/** 0 when there is no such file. */
function modifiedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

const SOURCES = join(ROOT, 'test', 'bench');
const BUILT = join(ROOT, 'dist', '.bench');
