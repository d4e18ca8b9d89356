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

/**
 * What the command of that run does, so that the supervisor lives through what a sidecar lives through: a death and a
 * restart in place, a stop request that it holds out against, its main's end, the ladder, and a group that outlives its leader. The
 * second is for the supervisor to settle; everything else follows from events.
 */
const LIFE = `
  if [ ! -e "$1/once" ]; then : > "$1/once"; exit 3; fi
  trap '(trap "" TERM; exec sleep 0.2) & exit 0' TERM
  sleep 1
  kill -TERM "$PPID"
  sleep 0.2
  printf 'Died: 2026-01-01T00:00:01Z\nExitCode: 0\n' >> "$1/graveyard/main"
  while :; do sleep 0.05; done
`;

/** Returns what it wrote to stderr. */
function runOnce(work: string): string {
  const graveyard = join(work, 'graveyard');
  writeFileSync(join(graveyard, 'main'), 'Born: 2026-01-01T00:00:00Z\n');
  const sidecar = ['--name', 'warm', '--role', 'sidecar', '--mains', 'main', '--start-after', 'main=started'];
  const flags = [...sidecar, '--graveyard', graveyard, '--restart-policy', 'Never', '--grace-period', '10s'];
  const child = ['/bin/sh', '-c', LIFE, 'sh', work];
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
