/** The builds of sexton-init that every test runs against, compiled when a source has changed. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildInitOptions, buildInit } from '../../src/init/build.ts';
import { ROOT } from '../helpers/paths.ts';

export interface Build {
  readonly name: string;
  readonly path: string;
}

const SOURCES = ['src/init', 'src/informants'].map((name) => join(ROOT, name));
export const CACHE = join(ROOT, 'dist/.cache/init');

/** As it is delivered. */
export const STATIC: Build = { name: 'static', path: built('static', {}) };
export const SANITIZED: Build = { name: 'sanitized', path: built('sanitized', { sanitize: true }) };
/** The tests acknowledge only what they are about, and that must not end their supervisor on a slow machine. */
const hangMs = 300_000;
export const BUILDS: readonly Build[] = [
  { name: 'static', path: built('static-patient', { hangMs }) },
  { name: 'sanitized', path: built('sanitized-patient', { sanitize: true, hangMs }) },
];

/** Test files run at the same time: each compiles under a name of its own and renames. */
export function built(name: string, options: BuildInitOptions): string {
  const path = join(CACHE, `${name}-${sourceDigest()}`);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const temporary = `${path}.${process.pid}`;
  buildInit(temporary, options);
  renameSync(temporary, path);
  return path;
}

function sourceDigest(): string {
  const hash = createHash('sha256');
  const files = SOURCES.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  for (const file of files.sort()) if (/\.(c|h|ts)$/.test(file)) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}
