/**
 * What the examples that run as plain processes on this machine share: a directory of their own, the processes that
 * they start, and the promise that nothing of either is left behind, whatever happens.
 */
import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatTable } from '../src/text/table.ts';

export const SEXTON = join(import.meta.dirname, '..', 'dist', 'sexton', 'sexton');
export const NODE = process.execPath;

export interface Actor {
  readonly process: ChildProcess;
  /** The exit code as a platform would report it, 128 + n for signal n. */
  readonly ended: Promise<number>;
}

export interface Stage {
  /** A new directory that goes when the example ends. */
  folder(name: string): string;
  launch(file: string, args: readonly string[], env?: Readonly<Record<string, string>>): Actor;
}

/** Exits with 0 when what was shown is what the example claims, and says so with `true`. */
export async function onStage(name: string, play: (stage: Stage) => Promise<boolean>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), `sexton-${name}-`));
  const running = new Set<ChildProcess>();
  const folder = (part: string): string => {
    const path = join(dir, part);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const launch = (file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Actor => {
    const stdio: StdioOptions = ['ignore', 'ignore', 'inherit'];
    const child = spawn(file, args, { env: { ...withoutSettings(process.env), ...env, [MARK]: dir }, stdio });
    running.add(child);
    const ended = new Promise<number>((resolve, reject) => {
      child.once('error', (cause) => reject(new Error(`cannot start ${file}: run npm run build first`, { cause })));
      child.once('exit', (code, signal) => {
        running.delete(child);
        resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']);
      });
    });
    return { process: child, ended };
  };
  const leave = (): void => {
    for (const child of running) child.kill('SIGKILL');
    endMarked(`${MARK}=${dir}`);
    rmSync(dir, { recursive: true, force: true });
  };
  // Ctrl-C: those under sexton got it as well, by the terminal, and are ended here if they do not end by it.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(name, () => process.exit(128 + constants.signals[name]));
  process.once('exit', leave);
  try {
    process.exitCode = (await play({ folder, launch })) ? 0 : 1;
  } finally {
    leave();
  }
}

/** In the environment of all that is started here, and of what that starts in turn. */
const MARK = 'EXAMPLE_STAGE';

/** When sexton is killed outside of a container, what it has started runs on; and it may just be starting something. */
function endMarked(mark: string): void {
  for (let rounds = 0; rounds < 500; rounds += 1) {
    const pids = markedBy(mark);
    if (pids.length === 0) return;
    for (const pid of pids) end(pid);
  }
}

function markedBy(mark: string): number[] {
  const pids = existsSync('/proc') ? readdirSync('/proc').map(Number) : [];
  return pids.filter((pid) => pid > 1 && environmentOf(pid).includes(mark));
}

function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return []; // It has gone, or is somebody else's.
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has gone in the meantime.
  }
}

/** For what no event tells: a file that another process writes. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 3_000) throw new Error(`waited a minute for this: ${what}; see the messages above`);
    await sleep(20);
  }
}

/** What this shell has set for sexton is not meant for the example. */
export function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([key]) => !/^(SEXTON|KUBEXIT|KRUISE)_/.test(key)));
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** What sexton says of the stop, from a graveyard or a termination log: as at the shell. */
export function reportOf(source: string): string {
  return execFileSync(SEXTON, ['report', source], { encoding: 'utf8', env: withoutSettings(process.env) });
}

export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  console.log(formatTable(header, rows, Number.POSITIVE_INFINITY));
}
