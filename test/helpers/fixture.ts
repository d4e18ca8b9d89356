/**
 * Builds `test/fixtures/`, static where musl is there. Test files run side by side, so each builds under a name of its
 * own and renames: no test starts half a program.
 */
import { execFile } from 'node:child_process';
import { mkdir, rename, stat } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { FIXTURE_SOURCES, FIXTURES } from './paths.ts';

const run = promisify(execFile);

export interface Fixtures {
  /** The application of the tests; its arguments stand at the top of member.c. */
  readonly member: string;
  /** Tells what happens in the volumes of a pod; see observer.c. */
  readonly observer: string;
  /** Keeps a program from being executed; see holder.c. */
  readonly holder: string;
}

/** Once per process, however many tests ask for them. */
export function buildFixtures(): Promise<Fixtures> {
  built ??= buildAll();
  return built;
}

let built: Promise<Fixtures> | undefined;

async function buildAll(): Promise<Fixtures> {
  await mkdir(FIXTURES, { recursive: true });
  return {
    member: await build('member.c'),
    observer: await build('observer.c'),
    holder: await build('holder.c'),
  };
}

async function build(sourceName: string): Promise<string> {
  const source = join(FIXTURE_SOURCES, sourceName);
  const target = join(FIXTURES, basename(sourceName, '.c'));
  if ((await modifiedMs(target)) > (await modifiedMs(source))) return target;
  const partial = `${target}.${process.pid}`;
  const flags = ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-static', '-s', source, '-o', partial];
  await run((await hasMusl()) ? 'musl-gcc' : 'cc', flags);
  await rename(partial, target);
  return target;
}

async function modifiedMs(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.mtimeMs ?? 0;
}

async function hasMusl(): Promise<boolean> {
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .map((dir) => stat(join(dir, 'musl-gcc')).catch(() => undefined));
  return (await Promise.all(found)).some((it) => it !== undefined);
}
