/**
 * A container as the kernel knows it: a PID namespace of its own with its own /proc, and `dist/sexton/sexton` as its PID 1.
 *
 * util-linux `unshare` makes it. It waits for PID 1 and ends as PID 1 ended; when `unshare` itself is killed the whole
 * namespace goes with it, so nothing can outlive a test.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { SEXTON } from './paths.ts';
import { childrenOf, environmentOf, hasEnded, programOf, send } from './process.ts';
import type { Scratch } from './scratch.ts';
import { waitFor, within } from './wait.ts';

export interface ContainerOptions {
  /** For messages. */
  readonly name?: string;
  /** Flags of `sexton run`. */
  readonly flags?: readonly string[];
  /** What it runs. */
  readonly command: readonly string[];
  /** The whole environment but PATH and the mark by which leaks are found. */
  readonly env?: Readonly<Record<string, string>>;
  /** Run inside the namespace before sexton, which it must exec: `['setpriv', '--reuid', '12345', '--']`. */
  readonly inside?: readonly string[];
  /** More flags for `unshare`. */
  readonly unshare?: readonly string[];
  readonly stdio?: StdioOptions;
  /** The command is PID 1 itself, without sexton. */
  readonly bare?: boolean;
  /** On a terminal of its own, as `-it` gives it; what is written to `process.stdin` is typed. */
  readonly terminal?: boolean;
}

export interface Exit {
  /** As a shell says it: the code, or 128+n for signal n. */
  readonly status: number;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Container {
  readonly process: ChildProcess;
  /** Never rejects for how it ended. Waits with the far limit. */
  exit(): Promise<Exit>;
  readonly ended: Promise<Exit>;
  /** PID 1 as seen from outside, once it is the program that was asked for. */
  pid1(): Promise<number>;
  /** The Node process beside PID 1; not the one of `not`. */
  supervisor(not?: number): Promise<number>;
  signal(signal: number | NodeJS.Signals): Promise<void>;
  /** KILL to PID 1, and by that to all that is in the namespace. */
  kill(): Promise<Exit>;
  stdout(): string;
  stderr(): string;
}

export function startContainer(scratch: Scratch, options: ContainerOptions): Container {
  const program = options.bare ? [] : [SEXTON, 'run', ...(options.flags ?? []), '--'];
  const rootless = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const namespaces = ['--pid', '--fork', '--mount-proc', '--kill-child=KILL', ...rootless, ...(options.unshare ?? [])];
  const argv = ['unshare', ...namespaces, '--', ...(options.inside ?? []), ...program, ...options.command];
  const [file, ...rest] = options.terminal
    ? ['script', '--quiet', '--return', '--command', `exec ${argv.map(quoted).join(' ')}`, '/dev/null']
    : argv;
  const child = spawn(file ?? '', rest, {
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', SCRATCH: scratch.dir, ...options.env },
    stdio: options.stdio ?? [options.terminal ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    // 'close' and not 'exit': what it wrote last is read by then.
    child.once('close', (code, signal) => resolve({ status: statusOf(code, signal), code, signal }));
  });
  const wanted = options.bare ? undefined : realpathSync(SEXTON);
  /** Nothing is waited for that cannot come any more. */
  const whileItRuns = <T>(what: string, probe: () => T | undefined): Promise<T> =>
    waitFor(what, () => {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the container has ended before ${what}`);
      return probe();
    });
  const pid1 = (): Promise<number> => whileItRuns('PID 1 is there', () => findPid1(child, wanted));
  const out = collect(child.stdout);
  const err = collect(child.stderr);
  scratch.describe(
    () =>
      `${options.name ?? options.command.join(' ')} ${JSON.stringify(child.exitCode)} ${child.signalCode}\n${err()}`,
  );
  return {
    process: child,
    ended,
    exit: () => within('the container ends', ended),
    pid1,
    supervisor: async (not) => {
      const parent = await pid1();
      const find = () => childrenOf(parent).find((it) => it !== not && isSupervisor(it));
      return whileItRuns('the supervisor is there', find);
    },
    signal: async (signal) => assert.ok(send(await pid1(), signal), 'PID 1 is gone before its signal'),
    kill: async () => {
      const found = findPid1(child, undefined);
      const outer = unshareOf(child);
      // By way of unshare: when its PID 1 is killed it reports 1 (signal(2) refuses KILL), when it is killed itself we see that.
      if (outer !== undefined) send(outer, 'SIGKILL');
      if (found !== undefined) await waitFor('the namespace is gone', () => hasEnded(found));
      return within('the container ends', ended);
    },
    stdout: out,
    stderr: err,
  };
}

/** Looks once. `program`: what PID 1 must be by now; undefined: anything but unshare itself. */
export function findPid1(outermost: ChildProcess, program: string | undefined): number | undefined {
  const outer = unshareOf(outermost);
  const [pid] = outer === undefined ? [] : childrenOf(outer);
  if (pid === undefined) return undefined;
  const runs = programOf(pid);
  const good = program === undefined ? runs !== '' && !runs.endsWith('/unshare') : runs === program;
  return good ? pid : undefined;
}

/** What we started, or what `script` started. */
function unshareOf({ pid, spawnfile }: ChildProcess): number | undefined {
  if (pid === undefined || spawnfile === 'unshare') return pid;
  return childrenOf(pid).find((it) => programOf(it).endsWith('/unshare'));
}

/** For a POSIX shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

export function isSupervisor(pid: number): boolean {
  return !hasEnded(pid) && environmentOf(pid).some((it) => it.startsWith('SEXTON_INIT_FD='));
}

export function statusOf(code: number | null, signal: NodeJS.Signals | null): number {
  return signal === null ? (code ?? -1) : 128 + constants.signals[signal];
}

function collect(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('latin1');
}
