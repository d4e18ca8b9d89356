/**
 * Makes `app/run.cache` by running the delivered program once, from a copy of the directory in which the launcher is
 * replaced by `make-cache.ts`: same init, same Node, same flags, a real child, a real graveyard.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readIfThere } from './place.ts';

/** A run takes a second; this bounds one that hangs. */
const RUN_LIMIT_MS = 60_000;

export function makeCache(directory: string, run: string, maker: string): Buffer {
  const work = mkdtempSync(join(tmpdir(), 'sexton-cache-'));
  try {
    for (const name of ['bin', 'lib']) symlinkSync(join(directory, name), join(work, name));
    mkdirSync(join(work, 'app'));
    mkdirSync(join(work, 'graveyard'));
    cpSync(join(directory, 'sexton'), join(work, 'sexton'));
    cpSync(join(directory, 'app', 'tools.cjs'), join(work, 'app', 'tools.cjs'));
    writeFileSync(join(work, 'app', 'main.cjs'), maker);
    writeFileSync(join(work, 'app', 'run.cjs'), run);
    const said = runOnce(work);
    const cache = readIfThere(join(work, 'app', 'run.cache'));
    if (!cache) throw new Error(`cannot make the code cache: the supervisor did not live to write it\n${said}`);
    return cache;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Returns what it wrote to stderr. */
function runOnce(work: string): string {
  const flags = ['--name', 'warm', '--graveyard', join(work, 'graveyard'), '--restart-policy', 'Never'];
  // Long enough for the supervisor to be up before the child ends, which it must live through as well.
  const child = ['/bin/sh', '-c', 'sleep 1'];
  const { error, status, signal, stderr } = spawnSync(join(work, 'sexton'), ['run', ...flags, '--', ...child], {
    env: { PATH: process.env.PATH ?? '/bin' },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: RUN_LIMIT_MS,
    killSignal: 'SIGTERM',
  });
  if (error) throw new Error(`cannot make the code cache: ${error.message}`, { cause: error });
  if (status !== 0) throw new Error(`cannot make the code cache: sexton run ended with ${status ?? signal}\n${stderr}`);
  return stderr;
}
